"""Turn answers into changes: new memories, more evidence, new wordings, replacements, files.

Changes that need no judge are decided here too: notes of daily logs, removed lines and ticked
boxes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import PENDING
from memrepo.actions.run.candidates import nominations, write_candidate_files
from memrepo.actions.run.plan import RunPlan, Units
from memrepo.actions.run.retire import (
    NewText,
    end_contradictions,
    lost_by,
    may_ask,
    relist,
    requests,
    retire,
    tick_boxes,
)
from memrepo.core.changes import Change, Create, Op, Step, Update
from memrepo.core.ids import note_id, text_hash
from memrepo.core.manifest import Consumed, Judged, JudgedCandidate
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
from memrepo.read.notes import NoteUnit, PlacedNote

KEPT = "stated in the source, and kept by both passes of the judge"
"""Reason of the commit that adds memories in a run."""


def decide(plan: RunPlan) -> None:
    """Complete the plan's steps and files from the answers and from changes in the sources."""
    reader, state, made = plan.reader, plan.follows, plan.made
    if reader is None or state is None:
        return
    intake, now, marks = plan.intake, plan.now, plan.marks
    if plan.receipt.partial:
        _withhold(plan)
    noted = capture(state, intake.notes, intake.standing, now)
    # While some sources are unjudged, the replacement of a removed line is unknown.
    is_whole = intake.whole and not plan.receipt.partial
    gone = None if is_whole else intake.gone
    retired = tuple(retire(state, gone, reader, made.touched, PENDING, now, marks=marks))
    boxes, boxed = tick_boxes(intake, plan.texts, reader, now, marks)
    steps = (
        *_steps(plan, noted),
        *relist(state, gone, reader, made.touched, marks),
        *retired,
        *boxes,
    )
    plan.steps = (
        *plan.moved,
        *steps,
        *end_contradictions(state, steps, now),
        *nominations(plan.nominees, plan.verdicts, plan.clusters, made.decisions, now),
    )
    plan.files = write_candidate_files(state, plan.gathered.candidates, plan.verdicts, now)
    plan.returned = _returned(state, plan)
    plan.consumed = tuple(_without_open(entry, plan.open_units) for entry in intake.consumed)
    plan.behind = {**boxed, **_behind(plan, noted), **_behind_retired(state, retired, intake.gone)}
    plan.counts = {**_counts(plan, noted, retired), **plan.counts}
    plan.judgements = _judgements(plan)
    refused = [*plan.unusable.items(), *noted.quarantined]
    refused += [(one.cluster_id, one.reason) for one in made.quarantined]
    plan.quarantined = tuple({"id": id_, "reason": reason} for id_, reason in sorted(refused))
    plan.warnings += tuple(requests(_new_texts(plan), state.memories))


def _withhold(plan: RunPlan) -> None:
    """Exclude sources with former text that cannot be judged yet, so that the next run reads them.

    Otherwise the old line of an edited pair would retire before the new one is judged. A source
    without any judged unit is not consumed at all, so a failed run advances no cursor.
    """
    intake = plan.intake
    judged = {
        one.resource
        for one in intake.placed
        if (one.resource, one.unit.hash) not in plan.open_units
    }
    waits = {r for r, _ in plan.open_units if r not in judged or intake.gone.get(r)}
    intake.consumed = [entry for entry in intake.consumed if entry.resource not in waits]
    for resource in waits:
        intake.revisions.pop(resource, None)


def _steps(plan: RunPlan, noted: Captured) -> tuple[Step, ...]:
    """Return the steps in commit order: bulk creates, bulk evidence, single decisions."""
    made = plan.made
    bulk: tuple[tuple[Op, Sequence[Change], str], ...] = (
        ("create", tuple(Create(memory=m) for m in made.creates), KEPT),
        ("create", tuple(Create(memory=m) for m in noted.creates), "written in a daily log"),
        ("reword", noted.rewords, "text was added to its section of the daily log"),
        ("reword", made.rewords, "line edited in the source"),
        ("confirm", made.updates, "the sources state it in another place too"),
    )
    steps = (Step(op=op, reason=why, changes=tuple(some)) for op, some, why in bulk if some)
    return (*steps, *made.singles)


def _without_open(entry: Consumed, open_units: Units) -> Consumed:
    """Return the record of a consumed source, marking its unjudged units as unread."""
    hashes = {hash_ for resource, hash_ in open_units if entry.resource == resource}
    also = tuple(h for h in entry.also if h not in hashes)
    return replace(entry, except_=tuple(sorted(hashes)), also=also) if hashes else entry


def _behind(plan: RunPlan, noted: Captured) -> dict[str, Units]:
    """Return the units that support each memory in this run, by memory."""
    members = {g.cluster_id: g.candidates for g in plan.clusters}
    found: dict[str, set[tuple[str, str]]] = {}
    for decision in plan.made.decisions:
        units = found.setdefault(decision.memory_id, set())
        for candidate in members[decision.cluster_id]:
            units.update(plan.gathered.units.get(candidate.candidate_id, ()))
    by_text = {(n.resource, n.unit.text_hash): (n.resource, n.hash) for n in plan.intake.notes}
    sources = [(memory.id, memory.sources[0]) for memory in noted.creates]
    sources += [(update.id, update.fields["sources"][0]) for update in noted.rewords]
    return {**found, **{i: {by_text[s.resource, s.text_hash]} for i, s in sources}}


