"""`memrepo revert` and `undo`: revert a run or a decision while preserving later work.

Reverting the latest operation restores the whole tree. Reverting an earlier one restores each field
that was not written since then. `undo` reverts the last operation on the branch, which may itself
be a revert. If the last commit was made by hand, `undo` reverts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.guard import refuse_lifting
from memrepo.actions.landing import chain, derived_contents, listed_steps
from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, VerbResult, option, side_of
from memrepo.actions.takeback.targets import find_target, last_operation
from memrepo.actions.work import Work
from memrepo.core.changes import BULK_OPS, Step
from memrepo.core.errors import Exit, UsageError
from memrepo.core.ids import ID_PATTERN, visible
from memrepo.core.memory import references
from memrepo.core.messages import message
from memrepo.core.state import EMPTY, Effect, State
from memrepo.merge.reversal import RevertConflict, Side, revert_change, together
from memrepo.merge.tombstones import Tombstones, is_tombstone, tombstones_in
from memrepo.store import history
from memrepo.store.history import LandedOperation
from memrepo.store.stream import NewCommit
from memrepo.store.tree import Snapshot


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A requested revert with its options. If `only` is empty, all memories are reverted."""

    landing: LandedOperation
    latest: bool
    only: frozenset[str] = frozenset()
    side: Side = ""
    settle: bool = False
    dependents: bool = False
    dry_run: bool = False
    reason: str = ""

    @property
    def target(self) -> history.LogEntry:
        """Return the commit to revert or, if there are several, the last one."""
        return self.landing.entry

    @property
    def name(self) -> str:
        """Return the run id or, if there is none, the short id of the commit."""
        return self.landing.run or self.target.commit[:10]


class RevertRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo revert`."""

    target: Annotated[
        str,
        option(
            "run id (a unique prefix will do), commit, or a memory: what was last decided of it; "
            "the latest run when left out",
            metavar="RUN|COMMIT|ID",
        ),
    ] = ""
    only: Annotated[
        tuple[str, ...],
        option("revert only its changes to these memories", "--memory", metavar="ID", several=True),
    ] = ()
    ours: Annotated[bool, option("on conflict, keep later work", "--ours", group="side")] = False
    theirs: Annotated[
        bool,
        option("on conflict, revert later work too", "--theirs", group="side"),
    ] = False
    with_dependents: Annotated[
        bool,
        option(
            "also revert later steps that refer to a removed memory",
            "--with-dependents",
        ),
    ] = False
    settle: Annotated[
        bool, option("mark its input as read: the next run does not read it again", "--settle")
    ] = False
    dry_run: DryRun = False
    reason: Reason = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The reverted operation and the new commit. Nothing is reverted if there are conflicts."""

    name: str
    """The run id, or the short id of the commit."""
    reverts: str
    commits: tuple[str, ...] = ()
    conflicts: tuple[RevertConflict, ...] = ()
    files: int = 0
    """The number of changed files."""
    latest: bool
    """Whether this was the latest operation, so that all files are restored."""
    also: tuple[str, ...] = ()
    """Later commits that were reverted too, because they depended on the operation."""
    also_subjects: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    """Memories reverted in addition to the named ones, because they share a supersession."""
    overridden: tuple[str, ...] = ()
    """Memories whose later changes were reverted too, because of `--theirs`."""
    anew: bool = False
    """Whether the next run reads the input of the reverted run again."""


def revert(work: Work, request: RevertRequest) -> Result:
    """Revert one operation by making a new commit."""
    work.begin_write(dry_run=request.dry_run)
    landing, only = find_target(work, request.target)
    if request.only:
        tip = work.store.snapshot(landing.entry.commit).state()
        only = frozenset(find(tip, word).id for word in request.only)
    wanted = Wanted(
        landing=landing,
        latest=landing.entry.commit == work.tree.commit,
        only=only,
        side=side_of(request),
        settle=request.settle,
        dependents=request.with_dependents,
        dry_run=request.dry_run,
        reason=request.reason,
    )
    return take_back(work, wanted)


def take_back(work: Work, wanted: Wanted) -> Result:
    """Revert an operation in one commit. If there are conflicts, report them and write nothing."""
    target = wanted.target
    if target.op == "sync":
        commit = target.commit[:10]
        raise UsageError(
            f"{commit} joined this clone with its hub: reverting it would remove everything that"
            " one of the two had",
            fix="revert single runs or decisions instead:"
            f" `git log {commit}^1..{commit}^2` is this clone's, `^2..^1` the hub's",
        )
    asked = wanted.only
    if asked:
        before, after = (
            work.store.snapshot(c).state() for c in (wanted.landing.before, target.commit)
        )
        wanted = replace(wanted, only=together(asked, before, after))
    undone = _undone(work, wanted)
    found = Result(
        name=wanted.name,
        reverts=target.commit,
        latest=wanted.latest,
        together=tuple(sorted(wanted.only - asked)),
    )
    if undone.clashes:
        return replace(found, conflicts=undone.clashes, exit=Exit.DECIDE)
    found = replace(
        found,
        files=len(undone.effect.files),
        also=tuple(entry.commit for entry in undone.also),
        also_subjects=tuple(entry.subject for entry in undone.also),
    )
    if wanted.side == "theirs":
        kept = _undone(work, replace(wanted, side=""))
        found = replace(found, overridden=tuple(sorted({clash.memory for clash in kept.clashes})))
    if wanted.dry_run or not found.files:
        return found
    return replace(
        found,
        commits=(_commit(work, wanted, undone),),
        anew=bool(wanted.landing.run) and not wanted.settle and not wanted.only,
        notices=tuple(work.store.notices),
    )


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """The commits around a change to revert, limited to some memories if `only` is not empty."""

    before: str
    after: str
    only: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    """Files that stay, such as a manifest whose input counts as read."""


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """A computed revert: changed files, conflicts, and the later steps that are reverted with it.

    `left` is the resulting state, or the snapshot whose whole tree is restored.
    """

    left: State | Snapshot
    effect: Effect
    clashes: tuple[RevertConflict, ...] = ()
    also: tuple[history.LogEntry, ...] = ()

    @property
    def state(self) -> State:
        """Return the state after the revert. For a snapshot, this reads its memories."""
        return self.left if isinstance(self.left, State) else self.left.state()

    @property
    def stones(self) -> Tombstones:
        """Return the tombstones in the state after the revert."""
        return tombstones_in(self.left) if isinstance(self.left, State) else self.left.stones


def _undone(work: Work, wanted: Wanted) -> Undone:
    """Compute a revert on top of HEAD, without writing anything."""
    target, run = wanted.target, wanted.landing.run
    # A run's merge that differs from the merged commit was amended, which is a person's own work.
    # `accept` writes merges that differ: HEAD had moved, and the first page follows.
    amended = (
        len(target.parents) == 2
        and target.trailer("Actor").startswith("memrepo/")
        and work.store.work.changed(target.parents[1], target.commit)
    )
    taken = Taken(
        before=wanted.landing.before,
        after=target.parents[1] if amended else target.commit,
        only=wanted.only,
        kept=frozenset({work.tree.layout.manifest(run)} if wanted.settle and run else ()),
    )
    if wanted.latest and not (wanted.only or amended) and (whole := _restored(work, taken)):
        return whole
    every, also = [taken], list[history.LogEntry]()
    span = f"{taken.after}..{work.tree.commit}"
    order = work.store.repo.call("rev-list", "--topo-order", span).split()
    while True:
        state, clashes = work.tree.state(), list[RevertConflict]()
        paths = set[str]()
        for one in every[1:] + every[:1]:  # later steps first
            before, after = (work.store.snapshot(c).state() for c in (one.before, one.after))
            done = revert_change(
                before,
                after,
                state,
                wanted.side,
                only=one.only,
                kept=one.kept,
                paths=work.store.work.changed(one.before, one.after),
            )
            state = done.state
            clashes += done.clashes
            paths |= done.effect.files.keys()
        found = _dependents(work, taken, clashes) if wanted.dependents else ()
        more = [pair for pair in found if pair[0] not in also]
        if not more:
            break
        also += [entry for entry, _ in more]
        every += [step for _, step in more]
        every[1:] = sorted(every[1:], key=lambda step: order.index(step.after))
    head = work.tree.state()
    files = {p: state.files.get(p) for p in sorted(paths)}
    files = {p: data for p, data in files.items() if data != head.files.get(p)}
    files |= derived_contents(work, state)
    return Undone(left=state, effect=Effect(files=files), clashes=tuple(clashes), also=tuple(also))


def _restored(work: Work, taken: Taken) -> Undone | None:
    """Return the revert of the latest operation, which restores the whole tree byte for byte.

    Return None if a rejected memory would return. Then each memory needs a separate decision.
    """
    stones, before = work.tree.stones, work.store.snapshot(taken.before)
    changed = work.store.work.changed(taken.before, taken.after)
    coming = (m for m in before.state().memories.values() if m.path in changed) if stones else ()
    barring = before.stones if stones else stones
    if any(m.status != "forgotten" and barring.bar(m) is not None for m in coming):
        return None
    wanted = {path: sides for path, sides in changed.items() if path not in taken.kept}
    there = [(p, s.old) for p, s in wanted.items() if s.old and before.files.holds(p, s.mode)]
    data = {p: d for (p, _), d in zip(there, before.files.each(there), strict=True)}
    return Undone(left=before, effect=Effect(files={path: data.get(path) for path in wanted}))


def _dependents(
    work: Work, taken: Taken, clashes: Sequence[RevertConflict]
) -> Iterator[tuple[history.LogEntry, Taken]]:
    """Yield the later commits that added a reference to a memory that the revert would remove.

    Of a bulk commit or a commit by hand, only the memory with the reference is reverted.
    """
    store = work.store
    for clash in (c for c in clashes if c.kind == "depended-on"):
        span = f"{taken.after}..{work.tree.commit}"
        for entry in history.entries(store.repo, "--no-merges", f"-S{clash.on}", span):
            sides = (store.snapshot(c).state().memories for c in (entry.parents[0], entry.commit))
            old, new = (references(m[clash.memory]) if clash.memory in m else () for m in sides)
            if clash.on in new and clash.on not in old:
                whole = entry.trailer("Op") and entry.op not in BULK_OPS
                only = frozenset() if whole else frozenset({clash.memory})
                yield entry, Taken(before=entry.parents[0], after=entry.commit, only=only)
                break


def _commit(work: Work, wanted: Wanted, undone: Undone) -> str:
    if work.call.actor:
        from memrepo.actions.write.commit import refuse_taking

        refuse_taking(work, work.tree.state(), undone.state)
        gone = [p for p, data in undone.effect.files.items() if data is None]
        if any(is_tombstone(work.tree.layout, path) for path in gone):
            refuse_lifting(work.tree.stones.found.values(), work.actor)
    target, steps = wanted.target, wanted.landing.steps(work.store.repo)
    # Later runs read the reverted decisions from these trailers, so list only the reverted part.
    memories = dict.fromkeys(
        id_
        for id_ in (*_memories(work, wanted, steps), *_memories_of(undone.also))
        if ID_PATTERN.fullmatch(id_) and (not wanted.only or id_ in wanted.only)
    )
    step = Step(
        op="revert",
        what=f"Revert{' part of' if wanted.only else ''}: {target.subject}",
        reason=wanted.reason or "`memrepo revert`",
        memories=tuple(memories),
    )
    chain_ = [entry.commit for entry in reversed(wanted.landing.chain)] or [target.commit]
    reverts = (*chain_, *(entry.commit for entry in undone.also))
    lines = listed_steps([f"undone: {entry.subject}" for entry in steps])
    text = message(step, work.context(reverts=reverts, lines=lines))
    # Without tombstones there is nothing to check, so do not read any memories.
    before, after = (work.tree.state(), undone.state) if undone.stones else (EMPTY, EMPTY)
    made = chain(
        work.store,
        before,
        after,
        [NewCommit(message=text, effect=undone.effect)],
        base=work.tree.commit,
        now=work.call.now,
        author=work.author,
    )
    return work.store.land(made, f"revert-{target.commit[:10]}")


def _memories(work: Work, wanted: Wanted, steps: Sequence[history.LogEntry]) -> tuple[str, ...]:
    """Return the memories of an operation, from the trailers or else from the run's changes."""
    if listed := _memories_of(steps):
        return listed
    if not wanted.landing.run:
        return ()
    pair = (wanted.landing.before, wanted.target.commit)
    before, after = (work.store.snapshot(commit).state().memories for commit in pair)
    return tuple(sorted(i for i in {*before, *after} if before.get(i) != after.get(i)))


def _memories_of(steps: Sequence[history.LogEntry]) -> tuple[str, ...]:
    return tuple(id_ for entry in steps for id_ in entry.trailers.get("Memory", ()))


# -- undo ---------------------------------------------------------------------------------------


class UndoRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo undo`."""

    dry_run: DryRun = False
    reason: Reason = ""


class UndoneCommit(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that an undo reverts."""

    commit: str
    op: str
    subject: str


class UndoResult(Result, frozen=True, kw_only=True):
    """The result of an undo."""

    undone: UndoneCommit


def undo(work: Work, request: UndoRequest) -> UndoResult:
    """Revert the newest operation, following first parents.

    Raises NotOurs if a commit by hand is newer.
    """
    work.begin_write(dry_run=request.dry_run)
    landing = last_operation(work)
    target = landing.entry
    wanted = Wanted(
        landing=landing,
        latest=target.commit == work.tree.commit,
        dry_run=request.dry_run,
        reason=request.reason or "undone",
    )
    undone = UndoneCommit(commit=target.commit, op=target.op, subject=visible(target.subject))
    return UndoResult(**asdict(take_back(work, wanted)), undone=undone)
