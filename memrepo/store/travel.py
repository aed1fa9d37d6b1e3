"""The access ledger's way between clones: trees of segments whose union is exact.

A segment is named by its content and never changes, so uniting two ledgers is uniting two sets of
names (docs/machines.md). Who writes segments, and how they are read, is no matter here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from memrepo.core.errors import MemrepoError
from memrepo.core.ids import visible
from memrepo.core.state import Effect
from memrepo.store.foreign import collisions
from memrepo.store.remote import Hub, pause
from memrepo.store.repo import Repository
from memrepo.store.stream import Chain, Commit, Pick

ACCESS = "refs/memrepo/access"
RECORDS = "refs/memrepo/purges"
"""What was purged, and by which clones (`store.purges`): travels as the ledger does."""
TRIES = 10


class LedgerDiffers(MemrepoError):
    """Two ledgers have a segment of one name that is not the same: one of them was altered."""

    def __init__(self, path: str, ours: str, theirs: str) -> None:
        super().__init__(
            f"the access ledgers disagree about {visible(path)}: found {ours[:10]} here and "
            f"{theirs[:10]} on the hub, expected the same segment; neither ledger was changed",
            fix="compare them with `git show`, and correct the one that was altered; the memories "
            "themselves are in sync",
        )


class LedgerBusy(MemrepoError):
    """The ledgers moved each time they were united."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the access ledger moved {TRIES} times while it was united with that of {name}",
            fix="run `memrepo sync` again; nothing was lost",
        )


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """How many segments came from the hub, and how many went there."""

    pulled: int = 0
    pushed: int = 0


def carry(
    store: Repository,
    hub: Hub,
    there: str,
    message: str,
    now: datetime,
    *,
    ref: str = ACCESS,
    dry_run: bool = False,
) -> Carried:
    """Bring both ledgers to their union; `there` is the ref that holds the hub's, `ref` ours.

    Where neither side has a ledger nothing happens. Raises LedgerDiffers, LedgerBusy, PushRefused.
    """
    own = hub.copy_of(ref)
    own = f"{own}-trial" if dry_run else own
    for turn in range(1, TRIES + 1):
        theirs = hub.fetch({there: own}).get(there, "")
        ours = hub.tip(ref)
        carried = _difference(store, ours, theirs)
        if dry_run:
            hub.forget(own)
            return carried
        tip = _union(store, ours, theirs, message, now)
        if tip != theirs and not hub.push(tip, there):
            pause(ours or tip, turn)
            continue
        if tip and tip != theirs:
            store.repo.git.update_ref(own, tip)
        if tip == ours or _moved(store, ref, tip, ours):
            return carried
    raise LedgerBusy(hub.name)


def _moved(store: Repository, ref: str, tip: str, ours: str) -> bool:
    """Set our ledger to the union, unless something was written to it meanwhile."""
    none = "0" * len(tip)
    store.repo.git.update_ref(ref, tip, ours or none, with_exceptions=False)
    return store.repo.refs.id(ref) == tip


def _difference(store: Repository, ours: str, theirs: str) -> Carried:
    mine, other = _segments(store, ours), _segments(store, theirs)
    for path in sorted(mine.keys() & other.keys()):
        if mine[path] != other[path]:
            raise LedgerDiffers(path, mine[path].blob, other[path].blob)
    for path in collisions({*mine, *other}, {*mine, *other}):
        raise LedgerDiffers(path, ours, theirs)
    return Carried(pulled=len(other.keys() - mine.keys()), pushed=len(mine.keys() - other.keys()))


def _union(store: Repository, ours: str, theirs: str, message: str, now: datetime) -> str:
    """Return the commit that holds both ledgers: one of the two where it does, else a merge."""
    if not ours or not theirs or ours == theirs:
        return ours or theirs
    if store.is_ancestor(ours, theirs):
        return theirs
    if store.is_ancestor(theirs, ours):
        return ours
    mine, other = _segments(store, ours), _segments(store, theirs)
    picks = {path: pick for path, pick in mine.items() if path not in other}
    when = store.not_before(store.not_before(now, theirs), ours)
    commit = Commit(message=message, effect=Effect(files={}), picks=picks)
    return store.loose(Chain(base=ours, first=theirs, commits=[commit], when=when), "access")


def _segments(store: Repository, commit: str) -> Mapping[str, Pick]:
    if not commit:
        return {}
    found = store.repo.light.objects.files(commit)
    return {path: Pick(mode=entry.mode, blob=entry.id) for path, entry in found}
