"""Edit JSON files of other programs, and read and write JSON lines.

Unedited parts of a JSON file remain identical byte for byte. Values are added at the end of an
object or a list, in the file's indentation, and can be removed later. Comments and trailing commas,
which many programs allow in settings, are preserved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

_PIECE = regex(r'"(?:[^"\\\n]|\\.)*"?|(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)|/\*[\s\S]*|,')
"""A string, a comment or a comma. An unclosed string or comment also matches, and is invalid JSON.
"""
_BLANK = regex(r"[ \t\r\n]*")
_BREAK = regex(r"[ \t]*\r?\n")
_NO_BLANK = regex(r"[^ \t\r\n]")
_TRAILING = regex(r",[ \t\r\n]*[]}]")
_INDENT = regex(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()


class NotJson(ValueError):
    """Raised when a text is not valid JSON or has an unexpected structure."""

    def __init__(self, text: str, offset: int, what: str) -> None:
        super().__init__(f"line {text.count(chr(10), 0, offset) + 1}: {what}")


class JsonPart(msgspec.Struct, frozen=True, kw_only=True):
    """An object member with its key, or a list item, with its start offset and its value."""

    start: int
    value: JsonNode
    key: str = ""


class JsonNode(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed value with its position in the text.

    `kind` is `{`, `[` or empty, and `parts` are the members of a container.
    """

    start: int
    end: int
    kind: str = ""
    parts: tuple[JsonPart, ...] = ()


def parse(text: str) -> JsonNode:
    """Parse a text into a node tree. Raise NotJson if the text is not valid JSON."""
    plain = without_comments(text)
    try:
        json.loads(plain)
    except (ValueError, RecursionError) as error:
        raise NotJson(text, getattr(error, "pos", 0), getattr(error, "msg", str(error))) from error
    return _node(plain, _past(plain, 0))


def without_comments(text: str) -> str:
    """Replace comments and trailing commas by blanks. The length of the text does not change."""
    if "//" not in text and "/*" not in text and not _TRAILING.search(text):
        return text
    bare = _PIECE.sub(lambda m: _NO_BLANK.sub(" ", m[0]) if m["comment"] else m[0], text)
    return _PIECE.sub(lambda m: " " if m[0] == "," and _is_last(bare, m.start()) else m[0], bare)


def _is_last(text: str, at: int) -> bool:
    """Return whether no value follows a comma before the end of the container."""
    before = at
    while before and text[before - 1] in " \t\r\n":
        before -= 1
    after = _past(text, at + 1)
    return text[before - 1 : before] not in ("", "{", "[", ",") and text[after : after + 1] in (
        "}",
        "]",
    )


def append(text: str, keys: Sequence[str], value: object) -> str:
    """Append a value to the list found by following `keys` from the root.

    Missing objects and the list are created. Raise NotJson if a key leads to another type.
    """
    path = _path(parse(text), keys)
    rest = keys[len(path) - 1 :]
    if path[-1].kind != ("{" if rest else "["):
        raise NotJson(text, path[-1].start, f"expected {'an object' if rest else 'a list'}")
    if not rest:
        return _add(text, path[-1], "", value)
    made: object = [value]
    for key in reversed(rest[1:]):
        made = {key: made}
    return _add(text, path[-1], rest[0], made)


def put(text: str, keys: Sequence[str], value: object) -> str:
    """Set the member found by following `keys` from the root. Create missing parent objects.

    Raise NotJson if a parent is not an object.
    """
    text = take_away(text, keys, lambda _: True, empty=False)
    path = _path(parse(text), keys[:-1])
    if path[-1].kind != "{":
        raise NotJson(text, path[-1].start, "expected an object")
    first, *rest = keys[len(path) - 1 :]
    made = value
    for key in reversed(rest):
        made = {key: made}
    return _add(text, path[-1], first, made)


def take_away(
    text: str, keys: Sequence[str], ours: Callable[[object], bool], *, empty: bool = True
) -> str:
    """Remove the member found by following `keys` if `ours` returns true for the member's value.

    If `empty`, also remove the objects that become empty.
    """
    path = _path(parse(text), keys)
    if len(path) <= len(keys):
        return text
    if not ours(json.loads(without_comments(text)[path[-1].start : path[-1].end])):
        return text
    for depth in reversed(range(len(keys))):
        path = _path(parse(text), keys)
        if depth < len(keys) - 1 and (path[depth + 1].parts or not empty):
            break
        text = _cut(text, path[depth], [p.key for p in path[depth].parts].index(keys[depth]))
    return text


