"""What a run may not do on its own: repeat what a person rejected or reverted, remove too much.

A rejected statement, one similar to it, and a change that a person reverted or discarded are left
out of the run and named by its report (`merge.tombstones`). A dependent decision is treated like
the decision it needs.

If a run would remove too many memories, its removals become marks: a marked memory stays active
with the standing `retire_candidate` until `memrepo accept removals` or `memrepo discard removals`.
Secrets are excluded where commits are built (`actions.guard`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from memrepo.actions.run.decide import Decisions
from memrepo.actions.run.gather import RunPlan
from memrepo.actions.work import Work
from memrepo.core.changes import (
    BULK_OPS,
    Change,
    Create,
    Op,
    Remove,
    Step,
    Update,
    is_decided,
    traits,
)
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.merge.tombstones import (
    Corrected,
    Tombstone,
    binds,
    decided_against,
    tombstones_in,
)
from memrepo.policies.upkeep import interlock

# -- decisions of a person: reverted, discarded, rejected -----------------------------------------

REVERTED = "reverted-left-out"
"""The rule of the warning about changes that a person reverted or discarded before."""
COMPOSED = ("promote", "demote")
"""Operations that every run computes again. Reverting a run does not decide about them."""


def leave_out_rejected(plan: RunPlan, found: Decisions) -> None:
    """Remove what a person rejected, reverted or discarded from the steps, with a warning each."""
    whole = plan.mode == "reconciliation"
    problems, barred = _barred(plan.state, found.steps, whole=whole)

    def is_out(changes: Sequence[Change]) -> bool:
        proposed = traits_of(plan.state.memories, changes)
        return any(id(c) in barred for c in changes) or is_decided(proposed, plan.decided)

    stay, out = _split(found.steps, is_out)
    if not out:
        return
    if barred:
        found.counts = {**found.counts, "barred": len(barred)}
    # The judgement of a note remains, even if the resulting memory was left out.
    stay += tuple(replace(s, memories=()) for s in out if s.op == "nominate")
    missing = frozenset(id_ for s in out if s.op == "create" for id_ in s.memory_ids)
    found.steps = _without_duplicate_marks(stay, missing)
    found.warnings += (*problems, *_left_out(plan, out, barred))


def _split(
    steps: Sequence[Step], is_out: Callable[[Sequence[Change]], bool]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Split steps into those to keep and those left out, with what depends on a missing memory."""
    stay: list[Step] = []
    leave: list[Step] = []
    missing: set[str] = set()
    for step in steps:
        if step.op in BULK_OPS:
            excluded = [c for c in step.changes if is_out([c])]
            missing |= {c.memory.id for c in excluded if isinstance(c, Create)}
            others = [c for c in step.changes if c not in excluded] if excluded else step.changes
            for target, changes in ((stay, others), (leave, excluded)):
                target += [replace(step, changes=tuple(changes))] if changes else []
        elif step.op in COMPOSED and missing & set(step.memory_ids):
            changes = tuple(c for c in step.changes if getattr(c, "id", "") not in missing)
            stay += [replace(step, changes=changes)] if changes else []
        elif missing & set(step.memory_ids) or is_out(step.changes):
            leave.append(step)
        else:
            stay.append(step)
    return tuple(stay), tuple(leave)


def _left_out(plan: RunPlan, out: Iterable[Step], barred: Collection[int]) -> Iterator[Problem]:
    """Yield a warning per step whose changes were reverted or discarded before."""
    for step in out:
        changes = [c for c in step.changes if id(c) not in barred]
        ids = [c.memory.id if isinstance(c, Create) else getattr(c, "id", "") for c in changes]
        ids = [id_ for id_ in dict.fromkeys(ids) if id_]
        if not ids or step.op == "nominate":
            continue
        first = next(c for c in changes if isinstance(c, Create | Update))
        memory = first.memory if isinstance(first, Create) else plan.state.memories.get(first.id)
        more = f" and {counted(len(ids) - 1, 'other', 'others')}" if ids[1:] else ""
        yield Problem(
            path=memory.path if memory else ids[0],
            rule=REVERTED,
            severity="warning",
            message=f"{step.op} {ids[0]}{more}: the same change was reverted or discarded before,"
            " so it is left out",
            fix="if it is right after all, revert the revert or make the change by hand",
        )


def traits_of(memories: Mapping[str, Memory], changes: Iterable[Change]) -> frozenset[str]:
    """Return what some changes of memories decide (`core.changes.traits`)."""
    found: set[str] = set()
    for change in changes:
        match change:
            case Create(memory=memory):
                found |= traits(None, memory)
            case Update(id=id_, fields=fields, body=body) if id_ in memories:
                found |= traits(memories[id_], memories[id_].with_fields(fields, body))
            case Remove(id=id_):
                found |= traits(memories.get(id_), None)
            case _:
                pass
    return frozenset(found)


