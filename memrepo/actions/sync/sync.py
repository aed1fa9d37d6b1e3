"""`memrepo sync`: bring this clone and the hub to one history, field by field, without force."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import DryRun, option, side_of
from memrepo.actions.sync.syncing import Clash, Joined, join, merged_json
from memrepo.actions.work import Answer, Work
from memrepo.core.changes import Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.messages import counted, message
from memrepo.core.problems import Problem
from memrepo.store.remote import Hub, PushRefused, UnfitRemote, hub_of, pause
from memrepo.store.repo import BranchMoved
from memrepo.store.sides import count
from memrepo.store.travel import Carried, LedgerDiffers, carry

TRIES = 10
"""How often a sync starts over when the hub or the branch moved while it worked."""


class HubMoves(MemrepoError):
    """The hub or the branch moved each time a merge was ready."""

    exit_code = Exit.DECIDE

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} or this branch moved {TRIES} times while they were joined; nothing was lost",
            fix="run `memrepo sync` again when less is going on",
        )


class RemoteRewritten(MemrepoError):
    """The hub no longer holds what this clone saw there: it was rewritten, or lost history."""

    exit_code = Exit.DECIDE

    def __init__(self, hub: Hub, seen: str, missing: int) -> None:
        lost = counted(missing, "commit", "commits")
        super().__init__(
            f"{hub.name}/{hub.branch} no longer holds {seen[:10]}, which it held when this clone "
            f"last saw it: {lost} gone from there; nothing was changed",
            fix="if an old copy was put back there, `memrepo sync --accept-rewritten` joins both "
            "and gives back what is gone; if history was taken out on purpose, clone it anew",
        )


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a sync came to: commits that came and went, the merge if one was needed.

    `commit` is where both are to be, empty where nothing is to be written; `head` where this clone
    was.
    """

    commit: str
    head: str = ""
    pulled: int = 0
    pushed: int = 0
    joined: Joined | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `sync`."""

    remote: Annotated[
        str, option("the remote's name (the branch's upstream, or origin)", metavar="REMOTE")
    ] = ""
    ours: Annotated[
        bool, option("where the two clash, keep what this clone has", "--ours", group="side")
    ] = False
    theirs: Annotated[
        bool, option("where the two clash, take what the hub has", "--theirs", group="side")
    ] = False
    accept_rewritten: Annotated[
        bool, option("join a hub that no longer holds what it held before", "--accept-rewritten")
    ] = False
    dry_run: DryRun = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""


def do(work: Work, request: Request) -> Answer:
    """Fetch, merge, push and land, again where something moved; then carry the ledger."""
    work.require_writable()
    work.store.refuse_unfit()
    hub = hub_of(work.store.repo, request.remote, work.store.branch)
    if work.config.ledger_ref == hub.head:
        raise UnfitRemote(
            f"ledger.ref names {hub.branch}, the branch that holds the memories",
            fix="give the access ledger a branch of its own in memrepo.toml",
        )
    with work.store.syncing():
        if not request.dry_run:
            work.store.recover()
        outcome = _converge(work, hub, request)
        if outcome.joined is not None and outcome.joined.clashes:
            return _clashing(hub, outcome.joined.clashes)
        carried, problem = _carried(work, hub, dry_run=request.dry_run)
        if outcome.pulled and not request.dry_run:
            work.store.maintain()
    notices = tuple(work.store.notices)
    return _answer(hub, outcome, carried, problem, notices, dry_run=request.dry_run)


def _converge(first: Work, hub: Hub, request: Request) -> Outcome:
    """Bring both to one commit; starts over where the hub or the branch moved."""
    sent = 0
    for turn in range(1, TRIES + 1):
        # Whoever writes here all the time has to wait in the end, a network's time at most.
        patient = first.store.writing() if turn > TRIES // 2 else nullcontext()
        tip = _fetched(hub, first, request)
        try:
            with patient:
                outcome = _joined(first.refreshed(), hub, tip, request)
                if request.dry_run or not outcome.commit:
                    return outcome
                if outcome.commit == tip or hub.push(outcome.commit, hub.head):
                    hub.remember(outcome.commit)
                    sent += outcome.pushed
                    _land(first, hub, outcome)
                    return replace(outcome, pushed=sent)
        except BranchMoved:
            # If the hub has this merge, what was committed here meanwhile is joined to it next.
            continue
        pause(first.store.head(), turn)
    raise HubMoves(hub.name)


def _land(first: Work, hub: Hub, outcome: Outcome) -> None:
    if outcome.commit != outcome.head:
        first.store.advance(outcome.head, outcome.commit, f"sync-{hub.name}")


def _fetched(hub: Hub, at: Work, request: Request) -> str:
    """Return the hub's tip, empty where it has no such branch; raises RemoteRewritten."""
    own = hub.own("trial" if request.dry_run else "incoming")
    tip = hub.fetch({hub.head: own}).get(hub.head, "")
    if request.dry_run:
        hub.forget(own)
    seen = hub.seen()
    if seen and not request.accept_rewritten and not (tip and at.store.is_ancestor(seen, tip)):
        raise RemoteRewritten(hub, seen, count(hub.repo, seen, tip))
    if tip and not request.dry_run:
        hub.remember(tip)
    return tip


