"""`memrepo sync`: merge this clone with the hub field by field, without ever force-pushing."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import DryRun, VerbResult, option, side_of
from memrepo.actions.setup.person import unknown_person
from memrepo.actions.sync.join import MergeClash, Merged, PreparedMerge, join
from memrepo.actions.work import Work
from memrepo.core.errors import Exit
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.store.errors import (
    BranchMoved,
    StoreError,
)
from memrepo.store.remote import RECORDS, Hub, count, hub_of, pause

TRIES = 10
"""The maximum number of attempts if the hub or the branch moves during a sync."""
CLASHING = (
    "--ours uses this clone's version of these, --theirs the hub's; "
    "`git show COMMIT` shows each side"
)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a sync: the numbers of pulled and pushed commits, and the merge if any.

    `commit` is the new commit of both sides, or empty if nothing is to be written. `head` is the
    previous HEAD of this clone.
    """

    commit: str
    head: str = ""
    pulled: int = 0
    pushed: int = 0
    joined: PreparedMerge | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo sync`."""

    remote: Annotated[
        str,
        option("name of the remote (default: the branch's upstream, or origin)", metavar="REMOTE"),
    ] = ""
    ours: Annotated[
        bool, option("in a conflict, keep what this clone has", "--ours", group="side")
    ] = False
    theirs: Annotated[
        bool, option("in a conflict, take what the hub has", "--theirs", group="side")
    ] = False
    accept_rewritten: Annotated[
        bool, option("join a hub whose history was rewritten", "--accept-rewritten")
    ] = False
    dry_run: DryRun = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The outcome of a sync. If there are conflicts, nothing was written or pushed."""

    remote: str
    branch: str
    commit: str = ""
    pulled: int = 0
    pushed: int = 0
    merged: tuple[Merged, ...] = ()
    """The memories that both sides changed."""
    conflicts: tuple[MergeClash, ...] = ()
    fix: str = ""
    """How to resolve the clashes."""


def do(work: Work, request: Request) -> Result:
    """Fetch, merge, push and land, with retries."""
    work.require_writable()
    work.store.refuse_unfit()
    hub = hub_of(work.store.repo, request.remote, work.store.branch)
    with work.store.syncing():
        purged: tuple[Problem, ...] = ()
        if not request.dry_run:
            work.store.recover()
            purged = _settle_purges(work, hub)
        outcome = _converge(work, hub, request)
        if outcome.joined is not None and outcome.joined.clashes:
            return Result(
                remote=hub.name,
                branch=hub.branch,
                conflicts=outcome.joined.clashes,
                fix=CLASHING,
                exit=Exit.DECIDE,
            )
        if outcome.pulled and not request.dry_run:
            work.store.maintain()
    joined = outcome.joined or PreparedMerge(chain=None)
    notices = (
        *purged,
        *joined.problems,
        *unknown_person(work.refreshed()),
        *work.store.notices,
    )
    return Result(
        remote=hub.name,
        branch=hub.branch,
        commit=outcome.commit,
        pulled=outcome.pulled,
        pushed=outcome.pushed,
        merged=joined.merged,
        notices=notices,
    )


def _settle_purges(work: Work, hub: Hub) -> tuple[Problem, ...]:
    if not hub.tips(RECORDS) and not work.store.repo.refs.id(RECORDS):
        return ()
    from memrepo.actions.sync.purge import settle_purges

    return settle_purges(work, hub)


def _converge(first: Work, hub: Hub, request: Request) -> Outcome:
    """Bring both sides to the same commit. Retry if the hub or the branch moves."""
    sent = 0
    for turn in range(1, TRIES + 1):
        # After half of the attempts, lock out other writers here for one fetch and push.
        patient = first.store.writing() if turn > TRIES // 2 else nullcontext()
        tip = _fetch_tip(hub, first, request)
        try:
            with patient:
                outcome = _merge(first.refreshed(), hub, tip, request)
                if request.dry_run or not outcome.commit:
                    return outcome
                if outcome.commit == tip or hub.push(outcome.commit, hub.head):
                    hub.remember(outcome.commit)
                    sent += outcome.pushed
                    _land(first, hub, outcome)
                    return replace(outcome, pushed=sent)
        except BranchMoved:
            # If the hub already has this merge, the next attempt adds the new local commits.
            continue
        pause(first.store.head(), turn)
    raise StoreError("hub-busy", name=hub.name, tries=TRIES)


def _land(first: Work, hub: Hub, outcome: Outcome) -> None:
    if outcome.commit != outcome.head:
        first.store.advance(outcome.head, outcome.commit, f"sync-{hub.name}")


def _fetch_tip(hub: Hub, at: Work, request: Request) -> str:
    """Return the hub's tip, or "" if the branch is missing. Raise if its history was rewritten."""
    own = hub.own("trial" if request.dry_run else "incoming")
    tip = hub.fetch({hub.head: own}).get(hub.head, "")
    if request.dry_run:
        hub.forget(own)
    if tip and not at.store.common_ancestors([at.tree.commit, tip]):
        hub.forget(own)
        raise StoreError("history-unrelated", hub=hub.name, branch=hub.branch, tip=tip)
    known = hub.seen()
    if known and not request.accept_rewritten and not (tip and at.store.is_ancestor(known, tip)):
        lost = counted(count(hub.repo, known, tip), "commit", "commits")
        name = f"{hub.name}/{hub.branch}"
        raise StoreError("history-lost", hub=name, commit=known[:10], lost=lost)
    if tip and not request.dry_run:
        hub.remember(tip)
    return tip


def _merge(at: Work, hub: Hub, tip: str, request: Request) -> Outcome:
    """Return the outcome of a merge. Its commit is empty if a person must decide first."""
    head, repo = at.tree.commit, at.store.repo
    if not tip or at.store.is_ancestor(tip, head):
        return Outcome(commit=head, head=head, pushed=count(repo, head, tip))
    pulled = count(repo, tip, head)
    if at.store.is_ancestor(head, tip):
        return Outcome(commit=tip, head=head, pulled=pulled)
    joined = join(at, tip, hub.name, taken=side_of(request), reason=request.reason)
    if joined.chain is None:
        return Outcome(commit="", joined=joined)
    if request.dry_run:
        return Outcome(commit="", pulled=pulled, pushed=count(repo, head, tip) + 1, joined=joined)
    new = at.store.draft(joined.chain, f"sync-{hub.name}")
    return Outcome(
        commit=new, head=head, pulled=pulled, pushed=count(repo, new, tip), joined=joined
    )
