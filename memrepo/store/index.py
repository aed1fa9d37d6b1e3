"""The search index: SQLite FTS5 in the git directory, a cache of the memories at one commit.

It remembers the commit it reflects and catches up with one tree listing; deleted, damaged or of
another version it is built again, and where it cannot be written one is built in memory.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memrepo.core import codec
from memrepo.core.ids import normalise
from memrepo.core.memory import Memory
from memrepo.store.tree import Snapshot

VERSION = "2"
NAME = "index.sqlite3"
PAST = "past.sqlite3"
WAIT_S = 10.0

_WIDE = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+)")
# A word with accents that no single character holds (x̂, Yoruba ọ̀) is one word all the same.
_WORD = re.compile(r"[\w\u0300-\u036f]+")
_STOP_WORDS = frozenset(
    "a an and are as at be but by did do does for from had has have he her his how i in is it its"
    " me my of on or our she that the their them they this to was we were what when where which"
    " who why will with you your".split()
)
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memory (
  number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, blob TEXT NOT NULL, id TEXT NOT NULL,
  type TEXT NOT NULL, status TEXT NOT NULL, standing TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
  title, body, tokenize = 'porter unicode61 remove_diacritics 2'
);
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
    """One hit: where it lies and its score (higher is better)."""

    id: str
    path: str
    blob: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a search is limited to; an empty `types` takes every type, no `paths` every file."""

    statuses: tuple[str, ...] = ("active",)
    types: tuple[str, ...] = ()
    limit: int = 10
    paths: frozenset[str] | None = None


def search(
    folder: Path, tree: Snapshot, words: Sequence[str], only: Filter, *, name: str = NAME
) -> list[Match]:
    """Return the best matches for any of the words, best first; ties by path.

    Where the folder cannot be written the answer is the same, from an index in memory. `name` is
    the index's file: questions about the past have their own, which follows them from commit to
    commit while the present's stays where it is.
    """
    expression = match_expression(words)
    if not expression:
        return []
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _answer(path, tree, expression, only)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _OUT_OF_REACH:
                raise
            # Not a database, or a damaged one: it holds nothing that cannot be built again.
            for tail in ("", "-wal", "-shm", "-journal"):
                path.with_name(name + tail).unlink(missing_ok=True)
            return _answer(path, tree, expression, only)
    except (OSError, sqlite3.OperationalError):
        return _answer(":memory:", tree, expression, only)


def match_expression(words: Iterable[str]) -> str:
    """Build an FTS5 expression: content words joined by OR, wide scripts by pairs of characters."""
    terms = list(dict.fromkeys(_terms(" ".join(words), _pairs)))
    content = [t for t in terms if t not in _STOP_WORDS] or terms
    return " OR ".join(f'"{term}"' for term in content)


def searchable(text: str) -> str:
    """Prepare a text for the index: wide runs as their characters and pairs of characters."""
    return " ".join(_terms(text, lambda run: [*run, *_pairs(run)] if len(run) > 1 else [run]))


def _terms(text: str, cut: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the words of a text; scripts without blanks are cut, and cut off from other words."""
    for word in _WORD.findall(normalise(text)):
        # The group makes every second part a wide run.
        for number, part in enumerate(_WIDE.split(word)):
            yield from cut(part) if number % 2 else filter(None, [part])


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _answer(where: Path | str, tree: Snapshot, expression: str, only: Filter) -> list[Match]:
    with closing(_open(where)) as base:
        _begin_at(base, tree)
        found = list(_query(base, expression, only))
        base.execute("COMMIT")
    return found


def _query(base: sqlite3.Connection, expression: str, only: Filter) -> Iterator[Match]:
    marks = ",".join("?" * len(only.statuses))
    types = f"AND m.type IN ({','.join('?' * len(only.types))})" if only.types else ""
    rows = base.execute(
        f"""SELECT m.id, m.path, m.blob, -bm25(words, 2.0, 1.0) AS score
        FROM words JOIN memory AS m ON m.number = words.rowid
        WHERE words MATCH ? AND m.status IN ({marks}) {types}
        ORDER BY score DESC, m.path LIMIT ?""",  # noqa: S608 - only question marks are put in
        (expression, *only.statuses, *only.types, only.limit if only.paths is None else -1),
    )
    wanted = (row for row in rows if only.paths is None or row[1] in only.paths)
    for id_, path, blob, score in islice(wanted, only.limit):
        yield Match(id=id_, path=path, blob=blob, score=round(score, 4))


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
    whole = {"meta", "memory", "words"} <= _tables(base)
    return whole and _meta(base, "version") == VERSION


def _start_over(base: sqlite3.Connection, tables: set[str]) -> None:
    for name in ("words", "memory", "meta"):
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
    base.executemany("DELETE FROM memory WHERE number = ?", gone)
    base.executemany("DELETE FROM words WHERE rowid = ?", gone)
    known = {path: blob for path, blob, _ in rows}
    for path, blob in wanted.items():
        if known.get(path) != blob:
            memory, _ = codec.decode(path, tree.files[path])
            if memory is not None and memory.id:
                _insert(base, memory, blob)
    base.execute("REPLACE INTO meta VALUES ('commit', ?)", (tree.commit,))


def _insert(base: sqlite3.Connection, memory: Memory, blob: str) -> None:
    title = " ".join(
        filter(None, (memory.text("title"), memory.text("subject"), *memory.texts("tags")))
    )
    row = base.execute(
        "INSERT INTO memory VALUES (NULL, ?, ?, ?, ?, ?, ?)",
        (memory.path, blob, memory.id, memory.type, memory.status, memory.standing),
    )
    # Date words are indexed with the text: people ask for days (measured: +2 points of recall).
    body = f"{memory.body} {memory.captured}"
    base.execute(
        "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)",
        (row.lastrowid, searchable(title), searchable(body)),
    )
