"""Parse the header (YAML front matter) of a file and report the errors in it.

A header opens on line 1 (after an optional byte order mark) with `---` and closes with the next
line `---` or `...`. Blanks may follow both. `+++` and a later `---` are part of the body. Files
without a header are normal, not an error.

The fast reader accepts a line only if YAML yields the same text. Tests check that both readers
agree on every header it accepts. Other headers are parsed by YAML, which is ten times slower.

The slow reader uses PyYAML's event stream, not its composer. The depth is therefore checked before
anything recurses, aliases are never followed, and types are never guessed. Nodes have positions,
which are used to locate problems and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from memrepo.core.fields import Node, shown
from memrepo.core.lines import BAD, FLOW_PLAIN, ambiguous, plain_shape, resolves, split_lines
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.schema import ORDER

MAX_BYTES = 1024 * 1024
"""The largest memory file that is read, in bytes."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""The first bytes of the pointer file that git stores in place of a Git LFS file."""
OWN_DEPTH = 4
"""The maximum nesting of lists and mappings under a schema key. The schema needs three levels."""
FOREIGN_DEPTH = 16
"""The maximum nesting under a foreign key."""

RULES: Mapping[str, str] = MappingProxyType(
    {
        "file-too-large": "A memory file has at most 1 MiB.",
        "file-not-utf8": "A memory file is UTF-8.",
        "file-nul": "A memory file contains no NUL byte.",
        "file-conflict": "A file contains no git conflict markers, except in fenced code.",
        "file-lfs-pointer": "A memory file is not stored by Git LFS.",
        "frontmatter-missing": "A memory file begins with a header between two lines `---`.",
        "frontmatter-unclosed": "The header that line 1 opens is closed by a line `---` or `...`.",
        "frontmatter-syntax": "The header is YAML.",
        "frontmatter-not-mapping": "The header is a mapping of keys to values.",
        "frontmatter-flow-mapping": "The header has one key per line, not one `{...}`.",
        "frontmatter-second-header": "A file has one header.",
        "frontmatter-duplicate-key": "A key occurs only once in its mapping.",
        "frontmatter-key": (
            "A key is text on one line, and not a word that YAML reads as another type."
        ),
        "frontmatter-anchor": "The header has no anchors (`&name`).",
        "frontmatter-alias": "The header has no aliases (`*name`).",
        "frontmatter-tag": "The header has no tags (`!name`).",
        "frontmatter-merge-key": "The header has no merge keys (`<<`).",
        "frontmatter-documents": "The header is one YAML document without directives.",
        "frontmatter-tab": "Tabs occur in a header only inside quotes and comments.",
        "frontmatter-character": "The header contains no control characters or exotic line breaks.",
        "frontmatter-depth": "Values are nested at most 4 levels deep, values of foreign keys 16.",
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


class Reading(msgspec.Struct, frozen=True):
    """The entries of a header in file order, the indentation of the keys, and all problems."""

    entries: tuple[Entry, ...] = ()
    indent: int = 0
    problems: tuple[Problem, ...] = ()


_KEY = regex(r"([A-Za-z_][A-Za-z0-9_-]*):(?: |\Z)")
_STRING = rf'"[^"\\{BAD}]*(?:\\["\\/bfnrtu][^"\\{BAD}]*)*"'
_WHOLE_STRING = regex(_STRING)
_COMMENT = regex(rf"#[^{BAD}]*")
_MEMBER = regex(r"([A-Za-z_][A-Za-z0-9_-]*): ")
_SCALAR = regex(rf"({_STRING})|({FLOW_PLAIN})")
_PAIR = regex(rf"([A-Za-z_][A-Za-z0-9_-]*): (?:({_STRING})|({FLOW_PLAIN}))(, |\}})")
"""A mapping member with a scalar value, including its terminator. Nearly all members match. Neither
kind of scalar can contain the terminator, so there is only one way to match."""
_SURROGATE = regex(r"\\u[dD][89a-fA-F]")


class NotCanonical(ValueError):
    """Raised when a header line is not in the form that memrepo writes."""


def read_subset(lines: Sequence[str], first: int) -> tuple[Entry, ...] | None:
    """Parse canonical header lines between the markers. `first` is the line number of `lines[0]`.

    Return None if the header is not in the canonical subset.
    """
    try:
        return _read(lines, first)
    except ValueError:
        return None


def _read(lines: Sequence[str], first: int) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    items: list[Node] | None = None  # items of the key without a value on its line, if any
    key, start = "", 0
    for number, line in enumerate(lines, first):
        match = _KEY.match(line)
        if match is not None:
            # A run reads many headers with the same keys, so keys are interned.
            key, start, rest = intern(match[1]), number, line[match.end() :]
            if key in found or (key not in ORDER and _is_misread(key)):
                raise NotCanonical(line)
            items = None if rest else []
            found[key] = Entry(key, _value(rest, line), start, number)
        elif line.startswith("  - ") and items is not None:
            items.append(_value(line[4:], line))
            found[key] = Entry(key, items, start, number)
        elif line and not _COMMENT.fullmatch(line):
            raise NotCanonical(line)
    return tuple(found.values())


def _value(rest: str, line: str) -> Node:
    """Parse the text after `key: `. If the line has only a key, the value is an empty text."""
    if plain_shape(rest):
        return rest
    if not rest:
        if line.endswith(" "):
            raise NotCanonical(line)
        return ""
    return _whole(rest, 0)


def _whole(text: str, at: int) -> Node:
    """Parse a quoted string or flow collection. It must extend to the end of the line."""
    if text[at] == '"':
        match = _WHOLE_STRING.fullmatch(text, at)
        if match is None:
            raise NotCanonical(text)
        return _unquoted(match[0])
    if text[at] not in "[{":
        raise NotCanonical(text)
    node, end = _node(text, at, 1)
    if end != len(text):
        raise NotCanonical(text)
    return node


def _node(text: str, at: int, depth: int) -> tuple[Node, int]:
    """Parse one node of a flow collection. Return the node and its end offset."""
    opening = text[at : at + 1]
    if opening == "[":
        return _list(text, at + 1, depth)
    if opening == "{":
        return _mapping(text, at + 1, depth)
    match = _SCALAR.match(text, at)
    if match is None:
        raise NotCanonical(text)
    string, plain = match[1], match[2]
    if string is not None:
        return _unquoted(string), match.end()
    return plain, match.end()


@lru_cache(maxsize=1024)
def _is_misread(key: str) -> bool:
    """Return whether YAML may read a key as a value other than text.

    Cached because files share their keys.
    """
    return ambiguous(key)


def _list(text: str, at: int, depth: int) -> tuple[Node, int]:
    items: list[Node] = []
    if text.startswith("]", at):
        return items, at + 1
    if depth > OWN_DEPTH:
        raise NotCanonical(text)
    while True:
        item, at = _node(text, at, depth + 1)
        items.append(item)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("]", at):
            return items, at + 1
        else:
            raise NotCanonical(text)


def _mapping(text: str, at: int, depth: int) -> tuple[Node, int]:
    members: dict[str, Node] = {}
    if text.startswith("}", at):
        return members, at + 1
    if depth > OWN_DEPTH:
        raise NotCanonical(text)
    while True:
        pair = _PAIR.match(text, at)
        match = pair or _MEMBER.match(text, at)
        if match is None or match[1] in members or _is_misread(match[1]):
            raise NotCanonical(text)
        if pair is not None:
            key, string, plain, ended = pair.groups()
            members[key] = plain if string is None else _unquoted(string)
            at = pair.end()
            if ended == "}":
                return members, at
            continue
        members[match[1]], at = _node(text, match.end(), depth + 1)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("}", at):
            return members, at + 1
        else:
            raise NotCanonical(text)


def _unquoted(string: str) -> str:
    """Decode a JSON string.

    Raise NotCanonical for surrogate pairs because YAML reads each as two characters.
    """
    if "\\" not in string:
        return string[1:-1]
    if _SURROGATE.search(string):
        raise NotCanonical(string)
    import json

    value: str = json.loads(string)
    return value


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


def read_lines(lines: list[str], path: str) -> Reading:
    """Parse the lines between the markers with the fast reader. If that fails, use YAML."""
    entries = read_subset(lines, FIRST_LINE)
    if entries is not None:
        return Reading(entries=entries)

    return read_yaml(lines, path, FIRST_LINE)


_STRANGE = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|^\ufeff")
_TAB = regex(r" *\t")
_ANY_COMMENT = regex(r"#.*")
_MARGIN_KEY = regex(r"([^\s:#-][^\s:]*):")
_MAX_PROBLEMS = 20
_QUOTE = "put the value in double quotes"
_TAB_FOUND = ("frontmatter-tab", "found a tab, expected spaces")
_TAB_FIX = "write spaces, or double quotes around a value that holds a tab"


class Spot(msgspec.Struct, kw_only=True):
    """A node under construction, with its zero-based lines and columns in the header.

    `style` is the style of a scalar: plain, a quote character, or a block scalar indicator. `parts`
    are the items of a list or the values of a mapping. `keys` are the keys of a mapping.
    """

    node: Node
    line: int
    column: int
    end: int
    end_column: int
    flow: bool = False
    style: str = ""
    keys: list[Spot] = msgspec.field(default_factory=list)
    parts: list[Spot] = msgspec.field(default_factory=list)

    def covers(self, line: int, column: int) -> bool:
        """Return whether a position is inside this node."""
        return (self.line, self.column) <= (line, column) < (self.end, self.end_column)


class _Refused(Exception):
    """Raised when the rest of the header cannot be parsed, after the problem was recorded."""


class _Composer(msgspec.Struct):
    """Builds the node tree of a header from YAML events and records every problem."""

    lines: Sequence[str]
    path: str
    first: int
    problems: list[Problem] = msgspec.field(default_factory=list)
    stack: list[Spot] = msgspec.field(default_factory=list)
    root: Spot | None = None

    def note(self, rule: str, message: str, line: int, column: int, fix: str) -> None:
        """Record a problem at a position in the header."""
        key = self.root.keys[-1].node if self.root and self.root.keys else ""
        self.problems.append(
            refusal(
                rule,
                self.path,
                message,
                line=line + self.first,
                column=column + 1,
                key=key if isinstance(key, str) else "",
                fix=fix,
            )
        )
        if len(self.problems) >= _MAX_PROBLEMS:
            raise _Refused

    def stop(self, rule: str, message: str, line: int, column: int, fix: str) -> _Refused:
        """Record a problem that ends parsing. Return the exception for the caller to raise."""
        self.note(rule, message, line, column, fix)
        return _Refused()

    def take(self, event: object) -> None:
        """Process one event of the YAML parser."""
        match type(event).__name__:
            case "DocumentStartEvent":
                self._document(event)
            case "AliasEvent":
                self._alias(event)
            case "ScalarEvent":
                self._scalar(event)
            case "SequenceStartEvent":
                self._open(event, [])
            case "MappingStartEvent":
                self._open(event, {})
            case "SequenceEndEvent" | "MappingEndEvent":
                self._close(event)
            case _:
                pass  # start and end of the stream, end of the document

    def _document(self, event: Any) -> None:
        if event.explicit or self.root is not None:
            mark = event.start_mark
            raise self.stop(
                "frontmatter-documents",
                "found a second document or a directive, expected one",
                mark.line,
                mark.column,
                "keep one block of keys between the two --- lines",
            )

    def _alias(self, event: Any) -> None:
        mark = event.start_mark
        self.note(
            "frontmatter-alias",
            f"found the alias {shown('*' + event.anchor)}, expected a value",
            mark.line,
            mark.column,
            _QUOTE,
        )
        self._place(self._spot(event, ""))

    def _scalar(self, event: Any) -> None:
        self._dressed(event)
        spot = self._spot(event, event.value)
        if event.style in ("|", ">") and spot.end_column == 0 and spot.end > spot.line:
            spot.end -= 1
            spot.end_column = len(self.lines[spot.end])
        if not event.value.isascii() and re.search("[\ud800-\udfff]", event.value):
            self.note(
                "frontmatter-character",
                "found an unpaired surrogate, expected a character",
                spot.line,
                spot.column,
                "write the character itself",
            )
        spot.style = event.style or "plain"
        self._place(spot)

    def _open(self, event: Any, node: Node) -> None:
        self._dressed(event)
        spot = self._spot(event, node)
        spot.flow = bool(event.flow_style)
        deepest = FOREIGN_DEPTH
        if self.root is not None and self.root.keys and self.root.keys[-1].node in ORDER:
            deepest = OWN_DEPTH
        if len(self.stack) > deepest:
            raise self.stop(
                "frontmatter-depth",
                f"found nesting deeper than {deepest} levels, expected less",
                spot.line,
                spot.column,
                "flatten the value",
            )
        self._place(spot)
        self.stack.append(spot)

    def _close(self, event: Any) -> None:
        spot = self.stack.pop()
        if spot.flow:
            spot.end, spot.end_column = event.end_mark.line, event.end_mark.column
            return
        for inner in (*spot.keys[-1:], *spot.parts[-1:]):
            spot.end, spot.end_column = max(
                (spot.end, spot.end_column), (inner.end, inner.end_column)
            )

    def _spot(self, event: Any, node: Node) -> Spot:
        start, end = event.start_mark, event.end_mark
        return Spot(
            node=node, line=start.line, column=start.column, end=end.line, end_column=end.column
        )

    def _dressed(self, event: Any) -> None:
        """Record a problem if a node has an anchor or a tag."""
        mark = event.start_mark
        if event.anchor is not None:
            found = shown("&" + event.anchor)
            self.note(
                "frontmatter-anchor",
                f"found the anchor {found}, expected a plain value",
                mark.line,
                mark.column,
                f"remove it or {_QUOTE}",
            )
        if event.tag is not None:
            found = shown(event.tag)
            self.note(
                "frontmatter-tag",
                f"found the tag {found}, expected a plain value",
                mark.line,
                mark.column,
                f"remove it or {_QUOTE}",
            )

    def _place(self, spot: Spot) -> None:
        """Attach a node to the tree: as the root, a list item, a key or a value."""
        if not self.stack:
            self._root(spot)
            return
        parent = self.stack[-1]
        if isinstance(parent.node, list):
            parent.node.append(spot.node)
            parent.parts.append(spot)
        elif isinstance(parent.node, dict):
            if len(parent.keys) == len(parent.parts):
                parent.keys.append(spot)
                self._key(parent, spot)
            else:
                parent.node[str(parent.keys[-1].node)] = spot.node
                parent.parts.append(spot)

    def _root(self, spot: Spot) -> None:
        if not isinstance(spot.node, dict):
            what = shown(spot.node) if isinstance(spot.node, str) else "a list"
            raise self.stop(
                "frontmatter-not-mapping",
                f"found {what}, expected lines `key: value`",
                spot.line,
                spot.column,
                "write `type: fact` and the like between the --- lines",
            )
        if spot.flow:
            raise self.stop(
                "frontmatter-flow-mapping",
                "found one {...}, expected one key per line",
                spot.line,
                spot.column,
                "write each key on a line of its own",
            )
        self.root = spot

    def _key(self, parent: Spot, spot: Spot) -> None:
        key, place = spot.node, (spot.line, spot.column)
        if not isinstance(key, str):
            raise self.stop(
                "frontmatter-key",
                "found a list or mapping as key, expected text",
                *place,
                "use a word as the key",
            )
        if spot.style == "plain" and key == "<<":
            self.note(
                "frontmatter-merge-key",
                "found a merge key <<, expected a named key",
                *place,
                "write out the merged keys",
            )
        elif spot.style == "plain" and resolves(key):
            self.note(
                "frontmatter-key",
                f"found {shown(key)}, which YAML reads as another type, expected text",
                *place,
                "put the key in double quotes",
            )
        if key in parent.node:
            self.note(
                "frontmatter-duplicate-key",
                f"found {shown(key)} again, expected it once",
                *place,
                "keep one of the two lines",
            )
        if parent is self.root and self.lines[spot.line][: spot.column].strip():
            self.note(
                "frontmatter-key",
                "found an explicit key (? key), expected `key: value`",
                *place,
                "write `key: value`",
            )


def read_yaml(lines: Sequence[str], path: str, first: int) -> Reading:
    """Parse the lines between the markers with YAML. `first` is the line number of `lines[0]`."""
    strange = list(_strange(lines, path, first))
    if strange:
        return Reading(problems=tuple(strange))
    composer = _compose(lines, path, first)
    root = composer.root
    if composer.problems or root is None:
        return Reading(problems=tuple(composer.problems))
    entries = tuple(
        Entry(
            key=str(key.node),
            value=part.node,
            first=key.line + first,
            last=max(key.end, part.end) + first,
        )
        for key, part in zip(root.keys, root.parts, strict=True)
    )
    return Reading(entries=entries, indent=root.column)


def _compose(lines: Sequence[str], path: str, first: int) -> _Composer:
    """Build the node tree of a header. Errors are recorded in `problems` of the result."""
    import yaml

    composer = _Composer(lines, path, first)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse("".join(f"{line}\n" for line in lines), Loader=loader):
            composer.take(event)
        _tabs(composer)
    except _Refused:
        pass
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        composer.problems.append(_syntax(composer, error))
    return composer


def _strange(lines: Sequence[str], path: str, first: int) -> Iterator[Problem]:
    """Yield a problem for each line with a control character or a line break only of YAML 1.1."""
    for number, line in enumerate(lines, first):
        match = _STRANGE.search(line)
        if match is not None:
            code = ord(match[0])
            yield refusal(
                "frontmatter-character",
                path,
                f"found the character U+{code:04X}, expected printable text",
                line=number,
                column=match.start() + 1,
                fix=f"remove it, or write \\u{code:04x} inside double quotes",
            )


def _tabs(composer: _Composer) -> None:
    """Reject tabs outside quotes, block scalars and comments, where PyYAML's two parsers differ."""
    if not any("\t" in line for line in composer.lines):
        return
    scalars = list(_scalars(composer.root))
    shielding = [spot for spot in scalars if spot.style != "plain"]
    comments = _comments(composer.lines, scalars)
    for number, line in enumerate(composer.lines):
        shut = comments.get(number, (len(line), ""))[0]
        leading = _TAB.match(line) is not None
        for column in (match.start() for match in re.finditer("\t", line[:shut])):
            shields = (spot for spot in shielding if spot.covers(number, column))
            if not any(spot.style in "'\"" or not leading for spot in shields):
                composer.note(*_TAB_FOUND, number, column, _TAB_FIX)


def _syntax(composer: _Composer, error: Exception) -> Problem:
    """Return the problem for a YAML error, with the position at which it was detected.

    If that is after the last line, use the start of the unclosed construct.
    """
    lines = composer.lines
    mark = getattr(error, "problem_mark", None)
    if mark is None or mark.line >= len(lines):
        mark = getattr(error, "context_mark", None) or mark
    line = min(mark.line if mark is not None else 0, max(len(lines) - 1, 0))
    column = mark.column if mark is not None else 0
    said = getattr(error, "problem", None) or type(error).__name__
    rule, message, fix = "frontmatter-syntax", f"{said}, expected `key: value`", _QUOTE
    if lines and _TAB.match(lines[line]):
        (rule, message), fix, column = _TAB_FOUND, _TAB_FIX, lines[line].index("\t")
    above = (_MARGIN_KEY.match(text) for text in reversed(lines[: line + 1]))
    key = next((match[1] for match in above if match), "")
    return refusal(
        rule,
        composer.path,
        message,
        line=line + composer.first,
        column=column + 1,
        key=key,
        fix=fix,
    )


def _scalars(spot: Spot | None) -> Iterator[Spot]:
    if spot is None:
        return
    if isinstance(spot.node, str):
        yield spot
    for inner in (*spot.keys, *spot.parts):
        yield from _scalars(inner)


def locate(
    lines: Sequence[str], first: int, key: str, steps: Sequence[str | int]
) -> tuple[int, int]:
    """Return the one-based line and column of the value at `key` and the nested `steps`.

    Follow the steps as far as they exist.
    """
    spot = _compose(lines, "", first).root
    place = (first, 1)
    for step in (key, *steps):
        if spot is None:
            break
        if isinstance(step, int):
            spot = spot.parts[step] if step < len(spot.parts) else None
        else:
            names = [str(name.node) for name in spot.keys]
            spot = spot.parts[names.index(step)] if step in names else None
        if spot is not None:
            place = (spot.line + first, spot.column + 1)
    return place


def comments(lines: Sequence[str]) -> dict[int, str]:
    """Return the comments `# text` in the lines of a header, by zero-based line number."""
    if not any("#" in line for line in lines):
        return {}
    found = _comments(lines, list(_scalars(_compose(lines, "", FIRST_LINE).root)))
    return {number: text for number, (_, text) in found.items()}


def _comments(lines: Sequence[str], scalars: Sequence[Spot]) -> dict[int, tuple[int, str]]:
    """Return all comments as a mapping from line index to (column, text).

    After the last scalar that ends on a line, only punctuation can precede the first `#`.
    """
    ends: dict[int, int] = {}
    inside: set[int] = set()
    for spot in scalars:
        # The line of a block scalar indicator may end with a comment. A line with an open quote may
        # not.
        inside.update(range(spot.line + (spot.style in "|>"), spot.end))
        ends[spot.end] = max(ends.get(spot.end, 0), spot.end_column)
    found = {}
    for number, line in enumerate(lines):
        match = _ANY_COMMENT.search(line, ends.get(number, 0))
        if match is not None and number not in inside:
            found[number] = match.start(), match[0]
    return found
