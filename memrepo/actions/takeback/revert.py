"""`memrepo revert` and `undo`: revert a run or a decision while preserving later work.

Reverting the latest operation restores the whole tree. Reverting an earlier one restores each field
that was not written since then. `undo` reverts the last operation on the branch, which may itself
be a revert. If the last commit was made by hand, `undo` reverts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.guard import refuse_lifting
from memrepo.actions.landing import chain, derived_contents, listed_steps
from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, VerbResult, option, side_of
from memrepo.actions.takeback.targets import find_target, last_operation
from memrepo.actions.work import Work
from memrepo.core.changes import Step
from memrepo.core.errors import Exit, UsageError
from memrepo.core.ids import ID_PATTERN, visible
from memrepo.core.messages import message
from memrepo.core.state import EMPTY, Effect, State
from memrepo.merge.reversal import RevertConflict, Side, revert_change, together
from memrepo.merge.tombstones import Tombstones, is_tombstone, tombstones_in
from memrepo.store import history
from memrepo.store.history import LandedOperation
from memrepo.store.stream import NewCommit
from memrepo.store.tree import Snapshot
from memrepo.store.worktree import ChangedFile


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A requested revert with its options. If `only` is empty, all memories are reverted."""

    landing: LandedOperation
    latest: bool
    only: frozenset[str] = frozenset()
    side: Side = ""
    settle: bool = False
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
    found = replace(found, files=len(undone.effect.files))
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


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """A computed revert: changed files, and conflicts.

    `left` is the resulting state, or the snapshot whose whole tree is restored.
    """

    left: State | Snapshot
    effect: Effect
    clashes: tuple[RevertConflict, ...] = ()

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
    store, run = work.store, wanted.landing.run
    span = wanted.landing.before, wanted.target.commit
    changed = store.work.changed(*span)
    kept = {work.tree.layout.manifest(run)} if wanted.settle and run else set[str]()
    if wanted.latest and not wanted.only:
        whole = _restored(work, {path: c for path, c in changed.items() if path not in kept})
        if whole is not None:
            return whole
    before, after = (store.snapshot(commit).state() for commit in span)
    head = work.tree.state()
    done = revert_change(
        before, after, head, wanted.side, only=wanted.only, kept=kept, paths=changed
    )
    files = {**done.effect.files, **derived_contents(work, done.state)}
    return Undone(left=done.state, effect=Effect(files=files), clashes=done.clashes)


def _restored(work: Work, changed: Mapping[str, ChangedFile]) -> Undone | None:
    """Return the revert of the latest operation, which restores the whole tree byte for byte.

    Return None if a rejected memory would return. Then each memory needs a separate decision.
    """
    stones, before = work.tree.stones, work.store.snapshot(work.store.parents(work.tree.commit)[0])
    coming = (m for m in before.state().memories.values() if m.path in changed) if stones else ()
    barring = before.stones if stones else stones
    if any(m.status != "forgotten" and barring.bar(m) is not None for m in coming):
        return None
    there = [(p, s.old) for p, s in changed.items() if s.old and before.files.holds(p, s.mode)]
    data = {p: d for (p, _), d in zip(there, before.files.each(there), strict=True)}
    return Undone(left=before, effect=Effect(files={path: data.get(path) for path in changed}))


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
        for id_ in (i for entry in steps for i in entry.trailers.get("Memory", ()))
        if ID_PATTERN.fullmatch(id_) and (not wanted.only or id_ in wanted.only)
    )
    step = Step(
        op="revert",
        what=f"Revert{' part of' if wanted.only else ''}: {target.subject}",
        reason=wanted.reason or "`memrepo revert`",
        memories=tuple(memories),
    )
    lines = listed_steps([f"undone: {entry.subject}" for entry in steps])
    text = message(step, work.context(reverts=(target.commit,), lines=lines))
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
