"""`memrepo revert`: take the latest run (or operation) back; the tree is as it was before."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from memrepo.commands.log import NoSuchRun, run_merge
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.core.changes import Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.messages import message
from memrepo.core.state import Effect
from memrepo.store import history
from memrepo.store.identity import author
from memrepo.store.stream import COMMITTER, Chain, Commit

HELP = "take the latest run back; its input is seen again unless --settle"


class LaterCommits(MemrepoError):
    """Something was committed after what is to be reverted."""

    exit_code = Exit.DECIDE

    def __init__(self, what: str, later: Sequence[history.Entry]) -> None:
        listed = "\n".join(f"  {e.commit[:10]}  {e.subject}" for e in later[:20])
        more = f"\n  and {len(later) - 20} more" if len(later) > 20 else ""
        super().__init__(
            f"{what} is not the latest operation; {len(later)} came after it:\n{listed}{more}",
            fix="revert those first, newest first",
        )


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
        "--settle", action="store_true", help="keep its input consumed: it is not seen again"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--reason", default="", help="why, for the commit")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Revert one operation in a commit of its own; history keeps both."""
    with opened(session) as desk:
        desk.require_writable()
        desk.store.refuse_unfit()
        target = _target(desk, options.target)
        effect = _effect(desk, target, settle=options.settle)
        name = target.run if target.is_run else target.commit[:10]
        if options.dry_run:
            text = f"dry run: reverting {name} would touch {len(effect.files)} files"
            return Answer(
                data={"commits": [], "conflicts": [], "reverts": target.commit}, text=text
            )
        commit = _commit(desk, session, target, effect, options)
    text = f"reverted {name} in {commit[:10]}: {len(effect.files)} files as they were before"
    if target.is_run and not options.settle:
        text += "\nits input counts as new again; what it proposes anew will wait for review"
    data = {"commits": [commit], "conflicts": [], "reverts": target.commit}
    return Answer(data=data, text=text, problems=tuple(desk.store.notices))


def _target(desk: Desk, word: str) -> history.Entry:
    head = desk.tree.commit
    first_parents = list(history.entries(desk.store.repo, "--first-parent", head))
    if word:
        found = _named(desk, word)
    else:
        runs = [e for e in first_parents if e.is_run]
        if not runs:
            raise NothingToRevert("no run has landed on this branch")
        found = runs[0]
    position = next((n for n, e in enumerate(first_parents) if e.commit == found.commit), None)
    if position is None:
        raise NothingToRevert(f"{word} is not an operation on this branch")
    if position:
        raise LaterCommits(found.run or found.commit[:10], first_parents[:position])
    if not found.parents or found.op == "edit":
        raise NothingToRevert(f"{found.commit[:10]} was not written by memrepo: use `git revert`")
    return found


def _named(desk: Desk, word: str) -> history.Entry:
    try:
        return run_merge(desk, word)
    except NoSuchRun:
        commit = desk.store.resolve(word)
        if not commit:
            raise
        return next(iter(history.entries(desk.store.repo, "-1", commit)))


def _effect(desk: Desk, target: history.Entry, *, settle: bool) -> Effect:
    """Return what brings back the tree before the target; `settle` keeps its manifest."""
    changed = desk.store.work.changed(target.parents[0], target.commit)
    kept = desk.tree.layout.manifest(target.run) if settle and target.run else ""
    before = desk.store.snapshot(target.parents[0]).files
    return Effect(files={path: before.get(path) for path in changed if path != kept})


def _commit(
    desk: Desk,
    session: Session,
    target: history.Entry,
    effect: Effect,
    options: argparse.Namespace,
) -> str:
    chain = history.chain_of(desk.store.repo, target.commit)
    memories = dict.fromkeys(
        id_ for e in chain for id_ in e.trailers.get("Memory", ()) if ID_PATTERN.fullmatch(id_)
    )
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
