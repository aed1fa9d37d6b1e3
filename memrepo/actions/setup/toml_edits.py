"""Edits of one key in a TOML text that a person wrote, preserving comments and other bytes.

`tomlkit` changes existing keys. A new key is inserted after the comment that shows it, such as `#
max_usd = 0.50`. Without such a comment, the key is added at the end of its section, or in a new
section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, MutableMapping

from memrepo.core.patterns import regex

_BARE = regex(r"[A-Za-z0-9_-]+")
_HEADING = regex(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?")


def with_value(text: str, path: tuple[str, ...], value: object) -> str:
    """Return the text with a value set at the path given by table names and a key."""
    import tomlkit

    document = tomlkit.parse(text)
    *above, last = path
    table = _table(document, above)
    if table is not None and (last in table or _is_inline(table)):
        table[last] = value
        return tomlkit.dumps(document)
    line = f"{_spelled(last)} = {tomlkit.item(value).as_string()}"
    return _put(text, ".".join(above), last, line)


def without(text: str, path: tuple[str, ...]) -> str:
    """Return the text without a key, or the unchanged text if the key is not set."""
    import tomlkit

    document = tomlkit.parse(text)
    table = _table(document, path[:-1])
    if table is None or path[-1] not in table:
        return text
    del table[path[-1]]
    return tomlkit.dumps(document)


def _table(
    document: MutableMapping[str, object], names: Iterable[str]
) -> MutableMapping[str, object] | None:
    """Return the table at a path of table names, or None."""
    table: object = document
    for name in names:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, MutableMapping) else None


def _is_inline(table: object) -> bool:
    from tomlkit.items import InlineTable

    return isinstance(table, InlineTable)


def _spelled(name: str) -> str:
    import tomlkit

    return name if _BARE.fullmatch(name) else tomlkit.item(name).as_string()


def _put(text: str, section: str, key: str, line: str) -> str:
    """Return the text with a line added to a section that does not set the key yet."""
    lines = text.split("\n")
    first, end = _bounds(lines, section)
    if first < 0:
        body = text.rstrip("\n")
        return f"{body}\n\n[{section}]\n{line}\n" if body else f"[{section}]\n{line}\n"
    lines.insert(_place(lines, first, end, key), line)
    return "\n".join(lines)


def _bounds(lines: list[str], section: str) -> tuple[int, int]:
    """Return (first, end) for the lines of a section.

    `first` is -1 if the section has no heading.
    """
    first = 0 if not section else -1
    for number, line in enumerate(lines):
        if not (heading := _HEADING.fullmatch(line)):
            continue
        if first >= 0:
            return first, number
        if re.sub(r"\s*\.\s*", ".", heading[1].strip()) == section:
            first = number + 1
    return first, len(lines)


def _place(lines: list[str], first: int, end: int, key: str) -> int:
    """Return the index of the line before which to insert a new key."""
    shown = re.compile(rf"#\s*{re.escape(key)}\s*=")
    for number in range(first, end):
        if shown.match(lines[number]):
            return (_closing(lines, number, end) if _is_open(lines[number]) else number) + 1
    # A table whose heading is in a comment has its own keys: insert above the first of them.
    keys = [n for n in range(first, end) if re.match(r"\s*[\w\"'.-]+\s*=", lines[n])]
    if not keys:
        return first
    last = keys[-1] + 1
    while last < end and lines[last].strip() and not lines[last].lstrip().startswith("#"):
        last += 1  # the rest of a multi-line value
    return last


def _closing(lines: list[str], number: int, end: int) -> int:
    """Return the index of the line that ends a commented value of several lines.

    Return the line of the value itself if no line closes it.
    """
    rest = range(number + 1, end)
    return next((n for n in rest if lines[n].lstrip("# ").startswith(("]", "}"))), number)


def _is_open(line: str) -> bool:
    """Return whether a commented value continues because its list or table is not closed."""
    value = line.partition("=")[2].strip()
    return value.endswith(("[", "{"))
