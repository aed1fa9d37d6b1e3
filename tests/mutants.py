"""`python tests/mutants.py [NAME ...]`: break the pure modules a little, and see what notices.

A mutant is one small fault in one module: a comparison flipped, a condition negated, a constant one
off, a statement left out, a default returned. The tests that concern the module run against a copy
of the package that holds it, one mutant at a time. A survivor is a line that no test needs: a test
is missing, the line is, or the fault is none (`tests/mutants_equivalent.toml` says why).
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "tests" / "mutants_equivalent.toml"
MUTATED = "memrepo/merge/*.py"
MIN_PERCENT = 85
ALSO = {
    "memrepo/merge/versions.py": [
        "merge/test_merge.py",
        "merge/test_splice.py",
        "merge/test_reversal.py",
    ],
    "memrepo/merge/states.py": [
        "merge/test_merge.py",
        "merge/test_files.py",
        "core/test_corrections.py",
    ],
}
"""Tests of other rooms, or under another name, that concern a module."""
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no"]
LEAST_S = 20.0
"""A mutant that takes longer than this, and five times as long as no mutant, is noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault: the module with it, and how to name it without a line number."""

    path: str
    line: int
    scope: str
    change: str
    source: str

    @property
    def name(self) -> tuple[str, str, str]:
        """Return what stays the same while lines move."""
        return self.path, self.scope, self.change


FLIPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
EMPTY = {"bool": False, "int": 0, "float": 0.0, "str": "", "bytes": b""}


def faults(node: ast.AST, returns: ast.expr | None) -> Iterator[ast.AST]:
    """Yield what a node may be replaced by, each with one fault."""
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                new = copy.deepcopy(node)
                new.ops[at] = FLIPS[type(op)]()
                yield new
        case ast.BoolOp(op=op):
            new_bool = copy.deepcopy(node)
            new_bool.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield new_bool
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.If() | ast.IfExp() | ast.While():
            if not isinstance(node.test, (ast.UnaryOp, ast.Compare)):  # those are flipped above
                new_test = copy.deepcopy(node)
                new_test.test = ast.UnaryOp(ast.Not(), new_test.test)
                yield new_test
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Continue():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Return(value=ast.expr() as value):
            kind = ast.unparse(returns) if returns is not None else ""
            default: object = EMPTY.get(kind.partition("[")[0])
            if kind.startswith("tuple[") and kind.endswith(", ...]"):
                default = ()
            elif kind.startswith(("list[", "set[", "dict[")):
                yield ast.Return(ast.Call(ast.Name(kind.partition("[")[0]), [], []))
                return
            elif kind.startswith("frozenset["):
                yield ast.Return(ast.Call(ast.Name("frozenset"), [], []))
                return
            if ast.unparse(value) != repr(default):
                yield ast.Return(ast.Constant(default))


class Walk(ast.NodeVisitor):
    """Every place of a module where a fault may be put, in reading order."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.AST, str, ast.expr | None]] = []
        self.scope: list[str] = []
        self.returns: list[ast.expr | None] = [None]

    def generic_visit(self, node: ast.AST) -> None:
        self.found.append((node, ".".join(self.scope), self.returns[-1]))
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scope.append(node.name)
        self.returns.append(node.returns)
        self.generic_visit(node)
        self.returns.pop()
        self.scope.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        for child in node.body:  # how a record is made up is not mutated
            self.visit(child)
        self.scope.pop()

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Wording is not mutated."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Nor is the wording of errors."""

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module; what takes the same place is told apart by its number."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    walk = Walk()
    walk.visit(tree)
    lines = source.encode().split(b"\n")
    seen: Counter[tuple[str, str]] = Counter()
    for node, scope, returns in walk.found:
        for new in faults(node, returns):
            if isinstance(node, (ast.If, ast.While)) and isinstance(new, (ast.If, ast.While)):
                old, replacement = node.test, new.test  # the body stays as it is spelled
                head = f"{type(node).__name__.lower()} "
            else:
                old, replacement, head = node, new, ""
            told = ast.unparse(replacement).replace("\n", " ")
            change = f"{head}{_short(ast.unparse(old))} -> {head}{_short(told)}"
            seen[scope, change] += 1
            turn = seen[scope, change]
            yield Mutant(
                path=path.relative_to(ROOT).as_posix(),
                line=old.lineno,
                scope=scope,
                change=change if turn == 1 else f"{change} #{turn}",
                source=_spliced(lines, old, f"({told})" if isinstance(old, ast.expr) else told),
            )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else f"{text[:60]} ... {text[-25:]}"


