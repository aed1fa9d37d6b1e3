"""The tables of the search index, and how they follow a commit and the work beside it.

The index remembers the commit it reflects and the uncommitted edits it holds. It catches up with
what differs between two commits; where that cannot be told, it compares the whole tree.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.policies.chunking import ChunkRules, chunks
from memrepo.policies.merits import seen
from memrepo.policies.terms import date_words, index_terms, words
from memrepo.store.tree import Snapshot

VERSION = "7"
WAIT_S = 10.0
_OURS = ("vocabulary", "words", "memory", "meta")
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memory (
  number INTEGER PRIMARY KEY, path TEXT NOT NULL, part INTEGER NOT NULL, blob TEXT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL, status TEXT NOT NULL, standing TEXT NOT NULL, scope TEXT NOT NULL,
  tags TEXT NOT NULL, successors TEXT NOT NULL, seen INTEGER NOT NULL, importance REAL,
  thread TEXT NOT NULL, place INTEGER NOT NULL, subject TEXT NOT NULL, day TEXT NOT NULL,
  length INTEGER NOT NULL, terms TEXT NOT NULL, UNIQUE (path, part)
);
CREATE INDEX memory_place ON memory (thread, place, path, part, status, type);
CREATE INDEX memory_day ON memory (day);
CREATE VIRTUAL TABLE words USING fts5 (
  terms, content = 'memory', content_rowid = 'number',
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What an index is to reflect: a commit, and the work beside it that is not committed.

    `edits` are contents by path, None for a file that is gone, and `blob_id` names their blobs.
    A long text has a row a chunk, by `chunking`. `importance` scores a memory, `words` names what
    it goes by. `tick` is told of each memory that is read.
    """

    tree: Snapshot
    chunking: ChunkRules = field(default_factory=ChunkRules)
    importance: Callable[[Memory], float | None] = lambda _: None
    words: str = ""
    edits: Mapping[str, bytes | None] = field(default_factory=dict)
    blob_id: Callable[[bytes], str] = lambda _: ""
    tick: Callable[[str], None] = lambda _: None

    @property
    def edited(self) -> dict[str, str]:
        """Return the blob by path of what is edited, empty where the file is gone."""
        return {p: "" if data is None else self.blob_id(data) for p, data in self.edits.items()}

    @property
    def rules(self) -> str:
        """Return what rows depend on beside their files."""
        return f"{self.chunking!r} {self.words}"

    def read(self, path: str, blob: str) -> bytes:
        """Return the bytes of a file that is indexed."""
        data = self.edits.get(path)
        return self.tree.files.of(path, blob) if data is None else data


def opened(where: Path | str) -> sqlite3.Connection:
    """Open an index, with new tables where its own are missing or of another version."""
    base = sqlite3.connect(where, timeout=WAIT_S, isolation_level=None)
    try:
        base.execute("PRAGMA synchronous = OFF")
        if not _is_ours(base):
            base.execute("BEGIN IMMEDIATE")
            # Another process may have built it while this one waited for the lock.
            if not _is_ours(base):
                _start_over(base)
            base.execute("COMMIT")
    except sqlite3.Error:
        base.close()
        raise
    return base


def begin_at(base: sqlite3.Connection, wanted: Indexed) -> None:
    """Begin a transaction in which the index shows what is wanted, whatever others want of it."""
    edited = wanted.edited
    told = json.dumps(edited, sort_keys=True)
    base.execute("BEGIN")
    news = (("commit", wanted.tree.commit), ("edits", told), ("rules", wanted.rules))
    if all(meta(base, key) == value for key, value in news):
        return
    base.execute("ROLLBACK")
    base.execute("BEGIN IMMEDIATE")
    if meta(base, "rules") != wanted.rules:
        _start_over(base)
    _apply(base, wanted, _changes(base, wanted.tree, edited))
    base.executemany("REPLACE INTO meta VALUES (?, ?)", news)


def meta(base: sqlite3.Connection, key: str) -> str:
    """Return what an index remembers under a key, or an empty string."""
    row = base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def _tables(base: sqlite3.Connection) -> set[str]:
    return {row[0] for row in base.execute("SELECT name FROM sqlite_master")}


def _is_ours(base: sqlite3.Connection) -> bool:
    return set(_OURS) <= _tables(base) and meta(base, "version") == VERSION


