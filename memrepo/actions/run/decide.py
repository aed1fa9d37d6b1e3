"""Turn answers into changes: new memories, more evidence, new wordings, replacements, files.

Changes that need no judge are decided here too: notes of daily logs, removed lines and ticked
boxes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import PENDING
from memrepo.actions.run.candidates import nominations
from memrepo.actions.run.plan import Answers, Decisions, Input, RunPlan
from memrepo.actions.run.retire import (
    NewText,
    end_contradictions,
    may_ask,
    relist,
    requests,
    restore_outdated,
    retire,
    tick_boxes,
)
from memrepo.core.changes import Change, Create, Op, Step, Update
from memrepo.core.ids import note_id
from memrepo.core.manifest import Judged
from memrepo.core.memory import (
    OWN_ACTOR,
    Memory,
    Source,
    Stamp,
    of_types,
)
from memrepo.core.state import State
from memrepo.policies.claims import (
    free_path,
    storage_fault,
)
from memrepo.read.intake import is_mostly_in, lines_of
from memrepo.read.notes import PlacedNote

KEPT = "stated in the source, and kept by the judge"
"""Reason of the commit that adds memories in a run."""


def decide(plan: RunPlan, given: Input, answers: Answers) -> Decisions:
    """Return the steps and files that follow from the answers and from changes in the sources."""
    found = Decisions(
        receipt=answers.receipt,
        failures=answers.failures,
        index=given.index,
        warnings=(*given.warnings, *answers.warnings),
    )
    reader, state, made = given.reader, given.state, answers.made
    if reader is None:
        found.steps = answers.shelved
        return found
    intake, now, marks = given.intake, plan.now, given.marks
    noted = capture(state, intake.notes, now)
    waits = answers.waiting
    # While some sources are unjudged, the replacement of a removed line is unknown.
    gone = {name: lost for name, lost in intake.gone.items() if name not in waits}
    lost = None if intake.whole and not waits else gone
    retired = retire(state, lost, reader, made.touched, PENDING, now, marks=marks)
    steps = (
        *_steps(answers, noted),
        *relist(state, lost, reader, made.touched, marks),
        *retired,
        *tick_boxes(intake, given.texts, reader, now, marks),
    )
    found.steps = (
        *given.moved,
        *steps,
        *end_contradictions(state, steps, now),
        *restore_outdated(state, steps),
        *nominations(given.nominees if not waits else (), made.decisions, now),
    )
    found.consumed = tuple(one for one in intake.consumed if one.resource not in waits)
    found.counts = {**_counts(given, answers, noted, retired), **given.counts}
    found.judgements = _judgements(answers)
    refused = [*answers.unusable.items(), *noted.quarantined, *made.faults.items()]
    refused += [(one.statement.id, one.reason) for one in made.quarantined]
    found.quarantined = tuple({"id": id_, "reason": reason} for id_, reason in sorted(refused))
    found.warnings += tuple(requests(_new_texts(given, answers), state.memories))
    return found


def _steps(answers: Answers, noted: Captured) -> tuple[Step, ...]:
    """Return the steps in commit order: bulk creates, bulk evidence, single decisions."""
    made = answers.made
    bulk: tuple[tuple[Op, Sequence[Change], str], ...] = (
        ("create", tuple(Create(memory=m) for m in made.creates), KEPT),
        ("create", tuple(Create(memory=m) for m in noted.creates), "written in a daily log"),
        ("reword", noted.rewords, "text was added to its section of the daily log"),
        ("reword", made.rewords, "line edited in the source"),
        ("confirm", made.updates, "the sources state it in another place too"),
    )
    steps = (Step(op=op, reason=why, changes=tuple(some)) for op, some, why in bulk if some)
    return (*steps, *made.singles, *answers.shelved)


def _new_texts(given: Input, answers: Answers) -> Iterator[NewText]:
    """Yield each text that is read for the first time, with the ids of memories it supports."""
    intake = given.intake
    asking = [p for p in intake.placed if not intake.whole and may_ask(p.unit.text)]
    became: dict[tuple[str, str], list[str]] = {}
    for decision in answers.made.decisions if asking else ():
        for unit in decision.statement.units:
            became.setdefault(unit, []).append(decision.memory_id)
    for one in asking:
        ids = tuple(became.get((one.resource, one.unit.hash), ()))
        yield NewText(path=one.resource, line=one.unit.lines[0], text=one.unit.text, became=ids)
    for note in intake.notes:
        yield NewText(path=note.resource, line=note.unit.lines[0], text=note.unit.text)


def _counts(
    given: Input, answers: Answers, noted: Captured, retired: Sequence[Step]
) -> dict[str, int]:
    made = answers.made
    ops = [step.op for step in made.singles]
    return {
        "sources": len({entry.resource for entry in given.intake.consumed}),
        "units": len(given.intake.placed),
        "candidates": len(given.gathered.candidates),
        "promoted": len(made.decisions),
        "memories_new": len(made.creates),
        "memories_met_again": len(made.updates),
        "memories_reworded": len(made.rewords),
        "memories_retired": sum(len(step.changes) for step in retired),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "notes_new": len(noted.creates),
        "notes_grown": len(noted.rewords),
    }


def _judgements(answers: Answers) -> dict[str, Any]:
    """Return the judgements that a memory's file does not contain, by memory."""
    found: dict[str, Any] = {}
    for decision in answers.made.decisions:
        one = decision.statement
        judged = Judged(
            disposition=decision.disposition,
            reason=decision.reason,
            rank=round(one.rank, 2),
            signs=one.signs,
        )
        found.setdefault(decision.memory_id, []).append(judged)
    return found


