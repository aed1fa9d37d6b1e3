"""Turn the sections of daily logs into notes: new ones, and longer texts of those that grew."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.actions.run.known import Known
from memrepo.core.ids import note_id
from memrepo.core.memory import OWN_ACTOR, Memory, Source, Stamp, of_types
from memrepo.read.intake import is_mostly_in, lines_of
from memrepo.read.notes import PlacedNote


def take_notes(known: Known, placed: Sequence[PlacedNote]) -> None:
    """Add a note for each new section of a daily log, or its text to the note that it continues."""
    copies = _copies(known, placed)
    for one in placed:
        unit = one.unit
        id_ = note_id(resource=unit.resource, text=unit.text, occurrence=unit.occurrence)
        if known.memory(id_) is not None or one.hash in copies:
            continue
        with known.attempt(one.hash):
            old = _growing(known, one)
            if old is not None:
                former = tuple(dict.fromkeys((*old.former_hashes, old.sources[-1].text_hash)))
                fields = {
                    "generated": Stamp(by=OWN_ACTOR, at=known.now),
                    "former": former,
                    "sources": (_note_source(one),),
                }
                known.reword(old.with_fields(fields, unit.text))
            else:
                known.create(_note(known, one, id_))


def _copies(known: Known, placed: Sequence[PlacedNote]) -> frozenset[str]:
    """Return the hashes of note units that repeat another file's note of the same day."""
    units = {(one.unit.text_hash, _note_source(one).captured): one for one in placed}
    found = set()
    for memory in of_types(known.state.active, ("note",)) if units else ():
        source = memory.sources[-1] if memory.sources else None
        one = units.get((source.text_hash, source.captured)) if source else None
        if one is not None and source is not None and source.resource != one.resource:
            found.add(one.hash)
    return frozenset(found)


def _growing(known: Known, one: PlacedNote) -> Memory | None:
    """Return the active note of the same section that a unit continues, or None.

    A section that has most of the note's lines continues it. A section that was overwritten is a
    new note, and the old one remains.
    """
    lines = lines_of(one.unit.text.encode())
    for memory in of_types(known.state.active, ("note",)):
        if memory.id in known.ops or memory.text("title") != one.unit.title:
            continue
        if one.resource in memory.files and is_mostly_in(lines_of(memory.body.encode()), lines):
            return memory
    return None


def _note_source(one: PlacedNote) -> Source:
    dated = bool(one.unit.captured)
    return Source(
        resource=one.resource,
        blob=one.blob,
        lines=one.unit.lines,
        text_hash=one.unit.text_hash,
        captured=one.unit.captured if dated else one.committed,
        captured_from=one.unit.captured_from if dated else "commit",
    )


def _note(known: Known, one: PlacedNote, id_: str) -> Memory:
    source = _note_source(one)
    day = source.captured if source.captured_from != "commit" else ""
    path = known.state.layout.memory(
        id_=id_, type_="note", text=one.unit.title or one.unit.text, captured=day
    )
    fields = {
        "id": id_,
        "type": "note",
        "title": one.unit.title,
        "created": known.now,
        "generated": Stamp(by=OWN_ACTOR, at=known.now),
        "sources": (source,),
        "origin": "purifier",
    }
    return Memory.of(path, {k: v for k, v in fields.items() if v}, body=one.unit.text)
