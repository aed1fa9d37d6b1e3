"""What memory files say and what follows from each alone, by blob, and which pages come of them.

And what was found out of a whole commit: that its memories have been compared with each other,
and which pages do not agree with them.

They are rows of the search index's file, so that whoever deletes that deletes them too. A row that
is missing, damaged or of another program is no row: what it stands for is worked out again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from zlib import crc32

import msgspec

from memrepo import __version__
from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.core.plain import of_plain, plain
from memrepo.store.damaged import remove
from memrepo.store.outlines import (
    UNREADABLE,
    Kept,
    Outlines,
    Row,
    Table,
    row_of,
    rows_of,
    segment,
)

if TYPE_CHECKING:
    from memrepo.core.manifest import Recorded
    from memrepo.core.problems import Problem

NAME = "index.sqlite3"
VERSION = f"14 {__version__}"
"""Rows of another are not read; raised too when a rule changes what follows from a memory."""
WAIT_S = 1.0
"""Nobody waits for long for what can be read from the files."""
_FEW = 100
"""So many rows are asked for by name; of more all are read."""
_SHARE = 4
"""Once one of so many memories was read by itself, all are read at once."""
_AT_ONCE = 10_000
"""So many outlines make a segment at most: their rows are held together while it is made."""
_SMALL, _SEGMENTS = 2000, 32
"""Segments of fewer outlines than the first become one once there are as many as the second."""
_SPARE = 1000
"""Rows that no file has any more, before they are dropped, beside as many as there are files."""
_PAGES = 5000
"""Pages that are known at most; the oldest are forgotten."""
_STALE = 20
"""So many trees are known by which of their pages are stale; the oldest are forgotten."""
_OURS = ("record", "outline", "page", "compared", "stale", "manifest", "whole", "kept_by")
_TABLES = (
    "CREATE TABLE record (blob TEXT PRIMARY KEY, sum INTEGER, said TEXT)",
    "CREATE TABLE outline (number INTEGER PRIMARY KEY, size INTEGER, sum INTEGER, said BLOB)",
    "CREATE TABLE page (of TEXT PRIMARY KEY, digest TEXT)",
    "CREATE TABLE compared (comparer TEXT PRIMARY KEY, sum INTEGER, said TEXT)",
    "CREATE TABLE stale (tree TEXT PRIMARY KEY, paths TEXT)",
    "CREATE TABLE manifest (blob TEXT PRIMARY KEY, sum INTEGER, said TEXT)",
    "CREATE TABLE whole (name TEXT PRIMARY KEY, sum INTEGER, said BLOB)",
    "CREATE TABLE kept_by (version TEXT PRIMARY KEY)",
)


ReadMany: TypeAlias = Callable[[Sequence[tuple[str, str]]], Iterator[bytes]]
"""Returns the bytes of files by path and blob, in order."""


_KEPT = msgspec.json.Decoder()
_UNREAD = (ValueError, TypeError, KeyError, msgspec.MsgspecError)


T = TypeVar("T")


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The commit whose memories have been compared with each other, but for a few ids of them."""

    commit: str
    left: tuple[str, ...] = ()


