"""`memrepo undo`: take the last operation of memrepo on the branch back.

An undo is an operation as well: a second one brings back what the first one took. What lies further
back is named: `memrepo revert`. Where a commit by hand came last, nothing older goes in its place.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import asdict

from memrepo.actions.request import DryRun, Reason
from memrepo.actions.run.hand_edits import CLAIMED
from memrepo.actions.takeback import revert
from memrepo.actions.takeback.revert import NothingToRevert, Wanted
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.store import history
from memrepo.store.landings import Landing, commit_landing


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `undo`."""

    dry_run: DryRun = False
    reason: Reason = ""


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that an undo takes back."""

    commit: str
    op: str
    subject: str


class Result(revert.Result, frozen=True, kw_only=True):
    """What was undone."""

    undone: Undone


class NotOurs(MemrepoError):
    """The newest thing on the branch is a person's, which memrepo does not take back."""

    exit_code = Exit.USAGE

    def __init__(self, hand: history.Entry, older: Landing | None) -> None:
        newest = f"{hand.commit[:10]} ({visible(hand.subject)})"
        said = f"the newest commit, {newest}, is a commit by hand"
        fix = f"`git revert {hand.commit[:10]}` undoes it"
        if older is not None and older.in_effect:
            name, subject = older.run or older.entry.commit[:10], visible(older.entry.subject)
            fix += f"; `memrepo revert {name}` reverts the operation before it: {subject}"
        super().__init__(said, fix=fix)


def do(work: Work, request: Request) -> Result:
    """Revert the newest operation along first parents; raises NotOurs where a hand came later."""
    work.require_writable()
    work.store.refuse_unfit()
    if not request.dry_run:
        work.store.recover()
    landing = _last(work)
    target = landing.entry
    wanted = Wanted(
        landing=landing,
        latest=target.commit == work.tree.commit,
        dry_run=request.dry_run,
        reason=request.reason or "undone",
    )
    undone = Undone(commit=target.commit, op=target.op, subject=visible(target.subject))
    return Result(**asdict(revert.revert(work, wanted)), undone=undone)


def _last(work: Work) -> Landing:
    """Return the last operation; commits by hand that concern no memory are passed over."""
    runs = {landing.entry.commit: landing for landing in work.landed()}
    hand: history.Entry | None = None
    for entry in history.entries(work.store.repo, "--first-parent", work.tree.commit):
        if entry.trailer("Op") == "init" or not entry.parents:
            break
        if found := runs.get(entry.commit) or _operation(entry):
            if hand is not None:
                raise NotOurs(hand, found)
            return found
        if hand is None and (entry.trailer("Op") or _concerns(work, entry)):
            hand = entry
    if hand is not None:
        raise NotOurs(hand, None)
    raise NothingToRevert(
        "there is no operation of memrepo to undo",
        fix="use `git revert` for a commit of your own",
    )


def _operation(entry: history.Entry) -> Landing | None:
    """Return what memrepo decided in a commit; a stamp only says whose words a hand's are."""
    decided = entry.trailer("Op") and entry.trailer("Reason") != CLAIMED
    return commit_landing(entry) if decided else None


def _concerns(work: Work, entry: history.Entry) -> bool:
    """Tell whether a commit by hand changed what runs and decisions are about."""
    layout = work.tree.layout
    changed = work.store.work.changed(entry.parents[0], entry.commit)
    return any(layout.owns(path) and path != layout.config for path in changed)