def _spliced(lines: Sequence[bytes], node: ast.AST, new: str) -> str:
    """Put new text where a node stands; all else keeps its bytes."""
    first, last = lines[node.lineno - 1], lines[node.end_lineno - 1]
    edited = first[: node.col_offset] + new.encode() + last[node.end_col_offset :]
    whole = [*lines[: node.lineno - 1], edited, *lines[node.end_lineno :]]
    return b"\n".join(whole).decode()


def tests_of(path: str) -> list[str]:
    """Return the test files that concern a module, those of its name first."""
    _, room, name = Path(path).with_suffix("").parts
    folder = ROOT / "tests" / room
    named = sorted(folder.glob(f"test_{name}*.py"))
    using = [
        test
        for test in sorted(folder.glob("test_*.py"))
        if _imports(test.read_text(encoding="utf-8"), f"memrepo.{room}", name)
    ]
    also = [ROOT / "tests" / test for test in ALSO.get(path, [])]
    return [str(test) for test in dict.fromkeys([*named, *also, *using])]


def _imports(source: str, package: str, name: str) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and (
            node.module == f"{package}.{name}"
            or (node.module == package and any(alias.name == name for alias in node.names))
        )
        for node in ast.walk(ast.parse(source))
    )


class Bench:
    """A copy of the package in which one module at a time is at fault."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for path in ROOT.iterdir():
            if path.name == "memrepo":
                shutil.copytree(path, folder / path.name)
            elif path.name not in (".git", "benchmarks"):
                (folder / path.name).symlink_to(path)

    def passes(self, tests: Sequence[str], limit: float) -> bool:
        """Tell whether the tests pass within the limit."""
        env = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *OPTIONS, *tests],
            cwd=self.folder,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as child:
            try:
                return child.wait(limit) == 0
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                return False

    def survives(self, mutant: Mutant, tests: Sequence[str], limit: float) -> bool:
        """Tell whether no test notices a mutant."""
        path = self.folder / mutant.path
        whole = path.read_text(encoding="utf-8")
        for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            stale.unlink()
        path.write_text(mutant.source, encoding="utf-8")
        try:
            return self.passes(tests, limit)
        finally:
            path.write_text(whole, encoding="utf-8")


def equivalents() -> dict[tuple[str, str, str], str]:
    """Return the mutants that change nothing anybody could see, and why."""
    if not EQUIVALENT.is_file():
        return {}
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(row["module"], row["scope"], row["change"]): row["reason"] for row in rows}


def measure(path: Path, bench: Bench, options: argparse.Namespace) -> tuple[int, int]:
    """Run a sample of one module's mutants; return how many were noticed, and of how many."""
    name = path.relative_to(ROOT).as_posix()
    known = equivalents()
    every = [m for m in mutants(path) if m.name not in known]
    if options.line:
        sample = [m for m in every if m.line in options.line]
    else:
        count = min(options.sample, len(every))
        sample = random.Random(f"{options.seed}:{name}").sample(every, count)
    sample.sort(key=lambda m: m.line)
    tests = tests_of(name)
    if not sample or not tests:
        print(
            f"{name}: 0 of {len(sample)} noticed (no test concerns it)" if sample else f"{name}: -"
        )
        return 0, len(sample)
    began = time.monotonic()
    if not bench.passes(tests, 600):
        sys.exit(f"tests fail without a mutant: {' '.join(tests)}")
    limit = max(LEAST_S, 5 * (time.monotonic() - began))
    left = [m for m in sample if bench.survives(m, tests, limit)]
    noticed = len(sample) - len(left)
    print(f"{name}: {noticed} of {len(sample)} noticed, of {len(every)} possible", flush=True)
    for mutant in left:
        print(f"  {mutant.line}: {mutant.scope}: {mutant.change}", flush=True)
    return noticed, len(sample)


def main() -> int:
    """Measure the chosen modules; the exit code says whether enough were noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="modules, such as diff3")
    parser.add_argument("--seed", default="1", help="which mutants are sampled")
    parser.add_argument("--sample", type=int, default=18, help="how many mutants a module")
    parser.add_argument("--line", type=int, action="append", help="all mutants of a line instead")
    options = parser.parse_args()
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    paths = [path for path in sorted(ROOT.glob(MUTATED)) if path.name != "__init__.py"]
    if options.names:
        paths = [path for path in paths if path.stem in options.names]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        rows = [measure(path, bench, options) for path in paths]
    noticed, total = sum(n for n, _ in rows), sum(t for _, t in rows)
    percent = 100 * noticed / total if total else 100
    print(f"{noticed} of {total} noticed, {percent:.0f} %, asked {MIN_PERCENT} %")
    return 0 if percent >= MIN_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