class Records:
    """The rows of one repository; nothing here raises for what is on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._had: dict[str, int] = {}
        self._had_pages = 0
        self._had_compared: dict[str, Compared] = {}
        self._had_stale = 0
        self.read_file: Callable[[str, str], bytes] | None = None
        """Returns the bytes of a file by path and blob, where a row of it is gone meanwhile."""
        self._rest: sqlite3.Connection | None = None
        self._files: Mapping[str, str] = {}
        self._singles = 0
        self._all: dict[str, Memory] | None = None
        self._unlined: frozenset[str] = frozenset()
        self._pieces: dict[str, Any] = {}

    @cached_property
    def compared(self) -> dict[str, Compared]:
        """Return up to which commit memories were compared with each other, by who compares."""
        asked = self._rows("SELECT comparer, sum, said FROM compared")
        rows = [(who, said) for who, sum_, said in asked if sum_ == _sum(who, said)]
        self._had_compared = {who: msgspec.json.decode(said, type=Compared) for who, said in rows}
        return dict(self._had_compared)

    @cached_property
    def stale(self) -> dict[str, list[str]]:
        """Return the pages that do not agree with the memories, by the print of a tree."""
        rows = self._rows("SELECT tree, paths FROM stale ORDER BY rowid")
        found = {tree: msgspec.json.decode(paths, type=list[str]) for tree, paths in rows}
        self._had_stale = len(found)
        return found

    @cached_property
    def pages(self) -> dict[str, str]:
        """Return the digest of each page that was rendered, by the print of what it shows."""
        found = dict(self._rows("SELECT of, digest FROM page"))
        self._had_pages = len(found)
        return found

    def read(self, wanted: Mapping[str, str]) -> dict[str, Memory]:
        """Return memories by blob, of those wanted (blob to path) that are kept."""
        found: dict[str, Memory] = {}
        asked, blobs = "SELECT blob, sum, said FROM record", tuple(wanted)
        if len(blobs) <= _FEW:
            asked += f" WHERE blob IN ({', '.join('?' * len(blobs))})"
        else:
            blobs = ()
        for blob, sum_, said in self._rows(asked, blobs):
            if blob in wanted and sum_ == _sum(blob, said):
                with suppress(*_UNREAD):
                    found[blob] = self._memory(wanted[blob], blob, said)
        return found

    def table(self, files: Mapping[str, str]) -> Table:
        """Return the outlines of memory files (blob by path, in order); the rest is read later.

        Of one whose outline is missing or damaged nothing is known here, and `read` may know it.
        """
        rows = self._rows("SELECT sum, said FROM outline ORDER BY number DESC")
        found: list[Outlines] = []
        for sum_, said in rows:
            if isinstance(said, bytes) and sum_ == crc32(said):
                with suppress(*UNREADABLE):
                    found.append(Outlines(said, self._whole))
        table = Table(found, files)
        self._unlined = frozenset(files[path] for path in table.missing)
        self._files, self._singles, self._all = files, 0, None
        return table

    def _whole(self, kept: Kept) -> Memory:
        """Return a memory whole; once a share of all was asked for, the others are read along."""
        self._singles += 1
        if self._all is None and self._singles * _SHARE > len(self._files) + _SHARE * _FEW:
            self._all = self.read({blob: path for path, blob in self._files.items()})
        found = self._all.pop(kept.blob, None) if self._all else None
        return self._single(kept) if found is None else found

    def _single(self, kept: Kept) -> Memory:
        asked = "SELECT sum, said FROM record WHERE blob = ?"
        for _ in range(2):  # once more where the file was made anew meanwhile
            with suppress(sqlite3.Error, UnicodeDecodeError, OSError, *_UNREAD):
                if self._rest is None:
                    self._rest = sqlite3.connect(
                        self._path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
                    )
                for sum_, said in self._rest.execute(asked, (kept.blob,)).fetchall():
                    if sum_ == _sum(kept.blob, said):
                        return of_plain(kept.path, _KEPT.decode(said)[0])
            self.close()
        if self.read_file is None:
            raise LookupError(kept.path)
        memory, _ = codec.decode(kept.path, self.read_file(kept.path, kept.blob))
        if memory is None:
            raise LookupError(kept.path)
        return memory

    def close(self) -> None:
        """Close what reads single rows; it is opened again when one is asked for."""
        rest, self._rest = self._rest, None
        if rest is not None:
            rest.close()

    def manifests(self, blobs: Mapping[str, str], read: ReadMany) -> list[Recorded | Problem]:
        """Return what runs left on record, by path; what is not kept is read, and kept.

        Most of a manifest tells why each memory was judged so, which no run asks for.
        """
        from memrepo.core.manifest import Recorded, read_manifest

        asked, wanted = "SELECT blob, sum, said FROM manifest", {*blobs.values()}
        rows = ((b, said) for b, sum_, said in self._rows(asked) if sum_ == _sum(b, said))
        kept = {b: msgspec.json.decode(said, type=Recorded) for b, said in rows if b in wanted}
        fresh = [item for item in blobs.items() if item[1] not in kept]
        found = {p: read_manifest(p, data) for (p, _), data in zip(fresh, read(fresh), strict=True)}
        new = {b: one for p, b in fresh if isinstance(one := found[p], Recorded)}
        if new and self._path.exists():
            said = ((b, msgspec.json.encode(one).decode()) for b, one in new.items())
            rows_ = [(b, _sum(b, text), text) for b, text in said]
            with suppress(sqlite3.Error, UnicodeDecodeError), self._open() as base:
                if _is_ours(base):
                    base.executemany("REPLACE INTO manifest VALUES (?, ?, ?)", rows_)
        return [kept[b] if b in kept else found[p] for p, b in blobs.items()]

    def whole(self, name: str) -> bytes | None:
        """Return what was kept under a name, of all memories in one piece."""
        for sum_, said in self._rows("SELECT sum, said FROM whole WHERE name = ?", (name,)):
            if isinstance(said, bytes) and sum_ == crc32(said):
                return said
        return None

    def whole_as(self, name: str, read: Callable[[bytes | None], T]) -> T:
        """Return what a function reads from the piece of a name: once, until another is kept."""
        if name not in self._pieces:
            self._pieces[name] = read(self.whole(name))
        found: T = self._pieces[name]
        return found

    def keep_whole(self, name: str, said: bytes) -> None:
        """Keep one piece under a name, where memories are kept."""
        self._pieces.pop(name, None)
        if self._path.exists():
            with suppress(sqlite3.Error, UnicodeDecodeError, OSError), self._open() as base:
                if _is_ours(base):
                    row = (name, crc32(said), said)
                    base.execute("REPLACE INTO whole VALUES (?, ?, ?)", row)

    def _memory(self, path: str, blob: str, said: str) -> Memory:
        record, derived = _KEPT.decode(said)
        memory = of_plain(path, record)
        memory.derived.update(derived)
        self._had[blob] = len(derived)
        return memory

    def _rows(self, asked: str, given: Sequence[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield rows that this version of the program kept, as far as they can be read."""
        if self._path.exists():
            with suppress(sqlite3.Error, UnicodeDecodeError), self._open() as base:
                if _is_ours(base):
                    yield from base.execute(asked, given)

    def keep(self, memories: Mapping[str, Memory], needed: Collection[str] | None = None) -> None:
        """Keep memories by blob, with what was worked out of them, and pages; drop what is old.

        Old is what is not among the `needed` blobs, or these memories', once that is much.
        """
        if not self._path.exists():  # somebody took it away meanwhile
            self._had, self._had_pages, self._had_compared, self._had_stale = {}, 0, {}, 0
        fresh = {b: m for b, m in memories.items() if self._is_fresh(b, m)}
        # All three are read here: within the write below, a read would wait for it.
        pages, stale, compared = self.pages, self.stale, self.compared
        news = len(pages) > self._had_pages or len(stale) > self._had_stale
        if not (fresh or news or compared != self._had_compared):
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._write(fresh, memories.keys() if needed is None else needed)
        except sqlite3.DatabaseError as error:
            # Errors of the module's own have no code.
            damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
            if getattr(error, "sqlite_errorcode", None) in damaged:
                with suppress(OSError):
                    remove(self._path)  # the next run begins anew
        except UnicodeDecodeError:  # of a message that quotes a damaged table
            with suppress(OSError):
                remove(self._path)
        except OSError:
            pass  # a folder that nobody may write to

    def _is_fresh(self, blob: str, memory: Memory) -> bool:
        had = self._had.get(blob, 0 if isinstance(memory, Kept) else None)
        return had != len(memory.__dict__.get("derived", ())) or blob in self._unlined

    def _write(self, fresh: Mapping[str, Memory], needed: Collection[str]) -> None:
        with self._open() as base:
            base.execute("BEGIN IMMEDIATE")
            if not _is_ours(base):
                _start_over(base)
            whole = {b: m for b, m in fresh.items() if not isinstance(m, Kept)}
            base.executemany("REPLACE INTO record VALUES (?, ?, ?)", _spelled(whole))
            blobs = [*fresh]
            for at in range(0, len(blobs), _AT_ONCE):
                rows = {blob: row_of(fresh[blob]) for blob in blobs[at : at + _AT_ONCE]}
                _outline(base, rows, needed)
            base.executemany("INSERT OR IGNORE INTO page VALUES (?, ?)", self.pages.items())
            base.execute("DELETE FROM compared")
            base.executemany("INSERT INTO compared VALUES (?, ?, ?)", _told(self.compared))
            told = ((tree, json.dumps(paths)) for tree, paths in self.stale.items())
            base.executemany("INSERT OR IGNORE INTO stale VALUES (?, ?)", told)
            _drop(base, needed)
            base.execute("COMMIT")
        self._had |= {blob: len(memory.derived) for blob, memory in fresh.items()}
        self._unlined -= fresh.keys()
        self._had_pages, self._had_compared = len(self.pages), dict(self.compared)
        self._had_stale = len(self.stale)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=WAIT_S, isolation_level=None)) as base:
            base.execute("PRAGMA synchronous = OFF")
            yield base


