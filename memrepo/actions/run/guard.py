"""Proposals that wait for review: removals, and decisions reverted or rejected before.

Additions are committed, removals may have to wait. A pending removal is recorded in the manifest of
the run that found it, so it survives in clones and later runs. It is proposed again until a
manifest records a decision.

An exact match of a rejection is dropped, and a similar one waits for review. Decisions that a
person reverted wait as well. All are identified by fingerprint: operation, memories and proposed
text. Equal proposals have equal fingerprints in every run. A dependent decision is treated like the
decision it needs. Secrets are excluded where commits are built (`actions.guard`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import replaced_pair
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.run.known import Former, Known, Marks
from memrepo.actions.run.plan import Draft, RunPlan, SplitSteps
from memrepo.actions.run.retire import retire
from memrepo.actions.work import Work
from memrepo.core.changes import (
    BULK_OPS,
    Change,
    Create,
    Step,
    Update,
    fingerprints,
    prints_of,
)
from memrepo.core.manifest import CARRIED, Removal, open_removals
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.merge.statements import contains
from memrepo.merge.tombstones import (
    Corrected,
    Tombstone,
    Tombstones,
    corrected_in,
    describe_bar,
    tombstones_in,
)
from memrepo.policies.upkeep import interlock, losses
from memrepo.read.intake import Reader, cursors
from memrepo.store import history
from memrepo.store.history import LogEntry
from memrepo.store.tree import read_blob

# -- decisions of a person: reverted, left out, refused, rejected ---------------------------------


def read_decisions(work: Work, plan: RunPlan) -> None:
    """Read the decisions that a person made about earlier runs, as fingerprints."""
    plan.reverted = reverted_prints(work)
    plan.left_out = frozenset[str]().union(*(m.offered for m in plan.manifests))
    plan.refused = frozenset[str]().union(*(m.refused for m in plan.manifests))


def keep_rejected_out(plan: RunPlan) -> None:
    """Remove rejected proposals from the steps. Hold back similar and formerly reverted ones."""
    whole = plan.mode == "reconciliation"
    left_out = plan.reader.left_out if plan.reader else {}
    steps, problems, bars = bar_rejected(plan.state, plan.steps, left_out, whole=whole)
    if bars.dropped:
        plan.counts = {**plan.counts, "barred": len(bars.dropped)}
    plan.warnings += problems
    plan.split = split_steps(
        steps,
        plan.reverted,
        bars.dropped | plan.refused,
        similar=bars.held,
        offered=plan.left_out,
    )
    plan.steps = plan.split.kept
    plan.refused |= bars.dropped


COMPOSED = ("promote", "demote")
"""Operations that every run computes again. Reverting a run does not decide about them."""


def reverted_prints(work: Work) -> frozenset[str]:
    """Return the fingerprints of decisions that were reverted and are not in effect again.

    A revert by memrepo lists them. A revert by git removes the manifest of a run. If git restored a
    manifest that a revert had removed, that revert no longer counts.
    """
    found: set[str] = set()
    repo, head, layout = work.store.repo, work.tree.commit, work.tree.layout
    removed = history.manifest_removals(repo, head, layout)
    void = frozenset(e.commit for e in removed if work.tree.blobs.keys() >= {*e.paths})
    for commit, gone in history.reverted_memories(repo, head, void).items():
        chain = history.chain_of(repo, commit)
        named = {id_ for entry in chain for id_ in entry.trailers.get("Memory", ())}
        is_whole = len(chain) > 1 and gone >= named
        for entry in chain:
            if not is_whole or entry.op not in COMPOSED:
                found |= _prints(work, entry, gone)
    for entry in _reverted_by_git(work, removed, void):
        if entry.op not in COMPOSED:
            found |= _prints(work, entry, None)
    return frozenset(found)


def _reverted_by_git(
    work: Work, removed: Collection[LogEntry], void: Collection[str]
) -> Iterator[LogEntry]:
    """Yield the steps of runs whose manifests were removed by commits other than reverts."""
    repo, layout = work.store.repo, work.tree.layout
    for entry in removed:
        if entry.op == "revert" or entry.commit in void:
            continue
        before = work.store.snapshot(work.store.parents(entry.commit)[0])
        away = {history.run_of(path) for path in entry.paths if path not in work.tree.blobs}
        for landing in history.landings(repo, before.commit, layout, before.blobs):
            if landing.run in away:
                yield from landing.steps(repo)


def _prints(work: Work, entry: LogEntry, gone: Collection[str] | None) -> frozenset[str]:
    """Return the fingerprints of a commit's decisions about some memories (None: about all)."""
    ids = entry.trailers.get("Memory", ())
    if not ids and len(entry.parents) == 1 and entry.op in ("edit", "run"):
        return _prints_between(work, entry, gone)
    mine = [id_ for id_ in ids if gone is None or id_ in gone]
    if not mine:
        return frozenset()
    if entry.op not in BULK_OPS:
        return fingerprints(entry.op, ids, entry.prints)
    return fingerprints(entry.op, mine, [p for p in entry.prints if p.split(":")[1] in mine])


