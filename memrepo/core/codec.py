"""Decode and encode memory files, and parse the header of any file.

`decode` reports errors as Problems, `encode` writes a new file, and `edit` changes an existing one.
An edit changes only the lines of changed values and the changed body lines. Comments, foreign keys,
key order, line endings and the final newline are preserved.

A header (YAML front matter) opens on line 1 (after an optional byte order mark) with `---` and
closes with the next line `---` or `...`. Blanks may follow both. `+++` and a later `---` are part
of the body. Files without a header are normal, not an error.

libyaml parses a header. If that fails, it parses each block on its own, so an error in one block
hides nothing of the others: a block is a key at the margin, with all lines up to the next one. All
scalars stay text: types are never guessed, so `no`, `012` and `2026-01-31` are what they look like.
Anchors, aliases and tags are refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import MemrepoError, Problem, problem
from memrepo.core.memory import (
    BY_NAME,
    FIELDS,
    ORDER,
    Memory,
    Node,
    Path,
    Raw,
    ValueMismatch,
    shown,
)
from memrepo.core.patterns import (
    Line,
    dominant_end,
    find_conflict,
    join_lines,
    regex,
    split_lines,
    unix,
)

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


def split_header(data: bytes, path: str) -> Header:
    """Parse the header of any file. Never raises: errors are in `problems`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Header(problems=(not_utf8(path, data, error.start),))
    return read_header(text, path)


def not_utf8(path: str, data: bytes, offset: int) -> Problem:
    """Build the Problem for a file with an invalid UTF-8 byte at `offset`."""
    before = data[:offset]
    ends = list(_BYTE_LINE_END.finditer(before))
    start = ends[-1].end() if ends else 0
    line, column = len(ends) + 1, len(before[start:].decode("utf-8", "replace")) + 1
    byte = f"{data[offset]:02X}"
    return problem("file-not-utf8", path, line=line, column=column, byte=byte, offset=offset)


def read_header(text: str, path: str, limit: int = MAX_BYTES) -> Header:
    """Parse the header of a decoded text. `split_header` does the same for bytes.

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
        unclosed = problem("frontmatter-unclosed", path, line=1, column=1)
        return Header(unclosed=True, body_offset=bom, problems=(unclosed,))
    lines = [line for line, _ in split_lines(text[opening.end() : closing.start() + 1])]
    return replace(
        _read_blocks(lines if closing.start() <= limit else [], path),
        present=True,
        body_line=FIRST_LINE + len(lines) + 1,
        body_offset=closing.end(),
    )


_NO_KEY = " \t#-:]}"
"""The characters at the margin that continue a block."""


def _read_blocks(lines: Sequence[str], path: str) -> Header:
    """Parse the lines between the markers: all at once, or each block on its own after an error."""
    solid = [n for n, line in enumerate(lines) if line.strip() and line.strip()[0] != "#"]
    if not solid:
        return Header()
    first = lines[solid[0]]
    indent = len(first) - len(first.lstrip(" "))
    found = _read_each(lines, [0], indent, path)
    if found.problems:
        keys = (
            n for n in solid if not lines[n][:indent].strip() and lines[n][indent] not in _NO_KEY
        )
        found = _read_each(lines, sorted({solid[0], *keys}), indent, path)
    return found


def _read_each(lines: Sequence[str], starts: Sequence[int], indent: int, path: str) -> Header:
    """Parse the blocks that start at some lines, so that an error in one hides no other."""
    import yaml

    above = range(starts[0])
    comments = {n + FIRST_LINE: lines[n].strip() for n in above if lines[n].strip()}
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
        fix = _FIXES.get(error.rule, "put the value in double quotes")
        return Problem(
            path=path,
            rule=error.rule,
            message=error.message,
            fix=fix,
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


def _edit_header(
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
            kept = _with_comments(lines, header, entry) if key in order else lines
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


# -- memory files ----------------------------------------------------------------------------

_BLANK = regex(r"\s*")
_MANY_LINES = 2000  # above this number, lines that repeat often are not matched one by one


def changed_keys(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return the schema keys whose values differ between two headers, in schema order.

    A missing key has its default.
    """
    return [f.name for f in FIELDS if old.get(f.name, f.default) != new.get(f.name, f.default)]


def spelled(key: str, memory: Memory) -> list[str]:
    """Format a field as header lines. Return an empty list if the field has its default."""
    value = memory.fields.get(key)
    if value is None:
        return []
    return entry_lines(key, BY_NAME[key].write(value), folded=key == "links")


def _spelled(memory: Memory) -> list[str]:
    """Format a complete header."""
    return [line for key in memory.fields for line in spelled(key, memory)]