# -- notes of daily logs ---------------------------------------------------------------------------


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """New notes, extended notes, and notes that could not be stored, as (hash, reason) pairs."""

    creates: tuple[Memory, ...]
    rewords: tuple[Update, ...]
    quarantined: tuple[tuple[str, str], ...]


def capture(state: State, placed: Sequence[PlacedNote], now: datetime) -> Captured:
    """Turn note units in scope into notes."""
    creates: dict[str, Memory] = {}
    rewords: dict[str, Update] = {}
    quarantined = []
    taken: set[str] = set()
    copies = _copies(state, placed)
    for one in placed:
        id_ = note_id(
            resource=one.unit.resource, text=one.unit.text, occurrence=one.unit.occurrence
        )
        if id_ in state.memories or id_ in creates or one.hash in copies:
            continue
        if old := _growing(state, one, rewords):
            reword = _grow(old, one, now)
            if why := storage_fault(old.with_fields(reword.fields, one.unit.text)):
                quarantined.append((one.hash, why))
            else:
                rewords[old.id] = reword
            continue
        memory = _note(state, one, id_, now)
        memory = replace(memory, path=free_path(state, taken, memory))
        if why := storage_fault(memory):
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
    """Return the hashes of note units that repeat another file's note of the same day."""
    units = {(one.unit.text_hash, _note_source(one).captured): one for one in placed}
    found = set()
    for memory in of_types(state.active, ("note",)) if units else ():
        source = memory.sources[-1] if memory.sources else None
        one = units.get((source.text_hash, source.captured)) if source else None
        if one is not None and source is not None and source.resource != one.resource:
            found.add(one.hash)
    return frozenset(found)


def _growing(state: State, one: PlacedNote, taken: Collection[str]) -> Memory | None:
    """Return the active note of the same section that a unit continues, or None.

    A section that has most of the note's lines continues it. A section that was overwritten is a
    new note, and the old one remains.
    """
    lines = lines_of(one.unit.text.encode())
    for memory in of_types(state.active, ("note",)):
        if memory.id in taken or memory.text("title") != one.unit.title:
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


def _note(state: State, one: PlacedNote, id_: str, now: datetime) -> Memory:
    source = _note_source(one)
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
    return Memory.of(path, {k: v for k, v in fields.items() if v}, body=one.unit.text)


def _grow(old: Memory, one: PlacedNote, now: datetime) -> Update:
    former = old.sources[-1].text_hash
    return Update(
        id=old.id,
        fields={
            "generated": Stamp(by=OWN_ACTOR, at=now),
            "former": tuple(dict.fromkeys((*old.former_hashes, former))),
            "sources": (_note_source(one),),
        },
        body=one.unit.text,
    )
