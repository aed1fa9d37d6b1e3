"""`memrepo revert`: take a run or a decision back, and keep what came later.

Of the latest operation the whole tree is restored; of an earlier one each field that nothing wrote
since returns to its old value.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions import result
from memrepo.actions.past.timeline import NoSuchRun, run_merge
from memrepo.actions.recall.lookup import NoSuchMemory, find
from memrepo.actions.request import DryRun, Reason, option, side_of
from memrepo.actions.run.landing import chain
from memrepo.actions.takeback.inverse import Taken, Undone, restored, undo
from memrepo.actions.work import Work
from memrepo.core.changes import BULK_OPS, Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.messages import PREFIX, message
from memrepo.merge.takeback import ClashKind, Side
from memrepo.store import history
from memrepo.store.settings import author
from memrepo.store.stream import Commit


class NothingToRevert(MemrepoError):
    """The branch holds no operation that could be taken back."""

    exit_code = Exit.USAGE

    def __init__(self, why: str, fix: str = "`memrepo log` lists runs and operations") -> None:
        super().__init__(why, fix=fix)


class Joins(MemrepoError):
    """A sync joins two lines of work, neither of which is the one to take back."""

    exit_code = Exit.USAGE

    def __init__(self, entry: history.Entry) -> None:
        super().__init__(
            f"{entry.commit[:10]} joined this clone with its hub: to take that back would take one"
            " of the two back whole, and the hub has both",
            fix="revert what it brought, a run or a decision at a time: "
            f"`git log {entry.commit[:10]}^1..{entry.commit[:10]}^2` is this clone's, `^2..^1` the"
            " hub's",
        )


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be taken back, and how; `only` are memory ids, empty for all of it."""

    target: history.Entry
    latest: bool
    only: frozenset[str] = frozenset()
    side: Side = ""
    settle: bool = False
    dependents: bool = False
    dry_run: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """Return the run's id, or the beginning of the commit's."""
        return self.target.run if self.target.is_run else self.target.commit[:10]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `revert`."""

    target: Annotated[
        str,
        option(
            "run id (a unique prefix will do), commit, or a memory: what was last decided of it; "
            "the latest run when left out",
            metavar="RUN|COMMIT|ID",
        ),
    ] = ""
    only: Annotated[
        tuple[str, ...], option("only what it did to these", "--memory", metavar="ID", several=True)
    ] = ()
    ours: Annotated[
        bool, option("where it clashes with later work, keep that", "--ours", group="side")
    ] = False
    theirs: Annotated[
        bool,
        option("where it clashes with later work, take that back too", "--theirs", group="side"),
    ] = False
    with_dependents: Annotated[
        bool,
        option(
            "take back the later steps too that refer to a memory which would vanish",
            "--with-dependents",
        ),
    ] = False
    settle: Annotated[bool, option("keep its input consumed: it is not seen again", "--settle")] = (
        False
    )
    dry_run: DryRun = False
    reason: Reason = ""


class Clash(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory that later work holds on to; `on` is the one that it refers to, if it does."""

    kind: ClashKind
    memory: str
    path: str
    on: str = ""


class Result(result.Result, frozen=True, kw_only=True):
    """What was taken back, in which commit; where something clashes, nothing was."""

    name: str
    """The run's id, or the beginning of the commit's."""
    reverts: str
    commits: tuple[str, ...] = ()
    conflicts: tuple[Clash, ...] = ()
    files: int = 0
    """How many files it changes."""
    latest: bool
    """Whether nothing came later, so that the files are as they were before."""
    also: tuple[str, ...] = ()
    """Later commits that were taken back with it, since they depended on it."""
    also_subjects: tuple[str, ...] = ()
    anew: bool = False
    """Whether its input counts as new again."""


def do(work: Work, request: Request) -> Result:
    """Revert one operation in a commit of its own; history keeps both."""
    work.require_writable()
    work.store.refuse_unfit()
    if not request.dry_run:
        work.store.recover()
    target, only = _target(work, request.target)
    if request.only:
        tip = work.store.snapshot(target.commit).state()
        only = frozenset(find(tip, word).id for word in request.only)
    wanted = Wanted(
        target=target,
        latest=target.commit == work.tree.commit,
        only=only,
        side=side_of(request),
        settle=request.settle,
        dependents=request.with_dependents,
        dry_run=request.dry_run,
        reason=request.reason,
    )
    return revert(work, wanted)


