r"""Decode a source file into numbered lines, and hide lines that its author did not write.

Hidden lines are the frontmatter, blocks that other programs maintain between start and end
comments, and what memory programs printed. Private text is blank (`read/marks.py`). Lines end at
`\n` only, and `\r\n` counts as one line end. Line numbers are one-based and refer to the original
bytes.

Headers of other programs are read as those of memories are, and never written: no type is guessed,
no tag, anchor or alias is resolved, and nesting is limited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from memrepo.core.codec import FIRST_LINE, read_header
from memrepo.core.errors import Problem
from memrepo.core.ids import as_tag
from memrepo.core.memory import Node
from memrepo.core.patterns import regex, split_lines
from memrepo.read.marks import (
    printed_lines,
    without_private,
)
from memrepo.text.dates import find_date

Task = Literal["", "open", "done"]
"""State of a task with a checkbox. Empty for a line that is not a task."""
MAX_BYTES = 4 * 1024 * 1024

_COMMENT = regex(r"[ \t>]*<!--[ \t]*([^\s<>][^<>]*)-->[ \t]*")
_EDGE = regex(r"(?P<name>\S+?):(?P<word>start|begin|end|stop)(?:\s.*)?", re.IGNORECASE)
"""The text of a comment by which a program marks an end of its block: `name:start`."""
_HOT_TAG = regex(r"↑\d{4}-\d{2}-\d{2}\([^()\n]{0,100}\)←|←mem-[0-9a-f]{16}")
_FENCE = regex(r"(?:[ \t]{0,80}(?:[-*+>]|\d{1,9}[.)])(?=[ \t])){0,64}[ \t]*(`{3,}|~{3,})(.*)")
_HEADING = regex(r" {0,3}#{1,6}(?:[ \t]|$)")
_STRUCK = regex(r"`[^`\n]*`|~~(?=[^\s~])(?P<out>(?:[^~\n]|~(?!~)){1,500})(?<!\s)~~(?!~)")
_MARKER = regex(r"[ \t>]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?")


def is_episode(path: str) -> bool:
    """Return whether a file is an episode, that is, directly in a folder named `episodes`."""
    return PurePosixPath(path).parent.name == "episodes"


def remove_struck(line: str) -> str:
    """Remove the text that is struck out (`~~port 8080~~`) from a line.

    In a heading, only the strike marks are removed.
    """
    if "~~" not in line:
        return line
    if _HEADING.match(line):
        return _STRUCK.sub(lambda m: m["out"] or m[0], line)
    start = _MARKER.match(line)
    at = start.end() if start else 0
    left = _STRUCK.sub(lambda m: "" if m["out"] else m[0], line[at:])
    return line if left == line[at:] else line[:at] + " ".join(left.split())


_NOTE_FIELD = regex(
    r"^(?P<start>[ \t>]*(?:[-*+][ \t]+)?(?:\*\*|__)?[^\W\d][\w -]{0,39}?(?:\*\*|__)?)::[ \t]+(?=\S)"
)
_INNER_FIELD = regex(
    r"\[(?P<key>[^\W\d][\w -]{0,39})::[ \t]+(?P<value>[^\[\]\n]+)\]"
    r"|\((?P<inline>[^\W\d][\w -]{0,39})::[ \t]+(?P<inside>[^()\n]+)\)"
)
_BLOCK_ID = regex(
    r"(?<![ \t])(?<!\b\w)(?<![A-Z]{2})[ \t]+\^(?=[\w-]*[^\W\d])[A-Za-z0-9-]{4,}[ \t]*$"
)
"""The id of a block. Behind one letter or capitals, `^` is a sign of a formula or of git."""


def has_note_field(line: str) -> bool:
    """Return whether a line is a field of Dataview, such as `Supplier:: Norlux`."""
    return "::" in line and _NOTE_FIELD.match(line) is not None


def plain_note(line: str) -> str:
    """Return a line with Dataview's fields as plain ones, and without the id of its block."""
    if "::" in line:
        line = _NOTE_FIELD.sub(r"\g<start>: ", line)
        line = _INNER_FIELD.sub(
            lambda m: f"{m['key'] or m['inline']}: {m['value'] or m['inside']}", line
        )
    return _BLOCK_ID.sub("", line) if "^" in line else line


