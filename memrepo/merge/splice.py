"""The bytes of a merged memory: one side's file, edited, with what both sides added beside ours.

Foreign top-level entries are merged by key as raw lines; comments of both sides survive. Line
ends, key order and spelling are those of the file that is edited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memrepo.core import codec, header, yamlnodes
from memrepo.core.fields import Node
from memrepo.core.header import FIRST_LINE, Entry, Header
from memrepo.core.lines import Line, dominant_end, join_lines, split_lines
from memrepo.core.memory import Memory
from memrepo.core.schema import ORDER


class FileVersion(msgspec.Struct, frozen=True):
    """A memory file as one state has it; without a memory its bytes cannot be read."""

    path: str
    data: bytes
    memory: Memory | None


class Foreign(msgspec.Struct, frozen=True):
    """A top-level entry that is not ours: its value and its raw lines at the left margin."""

    value: Node
    lines: tuple[str, ...]


class Comment(msgspec.Struct, frozen=True):
    """A comment and the key that it stands above or beside; empty at the header's end."""

    key: str
    text: str


class JoinedBytes(msgspec.Struct, frozen=True, kw_only=True):
    """A merged file, the memory that a reader finds in it, and what had to give way.

    `lost` are the raw lines of foreign entries, by key.
    """

    data: bytes
    memory: Memory
    lost: Mapping[str, bytes]


def join_bytes(
    base: FileVersion | None, older: FileVersion, newer: FileVersion, memory: Memory
) -> JoinedBytes | None:
    """Write a merged memory into the newer side's file, or into that of a side that only restyled.

    None where no file can hold the result: a limit exceeded, or lines that read differently once
    they stand together.
    """
    o, a, b = (_Skeleton.of(version) for version in (base, older, newer))
    entries, lost = _merged_entries(o.entries, a.entries, b.entries)
    # Who changed no value changed the look of the file, and the look is all that would be lost.
    restyled = _says_the_same(base, older, o, a) and not _says_the_same(base, newer, o, b)
    host, guest, file = (a, b, older) if restyled else (b, a, newer)
    known = {c.text for c in (*o.comments, *host.comments)}
    above = [c for c in guest.comments if c.text not in known]
    left = {c.text for c in o.comments} - {c.text for c in guest.comments}
    try:
        data, read = codec.rewritten(file.data, memory)
    except codec.CodecError:
        return None
    if entries != host.entries or above or left:
        edited = FileVersion(memory.path, data, memory)
        data = _Skeleton.of(edited, whole=True).with_header(entries, above, left)
        if not _holds(data, edited, entries):
            return None
    return JoinedBytes(data=data, memory=read, lost=lost)


def _holds(data: bytes, edited: FileVersion, entries: Mapping[str, Foreign]) -> bool:
    """Tell whether a file still holds the memory that was edited into it, and these entries."""
    before, _ = codec.decode(edited.path, edited.data)
    after, _ = codec.decode(edited.path, data)
    found = _Skeleton.of(FileVersion(edited.path, data, after)).entries
    same = {k: f.value for k, f in found.items()} == {k: f.value for k, f in entries.items()}
    return after is not None and after == before and same


def own_words(version: FileVersion) -> tuple[dict[str, Node], frozenset[Comment]]:
    """Return what a header holds that is not ours: foreign keys and comments."""
    skeleton = _Skeleton.of(version)
    values = {key: foreign.value for key, foreign in skeleton.entries.items()}
    return values, frozenset(skeleton.comments)


def _own_header(text: str) -> Header | None:
    """Measure a header in which nothing is foreign; most are such and need not be read."""
    end = text.find("\n---\n")
    lines = text[:end].split("\n") if end >= 0 and text.startswith("---\n") else []
    for line in lines[1:]:
        own = line.startswith("  - {") or line.partition(":")[0] in ORDER
        if not own or "#" in line or "\r" in line:
            return None
    return Header(present=True, body_line=len(lines) + 2) if lines else None


