"""The access ledger: a record of memory retrievals and sessions, stored on a separate ref.

`refs/memrepo/access` contains immutable segments `<clone>/<seq>-<hash>.jsonl`. A segment contains
lines of events, or it is a compaction: the names of covered segments, the newest sessions and one
account per memory. A clone compacts only its own segments, so two compactions never partly cover
the same segment. The union of two ledgers' files is therefore exact in any order.

Events wait in a buffer in the git directory, appended under a lock. A flush first gives the buffer
its number. If a crash interrupts the flush, repeating it writes the same name.

An SQLite cache contains the accounts by memory at one commit, and the names of the counted
segments. New segments are added to it. A compaction of counted segments changes nothing. After any
other change (a rewritten ref, a damaged file) the cache is rebuilt.
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
from memrepo.store.lock import lock, remove
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
    covered = frozenset().union(*(s.covers for s in segments.values()))
    return united(segments[name].accesses for name in sorted(segments.keys() - covered))


class _New(msgspec.Struct, frozen=True, kw_only=True):
    """The files that a flush adds to the ledger's tree, and those it removes."""

    files: Mapping[str, bytes]
    gone: tuple[str, ...] = ()
    blobs: Mapping[str, str] = msgspec.field(default_factory=dict)


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

    def reaches(self, commit: str) -> bool:
        """Return whether the ledger still contains everything in one of its earlier commits."""
        tip = self.tip()
        if commit == tip or not (tip and self.repo.objects.commit(commit)):
            return commit == tip
        return commit in self.repo.call("merge-base", commit, tip, accepted=1).split()

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
                if _is_torn(buffer):
                    data = b"\n" + data
                os.write(buffer.fileno(), data)
                buffer.seek(0)
                count = sum(1 for _ in buffer)
            if count >= flush_at:
                self._flush(now)

    def flush(self, now: datetime) -> str:
        """Write buffered events to the ref. Return the ledger's newest commit, or "" if empty."""
        if not self._has_pending():
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
            mine, theirs = self.blobs(tip), self.blobs(commit)
            new = {name: blob for name, blob in theirs.items() if name not in mine}
            if not new:
                return tip
            return self._commit(tip, _New(files={}, blobs=new), now, merged=commit)

    def _has_pending(self) -> bool:
        return (self.folder / BUFFER).exists() or bool(list(self.folder.glob("flush-*.jsonl")))

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
        """Return the names of all segments covered by this clone's compactions."""
        heads = (read_blob(self.repo, blobs[n]).split(b"\n", 1)[0] for n in self._own(blobs))
        return frozenset().union(*(read_segment(h).covers for h in heads if h.startswith(b"{")))

    def _compacted(self, blobs: Mapping[str, str], files: Mapping[str, bytes]) -> _New:
        """Return the files to add, compacted with this clone's segments if there are too many."""
        if len(self._own(blobs)) + len(files) <= COMPACT_AT:
            return _New(files=files)
        own = {name: self.segment(blobs[name]) for name in self._own(blobs)}
        mine = {**own, **{name: read_segment(data) for name, data in files.items()}}
        covers = frozenset(mine).union(*(s.covers for s in mine.values()))
        data = write_compaction(Segment(accesses=unite(mine), covers=covers))
        name = _name(self.clone, max(map(_number, mine)) + 1, data)
        return _New(files={name: data}, gone=tuple(sorted(own)))

    def _commit(self, tip: str, new: _New, now: datetime, *, merged: str = "") -> str:
        """Write a commit to the ledger's ref. The caller must hold the ledger's lock."""
        import tempfile

        from memrepo.store.stream import COMMITTER, quoted

        count = len(new.files) + len(new.blobs)
        message = f"access: {count} segment{'' if count == 1 else 's'}\n".encode()
        stamp = f"{COMMITTER} {int(now.timestamp())} +0000"
        with tempfile.TemporaryFile() as out:
            out.write(b"feature done\n")
            out.write(f"commit {REF}\nauthor {stamp}\ncommitter {stamp}\n".encode())
            out.write(b"data %d\n" % len(message) + message)
            for word, parent in (("from", tip), ("merge", merged)):
                if parent:
                    out.write(f"{word} {parent}\n".encode())
            for name in new.gone:
                out.write(b"D " + quoted(name) + b"\n")
            for name, blob in sorted(new.blobs.items()):
                out.write(f"M 100644 {blob} ".encode() + quoted(name) + b"\n")
            for name, data in sorted(new.files.items()):
                out.write(b"M 100644 inline " + quoted(name) + b"\ndata %d\n" % len(data) + data)
                out.write(b"\n")
            out.write(b"done\n")
            out.seek(0)
            self.repo.call("fast-import", "--quiet", "--done", stdin=out.fileno())
        return self.tip()

    # -- reading -----------------------------------------------------------------------------

    def pending(self) -> dict[str, Segment]:
        """Return {future name: segment} of the buffered events that are not yet on the ref.

        During a flush in another process, a segment may briefly be counted twice.
        """
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
        known, names = folded(self, self.tip())
        return _over(known, unite({n: s for n, s in pending.items() if n not in names}))


