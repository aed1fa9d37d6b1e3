"""The access ledger: a record of memory retrievals and sessions, stored on a separate ref.

`refs/memrepo/access` contains immutable segments `<clone>/<seq>-<hash>.jsonl`. A segment contains
lines of events, or it is a compaction: the names of covered segments, the newest sessions and one
account per memory. A clone compacts only its own segments, so two compactions never partly cover
the same segment. The union of two ledgers' files is therefore exact in any order.

Events wait in a buffer in the git directory, appended under a lock. A flush first gives the buffer
its number. If a crash interrupts the flush, repeating it writes the same name.

An SQLite cache contains the accounts by memory at one commit, and the names of the counted
segments.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from memrepo.core.access import (
    Access,
    Accesses,
    Event,
    fold,
    read_access,
    read_event,
    united,
)
from memrepo.store.database import connect, get_meta, query, set_meta
from memrepo.store.git import FILE, TreeEntry
from memrepo.store.lock import lock
from memrepo.store.tree import read_blob

if TYPE_CHECKING:
    from memrepo.store.local import Repo
    from memrepo.store.repo import Repository

REF = "refs/memrepo/access"
BUFFER = "access.jsonl"
FLUSH_AT = 100
"""Number of buffered events at which `record` flushes the buffer."""
COMPACT_AT = 64
"""Number of this clone's segments above which a flush compacts them."""
WAIT_S = 10.0


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """The parsed content of a ledger file. `covers` names the segments a compaction replaces."""

    accesses: Accesses
    covers: frozenset[str] = frozenset()


def read_segment(data: bytes) -> Segment:
    """Parse a ledger segment, skipping incomplete lines.

    An invalid compaction counts nothing and covers nothing. It came from elsewhere, and the
    segments it might have covered are counted themselves.
    """
    lines = data.decode("utf-8", "replace").splitlines()
    if not lines or not lines[0].startswith("{"):
        return Segment(accesses=fold(filter(None, map(read_event, lines))))
    try:
        head = json.loads(lines[0])
        found = {
            str(memory): read_access(account) for memory, account in map(json.loads, lines[1:])
        }
        sessions = tuple((int(at), str(id_)) for at, id_ in head["sessions"])
        covers = frozenset(map(str, head["covers"]))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return Segment(accesses=Accesses())
    return Segment(accesses=Accesses(by_memory=found, sessions=sessions), covers=covers)


def write_compaction(segment: Segment) -> bytes:
    """Encode a compaction as bytes. Equal compactions give equal bytes."""
    accesses = segment.accesses
    head = {"covers": sorted(segment.covers), "sessions": [list(p) for p in accesses.sessions]}
    rows = [[memory, accesses.of(memory).as_json()] for memory in sorted(accesses.by_memory)]
    return "".join(json.dumps(x, separators=(",", ":")) + "\n" for x in (head, *rows)).encode()


def unite(segments: Mapping[str, Segment]) -> Accesses:
    """Combine the segments of several ledgers, skipping those covered by a compaction."""
    counted = segments.keys() - _covered_by(segments.values())
    return united(segments[name].accesses for name in sorted(counted))


def _covered_by(segments: Iterable[Segment]) -> frozenset[str]:
    return frozenset().union(*(segment.covers for segment in segments))


