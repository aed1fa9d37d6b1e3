"""`memrepo discard`: reject a pending run, so that its changes are not proposed again."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions import result
from memrepo.actions.landing import prepare
from memrepo.actions.pending import (
    Waiting,
    left_behind,
    put_away,
    refuse_on_waiting,
    the_waiting,
)
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.review.comparison import review_of, span_of
from memrepo.actions.work import Work
from memrepo.core.changes import Plan, Step
from memrepo.store.history import DISCARDS

DISCARDED = "refs/memrepo/discarded/"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo discard`."""

    run: Annotated[str, option("the pending run", metavar="RUN")] = ""
    dry_run: DryRun = False
    reason: Reason = ""


class Result(result.Result, frozen=True, kw_only=True):
    """The discarded run, the commit that discards it, and the fingerprints of its changes."""

    run: str
    commits: tuple[str, ...] = ()
    refused: tuple[str, ...]
    decisions: int
    """The number of decisions that are not proposed again."""


def do(work: Work, request: Request) -> Result:
    """Commit a manifest that marks the input as read and lists the rejected changes."""
    work.require_writable()
    refuse_on_waiting(work)
    waits = the_waiting(work, request.run)
    refused = tuple(sorted(waits.prints(work)))
    review = review_of(work, span_of(work, (waits.run,)), quote=False)
    found = Result(run=waits.run, refused=refused, decisions=len(review.decisions))
    if request.dry_run:
        return found
    commit = _commit(work, waits, refused, request.reason)
    put_away(work, waits, DISCARDED)
    return replace(found, commits=(commit,))


def _commit(work: Work, waits: Waiting, refused: tuple[str, ...], reason: str) -> str:
    step = Step(
        op="run",
        what=f"Discard run {waits.run}",
        reason=reason or "`memrepo discard`: its changes are not proposed again",
        changes=left_behind(work, waits, refused),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    context = work.context(run=waits.run, extra={DISCARDS: waits.run})
    landing = prepare(
        work.store,
        work.tree.state(),
        plan,
        context,
        work.call.now,
        author=work.author,
    )
    return work.store.land(landing.chain, f"discard-{waits.run}")
