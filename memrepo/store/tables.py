"""The tables of the search index, and how they follow commits and uncommitted edits.

The index stores its commit and the uncommitted edits it contains. It is updated with the
differences between two commits. If these cannot be computed, the whole tree is compared.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.core import codec
from memrepo.core.access import seconds
from memrepo.core.memory import Memory
from memrepo.core.times import parse_time
from memrepo.policies.questions import cues_of, role_of
from memrepo.store.passages import BARS, FOLLOWS, code_hash, follow, follows
from memrepo.store.passages import changes as changes_of
from memrepo.store.tree import Snapshot
from memrepo.text.sentences import ChunkRules, chunks
from memrepo.text.words import date_words, index_terms, words

if TYPE_CHECKING:
    from memrepo.read.sources import SourceRules

Row = tuple[str | int | float | None, ...]
Bars = Callable[[Memory], bool]
BATCH = 1000
"""Maximum number of rows computed before they are written."""


_ROWS = ("store/tables.py", "text/*.py", "languages/*.toml", "policies/importance.py")
"""Files that define how rows are computed. The index is rebuilt if one of them changes."""
WAIT_S = 10.0
_PART = 1
"""Position of the chunk number in a row that has no row number yet."""
ARCHIVED = "archived"
"""A status, and the meta key for the number of rows with this status."""
FORGOTTEN = "forgotten"
"""Status of a row whose text a person rejected, whatever the status in its file."""
_RESTS = "status = 'archived'"
_OURS = ("vocabulary", "words", "memory", "meta", "wordforms", "evidence", "passage")
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memory (
  number INTEGER PRIMARY KEY, path TEXT NOT NULL, part INTEGER NOT NULL, blob TEXT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL, status TEXT NOT NULL, standing TEXT NOT NULL, scope TEXT NOT NULL,
  tags TEXT NOT NULL, successors TEXT NOT NULL, seen INTEGER NOT NULL, importance REAL,
  thread TEXT NOT NULL, place INTEGER NOT NULL, subject TEXT NOT NULL, day TEXT NOT NULL,
  length INTEGER NOT NULL, cues TEXT NOT NULL, terms TEXT NOT NULL, UNIQUE (path, part)
);
CREATE INDEX memory_place ON memory (thread, place, path, part, status, type, scope, subject);
CREATE INDEX memory_day ON memory (day);
CREATE VIRTUAL TABLE words USING fts5 (
  terms, content = 'memory', content_rowid = 'number',
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
CREATE VIRTUAL TABLE wordforms USING fts5 (latin, term UNINDEXED, tokenize = 'trigram');
CREATE TABLE vocabulary (term TEXT PRIMARY KEY, doc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE evidence (hash TEXT, path TEXT, PRIMARY KEY (hash, path)) WITHOUT ROWID;
CREATE INDEX evidence_path ON evidence (path);
CREATE VIRTUAL TABLE passage USING fts5 (
  terms, path UNINDEXED, blob UNINDEXED, first UNINDEXED, last UNINDEXED, hash UNINDEXED,
  context UNINDEXED, text UNINDEXED, captured UNINDEXED,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
"""


class Indexed(msgspec.Struct, frozen=True, kw_only=True):
    """The content that a search index must reflect: a commit and uncommitted edits.

    `edits` contains contents by path, None for a deleted file, and `blob_id` computes their blob
    ids. A long text has one row per chunk, split by `chunking`. `importance` scores a memory, and
    `words` identifies its settings. `tick` is called for each memory that is read. `sources`
    selects the sources to index as passages, and None indexes no passages.
    """

    tree: Snapshot
    chunking: ChunkRules = msgspec.field(default_factory=ChunkRules)
    importance: Callable[[Memory], float | None] = lambda _: None
    words: str = ""
    edits: Mapping[str, bytes | None] = msgspec.field(default_factory=dict)
    blob_id: Callable[[bytes], str] = lambda _: ""
    tick: Callable[[str], None] = lambda _: None
    sources: SourceRules | None = None

    @property
    def edited(self) -> dict[str, str]:
        """Return {path: blob} of the edited files. For a deleted file, the blob is empty."""
        return {p: "" if data is None else self.blob_id(data) for p, data in self.edits.items()}

    @property
    def rules(self) -> str:
        """Return the settings that index rows depend on, in addition to the content of files."""
        return f"{self.chunking!r} {self.words}"

    def read(self, path: str, blob: str) -> bytes:
        """Return the bytes of an indexed file, including its uncommitted edits."""
        data = self.edits.get(path)
        return self.tree.files.of(path, blob) if data is None else data

    def memories(self, files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Memory]]:
        """Yield (blob, memory) pairs of files to index. Omit unreadable files and chunk files.

        Files that this process has already decoded are not read again.
        """
        edits = {path: data for path, data in self.edits.items() if data is not None}
        known = {p: m for p, blob in files if (m := self.tree.at_hand(p, blob)) is not None}
        committed = self.tree.files.each(
            [one for one in files if one[0] not in edits and one[0] not in known]
        )
        for path, blob in files:
            memory = known.get(path)
            if memory is None:
                data = edits[path] if path in edits else next(committed)
                memory, _ = codec.decode(path, data)
            # A chunk is found through its parent memory, which has a row for each chunk.
            if memory is not None and memory.id and memory.type != "chunk":
                yield blob, memory


