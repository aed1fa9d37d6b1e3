"""Parse and edit the header (YAML front matter) of a file, and report the errors in it.

A header opens on line 1 (after an optional byte order mark) with `---` and closes with the next
line `---` or `...`. Blanks may follow both. `+++` and a later `---` are part of the body. Files
without a header are normal, not an error.

libyaml parses a header. If that fails, it parses each block on its own, so an error in one block
hides nothing of the others: a block is a key at the margin, with all lines up to the next one. All
scalars stay text: types are never guessed, so `no`, `012` and `2026-01-31` are what they look like.
Anchors, aliases and tags are refused. An edit replaces the lines of the keys that it changes, and
no others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import msgspec

from memrepo.core.errors import Problem
from memrepo.core.fields import Node, Path, Raw, shown
from memrepo.core.lines import Line, dominant_end, join_lines, split_lines
from memrepo.core.patterns import regex

MAX_BYTES = 1024 * 1024
"""The largest memory file that is read, in bytes."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""The first bytes of the pointer file that git stores in place of a Git LFS file."""
MAX_DEPTH = 16
"""The maximum nesting of lists and mappings in a value."""


class Entry(msgspec.Struct, frozen=True):
    """A top-level key, its value, and its first and last line number (one-based, inclusive).

    `last` is the last line of the value, without following comments or blank lines.
    """

    key: str
    value: Node
    first: int
    last: int


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed header, and where the body starts.

    `present`: the header is opened and closed. `unclosed`: it is only opened, and the whole file is
    body. `entries`: the blocks without an error. `indent`: the number of blanks before each
    top-level key. `places`: the line and column of each value, by its keys and indexes. `comments`:
    the comments `# text`, by line number. `body_line`: the one-based number of the first line after
    the header. `body_offset`: the offset of that line in the decoded text, including a byte order
    mark.
    """

    present: bool = False
    unclosed: bool = False
    entries: tuple[Entry, ...] = ()
    indent: int = 0
    places: Mapping[Path, tuple[int, int]] = MappingProxyType({})
    comments: Mapping[int, str] = MappingProxyType({})
    body_line: int = 1
    body_offset: int = 0
    problems: tuple[Problem, ...] = ()

    def place(self, path: Path) -> tuple[int, int]:
        """Return the line and column of the value at a path. Follow it as far as it exists."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (FIRST_LINE, 1))


FIRST_LINE = 2
"""The line number of the first line after the opening marker."""

