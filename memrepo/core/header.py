"""Parse the header (YAML front matter) of a file and report the errors in it.

A header opens on line 1 (after an optional byte order mark) with `---` and closes with the next
line `---` or `...`. Blanks may follow both. `+++` and a later `---` are part of the body. Files
without a header are normal, not an error.

libyaml parses the lines between the markers. All scalars stay text: types are never guessed, so
`no`, `012` and `2026-01-31` are what they look like. Aliases are refused, because the values of two
keys would share lines. Nodes have positions, which locate problems, values to edit and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from memrepo.core.fields import Node, shown
from memrepo.core.lines import split_lines
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

MAX_BYTES = 1024 * 1024
"""The largest memory file that is read, in bytes."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""The first bytes of the pointer file that git stores in place of a Git LFS file."""
MAX_DEPTH = 16
"""The maximum nesting of lists and mappings in a value."""

RULES: Mapping[str, str] = MappingProxyType(
    {
        "file-too-large": "A memory file has at most 1 MiB.",
        "file-not-utf8": "A memory file is UTF-8.",
        "file-nul": "A memory file contains no NUL byte.",
        "file-conflict": "A file contains no git conflict markers, except in fenced code.",
        "file-lfs-pointer": "A memory file is not stored by Git LFS.",
        "frontmatter-missing": "A memory file begins with a header between two lines `---`.",
        "frontmatter-unclosed": "The header that line 1 opens is closed by a line `---` or `...`.",
        "frontmatter-anchor": "The header has no anchors (&name), aliases (*name) or tags (!name).",
        "frontmatter-syntax": "The header is YAML with one key per line.",
        "frontmatter-not-mapping": "The header is a mapping of keys to values.",
        "frontmatter-second-header": "A file has one header.",
        "frontmatter-duplicate-key": "A key occurs only once in its mapping.",
        "frontmatter-value": "The value of a schema key has the right type.",
        "frontmatter-missing-type": "A memory has a `type`.",
        "frontmatter-near-key": "A key that looks like a misspelt schema key is probably one.",
    }
)
"""All rules of the header and the codec, each with its requirement."""


def refusal(
    rule: str,
    path: str,
    message: str,
    *,
    line: int = 0,
    column: int = 0,
    key: str = "",
    fix: str = "",
    severity: Literal["error", "warning"] = "error",
) -> Problem:
    """Build the Problem of a rule in RULES. Raise KeyError if the rule is not in RULES."""
    if rule not in RULES:
        raise KeyError(rule)
    return Problem(
        path=path,
        rule=rule,
        message=message,
        line=line,
        column=column,
        key=key,
        fix=fix,
        severity=severity,
    )


class Entry(msgspec.Struct, frozen=True):
    """A top-level key, its value, and its first and last line number (one-based, inclusive).

    `last` is the last line of the value, without following comments or blank lines.
    """

    key: str
    value: Node
    first: int
    last: int


class ParsedLines(msgspec.Struct, frozen=True):
    """The entries of a header in file order, the indentation of the keys, and all problems."""

    entries: tuple[Entry, ...] = ()
    indent: int = 0
    problems: tuple[Problem, ...] = ()


FIRST_LINE = 2
"""The line number of the first line after the opening marker."""

