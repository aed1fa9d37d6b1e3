"""The search index: SQLite FTS5 in the git directory, a cache of the memories at one commit.

It remembers the commit it reflects and catches up with one tree listing; deleted, damaged or of
another version it is built again, and where it cannot be written one is built in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.policies.ranking import Weights, question_of, rank
from memrepo.policies.terms import date_words, index_terms, query_terms, words
from memrepo.store.corpus import HELD, IndexCorpus, Limits
from memrepo.store.tree import Snapshot

VERSION = "4"
NAME = "index.sqlite3"
PAST = "past.sqlite3"
T = TypeVar("T")
_OURS = ("vocabulary", "words", "memory", "meta")
WAIT_S = 10.0

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memory (
  number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, blob TEXT NOT NULL, id TEXT NOT NULL,
  type TEXT NOT NULL, status TEXT NOT NULL, standing TEXT NOT NULL, terms TEXT NOT NULL,
  thread TEXT NOT NULL, place INTEGER NOT NULL, subject TEXT NOT NULL, day TEXT NOT NULL
);
CREATE INDEX memory_place ON memory (thread, place, path, status, type);
CREATE VIRTUAL TABLE words USING fts5 (
  terms, content = 'memory', content_rowid = 'number',
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
"""
# The file cannot be written, or is somebody else's for longer than we wait: it is not damaged.
_OUT_OF_REACH = frozenset(
    (
        sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY,
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One hit: where it lies, its score (higher is better), and what each signal added to it."""

    id: str
    path: str
    blob: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a search is limited to; an empty `types` takes every type, no `paths` every file."""

    statuses: tuple[str, ...] = ("active",)
    types: tuple[str, ...] = ()
    limit: int = 10
    paths: frozenset[str] | None = None

    @property
    def limits(self) -> Limits:
        """Return the filter as a condition on rows."""
        limits = Limits().among("status", self.statuses)
        if self.paths is not None:
            limits.held()
        return limits.among("type", self.types) if self.types else limits


def search(
    folder: Path,
    tree: Snapshot,
    asked: Sequence[str],
    only: Filter,
    weights: Weights | None = None,
    *,
    name: str = NAME,
) -> list[Match]:
    """Return the memories that answer a question best, best first; ties by path.

    Where the folder cannot be written the answer is the same, from an index in memory. `name` is
    the index's file: questions about the past have their own, which follows them from commit to
    commit while the present's stays where it is.
    """
    question = question_of(" ".join(asked))
    if not question.terms:
        return []

    def ranked(base: sqlite3.Connection) -> list[Match]:
        _hold(base, only.paths)
        found = rank(question, IndexCorpus(base, only.limits), only.limit, weights)
        return [_match(base, one.document.number, one.score, one.parts) for one in found]

    return _asked(folder / name, tree, ranked)


def near(folder: Path, tree: Snapshot, asked: Sequence[str], only: Filter) -> list[str]:
    """Return ids of memories that share any of the words, likeliest first, by words alone."""
    found = query_terms(" ".join(asked))
    if not found:
        return []

    def proposed(base: sqlite3.Connection) -> list[str]:
        _hold(base, only.paths)
        documents = IndexCorpus(base, only.limits).propose(found, only.limit)
        return [_match(base, d.number, 0.0, {}).id for d in documents]

    return _asked(folder / NAME, tree, proposed)


def _asked(path: Path, tree: Snapshot, ask: Callable[[sqlite3.Connection], T]) -> T:
    """Put a question to the index of a commit; a damaged one is built again, an unwritable not."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _answer(path, tree, ask)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _OUT_OF_REACH:
                raise
            # Not a database, or a damaged one: it holds nothing that cannot be built again.
            for tail in ("", "-wal", "-shm", "-journal"):
                path.with_name(path.name + tail).unlink(missing_ok=True)
            return _answer(path, tree, ask)
    except (OSError, sqlite3.OperationalError):
        return _answer(":memory:", tree, ask)


def _answer(where: Path | str, tree: Snapshot, ask: Callable[[sqlite3.Connection], T]) -> T:
    with closing(_open(where)) as base:
        _begin_at(base, tree)
        found = ask(base)
        base.execute("COMMIT")
    return found


def _hold(base: sqlite3.Connection, paths: frozenset[str] | None) -> None:
    """Put the paths that a search is limited to where its questions find them."""
    if paths is not None:
        base.execute(f"CREATE TEMP TABLE {HELD} (path TEXT PRIMARY KEY)")
        base.executemany(f"INSERT INTO {HELD} VALUES (?)", [(p,) for p in sorted(paths)])  # noqa: S608


def _match(
    base: sqlite3.Connection, number: int, score: float, parts: Mapping[str, float]
) -> Match:
    asked = "SELECT id, path, blob FROM memory WHERE number = ?"
    id_, path, blob = base.execute(asked, (number,)).fetchone()
    kept = {name: round(value, 4) for name, value in parts.items()}
    return Match(id=id_, path=path, blob=blob, score=round(score, 4), parts=kept)


def _open(where: Path | str) -> sqlite3.Connection:
    base = sqlite3.connect(where, timeout=WAIT_S, isolation_level=None)
    try:
        base.execute("PRAGMA synchronous = OFF")
        if not _is_ours(base):
            base.execute("BEGIN IMMEDIATE")
            # Another process may have built it while this one waited for the lock.
            if not _is_ours(base):
                _start_over(base, _tables(base))
            base.execute("COMMIT")
    except sqlite3.Error:
        base.close()
        raise
    return base


def _tables(base: sqlite3.Connection) -> set[str]:
    return {row[0] for row in base.execute("SELECT name FROM sqlite_master")}


def _is_ours(base: sqlite3.Connection) -> bool:
    whole = set(_OURS) <= _tables(base)
    return whole and _meta(base, "version") == VERSION


def _start_over(base: sqlite3.Connection, tables: set[str]) -> None:
    for name in _OURS:
        if name in tables:
            base.execute(f"DROP TABLE {name}")
    for statement in filter(str.strip, _TABLES.split(";\n")):
        base.execute(statement)
    base.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION,))


def _meta(base: sqlite3.Connection, key: str) -> str:
    row = base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def _begin_at(base: sqlite3.Connection, tree: Snapshot) -> None:
    """Begin a transaction in which the index shows a commit, whatever others catch up with."""
    base.execute("BEGIN")
    if _meta(base, "commit") == tree.commit:
        return
    base.execute("ROLLBACK")
    base.execute("BEGIN IMMEDIATE")
    _catch_up(base, tree)


def _catch_up(base: sqlite3.Connection, tree: Snapshot) -> None:
    wanted = {p: b for p, b in tree.blobs.items() if tree.layout.is_memory(p)}
    rows = base.execute("SELECT path, blob, number FROM memory").fetchall()
    gone = [(number,) for path, blob, number in rows if wanted.get(path) != blob]
    base.executemany(
        "INSERT INTO words (words, rowid, terms)"
        " SELECT 'delete', number, terms FROM memory WHERE number = ?", gone,
    )  # fmt: skip
    base.executemany("DELETE FROM memory WHERE number = ?", gone)
    known = {path: blob for path, blob, _ in rows}
    for path, blob in wanted.items():
        if known.get(path) != blob:
            memory, _ = codec.decode(path, tree.files[path])
            if memory is not None and memory.id:
                _insert(base, memory, blob)
    counted = "count(*), coalesce(sum(length(terms) - length(replace(terms, ' ', '')) + 1), 0)"
    size, length = base.execute(f"SELECT {counted} FROM memory").fetchone()  # noqa: S608
    news = [("size", str(size)), ("length", str(length)), ("commit", tree.commit)]
    base.executemany("REPLACE INTO meta VALUES (?, ?)", news)


def _insert(base: sqlite3.Connection, memory: Memory, blob: str) -> None:
    found = " ".join(index_terms(_text(memory)))
    day = memory.captured[:10]
    source = memory.sources[0] if memory.sources else None
    row = base.execute(
        "INSERT INTO memory VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            memory.path, blob, memory.id, memory.type, memory.status, memory.standing, found,
            f"{source.resource} {day}" if source else "", source.lines[0] if source else 0,
            " ".join(words(memory.text("subject"))), day,
        ),
    )  # fmt: skip
    base.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (row.lastrowid, found))


def _text(memory: Memory) -> str:
    """Return what is searched of a memory, its day spelled out: people ask for days."""
    title = memory.text("title")
    head = (title, title, memory.text("subject"), *memory.texts("tags"))  # a title counts twice
    return " ".join((*head, memory.body, date_words(memory.captured)))