def _start_over(base: sqlite3.Connection) -> None:
    tables = _tables(base)
    for name in _OURS:
        if name in tables:
            base.execute(f"DROP TABLE {name}")
    for statement in filter(str.strip, _TABLES.split(";\n")):
        base.execute(statement)
    base.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION,))


def _changes(base: sqlite3.Connection, tree: Snapshot, edited: Mapping[str, str]) -> dict[str, str]:
    """Return the blob by path of each memory file that is to be indexed anew, or empty: no more."""
    known = meta(base, "commit")
    changed = tree.files.changed_since(known) if known else None
    if changed is None:
        had = dict(base.execute("SELECT path, blob FROM memory"))
        found = {**dict.fromkeys(had, ""), **tree.blobs, **edited}
    else:
        undone = json.loads(meta(base, "edits") or "{}").keys() - edited.keys()
        found = {**{path: tree.blobs.get(path, "") for path in sorted(undone)}, **changed, **edited}
        had = {path: _blob(base, path) for path in found}
    is_memory = tree.layout.is_memory
    return {p: b for p, b in found.items() if is_memory(p) and had.get(p, "") != b}


def _blob(base: sqlite3.Connection, path: str) -> str:
    row = base.execute("SELECT blob FROM memory WHERE path = ?", (path,)).fetchone()
    return str(row[0]) if row else ""


def _apply(base: sqlite3.Connection, wanted: Indexed, changes: Mapping[str, str]) -> None:
    size, length = int(meta(base, "size") or 0), int(meta(base, "length") or 0)
    for path in changes:
        rows = base.execute("SELECT number, length FROM memory WHERE path = ?", (path,)).fetchall()
        for row in rows:
            base.execute(
                "INSERT INTO words (words, rowid, terms)"
                " SELECT 'delete', number, terms FROM memory WHERE number = ?", row[:1],
            )  # fmt: skip
            size, length = size - 1, length - row[1]
        if rows:
            base.execute("DELETE FROM memory WHERE path = ?", (path,))
    for path, blob in changes.items():
        if not blob:
            continue
        wanted.tick("memories indexed")
        memory, _ = codec.decode(path, wanted.read(path, blob))
        if memory is not None and memory.id:
            for part in _rows(memory, blob, wanted):
                size, length = size + 1, length + _insert(base, part)
    sizes = (("size", str(size)), ("length", str(length)))
    base.executemany("REPLACE INTO meta VALUES (?, ?)", sizes)


def _rows(memory: Memory, blob: str, wanted: Indexed) -> Iterator[dict[str, Any]]:
    """Yield the rows of a memory: one, or one a chunk of a long text."""
    day, source = memory.captured[:10], memory.sources[0] if memory.sources else None
    stored = memory.fields.get("importance")
    row = {
        "path": memory.path, "blob": blob, "id": memory.id, "type": memory.type,
        "status": memory.status, "standing": memory.standing, "scope": memory.text("scope"),
        "tags": "".join(f"\n{tag}\n" for tag in memory.texts("tags")),
        "successors": " ".join(memory.texts("superseded_by")), "seen": seen(memory),
        "importance": stored.score if stored else wanted.importance(memory),
        "thread": f"{source.resource} {day}" if source else "",
        "place": source.lines[0] if source else 0,
        "subject": " ".join(words(memory.text("subject"))), "day": day,
    }  # fmt: skip
    for part, text in enumerate(texts(memory, wanted.chunking)):
        terms = index_terms(_text(memory, text))
        yield {**row, "part": part, "length": len(terms), "terms": " ".join(terms)}


def texts(memory: Memory, chunking: ChunkRules) -> list[str]:
    """Return the text of each row of a memory: its chunks, or the body where it is not cut."""
    return [chunk.text for chunk in chunks(memory.body, chunking)] or [memory.body]


def _insert(base: sqlite3.Connection, row: Mapping[str, Any]) -> int:
    """Add a row and return how many terms it has."""
    names = ", ".join(row)
    marks = ", ".join(f":{name}" for name in row)
    number = base.execute(f"INSERT INTO memory ({names}) VALUES ({marks})", row).lastrowid  # noqa: S608
    base.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (number, row["terms"]))
    return int(row["length"])


def _text(memory: Memory, part: str) -> str:
    """Return what is searched of a memory, its day spelled out: people ask for days."""
    title = memory.text("title")
    head = (title, title, memory.text("subject"), *memory.texts("tags"))  # a title counts twice
    return " ".join((*head, part, date_words(memory.captured)))
