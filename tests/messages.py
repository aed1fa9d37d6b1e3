"""List every text that the program can print, so that a change of wording is seen in a diff.

The list is `tests/golden/messages.txt`: the texts of each module in the order of the file, with
`{}` for what is filled in. `python tests/messages.py --write` refreshes it (`make docs` does so).
A text is a literal of two words or more that is no docstring, pattern, SQL, or part of a prompt.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden" / "messages.txt"
TEXT = re.compile(r"[A-Za-z`]{2,}[,;:)'\"`]* [(`'\"]?[A-Za-z{]{2,}")
"""Two words with a blank between them."""
OTHER = re.compile(r"\\|\(\?|\b(?:SELECT|INSERT|CREATE|DELETE|UPDATE|PRAGMA|WHERE) ")
"""Patterns and SQL."""
TABLES = {
    "memrepo/core/errors.toml": r"""^(?:message|fix) = ["'](.+)["']$""",
    "memrepo/core/messages.toml": r'"([^"]+ [^"]+)"(?=[],\n])',
}
"""Files with texts, and the pattern of a text in each."""
PATTERNS = {"regex", "compile", "execute", "executemany", "executescript"}
"""Functions whose arguments are patterns or SQL."""


def messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each message of a module, in the order of the file."""
    skipped = {id(node) for parent in ast.walk(tree) for node in _skipped(parent)}
    found = []
    for node in ast.walk(tree):
        if id(node) not in skipped and isinstance(node, ast.JoinedStr | ast.Constant):
            whole = _text(node)
            found += [
                (node.lineno, node.col_offset, " ".join(text.split()))
                for text in ("" if OTHER.search(whole) else whole).split("\n")
                if TEXT.search(text) and not _is_table(text)
            ]
    yield from ((line, text) for line, _, text in sorted(found))


def _is_table(text: str) -> bool:
    """Return whether a text is a table of words of a language."""
    return text.count(":") > 3 or (text.count(" ") > 15 and not re.search(r"[.,;:`]", text))


def _text(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(v) if isinstance(v, ast.Constant) else "{}" for v in values)
    return ""


def _skipped(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the literals below a node that are no messages."""
    match node:
        case ast.JoinedStr(values=values):
            yield from values
        case ast.Expr(value=ast.Constant() as text):
            yield text
        case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr="split")):
            yield text
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in PATTERNS:
            yield from ast.walk(node)


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the name and the tree of each module of the program."""
    for path in sorted((ROOT / "memrepo").rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def listing() -> str:
    """Return the list of all messages."""
    parts = []
    for name, tree in modules():
        if found := [text for _, text in messages(tree)]:
            parts.append("\n".join([name, *(f"  {text}" for text in found)]))
    for name, form in TABLES.items():
        texts = re.findall(form, (ROOT / name).read_text("utf-8"), re.M)
        parts.append("\n".join([name, *(f"  {text}" for text in texts)]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/messages.py --write")
    GOLDEN.write_text(listing(), encoding="utf-8")