def _says_the_same(base: FileVersion | None, side: FileVersion, o: _Skeleton, s: _Skeleton) -> bool:
    if base is None or base.memory is None or side.memory is None:
        return False
    before, after = base.memory, side.memory
    return (before.fields, before.body, o.entries) == (after.fields, after.body, s.entries)


def _merged_entries(
    base: Mapping[str, Foreign], older: Mapping[str, Foreign], newer: Mapping[str, Foreign]
) -> tuple[dict[str, Foreign], dict[str, bytes]]:
    """Merge foreign entries by key; an entry changed on both sides is the newer side's."""
    merged: dict[str, Foreign] = {}
    lost: dict[str, bytes] = {}
    for key in dict.fromkeys([*newer, *sorted(older)]):
        o, a, b = base.get(key), older.get(key), newer.get(key)
        if a == b or o == a:
            value = b
        elif o == b:
            value = a
        else:
            value = b or a
            if a is not None and b is not None:
                lost[key] = "\n".join(a.lines).encode()
        if value is not None:
            merged[key] = value
    return merged, lost


class _Skeleton:
    """A file's lines, with what in its header is not ours."""

    def __init__(self, text: str, head: Header) -> None:
        self.lines = split_lines(text)
        self.head = head
        self.entries = {e.key: self._foreign(e) for e in head.entries if e.key not in ORDER}
        self.comments = self._comments()

    @classmethod
    def of(cls, version: FileVersion | None, *, whole: bool = False) -> _Skeleton:
        if version is None or version.memory is None:
            return cls("", Header())
        text = version.data.decode("utf-8")
        head = None if whole else _own_header(text)
        return cls(text, head or header.read(text, version.path))

    def _foreign(self, entry: Entry) -> Foreign:
        margin = " " * self.head.indent
        span = self.lines[entry.first - 1 : entry.last]
        return Foreign(entry.value, tuple(text.removeprefix(margin) for text, _ in span))

    def _loose(self) -> dict[int, str]:
        """Return the comments that stand alone between entries, by line."""
        covered = {n for e in self.head.entries for n in range(e.first, e.last + 1)}
        return {
            n: self.lines[n - 1][0].strip()
            for n in range(FIRST_LINE, self.head.body_line - 1)
            if n not in covered and self.lines[n - 1][0].lstrip().startswith("#")
        }

    def _comments(self) -> list[Comment]:
        placed = self._loose()
        inner = [text for text, _ in self.lines[FIRST_LINE - 1 : self.head.body_line - 2]]
        for entry in self.head.entries:
            span = inner[entry.first - FIRST_LINE : entry.last - FIRST_LINE + 1]
            if entry.key in ORDER and any("#" in text for text in span):
                placed |= dict(yamlnodes.comments(inner, FIRST_LINE, entry))
        return [Comment(self._anchor(n), placed[n]) for n in sorted(placed)]

    def _anchor(self, line: int) -> str:
        return next((e.key for e in self.head.entries if e.last >= line), "")

    def with_header(
        self, entries: Mapping[str, Foreign], above: Sequence[Comment], left: set[str]
    ) -> bytes:
        """Return the file with these foreign entries, further comments, and without those left."""
        end = dominant_end(self.lines[: self.head.body_line - 1])
        margin = " " * self.head.indent
        own = {e.key: e for e in self.head.entries}
        drop = {n for n, text in self._loose().items() if text in left}
        slots: dict[int, list[str]] = {}  # the line that new lines go above
        last = self.head.body_line - 1
        for comment in above:
            line = own[comment.key].first if comment.key in own else last
            slots.setdefault(line, []).append(comment.text)
        for key, entry in own.items():
            if key not in ORDER and entries.get(key) != self.entries[key]:
                drop.update(range(entry.first, entry.last + 1))
        for key, foreign in entries.items():
            if foreign != self.entries.get(key):
                line = own[key].first if key in own else last
                slots.setdefault(line, []).extend(foreign.lines)
        edited: list[Line] = []
        for number, line_ in enumerate(self.lines, 1):
            edited += [(margin + text if text else text, end) for text in slots.get(number, [])]
            if number not in drop:
                edited.append(line_)
        return join_lines(edited).encode("utf-8")
