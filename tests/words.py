"""Count words and shapes that readers stumble over; `make lint` fails if a count rises.

`python tests/words.py` compares the counts with the limits in `tests/words.toml`, and lists the
places of a kind that is over its limit. `--write` lowers the limits to the counts, `--all KIND`
lists every place of a kind.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import messages

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("words.toml")
RULES = tomllib.loads(TABLE.read_text(encoding="utf-8"))
WORDS = {wrong: re.compile(rf"\b(?:{wrong})\b", re.IGNORECASE) for wrong in RULES["words"]}
"""What not to write, as patterns; the table says what to write."""
VERBS = frozenset(" ".join(RULES["docstrings"]["verbs"]).split())
NAMES = re.compile(rf"(?:^|_)(?:{'|'.join(RULES['names']['parts'])})(?:_|$)")
CODE = re.compile(r"^(```+).*?^\1|`[^`]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
Place = tuple[str, str]
"""Where something is found, and what."""


def wrong_words(text: str, where: str) -> Iterator[Place]:
    """Yield each word of the table that a text has."""
    for wrong, pattern in WORDS.items():
        for found in pattern.finditer(text):
            instead = RULES["words"][wrong]
            yield where, f"{' '.join(found[0].split())!r}: write {instead}"


def in_pages() -> Iterator[Place]:
    """Yield the words of the table in the documentation, outside of code."""
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        text = CODE.sub(" ", path.read_text(encoding="utf-8"))
        yield from wrong_words(text, path.relative_to(ROOT).as_posix())


def in_messages() -> Iterator[Place]:
    """Yield the words of the table in what the program prints."""
    for name, tree in messages.modules():
        for line, text in messages.messages(tree):
            yield from wrong_words(text, f"{name}:{line}")


def docstrings() -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the place, the node and the text of each docstring, those of attributes too."""
    for name, tree in messages.modules():
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            for at, entry in enumerate(body if isinstance(body, list) else ()):
                match entry:
                    case ast.Expr(value=ast.Constant(value=str() as text)):
                        yield f"{name}:{entry.lineno}", node if at == 0 else entry, text


def in_docstrings() -> Iterator[Place]:
    """Yield the words of the table in docstrings."""
    for where, _, text in docstrings():
        yield from wrong_words(text, where)


def openings() -> Iterator[Place]:
    """Yield docstrings of functions that do not begin with an imperative verb."""
    for where, node, text in docstrings():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = text.split()[0].rstrip(",.:;")
            if first not in VERBS and not _is_property(node):
                yield where, f"begins with {first!r}: {text.splitlines()[0]}"


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is read like a field."""
    return any("property" in ast.unparse(one) for one in node.decorator_list)


def in_names() -> Iterator[Place]:
    """Yield functions, classes, constants and parameters whose names are in the dialect."""
    for name, tree in messages.modules():
        for node in ast.walk(tree):
            match node:
                case ast.FunctionDef(name=found) | ast.ClassDef(name=found):
                    pass
                case ast.arg(arg=found):
                    pass
                case ast.Name(id=found, ctx=ast.Store()):
                    pass
                case _:
                    continue
            if NAMES.search(found.lower()):
                yield f"{name}:{node.lineno}", found


KINDS = {
    "pages": in_pages,
    "messages": in_messages,
    "docstrings": in_docstrings,
    "openings": openings,
    "names": in_names,
}


def main(argv: list[str]) -> int:
    """Compare the counts with their limits; answer 1 if one is over."""
    if argv[:1] == ["--all"]:
        print(*(f"{where}: {what}" for kind in argv[1:] for where, what in KINDS[kind]()), sep="\n")
        return 0
    found = {kind: [*search()] for kind, search in KINDS.items()}
    limits = RULES["limits"]
    if argv == ["--write"]:
        text = TABLE.read_text(encoding="utf-8")
        for kind, places in found.items():
            lowered = min(len(places), limits[kind])
            text = re.sub(rf"^{kind} = \d+$", f"{kind} = {lowered}", text, flags=re.MULTILINE)
        TABLE.write_text(text, encoding="utf-8")
        return 0
    over = [kind for kind, places in found.items() if len(places) > limits[kind]]
    for kind in over:
        print(*(f"{where}: {what}" for where, what in found[kind]), sep="\n")
    for kind in over:
        print(f"{kind}: {len(found[kind])} places, at most {limits[kind]} (tests/words.toml)")
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