def _over(known: Accesses, more: Accesses) -> Accesses:
    if not (more.by_memory or more.sessions):
        return known
    few = {m: known.of(m) + account for m, account in more.by_memory.items()}
    sessions = united([Accesses(sessions=a.sessions) for a in (known, more)]).sessions
    return Accesses(by_memory=Overlay(known.by_memory, few), sessions=sessions)


class Overlay(Mapping[str, Access]):
    """Mapping of a few updated accounts on top of a base mapping, which may decode lazily."""

    def __init__(self, base: Mapping[str, Access], few: Mapping[str, Access]) -> None:
        self._base, self._few = base, few

    def __getitem__(self, key: str) -> Access:
        return self._few[key] if key in self._few else self._base[key]

    def __iter__(self) -> Iterator[str]:
        yield from self._base
        yield from (key for key in self._few if key not in self._base)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _is_torn(buffer: BinaryIO) -> bool:
    """Return whether a buffer's last line is incomplete, for example after the disk was full."""
    size = buffer.seek(0, os.SEEK_END)
    if not size:
        return False
    buffer.seek(size - 1)
    return buffer.read(1) != b"\n"


def _name(clone: str, number: int, data: bytes) -> str:
    import hashlib

    return f"{clone}/{number:08d}-{hashlib.sha256(data).hexdigest()[:16]}.jsonl"


def _number(name: str) -> int:
    """Return the sequence number in the name of a segment, or of a buffer being flushed."""
    word = name.rpartition("/")[2].removeprefix("flush-").removesuffix(".jsonl")
    return int(word.partition("-")[0])


def ledger_of(store: Repository) -> Ledger:
    """Return the access ledger of an open repository."""
    return Ledger(store.repo, store.folder)