PROPOSED: tuple[Op, ...] = (
    *("run", "create", "reword", "supersede", "retire", "confirm", "link"),
    *("flag", "compress", "archive", "prune", "nominate"),
)
"""Operations that runs propose. If they are reverted, that is recorded."""


# -- removals --------------------------------------------------------------------------------------


def mark_removals(plan: RunPlan, found: Decisions, alarms: Sequence[str]) -> None:
    """Turn the retirements of a run into marks if there are too many, or a source lost too much."""
    changes = [change for step in found.steps for change in step.changes]
    why = [interlock(plan.state, changes, plan.max_change_pct)]
    why += () if plan.has_own_limit else alarms
    if reason := "; ".join(filter(None, why)):
        found.steps = tuple(
            _marking(step, reason) if step.op == "retire" else step for step in found.steps
        )


def _marking(step: Step, why: str) -> Step:
    """Return a step that marks the memories which a given step would archive."""
    changes = tuple(
        replace(c, fields={k: v for k, v in c.fields.items() if k not in ("status", "archived_at")})
        for c in step.changes
        if isinstance(c, Update)
    )
    return replace(
        step, reason=f"{step.reason}; marked for a person to decide: {why}", changes=changes
    )


def marked_in(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the memories that some steps mark for removal without archiving them."""
    return tuple(
        c.id
        for step in steps
        if step.op == "retire"
        for c in step.changes
        if isinstance(c, Update) and c.fields.get("standing") and "status" not in c.fields
    )


def state_after(state: State, steps: Sequence[Step]) -> State:
    """Return the state after the given steps."""
    return apply(state, (change for step in steps for change in step.changes))


def why_wait(work: Work, plan: RunPlan, found: Decisions) -> str:
    """Return why a run waits for review: a reconciliation does. Empty if it may land."""
    if plan.mode != "reconciliation" or not found.decisions:
        return ""
    if work.config.run.reconciliation == "land":
        changes = (change for step in found.steps for change in step.changes)
        return interlock(plan.state, changes, plan.max_change_pct)
    return "a reconciliation is reviewed before it takes effect"


# -- rejected and corrected statements -------------------------------------------------------------

_STATEMENT_FIELDS = ("subject", "predicate", "object", "scope")


def _barred(
    state: State, steps: Sequence[Step], *, whole: bool
) -> tuple[tuple[Problem, ...], frozenset[int]]:
    """Return the problems, and the `id()` of each change to leave out.

    `whole` marks a reconciliation, which also reads corrected statements that are still in their
    sources.
    """
    found = tombstones_in(state).problems
    if not (steps and decided_against(state)):
        return found, frozenset()
    barred: set[int] = set()
    problems: list[Problem] = []
    for change in (change for step in steps for change in step.changes):
        memory = _stating(state, change)
        stone, rule = _decided(state, memory, whole=whole) if memory else (None, "")
        if memory is not None and stone is not None:
            barred.add(id(change))
            problems.append(_problem(memory, stone, rule))
    return (*found, *problems), frozenset(barred)


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


def _decided(state: State, memory: Memory, *, whole: bool) -> tuple[Tombstone | None, str]:
    """Return a decision against a new text and the rule of its warning, or (None, "").

    A correction bars texts that are read from sources, not texts that a person writes.
    """
    for stone in decided_against(state).barring_whole(memory) if memory.sources else ():
        dated = ((s.resource, s.captured * (s.captured_from != "commit")) for s in memory.sources)
        if isinstance(stone, Corrected) and all(binds(stone, *at, whole=whole) for at in dated):
            return stone, "corrected-left-out"
    stones = tombstones_in(state)
    if (rejected := stones.find_barring(memory)) is not None:
        return rejected, "rejected-left-out"
    return stones.near(memory), "rejected-similar"


def _problem(memory: Memory, stone: Tombstone, rule: str) -> Problem:
    how, fix = stone.why
    what = "is close to" if rule == "rejected-similar" else "says"
    return Problem(
        path=memory.path,
        rule=rule,
        severity="warning",
        message=f"{memory.id} left out: it {what} what was {how}",
        fix=fix,
    )


def _without_duplicate_marks(steps: tuple[Step, ...], left: frozenset[str]) -> tuple[Step, ...]:
    """Remove marks of duplicates that refer to memories that will not be created."""

    def without_mark(change: Change) -> Change:
        if not isinstance(change, Create) or change.memory.duplicate_of not in left:
            return change
        fields: dict[str, None] = {"duplicate_of": None}
        if change.memory.standing == "probable_duplicate":
            fields["standing"] = None
        return Create(memory=change.memory.with_fields(fields))

    return tuple(replace(s, changes=tuple(map(without_mark, s.changes))) for s in steps)