class SourceLines(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded source file. `text[n - 1]` is line n without its trailing newline.

    `hidden` contains the numbers of lines that are not evidence. `managed` is the subset that
    another program or memrepo wrote. `fenced` contains the numbers of lines in fenced code,
    detected line by line.
    """

    resource: str
    text: tuple[str, ...] = ()
    hidden: frozenset[int] = frozenset()
    managed: frozenset[int] = frozenset()
    fenced: frozenset[int] = frozenset()
    unclosed: frozenset[int] = frozenset()
    """Lines that open a code fence that is never closed. The lines after them are read as text."""
    problems: tuple[Problem, ...] = ()

    @property
    def count(self) -> int:
        """Return the number of lines. A trailing newline does not start another line."""
        return len(self.text)

    def visible(self, first: int, last: int) -> list[tuple[int, str]]:
        """Return the visible lines from `first` to `last`, inclusive, as (number, text) pairs."""
        span = range(max(first, 1), min(last, self.count) + 1)
        return [(n, self.text[n - 1]) for n in span if n not in self.hidden]


def read_lines(resource: str, data: bytes) -> SourceLines:
    """Decode a source file, and hide lines that its author did not write. Never raises.

    A file that is not UTF-8 or larger than 4 MiB is skipped. The result then has no lines and one
    error.
    """
    if len(data) > MAX_BYTES:
        return _refused(resource, "source-too-large", f"has {len(data)} bytes, over {MAX_BYTES}")
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _refused(resource, "source-not-utf8", f"is not UTF-8 at byte {error.start}", line)
    # Editors do not count a lone carriage return as a line end, so it becomes a blank.
    flat = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")
    flat = without_private(flat, comments=False)
    text = tuple(flat.removesuffix("\n").split("\n")) if flat else ()
    header = _header_end(resource, text)
    printed = printed_lines(text)
    written = ["" if n in printed else line for n, line in enumerate(text, start=1)]
    fenced, unclosed = _fenced(written, header)
    managed = _managed(written, header, fenced) | printed
    hidden = managed.union(range(1, header + 1))
    return SourceLines(
        resource=resource,
        text=text,
        hidden=hidden,
        managed=managed,
        fenced=fenced,
        unclosed=unclosed,
        problems=tuple(
            Problem(
                path=resource,
                line=line,
                rule="source-unclosed",
                severity="warning",
                message="code fence is never closed; the lines after it are read as text",
                fix="close it",
            )
            for line in sorted(unclosed)
        ),
    )


def _refused(resource: str, rule: str, message: str, line: int = 0) -> SourceLines:
    problem = Problem(
        path=resource, line=line, rule=rule, message=f"{message}; the file is skipped"
    )
    return SourceLines(resource=resource, problems=(problem,))


def _header_end(resource: str, text: Sequence[str]) -> int:
    """Return the number of the line that closes the frontmatter, or 0 without frontmatter.

    Frontmatter is never evidence, so text between two rules counts as frontmatter only if it reads
    like a mapping.
    """
    return read_head("\n".join(text), resource).last if text[:1] and text[0][:3] == "---" else 0


def _fenced(text: Sequence[str], header: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of lines in closed code fences, and of lines that open an unclosed one."""
    inside: set[int] = set()
    unclosed: set[int] = set()
    number = header + 1
    while number <= len(text):
        match = _FENCE.match(text[number - 1])
        if match and not (match[1][0] == "`" and "`" in match[2]):
            closing = re.compile(rf"[ \t>]*{match[1][0]}{{{len(match[1])},}}[ \t]*")
            rest = range(number + 1, len(text) + 1)
            end = next((n for n in rest if closing.fullmatch(text[n - 1])), 0)
            if end:
                inside.update(range(number, end + 1))
                number = end
            else:
                unclosed.add(number)
        number += 1
    return frozenset(inside), frozenset(unclosed)


def _managed(text: Sequence[str], header: int, fenced: frozenset[int]) -> frozenset[int]:
    """Return the numbers of the lines that programs maintain, between two marks or with a tag."""
    inside: set[int] = set()
    opened: dict[str, int] = {}
    for number, line in enumerate(text[header:], start=header + 1):
        if number in fenced:
            continue
        comment = _COMMENT.fullmatch(line) if "<!--" in line else None
        mark = _EDGE.fullmatch(comment[1]) if comment is not None else None
        if mark is not None and mark["word"].lower() in ("start", "begin"):
            opened[mark["name"].casefold()] = number
        elif mark is not None and (start := opened.pop(mark["name"].casefold(), 0)):
            inside.update(range(start, number + 1))
        if "←" in line and _HOT_TAG.search(line):
            inside.add(number)
    return frozenset(inside)


MAX_CHARACTERS = 256 * 1024
"""Maximum length of a header in characters. No key is read from a longer header."""
_KEY_LINE = regex(r"""(?:[^\s#:'"\[{-][^:]*|(?:"[^"]*"|'[^']*')[ \t]*):(?:[ \t]|$)""")


class ForeignHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The YAML header of a text, and the body below it.

    `values` maps each key to its value, and `at` maps each key to its line. `last` is the number of
    the line that closes the header, or 0 without a header. `body` is the text after the header.
    `body_line` is the number of the first line of the body that is not blank.
    """

    values: Mapping[str, Node] = MappingProxyType({})
    at: Mapping[str, int] = MappingProxyType({})
    problem: Problem | None = None
    last: int = 0
    body: str
    body_line: int


def read_head(text: str, path: str) -> ForeignHeader:
    """Read the header of a text, which must not begin with a byte order mark.

    A text between two rules that is no mapping is body. A value that is not valid YAML is read as
    plain text.
    """
    found = read_header(text, path, MAX_CHARACTERS)
    lines = [line for line, _ in split_lines(text[: found.body_offset])[1:-1]]
    problem = next(iter(found.problems), None)
    is_read = bool(found.entries) and not problem
    if not found.present or not (is_read or _is_mapping(lines) or not any(map(str.strip, lines))):
        has_key = _KEY_LINE.match(text.partition("\n")[2])
        start = 1 + _blank_lines(text)
        return ForeignHeader(problem=problem if has_key else None, body=text, body_line=start)
    values = {entry.key: entry.value for entry in found.entries}
    at = {entry.key: entry.first for entry in found.entries}
    for number, line in enumerate(lines if found.problems else (), start=FIRST_LINE):
        key, _, words = line.partition(":")
        if _KEY_LINE.match(line) and key not in values:
            value = words.strip().strip("'\"")
            is_list = value.startswith("[") and not value.startswith("[[")  # is never closed
            values[key], at[key] = value.strip("[] ") if is_list else value, number
    body = text[found.body_offset :]
    return ForeignHeader(
        values=values,
        at=at,
        problem=problem,
        last=found.body_line - 1,
        body=body,
        body_line=found.body_line + _blank_lines(body),
    )


class NoteHeader(NamedTuple):
    """What the header of a note states: its numbered lines, its tags, and its day, if any.

    The first of the tags are those that its type names. `fields` are the properties that say how
    the note's subject is, with the number of the last line of each.
    """

    lines: tuple[tuple[int, str], ...] = ()
    tags: tuple[str, ...] = ()
    day: str = ""
    fields: tuple[tuple[int, str], ...] = ()


@lru_cache(maxsize=1024)
def note_header(path: str, data: bytes) -> NoteHeader:
    """Return the properties of a note that a search finds, its tags and its day.

    Properties that only sort or display notes are left out, and so are those of a file with a
    memory's header, whose description is a statement.
    """
    if not data.removeprefix(b"\xef\xbb\xbf").startswith(b"---"):
        return NoteHeader()
    text = data.decode("utf-8-sig", "replace")
    head = read_head(text, path)
    is_memory = isinstance(head.values.get("description"), str)
    keys = _TAG_KEYS[is_memory:]  # the type of a memory is none of a note
    tags = (tag for key in keys for tag in _words_in(head.values.get(key)))
    rows = text.split("\n")
    starts = [*sorted((line, key) for key, line in head.at.items()), (head.last, "")]
    lines = tuple(
        (number, rows[number - 1].rstrip())
        for (first, key), (end, _) in pairwise(starts)
        if key.lower() not in HOUSEKEEPING and not is_memory
        if any(map(str.isalnum, "\n".join(rows[first - 1 : end - 1]).partition(":")[2]))
        for number in range(first, end)
    )
    days = (find_date(str(head.values[key])) for key in DATE_KEYS if key in head.values)
    found = {tag.casefold(): tag for tag in map(as_tag, tags) if tag}
    fields = tuple(
        (end - 1, f"{key}: {value}")
        for (_, key), (end, _) in pairwise(starts)
        if key.lower() not in HOUSEKEEPING | _PRESENTING
        if (value := _spelled(head.values[key])) and not _FROM_TEMPLATE.search(value)
    )
    return NoteHeader(lines, tuple(found.values()), next(filter(None, days), ""), fields)


def _spelled(value: Node) -> str:
    """Return the value of a property on one line, or nothing for a mapping or a long text."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = [f"[[{one}]]" for one in value[0] if isinstance(one, str)]  # a link without quotes
    items = value if isinstance(value, list) else [value]
    text = ", ".join(one.strip() for one in items if isinstance(one, str))
    return text if "\n" not in text and len(text) <= MAX_FIELD else ""


MAX_FIELD = 160
"""Maximum characters of a property that is shown with the others of its note."""
_PRESENTING = frozenset(
    "aliases alias cssclass description image cover publish permalink id uid".split()
)
"""Properties with a meaning to Obsidian: they name, show or publish a note."""
_FROM_TEMPLATE = regex(r"\A(?:true|false|null)\Z|\{\{|<%")
"""A switch, or what a template has not filled."""
_TAG_KEYS = ("type", "tags", "tag")
DATE_KEYS = ("modified", "updated", "created", "date")
HOUSEKEEPING = frozenset((*DATE_KEYS, *_TAG_KEYS, "title", "type", "cssclasses"))
"""Properties that sort or display notes, or repeat what the note states elsewhere."""


def _words_in(value: Node | None) -> list[str]:
    """Return the items of a list, or the words of a text: `a, b` or `#a #b`."""
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str)]
    return re.split(r"[,\s]+", value) if isinstance(value, str) else []


def _blank_lines(text: str) -> int:
    return text.count("\n", 0, len(text) - len(text.lstrip()))


def _is_mapping(lines: list[str]) -> bool:
    """Return whether each unindented line is a key, a list item or a closing bracket."""
    margin = [line for line in lines if line.strip() and line[0] not in " \t#"]
    return bool(margin) and all(
        _KEY_LINE.match(line) or (n and (line.startswith(("- ", "]", "}")) or line.rstrip() == "-"))
        for n, line in enumerate(margin)
    )