def opened(where: Path | str) -> sqlite3.Connection:
    """Open an index file. Recreate its tables if they are missing or of another version."""
    base = sqlite3.connect(where, timeout=WAIT_S, isolation_level=None)
    try:
        base.execute("PRAGMA synchronous = OFF")
        if not _is_ours(base):
            base.execute("BEGIN IMMEDIATE")
            # Another process may have built the index while this one waited for the lock.
            if not _is_ours(base):
                _start_over(base)
            base.execute("COMMIT")
    except BaseException:
        base.close()
        raise
    return base


def is_built(path: Path) -> bool:
    """Return whether a file contains an index, even if it only has rows stored by runs."""
    try:
        place = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(place, uri=True, timeout=WAIT_S)) as base:
            return _is_ours(base)
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def begin_at(base: sqlite3.Connection, wanted: Indexed) -> None:
    """Begin a transaction, and update the index to the wanted content in it."""
    edited = wanted.edited
    told = json.dumps(edited, sort_keys=True)
    base.execute("BEGIN")
    news = (("commit", wanted.tree.commit), ("edits", told), ("rules", wanted.rules))
    passages = () if wanted.sources is None else ((FOLLOWS, follows(wanted)),)
    if all(meta(base, key) == value for key, value in (*news, *passages)):
        return
    base.execute("ROLLBACK")
    base.execute("BEGIN IMMEDIATE")
    # Read everything stored in the same file before the first row is written. Once SQLite spills
    # its pages to disk, other connections must wait for this one.
    starts_over = meta(base, "rules") != wanted.rules
    known = "" if starts_over else meta(base, "commit")
    changed = wanted.tree.files.changed_since(known) if known else None
    stones = _stones(base, wanted.tree, changed)
    told_stones, bars = json.dumps(stones), _bars(wanted, stones)
    new_stones = told_stones != ((known and meta(base, "stones")) or "{}")
    recorded = _recorded(base, wanted.tree) if new_stones and known else {}
    thoughts = None
    if wanted.sources is not None:
        had = ("", "") if starts_over else (meta(base, FOLLOWS), meta(base, BARS))
        thoughts = changes_of(wanted, wanted.sources, *had)
    if starts_over:
        changes = _memory_files(wanted.tree, {**wanted.tree.blobs, **edited}, {})
        _start_over(base)
    else:
        changes = _changes(base, wanted.tree, edited, changed)
    _apply(base, wanted, changes, bars)
    if new_stones:
        if known:
            from memrepo.store.held_back import hold_back

            hold_back(base, wanted, bars, recorded)
        base.execute("REPLACE INTO meta VALUES ('stones', ?)", (told_stones,))
    base.executemany("REPLACE INTO meta VALUES (?, ?)", news)
    if thoughts is not None:
        follow(base, wanted, thoughts)


def _stones(
    base: sqlite3.Connection, tree: Snapshot, changed: Mapping[str, str] | None
) -> dict[str, str]:
    """Return {path: blob} of the tombstones in the indexed tree."""
    area = tree.layout.area("tombstones")
    if changed is None:
        return dict(tree.files.below(area))
    found: dict[str, str] = json.loads(meta(base, "stones") or "{}")
    found |= {path: blob for path, blob in changed.items() if path.startswith(area)}
    return {path: found[path] for path in sorted(found) if found[path]}


def _bars(wanted: Indexed, stones: Mapping[str, str]) -> Bars:
    """Return a predicate: whether a person rejected the content of a memory."""
    if not stones:
        return _nobody
    from memrepo.store.held_back import bars_of

    return bars_of(wanted, stones)


def _nobody(_: Memory) -> bool:
    return False