def edit_body(lines: Sequence[Line], body: str, end: str, *, closed: bool) -> list[Line]:
    """Replace the body lines of a file. Lines with the same text remain unchanged.

    `lines` are all lines after the closing marker. `body` is normalized (`codec.normal_body`) and
    differs from the current body. Blank lines around the text, line ends, and trailing blanks of
    equal lines are preserved. Added lines end with `end`. `closed` is whether the file had a final
    newline.
    """
    solid = [n for n, (text, _) in enumerate(lines) if not _BLANK.fullmatch(text)]
    start, stop = (solid[0], solid[-1] + 1) if solid else (len(lines), len(lines))
    before, core, after = list(lines[:start]), lines[start:stop], list(lines[stop:])
    if not body:
        return before + after
    if not core and not before:
        before = [("", end)]
    before = [(text, own or end) for text, own in before]
    new = _matched(core, body.split("\n"), end)
    if not after and not closed:
        new[-1] = (new[-1][0], "")
    return before + new + after


def _matched(core: Sequence[Line], texts: list[str], end: str) -> list[Line]:
    """Reuse the raw lines whose text is unchanged. Every returned line has a line ending."""
    old = [text for text, _ in core]
    if old:
        old[-1] = old[-1].rstrip()
    new: list[Line] = [(text, end) for text in texts]
    for a, b in pairs(old, texts):
        text, own = core[a]
        # Trailing blanks are ignored only after the last word of the body. Elsewhere they are text.
        new[b] = (text if b == len(texts) - 1 else texts[b], own or end)
    return new


def pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index pairs of equal lines in two texts, unordered. No two pairs cross.

    The common head and tail are matched first because the general matching is quadratic.
    """
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    room = least - head
    tail = next((n for n in range(room) if old[-1 - n] != new[-1 - n]), room)
    yield from ((n, n) for n in range(head))
    yield from ((len(old) - n, len(new) - n) for n in range(1, tail + 1))
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, *middle, autojunk=len(middle[1]) > _MANY_LINES)
    for block in matcher.get_matching_blocks():
        for n in range(head, head + block.size):
            yield block.a + n, block.b + n


class CodecError(MemrepoError):
    """Raised when a file cannot be decoded or edited, or a memory cannot be encoded.

    `problem` is the first cause, and `problems` also has warnings.
    """

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        errors = [problem for problem in problems if problem.severity == "error"]
        self.problem = errors[0]
        super().__init__("\n".join(map(str, errors)), fix=self.problem.fix)


def decode(path: str, data: bytes) -> tuple[Memory | None, tuple[Problem, ...]]:
    """Decode a memory file. Return None as the memory if any problem is an error. Never raises.

    An empty file is one that somebody has not written yet: no memory, and no error.
    """
    if not data.strip():
        return None, (problem("frontmatter-missing", path, "empty"),)
    try:
        return _decode(path, data)[2:]
    except CodecError as error:
        return None, error.problems


def encode(memory: Memory) -> bytes:
    """Encode a memory as a new canonical file.

    Raise CodecError if `decode` would reject the file.
    """
    return written(memory)[0]


def written(memory: Memory) -> tuple[bytes, Memory]:
    """Encode a memory. Return the bytes and the memory decoded from them.

    The result is cached because every stage of a run calls this.
    """
    data, read = memory.made(_written)
    return data, read or memory


def _written(memory: Memory) -> tuple[bytes, Memory | None]:
    body = normal_body(memory.body)
    lines = ["---", *_spelled(memory), "---", "", *([body, ""] if body else [])]
    data, read = _checked(memory, "\n".join(lines))
    return data, None if read == memory else read


def edit(
    data: bytes, memory: Memory, foreign: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> bytes:
    """Return the file `data`, edited to contain `memory`. Only lines that differ are changed.

    `foreign` are the new lines of keys that memrepo does not know, none to remove a key. Raise
    CodecError if `data` does not decode, or if the result would not decode to `memory`.
    """
    return rewritten(data, memory, foreign)[0]


def rewritten(
    data: bytes, memory: Memory, foreign: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> tuple[bytes, Memory]:
    """Edit a file as `edit` does. Return the new bytes and the memory decoded from them."""
    text, header, old, _ = _decode(memory.path, data)
    keys = changed_keys(old.fields, memory.fields)
    edits = {**{key: spelled(key, memory) for key in keys}, **foreign}
    body = normal_body(memory.body)
    lines = split_lines(text)
    head, rest = lines[: header.body_line - 1], lines[header.body_line - 1 :]
    if edits:
        head = _edit_header(head, header, edits, ORDER)
    if body != old.body:
        closed = bool(lines[-1][1])
        rest = edit_body(rest, body, dominant_end(rest, head), closed=closed)
        head[-1] = (head[-1][0], head[-1][1] or dominant_end(head))
    edited, after = _checked(memory, join_lines(head + rest))
    same = after.fields == memory.fields or _spelled(after) == _spelled(memory)
    if after.body != body or not same:
        found = "found values that are not canonical, such as the same list item twice"
        raise CodecError(Problem(path=memory.path, rule="frontmatter-value", message=found))
    return edited, after


def normal_body(text: str) -> str:
    r"""Normalize a body to `\n` line endings, without blank lines at the start or end.

    The indentation of the first text line is preserved. Trailing white space is removed.
    """
    text = unix(text).rstrip()
    start = 0
    while (end := text.find("\n", start)) >= 0 and not text[start:end].strip():
        start = end + 1
    return text[start:]


def _checked(memory: Memory, text: str) -> tuple[bytes, Memory]:
    """Return the UTF-8 bytes of an encoded memory, and the memory decoded from these bytes.

    Raise CodecError if decoding fails.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CodecError(problem("file-not-utf8", memory.path, "surrogate")) from error
    return data, _decode(memory.path, data)[2]


