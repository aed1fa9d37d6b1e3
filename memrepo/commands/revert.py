"""`memrepo revert`: take a run or a decision back, and keep what came later.

Of the latest operation the whole tree is restored; of an earlier one each field that nothing wrote
since returns to its old value.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from memrepo.commands.choosing import side_arguments, side_of
from memrepo.commands.finding import NoSuchMemory, find
from memrepo.commands.landing import chain
from memrepo.commands.log import NoSuchRun, run_merge
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.undoing import Taken, Undone, restored, undo
from memrepo.core.changes import BULK_OPS, Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.messages import PREFIX, message
from memrepo.merge.takeback import Clash, Side
from memrepo.store import history
from memrepo.store.identity import author
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
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


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "target",
        nargs="?",
        default="",
        metavar="RUN|COMMIT|ID",
        help="run id (a unique prefix will do), commit, or a memory: what was last decided of it;"
        " the latest run when left out",
    )
    parser.add_argument(
        "--memory",
        dest="only",
        nargs="+",
        default=[],
        metavar="ID",
        help="only what it did to these",
    )
    side_arguments(
        parser,
        ours="where it clashes with later work, keep that",
        theirs="where it clashes with later work, take that back too",
    )
    parser.add_argument(
        "--with-dependents",
        action="store_true",
        help="take back the later steps too that refer to a memory which would vanish",
    )
    parser.add_argument(
        "--settle", action="store_true", help="keep its input consumed: it is not seen again"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--reason", default="", help="why, for the commit")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Revert one operation in a commit of its own; history keeps both."""
    with opened(session) as desk:
        desk.require_writable()
        desk.store.refuse_unfit()
        if not options.dry_run:
            desk.store.recover()
        target, only = _target(desk, options.target)
        if options.only:
            tip = desk.store.snapshot(target.commit).state()
            only = frozenset(find(tip, word).id for word in options.only)
        wanted = Wanted(
            target=target,
            latest=target.commit == desk.tree.commit,
            only=only,
            side=side_of(options),
            settle=options.settle,
            dependents=options.with_dependents,
            dry_run=options.dry_run,
            reason=options.reason,
        )
        return revert(desk, session, wanted)


def revert(desk: Desk, session: Session, wanted: Wanted) -> Answer:
    """Take one operation back, in one commit; what clashes is told and nothing is written."""
    target, name = wanted.target, wanted.name
    if target.op == "sync":
        raise Joins(target)
    undone = _undone(desk, session, wanted)
    if undone.clashes:
        return _clashing(name, target, undone.clashes)
    count = len(undone.effect.files)
    also = [entry.commit for entry in undone.also]
    data = {"commits": [], "conflicts": [], "reverts": target.commit, "also": also}
    if wanted.dry_run or not count:
        said = "would touch" if count else "changes nothing: later work stands in all of its"
        return Answer(data=data, text=f"reverting {name} {said} {count} files")
    commit = _commit(desk, session, wanted, undone)
    text = f"reverted {name} in {commit[:10]}: {count} files as they were before"
    if not wanted.latest:
        text = f"reverted {name} in {commit[:10]}: {count} files changed, later work kept"
    for entry in undone.also:
        text += f"\ntaken back with it, since it depended on it: {entry.subject}"
    if target.is_run and not wanted.settle and not wanted.only:
        text += "\nits input counts as new again; what it proposes anew will wait for review"
    return Answer(data={**data, "commits": [commit]}, text=text, problems=tuple(desk.store.notices))


def _clashing(name: str, target: history.Entry, clashes: Sequence[Clash]) -> Answer:
    """Say what stands in the way; nothing was written."""
    lines = [f"{name} clashes with later work; nothing was written"]
    lines += [
        f"  {c.kind:<14} {c.memory}  {c.path}" + (f"  on {c.on}" if c.on else "") for c in clashes
    ]
    lines.append("--ours keeps the later work there, --theirs takes it back too")
    if any(c.kind == "depended-on" for c in clashes):
        lines.append("--with-dependents takes back the later steps that depend on it")
    return Answer(
        data={
            "commits": [],
            "reverts": target.commit,
            "conflicts": [
                {
                    "kind": c.kind,
                    "memory": c.memory,
                    "path": c.path,
                    **({"on": c.on} if c.on else {}),
                }
                for c in clashes
            ],
        },
        text="\n".join(lines),
        exit=Exit.DECIDE,
    )


def _target(desk: Desk, word: str) -> tuple[history.Entry, frozenset[str]]:
    """Return the operation that is meant, and to which memories a word limits it."""
    head, only = desk.tree.commit, frozenset[str]()
    if word:
        found, only = _named(desk, word)
    else:
        runs = list(history.runs(desk.store.repo, head))
        if not runs:
            raise NothingToRevert("no run has landed on this branch")
        found = runs[0]
    if not desk.store.is_ancestor(found.commit, head):
        raise NothingToRevert(f"{word} is not an operation on this branch")
    if not found.parents or not found.trailer("Op"):
        raise NothingToRevert(f"{found.commit[:10]} was not written by memrepo: use `git revert`")
    if found.op == "init":
        raise NothingToRevert(f"{found.commit[:10]} made this repository what it is")
    return found, only


def _named(desk: Desk, word: str) -> tuple[history.Entry, frozenset[str]]:
    try:
        return run_merge(desk, word), frozenset()
    except NoSuchRun:
        commit = desk.store.resolve(word)
        if commit:
            return next(iter(history.entries(desk.store.repo, "-1", commit))), frozenset()
        memory = _memory(desk, word)
        if not memory:
            raise
    grep = f"^{PREFIX}Memory: {memory}$"
    walk = history.entries(desk.store.repo, "--no-merges", "--grep", grep, desk.tree.commit)
    for entry in walk:
        if memory in entry.trailers.get("Memory", ()):
            return entry, frozenset({memory} if entry.op in BULK_OPS else ())
    raise NothingToRevert(f"no operation on this branch names {memory}")


def _memory(desk: Desk, word: str) -> str:
    """Return the id of the memory that a word names; one that is gone is known by its full id."""
    if ID_PATTERN.fullmatch(word):
        return word
    try:
        return find(desk.tree.state(), word).id
    except NoSuchMemory:
        return ""


def _undone(desk: Desk, session: Session, wanted: Wanted) -> Undone:
    target = wanted.target
    kept = frozenset({desk.tree.layout.manifest(target.run)} if wanted.settle else ())
    taken = Taken(before=target.parents[0], after=target.commit, kept=kept, only=wanted.only)
    if wanted.latest and not wanted.only:
        whole = restored(desk, taken)
        if whole is not None:
            return whole
    return undo(
        desk,
        taken,
        wanted.side,
        dependents=wanted.dependents,
        at=session.now,
        by=desk.actor(session),
    )


def _commit(desk: Desk, session: Session, wanted: Wanted, undone: Undone) -> str:
    target = wanted.target
    # Later runs read from these which decisions were taken back: of a part, only that part.
    memories = dict.fromkeys(
        id_
        for e in (*history.chain_of(desk.store.repo, target.commit), *undone.also)
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
    said = message(step, desk.context(session, reverts=reverts))
    made = chain(
        desk.store,
        desk.tree.state(),
        undone.state,
        [Commit(message=said, effect=undone.effect)],
        base=desk.tree.commit,
        now=session.now,
        author=author(desk.store.repo),
    )
    return desk.store.land(made, f"revert-{target.commit[:10]}")