def _joined(at: Work, hub: Hub, tip: str, request: Request) -> Outcome:
    """Return the commit that both are to be at; empty where a person must decide first."""
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


def _carried(first: Work, hub: Hub, *, dry_run: bool) -> tuple[Carried, Problem | None]:
    """Carry the access ledger; what goes wrong with it does not take the memories' sync back."""
    step = Step(op="sync", what="access ledgers", reason="their union holds every segment of both")
    text = message(step, first.context())
    there = first.config.ledger_ref
    try:
        return carry(first.store, hub, there, text, first.call.now, dry_run=dry_run), None
    except LedgerDiffers as error:
        return Carried(), Problem(
            path=there, rule="ledger-differs", message=error.message, fix=error.fix
        )
    except PushRefused as error:
        return Carried(), Problem(
            path=there,
            rule="ledger-refused",
            severity="warning",
            message=error.message,
            fix='name a branch instead: [ledger] ref = "memrepo-access" in memrepo.toml',
        )


def _clashing(hub: Hub, clashes: Sequence[Clash]) -> Answer:
    """Say what a person must decide; nothing was written here or sent there."""
    fix = (
        "--ours keeps there what this clone has, --theirs takes what the hub has; "
        "`git show COMMIT` shows each side"
    )
    lines = [f"this clone and {hub.name} clash; nothing was changed here or sent there"]
    lines += [
        f"  {c.kind:<18} {c.memory or visible(c.path)}  here {c.ours[:10]}, hub {c.theirs[:10]}"
        for c in clashes
    ]
    return Answer(
        data={
            "remote": hub.name,
            "branch": hub.branch,
            "commit": "",
            "pulled": 0,
            "pushed": 0,
            "merged": [],
            "kept": [],
            "ledger": {"pulled": 0, "pushed": 0},
            "conflicts": [c.as_json() for c in clashes],
            "fix": fix,
        },
        text="\n".join([*lines, fix]),
        exit=Exit.DECIDE,
    )


def _answer(
    hub: Hub,
    outcome: Outcome,
    carried: Carried,
    problem: Problem | None,
    notices: tuple[Problem, ...],
    *,
    dry_run: bool,
) -> Answer:
    joined = outcome.joined or Joined(chain=None)
    data: dict[str, Any] = {
        "remote": hub.name,
        "branch": hub.branch,
        "commit": outcome.commit,
        "pulled": outcome.pulled,
        "pushed": outcome.pushed,
        "merged": merged_json(joined),
        "kept": list(joined.kept),
        "conflicts": [],
        "ledger": {"pulled": carried.pulled, "pushed": carried.pushed},
    }
    failed = problem is not None and problem.severity == "error"
    return Answer(
        data=data,
        text=_text(hub, outcome, joined, carried, dry_run=dry_run),
        exit=Exit.REPOSITORY if failed else Exit.DONE,
        problems=(*joined.problems, *((problem,) if problem else ()), *notices),
    )


def _text(hub: Hub, outcome: Outcome, joined: Joined, carried: Carried, *, dry_run: bool) -> str:
    would = "would be " if dry_run else ""
    counts = [
        f"{counted(number, 'commit', 'commits')} {would}{what}"
        for number, what in ((outcome.pulled, "pulled"), (outcome.pushed, "pushed"))
        if number
    ]
    where = f"{hub.name}/{hub.branch}"
    lines = [f"{where}: {', '.join(counts) or 'nothing new on either side'}"]
    if joined.merged:
        both = counted(len(joined.merged), "memory", "memories")
        lines.append(f"  {both} changed on both sides, {would}merged field by field")
    lines += [f"  gave way, {would}kept in {path}" for path in joined.kept]
    if carried.pulled or carried.pushed:
        lines.append(f"  access ledger: {carried.pulled} segments in, {carried.pushed} out")
    if dry_run:
        lines.append("dry run: nothing was changed")
    return "\n".join(lines)