@cache
def records_at(path: Path) -> Records:
    """Return the rows of a file, the same for all that this process opens."""
    return Records(path)


def _is_ours(base: sqlite3.Connection) -> bool:
    """Tell whether the rows are those of this version of the program."""
    there = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
    if not there.issuperset(_OURS):
        return False
    return base.execute("SELECT version FROM kept_by").fetchall() == [(VERSION,)]


def _start_over(base: sqlite3.Connection) -> None:
    for name in _OURS:
        base.execute(f"DROP TABLE IF EXISTS {name}")
    for table in _TABLES:
        base.execute(table)
    base.execute("INSERT INTO kept_by VALUES (?)", (VERSION,))


def _drop(base: sqlite3.Connection, needed: Collection[str]) -> None:
    """Drop rows that no file has any more, and the oldest pages, once they are many."""
    count = base.execute("SELECT count(*) FROM record").fetchone()[0]
    if count > 2 * len(needed) + _SPARE:
        blobs = base.execute("SELECT blob FROM record").fetchall()
        gone = [blob for blob in blobs if blob[0] not in needed]
        base.executemany("DELETE FROM record WHERE blob = ?", gone)
    base.execute("DELETE FROM page WHERE rowid <= (SELECT max(rowid) FROM page) - ?", (_PAGES,))
    base.execute("DELETE FROM stale WHERE rowid <= (SELECT max(rowid) FROM stale) - ?", (_STALE,))


