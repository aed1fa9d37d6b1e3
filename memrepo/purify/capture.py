"""Daily logs become notes: one note a dated section, reworded while the section grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Update
from memrepo.core.ids import digest, note_id
from memrepo.core.memory import Memory, Source, Stamp
from memrepo.core.state import State
from memrepo.purify.known import ACTOR, free_path, storable
from memrepo.purify.notes import NoteUnit


class PlacedNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note unit in scope and where it stands in the repository."""

    unit: NoteUnit
    resource: str
    blob: str
    committed: str

    @property
    def hash(self) -> str:
        """Return the unit's identity in manifests."""
        return note_hash(self.unit)


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """New notes, notes that grew, and notes that could not be stored (hash and reason)."""

    creates: tuple[Memory, ...]
    rewords: tuple[Update, ...]
    quarantined: tuple[tuple[str, str], ...]


def note_hash(unit: NoteUnit) -> str:
    """Return a note unit's identity: its source, text and occurrence."""
    return "un-" + digest([unit.resource, unit.text_hash, unit.occurrence])[:16]


def capture(
    state: State, placed: Sequence[PlacedNote], standing: Iterable[NoteUnit], now: datetime
) -> Captured:
    """Turn note units in scope into notes.

    `standing` are all note units of the sources in scope: an existing note whose text still
    stands somewhere keeps it, so only a section whose old text is gone counts as grown.
    """
    creates: dict[str, Memory] = {}
    rewords: dict[str, Update] = {}
    quarantined = []
    taken: set[str] = set()
    grown = _growing(state, standing)
    for one in placed:
        id_ = note_id(
            resource=one.unit.resource, text=one.unit.text, occurrence=one.unit.occurrence
        )
        if id_ in state.memories or id_ in creates:
            continue
        if olds := grown.get((one.resource, one.unit.title)):
            old = olds.pop(0)
            reword = _reword(old, one, now)
            if why := storable(old.with_fields(reword.fields, one.unit.text)):
                quarantined.append((one.hash, why))
            else:
                rewords[old.id] = reword
            continue
        memory = _note(state, one, id_, now)
        memory = replace(memory, path=free_path(state, taken, memory))
        if why := storable(memory):
            quarantined.append((one.hash, why))
            continue
        taken.add(memory.path)
        creates[id_] = memory
    return Captured(
        creates=tuple(creates.values()),
        rewords=tuple(rewords.values()),
        quarantined=tuple(quarantined),
    )


def _growing(state: State, standing: Iterable[NoteUnit]) -> dict[tuple[str, str], list[Memory]]:
    """Return active notes whose recorded text left their source, by source and heading.

    Sections of one heading stand in the order of their lines: the first that grew is the first.
    """
    still = {unit.text_hash for unit in standing}
    found: dict[tuple[str, str], list[Memory]] = {}
    for memory in sorted(state.active, key=lambda m: m.sources[-1].lines if m.sources else (0, 0)):
        if memory.is_note and memory.sources and memory.sources[-1].text_hash not in still:
            key = (memory.sources[0].resource, memory.text("title"))
            found.setdefault(key, []).append(memory)
    return found


def _source(one: PlacedNote) -> Source:
    dated = bool(one.unit.captured)
    return Source(
        resource=one.resource,
        blob=one.blob,
        lines=one.unit.lines,
        text_hash=one.unit.text_hash,
        captured=one.unit.captured if dated else one.committed,
        captured_from=one.unit.captured_from if dated else "commit",
    )


def _note(state: State, one: PlacedNote, id_: str, now: datetime) -> Memory:
    source = _source(one)
    day = source.captured if source.captured_from != "commit" else ""
    path = state.layout.memory(
        id_=id_, type_="note", text=one.unit.title or one.unit.text, captured=day
    )
    fields = {
        "id": id_,
        "type": "note",
        "title": one.unit.title,
        "created": now,
        "generated": Stamp(by=ACTOR, at=now),
        "sources": (source,),
        "origin": "purifier",
    }
    return Memory(path=path, fields={k: v for k, v in fields.items() if v}, body=one.unit.text)


def _reword(old: Memory, one: PlacedNote, now: datetime) -> Update:
    former = old.sources[-1].text_hash
    return Update(
        id=old.id,
        fields={
            "generated": Stamp(by=ACTOR, at=now),
            "aliases": tuple(dict.fromkeys((*old.texts("aliases"), former))),
            "sources": (_source(one),),
        },
        body=one.unit.text,
    )
