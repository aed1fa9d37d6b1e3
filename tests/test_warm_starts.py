"""What a start works out anew: what another start worked out before is looked up, not repeated.

Work is counted, not timed: memories decoded, pages drawn, pairs of statements compared, values of
memories worked out, modules imported.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, begin, done
from test_startup import loaded

from memrepo.actions.run import contradictions
from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.policies import change
from memrepo.store import catalogue, tree
from memrepo.views import pages

CLAIMS = "\n".join(
    f"- The {what} of bay {number} stands in room {number + 7}, beside the {beside}."
    for number, (what, beside) in enumerate(
        (what, beside)
        for what in ("lathe", "kiln", "anvil", "loom", "press", "saw", "drill", "bench")
        for beside in ("stove", "window", "stairs", "cellar", "garage", "barrel", "ladder", "sink")
    )
)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of 64 claims and more, after its first run."""
    base = tmp_path_factory.mktemp("warm")
    base.joinpath("ws").mkdir()
    base.joinpath("ws/MEMORY.md").write_text(f"# Memory\n\n## Workshop\n\n{CLAIMS}\n")
    return begin(base, base / "ws")


@pytest.fixture
def repo(fresh: Path, tmp_path: Path) -> Path:
    """Return a copy of it, in the state in which the run left it."""
    return shutil.copytree(fresh, tmp_path / "repo")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Counter[str]]:
    """Return what runs a command as a new process would, and counts what it works out."""
    count: Counter[str] = Counter()

    def noted(owner: Any, name: str, what: str) -> None:
        real = getattr(owner, name)

        def counting(*given: Any, **named: Any) -> Any:
            count[what] += 1
            return real(*given, **named)

        monkeypatch.setattr(owner, name, counting)

    real_once = Memory.once

    def once(self: Memory, rule: str, work_out: Callable[[], Any]) -> Any:
        count["worked out"] += rule not in self.derived
        return real_once(self, rule, work_out)

    noted(codec, "decode", "decoded")
    noted(pages, "_rendered", "drawn")
    noted(contradictions, "noticed", "compared")
    monkeypatch.setattr(Memory, "once", once)

    def run(repo: Path, *argv: str) -> Counter[str]:
        tree._DECODED.clear()
        catalogue.catalogue_at.cache_clear()
        change.read.cache_clear()
        count.clear()
        done(repo, *argv, now=LATER)
        return Counter({what: n for what, n in count.items() if n})

    return run


def test_what_a_first_run_found_out_no_start_finds_out_again(
    repo: Path, counted: Callable[..., Counter[str]]
) -> None:
    assert counted(repo, "status") == Counter()
    # Classes follow from texts, and a first run has no memory whose age it could ask about.
    assert set(counted(repo, "run")) <= {"worked out", "compared"}
    assert set(counted(repo, "run")) <= {"compared"}  # in less time than to store what was
    assert counted(repo, "status") == Counter()


def test_without_what_is_kept_all_is_worked_out_once(
    repo: Path, counted: Callable[..., Counter[str]]
) -> None:
    (repo / ".git/memrepo/index.sqlite3").unlink()
    first = counted(repo, "status")
    assert first["decoded"] >= 64
    assert first["worked out"] >= 64
    assert first["drawn"] > 0
    assert counted(repo, "status") == Counter()


def test_after_a_single_write_a_status_draws_the_pages_it_left_behind_once(
    repo: Path, counted: Callable[..., Counter[str]]
) -> None:
    added = counted(repo, "add", "The vice of bay 90 stands in room 97.")
    assert added["decoded"] < 5
    assert added["drawn"] == 0
    first = counted(repo, "status")
    assert first["decoded"] == 1
    assert first["drawn"] == 6  # each page once
    again = done(repo, "status", now=LATER)["stale_views"]
    assert counted(repo, "status") == Counter()
    assert done(repo, "status", now=LATER)["stale_views"] == again != []


def test_a_run_compares_each_claim_with_few_and_renders_each_page_once(
    repo: Path, counted: Callable[..., Counter[str]]
) -> None:
    workspace = repo.parent / "workspace"
    workspace.mkdir()
    text = f"# Memory\n\n## Workshop\n\n{CLAIMS}\n- Rosa sells honey at the market.\n"
    workspace.joinpath("MEMORY.md").write_text(text)
    subprocess.run(
        ["git", "-C", str(repo), "config", "memrepo.workspace", str(workspace)], check=True
    )
    before = done(repo, "status", now=LATER)["memories"]["active"]
    found = counted(repo, "run")
    assert done(repo, "status", now=LATER)["memories"]["active"] == before + 1
    assert found["compared"] <= 65 * contradictions.MAX_COMPARED
    assert found["drawn"] == 6  # each page once, though the run has no id yet


SLOW = {"dataclasses", "inspect", "jinja2", "platform", "shutil", "tempfile"}
NOT_ASKED = {
    "memrepo.actions.recall.recall",
    "memrepo.judges.services",
    "memrepo.judges.prompting",
    "memrepo.store.tables",
}


@pytest.mark.parametrize(
    ("most", "argv", "none"),
    [
        (166, ["status"], SLOW),
        (210, ["run"], {"jinja2"}),
        (134, ["add", "The vice stands in room 97."], SLOW - {"shutil", "tempfile"}),
    ],
)
def test_a_command_that_reads_memories_imports_what_it_needs(
    repo: Path, most: int, argv: list[str], none: set[str]
) -> None:
    code, modules = loaded(repo, "--now", LATER, *argv)
    assert code == 0
    assert len([name for name in modules if name.startswith("memrepo.")]) <= most
    assert modules & (none | NOT_ASKED) == set()


@pytest.mark.parametrize("argv", [["--version"], ["-C", "nowhere", "--version"]])
def test_the_version_is_told_without_a_parser(argv: list[str]) -> None:
    code = (
        "import sys; from memrepo.__main__ import main; main();"
        "print({'argparse', 'typing', 're', 'memrepo.faces'} & {*sys.modules}, file=sys.stderr)"
    )
    ran = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path[:0] = [{str(_ROOT)!r}]; {code}",
            *argv,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("memrepo ")
    assert ran.stderr == "set()\n"


_ROOT = Path(__file__).resolve().parents[1]