def _behind_retired(
    state: State, retired: Sequence[Step], gone: Mapping[str, frozenset[str]]
) -> dict[str, Units]:
    """Return the sources that lost each retired memory. An empty hash means the whole source."""
    return {
        id_: {(resource, "") for resource in lost_by(state.memories[id_], gone)}
        for step in retired
        for id_ in step.memory_ids
    }


def _new_texts(plan: RunPlan) -> Iterator[NewText]:
    """Yield each text that is read for the first time, with the ids of memories it supports."""
    intake = plan.intake
    asking = [p for p in intake.placed if not intake.whole and may_ask(p.unit.text)]
    became: dict[tuple[str, str], list[str]] = {}
    for id_, units in plan.behind.items() if asking else ():
        for unit in units:
            became.setdefault(unit, []).append(id_)
    for one in asking:
        ids = tuple(became.get((one.resource, one.unit.hash), ()))
        yield NewText(path=one.resource, line=one.unit.lines[0], text=one.unit.text, became=ids)
    for note in intake.notes:
        yield NewText(path=note.resource, line=note.unit.lines[0], text=note.unit.text)


def _returned(state: State, plan: RunPlan) -> dict[str, frozenset[str]]:
    """Return the memories made from each candidate file, by file.

    The file must remain while they are pending.
    """
    members = {g.cluster_id: g.candidates for g in plan.clusters}
    found: dict[str, frozenset[str]] = {}
    for decision in plan.made.decisions:
        for candidate in members[decision.cluster_id]:
            for folder in ("deferred", "rejected"):
                path = state.layout.candidate(folder, text_hash(candidate.text))
                if path in state.files:
                    found[path] = found.get(path, frozenset()) | {decision.memory_id}
    return found


def _counts(plan: RunPlan, noted: Captured, retired: Sequence[Step]) -> dict[str, int]:
    words = [verdict.verdict for verdict in plan.verdicts]
    ops = [step.op for step in plan.made.singles]
    return {
        "sources": len({entry.resource for entry in plan.intake.consumed}),
        "units": len(plan.intake.placed),
        "candidates": len(plan.gathered.candidates),
        "rejected": words.count("reject"),
        "deferred": words.count("defer"),
        "compressed": words.count("compress"),
        "merged": words.count("merge"),
        "promoted": words.count("promote"),
        "memories_new": len(plan.made.creates),
        "memories_met_again": len(plan.made.updates),
        "memories_reworded": len(plan.made.rewords),
        "memories_retired": sum(len(step.changes) for step in retired),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "notes_new": len(noted.creates),
        "notes_grown": len(noted.rewords),
    }


def _judgements(plan: RunPlan) -> dict[str, Any]:
    """Return the judgements that a memory's file does not contain yet, by memory."""
    verdicts = {v.candidate_id: v for v in plan.verdicts}
    claims = {c.cluster_id: c for c in plan.claims}
    members = {g.cluster_id: g.candidates for g in plan.clusters}
    found: dict[str, Any] = {}
    for decision in plan.made.decisions:
        claim = claims[decision.cluster_id]
        judged = Judged(
            cluster=decision.cluster_id,
            disposition=decision.disposition,
            reason=decision.reason,
            rationale=claim.rationale,
            route=claim.route_rationale,
            freshness=claim.freshness_posture,
            confidence=claim.confidence_posture,
            scores=claim.scores.nonzero(),
            verdicts=tuple(
                JudgedCandidate(
                    candidate=c.candidate_id,
                    verdict=verdicts[c.candidate_id].verdict,
                    strength=verdicts[c.candidate_id].strength,
                    rationale=verdicts[c.candidate_id].rationale,
                )
                for c in members[decision.cluster_id]
            ),
        )
        found.setdefault(decision.memory_id, []).append(judged)
    return found


# -- notes of daily logs ---------------------------------------------------------------------------


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """New notes, extended notes, and notes that could not be stored, as (hash, reason) pairs."""

    creates: tuple[Memory, ...]
    rewords: tuple[Update, ...]
    quarantined: tuple[tuple[str, str], ...]


def capture(
    state: State, placed: Sequence[PlacedNote], standing: Iterable[NoteUnit], now: datetime
) -> Captured:
    """Turn note units in scope into notes.

    `standing` are all note units of the sources in scope. A section extends an existing note only
    if the note's recorded text is in none of them.
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


def _growing(
    state: State, standing: Iterable[NoteUnit], resources: Collection[str]
) -> dict[tuple[str, str], list[Memory]]:
    """Return active notes whose recorded text left its source, by (source, heading).

    Notes with the same heading are in line order, so they are matched in that order.
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
    return Memory(path=path, fields={k: v for k, v in fields.items() if v}, body=one.unit.text)


def _grow(old: Memory, one: PlacedNote, now: datetime) -> Update:
    former = old.sources[-1].text_hash
    return Update(
        id=old.id,
        fields={
            "generated": Stamp(by=OWN_ACTOR, at=now),
            "aliases": tuple(dict.fromkeys((*old.texts("aliases"), former))),
            "sources": (_note_source(one),),
        },
        body=one.unit.text,
    )
