"""`memrepo undo`: take the last operation of memrepo on the branch back.

An undo is an operation as well: a second one brings back what the first one took. What lies further
back is named: `memrepo revert`.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import asdict

from memrepo.actions.request import DryRun, Reason
from memrepo.actions.takeback import revert
from memrepo.actions.takeback.revert import NothingToRevert, Wanted
from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.store import history


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


def do(work: Work, request: Request) -> Result:
    """Revert the newest commit along first parents that memrepo wrote."""
    work.require_writable()
    work.store.refuse_unfit()
    if not request.dry_run:
        work.store.recover()
    target = _last(work)
    wanted = Wanted(
        target=target,
        latest=target.commit == work.tree.commit,
        dry_run=request.dry_run,
        reason=request.reason or "undone",
    )
    undone = Undone(commit=target.commit, op=target.op, subject=visible(target.subject))
    return Result(**asdict(revert.revert(work, wanted)), undone=undone)


def _last(work: Work) -> history.Entry:
    """Return the last operation; commits of a person are none and are passed over."""
    for entry in history.entries(work.store.repo, "--first-parent", work.tree.commit):
        if entry.trailer("Op") == "init":
            break
        if entry.trailer("Op") and entry.parents:
            return entry
    raise NothingToRevert(
        "memrepo has done nothing here that could be undone",
        fix="commits of your own are taken back by `git revert`",
    )
