"""Records of purges, stored on a separate ref, and purge keys, stored outside the repository.

`refs/memrepo/purges` contains `<purge>/receipt.json` and, for each clone that repeated the purge,
`<purge>/clones/<clone>.json`. A receipt does not reveal the value: it contains only HMACs. The key
is in the user's configuration folder, `keys/<id>` (mode 0600), never in history.

`.git/memrepo/purged/` contains data of this clone only: `<purge>.map`, the commits before and
after, and a copy of the keyed hashes with which every text is compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.needles import Keyed, find, known_again, mac
from memrepo.core.secret_kinds import Span
from memrepo.core.secrets import Watch
from memrepo.core.state import Effect
from memrepo.merge.purging import Edit
from memrepo.store import quarantine
from memrepo.store.git import user_config
from memrepo.store.local import PURGED, purged_folder
from memrepo.store.lock import scratch
from memrepo.store.quarantine import RewritePlan
from memrepo.store.remote import RECORDS
from memrepo.store.settings import clone_id
from memrepo.store.stream import Chain, NewCommit

if TYPE_CHECKING:
    from memrepo.store.local import Repo
    from memrepo.store.repo import Repository

VALUES = "values.json"
_KEY_BYTES = 32


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """The amount of data searched, and the number of occurrences of the purged value."""

    objects: int = 0
    bytes: int = 0
    commits: int = 0
    hits: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Occurrences by class of place."""


class PurgeReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a purge. It omits the value, but can be verified with the value or the key."""

    id: str
    at: datetime
    by: str
    key: str
    values: tuple[Keyed, ...]
    words: tuple[str, ...] = ()
    """HMACs of words that occurred only in the value and that pages listed separately."""
    reason: str = ""
    searched: tuple[str, ...] = ()
    before: Count = Count()
    after: Count = Count()
    tips_before: tuple[str, ...] = ()
    """HMACs of the former tips. A plain commit id would confirm a guess of the value."""
    tips_after: Mapping[str, str] = msgspec.field(default_factory=dict)


class Acknowledged(msgspec.Struct, frozen=True, kw_only=True):
    """A record by which a clone confirms that it repeated a purge."""

    clone: str
    at: datetime
    hits_before: int
    hits_after: int


# -- keys ------------------------------------------------------------------------------------


def keys_folder() -> Path:
    """Return the folder that contains the user's purge keys."""
    return user_config().parent / "keys"


def key_of(id_: str) -> bytes | None:
    """Return the key with an id, or None if the key is not on this machine."""
    try:
        key = bytes.fromhex((keys_folder() / id_).read_text("ascii").strip())
    except (OSError, ValueError):
        return None
    return key if _key_id(key) == id_ else None


def key_for(repo: Repo) -> tuple[str, bytes]:
    """Return (id, key) for purges of this repository. Create a key if there is none."""
    for receipt in reversed(receipts(repo)):
        if key := key_of(receipt.key):
            return receipt.key, key
    key = os.urandom(_KEY_BYTES)
    folder = keys_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    scratch(folder, ".new-", f"{key.hex()}\n".encode()).replace(folder / _key_id(key))
    return _key_id(key), key


def _key_id(key: bytes) -> str:
    return sha256(b"memrepo key\0" + key).hexdigest()[:16]


# -- records ---------------------------------------------------------------------------------


def receipts(repo: Repo, ref: str = RECORDS) -> list[PurgeReceipt]:
    """Return the receipts of all recorded purges, oldest first."""
    found = [
        msgspec.json.decode(data, type=PurgeReceipt)
        for path, data in _records(repo, ref)
        if path.endswith("/receipt.json")
    ]
    return sorted(found, key=lambda receipt: (receipt.at, receipt.id))


def acknowledged(repo: Repo, purge: str) -> list[Acknowledged]:
    """Return the acknowledgements of all clones that repeated a purge."""
    return [
        msgspec.json.decode(data, type=Acknowledged)
        for path, data in _records(repo, RECORDS)
        if path.startswith(f"{purge}/clones/")
    ]


def _records(repo: Repo, ref: str) -> Iterator[tuple[str, bytes]]:
    tip = repo.refs.id(ref)
    if tip:
        for path, entry in repo.objects.files(tip):
            yield path, repo.objects.read(entry.id)