VERSION = "1"
NAME = "access.sqlite3"
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE segment (name TEXT PRIMARY KEY);
CREATE TABLE account (memory TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Accounts(Mapping[str, Access]):
    """A mapping from memories to accounts. Each account is decoded on first access."""

    def __init__(self, rows: dict[str, str]) -> None:
        self._rows = rows
        self._known: dict[str, Access] = {}

    def __getitem__(self, memory: str) -> Access:
        if memory not in self._known:
            self._known[memory] = read_access(json.loads(self._rows[memory]))
        return self._known[memory]

    def __contains__(self, memory: object) -> bool:
        return memory in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def folded(ledger: Ledger, commit: str) -> tuple[Accesses, frozenset[str]]:
    """Return (accounts at a commit of the ledger, names of the segments counted in them)."""
    if not commit:
        return Accesses(), frozenset()
    path = ledger.folder / NAME
    try:
        try:
            return _answer(path, ledger, commit)
        except sqlite3.OperationalError:
            raise  # not damaged, but not writable or locked too long
        except (sqlite3.DatabaseError, ValueError):
            remove(path)
            return _answer(path, ledger, commit)
    except (OSError, sqlite3.OperationalError):
        return _answer(":memory:", ledger, commit)


def _answer(where: Path | str, ledger: Ledger, commit: str) -> tuple[Accesses, frozenset[str]]:
    with closing(sqlite3.connect(where, timeout=10.0, isolation_level=None)) as base:
        base.execute("PRAGMA synchronous = OFF")
        if _meta(base, "commit") != commit:
            base.execute("BEGIN IMMEDIATE")
            _catch_up(base, ledger, commit)
            base.execute("COMMIT")
        base.execute("BEGIN")
        rows = dict(base.execute("SELECT memory, value FROM account"))
        names = frozenset(row[0] for row in base.execute("SELECT name FROM segment"))
        sessions = tuple((int(a), str(i)) for a, i in json.loads(_meta(base, "sessions")))
        base.execute("COMMIT")
    return Accesses(by_memory=Accounts(rows), sessions=sessions), names


def _meta(base: sqlite3.Connection, key: str) -> str:
    if not base.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return ""
    rows = dict(base.execute("SELECT key, value FROM meta"))
    return str(rows.get(key, "")) if rows.get("version") == VERSION else ""


def _catch_up(base: sqlite3.Connection, ledger: Ledger, commit: str) -> None:
    blobs = ledger.blobs(commit)
    counted: set[str] = set()
    if _meta(base, "sessions"):
        counted = {row[0] for row in base.execute("SELECT name FROM segment")}
    new = {name: ledger.segment(blobs[name]) for name in sorted(blobs.keys() - counted)}
    covers = frozenset().union(*(s.covers for s in new.values()))
    fresh = [s.covers for s in new.values() if s.covers & counted and not s.covers <= counted]
    # A counted segment may be removed only by a compaction that was counted too.
    lost = counted - blobs.keys() - covers - _covered(base)
    if not counted or fresh or lost:
        _start_over(base)
        counted, new = set(), {name: ledger.segment(blob) for name, blob in blobs.items()}
        covers = frozenset().union(*(s.covers for s in new.values()))
    _add(base, {n: s for n, s in new.items() if n not in covers and not s.covers & counted})
    base.executemany(
        "REPLACE INTO segment VALUES (?)", [(name,) for name in (*new, *sorted(covers))]
    )
    known = sorted(covers | _covered(base))
    base.execute("REPLACE INTO meta VALUES ('covered', ?)", (json.dumps(known),))
    base.execute("REPLACE INTO meta VALUES ('commit', ?)", (commit,))


def _covered(base: sqlite3.Connection) -> frozenset[str]:
    return frozenset(json.loads(_meta(base, "covered") or "[]"))


def _start_over(base: sqlite3.Connection) -> None:
    for name in ("meta", "segment", "account"):
        base.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in filter(str.strip, _TABLES.split(";\n")):
        base.execute(statement)
    base.execute("INSERT INTO meta VALUES ('version', ?), ('sessions', '[]')", (VERSION,))


def _add(base: sqlite3.Connection, segments: Mapping[str, Segment]) -> None:
    sessions = tuple((int(a), str(i)) for a, i in json.loads(_meta(base, "sessions")))
    parts = (segment.accesses for segment in segments.values())
    total = united([Accesses(sessions=sessions), *parts])
    for memory, account in total.by_memory.items():
        row = base.execute("SELECT value FROM account WHERE memory = ?", (memory,)).fetchone()
        whole = account + read_access(json.loads(row[0])) if row else account
        spelled = json.dumps(whole.as_json(), separators=(",", ":"))
        base.execute("REPLACE INTO account VALUES (?, ?)", (memory, spelled))
    spelled = json.dumps([list(pair) for pair in total.sessions])
    base.execute("REPLACE INTO meta VALUES ('sessions', ?)", (spelled,))