class Ledger:
    """The access ledger of one clone: a buffer of new events, and a ref with written segments."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.repo = repo
        self.folder = folder

    @cached_property
    def clone(self) -> str:
        """Return the clone id with which the names of this clone's segments start."""
        from memrepo.store.settings import clone_id

        return clone_id(self.repo)

    def tip(self) -> str:
        """Return the id of the ledger's newest commit, or "" if the ledger is empty."""
        return self.repo.refs.id(REF)

    def contains(self, commit: str) -> bool:
        """Return whether the ledger still contains everything in one of its earlier commits."""
        tip = self.tip()
        if commit == tip or not (tip and self.repo.objects.commit(commit)):
            return commit == tip
        return commit in self.repo.call("merge-base", commit, tip, accepted=1).split()

    def buffered(self) -> list[tuple[str, int]]:
        """Return (name, size) of each file of events that are not yet on the ref."""
        paths = (self.folder / BUFFER, *self.folder.glob("flush-*.jsonl"))
        return [(path.name, path.stat().st_size) for path in paths if path.exists()]

    def blobs(self, commit: str) -> dict[str, str]:
        """Return {segment name: blob id} for a commit of the ledger."""
        if not commit:
            return {}
        return {name: entry.id for name, entry in self.repo.objects.files(commit)}

    def segment(self, blob: str) -> Segment:
        """Read a ledger segment, given its blob id."""
        return read_segment(read_blob(self.repo, blob))

    # -- writing -----------------------------------------------------------------------------

    def record(self, events: Iterable[Event], now: datetime, flush_at: int = FLUSH_AT) -> None:
        """Append events to the buffer. They are on disk when the call returns.

        A buffer of `flush_at` events is written to the ref.

        Raises Locked if another process locks the ledger for too long, or OSError if the buffer
        cannot be written.
        """
        data = "".join(event.line() for event in events).encode()
        if not data:
            return
        with lock(self.folder, "access", wait_s=WAIT_S):
            with (self.folder / BUFFER).open("ab+") as buffer:
                if _is_incomplete(buffer):
                    data = b"\n" + data
                os.write(buffer.fileno(), data)
                buffer.seek(0)
                count = sum(1 for _ in buffer)
            if count >= flush_at:
                self._flush(now)

    def flush(self, now: datetime) -> str:
        """Write buffered events to the ref. Return the ledger's newest commit, or "" if empty."""
        if not (self.folder / BUFFER).exists() and not any(self.folder.glob("flush-*.jsonl")):
            return self.tip()
        with lock(self.folder, "access", wait_s=WAIT_S):
            return self._flush(now)

    def join(self, commit: str, now: datetime) -> str:
        """Merge another ledger's commit, usually a fetched one, and return the resulting commit."""
        with lock(self.folder, "access", wait_s=WAIT_S):
            tip = self.tip()
            if not tip:
                self.repo.call("update-ref", REF, commit)
                return commit
            ours, theirs = self.blobs(tip), self.blobs(commit)
            new = {n: TreeEntry(FILE, blob) for n, blob in theirs.items() if n not in ours}
            return self._commit(tip, {}, now, picks=new, merged=commit) if new else tip

    def _flush(self, now: datetime) -> str:
        tip = self.tip()
        blobs = self.blobs(tip)
        covered = self._covered(blobs)
        used = [_number(n) for n in (*blobs, *covered) if n.startswith(f"{self.clone}/")]
        buffer = self.folder / BUFFER
        if buffer.exists():
            left = [_number(p.name) for p in self.folder.glob("flush-*.jsonl")]
            number = max((*used, *left), default=0) + 1
            buffer.rename(self.folder / f"flush-{number:08d}.jsonl")
        waiting = sorted(self.folder.glob("flush-*.jsonl"))
        files = {}
        for path in waiting:
            name, data = self._named(path)
            if name not in blobs and name not in covered:
                files[name] = data
        if files:
            tip = self._commit(tip, self._compacted(blobs, files), now)
        for path in waiting:
            path.unlink()
        return tip

    def _named(self, path: Path) -> tuple[str, bytes]:
        data = path.read_bytes()
        return _name(self.clone, _number(path.name), data), data

    def _own(self, blobs: Mapping[str, str]) -> list[str]:
        return [name for name in blobs if name.startswith(f"{self.clone}/")]

    def _covered(self, blobs: Mapping[str, str]) -> frozenset[str]:
        heads = (read_blob(self.repo, blobs[n]).split(b"\n", 1)[0] for n in self._own(blobs))
        return _covered_by(read_segment(head) for head in heads if head.startswith(b"{"))

    def _compacted(
        self, blobs: Mapping[str, str], files: Mapping[str, bytes]
    ) -> Mapping[str, bytes | None]:
        """Return the files to add, compacted with this clone's segments if there are too many."""
        if len(self._own(blobs)) + len(files) <= COMPACT_AT:
            return files
        own = {name: self.segment(blobs[name]) for name in self._own(blobs)}
        ours = {**own, **{name: read_segment(data) for name, data in files.items()}}
        covers = frozenset(ours) | _covered_by(ours.values())
        data = write_compaction(Segment(accesses=unite(ours), covers=covers))
        name = _name(self.clone, max(map(_number, ours)) + 1, data)
        return {name: data, **dict.fromkeys(own)}

    def _commit(
        self,
        tip: str,
        files: Mapping[str, bytes | None],
        now: datetime,
        *,
        picks: Mapping[str, TreeEntry] | None = None,
        merged: str = "",
    ) -> str:
        """Write a commit to the ledger's ref. The caller must hold the ledger's lock."""
        import tempfile

        from memrepo.core.state import Effect
        from memrepo.store.stream import COMMITTER, Chain, NewCommit, write_stream

        picks = picks or {}
        count = sum(data is not None for data in files.values()) + len(picks)
        message = f"access: {count} segment{'' if count == 1 else 's'}\n"
        commit = NewCommit(message=message, effect=Effect(files=files), picks=picks)
        base, first = (merged, tip) if merged else (tip, "")
        chain = Chain(base=base, first=first, commits=[commit], author=COMMITTER, when=now)
        with tempfile.TemporaryFile() as out:
            write_stream(out, chain, REF)
            out.seek(0)
            self.repo.call("fast-import", "--quiet", "--done", stdin=out.fileno())
        return self.tip()

    # -- reading -----------------------------------------------------------------------------

    def pending(self) -> dict[str, Segment]:
        """Return {future name: segment} of the buffered events that are not yet on the ref."""
        found: dict[str, Segment] = {}
        buffered = b""
        with suppress(OSError):
            buffered = (self.folder / BUFFER).read_bytes()
        for path in sorted(self.folder.glob("flush-*.jsonl")):
            with suppress(FileNotFoundError):
                name, data = self._named(path)
                found[name] = read_segment(data)
                buffered = b"" if data == buffered else buffered
        return {**found, BUFFER: read_segment(buffered)}

    def accesses(self) -> Accesses:
        """Return the current accounts of all memories, from the cached ref and the buffer."""
        # Read the buffer first. Events that a flush moves meanwhile are then found on the ref.
        pending = self.pending()
        known, names = _cached_accounts(self, self.tip())
        return _added(known, unite({n: s for n, s in pending.items() if n not in names}))