def _prints_between(work: Work, entry: LogEntry, gone: Collection[str] | None) -> frozenset[str]:
    """Return fingerprints for a whole run that was squashed into one commit without trailers."""
    changed = work.store.work.changed(entry.parents[0], entry.commit)
    if not work.tree.layout.memory_files(changed):
        return frozenset()
    before, after = (work.store.snapshot(c).state() for c in (entry.parents[0], entry.commit))
    by_id = prints_between(before, after).items()
    return frozenset().union(*(found for id_, found in by_id if gone is None or id_ in gone))


# -- removals --------------------------------------------------------------------------------------


def hold_removals(work: Work, plan: RunPlan) -> None:
    """Hold back the removals of a run if there are too many.

    Removals that are already pending remain pending, unless a limit was given explicitly for this
    run.
    """
    state, limit = plan.state, plan.max_change_pct
    changes = [change for step in plan.steps for change in step.changes]
    why = "; ".join(filter(None, (interlock(state, changes, limit), *plan.intake.alarms)))
    stays, held = split_removals(state, plan.steps) if why else (plan.steps, ())
    before, causes = _carried(work, plan, state_after(state, (*stays, *held)))
    if before and plan.has_own_limit and not (why or plan.only_waiting):
        more = [change for step in (*stays, *before) for change in step.changes]
        if not interlock(state, more, limit):
            plan.steps, plan.landed_removals = (*stays, *before), on_record(before, "")
            return
    plan.steps, plan.removals = stays, (*before, *held)
    plan.removal_reasons = (*causes, why)
    plan.new_removals = on_record(held, why)


def _carried(work: Work, plan: RunPlan, state: State) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return pending removals that no person has refused, and the reasons why they are pending."""
    removals = open_removals(plan.manifests)
    if not removals:
        return (), ()
    texts = texts_at(work, cursors(plan.manifests))
    reader = Reader(texts, lambda blob: read_blob(work.store.repo, blob))
    steps, causes = carry_removals(state, removals, reader, plan.now, "pending")
    return split_steps(steps, frozenset(), plan.decided).kept, causes


def hold_later_removals(plan: RunPlan, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the later steps of a run, holding back their removals if there are now too many."""
    changes = [change for step in (*plan.steps, *steps) for change in step.changes]
    why = interlock(plan.state, changes, plan.max_change_pct)
    held = [step for step in steps if why and losses(plan.state, step.changes)]
    if held:
        plan.removals += tuple(held)
        plan.removal_reasons += (why,)
        plan.new_removals += on_record(held, why)
    return tuple(step for step in steps if step not in held)


def state_after(state: State, steps: Sequence[Step]) -> State:
    """Return the state after the given steps."""
    return apply(state, (change for step in steps for change in step.changes))


def wait_for_review(work: Work, plan: RunPlan, main: Draft) -> Draft:
    """Return the draft, marked as pending if it is a reconciliation that needs review."""
    decides = any(step.op not in ("view", "run") for step in main.steps)
    if plan.mode != "reconciliation" or not decides:
        return main
    why = "a reconciliation is reviewed before it takes effect"
    if work.config.get("run.reconciliation") == "land":
        changes = (change for step in main.steps for change in step.changes)
        why = interlock(plan.state, changes, plan.max_change_pct)
    return replace(main, wait=why)


def split_removals(
    state: State, steps: Sequence[Step]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps to commit, and the steps that remove active memories."""
    removing = tuple(s for s in steps if can_wait(s) and losses(state, s.changes))
    return tuple(s for s in steps if s not in removing), removing


def can_wait(step: Step) -> bool:
    """Return whether a step can be carried over to later runs. Only such steps are held back."""
    return step.op in CARRIED and (step.op == "retire" or len(step.memory_ids) == 2)


def on_record(steps: Iterable[Step], why: str) -> tuple[Removal, ...]:
    """Return pending steps as records for the manifest, with one removal per decision."""
    return tuple(
        Removal(op=step.op, memories=ids, reason=step.reason, why=why)
        for step in filter(can_wait, steps)
        for ids in (
            [step.memory_ids] if step.op == "supersede" else [(id_,) for id_ in step.memory_ids]
        )
    )


def prints_in(steps: Iterable[Step]) -> frozenset[str]:
    """Return the fingerprints of all decisions in the given steps."""
    found: set[str] = set()
    for step in steps:
        prints = [p for change in step.changes for p in prints_of(step.op, change)]
        found |= fingerprints(step.op, step.memory_ids, prints if step.op in BULK_OPS else ())
    return frozenset(found)


def carry_removals(
    state: State, removals: Sequence[Removal], reader: Reader, now: datetime, run: str
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return steps for those pending removals that still apply, and why they are pending.

    A removal no longer applies if the line is back, if a person confirmed the memory, or if it left
    recall otherwise.
    """
    memories = state.memories
    retiring = {
        r.memories[0]
        for r in removals
        if r.op == "retire" and (memory := memories.get(r.memories[0])) is not None
        if not any(stamp.by.startswith("human:") for stamp in memory.fields.get("verified", ()))
    }
    steps = [*retire(state, None, reader, (), run, now, among=retiring)]
    pairs = [
        r
        for r in removals
        if r.op == "supersede"
        if all(i in memories and memories[i].status == "active" for i in r.memories)
    ]
    if pairs:
        former = Former(standing=reader.standing, holding=reader.holding)
        known = Known(state=state, former=former, now=now, marks=Marks(memories))
        made = (replaced_pair(known, r.memories[1], r.memories[0], r.reason) for r in pairs)
        steps += [step for step in made if step is not None]
    due = {(step.op, id_) for step in steps for id_ in step.memory_ids}
    why = (r.why for r in removals if (r.op, r.memories[0]) in due)
    return tuple(steps), tuple(dict.fromkeys(filter(None, why)))


# -- rejected and corrected statements -------------------------------------------------------------

_STATEMENT_FIELDS = ("subject", "predicate", "object", "scope")


class Bars(msgspec.Struct, frozen=True, kw_only=True):
    """The fingerprints of proposals to drop, and those of proposals to review."""

    dropped: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()


def bar_rejected(
    state: State,
    steps: Sequence[Step],
    left_out: Mapping[tuple[str, str], str],
    *,
    whole: bool,
) -> tuple[tuple[Step, ...], tuple[Problem, ...], Bars]:
    """Return the steps without rejected statements, with the problems and barred fingerprints.

    `left_out` maps a source text to the tombstone that shortened its unit. `whole` marks a
    reconciliation, which also reads corrected statements that are still in their sources.
    """
    stones = tombstones_in(state)
    corrected = corrected_in(state) if steps else None
    if not (stones or corrected):
        return tuple(steps), stones.problems, Bars()
    dropped: set[str] = set()
    held: set[str] = set()
    problems: list[Problem] = []
    found: list[Step] = []
    for step in steps:
        changes = []
        for change in step.changes:
            memory = _stating(state, change)
            if memory is not None:
                change, memory = _shortened(stones, change, memory)
                rule, what = "rejected", "left out: it says"
                prints = prints_of(step.op, change)
                stone = _correcting(corrected, memory, whole) if corrected else None
                if stone is not None:
                    rule = "corrected"
                stone = stone or stones.bar(memory)
                if stone is not None:
                    dropped |= prints
                    problems.append(_problem(memory, stone, f"{rule}-left-out", what))
                elif stone := stones.near(memory) or _repeats_left_out(stones, memory, left_out):
                    held |= prints
                    what = "waits for review: it is close to"
                    problems.append(_problem(memory, stone, "rejected-similar", what))
            changes.append(change)
        found.append(replace(step, changes=tuple(changes)))
    bars = Bars(dropped=frozenset(dropped), held=frozenset(held))
    return tuple(found), (*stones.problems, *problems), bars


def _stating(state: State, change: Change) -> Memory | None:
    """Return the memory to which a change gives a new statement, after the change, or None."""
    match change:
        case Create(memory=memory):
            return memory
        case Update(id=id_, fields=fields, body=body):
            old = state.memories.get(id_)
            is_stated = body is not None or not fields.keys().isdisjoint(_STATEMENT_FIELDS)
            if is_stated and old is not None and old.status != "forgotten":
                return old.with_fields(fields, body)
    return None


def _shortened(stones: Tombstones, change: Change, memory: Memory) -> tuple[Change, Memory]:
    """Return a change and its memory without the rejected parts of the memory's text."""
    update = stones.shortening(memory) if stones.bar_whole(memory) is None else None
    if update is None or update.body is None:
        return change, memory
    shorter = memory.with_fields(update.fields, update.body)
    match change:
        case Create():
            return replace(change, memory=shorter), shorter
        case Update(fields=fields):
            return replace(change, fields={**fields, **update.fields}, body=update.body), shorter
        case _:
            return change, shorter


def _correcting(corrected: Corrected, memory: Memory, whole: bool) -> Tombstone | None:
    """Return the correction that bars a new memory's text wherever it occurs, or None.

    Memories without sources, such as those written by a person, are never barred.
    """
    stone = corrected.bar_whole(memory) if memory.sources else None
    if stone is None:
        return None
    dated = (
        (s.resource, "" if s.captured_from == "commit" else s.captured) for s in memory.sources
    )
    return stone if all(corrected.binds(stone, *place, whole=whole) for place in dated) else None


def _repeats_left_out(
    stones: Tombstones, memory: Memory, left_out: Mapping[tuple[str, str], str]
) -> Tombstone | None:
    """Return the tombstone that shortened a memory's source, if the memory repeats its words."""
    hashes = {s.text_hash for s in memory.sources} if not memory.is_note else set()
    keys = (key for (_, text), key in left_out.items() if text in hashes)
    found = (stone for key in keys if (stone := stones.found.get(key)) is not None)
    return next((stone for stone in found if contains(stone.tokens, memory.body)), None)


def _problem(memory: Memory, stone: Tombstone, rule: str, what: str) -> Problem:
    how, fix = describe_bar(stone.key)
    return Problem(
        path=memory.path,
        rule=rule,
        severity="warning",
        message=f"{memory.id} {what} what was {how}",
        fix=fix,
    )


# -- fingerprints ----------------------------------------------------------------------------------

_RESTING = {"archived": "archive", "forgotten": "forget"}


def prints_between(before: State, after: State) -> dict[str, frozenset[str]]:
    """Return every fingerprint that decisions between two states could have, by memory.

    This is for changes without recorded decisions. An extra fingerprint does no harm.
    """
    found: dict[str, frozenset[str]] = {}
    for id_ in {*before.memories, *after.memories}:
        old, new = before.memories.get(id_), after.memories.get(id_)
        if old is new or old == new:
            continue
        if old is None or new is None:
            found[id_] = fingerprints("create" if old is None else "prune", (id_,))
            continue
        fields = {k: v for k, v in new.fields.items() if old.fields.get(k) != v}
        update = Update(id=id_, fields=fields, body=new.body if new.body != old.body else None)
        prints = {p for op in BULK_OPS for p in prints_of(op, update)}
        for other in fields.get("superseded_by", ()):
            prints |= fingerprints("supersede", (id_, other))
        if fields.get("status") in _RESTING:
            prints |= fingerprints(_RESTING[fields["status"]], (id_,))
        found[id_] = frozenset(prints)
    return found


REVERTED = "the same changes were reverted before"
LEFT_OUT = "it was left out when a run was accepted"
SIMILAR = "its text is similar to a rejected statement"


def split_steps(
    steps: Sequence[Step],
    reverted: frozenset[str],
    refused: frozenset[str] = frozenset(),
    *,
    similar: frozenset[str] = frozenset(),
    offered: frozenset[str] = frozenset(),
) -> SplitSteps:
    """Split steps by fingerprint into committed and pending steps. Refused ones are left out.

    Reverted decisions, texts `similar` to rejected ones, and decisions `offered` again become
    pending. A decision that needs a pending or refused memory is treated like that memory.
    """
    rest, out = _split_by_print(steps, refused)
    # The judgement of a note remains, even if the resulting memory was refused.
    rest += tuple(replace(s, memories=()) for s in out if s.op == "nominate")
    kept, held = _split_by_print(rest, reverted | similar | offered)
    others, alike = _split_by_print(held, similar)
    others, again = _split_by_print(others, offered - reverted)
    causes = ((alike, SIMILAR), (others, REVERTED), (again, LEFT_OUT))
    held_ids, refused_ids = (
        frozenset(id_ for s in some if s.op == "create" for id_ in s.memory_ids)
        for some in (held, out)
    )
    return SplitSteps(
        kept=_without_duplicate_marks(kept, held_ids | refused_ids),
        held=_without_duplicate_marks(held, refused_ids),
        open_ids=held_ids | {id_ for step in held for id_ in step.memory_ids},
        why="; ".join(why for some, why in causes if some),
    )


def _split_by_print(
    steps: Sequence[Step], prints: frozenset[str]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Split steps into those to keep and those excluded by fingerprint or by memory."""
    stay: list[Step] = []
    leave: list[Step] = []
    left: set[str] = set()
    for step in steps:
        if step.op in BULK_OPS:
            excluded = [c for c in step.changes if prints_of(step.op, c) & prints]
            left |= {c.memory.id for c in excluded if isinstance(c, Create)}
            others = [c for c in step.changes if c not in excluded] if excluded else step.changes
            for target, changes in ((stay, others), (leave, excluded)):
                target += [replace(step, changes=tuple(changes))] if changes else []
        elif fingerprints(step.op, step.memory_ids) & prints or left & set(step.memory_ids):
            leave.append(step)
        else:
            stay.append(step)
    return tuple(stay), tuple(leave)


def _without_duplicate_marks(steps: tuple[Step, ...], left: frozenset[str]) -> tuple[Step, ...]:
    """Remove marks of duplicates that refer to memories that will not be created."""

    def without_mark(change: Change) -> Change:
        if not isinstance(change, Create) or change.memory.text("duplicate_of") not in left:
            return change
        fields: dict[str, None] = {"duplicate_of": None}
        if change.memory.standing == "probable_duplicate":
            fields["standing"] = None
        return Create(memory=change.memory.with_fields(fields))

    return tuple(replace(s, changes=tuple(map(without_mark, s.changes))) for s in steps)
