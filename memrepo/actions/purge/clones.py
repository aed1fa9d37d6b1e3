"""Purges in other clones: read their records before fetching, and repeat them in this clone.

A clone that purges a value pushes the record first. Then it replaces the old history on the hub,
ref by ref, if the hub still has the replaced commit. A clone that receives a record finds the value
by its key, purges its own history, and acknowledges this in the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from memrepo.actions.purge.purge import COLLECT, purge, recognised
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.store import purges, quarantine
from memrepo.store.local import replaced_commits
from memrepo.store.purges import KeyMissing, Receipt
from memrepo.store.quarantine import read_history
from memrepo.store.remote import (
    OWN,
    RECORDS,
    Hub,
    HubUnreachable,
    NoRemote,
    UnfitRemote,
    carry,
    hub_of,
)

_MESSAGE = "purge: records of both\n"
_OURS = ("refs/heads/", "refs/tags/", "refs/notes/", "refs/memrepo/")
"""The refs that a clone may push. A host has other refs, such as those of pull requests."""


def gather(work: Work) -> tuple[Problem, ...]:
    """Fetch the refs that only the hub contains, so that their history is purged too.

    Return a warning if the hub cannot be reached.
    """
    repo = work.store.repo
    try:
        hub = hub_of(repo, "", work.store.branch)
        there = hub.every_tip()
        known = {one.id for one in repo.objects.each(set(there.values())) if one is not None}
        missing = {ref for ref, id_ in there.items() if id_ not in known and ref != RECORDS}
        if missing:
            hub.fetch({ref: f"{OWN}{hub.name}/other/{ref[5:]}" for ref in sorted(missing)})
    except (NoRemote, UnfitRemote):
        return ()
    except HubUnreachable as error:
        return (
            Problem(
                path=work.store.branch,
                rule="purge-hub-unreached",
                severity="warning",
                message=f"{error.message}: refs that only the hub has are not known here",
                fix="`memrepo sync` when it can be reached",
            ),
        )
    return ()


def heed(work: Work, hub: Hub) -> tuple[Problem, ...]:
    """Repeat recorded purges in this clone before fetching anything else, and update the hub.

    Raises KeyMissing before anything is fetched or pushed.
    """
    store = work.store
    carry(store, hub, RECORDS, _MESSAGE, work.call.now, ref=RECORDS)
    purges.keep_values(store.repo)
    repeated = [
        _repeated(work, one)
        for one in purges.receipts(store.repo)
        if not purges.is_done(store.repo, one.id)
    ]
    if repeated:
        carry(store, hub, RECORDS, _MESSAGE, work.call.now, ref=RECORDS)
    return (*repeated, *_replaced(work, hub))


def _repeated(work: Work, receipt: Receipt) -> Problem:
    """Repeat a purge from another clone in this clone, and return a notice."""
    repo, now = work.store.repo, work.call.now
    key = purges.key_of(receipt.key)
    if key is None:
        raise KeyMissing(receipt.id, receipt.key)
    history = read_history(repo, quarantine.tips_of(repo))
    needles = recognised(work, history, receipt.values, key)
    hits = 0
    if needles:
        with work.store.running(), work.store.writing():
            work.store.refuse_unfit()
            quarantine.refuse_unfit(repo)
            hits = sum(purge(work, replace(receipt, at=now), needles, key).hits.values())
    if not hits:
        purges.keep_map(repo, receipt.id, {})
        purges.record(work.store, purges.acknowledgement(repo, receipt, now, 0), now)
    where = counted(hits, "place", "places") if hits else "no place"
    return Problem(
        path=RECORDS,
        rule="purge-repeated",
        severity="warning",
        message=f"{receipt.id}, purged by {receipt.by} on {receipt.at:%Y-%m-%d}, "
        f"was repeated here: {where} held the value",
        fix="nothing; `memrepo purge verify` searches again",
    )


def _replaced(work: Work, hub: Hub) -> tuple[Problem, ...]:
    """Replace the old history on the hub, ref by ref. A ref that changed is not replaced.

    Return notices.
    """
    repo = work.store.repo
    moved = replaced_commits(repo)
    changed, left = 0, list[str]()
    watched = purges.watching(work.store.folder)
    there = hub.every_tip() if moved else {}
    for ref, old in there.items():
        new = moved.get(old, old)
        name = watched.name(ref) if watched is not None else ref
        if (new, name) == (old, ref):
            continue
        if not ref.startswith(_OURS):
            left.append(ref)
            continue
        if name != ref:
            hub.replace(name, "", new)
            changed += hub.replace(ref, old, "")
        else:
            changed += hub.replace(ref, old, new)
    hub.forget(*repo.refs.below(f"{OWN}{hub.name}/other/"))
    problems = []
    if changed:
        problems.append(_moved_notice(hub, changed))
    if left:
        problems.append(_kept_notice(hub, left))
    return tuple(problems)


def _moved_notice(hub: Hub, changed: int) -> Problem:
    return Problem(
        path=hub.name,
        rule="purge-hub",
        severity="warning",
        message=f"{counted(changed, 'ref', 'refs')} of {hub.name} moved to the history without the"
        " value; the hub's own copy of the old objects lies there until it collects them",
        fix=f"in the hub's folder: {COLLECT} (a host has a button, or its support, for that)",
    )


def _kept_notice(hub: Hub, left: Sequence[str]) -> Problem:
    return Problem(
        path=hub.name,
        rule="purge-hub-keeps",
        severity="warning",
        message=f"{hub.name} keeps old history under refs of its own: {', '.join(left[:5])}",
        fix="ask whoever runs it to delete them, and to collect garbage",
    )


def refuse_old(work: Work, hub: Hub, tip: str, kept: str) -> None:
    """Raise if the fetched history contains a purged commit.

    `kept` is the ref of the fetched history.
    """
    repo = work.store.repo
    moved: Mapping[str, str] = replaced_commits(repo)
    if not moved or not tip:
        return
    new = repo.git.rev_list(tip, "--not", "HEAD").split()
    old = [commit for commit in new if commit in moved]
    if old:
        hub.forget(kept)
        repo.git.prune("--expire=now")
        raise MemrepoError(
            f"{hub.name}/{hub.branch} holds {counted(len(old), 'commit', 'commits')} that a purge"
            " took out of history; nothing of it was kept here",
            fix="somebody pushed from a clone that has not synced since: its owner runs "
            "`memrepo sync` there, or pushes the branch without them",
            exit_code=Exit.DECIDE,
        )
