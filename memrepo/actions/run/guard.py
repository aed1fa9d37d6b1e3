"""Limits on a run: ownership, decisions that a person reverted or rejected, many removals.

If `run.owner` is set, only that clone runs. The others capture, recall and sync. After an upgrade
of the logic, a run needs an acknowledgement. Secrets are excluded where commits are built
(`actions.guard`), and budgets are checked before each question (`judges.budget`).
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
    Delete,
    Remove,
    Step,
    Update,
    Write,
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
    steps, problems, bars = barred(plan.state, plan.steps, left_out, whole=whole)
    if bars.dropped:
        plan.counts = {**plan.counts, "barred": len(bars.dropped)}
    plan.warnings += problems
    plan.parted = split_steps(
        steps,
        plan.reverted,
        bars.dropped | plan.refused,
        similar=bars.held,
        offered=plan.left_out,
    )
    plan.steps = plan.parted.kept
    plan.refused |= bars.dropped


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
        for entry in history.chain_of(repo, commit):
            found |= _prints(work, entry, gone)
    for entry in _reverted_by_git(work, removed, void):
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
    before, causes = _carried(work, plan, played(state, (*stays, *held)))
    if before and plan.has_own_limit and not why:
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
    steps, causes = carried(state, removals, reader, plan.now, "pending")
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


def played(state: State, steps: Sequence[Step]) -> State:
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
    takes = [can_wait(step) and bool(losses(state, step.changes)) for step in steps]
    adding = tuple(s for s, taking in zip(steps, takes, strict=True) if not taking)
    return adding, tuple(s for s, taking in zip(steps, takes, strict=True) if taking)


def can_wait(step: Step) -> bool:
    """Return whether a step can be carried over to later runs. Only such steps are held back."""
    return step.op in CARRIED and (step.op == "retire" or len(step.memory_ids) == 2)


def on_record(steps: Iterable[Step], why: str) -> tuple[Removal, ...]:
    """Return pending steps as records for the manifest, with one removal per decision."""
    found: list[Removal] = []
    for step in filter(can_wait, steps):
        if step.op == "supersede":
            found.append(Removal(op=step.op, memories=step.memory_ids, reason=step.reason, why=why))
        else:
            found += [
                Removal(op=step.op, memories=(id_,), reason=step.reason, why=why)
                for id_ in step.memory_ids
            ]
    return tuple(found)


def prints_in(steps: Iterable[Step]) -> frozenset[str]:
    """Return the fingerprints of all decisions in the given steps."""
    found: set[str] = set()
    for step in steps:
        prints = [p for change in step.changes for p in prints_of(step.op, change)]
        found |= fingerprints(step.op, step.memory_ids, prints if step.op in BULK_OPS else ())
    return frozenset(found)


def carried(
    state: State,
    removals: Sequence[Removal],
    reader: Reader,
    now: datetime,
    run: str,
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return steps for those pending removals that still apply, and why they are pending.

    A removal no longer applies if the line is back, if a person confirmed the memory, or if it left
    recall otherwise.
    """
    there = state.memories
    retiring = {
        removal.memories[0]
        for removal in removals
        if removal.op == "retire" and (memory := there.get(removal.memories[0])) is not None
        if not any(stamp.by.startswith("human:") for stamp in memory.fields.get("verified", ()))
    }
    steps = [*retire(state, None, reader, (), run, now, among=retiring)]
    pairs = [
        removal
        for removal in removals
        if removal.op == "supersede"
        if all(i in there and there[i].status == "active" for i in removal.memories)
    ]
    if pairs:
        former = Former(standing=reader.standing, holding=reader.holding)
        known = Known(state=state, former=former, now=now, marks=Marks(state.memories))
        made = (replaced_pair(known, r.memories[1], r.memories[0], r.reason) for r in pairs)
        steps += [step for step in made if step is not None]
    due = {(step.op, id_) for step in steps for id_ in step.memory_ids}
    why = (r.why for r in removals if (r.op, r.memories[0]) in due)
    return tuple(steps), tuple(dict.fromkeys(filter(None, why)))


