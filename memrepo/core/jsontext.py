"""Edit JSON files of other programs, and read and write JSON lines.

What is not edited stays identical byte for byte. A value is added at the front of an object or a
list, in the indentation found there, and can be removed later, even after the program has written
the file again. Files with comments are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import msgspec

from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

_BLANK = regex(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class NotJson(ValueError):
    """Raised when a text is not valid JSON or has an unexpected structure."""

    def __init__(self, text: str, offset: int, what: str) -> None:
        super().__init__(f"line {text.count(chr(10), 0, offset) + 1}: {what}")


class JsonPart(NamedTuple):
    """A member of an object or an item of a list: its key, its value, and where both are."""

    key: str
    value: Any
    start: int
    at: int
    """Where the value begins."""
    end: int


def put_item(text: str, keys: Sequence[str], value: object) -> str:
    """Add a value to the list found by following `keys`. Create missing objects and the list.

    Raise NotJson if a key leads to another type.
    """
    return _put(text, keys, "", value)


def put_member(text: str, keys: Sequence[str], value: object) -> str:
    """Add a member at the path `keys`, whose last key is not there yet. Create missing objects."""
    return _put(text, keys[:-1], keys[-1], value)


def _put(text: str, keys: Sequence[str], last: str, value: object) -> str:
    text = text if text.strip() else "{\n}\n"
    at, rest = _start(text), [*keys]
    while rest and (found := next((p for p in _parts(text, at) if p.key == rest[0]), None)):
        at = found.at
        del rest[0]
    name, made = last, value
    if rest:
        name, made = rest[0], {last: value} if last else [value]
        for key in reversed(rest[1:]):
            made = {key: made}
    kind = "{" if name else "["
    if text[at] != kind:
        raise NotJson(text, at, f"expected {'an object' if name else 'a list'}")
    gap = text[at + 1 : _past(text, at + 1)]
    is_empty = text[at + 1 + len(gap)] in "}]"
    unit = "  " if "\n" in gap else ""
    gap += unit if is_empty else ""
    body = json.dumps(made, ensure_ascii=False, indent=unit or None)
    piece = gap + (f"{json.dumps(name)}: " if name else "") + body.replace("\n", gap or "\n")
    return f"{text[: at + 1]}{piece}{'' if is_empty else ','}{text[at + 1 :]}"


def take_item(text: str, keys: Sequence[str], is_ours: Callable[[object], bool]) -> str:
    """Remove the items for which `is_ours` returns true from the list found by following `keys`.

    Also remove the containers that become empty.
    """
    path = _path(text, keys)
    if len(path) <= len(keys) or text[path[-1]] != "[":
        return text
    for number, part in enumerate(parts := _parts(text, path[-1])):
        if is_ours(part.value):
            text = _cut(text, path[-1], parts, number)
            return take_item(_without_empty(text, keys), keys, is_ours)
    return text


def take_member(text: str, keys: Sequence[str], is_ours: Callable[[object], bool]) -> str:
    """Remove the member found by following `keys` if `is_ours` returns true for its value.

    Also remove the containers that become empty.
    """
    path = _path(text, keys[:-1])
    if len(path) < len(keys):
        return text
    for number, part in enumerate(parts := _parts(text, path[-1])):
        if part.key == keys[-1] and is_ours(part.value):
            return _without_empty(_cut(text, path[-1], parts, number), keys[:-1])
    return text


def _without_empty(text: str, keys: Sequence[str]) -> str:
    for depth in range(len(keys), 0, -1):
        path = _path(text, keys[:depth])
        if len(path) <= depth or _parts(text, path[-1]):
            break
        parts = _parts(text, path[-2])
        text = _cut(text, path[-2], parts, [part.key for part in parts].index(keys[depth - 1]))
    return text


def _path(text: str, keys: Sequence[str]) -> list[int]:
    """Return the offsets of the existing values along `keys`, beginning with the root."""
    path = [_start(text)]
    for key in keys:
        found = next((part.at for part in _parts(text, path[-1]) if part.key == key), None)
        if found is None:
            break
        path.append(found)
    return path


def _start(text: str) -> int:
    """Return the offset of the root. Raise NotJson if the text is not valid JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(text, getattr(error, "pos", 0), getattr(error, "msg", str(error))) from error
    return _past(text, 0)


def _past(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _parts(text: str, at: int) -> list[JsonPart]:
    """Return the parts of the object or list at an offset, or none for another value."""
    parts: list[JsonPart] = []
    is_object, at = text[at] == "{", _past(text, at + 1) if text[at] in "{[" else -1
    while at >= 0 and text[at] not in "}]":
        start, key = at, ""
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _past(text, _past(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        parts.append(JsonPart(key, value, start, at, end))
        at = _past(text, end)
        at = _past(text, at + 1) if text[at] == "," else at
    return parts


def _cut(text: str, at: int, parts: Sequence[JsonPart], number: int) -> str:
    """Remove one part of the container at an offset, together with the comma next to it."""
    if number + 1 < len(parts):
        return text[: parts[number].start] + text[parts[number + 1].start :]
    if number:
        return text[: parts[number - 1].end] + text[parts[number].end :]
    return text[: at + 1] + text[parts[0].end :]


# -- JSON lines -----------------------------------------------------------------------------------

_SEPARATORS = regex("[\x85\u2028\u2029]")


class JsonLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a JSON lines file and its one-based line number."""

    number: int
    record: Mapping[str, Any]


def read_lines(path: str, data: bytes, rule: str) -> tuple[list[JsonLine], list[Problem]]:
    """Read a JSON lines file. Blank lines are ignored, and invalid lines are reported as Problems.

    Lines end only at line feeds. NaN and infinity are rejected because they are not JSON.
    """
    found: list[JsonLine] = []
    problems: list[Problem] = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        record = read_object(raw)
        if isinstance(record, str):
            problems.append(
                Problem(
                    path=path,
                    line=number,
                    column=1,
                    rule=rule,
                    message=f"found {record}, expected one JSON object",
                    fix="fix the line, or remove it",
                )
            )
        else:
            found.append(JsonLine(number=number, record=record))
    return found, problems


def read_object(data: bytes) -> dict[str, object] | str:
    """Decode one JSON object, or return a description of the text that was found instead."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        return f"a byte that is not UTF-8 at offset {error.start}"
    except RecursionError:
        return "values nested too deep"
    except ValueError as error:
        return f"text that is not JSON ({error})"
    return value if isinstance(value, dict) else f"a {type(value).__name__}"


def spell_lines(records: Iterable[Mapping[str, object]]) -> bytes:
    """Format records as JSON lines.

    Unicode line separators are escaped because some programs split lines at them.
    """
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return _SEPARATORS.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def texts(value: object) -> list[str]:
    """Return the strings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the mappings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []
