"""Imports point down the rings, heavy packages load late, and no file names this machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

RANK = {
    "core": 0,
    "text": 1,
    "merge": 2,
    "policies": 2,
    "read": 2,
    "views": 3,
    "checks": 3,
    "formats": 3,
    "store": 4,
    "judge": 4,
    "config": 5,
    "actions": 6,
    "faces": 7,
    "memory_tool": 8,
    "__main__": 8,
}
STRANGERS = {("store", "judge"), ("judge", "store")}
LATE = {"anthropic", "mcp", "memrepo.memory_tool", "memrepo.faces.mcp"}
WRAPPERS = {("memrepo.faces.mcp", "mcp"), ("memrepo.memory_tool", "anthropic")}
"""Modules that are a heavy package's other side, and themselves loaded late."""


def imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the absolute name of everything a module imports, wherever the statement stands."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((f"{base}.{alias.name}", node) for alias in node.names)


def inside_functions(tree: ast.AST) -> set[ast.AST]:
    """Collect the nodes that run only when a function is called."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return {
        inner for node in ast.walk(tree) if isinstance(node, functions) for inner in ast.walk(node)
    }


def ring(name: str) -> str:
    """Return the ring of an absolute module name, or an empty string for the package itself."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in RANK else ""


def violations(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """List what the imports of one module break."""
    tree = ast.parse(source)
    late = inside_functions(tree)
    own = ring(module)
    found = []
    for name, node in imported(tree, module, is_package):
        top = name.split(".")[0]
        where = f"{module}:{node.lineno} imports {name}"
        if top == "git" and own != "store":
            found.append(f"{where}: git is spoken in store only")
        heavy = next((one for one in LATE if f"{name}.".startswith(f"{one}.")), "")
        if heavy and node not in late and (module, heavy) not in WRAPPERS:
            found.append(f"{where}: it is loaded inside the function that needs it")
        other = ring(name) if top == "memrepo" else ""
        if own and other and RANK[other] > RANK[own]:
            found.append(f"{where}: imports point down")
        if (own, other) in STRANGERS:
            found.append(f"{where}: store and judge never meet")
    return found


def modules() -> list[tuple[Path, str, bool]]:
    """List path, module name and whether it is a package, for each file of memrepo."""
    rows = []
    for path in sorted((ROOT / "memrepo").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        rows.append((path, ".".join(parts[:-1] if is_package else parts), is_package))
    return rows


def test_every_module_keeps_the_import_rules() -> None:
    found = []
    for path, module, is_package in modules():
        found += violations(path.read_text(encoding="utf-8"), module, is_package=is_package)
    assert found == []


def test_every_module_belongs_to_a_ring() -> None:
    assert [m for _, m, _ in modules() if m != "memrepo" and not ring(m)] == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("memrepo.core.x", "from memrepo.policies import ageing"),
        ("memrepo.core.x", "from memrepo import store"),
        ("memrepo.core.x", "from memrepo.merge import tombstones"),
        ("memrepo.merge.x", "from memrepo.checks import rules"),
        ("memrepo.core.x", "import memrepo.faces.cli"),
        ("memrepo.core.x", "from ..views import pages"),
        ("memrepo.core.x", "def f():\n    from memrepo.store import repo"),
        ("memrepo.read.x", "from memrepo.checks import rules"),
        ("memrepo.store.x", "from memrepo.judge import offline"),
        ("memrepo.judge.x", "from memrepo.store import repo"),
        ("memrepo.store.x", "from memrepo.config import Config"),
        ("memrepo.actions.x", "from memrepo.faces import cli"),
        ("memrepo.actions.x", "def f():\n    import git"),
        ("memrepo.core.x", "from git.objects import Blob"),
        ("memrepo.judge.x", "import anthropic"),
        ("memrepo.judge.x", "class A:\n    from anthropic import Anthropic"),
        ("memrepo.faces.x", "from mcp.server import Server"),
        ("memrepo.faces.cli", "from memrepo.faces.mcp import serve"),
        ("memrepo.faces.mcp", "import anthropic"),
    ],
)
def test_a_planted_violation_is_caught(module: str, source: str) -> None:
    assert len(violations(source, module)) == 1


def test_a_relative_import_in_a_package_file_is_resolved() -> None:
    assert violations("from ..judge import offline", "memrepo.store", is_package=True) != []


def test_every_chain_of_memories_passes_the_guard_of_landing() -> None:
    """What a person rejected is refused where chains are made.

    `init` makes the first one, and a merge (`join`) ends in a sweep of its own.
    """
    makers = {
        path.name
        for path in (ROOT / "memrepo").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Chain"
    }
    assert makers == {"landing.py", "init.py", "sync.py"}


MACHINE = re.compile(
    r"(?<![\w.~*])/(?:work|root|opt|home/\w+|Users/\w+|tmp/\w+)[/.]|"
    r"pypi\.org|python[h]osted|npm[j]s\."
)
PLACES = (
    *(".github", "memrepo", "tests", "hooks", "prompts", "templates", "docs", ".ci", "benchmarks"),
)


def project_files() -> Iterator[Path]:
    """Yield the project's own text files."""
    yield from (p for p in sorted(ROOT.iterdir()) if p.is_file() and p.name != ".git")
    for place in PLACES:
        found = sorted((ROOT / place).rglob("*")) if (ROOT / place).is_dir() else []
        yield from (p for p in found if p.is_file() and "__pycache__" not in p.parts)


def machine_names(data: bytes) -> list[str]:
    """List the machine paths and registry hosts in a file; a binary file holds none."""
    if b"\0" in data:
        return []
    return [m.group() for m in MACHINE.finditer(data.decode("utf-8", "replace"))]


def test_no_file_names_a_machine_path_or_a_registry() -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for path in project_files()
        if (names := machine_names(path.read_bytes()))
    }
    assert found == {}


# CPython before 3.11.4 matches possessive and atomic groups wrongly (gh-106052).
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{+[\d,]+\}+)\+|\(\?>")


def test_no_pattern_has_a_possessive_or_atomic_group() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "memrepo").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if POSSESSIVE_GROUP.search(line)
    }
    assert found == set()


def test_few_types_are_left_open() -> None:
    """`Any` is for what has every type there is; JSON and what is only handed on are `object`."""
    lines = [
        line
        for path in sorted((ROOT / "memrepo").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if re.search(r"\bAny\b", line)
    ]
    assert len(lines) < 300


def test_no_two_test_files_share_a_name() -> None:
    """pytest imports test files by base name: two of one name cannot be collected."""
    names = [path.name for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


STILL_IN_CYCLES = {
    "memrepo.read.learned",
    "memrepo.read.thoughts",
}
"""Modules that still import each other; no name is added."""


def test_no_modules_import_each_other_not_even_in_a_function_or_for_type_checkers() -> None:
    graph: dict[str, set[str]] = {}
    files = sorted((ROOT / "memrepo").rglob("*.py"))
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in files}
    for name, path in names.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = (target for target, _ in imported(tree, name, is_package=False))
        graph[name] = {t if t in names else t.rpartition(".")[0] for t in found} & names.keys() - {
            name
        }
    assert in_cycles(graph) <= STILL_IN_CYCLES


def in_cycles(graph: dict[str, set[str]]) -> set[str]:
    """Return the modules that lead back to themselves."""

    def reached(start: str) -> set[str]:
        found, open_ = set[str](), [start]
        while open_:
            fresh = graph[open_.pop()] - found
            found |= fresh
            open_ += fresh
        return found

    return {name for name in graph if name in reached(name)}
