"""`memrepo undo`: take the last operation of memrepo on the branch back.

An undo is an operation as well: a second one brings back what the first one took. What lies further
back is named: `memrepo revert`.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import DryRun, Reason
from memrepo.actions.takeback.revert import NothingToRevert, Wanted, revert
from memrepo.actions.work import Answer, Work
from memrepo.core.errors import Exit
from memrepo.core.ids import visible
from memrepo.store import history


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `undo`."""

    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Answer:
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
    answer = revert(work, wanted)
    said = visible(target.subject)
    data = {**answer.data, "undone": {"commit": target.commit, "op": target.op, "subject": said}}
    what = f"{said} ({target.commit[:10]})"
    if answer.exit == Exit.DECIDE:
        more = f"choose with `memrepo revert {target.commit[:10]} --ours` or `--theirs`"
        return replace(answer, data=data, text=f"{what}\n{answer.text}\n{more}")
    if not answer.data["commits"]:
        return replace(answer, data=data, text=f"would undo {what}\n{answer.text}")
    return replace(
        answer,
        data=data,
        text=f"undid {what}\n{answer.text}\n`memrepo undo` again brings it back",
    )


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