def meta(base: sqlite3.Connection, key: str) -> str:
    """Return the value stored for a key in the index's meta table, or an empty string."""
    row = base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def _tables(base: sqlite3.Connection) -> set[str]:
    return {row[0] for row in base.execute("SELECT name FROM sqlite_master")}


def _is_ours(base: sqlite3.Connection) -> bool:
    return set(_OURS) <= _tables(base) and meta(base, "version") == code_hash(*_ROWS)


def _start_over(base: sqlite3.Connection) -> None:
    tables = _tables(base)
    for name in _OURS:
        if name in tables:
            base.execute(f"DROP TABLE {name}")
    for statement in filter(str.strip, _TABLES.split(";\n")):
        base.execute(statement)
    base.execute("INSERT INTO meta VALUES ('version', ?)", (code_hash(*_ROWS),))


def _changes(
    base: sqlite3.Connection,
    tree: Snapshot,
    edited: Mapping[str, str],
    changed: Mapping[str, str] | None,
) -> dict[str, str]:
    """Return {path: blob} of the memory files to index again. An empty blob means removal.

    `changed` contains the differences from the indexed commit, or None if they are unknown.
    """
    if changed is None:
        had = dict(base.execute("SELECT path, blob FROM memory"))
        found = {**dict.fromkeys(had, ""), **tree.blobs, **edited}
    else:
        undone = json.loads(meta(base, "edits") or "{}").keys() - edited.keys()
        found = {**{path: tree.blobs.get(path, "") for path in sorted(undone)}, **changed, **edited}
        had = {path: _blob(base, path) for path in found}
    return _memory_files(tree, found, had)


def _memory_files(
    tree: Snapshot, found: Mapping[str, str], had: Mapping[str, str]
) -> dict[str, str]:
    """Return the memory files whose blobs in `found` differ from those in `had`."""
    is_memory = tree.layout.is_memory
    return {p: b for p, b in found.items() if is_memory(p) and had.get(p, "") != b}


def _recorded(base: sqlite3.Connection, tree: Snapshot) -> dict[str, Memory]:
    """Return {blob: memory} of the indexed files that the catalogue has stored."""
    rows = base.execute("SELECT blob, path FROM memory WHERE part = 0")
    return tree.trees.catalogue.read(dict(rows)) if tree.trees else {}


def _blob(base: sqlite3.Connection, path: str) -> str:
    row = base.execute("SELECT blob FROM memory WHERE path = ?", (path,)).fetchone()
    return str(row[0]) if row else ""


def _apply(
    base: sqlite3.Connection, wanted: Indexed, changes: Mapping[str, str], bars: Bars
) -> None:
    sizes = {name: int(meta(base, name) or 0) for name in ("size", "length", ARCHIVED)}
    if sizes["size"]:
        _take_out(base, changes, sizes)
    _put_in(base, wanted, [(path, blob) for path, blob in changes.items() if blob], sizes, bars)
    told = [(name, str(value)) for name, value in sizes.items()]
    base.executemany("REPLACE INTO meta VALUES (?, ?)", told)


def _take_out(base: sqlite3.Connection, paths: Iterable[str], sizes: dict[str, int]) -> None:
    """Delete the rows of the given paths, and subtract them from the totals."""
    gone: list[str] = []
    for path in paths:
        asked = f"SELECT number, length, {_RESTS}, terms FROM memory WHERE path = ?"  # noqa: S608 - a constant
        rows = base.execute(asked, (path,)).fetchall()
        for number, length, rests, terms in rows:
            gone.append(terms)
            base.execute(
                "INSERT INTO words (words, rowid, terms)"
                " SELECT 'delete', number, terms FROM memory WHERE number = ?",
                (number,),
            )
            sizes["size"] -= 1
            sizes["length"] -= length
            sizes[ARCHIVED] -= rests
        if rows:
            base.execute("DELETE FROM memory WHERE path = ?", (path,))
            base.execute("DELETE FROM evidence WHERE path = ?", (path,))
    _count_terms(base, gone, -1)
    if gone:
        base.execute("DELETE FROM vocabulary WHERE doc <= 0")


def _count_terms(base: sqlite3.Connection, texts: Iterable[str], sign: int) -> None:
    """Add `sign` to a term's row count for each row that contains it. FTS5 would scan all rows."""
    held = Counter(term for terms in texts for term in set(terms.split()))
    base.executemany(
        "INSERT INTO vocabulary VALUES (?, ?)"
        " ON CONFLICT (term) DO UPDATE SET doc = doc + excluded.doc",
        [(term, sign * held[term]) for term in sorted(held)],
    )