def revert(work: Work, wanted: Wanted) -> Result:
    """Take one operation back, in one commit; what clashes is told and nothing is written."""
    target = wanted.target
    if target.op == "sync":
        raise Joins(target)
    undone = _undone(work, wanted)
    found = Result(name=wanted.name, reverts=target.commit, latest=wanted.latest)
    if undone.clashes:
        clashes = (
            Clash(kind=c.kind, memory=c.memory, path=c.path, on=c.on) for c in undone.clashes
        )
        return replace(found, conflicts=tuple(clashes), exit=Exit.DECIDE)
    found = replace(
        found,
        files=len(undone.effect.files),
        also=tuple(entry.commit for entry in undone.also),
        also_subjects=tuple(entry.subject for entry in undone.also),
    )
    if wanted.dry_run or not found.files:
        return found
    return replace(
        found,
        commits=(_commit(work, wanted, undone),),
        anew=target.is_run and not wanted.settle and not wanted.only,
        notices=tuple(work.store.notices),
    )


def _target(work: Work, word: str) -> tuple[history.Entry, frozenset[str]]:
    """Return the operation that is meant, and to which memories a word limits it."""
    head, only = work.tree.commit, frozenset[str]()
    if word:
        found, only = _named(work, word)
    else:
        runs = list(history.runs(work.store.repo, head))
        if not runs:
            raise NothingToRevert("no run has landed on this branch")
        found = runs[0]
    if not work.store.is_ancestor(found.commit, head):
        raise NothingToRevert(f"{word} is not an operation on this branch")
    if not found.parents or not found.trailer("Op"):
        raise NothingToRevert(f"{found.commit[:10]} was not written by memrepo: use `git revert`")
    if found.op == "init":
        raise NothingToRevert(f"{found.commit[:10]} made this repository what it is")
    return found, only


def _named(work: Work, word: str) -> tuple[history.Entry, frozenset[str]]:
    try:
        return run_merge(work, word), frozenset()
    except NoSuchRun:
        commit = work.store.resolve(word)
        if commit:
            return next(iter(history.entries(work.store.repo, "-1", commit))), frozenset()
        memory = _memory(work, word)
        if not memory:
            raise
    grep = f"^{PREFIX}Memory: {memory}$"
    walk = history.entries(work.store.repo, "--no-merges", "--grep", grep, work.tree.commit)
    for entry in walk:
        if memory in entry.trailers.get("Memory", ()):
            return entry, frozenset({memory} if entry.op in BULK_OPS else ())
    raise NothingToRevert(f"no operation on this branch names {memory}")


def _memory(work: Work, word: str) -> str:
    """Return the id of the memory that a word names; one that is gone is known by its full id."""
    if ID_PATTERN.fullmatch(word):
        return word
    try:
        return find(work.tree.state(), word).id
    except NoSuchMemory:
        return ""


def _undone(work: Work, wanted: Wanted) -> Undone:
    target = wanted.target
    kept = frozenset({work.tree.layout.manifest(target.run)} if wanted.settle else ())
    taken = Taken(before=target.parents[0], after=target.commit, kept=kept, only=wanted.only)
    if wanted.latest and not wanted.only:
        whole = restored(work, taken)
        if whole is not None:
            return whole
    return undo(
        work,
        taken,
        wanted.side,
        dependents=wanted.dependents,
        at=work.call.now,
        by=work.actor,
    )


def _commit(work: Work, wanted: Wanted, undone: Undone) -> str:
    target = wanted.target
    # Later runs read from these which decisions were taken back: of a part, only that part.
    memories = dict.fromkeys(
        id_
        for e in (*history.chain_of(work.store.repo, target.commit), *undone.also)
        for id_ in e.trailers.get("Memory", ())
        if ID_PATTERN.fullmatch(id_) and (not wanted.only or id_ in wanted.only)
    )
    step = Step(
        op="revert",
        what=f"{target.op} {wanted.name}",
        reason=wanted.reason or "asked for on the command line",
        memories=tuple(memories),
    )
    reverts = (target.commit, *(entry.commit for entry in undone.also))
    said = message(step, work.context(reverts=reverts))
    made = chain(
        work.store,
        work.tree.state(),
        undone.state,
        [Commit(message=said, effect=undone.effect)],
        base=work.tree.commit,
        now=work.call.now,
        author=author(work.store.repo),
    )
    return work.store.land(made, f"revert-{target.commit[:10]}")
