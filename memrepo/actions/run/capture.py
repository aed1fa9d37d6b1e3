"""Daily logs become notes: one note a dated section, reworded while the section grows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Update
from memrepo.core.ids import note_id
from memrepo.core.memory import OWN_ACTOR, Memory, Source, Stamp, of_types
from memrepo.core.state import State
from memrepo.purify.known import free_path, storable
from memrepo.read.notes import NoteUnit, PlacedNote


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """New notes, notes that grew, and notes that could not be stored (hash and reason)."""

    creates: tuple[Memory, ...]
    rewords: tuple[Update, ...]
    quarantined: tuple[tuple[str, str], ...]


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
    grown = _growing(state, standing, {one.resource for one in placed})
    copies = _copies(state, placed)
    for one in placed:
        id_ = note_id(
            resource=one.unit.resource, text=one.unit.text, occurrence=one.unit.occurrence
        )
        if id_ in state.memories or id_ in creates or one.hash in copies:
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


def _copies(state: State, placed: Sequence[PlacedNote]) -> frozenset[str]:
    """Return the hashes of units that another file holds as well, with a note for the same day."""
    units = {(one.unit.text_hash, _source(one).captured): one for one in placed}
    found = set()
    for memory in of_types(state.active, ("note",)) if units else ():
        source = memory.sources[-1] if memory.sources else None
        one = units.get((source.text_hash, source.captured)) if source else None
        if one is not None and source is not None and source.resource != one.resource:
            found.add(one.hash)
    return frozenset(found)


def _growing(
    state: State, standing: Iterable[NoteUnit], resources: Collection[str]
) -> dict[tuple[str, str], list[Memory]]:
    """Return active notes whose recorded text left some sources, by source and heading.

    Sections of one heading stand in the order of their lines: the first that grew is the first.
    """
    still = {unit.text_hash for unit in standing}
    found: dict[tuple[str, str], list[Memory]] = {}
    notes = of_types(state.active, ("note",)) if resources else ()
    notes = [memory for memory in notes if memory.first[0] in resources]
    for memory in sorted(notes, key=lambda m: m.sources[-1].lines if m.sources else (0, 0)):
        if memory.sources and memory.sources[-1].text_hash not in still:
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
        "generated": Stamp(by=OWN_ACTOR, at=now),
        "sources": (source,),
        "origin": "purifier",
    }
    return Memory(path=path, fields={k: v for k, v in fields.items() if v}, body=one.unit.text)


def _reword(old: Memory, one: PlacedNote, now: datetime) -> Update:
    former = old.sources[-1].text_hash
    return Update(
        id=old.id,
        fields={
            "generated": Stamp(by=OWN_ACTOR, at=now),
            "aliases": tuple(dict.fromkeys((*old.texts("aliases"), former))),
            "sources": (_source(one),),
        },
        body=one.unit.text,
    )
