"""What a run may not do on its own: repeat what a person rejected or reverted, remove too much.

A rejected statement, one similar to it, and a change that a person reverted or discarded are left
out of the run and named by its report. Changes are identified by fingerprint: operation, memories
and proposed text. A dependent decision is treated like the decision it needs.

If a run would remove too many memories, its removals become marks: a marked memory stays active
with the standing `retire_candidate` until `memrepo accept removals` or `memrepo discard removals`.
Secrets are excluded where commits are built (`actions.guard`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from memrepo.actions.run.plan import Decisions, RunPlan
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
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.merge.tombstones import (
    Corrected,
    Tombstone,
    Tombstones,
    binds,
    decided_against,
    tombstones_in,
)
from memrepo.policies.upkeep import interlock
from memrepo.store import history
from memrepo.store.history import LogEntry

# -- decisions of a person: reverted, refused, rejected -------------------------------------------

REVERTED = "reverted-left-out"
"""The rule of the warning about changes that a person reverted or discarded before."""


def leave_out_rejected(plan: RunPlan, found: Decisions) -> None:
    """Remove what a person rejected, reverted or discarded from the steps, with a warning each."""
    whole = plan.mode == "reconciliation"
    steps, problems, barred = bar_rejected(plan.state, found.steps, whole=whole)
    stay, out = _split_by_print(steps, barred | plan.decided)
    if not out and stay == found.steps:
        return
    if barred:
        found.counts = {**found.counts, "barred": len(barred)}
    # The judgement of a note remains, even if the resulting memory was left out.
    stay += tuple(replace(s, memories=()) for s in out if s.op == "nominate")
    missing = frozenset(id_ for s in out if s.op == "create" for id_ in s.memory_ids)
    found.steps = _without_duplicate_marks(stay, missing)
    found.warnings += (*problems, *_left_out(plan, out, barred))


def _left_out(plan: RunPlan, out: Iterable[Step], barred: frozenset[str]) -> Iterator[Problem]:
    """Yield a warning per step whose changes were reverted or discarded before."""
    for step in out:
        changes = [c for c in step.changes if not prints_of(step.op, c) & barred]
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
            fix=f"if it is right after all: `memrepo {_BY_HAND.get(step.op, 'edit')}`,"
            " or revert the revert",
        )


_BY_HAND = {"create": "add", "retire": "forget", "supersede": "supersede"}
"""The command by which a person makes the change of an operation, if it is not `edit`."""
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
                found |= _prints(entry, gone)
    for entry in _reverted_by_git(work, removed, void):
        if entry.op not in COMPOSED:
            found |= _prints(entry, None)
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


def _prints(entry: LogEntry, gone: Collection[str] | None) -> frozenset[str]:
    """Return the fingerprints of a commit's decisions about some memories (None: about all)."""
    ids = entry.trailers.get("Memory", ())
    mine = [id_ for id_ in ids if gone is None or id_ in gone]
    if not mine:
        return frozenset()
    if entry.op not in BULK_OPS:
        return fingerprints(entry.op, ids, entry.prints)
    return fingerprints(entry.op, mine, [p for p in entry.prints if p.split(":")[1] in mine])


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
        marked = sum(len(step.changes) for step in found.steps if step.op == "retire")
        found.counts = {**found.counts, **({"marked": marked} if marked else {})}


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


def prints_in(steps: Iterable[Step]) -> frozenset[str]:
    """Return the fingerprints of all decisions in the given steps."""
    found: set[str] = set()
    for step in steps:
        prints = [p for change in step.changes for p in prints_of(step.op, change)]
        found |= fingerprints(step.op, step.memory_ids, prints if step.op in BULK_OPS else ())
    return frozenset(found)


# -- rejected and corrected statements -------------------------------------------------------------

_STATEMENT_FIELDS = ("subject", "predicate", "object", "scope")


def bar_rejected(
    state: State, steps: Sequence[Step], *, whole: bool
) -> tuple[tuple[Step, ...], tuple[Problem, ...], frozenset[str]]:
    """Return the shortened steps, the problems, and the fingerprints of rejected statements.

    `whole` marks a reconciliation, which also reads corrected statements that are still in their
    sources.
    """
    stones = tombstones_in(state)
    if not (steps and decided_against(state)):
        return tuple(steps), stones.problems, frozenset()
    barred: set[str] = set()
    problems: list[Problem] = []
    found: list[Step] = []
    for step in steps:
        changes = []
        for change in step.changes:
            memory = _stating(state, change)
            if memory is not None:
                change, memory = _shortened(stones, change, memory)
                stone, rule = _decided(state, memory, whole=whole)
                if stone is not None:
                    barred |= prints_of(step.op, change)
                    problems.append(_problem(memory, stone, rule))
            changes.append(change)
        found.append(replace(step, changes=tuple(changes)))
    return tuple(found), (*stones.problems, *problems), frozenset(barred)


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


def _decided(state: State, memory: Memory, *, whole: bool) -> tuple[Tombstone | None, str]:
    """Return a decision against a new text and the rule of its warning, or (None, "").

    A correction bars texts that are read from sources, not texts that a person writes.
    """
    for stone in decided_against(state).barring_whole(memory) if memory.sources else ():
        dated = ((s.resource, s.captured * (s.captured_from != "commit")) for s in memory.sources)
        if isinstance(stone, Corrected) and all(binds(stone, *at, whole=whole) for at in dated):
            return stone, "corrected-left-out"
    stones = tombstones_in(state)
    if (rejected := stones.bar(memory)) is not None:
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
        elif step.op in COMPOSED and left & set(step.memory_ids):
            changes = tuple(c for c in step.changes if getattr(c, "id", "") not in left)
            stay += [replace(step, changes=changes)] if changes else []
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
