"""Split daily logs into notes: one per heading with a date or time, or one per file.

A file about current work is one note too, whose text is that of its last version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import Problem
from memrepo.core.ids import digest, normalise, text_hash
from memrepo.core.patterns import without_comments
from memrepo.merge.tombstones import states
from memrepo.read.documents import SourceLines
from memrepo.read.thoughts import HEADING_LENGTH, heading_kind
from memrepo.text.dates import (
    DateBasis,
    date_of_path,
    date_updated,
    find_clock,
    find_date,
    has_moment,
)
from memrepo.text.words import content_words, patterns

if TYPE_CHECKING:
    from memrepo.read.markdown import Block


class NoteUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A note: a section of a daily log, or a whole log.

    `text` is verbatim with its sub-headings, without the heading used as `title` and without lines
    that other programs wrote. The last of `headings` is the note's own. `clock` is the `HH:MM` of
    its heading, or empty. `occurrence` is the number of earlier notes of the file with equal text.
    """

    resource: str
    title: str
    text: str
    lines: tuple[int, int]
    headings: tuple[str, ...] = ()
    captured: str = ""
    captured_from: DateBasis = ""
    clock: str = ""
    occurrence: int = 0
    text_hash: str = ""


STATE_SIGNS, STATE_WORDS = 2, 3
"""The fewest signs of a file about current work: its name and headings that name what is next or
a state, and an open box. The most words with content of such a heading."""


class _Cut(msgspec.Struct, frozen=True):
    """The start of a note: the lines where its heading and its text begin, and its headings."""

    line: int
    body: int
    headings: tuple[str, ...]


@lru_cache(maxsize=1024)
def scan_notes(resource: str, data: bytes) -> tuple[tuple[NoteUnit, ...], tuple[Problem, ...]]:
    """Split a daily log into notes. Never raises. Sections without words are omitted.

    Notes begin at headings with a date or time. Among these headings, the shallowest level below
    the title counts. A note ends at the next such heading or at a shallower heading. Text outside
    these sections forms a note, and a log without such headings is one note.
    """
    from memrepo.read.markdown import parse_document  # a run without new files parses nothing

    document = parse_document(resource, data)
    source = document.source
    cuts = _cuts(document.blocks)
    seen: Counter[str] = Counter()
    notes: list[NoteUnit] = []
    for cut, last in zip(cuts, [*(c.line - 1 for c in cuts[1:]), source.count], strict=True):
        note = _note_at(source, cut, last)
        if note is not None:
            same = normalise(note.text)
            notes.append(_with_occurrence(note, seen[same]))
            seen[same] += 1
    return tuple(notes), document.problems


@lru_cache(maxsize=1024)
def scan_state(resource: str, data: bytes) -> tuple[NoteUnit, ...]:
    """Return a file as its one note if it is about current work, or else nothing.

    The day of the note is the one on which the file says that it was last updated.
    """
    from memrepo.read.markdown import parse_document

    document = parse_document(resource, data)
    names = [PurePosixPath(resource).stem.replace("-", " ").replace("_", " ")]
    names += [block.text for block in document.blocks if block.kind == "heading"]
    if sum(map(names_state, names)) + (b"[ ] " in data) < STATE_SIGNS:
        return ()
    note = _note_at(document.source, _cuts(document.blocks)[0], document.source.count)
    day = date_updated(data.decode("utf-8", "replace"))
    return (replace(note, captured=day, captured_from="unit" if day else ""),) if note else ()


def names_state(heading: str) -> bool:
    """Return whether a heading is a short name for what is next, in progress or a state."""
    is_short = len(content_words(heading)) <= STATE_WORDS
    found = patterns().headings["state"], patterns().sentences["now"]
    is_named = heading_kind(heading) == "plan" or any(one.search(heading) for one in found)
    return is_short and is_named


def _cuts(blocks: Sequence[Block]) -> list[_Cut]:
    """Return where notes start, in file order. The first start covers text before any heading."""
    paths = [(b, path) for b, path in heading_path(blocks) if b.kind == "heading"]
    title = _title(blocks, [b for b, _ in paths])
    level = min((b.level for b, _ in paths if b is not title and has_moment(b.text)), default=0)
    top: tuple[str, ...] = () if title is None else (title.text,)
    cuts = [_Cut(0, 1 if title is None else title.lines[1] + 1, top)]
    for block, path in paths:
        if block is title:
            continue
        if block.level < level or (block.level == level and has_moment(block.text)):
            cuts.append(_Cut(block.lines[0], block.lines[1] + 1, path))
    return cuts


def heading_path(blocks: Iterable[Block]) -> Iterator[tuple[Block, tuple[str, ...]]]:
    """Yield each block with the headings above it, outermost first. A heading includes itself."""
    path: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind == "heading":
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.text[:HEADING_LENGTH]))
        yield block, tuple(text for _, text in path)


def _title(blocks: Sequence[Block], headings: Sequence[Block]) -> Block | None:
    """Return the title of a log: its first block, if it is the only heading of the top level."""
    first = next((b for b in blocks if b.kind != "comment"), None)
    if first is None or first.kind != "heading":
        return None
    if first.level > 1 and find_clock(first.text):
        return None
    alone = all(b.level > first.level for b in headings if b is not first)
    return first if alone else None


def _note_at(source: SourceLines, cut: _Cut, last: int) -> NoteUnit | None:
    rows = source.visible(cut.body, last)
    text = "\n".join(line.rstrip() for _, line in rows).strip("\n")
    if not any(map(str.isalnum, without_comments(text))):
        return None
    if len(rows) <= last - cut.body and not states(text):
        return None  # only a heading or a lead-in remains of what a program printed
    filled = [n for n, line in rows if line.strip()]
    own = cut.headings[-1] if cut.headings else ""
    captured, basis = _date(source.resource, cut.headings, text)
    return NoteUnit(
        resource=source.resource,
        title=own or PurePosixPath(source.resource).stem,
        text=text,
        lines=(cut.line or filled[0], filled[-1]),
        headings=cut.headings,
        captured=captured,
        captured_from=basis,
        clock=find_clock(own),
        text_hash=text_hash(text),
    )


def _date(resource: str, headings: tuple[str, ...], text: str) -> tuple[str, DateBasis]:
    """Return the date of a note and its origin: a heading, or else the file name or the text."""
    for heading in reversed(headings):
        if day := find_date(heading):
            return day, "heading"
    if day := date_of_path(resource):
        return day, "file"
    day = find_date(text)
    return (day, "unit") if day else ("", "")


def _with_occurrence(note: NoteUnit, occurrence: int) -> NoteUnit:
    return replace(note, occurrence=occurrence) if occurrence else note


class PlacedNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note that a run reads, with its path, its blob and its commit date."""

    unit: NoteUnit
    resource: str
    blob: str
    committed: str
    is_state: bool = False
    """Whether it is a file about current work: one note, which each version replaces."""

    @property
    def hash(self) -> str:
        """Return the hash that identifies the note in manifests."""
        return note_hash(self.unit)


def note_hash(unit: NoteUnit) -> str:
    """Return the id of a note: a hash of its source, text and occurrence."""
    return "un-" + digest([unit.resource, unit.text_hash, unit.occurrence])[:16]
