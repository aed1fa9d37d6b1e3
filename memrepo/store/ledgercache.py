"""The folded ledger as a cache: accounts by memory at one commit, brought up to date by segment.

It knows which segments it has counted; a new one is added, a compaction of what is counted changes
nothing, and anything else (a rewritten ref, a damaged file) has it built again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.access import Access, Accesses, read_access, united
from memrepo.store.damaged import remove

if TYPE_CHECKING:
    from memrepo.store.ledger import Ledger, Segment

VERSION = "1"
NAME = "access.sqlite3"
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE segment (name TEXT PRIMARY KEY);
CREATE TABLE account (memory TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Accounts(Mapping[str, Access]):
    """Accounts by memory, each decoded when it is first asked for."""

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
    """Return the accounts at a commit of the ledger, and the segments that they count."""
    if not commit:
        return Accesses(), frozenset()
    path = ledger.folder / NAME
    try:
        try:
            return _answer(path, ledger, commit)
        except sqlite3.OperationalError:
            raise  # out of reach, or somebody else's for too long: it is not damaged
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
    # A counted segment may leave the tree only together with a compaction that was counted.
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