_OPEN = regex(r"\ufeff?---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSE = regex(r"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_BYTE_LINE_END = regex(rb"\r\n|\n|\r")


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
    return Problem(
        path=path,
        rule="file-not-utf8",
        message=f"found the byte 0x{data[offset]:02X} at offset {offset}, expected UTF-8",
        fix="save the file as UTF-8",
        line=len(ends) + 1,
        column=len(before[start:].decode("utf-8", "replace")) + 1,
    )


def read(text: str, path: str, limit: int = MAX_BYTES) -> Header:
    """Parse the header of a decoded text. `split` does the same for bytes.

    A header of more than `limit` characters has no entries.
    """
    bom = int(text.startswith("\ufeff"))
    opening = _OPEN.match(text)
    if opening is None:
        return Header(body_offset=bom)
    # The closing marker may follow directly. Its preceding line end is then part of the opening
    # marker.
    closing = _CLOSE.search(text, opening.end() - 1)
    if closing is None:
        problem = Problem(
            path=path,
            line=1,
            column=1,
            rule="frontmatter-unclosed",
            message="found --- on line 1 only, expected a closing ---",
            fix="close the header with a line ---",
        )
        return Header(unclosed=True, body_offset=bom, problems=(problem,))
    lines = [line for line, _ in split_lines(text[opening.end() : closing.start() + 1])]
    return msgspec.structs.replace(
        _read_blocks(lines if closing.start() <= limit else [], path),
        present=True,
        body_line=FIRST_LINE + len(lines) + 1,
        body_offset=closing.end(),
    )


_NO_KEY = " \t#-:]}"
"""The characters at the margin that continue a block."""


def _read_blocks(lines: Sequence[str], path: str) -> Header:
    """Parse the lines between the markers: all at once, or each block on its own after an error."""
    import yaml

    solid = [n for n, line in enumerate(lines) if line.strip() and line.strip()[0] != "#"]
    first = lines[solid[0]] if solid else ""
    indent = len(first) - len(first.lstrip(" "))
    whole = _Block(lines, FIRST_LINE)
    try:
        found = whole.read() if solid else {}
    except (_Fault, yaml.YAMLError):
        return _read_each(lines, solid, indent, path)
    entries = tuple(found.values())
    return Header(entries=entries, indent=indent, places=whole.places, comments=whole.comments())


def _read_each(lines: Sequence[str], solid: Sequence[int], indent: int, path: str) -> Header:
    """Parse each block on its own, so that an error in one hides nothing of the others."""
    import yaml

    starts = [n for n in solid if not lines[n][:indent].strip() and lines[n][indent] not in _NO_KEY]
    starts = sorted({solid[0], *starts})
    comments = {n + FIRST_LINE: lines[n].strip() for n in range(starts[0]) if lines[n].strip()}
    entries: dict[str, Entry] = {}
    places: dict[Path, tuple[int, int]] = {}
    problems: list[Problem] = []
    for start, end in pairwise((*starts, len(lines))):
        block = _Block(lines[start:end], start + FIRST_LINE)
        try:
            found = block.read()
            if again := [key for key in found if key in entries]:
                message = f"found {shown(again[0])} again, expected it once"
                raise _Fault("frontmatter-duplicate-key", message, 0, indent)
        except (_Fault, yaml.YAMLError) as error:
            problems.append(block.problem(path, error))
            continue
        entries |= found
        places |= block.places
        comments |= block.comments()
    return Header(
        entries=tuple(entries.values()),
        indent=indent,
        places=places,
        comments=comments,
        problems=tuple(problems),
    )


_STRANGE = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|^\ufeff")
_ANY_COMMENT = regex(r"#.*")
_MARGIN_KEY = regex(r"\s*(?:\? (\w+)|(\w[^\s:]*):)")
_SYNTAX = "frontmatter-syntax"
_NO_WORD = "found a key that is not a word, expected `key: value`"
_FIXES = {
    "frontmatter-not-mapping": "write `type: fact` and the like between the --- lines",
    "frontmatter-duplicate-key": "keep one of the two lines",
}


class _Fault(Exception):
    """What memrepo cannot read or edit by line: a rule, words, and a zero-based place."""

    def __init__(self, rule: str, message: str, line: int, column: int) -> None:
        self.rule, self.message, self.line, self.column = rule, message, line, column


class _Block:
    """Builds the entries of some lines from the events of libyaml, with positions.

    `at` is the line number of the first of its `lines`. `_ends` are the columns where the last
    scalar of a line ends, and `_inside` the lines that a scalar continues.
    """

    def __init__(self, lines: Sequence[str], at: int) -> None:
        self.lines, self.at = lines, at
        self.places: dict[Path, tuple[int, int]] = {}
        self._events: Iterator[Any] = iter(())
        self._last = 0
        self._ends: dict[int, int] = {}
        self._inside: set[int] = set()

    def read(self) -> dict[str, Entry]:
        """Read the lines. Return the entries by key. Raise _Fault or yaml.YAMLError."""
        import yaml

        for number, line in enumerate(self.lines):
            if strange := _STRANGE.search(line):
                found = f"found the character U+{ord(strange[0]):04X}, expected printable text"
                raise _Fault(_SYNTAX, found, number, strange.start())
        text = "".join(f"{line}\n" for line in self.lines)
        self._events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        _, _, top = (next(self._events) for _ in range(3))
        if not isinstance(top, yaml.MappingStartEvent) or top.flow_style:
            what = shown(top.value) if isinstance(top, yaml.ScalarEvent) else "a list or one {...}"
            message = f"found {what}, expected lines `key: value`"
            raise _refused(top, message, "frontmatter-not-mapping")
        entries: dict[str, Entry] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            mark: Any = event.start_mark
            key = self._key(event, entries)
            value = self._node(next(self._events), (key,))
            entries[key] = Entry(key, value, self.at + mark.line, self.at + self._last)
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise _refused(event, "found a second document, expected `key: value`")
        return entries

    def _node(self, event: Any, path: Path) -> Node:
        """Return the node that an event begins, and read all its events."""
        _refuse_anchor(event)
        self.places[path] = self.at + event.start_mark.line, event.start_mark.column + 1
        value = getattr(event, "value", None)
        if value is not None:
            self._end(event)
            return str(value)
        if len(path) > MAX_DEPTH:
            raise _refused(event, f"found nesting deeper than {MAX_DEPTH} levels, expected less")
        items: list[Node] = []
        members: dict[str, Node] = {}
        is_list = type(event).__name__ == "SequenceStartEvent"
        while "EndEvent" not in type(inner := next(self._events)).__name__:
            if is_list:
                items.append(self._node(inner, (*path, len(items))))
            else:
                key = self._key(inner, members)
                members[key] = self._node(next(self._events), (*path, key))
        if event.flow_style:
            self._last = inner.end_mark.line
        return items if is_list else members

    def _key(self, event: Any, known: Collection[str]) -> str:
        _refuse_anchor(event)
        key: str | None = getattr(event, "value", None)
        if key is None:
            raise _refused(event, _NO_WORD)
        if key in known:
            message = f"found {shown(key)} again, expected it once"
            raise _refused(event, message, "frontmatter-duplicate-key")
        self._end(event)
        return key

    def _end(self, event: Any) -> None:
        """Note where a scalar ends: only punctuation can be between it and a comment."""
        first, last, column = event.start_mark.line, event.end_mark.line, event.end_mark.column
        is_block = event.style in ("|", ">")
        if not column and not is_block:
            return  # the absent value of `? key`, whose place is the start of the next line
        if is_block and not column:
            last, column = max(last - 1, first), MAX_BYTES
        # The line of a block's mark may end with a comment. A line with an open quote may not.
        self._inside.update(range(first + is_block, last))
        self._ends[last] = column
        self._last = last

    def comments(self) -> dict[int, str]:
        """Return the comments by line number."""
        found = {}
        for number, line in enumerate(self.lines):
            if "#" in line and number not in self._inside:
                match = _ANY_COMMENT.search(line, self._ends.get(number, 0))
                if match is not None:
                    found[number + self.at] = match[0]
        return found

    def problem(self, path: str, error: Exception) -> Problem:
        """Return the problem for a _Fault or an error of libyaml."""
        if not isinstance(error, _Fault):
            mark: Any = getattr(error, "problem_mark", None)
            if mark is None or mark.line >= len(self.lines):  # where the construct was opened
                mark = getattr(error, "context_mark", None) or mark
            line, column = (mark.line, mark.column) if mark is not None else (0, 0)
            reason = getattr(error, "problem", None) or type(error).__name__
            line = max(0, min(line, len(self.lines) - 1))
            error = _Fault(_SYNTAX, f"{reason}, expected `key: value`", line, column)
        named = _MARGIN_KEY.match(self.lines[0])
        return Problem(
            path=path,
            rule=error.rule,
            message=error.message,
            fix=_FIXES.get(error.rule, "put the value in double quotes"),
            line=error.line + self.at,
            column=error.column + 1,
            key=(named[1] or named[2]) if named else "",
        )


def _refuse_anchor(event: Any) -> None:
    if event.anchor is not None or getattr(event, "tag", None) is not None:
        message = "found an anchor, an alias or a tag, expected a plain value"
        raise _refused(event, message, "frontmatter-anchor")


def _refused(event: Any, message: str, rule: str = _SYNTAX) -> _Fault:
    """Return the fault of what begins at an event of libyaml."""
    return _Fault(rule, message, event.start_mark.line, event.start_mark.column)


# -- writing ---------------------------------------------------------------------------------

# Each value has one spelling, with the same meaning in YAML 1.1 and 1.2. A scalar is written plain
# only if every YAML parser reads it as that text. Any other scalar is a double-quoted JSON string.
#
# Character classes are ranges, not Unicode categories: categories change with the Python version,
# but the bytes written must not. Each class is written as a negated set. `re` compiles it ten times
# as fast as the equivalent wide ranges, and every start of the program compiles it. Beyond ASCII,
# the set excludes blanks, invisible characters and characters that cannot be assigned.
_NARROW = (
    r"\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    r"\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U0010ffff"
)
_FLOW_FIRST = rf"[^\x00-.:-@\[-\^`{{-~{_NARROW}]"  # A-Z a-z 0-9 _ /
_FLOW_CHARS = rf"[^\x00-&*,:-?\[-\^`{{-~{_NARROW}]"  # also . + @ ( ) ' -
_BLOCK_FIRST = rf"[^\x00-')-.:-@\[-\^`{{-~{_NARROW}]"  # A-Z a-z 0-9 _ / (
_FLOW = regex(rf"{_FLOW_FIRST}{_FLOW_CHARS}*(?:[: ]{_FLOW_CHARS}+)*")
_BLOCK = regex(rf"(?!.*(?:: | #|[ :]\Z)){_BLOCK_FIRST}[^\x00-\x1f{_NARROW}]*")
_RAW = regex(r"[0-9A-Za-z+.-](?:[0-9A-Za-z+.:-]| (?=[0-9A-Za-z+-]))*(?<!:)")
_ESCAPED = regex("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

_WORDS = frozenset({"", "~", "null", "yes", "no", "true", "false", "on", "off", "=", "<<"})
_NUMBER_LIKE = regex(
    r"""[-+]?[0-9._][0-9._,:]*(?:[eE][-+]?[0-9_]*)?   # decimal, float, base 60, digit groups
      | [-+]?0[xXoObB][0-9a-fA-F_]*
      | [-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)
      | \d{4}-\d\d?-\d\d?(?:[Tt \t][-+.:Zz0-9 \t]*)?  # timestamps
    """,
    re.VERBOSE | re.ASCII,
)


def _is_ambiguous(text: str) -> bool:
    """Return whether YAML 1.1 or 1.2 may read a plain scalar as a number, date, flag or null."""
    if text[:1].isalpha():
        return text.lower() in _WORDS or text in ("y", "Y", "n", "N")
    return text in _WORDS or _NUMBER_LIKE.fullmatch(text) is not None


def scalar(text: str, *, flow: bool = False) -> str:
    """Format a scalar. Set `flow` for a scalar inside `[...]` or `{...}`.

    Control characters, YAML's own line breaks and the byte order mark are escaped.
    """
    if isinstance(text, Raw) and _RAW.fullmatch(text):
        return str(text)
    if (_FLOW if flow else _BLOCK).fullmatch(text) and not _is_ambiguous(text):
        return str(text)
    import json

    spelled = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", spelled)


def inline(node: Node) -> str:
    """Format a node on one line, as it is written inside a flow collection or a list item."""
    if isinstance(node, list):
        return "[" + ", ".join(inline(part) for part in node) + "]"
    if isinstance(node, dict):
        return "{" + ", ".join(f"{key}: {inline(part)}" for key, part in node.items()) + "}"
    return scalar(node, flow=True)


def entry_lines(key: str, node: Node, *, folded: bool = False) -> list[str]:
    """Format a header entry: one line, or for a list one line for the key and one per item.

    A list of several records has one line per record, unless `folded`. Sources always have one line
    each. All other values are on one line.
    """
    if isinstance(node, list):
        several = len(node) > 1 and not folded and all(isinstance(part, dict) for part in node)
        if several or (key == "sources" and node):
            items = (scalar(part) if isinstance(part, str) else inline(part) for part in node)
            return [f"{key}:", *(f"  - {item}" for item in items)]
    return [f"{key}: {scalar(node) if isinstance(node, str) else inline(node)}"]


def edit(
    head: Sequence[Line],
    header: Header,
    edits: Mapping[str, Sequence[str]],
    order: Mapping[str, int],
) -> list[Line]:
    """Replace, remove and insert header lines by key. `head` includes both `---` markers.

    A new key follows the closest key that precedes it in the given order. Foreign keys are last.
    """
    end = dominant_end(head)
    present = {entry.key: entry for entry in header.entries}
    slots: dict[int, list[str]] = {}  # the line number (one-based) after which new lines go
    dropped: set[int] = set()
    for key, spelling in edits.items():
        lines = [" " * header.indent + line for line in spelling]
        entry = present.get(key)
        if entry is None:
            place = max(
                (
                    (order.get(e.key, len(order)), e.last)
                    for e in header.entries
                    if order.get(e.key, len(order)) < order.get(key, len(order) + 1)
                ),
                default=(0, FIRST_LINE - 1),
            )[1]
            slots.setdefault(place, []).extend(lines)
        else:
            dropped.update(range(entry.first, entry.last + 1))
            if not lines:
                dropped.update(_loose_blanks(head, header, entry))
            kept = _with_comments(lines, header, entry)
            slots[entry.first - 1] = slots.get(entry.first - 1, []) + kept
    edited: list[Line] = []
    for number, line in enumerate(head, 1):
        if number not in dropped:
            edited.append(line)
        edited += [(text, end) for text in slots.get(number, [])]
    return edited


def _loose_blanks(head: Sequence[Line], header: Header, entry: Entry) -> range:
    """Return the blank lines after a removed entry that a preceding block scalar would include."""
    above = [other for other in header.entries if other.last < entry.first]
    if not (above and isinstance(above[-1].value, str) and above[-1].value.endswith("\n")):
        return range(0)
    last = entry.last
    while not head[last][0].strip():
        last += 1
    return range(entry.last + 1, last + 1)


def _with_comments(lines: list[str], header: Header, entry: Entry) -> list[str]:
    """Add a user's comments on an entry to the new lines of the entry.

    A comment in the first line stays in it. Other comments are placed above the key.
    """
    own = {n: c for n, c in header.comments.items() if entry.first <= n <= entry.last}
    if lines and entry.first in own:
        lines = [f"{lines[0]} {own.pop(entry.first)}", *lines[1:]]
    return [" " * header.indent + comment for comment in own.values()] + lines


def splice(
    text: str, path: str, edits: Mapping[str, Sequence[str]], order: Mapping[str, int]
) -> str:
    """Replace, remove and insert header entries of a valid text by their key."""
    header, lines = read(text, path), split_lines(text)
    head = edit(lines[: header.body_line - 1], header, edits, order)
    return join_lines([*head, *lines[header.body_line - 1 :]])
