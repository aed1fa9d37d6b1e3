"""The access ledger: which memory was retrieved when, and when sessions began.

Events wait in a file of this clone, the buffer. A run closes the buffer into a segment, and the
manifest of the run has the segments that no earlier manifest has, so they travel with the history.
A segment is counted once by its name, however many manifests have it. An SQLite database caches the
sum of all segments at HEAD.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from memrepo.core.access import Access, Accesses, Event, fold, read_access, read_event, united
from memrepo.store.database import connect, get_meta, query, set_meta
from memrepo.store.lock import keep_newest, lock

if TYPE_CHECKING:
    from memrepo.store.repo import Repository
    from memrepo.store.tree import Snapshot

BUFFER = "access.jsonl"
NAME = "access.sqlite3"
FLUSH_AT = 100
"""Number of buffered events at which `record` closes the buffer."""
KEPT = 100
"""Number of closed segments that this clone keeps, for the case that a run is reverted."""
WAIT_S = 10.0


class Ledger:
    """The access ledger of an open repository."""

    def __init__(self, store: Repository) -> None:
        self._store, self.folder = store, store.folder

    def record(self, events: Iterable[Event], flush_at: int = FLUSH_AT) -> None:
        """Append events to the buffer. They are on disk when the call returns.

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
                self._close()

    def close(self) -> None:
        """Close the buffer, so that the next manifest has its events."""
        if (self.folder / BUFFER).exists():
            with lock(self.folder, "access", wait_s=WAIT_S):
                self._close()

    def _close(self) -> None:
        with suppress(FileNotFoundError):  # another process has just closed it
            last = max((int(path.stem[5:]) for path in self._closed()), default=0)
            (self.folder / BUFFER).rename(self.folder / f"used-{last + 1:08d}.jsonl")
            keep_newest(self.folder, "used-*.jsonl", KEPT)

    def _closed(self) -> list[Path]:
        return sorted(self.folder.glob("used-*.jsonl"))

    def unrecorded(self) -> dict[str, object]:
        """Return {name: segment} of the closed segments that no manifest at HEAD has, as JSON."""
        found = self._segments()
        known = self._recorded()[1] if found else frozenset()
        return {name: _as_json(one) for name, one in found.items() if name not in known}

    def _segments(self) -> dict[str, Accesses]:
        from memrepo.store.settings import clone_id

        found: dict[str, Accesses] = {}
        for path in self._closed():
            with suppress(OSError):
                name = f"{clone_id(self._store.repo)}/{path.stem[5:]}"
                found[name] = _read_events(path.read_bytes())
        return found

    def accesses(self) -> Accesses:
        """Return the current accounts of all memories, recorded or not."""
        buffered = b""
        with suppress(OSError):
            buffered = (self.folder / BUFFER).read_bytes()
        segments = self._segments()
        known, names = self._recorded()
        waiting = [one for name, one in segments.items() if name not in names]
        return _added(known, united([*waiting, _read_events(buffered)]))

    def fingerprint(self) -> list[str]:
        """Return the names and sizes of this clone's files of events."""
        paths = [path for path in (self.folder / BUFFER, *self._closed()) if path.exists()]
        return [f"{path.name} {path.stat().st_size}" for path in paths]

    def _recorded(self) -> tuple[Accesses, frozenset[str]]:
        """Return the accounts of the segments in the manifests at HEAD, and their names."""
        tree = self._store.snapshot(self._store.head())
        if not tree.files.id_of(tree.layout.area("runs").rstrip("/")):
            return Accesses(), frozenset()
        return query(self.folder / NAME, lambda where: _accounts_in(where, tree))


def ledger_of(store: Repository) -> Ledger:
    """Return the access ledger of an open repository."""
    return Ledger(store)


def _read_events(data: bytes) -> Accesses:
    """Count the events in a file of this clone, skipping incomplete lines."""
    lines = data.decode("utf-8", "replace").splitlines()
    return fold(filter(None, map(read_event, lines)))


def _as_json(accesses: Accesses) -> dict[str, object]:
    rows = {memory: accesses.of(memory).as_json() for memory in sorted(accesses.by_memory)}
    return {"memories": rows, "sessions": [list(pair) for pair in accesses.sessions]}


def segments_of(manifest: bytes) -> Iterator[tuple[str, Accesses]]:
    """Yield the name and content of each segment in a manifest, leaving out damaged ones."""
    try:
        found: Any = json.loads(manifest).get("used", {})
        for name, one in found.items():
            accounts = {str(m): read_access(account) for m, account in one["memories"].items()}
            sessions = tuple((int(at), str(id_)) for at, id_ in one["sessions"])
            yield str(name), Accesses(by_memory=accounts, sessions=sessions)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return


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


_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS account (memory TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS counted (path TEXT PRIMARY KEY, blob TEXT NOT NULL)",
)


def _accounts_in(where: Path | str, tree: Snapshot) -> tuple[Accesses, frozenset[str]]:
    area = tree.layout.area("runs")
    runs = tree.files.id_of(area.rstrip("/"))
    with closing(connect(where, WAIT_S)) as base:
        for statement in _TABLES:
            base.execute(statement)
        if get_meta(base, "runs") != runs:
            base.execute("BEGIN IMMEDIATE")
            _count(base, tree, tree.files.below(area))
            set_meta(base, {"runs": runs})
            base.execute("COMMIT")
        base.execute("BEGIN")
        rows = dict(base.execute("SELECT memory, value FROM account"))
        names, sessions = frozenset(_stored(base, "names")), _stored(base, "sessions")
        base.execute("COMMIT")
    pairs = tuple((int(at), str(id_)) for at, id_ in sessions)
    return Accesses(by_memory=LazyAccounts(rows), sessions=pairs), names


def _stored(base: sqlite3.Connection, key: str) -> list[Any]:
    found: list[Any] = json.loads(get_meta(base, key) or "[]")
    return found


def _count(base: sqlite3.Connection, tree: Snapshot, files: Mapping[str, str]) -> None:
    """Add the segments of manifests that are not counted yet, or count all if one is gone."""
    known = dict(base.execute("SELECT path, blob FROM counted"))
    if not known.items() <= files.items():
        for table in ("account", "counted", "meta"):
            base.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
        known = {}
    new = {path: blob for path, blob in files.items() if path not in known}
    data = tree.files.many(new.values())
    names = set(_stored(base, "names"))
    parts = [Accesses(sessions=tuple((int(a), str(i)) for a, i in _stored(base, "sessions")))]
    for path in sorted(new):
        for name, segment in segments_of(data[new[path]] or b"{}"):
            if name not in names:
                names.add(name)
                parts.append(segment)
    total = united(parts)
    for memory, account in total.by_memory.items():
        row = base.execute("SELECT value FROM account WHERE memory = ?", (memory,)).fetchone()
        whole = read_access(json.loads(row[0])) + account if row else account
        base.execute("REPLACE INTO account VALUES (?, ?)", (memory, json.dumps(whole.as_json())))
    base.executemany("REPLACE INTO counted VALUES (?, ?)", [*new.items()])
    sessions = json.dumps([list(pair) for pair in total.sessions])
    set_meta(base, {"names": json.dumps(sorted(names)), "sessions": sessions})
