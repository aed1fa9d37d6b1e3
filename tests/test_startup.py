"""What hooks and editors call often loads nothing heavy: it would be waited for at every commit."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memrepo.actions.status import StatusRequest, status
from memrepo.actions.work import Call, Work

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {
    *("anthropic", "asyncio", "frontmatter", "git", "jinja2", "mistune", "shtab", "sqlite3"),
    *("subprocess", "tempfile", "zoneinfo"),
}
ELSEWHERE = {
    *("memrepo.actions.run.judge", "memrepo.actions.past", "memrepo.core.state"),
    *("memrepo.core.judge", "memrepo.merge.tombstones"),
    *("memrepo.merge.versions", "memrepo.policies.gists", "memrepo.policies.upkeep"),
    *("memrepo.policies.links", "memrepo.policies.hotcache", "memrepo.policies.importance"),
    *("memrepo.actions.recall.around", "memrepo.store.settings", "memrepo.store.history"),
    *("memrepo.store.objects",),
}
"""What neither a search nor a hook needs: writing, the past, and the policies of runs."""
CODE = """
import json, sys
from memrepo.faces.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as left:
    code = left.code
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
MEMORY = """\
---
id: mem-6490dec4ef334c94
type: fact
object: "a: quoted one"
created: 2026-03-02T04:03:00Z
sources:
  - {resource: sources/MEMORY.md, lines: [18, 18]}
---

Editor: vim
"""


def loaded(where: Path, *argv: str) -> tuple[int, set[str]]:
    """Run a command in a process of its own; return its exit code and the modules it loaded."""
    ran = subprocess.run(
        [sys.executable, "-c", CODE, *argv],
        cwd=where,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    code, modules = json.loads(ran.stderr.splitlines()[-1])
    return code, set(modules)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Write a memory file as memrepo writes them."""
    path = tmp_path / "editor-vim-6490de.md"
    path.write_text(MEMORY, encoding="utf-8")
    return path


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["check", "editor-vim-6490de.md"]])
def test_a_quick_command_loads_nothing_heavy(memory: Path, argv: list[str]) -> None:
    code, modules = loaded(memory.parent, *argv)
    assert code == 0
    heavy = HEAVY if argv[0] == "check" else HEAVY | {"yaml"}  # a check reads a header
    assert modules & heavy == set()
    expect_lean(modules, most=60)


def compiled_at_import(path: Path) -> list[int]:
    """List the lines of a module on which a pattern is compiled as soon as it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    late = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.Lambda))
        for inner in ast.walk(node)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node not in late
        and ast.unparse(node.func) == "re.compile"
    ]


def expect_lean(modules: set[str], *, most: int) -> None:
    """Expect few modules of ours, none that is for other commands, and no pattern compiled."""
    ours = {m for m in modules if m.startswith("memrepo.")}
    assert ours & ELSEWHERE == set()
    packages = {m for m in ours if any(other.startswith(f"{m}.") for other in ours)}
    said = "is each of these needed? Import late what another branch needs."
    assert len(ours - packages) <= most, said
    assert compiled(modules) == {}, "memrepo.core.patterns.regex compiles one when it is used"


def compiled(modules: set[str]) -> dict[str, list[int]]:
    """Return by module of ours the lines on which a pattern is compiled by importing it."""
    ours = {m: ROOT.joinpath(*m.split(".")).with_suffix(".py") for m in modules if "memrepo" in m}
    return {m: at for m, path in ours.items() if path.exists() and (at := compiled_at_import(path))}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_needs_no_repository_loads_neither_codec_nor_store(
    tmp_path: Path, option: str
) -> None:
    _, modules = loaded(tmp_path, option)
    assert {m for m in modules if m.startswith("memrepo.") and m.count(".") > 1} <= {
        "memrepo.actions.verbs",
        "memrepo.core.errors",
        "memrepo.faces.cli",
    }


@pytest.mark.parametrize("verb", ["status", "run"])
def test_pages_are_not_rendered_again_until_a_commit(tmp_path: Path, verb: str) -> None:
    """A run stores that its pages are fresh: rendering them grows with the number of memories."""
    repo = tmp_path / "repo"
    loaded(tmp_path, "init", str(repo))
    for text in ("The team orders coffee on Mondays.", "The library closes at six."):
        loaded(repo, "add", text)
        assert "jinja2" in loaded(repo, "run")[1]
        assert "jinja2" not in loaded(repo, verb)[1]


def test_a_search_decodes_no_header_that_the_index_has(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    loaded(tmp_path, "init", str(repo))
    loaded(repo, "add", "The team orders coffee on Mondays.")
    assert "yaml" in loaded(repo, "search", "coffee")[1]
    assert "yaml" not in loaded(repo, "search", "coffee")[1]


@pytest.mark.parametrize("argv", [["status"], ["add", "The shed is locked at ten."]])
def test_what_asks_of_one_memory_loads_no_rules_about_all(tmp_path: Path, argv: list[str]) -> None:
    """Neither reads sources nor renders a page, and `status` stores what it says of a commit."""
    repo = tmp_path / "repo"
    loaded(tmp_path, "init", str(repo))
    loaded(repo, "add", "The team orders coffee on Mondays.")
    loaded(repo, "run")
    loaded(repo, "status")
    ours = {"actions.recall.recall", "policies.importance", "read.intake", "views.pages"}
    assert loaded(repo, *argv)[1] & {f"memrepo.{name}" for name in ours} == set()


def test_status_reads_no_memory_of_a_commit_that_it_knows(tmp_path: Path) -> None:
    """It stores what it says of a commit: decoding all memories again is most of its time."""
    repo = tmp_path / "repo"
    loaded(tmp_path, "init", str(repo))
    loaded(repo, "add", "The team orders coffee on Mondays.")
    call = Call(where=repo, now=datetime(2026, 3, 2, tzinfo=UTC))
    for is_known in (False, True):
        with Work(call) as work:
            status(work, StatusRequest())
            assert ("_state" in work.tree.__dict__) is not is_known


def test_a_command_loads_no_typing_extensions_for_msgspec() -> None:
    code = "import sys; from memrepo.__main__ import main; main(); print(*sys.modules)"
    words = [sys.executable, "-c", code, "help"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "msgspec" in ran.stdout
    assert "typing_extensions" not in ran.stdout.splitlines()[-1].split()
