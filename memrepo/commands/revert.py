"""`memrepo revert`: take a run or a decision back, and keep what came later.

Of the latest operation the whole tree is restored; of an earlier one each field that nothing wrote
since returns to its old value.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from memrepo.commands.finding import find
from memrepo.commands.log import NoSuchRun, run_merge
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.undoing import Clash, Taken, Undone, take_back
from memrepo.core.changes import Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.messages import message
from memrepo.core.state import Effect, State
from memrepo.store import history
from memrepo.store.identity import author
from memrepo.store.stream import COMMITTER, Chain, Commit

HELP = "take a run or a decision back, and keep what came later"


class NothingToRevert(MemrepoError):
    """The branch holds no operation that could be taken back."""

    exit_code = Exit.USAGE

    def __init__(self, why: str) -> None:
        super().__init__(why, fix="`memrepo log` lists runs and operations")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "target", nargs="?", default="", metavar="RUN|COMMIT",
        help="run id (a unique prefix will do) or commit; the latest run when left out",
    )  # fmt: skip
    parser.add_argument(
        "--memory",
        dest="only",
        nargs="+",
        default=[],
        metavar="ID",
        help="only what it did to these",
    )
    side = parser.add_mutually_exclusive_group()
    side.add_argument(
        "--ours", action="store_true", help="where it clashes with later work, keep that"
    )
    side.add_argument(
        "--theirs", action="store_true", help="where it clashes with later work, take that back too"
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
        target, latest = _target(desk, options.target)
        undone = _undone(desk, target, options, latest=latest)
        name = target.run if target.is_run else target.commit[:10]
        if undone.clashes:
            return _clashing(name, target, undone.clashes)
        count = len(undone.effect.files)
        data = {"commits": [], "conflicts": [], "reverts": target.commit}
        if options.dry_run or not count:
            said = "would touch" if count else "changes nothing: later work stands in all of its"
            return Answer(data=data, text=f"reverting {name} {said} {count} files")
        commit = _commit(desk, session, target, undone.effect, options)
    text = f"reverted {name} in {commit[:10]}: {count} files as they were before"
    if not latest:
        text = f"reverted {name} in {commit[:10]}: {count} files changed, later work kept"
    if target.is_run and not options.settle and not options.only:
        text += "\nits input counts as new again; what it proposes anew will wait for review"
    data = {"commits": [commit], "conflicts": [], "reverts": target.commit}
    return Answer(data=data, text=text, problems=tuple(desk.store.notices))


def _clashing(name: str, target: history.Entry, clashes: Sequence[Clash]) -> Answer:
    """Say what stands in the way; nothing was written."""
    lines = [f"{name} clashes with later work; nothing was written"]
    lines += [f"  {c.kind:<14} {c.memory or c.path}  {c.path}" for c in clashes]
    lines.append("--ours keeps the later work there, --theirs takes it back too")
    return Answer(
        data={
            "commits": [], "reverts": target.commit,
            "conflicts": [{"kind": c.kind, "memory": c.memory, "path": c.path} for c in clashes],
        },
        text="\n".join(lines), exit=Exit.DECIDE,
    )  # fmt: skip


def _target(desk: Desk, word: str) -> tuple[history.Entry, bool]:
    """Return the operation that is meant, and whether it is the latest on the branch."""
    head = desk.tree.commit
    if word:
        found = _named(desk, word)
    else:
        runs = [e for e in history.entries(desk.store.repo, "--first-parent", head) if e.is_run]
        if not runs:
            raise NothingToRevert("no run has landed on this branch")
        found = runs[0]
    if not desk.store.is_ancestor(found.commit, head):
        raise NothingToRevert(f"{word} is not an operation on this branch")
    if not found.parents or not found.trailer("Op"):
        raise NothingToRevert(f"{found.commit[:10]} was not written by memrepo: use `git revert`")
    return found, found.commit == head


def _undone(
    desk: Desk, target: history.Entry, options: argparse.Namespace, *, latest: bool
) -> Undone:
    kept = frozenset({desk.tree.layout.manifest(target.run)} if options.settle else ())
    if latest and not options.only:
        return Undone(effect=_restored(desk, target, kept), clashes=())
    tip = desk.store.snapshot(target.commit).state()
    taken = Taken(
        before=target.parents[0], after=target.commit, kept=kept,
        only=frozenset(find(tip, word).id for word in options.only),
    )  # fmt: skip
    undone = take_back(desk, taken)
    clashing = frozenset(c.memory for c in undone.clashes if c.memory)
    if clashing and options.ours:
        undone = take_back(desk, replace(taken, spared=_whole(tip, clashing)))
    elif clashing and options.theirs:
        undone = take_back(desk, replace(taken, forced=_whole(tip, clashing)))
    return undone


def _whole(state: State, ids: frozenset[str]) -> frozenset[str]:
    """Widen a choice so that no supersession is taken by half."""
    pairs = {
        other
        for id_ in ids
        if id_ in state.memories
        for key in ("supersedes", "superseded_by")
        for other in state.memories[id_].texts(key)
    }
    return ids | pairs


def _named(desk: Desk, word: str) -> history.Entry:
    try:
        return run_merge(desk, word)
    except NoSuchRun:
        commit = desk.store.resolve(word)
        if not commit:
            raise
        return next(iter(history.entries(desk.store.repo, "-1", commit)))


def _restored(desk: Desk, target: history.Entry, kept: frozenset[str]) -> Effect:
    """Return what brings back the whole tree before the target, but for files that are kept."""
    changed = desk.store.work.changed(target.parents[0], target.commit)
    before = desk.store.snapshot(target.parents[0]).files
    return Effect(files={path: before.get(path) for path in changed if path not in kept})


def _commit(
    desk: Desk,
    session: Session,
    target: history.Entry,
    effect: Effect,
    options: argparse.Namespace,
) -> str:
    chain = history.chain_of(desk.store.repo, target.commit)
    tip = desk.store.snapshot(target.commit).state()
    only = frozenset(find(tip, word).id for word in options.only)
    # Later runs read from these which decisions were taken back: of a part, only that part.
    memories = dict.fromkeys(
        id_ for e in chain for id_ in e.trailers.get("Memory", ())
        if ID_PATTERN.fullmatch(id_) and (not only or id_ in only)
    )  # fmt: skip
    name = target.run if target.is_run else target.commit[:10]
    step = Step(
        op="revert", what=f"{target.op} {name}",
        reason=options.reason or "asked for on the command line", memories=tuple(memories),
    )  # fmt: skip
    context = desk.context(session, reverts=(target.commit,))
    return desk.store.land(
        Chain(
            base=desk.tree.commit,
            commits=[Commit(message=message(step, context), effect=effect)],
            author=author(desk.store.repo) or COMMITTER,
            when=desk.store.not_before(session.now, desk.tree.commit),
        ),
        f"revert-{target.commit[:10]}",
    )