def _added(known: Accesses, more: Accesses) -> Accesses:
    if not (more.by_memory or more.sessions):
        return known
    updated = {m: known.of(m) + account for m, account in more.by_memory.items()}
    rows = known.by_memory.rows if isinstance(known.by_memory, LazyAccounts) else {}
    sessions = united([Accesses(sessions=a.sessions) for a in (known, more)]).sessions
    return Accesses(by_memory=LazyAccounts(rows, updated), sessions=sessions)


def _is_incomplete(buffer: BinaryIO) -> bool:
    size = buffer.seek(0, os.SEEK_END)
    if not size:
        return False
    buffer.seek(size - 1)
    return buffer.read(1) != b"\n"


def _name(clone: str, number: int, data: bytes) -> str:
    import hashlib

    return f"{clone}/{number:08d}-{hashlib.sha256(data).hexdigest()[:16]}.jsonl"


def _number(name: str) -> int:
    word = name.rpartition("/")[2].removeprefix("flush-").removesuffix(".jsonl")
    return int(word.partition("-")[0])


def ledger_of(store: Repository) -> Ledger:
    """Return the access ledger of an open repository."""
    return Ledger(store.repo, store.folder)


NAME = "access.sqlite3"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS account (memory TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


class LazyAccounts(Mapping[str, Access]):
    """A mapping from memories to accounts. Rows are decoded on first access."""

    def __init__(self, rows: Mapping[str, str], known: Mapping[str, Access] | None = None) -> None:
        self.rows = rows
        self._known = dict(known or {})

    def __getitem__(self, memory: str) -> Access:
        if memory not in self._known:
            self._known[memory] = read_access(json.loads(self.rows[memory]))
        return self._known[memory]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.rows, **self._known})

    def __len__(self) -> int:
        return len(self.rows.keys() | self._known.keys())


def _cached_accounts(ledger: Ledger, commit: str) -> tuple[Accesses, frozenset[str]]:
    """Return (accounts at a commit of the ledger, names of the segments counted in them)."""
    if not commit:
        return Accesses(), frozenset()
    return query(ledger.folder / NAME, lambda where: _accounts_in(where, ledger, commit))


def _accounts_in(where: Path | str, ledger: Ledger, commit: str) -> tuple[Accesses, frozenset[str]]:
    with closing(connect(where, WAIT_S)) as base:
        for statement in _TABLES:
            base.execute(statement)
        if get_meta(base, "counted") != commit:
            base.execute("BEGIN IMMEDIATE")
            _count(base, ledger, commit)
            base.execute("COMMIT")
        base.execute("BEGIN")
        rows = dict(base.execute("SELECT memory, value FROM account"))
        names = frozenset(json.loads(get_meta(base, "names")))
        sessions = tuple((int(a), str(i)) for a, i in json.loads(get_meta(base, "sessions")))
        base.execute("COMMIT")
    return Accesses(by_memory=LazyAccounts(rows), sessions=sessions), names


def _count(base: sqlite3.Connection, ledger: Ledger, commit: str) -> None:
    segments = {name: ledger.segment(blob) for name, blob in ledger.blobs(commit).items()}
    total = unite(segments)
    names = sorted(segments.keys() | _covered_by(segments.values()))
    base.execute("DELETE FROM account")
    base.executemany(
        "INSERT INTO account VALUES (?, ?)",
        [(memory, json.dumps(account.as_json())) for memory, account in total.by_memory.items()],
    )
    sessions = json.dumps([list(pair) for pair in total.sessions])
    set_meta(base, {"counted": commit, "names": json.dumps(names), "sessions": sessions})
