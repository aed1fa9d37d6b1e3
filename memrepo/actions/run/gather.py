"""Gather the input of a run: a commit, its sources, new units and candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from memrepo.actions.run.guard import decided_in
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.run.judge_choice import watched
from memrepo.actions.run.known import Known
from memrepo.actions.run.overtake import StatementIndex, compared_in
from memrepo.actions.run.plan import Input, Nominee, RunPlan
from memrepo.actions.work import Work
from memrepo.core.memory import CLAIM_TYPES, Memory, of_types
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.merge.statements import leave_out, statements, text_key
from memrepo.policies.ageing import nominated
from memrepo.read.choice import Candidate, ShelfChoice, candidates_of, choose, shelf_size
from memrepo.read.intake import (
    Cursor,
    Intake,
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
from memrepo.store.ledger import ledger_of


def read_commit(work: Work, plan: RunPlan) -> RunPlan:
    """Return the plan with the commit to read, its configuration and a person's decisions."""
    state, (manifests, damaged) = work.tree.state(), work.tree.manifests
    return replace(
        plan,
        state=state,
        manifests=manifests,
        problems=(*state.problems, *damaged),
        config=work.config,
        decided=decided_in(work),
    )


def gather_sources(work: Work, plan: RunPlan) -> Input:
    """Return the candidates in the commit's sources and in notes that qualify for promotion."""
    nominees = _nominees(work, plan) if plan.mode == "incremental" else ()
    cursor = cursors(plan.manifests)
    read = watched(work.store.repo.read, work.call.tick)
    return gather(plan, texts_at(work, cursor), cursor, read, nominees)


def gather(
    plan: RunPlan,
    texts: Sequence[SourceText],
    cursor: Mapping[str, Cursor],
    read: Callable[[str], bytes],
    nominees: Sequence[Nominee] = (),
) -> Input:
    """Return the candidates in text that no run has consumed.

    This function is pure except for `read`, which loads blobs.
    """
    whole = plan.mode == "reconciliation"
    moves = find_moves(texts, cursor, read)
    moved = tuple(relocate(plan.state, moves))
    state = apply(plan.state, (change for step in moved for change in step.changes))
    reader = Reader(texts, read, state, whole=whole, size=plan.config.run.shelf)
    cursor = follow(moves, cursor)
    days = plan.config.source_rules().days
    intake = take_in(texts, cursor, reader, whole=whole, days=days, moves=moves)
    found = Input(
        texts=texts,
        intake=intake,
        state=state,
        moved=moved,
        nominees=without_repeats(state, nominees),
        cursor=cursor,
        known=Known(state, plan.now, reader),
        warnings=tuple(intake.problems),
    )
    if not (intake.consumed or intake.placed or nominees):
        return found  # nothing is new
    candidates = in_scope(state, intake, found.nominees, plan.index)
    choice = _choose(plan, found, candidates)
    return replace(
        found,
        reader=reader,
        candidates=candidates,
        choice=choice,
        warnings=(*found.warnings, *_shortened(intake, reader)),
        counts={"left": len(candidates) - len(choice.shelf)},
    )


def _choose(plan: RunPlan, given: Input, candidates: Sequence[Candidate]) -> ShelfChoice:
    """Choose the candidates that become memories without a model. The others remain in the sources.

    Some are always chosen: those that support a memory, replace such a line, were nominated, or
    change a memory.
    """
    always = {
        c.candidate_id
        for c in candidates
        if any(p.retrieved or p.changes for p in c.placed)
        or given.known.find_text(
            hash_ for p in c.placed for hash_ in (p.unit.text_hash, p.former) if hash_
        )
    }
    return choose(
        candidates,
        size=shelf_size(sum(bool(text.blob) for text in given.texts), plan.config.run.shelf),
        existing=len(of_types(plan.state.active, CLAIM_TYPES)),
        always=always,
        again=plan.mode == "reconciliation",
    )


def _shortened(intake: Intake, reader: Reader) -> Iterator[Problem]:
    """Yield a warning for each new unit or note from which a rejected statement was removed."""
    seen: set[tuple[str, int, str]] = set()
    new: list[Placed | PlacedNote] = [*intake.placed, *intake.notes]
    for one in new:
        stone = reader.left_out.get((one.unit.resource, one.unit.text_hash))
        place = (one.resource, one.unit.lines[0], stone.key if stone else "")
        if stone is not None and place not in seen:
            seen.add(place)
            what, fix = stone.why
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
        if note.user_marked or accesses.of(note.id).total
    ]
    found = []
    for one in nominated(notes, accesses, plan.now, work.config.rules.tiers):
        if plan.decided.isdisjoint((f"{one.note.id} promoted", f"{one.note.id} nominated")):
            path = one.note.path
            last = work.tree.files[path].rstrip(b"\n").count(b"\n") + 1
            first = last - one.note.body.strip().count("\n")
            found.append(Nominee(nomination=one, blob=work.tree.blobs[path], lines=(first, last)))
    return tuple(found)


def without_repeats(state: State, nominees: Sequence[Nominee]) -> tuple[Nominee, ...]:
    """Return the nominees, leaving out statements that active memories already contain."""
    claims = of_types(state.active, CLAIM_TYPES) if nominees else ()
    known = {text_key(m.body): m.id for m in claims}
    found = []
    for nominee in nominees:
        body = nominee.nomination.note.body.strip()
        repeated = [
            (one, known[key])
            for one in statements(body)
            for key in one.keys
            if key in known and not one.is_run
        ]
        if repeated:
            rest = leave_out(body, (one for one, _ in repeated))
            ids = tuple(dict.fromkeys(id_ for _, id_ in repeated))
            nominee = replace(nominee, stated_by=ids, rest=rest)
        found.append(nominee)
    return tuple(found)


def in_scope(
    state: State,
    intake: Intake,
    nominees: Sequence[Nominee] = (),
    index: StatementIndex | None = None,
) -> list[Candidate]:
    """Return the candidates of this run: new units, and nominated notes.

    A nominated note is always judged, because its retrieval counts are new information.
    """
    placed = tuple(intake.placed)
    if not intake.whole:
        placed = _with_changes(state, placed, index or StatementIndex())
    nominated = tuple(nominee.placed() for nominee in nominees if nominee.text)
    return candidates_of([*placed, *nominated])


def _with_changes(
    state: State, placed: tuple[Placed, ...], index: StatementIndex
) -> tuple[Placed, ...]:
    """Return the units, marking those that change a memory.

    They are always judged, whatever their rank, also in a daily log.
    """
    if not placed:  # common case: avoid tokenising all statements
        return ()
    index.follow(compared_in(state))
    found = []
    for one in placed:
        fields = {"sources": (one.source(),), "context": " › ".join(one.unit.headings) or None}
        claim = Memory.of("", fields, body=one.unit.text)
        changed = index.changed(claim).items()
        ids = sorted(id_ for id_, change in changed if change.newer != "second")
        found.append(replace(one, changes=tuple(ids)) if ids else one)
    return tuple(found)
