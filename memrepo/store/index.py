"""The search index: SQLite FTS5 in the git directory, a cache of the memories at one commit.

It remembers the commit it reflects and catches up with one tree listing; deleted, damaged or of
another version it is built again.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memrepo.core import codec
from memrepo.core.ids import normalise
from memrepo.core.memory import Memory
from memrepo.store.tree import Snapshot

VERSION = "1"
NAME = "index.sqlite3"
WAIT_S = 10.0

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    "a an and are as at be but by did do does for from had has have he her his how i in is it its"
    " me my of on or our she that the their them they this to was we were what when where which"
    " who why will with you your".split()
)
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memory (
  path TEXT PRIMARY KEY, blob TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,
  status TEXT NOT NULL, standing TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
  path UNINDEXED, title, body, tokenize = 'porter unicode61 remove_diacritics 2'
);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One hit: where it lies and its score (higher is better)."""

    id: str
    path: str
    blob: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a search is limited to; an empty `types` takes every type."""

    statuses: tuple[str, ...] = ("active",)
    types: tuple[str, ...] = ()
    limit: int = 10


def search(folder: Path, tree: Snapshot, words: Sequence[str], only: Filter) -> list[Match]:
    """Return the best matches for any of the words, best first; ties by path."""
    expression = match_expression(words)
    if not expression:
        return []
    with closing(_caught_up(folder, tree)) as base:
        return list(_query(base, expression, only))


def match_expression(words: Iterable[str]) -> str:
    """Build an FTS5 expression: content words joined by OR, wide scripts by pairs of characters."""
    terms: dict[str, None] = {}
    for word in _WORD.findall(normalise(" ".join(words))):
        pairs = [pair for run in _WIDE.findall(word) for pair in _pairs(run)]
        terms.update(dict.fromkeys(pairs or [word]))
    content = [t for t in terms if t not in _STOP_WORDS] or list(terms)
    return " OR ".join(f'"{term}"' for term in content)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def searchable(text: str) -> str:
    """Prepare a text for the index: wide runs are followed by their pairs of characters."""
    pairs = [pair for run in _WIDE.findall(text) for pair in _pairs(run)]
    return normalise(text) + (" " + " ".join(pairs) if pairs else "")


def _query(base: sqlite3.Connection, expression: str, only: Filter) -> Iterator[Match]:
    marks = ",".join("?" * len(only.statuses))
    types = f"AND m.type IN ({','.join('?' * len(only.types))})" if only.types else ""
    rows = base.execute(
        f"""SELECT m.id, m.path, m.blob, -bm25(words, 0, 2.0, 1.0) AS score
        FROM words JOIN memory AS m ON m.path = words.path
        WHERE words MATCH ? AND m.status IN ({marks}) {types}
        ORDER BY score DESC, m.path LIMIT ?""",  # noqa: S608 - only question marks are put in
        (expression, *only.statuses, *only.types, only.limit),
    )
    for id_, path, blob, score in rows:
        yield Match(id=id_, path=path, blob=blob, score=round(score, 4))


def _caught_up(folder: Path, tree: Snapshot) -> sqlite3.Connection:
    path = folder / NAME
    try:
        base = _open(path)
        _catch_up(base, tree)
    except sqlite3.DatabaseError:
        # Not a database, or a damaged one: it holds nothing that cannot be built again.
        for tail in ("", "-wal", "-shm", "-journal"):
            path.with_name(NAME + tail).unlink(missing_ok=True)
        base = _open(path)
        _catch_up(base, tree)
    return base


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
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


def _catch_up(base: sqlite3.Connection, tree: Snapshot) -> None:
    if _meta(base, "commit") == tree.commit:
        return
    base.execute("BEGIN IMMEDIATE")
    try:
        wanted = {p: b for p, b in tree.blobs.items() if tree.layout.is_memory(p)}
        known = dict(base.execute("SELECT path, blob FROM memory").fetchall())
        gone = [(p,) for p in known if wanted.get(p) != known[p]]
        base.executemany("DELETE FROM memory WHERE path = ?", gone)
        base.executemany("DELETE FROM words WHERE path = ?", gone)
        for path, blob in wanted.items():
            if known.get(path) != blob:
                memory, _ = codec.decode(path, tree.files[path])
                if memory is not None and memory.id:
                    _insert(base, memory, blob)
        base.execute("REPLACE INTO meta VALUES ('commit', ?)", (tree.commit,))
        base.execute("COMMIT")
    except BaseException:
        base.execute("ROLLBACK")
        raise


def _insert(base: sqlite3.Connection, memory: Memory, blob: str) -> None:
    title = " ".join(
        filter(None, (memory.text("title"), memory.text("subject"), *memory.texts("tags")))
    )
    base.execute(
        "INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?)",
        (memory.path, blob, memory.id, memory.type, memory.status, memory.standing),
    )
    # Date words are indexed with the text: people ask for days (measured: +2 points of recall).
    body = f"{memory.body} {memory.captured}"
    base.execute(
        "INSERT INTO words VALUES (?, ?, ?)", (memory.path, searchable(title), searchable(body))
    )
