"""Each error and problem of the store has a text, and whoever raises it fills the text in."""

from __future__ import annotations

import ast
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memrepo.core import errors

ROOT = Path(errors.__file__).resolve().parents[1]
TEXTS = tomllib.loads((ROOT / "core" / "errors.toml").read_text(encoding="utf-8"))


def entries() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield name, variant and text of each entry."""
    for name, entry in TEXTS.items():
        if "message" in entry:
            yield name, "", entry
        variants = {key: text for key, text in entry.items() if isinstance(text, dict)}
        yield from ((name, variant, text) for variant, text in variants.items())


def literals(node: ast.expr) -> list[str]:
    """Return the texts that an argument may have, or an empty text if it is computed."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else [""]


def raised() -> Iterator[tuple[str, str, set[str]]]:
    """Yield the name, the variant and the given values of each error or problem in the code."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
                yield node.exc.id, "", set()  # a class without values
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            given = {keyword.arg or "" for keyword in node.keywords}
            arguments = [literals(one) for one in node.args]
            kind = getattr(errors, name, None)
            if name in ("problem", "_secret") and arguments:
                given |= {"kind"} if name == "_secret" else set()
                for variant in arguments[2] if len(arguments) > 2 else [""]:
                    yield arguments[0][0], variant if name == "problem" else "", given
            elif kind is errors.StoreError:
                for one in arguments[0]:
                    yield one, "", given
            elif isinstance(kind, type) and issubclass(kind, errors.StoreError):
                for variant in arguments[0] if arguments else [""]:
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
    given = [values for n, v, values in USED if n == name and v in (variant, "")]
    assert given, "nothing raises it"
    assert all(values >= wanted for values in given if name != "FilesInTheWay")


def test_whatever_is_raised_has_a_text() -> None:
    known = {(name, variant) for name, variant, _ in entries()}
    assert {(name, variant) for name, variant, _ in USED if variant} <= known
