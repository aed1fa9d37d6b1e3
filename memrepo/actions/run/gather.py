"""Gather the input of a run: a commit, its sources, new units and candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.actions.run.candidates import Nominee, in_scope, without_repeats
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.run.judge_choice import pair_judge, watched
from memrepo.actions.run.known import Marks
from memrepo.actions.run.plan import RunPlan
from memrepo.actions.work import Work
from memrepo.core.judge import Usage
from memrepo.core.manifest import Receipt
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.core.problems import Problem
from memrepo.core.state import apply
from memrepo.merge.tombstones import describe_bar
from memrepo.policies.ageing import nominated
from memrepo.policies.matching import Near, Query
from memrepo.read.intake import (
    Cursor,
    Placed,
    Reader,
    SourceText,
    cursors,
    find_moves,
    follow,
    relocate,
    take_in,
)
from memrepo.read.notes import PlacedNote
from memrepo.read.shelf import choose, shelf_size
from memrepo.store.ledger import ledger_of
from memrepo.store.tree import read_blob

if TYPE_CHECKING:
    from memrepo.store.index import Index

PROPOSED = 100
"""Number of similar memories the index proposes for one cluster."""


def read_commit(work: Work, plan: RunPlan) -> None:
    """Complete the plan with the commit to read and its configuration."""
    config = work.config
    plan.state = work.tree.state()
    plan.manifests, damaged = work.tree.manifests
    plan.problems = (*plan.state.problems, *damaged)
    plan.zone, plan.profile = config.zone, config.profile
    plan.days, plan.shelf = config.source_rules().days, config.get("run.shelf")
    plan.learn, plan.by_object = config.get("run.learn"), config.get("reuse.object")
    plan.contradictions, plan.comparer = config.contradictions, pair_judge(work, plan.judge)
    plan.near = _near(work)


def gather_sources(work: Work, plan: RunPlan) -> None:
    """Gather candidates from the commit's sources and from notes that qualify for promotion."""
    nominees = _nominees(work, plan) if plan.mode == "incremental" else ()
    cursor = cursors(plan.manifests)
    read = watched(partial(read_blob, work.store.repo), work.call.tick)
    gather(plan, texts_at(work, cursor), cursor, read, nominees)


def gather(
    plan: RunPlan,
    texts: Sequence[SourceText],
    cursor: Mapping[str, Cursor],
    read: Callable[[str], bytes],
    nominees: Sequence[Nominee] = (),
) -> None:
    """Complete the plan with candidates from text that no run has consumed.

    This function is pure except for `read`, which loads blobs.
    """
    whole = plan.mode == "reconciliation"
    moves = find_moves(texts, cursor, read)
    plan.moved = tuple(relocate(plan.state, moves))
    state = apply(plan.state, (change for step in plan.moved for change in step.changes))
    reader = Reader(texts, read, state, whole=whole, size=plan.shelf, learn=plan.learn)
    cursor = follow(moves, cursor)
    intake = take_in(texts, cursor, reader, whole=whole, days=plan.days, moves=moves)
    plan.texts, plan.intake = texts, intake
    plan.receipt = Receipt(usage=plan.stored.unbilled if plan.stored else Usage())
    plan.warnings = tuple(intake.problems)
    plan.marks = Marks(state.memories)
    plan.nominees = without_repeats(state, nominees)
    plan.previously = lambda resource: reader.held(resource, cursor.get(resource, Cursor()).last)
    if not (intake.consumed or intake.placed or nominees):
        return  # nothing is new
    plan.reader, plan.follows = reader, state
    plan.gathered = in_scope(
        state,
        intake,
        texts,
        reader,
        nominees=plan.nominees,
        include_rejected=plan.is_upgrade,
        similar=plan.statements,
    )
    plan.warnings += tuple(_shortened(plan, reader))
    count = len(plan.gathered.candidates)
    _put_on_shelf(plan)
    plan.counts = {
        "left": count - len(plan.gathered.candidates),
        "rejected_before": plan.gathered.rejected,
        "came_back": plan.gathered.came_back,
    }


def _put_on_shelf(plan: RunPlan) -> None:
    """Select the candidates to judge now. The others remain in their sources.

    Some candidates are always judged: those that support a memory, replace such a line, were
    nominated, or change a memory. A candidate that returned because of its context is judged with
    the new text, but only a model chooses it: its rank is what it was when it was deferred.
    """
    gathered, marks = plan.gathered, plan.marks
    always = {
        c.candidate_id
        for c in gathered.candidates
        if c.retrieved
        or c.changes
        or any(marks.with_hash(source.text_hash) for source in c.sources)
        or any(marks.with_hash(h) for _, h in gathered.former.get(c.candidate_id, ()))
    }
    returned = gathered.by_context - always
    choice = choose(
        [c for c in gathered.candidates if c.candidate_id not in returned],
        size=shelf_size(sum(bool(text.blob) for text in plan.texts), plan.shelf),
        existing=len(of_types(plan.state.active, CLAIM_TYPES)),
        always=always,
    )
    asked = tuple(
        replace(
            c,
            chosen=c.candidate_id in choice.shelf,
            same_as=choice.same.get(c.candidate_id, ""),
        )
        for c in gathered.candidates
        if c.candidate_id in choice.shelf | choice.next_best | returned
    )
    plan.gathered = replace(gathered, candidates=asked)


def _shortened(plan: RunPlan, reader: Reader) -> Iterator[Problem]:
    """Yield a warning for each new unit or note from which a rejected statement was removed."""
    seen: set[tuple[str, int, str]] = set()
    new: list[Placed | PlacedNote] = [*plan.intake.placed, *plan.intake.notes]
    for one in new:
        key = reader.left_out.get((one.unit.resource, one.unit.text_hash), "")
        place = (one.resource, one.unit.lines[0], key)
        if key and place not in seen:
            seen.add(place)
            what, fix = describe_bar(key)
            rule = "rejected" if what.startswith("rejected") else "corrected"
            yield Problem(
                path=one.resource,
                line=one.unit.lines[0],
                rule=f"{rule}-left-out",
                severity="warning",
                message=f"a statement here was {what}: it is left out, the rest is used",
                fix=fix,
            )


def _nominees(work: Work, plan: RunPlan) -> tuple[Nominee, ...]:
    """Return the notes that qualify for promotion, unless a person reverted their nomination."""
    accesses = ledger_of(work.store).accesses()
    notes = [
        note
        for note in of_types(plan.state.active, ("note",))
        if note.flag("user_marked") or accesses.of(note.id).total
    ]
    over = {part for p in plan.decided if p.startswith("nominate:") for part in p[9:].split("+")}
    found = []
    for one in nominated(notes, accesses, plan.now, work.config.rules.tiers):
        if one.note.id not in over:
            path = one.note.path
            last = work.tree.files[path].rstrip(b"\n").count(b"\n") + 1
            first = last - one.note.body.strip().count("\n")
            found.append(Nominee(nomination=one, blob=work.tree.blobs[path], lines=(first, last)))
    return tuple(found)


def _near(work: Work) -> Near:
    """Return a function that searches the index for memories similar to a query."""

    @cache
    def index() -> Index:
        from memrepo.actions.recall.recall import index_of

        return index_of(work, edits=False)

    def near(query: Query) -> list[str]:
        from memrepo.store.corpus import Filter

        words = sorted(query.words | query.subject_words | query.entities)
        return index().near(words, Filter(types=CLAIM_TYPES, limit=PROPOSED))

    return near