def record(store: Repository, files: Mapping[str, msgspec.Struct], now: datetime) -> None:
    """Write new receipts and acknowledgements to the purge ref. Keep existing ones unchanged."""
    tip = store.repo.refs.id(RECORDS)
    present = {path for path, _ in _records(store.repo, RECORDS)}
    new: dict[str, bytes | None] = {
        path: msgspec.json.format(msgspec.json.encode(record_), indent=1) + b"\n"
        for path, record_ in files.items()
        if path not in present
    }
    if new:
        message = f"purge: {', '.join(sorted({path.partition('/')[0] for path in new}))}\n"
        commit = NewCommit(message=message, effect=Effect(files=new))
        when = store.not_before(now, tip)
        made = store.loose(Chain(base=tip, commits=[commit], when=when), "purges")
        store.repo.git.update_ref(RECORDS, made)
    keep_values(store.repo)


def acknowledgement(
    repo: Repo, receipt: PurgeReceipt, now: datetime, hits: int
) -> dict[str, Acknowledged]:
    """Create a record which states that this clone repeated a purge."""
    clone = clone_id(repo)
    made = Acknowledged(clone=clone, at=now, hits_before=hits, hits_after=0)
    return {f"{receipt.id}/clones/{clone}.json": made}


def is_done(repo: Repo, purge: str) -> bool:
    """Return whether a purge has been made or repeated in this clone."""
    return _map(repo, purge).exists()


def seed_of(values: Iterable[Keyed], key: bytes) -> str:
    """Return the seed for replacement names in a purge. Equal values give equal seeds and names."""
    return mac(key, "seed", " ".join(sorted(one.mac for one in values)))


# -- data of this clone only -----------------------------------------------------------------


def _map(repo: Repo, purge: str) -> Path:
    return purged_folder(repo) / f"{purge}.map"


def keep_map(repo: Repo, purge: str, commits: Mapping[str, str]) -> None:
    """Store the new ids of replaced commits, so that old commit ids can be resolved later."""
    purged_folder(repo).mkdir(parents=True, exist_ok=True, mode=0o700)
    text = "".join(f"{old} {new}\n" for old, new in sorted(commits.items()))
    scratch(purged_folder(repo), f".{purge}.", text.encode()).replace(_map(repo, purge))


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """Purged values that must not return, stored as keyed hashes with the id of their key."""

    key: str
    values: tuple[Keyed, ...]


def keep_values(repo: Repo) -> None:
    """Store the keyed hashes of all purged values in one file, for fast access."""
    watched = [Watched(key=receipt.key, values=receipt.values) for receipt in receipts(repo)]
    purged_folder(repo).mkdir(parents=True, exist_ok=True, mode=0o700)
    data = msgspec.json.encode(list(dict.fromkeys(watched)))
    scratch(purged_folder(repo), f".{VALUES}.", data).replace(purged_folder(repo) / VALUES)


def watching(folder: Path) -> Watch | None:
    """Return a Watch that detects purged values in new text."""
    try:
        data = (folder / PURGED / VALUES).read_bytes()
    except FileNotFoundError:
        return None
    return _watching(data, tuple(sorted(map(str, keys_folder().glob("*")))))


@lru_cache(maxsize=8)
def _watching(data: bytes, keys: tuple[str, ...]) -> Watch | None:
    del keys  # part of the cache key only: keys may be added later
    hashes = [(key_of(w.key), w.values) for w in msgspec.json.decode(data, type=list[Watched])]
    known = [(key, values) for key, values in hashes if key is not None]

    def look(text: str) -> Iterable[Span]:
        needles = [n for key, values in known for n in known_again(text, values, key)]
        return find(text, needles) if needles else ()

    def name(path: str) -> str:
        for key, values in known:
            if needles := tuple(known_again(path, values, key)):
                path = Edit(needles=needles, seed=seed_of(values, key)).path(path)
        return path

    return Watch(sha256(data).hexdigest(), look, name) if known else None


# -- finishing -------------------------------------------------------------------------------


def finish(store: Repository, plan: RewritePlan) -> None:
    """Replace the repository with its rewritten copy, record the purge, and clean up."""
    quarantine.take_place(store, plan)
    receipt = msgspec.json.decode(plan.receipt, type=PurgeReceipt)
    keep_map(store.repo, receipt.id, {**plan.commits, **plan.tags})
    hits = sum(receipt.before.hits.values())
    files: dict[str, msgspec.Struct] = {
        f"{receipt.id}/receipt.json": receipt,  # already exists in a clone that repeats the purge
        **acknowledgement(store.repo, receipt, receipt.at, hits),
    }
    record(store, files, receipt.at)
    quarantine.done(store.repo)


def resume(store: Repository) -> bool:
    """Finish an interrupted purge, if any. Return whether there was one."""
    plan = quarantine.waiting(store.repo)
    if plan is None:
        return False
    finish(store, plan)
    return True