def _put_in(
    base: sqlite3.Connection,
    wanted: Indexed,
    files: Sequence[tuple[str, str]],
    sizes: dict[str, int],
    bars: Bars,
) -> None:
    """Insert the rows of the given files, in batches that fit in memory."""
    found = _told(_rows_of(wanted, bars, files), wanted.tick)
    while rows := list(islice(found, BATCH)):
        last = base.execute("SELECT coalesce(max(number), 0) FROM memory").fetchone()
        marks = ", ?" * (len(rows[0]) - 1)
        base.executemany(f"INSERT INTO memory VALUES (NULL{marks})", [r[:-1] for r in rows])  # noqa: S608
        rests_on = [(hash_, row[0]) for row in rows for hash_ in str(row[-1]).split()]
        base.executemany("INSERT OR IGNORE INTO evidence VALUES (?, ?)", rests_on)
        base.execute(
            "INSERT INTO words (rowid, terms) SELECT number, terms FROM memory WHERE number > ?",
            last,
        )
        _count_terms(base, (str(row[-2]) for row in rows), 1)
        asked = f"SELECT sum(length), sum({_RESTS}) FROM memory WHERE number > ?"  # noqa: S608 - a constant
        length, rests = base.execute(asked, last).fetchone()
        sizes["size"] += len(rows)
        sizes["length"] += length
        sizes[ARCHIVED] += rests


def _told(rows: Iterable[Row], tick: Callable[[str], None]) -> Iterator[Row]:
    """Yield the rows unchanged, and report each new memory to `tick`."""
    for row in rows:
        if not row[_PART]:
            tick("memories indexed")
        yield row


def _rows_of(wanted: Indexed, bars: Bars, files: Sequence[tuple[str, str]]) -> Iterator[Row]:
    for blob, memory in wanted.memories(files):
        status = FORGOTTEN if bars(memory) else memory.status
        yield from _rows(memory, blob, wanted, status)


def _rows(memory: Memory, blob: str, wanted: Indexed, status: str) -> Iterator[Row]:
    """Yield the table rows of a memory: a single row, or one for each chunk of a long text.

    The last column contains the hashes of the memory's evidence.
    """
    day, source = memory.captured[:10], memory.sources[0] if memory.sources else None
    stored = memory.fields.get("importance")
    importance = stored.score if stored else wanted.importance(memory)
    thread, place = (f"{source.resource} {day}", source.lines[0]) if source else ("", 0)
    head, tail = _around(memory)
    role = role_of(_folded(memory.text("subject")), memory.body)
    evidence = " ".join(s.text_hash for s in memory.sources)
    for part, text in enumerate(texts(memory, wanted.chunking)):
        terms = index_terms(f"{head} {text} {tail}")
        yield (
            memory.path,
            part,
            blob,
            memory.id,
            memory.type,
            status,
            memory.standing,
            memory.text("scope"),
            "".join(f"\n{tag}\n" for tag in memory.texts("tags")),
            " ".join(memory.texts("superseded_by")),
            seen(memory),
            importance,
            thread,
            place,
            _folded(memory.text("subject")),
            day,
            len(terms),
            cues_of(text) + role,
            " ".join(terms),
            evidence,
        )


def seen(memory: Memory) -> int:
    """Return when a memory was last confirmed, in seconds since the epoch, or 0 if unknown.

    This is the time of the newest evidence or confirmation. Without either, it is the time of
    creation.
    """
    told = [stamp.at for stamp in memory.fields.get("verified", ()) if stamp.at]
    for source in memory.sources:
        with suppress(ValueError):  # undated, or not a valid date
            told.append(parse_time(source.captured))
    newest = max(told, default=memory.time("created"))
    return max(1, seconds(newest)) if newest else 0


def _around(memory: Memory) -> tuple[str, str]:
    """Return the searchable text before and after a memory's body: title, subject, tags and date.

    The date is spelled out, because people search for days.
    """
    title = memory.text("title")
    about = memory.text("context") or memory.text("subject")
    head = (title, title, about, *memory.texts("tags"))  # a title counts twice
    return " ".join(head), date_words(memory.captured)


@lru_cache(maxsize=1024)
def _folded(subject: str) -> str:
    return " ".join(words(subject))


def texts(memory: Memory, chunking: ChunkRules) -> list[str]:
    """Return the text of each row of a memory: its chunks, or its whole body if it is not split."""
    return [chunk.text for chunk in chunks(memory.body, chunking)] or [memory.body]