def take_out(text: str, keys: Sequence[str], ours: Callable[[object], bool]) -> str:
    """Remove the items for which `ours` returns true from the list found by following `keys`.

    Also remove the containers that become empty.
    """
    path = _path(parse(text), keys)
    if len(path) <= len(keys) or path[-1].kind != "[":
        return text
    plain = without_comments(text)
    values = (json.loads(plain[p.value.start : p.value.end]) for p in path[-1].parts)
    number = next((n for n, value in enumerate(values) if ours(value)), None)
    if number is None:
        return text
    text = _cut(text, path[-1], number)
    for depth in reversed(range(len(keys))):
        path = _path(parse(text), keys)
        if path[depth + 1].parts:
            break
        text = _cut(text, path[depth], [p.key for p in path[depth].parts].index(keys[depth]))
    return take_out(text, keys, ours)


def _path(root: JsonNode, keys: Sequence[str]) -> list[JsonNode]:
    """Return the existing nodes along `keys`, starting with the root."""
    path = [root]
    for key in keys:
        found = next((p.value for p in path[-1].parts if p.key == key), None)
        if found is None:
            break
        path.append(found)
    return path


def _past(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _node(text: str, start: int) -> JsonNode:
    kind = text[start]
    if kind not in "{[":
        return JsonNode(start=start, end=_DECODER.raw_decode(text, start)[1])
    parts: list[JsonPart] = []
    at = _past(text, start + 1)
    while text[at] not in "}]":
        began, key = at, ""
        if kind == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _past(text, _past(text, at) + 1)
        value = _node(text, at)
        parts.append(JsonPart(start=began, value=value, key=key))
        at = _past(text, value.end)
        if text[at] == ",":
            at = _past(text, at + 1)
    return JsonNode(start=start, end=at + 1, kind=kind, parts=tuple(parts))


def _add(text: str, node: JsonNode, key: str, value: object) -> str:
    """Insert a member at the end of a container."""
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    if node.parts and "\n" not in text[node.start : node.end]:
        made = f", {name}{json.dumps(value, ensure_ascii=False)}"
        return text[: node.parts[-1].value.end] + made + text[node.parts[-1].value.end :]
    unit = found[1] if (found := _INDENT.search(text)) else "  "
    line_end = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, node.parts[-1].start if node.parts else node.start)
    inner = outer if node.parts else outer + unit
    lines = (name + json.dumps(value, ensure_ascii=False, indent=unit)).split("\n")
    made = line_end + line_end.join(inner + line for line in lines)
    last = node.parts[-1].value.end if node.parts else node.start + 1
    between = text[last : node.end - 1].rstrip()
    if between.strip(","):  # leave comments in their place
        comma = "," if node.parts and not _comma(between) else ""
        rest = text[last + len(between) :]
        end = "" if _BREAK.match(rest) else f"{line_end}{outer}"
        return f"{text[:last]}{comma}{between}{made}{end}{rest}"
    if node.parts:
        return f"{text[:last]},{made}{text[last:]}"
    return f"{text[: node.start + 1]}{made}{line_end}{outer}{text[node.end - 1 :]}"


def _comma(text: str) -> re.Match[str] | None:
    """Return the offset of the first comma between two values, ignoring commas in comments."""
    return next((m for m in _PIECE.finditer(text) if m[0] == ","), None)


def _comments(between: str) -> str:
    """Return the text between two values without the comma, or "" if only blanks remain."""
    comma = _comma(between)
    rest = between[: comma.start()] + between[comma.end() :] if comma else between
    return rest if rest.strip() else ""


def _indent(text: str, at: int) -> str:
    """Return the indentation of the line that contains an offset."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _cut(text: str, node: JsonNode, number: int) -> str:
    """Remove one member of a container, together with the comma next to it."""
    parts = node.parts
    start, end = parts[number].start, parts[number].value.end
    before = parts[number - 1].value.end if number else node.start + 1
    if number:
        return text[:before] + _comments(text[before:start]) + text[end:]
    after = parts[1].start if len(parts) > 1 else node.end - 1
    kept = _comments(text[end:after])
    if len(parts) > 1:
        return text[:start] + kept + text[after:]
    return text[:before] + _comments(text[before:start]) + kept + text[after:]


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
