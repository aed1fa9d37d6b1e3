"""Each error and problem of the store has a text, and whoever raises it fills the text in."""

from __future__ import annotations

import ast
import string
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memrepo.core import errors

ROOT = Path(errors.__file__).resolve().parents[1]
TEXTS = tomllib.loads((ROOT / "core" / "errors.toml").read_text(encoding="utf-8"))
COMPUTED = "*"


def entries() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield name, variant and text of each entry."""
    for name, entry in TEXTS.items():
        if "message" in entry:
            yield name, "", entry
        variants = {key: text for key, text in entry.items() if isinstance(text, dict)}
        yield from ((name, variant, text) for variant, text in variants.items())


def scopes(node: ast.AST, around: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield each node below a node, with the innermost function, or the module, around it."""
    for one in ast.iter_child_nodes(node):
        yield one, around
        inner = one if isinstance(one, ast.FunctionDef) else around
        yield from scopes(one, inner)


def assigned(name: str, scope: ast.AST) -> list[ast.expr]:
    """Return the expressions that a function or a module assigns to a name."""
    found: list[ast.expr] = []
    for node in ast.walk(scope):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = [*zip(target.elts, node.value.elts, strict=True)]
            found += [value for one, value in pairs if ast.unparse(one) == name]
    return found


def texts_of(node: ast.expr, *around: ast.AST) -> list[str]:
    """Return the texts that an argument may have, or `COMPUTED` if they are not in the code."""
    if isinstance(node, ast.IfExp):
        return texts_of(node.body, *around) + texts_of(node.orelse, *around)
    if isinstance(node, ast.Name):
        values = next(filter(None, (assigned(node.id, one) for one in around)), [])
        return [text for value in values for text in texts_of(value, *around)] or [COMPUTED]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return [node.value] if is_text else [COMPUTED]


def given_by(call: ast.Call, *around: ast.AST) -> set[str]:
    """Return the names of the values that a call gives, with those of a mapping (`**values`)."""
    found = {keyword.arg for keyword in call.keywords if keyword.arg}
    for keyword in call.keywords:
        if keyword.arg is None and isinstance(keyword.value, ast.Name):
            made = assigned(keyword.value.id, around[0])
            keys = [{*map(ast.literal_eval, m.keys)} for m in made if isinstance(m, ast.Dict)]
            found |= set.intersection(*keys) if len(keys) == len(made) and keys else set()
    return found


class Door(NamedTuple):
    """A function that raises or returns a text: where its name and variant are, what it adds."""

    name: int
    variant: int | None
    given: frozenset[str]


def doors_in(tree: ast.Module, known: Mapping[str, Door]) -> Iterator[tuple[str, Door]]:
    """Yield the functions of a module that pass a parameter on as the name of a text."""
    for node, scope in scopes(tree, tree):
        if not (isinstance(node, ast.Call) and isinstance(scope, ast.FunctionDef)):
            continue
        door = known.get(ast.unparse(node.func))
        parameters = [one.arg for one in scope.args.args]
        passed = [ast.unparse(one) for one in node.args]
        if door and len(passed) > door.name and passed[door.name] in parameters:
            variant = passed[door.variant] if door.variant in range(len(passed)) else ""
            at = parameters.index(variant) if variant in parameters else None
            given = door.given | given_by(node, scope)
            yield scope.name, Door(parameters.index(passed[door.name]), at, frozenset(given))


def raised() -> Iterator[tuple[str, str, set[str]]]:
    """Yield the name, the variant and the given values of each error or problem in the code."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))]
    first = {"problem": Door(0, 2, frozenset()), "StoreError": Door(0, None, frozenset())}
    shared = dict(first)
    for tree in trees:  # a private function is one of its module only
        shared |= {n: d for n, d in doors_in(tree, first) if not n.startswith("_")}
    for tree in trees:
        yield from raised_in(tree, {**shared, **dict(doors_in(tree, shared))})


def raised_in(tree: ast.Module, doors: Mapping[str, Door]) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the name, the variant and the given values of each error or problem of a module."""
    for node, scope in scopes(tree, tree):
        thrown = node.exc if isinstance(node, ast.Raise) else None
        if isinstance(thrown, ast.Name) and hasattr(errors, thrown.id):
            yield thrown.id, "", set()  # a class without values
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        given, arguments = given_by(node, scope, tree), node.args
        if name == "partial" and arguments:  # the calls of what it returns give the rest
            name, arguments = ast.unparse(arguments[0]), arguments[1:]
            calls = [one for one in ast.walk(scope) if isinstance(one, ast.Call)]
            later = [one for one in calls if node in assigned(ast.unparse(one.func), scope)]
            given |= set.intersection(*(given_by(one, scope, tree) for one in later or [node]))
        kind, door = getattr(errors, name, None), doors.get(name)
        own = {one.arg for one in scope.args.args} if isinstance(scope, ast.FunctionDef) else set()
        if door and len(arguments) > door.name:
            if ast.unparse(arguments[door.name]) in own and scope.name in doors:
                continue  # the callers of this function name the text
            has_variant = door.variant in range(len(arguments))
            variants = texts_of(arguments[door.variant], scope, tree) if has_variant else [""]
            for text in texts_of(arguments[door.name], scope, tree):
                yield from ((text, variant, given | door.given) for variant in variants)
        elif isinstance(kind, type) and issubclass(kind, errors.StoreError):
            for variant in texts_of(arguments[0], scope, tree) if arguments else [""]:
                yield name, variant, given


USED = [*raised()]


@pytest.mark.parametrize(("name", "variant", "text"), [*entries()])
def test_each_text_is_used_and_filled_in(name: str, variant: str, text: dict[str, str]) -> None:
    wanted = {
        field
        for key in ("message", "fix")
        for _, field, _, _ in string.Formatter().parse(text[key])
        if field
    }
    given = [values for n, v, values in USED if n == name and v in (variant, COMPUTED)]
    assert given, "nothing raises it"
    assert all(values >= wanted for values in given if name != "FilesInTheWay")


def test_whatever_is_raised_has_a_text() -> None:
    known = {(name, variant) for name, variant, _ in entries()}
    named = {(name, variant) for name, variant, _ in USED if name != COMPUTED}
    assert {(name, variant) for name, variant in named if variant != COMPUTED} <= known
    assert {name for name, _ in named} <= {name for name, _ in known}