def _outline(base: sqlite3.Connection, rows: Mapping[str, Row], needed: Collection[str]) -> None:
    """Put outlines into a segment of their own; once these are many, or old, they become one."""
    if not rows:
        return
    had = base.execute("SELECT number, size FROM outline ORDER BY number").fetchall()
    spare = sum(size for _, size in had) > 2 * len(needed) + _SPARE
    joined = [number for number, size in had if spare or size < _SMALL]
    if spare or len(joined) >= _SEGMENTS:
        former: dict[str, Row] = {}
        for number in joined:
            asked = "SELECT sum, said FROM outline WHERE number = ?"
            for sum_, said in base.execute(asked, (number,)).fetchall():
                if isinstance(said, bytes) and sum_ == crc32(said):
                    with suppress(*UNREADABLE):
                        former |= rows_of(said)
            base.execute("DELETE FROM outline WHERE number = ?", (number,))
        needed = frozenset(needed)
        rows = {b: row for b, row in (former | dict(rows)).items() if b in needed}
    said = segment(rows)
    told = "INSERT INTO outline (size, sum, said) VALUES (?, ?, ?)"
    base.execute(told, (len(rows), crc32(said), said))


def _spelled(memories: Mapping[str, Memory]) -> Iterator[tuple[str, int, str]]:
    for blob, memory in memories.items():
        said = json.dumps([plain(memory), memory.derived], separators=(",", ":"))
        with suppress(*_UNREAD):
            if of_plain(memory.path, _KEPT.decode(said)[0]) == memory:  # else JSON lacks a part
                yield blob, _sum(blob, said), said


def _told(compared: Mapping[str, Compared]) -> Iterator[tuple[str, int, str]]:
    for who, upto in compared.items():
        said = msgspec.json.encode(upto).decode()
        yield who, _sum(who, said), said


def _sum(blob: str, said: Any) -> int:
    return crc32(f"{blob} {said}".encode("utf-8", "surrogatepass"))