_OPEN = regex(r"\ufeff?---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSE = regex(r"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_BYTE_LINE_END = regex(rb"\r\n|\n|\r")


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed header, and where the body starts.

    `present`: the header is opened and closed. `unclosed`: it is only opened, and the whole file is
    body. `indent`: the number of blanks before each top-level key. `body_line`: the one-based
    number of the first line after the header. `body_offset`: the offset of that line in the decoded
    text, including a byte order mark.
    """

    present: bool = False
    unclosed: bool = False
    entries: tuple[Entry, ...] = ()
    indent: int = 0
    body_line: int = 1
    body_offset: int = 0
    problems: tuple[Problem, ...] = ()


def split(data: bytes, path: str) -> Header:
    """Parse the header of any file. Never raises: errors are in `problems`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Header(problems=(not_utf8(path, data, error.start),))
    return read(text, path)


def not_utf8(path: str, data: bytes, offset: int) -> Problem:
    """Build the Problem for a file with an invalid UTF-8 byte at `offset`."""
    before = data[:offset]
    ends = list(_BYTE_LINE_END.finditer(before))
    start = ends[-1].end() if ends else 0
    return refusal(
        "file-not-utf8",
        path,
        f"found the byte 0x{data[offset]:02X} at offset {offset}, expected UTF-8",
        line=len(ends) + 1,
        column=len(before[start:].decode("utf-8", "replace")) + 1,
        fix="save the file as UTF-8",
    )


def read(text: str, path: str) -> Header:
    """Parse the header of a decoded text. `split` does the same for bytes."""
    bom = int(text.startswith("\ufeff"))
    opening = _OPEN.match(text)
    if opening is None:
        return Header(body_offset=bom)
    closing = _closing(text, opening)
    if closing is None:
        problem = refusal(
            "frontmatter-unclosed",
            path,
            "found --- on line 1 only, expected a closing ---",
            line=1,
            column=1,
            fix="close the header with a line ---",
        )
        return Header(unclosed=True, body_offset=bom, problems=(problem,))
    lines = inner_lines(text, opening.end(), closing.start() + 1)
    reading = read_lines(lines, path)
    return Header(
        present=True,
        entries=reading.entries,
        indent=reading.indent,
        body_line=FIRST_LINE + len(lines) + 1,
        body_offset=closing.end(),
        problems=reading.problems,
    )


def _closing(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    # The closing marker may follow directly. Its preceding line end is then part of the opening
    # marker.
    return _CLOSE.search(text, opening.end() - 1)


def inner_lines(text: str, start: int, end: int) -> list[str]:
    """Split the text between the markers into lines without line endings."""
    inner = text[start:end]
    if "\r" in inner:
        return [line for line, _ in split_lines(inner)]
    lines = inner.split("\n")
    # Remove the empty string after the last line end. If the markers are adjacent, no line remains.
    lines.pop()
    return lines


_Fault = tuple[str, str, int, int]
"""A rule, what was found and expected, and a zero-based line and column."""
_STRANGE = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|^\ufeff")
_ANY_COMMENT = regex(r"#.*")
_MARGIN_KEY = regex(r"(?:\? (\w+)|(\w[^\s:]*):)")
_INNER = ("", " ", "\t", "-", "#")
_MAX_PROBLEMS = 20
_MAX_OPENINGS = 400
"""libyaml composes nodes recursively. Headers that may nest more are counted first."""
_END_OF_LINE = MAX_BYTES
_FIXES = {
    "frontmatter-not-mapping": "write `type: fact` and the like between the --- lines",
    "frontmatter-duplicate-key": "keep one of the two lines",
}


def read_lines(lines: Sequence[str], path: str) -> ParsedLines:
    """Parse the lines between the markers. Errors are in `problems`."""
    import yaml

    try:
        faults = list(_characters(lines)) or list(_tokens(lines))
        root = None if faults else _compose(lines)
        faults += [] if root is None else list(_faults(root, lines))
    except yaml.YAMLError as error:
        root, faults = None, [_syntax(lines, error)]
    if faults or root is None:
        problems = (_problem(path, lines, *fault) for fault in faults[:_MAX_PROBLEMS])
        return ParsedLines(problems=tuple(problems))
    entries = (
        Entry(
            key=key.value,
            value=_value_of(value),
            first=key.start_mark.line + FIRST_LINE,
            last=max(_end(key), _end(value))[0] + FIRST_LINE,
        )
        for key, value in root.value
    )
    return ParsedLines(entries=tuple(entries), indent=root.start_mark.column)


def _problem(
    path: str, lines: Sequence[str], rule: str, message: str, line: int, column: int
) -> Problem:
    margin = next((text for text in reversed(lines[: line + 1]) if text[:1] not in _INNER), "")
    found = _MARGIN_KEY.match(margin)
    return refusal(
        rule,
        path,
        message,
        line=line + FIRST_LINE,
        column=column + 1,
        key=(found[1] or found[2]) if found else "",
        fix=_FIXES.get(rule, "put the value in double quotes"),
    )


def _compose(lines: Sequence[str]) -> Any:
    """Return the root node of a header. Raise yaml.YAMLError if it is not YAML."""
    import yaml

    text = "".join(f"{line}\n" for line in lines)
    return yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def _tokens(lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield anchors, aliases and tags, and nesting that is too deep for the composer."""
    import yaml

    text = "".join(f"{line}\n" for line in lines)
    openings = sum(map(text.count, "[{-?")) + max(map(len, lines), default=0)
    if openings <= _MAX_OPENINGS and not any(sign in text for sign in "&*!"):
        return
    depth = 0
    for token in yaml.scan(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        name, mark = type(token).__name__, token.start_mark
        if name in ("AnchorToken", "AliasToken", "TagToken"):
            message = "found an anchor, an alias or a tag, expected a plain value"
            yield "frontmatter-anchor", message, mark.line, mark.column
        if name.startswith(("Block", "Flow")):
            depth += name.endswith("StartToken") - name.endswith("EndToken")
        if depth > MAX_DEPTH + 1:
            message = f"found nesting deeper than {MAX_DEPTH} levels, expected less"
            yield "frontmatter-syntax", message, mark.line, mark.column
            return


def _characters(lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield control characters, and line breaks that only YAML 1.1 has: the first of each line."""
    for number, line in enumerate(lines):
        if match := _STRANGE.search(line):
            found = f"found the character U+{ord(match[0]):04X}, expected printable text"
            yield "frontmatter-syntax", found, number, match.start()


def _faults(root: Any, lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield everything in the nodes of a header that memrepo cannot read or edit by line."""
    if root.id != "mapping" or root.flow_style:
        what = shown(root.value) if root.id == "scalar" else "a list or one {...}"
        message = f"found {what}, expected lines `key: value`"
        yield "frontmatter-not-mapping", message, root.start_mark.line, root.start_mark.column
        return
    todo: list[tuple[Any, int]] = [(root, 0)]
    while todo:
        node, depth = todo.pop()
        place = node.start_mark.line, node.start_mark.column
        if depth > MAX_DEPTH:
            message = f"found nesting deeper than {MAX_DEPTH} levels, expected less"
            yield "frontmatter-syntax", message, *place
            continue
        if node.id == "mapping":
            yield from _keys(node, lines)
        if node.id != "scalar":
            todo += [(part, depth + 1) for part in reversed(_children(node))]


def _keys(node: Any, lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield the keys of a mapping that are no text, not on one line, or occur twice."""
    known: set[str] = set()
    for key, _ in node.value:
        line, column = key.start_mark.line, key.start_mark.column
        if key.id != "scalar" or (not node.flow_style and "?" in lines[line][:column]):
            message = "found a key that is not a word, expected `key: value`"
            yield "frontmatter-syntax", message, line, column
        elif key.value in known:
            message = f"found {shown(key.value)} again, expected it once"
            yield "frontmatter-duplicate-key", message, line, column
        elif key.id == "scalar":
            known.add(key.value)


def _value_of(node: Any) -> Node:
    if node.id == "mapping":
        return {key.value: _value_of(value) for key, value in node.value}
    return [_value_of(part) for part in node.value] if node.id == "sequence" else node.value


def _children(node: Any) -> Sequence[Any]:
    if node.id == "mapping":
        return [part for pair in node.value for part in pair]
    return node.value if node.id == "sequence" else []


def _end(node: Any) -> tuple[int, int]:
    """Return the zero-based line and column at which the text of a node ends."""
    line, column = node.end_mark.line, node.end_mark.column
    if node.id == "scalar" and node.style in ("|", ">") and not column:
        return max(line - 1, node.start_mark.line), _END_OF_LINE
    if node.id != "scalar" and not node.flow_style and (parts := _children(node)):
        return max(map(_end, parts))
    return line, column


def _syntax(lines: Sequence[str], error: Exception) -> _Fault:
    """Return the fault for a YAML error."""
    mark: Any = getattr(error, "problem_mark", None)
    if mark is None or mark.line >= len(lines):  # use the start of the unclosed construct
        mark = getattr(error, "context_mark", None) or mark
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    reason = getattr(error, "problem", None) or type(error).__name__
    line = max(0, min(line, len(lines) - 1))
    return "frontmatter-syntax", f"{reason}, expected `key: value`", line, column


def _scalars(node: Any) -> Iterator[Any]:
    if node.id == "scalar":
        yield node
    for part in _children(node):
        yield from _scalars(part)


def locate(lines: Sequence[str], key: str, steps: Sequence[str | int]) -> tuple[int, int]:
    """Return the one-based line and column of the value at `key` and the nested `steps`.

    Follow the steps as far as they exist.
    """
    node, place = _compose(lines), (FIRST_LINE, 1)
    for step in (key, *steps):
        pairs = node.value if node.id == "mapping" else enumerate(node.value)
        parts = {getattr(name, "value", name): part for name, part in pairs}
        node = parts.get(step)
        if node is None:
            break
        place = (node.start_mark.line + FIRST_LINE, node.start_mark.column + 1)
        if node.id == "scalar":
            break
    return place


def comments(lines: Sequence[str]) -> dict[int, str]:
    """Return the comments `# text` in the lines of a header, by zero-based line number."""
    if not any("#" in line for line in lines):
        return {}
    return {number: text for number, (_, text) in _comments(lines, _compose(lines)).items()}


def _comments(lines: Sequence[str], root: Any) -> dict[int, tuple[int, str]]:
    """Return all comments as a mapping from line index to (column, text).

    After the last scalar that ends on a line, only punctuation can precede the first `#`.
    """
    ends: dict[int, int] = {}
    inside: set[int] = set()
    for node in _scalars(root) if root else ():
        # The line of a block scalar indicator may end with a comment. A line with an open quote may
        # not.
        line, column = _end(node)
        inside.update(range(node.start_mark.line + (node.style in ("|", ">")), line))
        ends[line] = max(ends.get(line, 0), column)
    found = {}
    for number, text in enumerate(lines):
        match = _ANY_COMMENT.search(text, ends.get(number, 0))
        if match is not None and number not in inside:
            found[number] = match.start(), match[0]
    return found