_STATEMENT_FIELDS = ("subject", "predicate", "object", "scope")


class Bars(msgspec.Struct, frozen=True, kw_only=True):
    """The fingerprints of proposals to drop, and those of proposals to review."""

    dropped: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()


def barred(
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
    steps = tuple(steps)
    stones = tombstones_in(state)
    corrected = corrected_in(state) if steps else None
    if not (stones or corrected):
        return steps, stones.problems, Bars()
    dropped: set[str] = set()
    held: set[str] = set()
    told: list[Problem] = []
    shorter: dict[int, Change] = {}
    for op, change, memory in _news(state, steps):
        said, update = memory, None
        if stones.bar_whole(memory) is None:
            update = stones.shortening(memory)
        if update is not None and update.body is not None:
            change = shorter[id(change)] = _with_body(change, update)
            said = memory.with_fields(update.fields, update.body)
        if stone := _corrected(corrected, said, whole) if corrected else None:
            dropped |= prints_of(op, change)
            told.append(_left_out_problem(memory, stone, "corrected-left-out", "left out: it says"))
        elif stone := stones.bar(said):
            dropped |= prints_of(op, change)
            told.append(_left_out_problem(memory, stone, "rejected-left-out", "left out: it says"))
        elif stone := stones.near(said) or _repeats_left_out(stones, said, left_out):
            held |= prints_of(op, change)
            what = "waits for review: it is close to"
            told.append(_left_out_problem(memory, stone, "rejected-similar", what))
    if shorter:
        steps = tuple(
            replace(step, changes=tuple(shorter.get(id(c), c) for c in step.changes))
            for step in steps
        )
    bars = Bars(dropped=frozenset(dropped), held=frozenset(held))
    return steps, (*stones.problems, *told), bars


def _corrected(corrected: Corrected, memory: Memory, whole: bool) -> Tombstone | None:
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


def _with_body(change: Change, update: Update) -> Change:
    match change:
        case Create(memory=memory):
            return replace(change, memory=memory.with_fields(update.fields, update.body))
        case Update(fields=fields):
            return replace(change, fields={**fields, **update.fields}, body=update.body)
        case _:
            return change


def _repeats_left_out(
    stones: Tombstones, memory: Memory, left_out: Mapping[tuple[str, str], str]
) -> Tombstone | None:
    """Return the tombstone that shortened a memory's source, if the memory repeats its words."""
    if memory.is_note:
        return None
    for source in memory.sources:
        for (_, text), key in left_out.items():
            stone = stones.found.get(key) if text == source.text_hash else None
            if stone is not None and contains(stone.tokens, memory.said):
                return stone
    return None


def _news(state: State, steps: Sequence[Step]) -> Iterator[tuple[str, Change, Memory]]:
    """Yield (operation, change, memory) for each change that gives a memory a new statement."""
    for step in steps:
        for change in step.changes:
            match change:
                case Create(memory=memory):
                    yield step.op, change, memory
                case Update(id=id_, fields=fields, body=body):
                    old = state.memories.get(id_)
                    if old is None or old.status == "forgotten":
                        continue
                    if body is not None or not fields.keys().isdisjoint(_STATEMENT_FIELDS):
                        yield step.op, change, old.with_fields(fields, body)
                case Remove() | Write() | Delete():
                    pass


def _left_out_problem(memory: Memory, stone: Tombstone, rule: str, what: str) -> Problem:
    how, way = describe_bar(stone.key)
    return Problem(
        path=memory.path,
        rule=rule,
        severity="warning",
        message=f"{memory.id} {what} what was {how}",
        fix=way,
    )


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
        prints |= {p for other in fields.get("superseded_by", ()) for p in _pair_prints(id_, other)}
        if fields.get("status") in _RESTING:
            prints |= fingerprints(_RESTING[fields["status"]], (id_,))
        found[id_] = frozenset(prints)
    return found


_RESTING = {"archived": "archive", "forgotten": "forget"}


def _pair_prints(one: str, other: str) -> frozenset[str]:
    return fingerprints("supersede", (one, other))


REVERTED = "the same changes were reverted before"

LEFT_OUT = "it was left out when a run was accepted"

SIMILAR = "what it says is close to what was rejected"


def split_steps(
    steps: Sequence[Step],
    taken_back: frozenset[str],
    refused: frozenset[str] = frozenset(),
    *,
    similar: frozenset[str] = frozenset(),
    offered: frozenset[str] = frozenset(),
) -> SplitSteps:
    """Split steps by fingerprint into kept, pending and refused steps.

    Reverted decisions, texts `similar` to rejected ones, and decisions `offered` again become
    pending. A decision that needs a pending or refused memory is treated like that memory.
    """
    rest, out = _split_by_print(steps, refused)
    # The judgement of a note remains, even if the resulting memory was refused.
    rest += tuple(replace(s, memories=()) for s in out if s.op == "nominate")
    kept, held = _split_by_print(rest, taken_back | similar | offered)
    others, alike = _split_by_print(held, similar)
    others, again = _split_by_print(others, offered - taken_back)
    causes = ((alike, SIMILAR), (others, REVERTED), (again, LEFT_OUT))
    why = [said for steps, said in causes if steps]
    held_ids, refused_ids = _created(held), _created(out)
    return SplitSteps(
        kept=_without_twins(kept, held_ids | refused_ids),
        held=_without_twins(held, refused_ids),
        refused=out,
        held_ids=held_ids,
        refused_ids=refused_ids,
        why="; ".join(why),
    )


def _split_by_print(
    steps: Sequence[Step], prints: frozenset[str]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Split steps into those to keep and those excluded by fingerprint or by memory."""
    stay: list[Step] = []
    leave: list[Step] = []
    gone: set[str] = set()
    for step in steps:
        if step.op in BULK_OPS:
            hit = [bool(prints_of(step.op, c) & prints) for c in step.changes]
            out = [c for c, yes in zip(step.changes, hit, strict=True) if yes]
            stay += _some(step, [c for c, yes in zip(step.changes, hit, strict=True) if not yes])
            leave += _some(step, out)
            gone |= {id_ for change in out if isinstance(change, Create) for id_ in _ids(change)}
        elif fingerprints(step.op, step.memory_ids) & prints or gone & set(step.memory_ids):
            leave.append(step)
        else:
            stay.append(step)
    return tuple(stay), tuple(leave)


def _without_twins(steps: tuple[Step, ...], gone: frozenset[str]) -> tuple[Step, ...]:
    """Remove duplicate marks that refer to memories that will not be created."""
    return tuple(
        replace(step, changes=tuple(_without_twin(change, gone) for change in step.changes))
        for step in steps
    )


def _without_twin(change: Change, gone: frozenset[str]) -> Change:
    if not isinstance(change, Create) or change.memory.text("duplicate_of") not in gone:
        return change
    fields: dict[str, None] = {"duplicate_of": None}
    if change.memory.standing == "probable_duplicate":
        fields["standing"] = None
    return Create(memory=change.memory.with_fields(fields))


def _created(steps: Sequence[Step]) -> frozenset[str]:
    return frozenset(id_ for s in steps if s.op == "create" for id_ in s.memory_ids)


def _some(step: Step, changes: Sequence[Change]) -> list[Step]:
    if not changes:
        return []
    if len(changes) == len(step.changes):
        return [step]
    return [replace(step, changes=tuple(changes))]


def _ids(change: Change) -> tuple[str, ...]:
    match change:
        case Create(memory=memory):
            return (memory.id,)
        case Update(id=id_) | Remove(id=id_):
            return (id_,)
        case Write() | Delete():
            return ()