def _decode(path: str, data: bytes) -> tuple[str, Header, Memory, tuple[Problem, ...]]:
    """Return the text, header and memory of a file, with warnings. Raise CodecError on an error."""
    text = _text(path, data)
    if conflict := find_conflict(text):
        raise CodecError(problem("file-conflict", path, line=conflict, column=1))
    header = read_header(text, path)
    if not header.present and not header.unclosed:
        raise CodecError(problem("frontmatter-missing", path, line=1, column=1))
    fields, found_in_fields = _fields(path, header)
    problems = [*header.problems, *found_in_fields, *_second_header(path, header, text)]
    if any(problem.severity == "error" for problem in problems):
        raise CodecError(*problems)
    memory = Memory.of(path, fields, normal_body(text[header.body_offset :]))
    return text, header, memory, tuple(problems)


def _text(path: str, data: bytes) -> str:
    """Return the text of a file. Raise CodecError if it is too large, an LFS pointer or no text."""
    if len(data) > MAX_BYTES:
        raise CodecError(problem("file-too-large", path, size=len(data), limit=MAX_BYTES))
    if data.startswith(LFS_POINTER):
        raise CodecError(problem("file-lfs-pointer", path, line=1, column=1))
    nul = data.find(b"\0")
    if nul >= 0:
        line = len(split_lines(data[:nul].decode("latin-1") + "x"))
        raise CodecError(problem("file-nul", path, line=line, column=1, offset=nul))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CodecError(not_utf8(path, data, error.start)) from error


def _second_header(path: str, header: Header, text: str) -> list[Problem]:
    """Reject a body that begins with a second header, which would be treated as text."""
    body = unix(text[header.body_offset :])
    first = re.match(r"(?:[^\S\n]*\n)*(?=---[ \t]*\n)", body)
    if first is None:
        return []
    inner = read_header(body[first.end() :], path)
    if not inner.entries:
        return []
    line = header.body_line + first[0].count("\n")
    return [problem("frontmatter-second-header", path, line=line, column=1)]


def _fields(path: str, header: Header) -> tuple[dict[str, object], list[Problem]]:
    """Return the schema fields read from a header, and the problems found in the header."""
    fields: dict[str, object] = {}
    problems: list[Problem] = []
    for entry in header.entries:
        field = BY_NAME.get(entry.key)
        if field is None:
            if near := _similar_key(entry.key):
                near_key = partial(problem, "frontmatter-near-key", path, key=entry.key, near=near)
                problems.append(near_key(line=entry.first, column=1, word=shown(entry.key)))
            continue
        if entry.value == "":
            continue  # editors keep the key of a property without a value
        try:
            value = field.read(entry.value)
        except ValueMismatch as bad:
            steps = (entry.key, *bad.path)
            line, column = header.place(steps)
            problems.append(
                Problem(
                    path=path,
                    rule="frontmatter-value",
                    message=str(bad),
                    fix=bad.fix,
                    line=line,
                    column=column,
                    key=".".join(map(str, steps)),
                )
            )
            continue
        if value != field.default:
            fields[entry.key] = value
    has_type = any(entry.key == "type" and entry.value for entry in header.entries)
    if not has_type and not header.problems:  # a broken block may be that of the type
        problems.append(problem("frontmatter-missing-type", path, line=1, column=1, key="type"))
    return fields, problems


@lru_cache(maxsize=1024)
def _similar_key(key: str) -> str:
    from difflib import get_close_matches

    # A first letter is rarely misspelt: `related` is no `created`.
    known = [name for name in BY_NAME if name[0] == key[:1].lower()]
    return next(iter(get_close_matches(key.lower(), known, n=1, cutoff=0.8)), "")
