"""The catalogue: an SQLite cache of decoded memories and derived values by blob.

It also stores answers about whole commits, such as stale pages and the counts of `status`.
Everything is a cache in the search index's file and is deleted with that file. Rows are valid only
for the program version that wrote them. Missing or damaged rows are computed again.
"""

from __future__ import annotations

import gc
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypedDict
from zlib import crc32

import msgspec

import memrepo
from memrepo.core.fields import Flag, Kind, ListOf, Number, Pair, Record, Time, Whole
from memrepo.core.memory import Memory
from memrepo.core.schema import FIELDS
from memrepo.store.lock import remove

NAME = "index.sqlite3"
WAIT_S = 1.0
"""Maximum wait for another process, in seconds. Reading the files instead is only slower."""
MAX_BY_NAME = 100
"""Maximum number of rows selected by blob. If more are needed, all rows are read."""
SPARE_ROWS = 1000
"""Number of outdated rows, beyond twice the current ones, from which they are deleted."""
MAX_ANSWERS = {"stale": 20, "survey": 20}
"""Maximum number of stored answers of each kind. The newest are retained."""
_TABLES = (
    "CREATE TABLE parsed (blob TEXT PRIMARY KEY, sum INTEGER, memory BLOB)",
    "CREATE TABLE answer (kind TEXT, key TEXT, sum INTEGER, value BLOB, UNIQUE (kind, key))",
    "CREATE TABLE made_by (program TEXT)",
)
_OURS = ("parsed", "answer", "made_by")
_FORMER = (
    *("record", "outline", "page", "compared", "stale", "manifest", "whole", "kept_by"),
    *("census", "census_of", "census_ref"),
)
"""Tables of older versions, which are dropped."""
_UNREADABLE = (ValueError, TypeError, msgspec.MsgspecError)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _type_of(kind: Kind) -> Any:
    """Return the Python type for values of a schema kind."""
    match kind:
        case Record(make=make):
            return make
        case ListOf(item=item):
            return tuple[_type_of(item), ...]  # type: ignore[misc]  # known when it runs
        case Pair():
            return tuple[int, int]
    return {Time: datetime, Number: float, Whole: int, Flag: bool}.get(type(kind), str)


_Fields = TypedDict(  # type: ignore[misc]  # the schema has the names
    "_Fields", {field.name: _type_of(field.kind) for field in FIELDS}, total=False
)


class _Row(msgspec.Struct, frozen=True, array_like=True):
    fields: _Fields
    body: str
    derived: dict[str, Any]


_ROW = msgspec.msgpack.Decoder(_Row)


class Catalogue:
    """The cached rows of one repository. Disk errors are ignored, never raised."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stored: dict[str, int] = {}
        """The number of derived values stored for each blob."""
        self._read: dict[str, dict[str, bytes]] = {}
        """Stored answers by kind and key, for the kinds read so far."""
        self._answers: dict[str, dict[str, Any]] = {}
        """Stored and new answers."""

    @property
    def stale(self) -> dict[str, list[str]]:
        """Return {tree fingerprint: pages that do not match the memories in this tree}."""
        return self._of("stale", list[str])

    @property
    def surveys(self) -> dict[str, Any]:
        """Return {tree fingerprint: counts shown by `status`, as JSON values}."""
        return self._of("survey", Any)

    def read(self, wanted: Mapping[str, str]) -> dict[str, Memory]:
        """Return {blob: memory} of the stored memories among the given {blob: path}."""
        asked, blobs = "SELECT blob, sum, memory FROM parsed", tuple(wanted)
        if len(blobs) <= MAX_BY_NAME:
            asked += f" WHERE blob IN ({', '.join('?' * len(blobs))})"
        else:
            blobs = ()
        found: dict[str, Memory] = {}
        with _uncollected():
            for blob, sum_, data in self._select(asked, blobs):
                if blob in wanted and sum_ == _checksum(blob, data):
                    with suppress(*_UNREADABLE):
                        row = _ROW.decode(data)
                        fields = MappingProxyType(row.fields)
                        memory = Memory(path=wanted[blob], fields=fields, body=row.body)
                        memory.derived.update(row.derived)
                        found[blob] = memory
                        self._stored[blob] = len(row.derived)
        return found

    def store(self, memories: Mapping[str, Memory], current: Collection[str] | None = None) -> None:
        """Store memories by blob, with their derived values and any new answers.

        Rows of blobs that are not `current` (by default: not in `memories`) are deleted once there
        are many of them.
        """
        if not self._path.exists():  # another process deleted it meanwhile
            self._stored.clear()
            self._read = {kind: {} for kind in self._read}
        fresh = {b: m for b, m in memories.items() if self._stored.get(b) != len(m.derived)}
        answers = [*self._new_answers()]
        if not (fresh or answers):
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as base:
                base.execute("BEGIN IMMEDIATE")
                if not _is_ours(base):
                    _start_over(base)
                base.executemany("REPLACE INTO parsed VALUES (?, ?, ?)", _rows(fresh))
                base.executemany("REPLACE INTO answer VALUES (?, ?, ?, ?)", answers)
                _delete_old(base, memories.keys() if current is None else current)
                base.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            # Errors of the sqlite3 module itself have no code.
            if getattr(error, "sqlite_errorcode", None) in _DAMAGED:
                self._remove()
        except UnicodeDecodeError:  # the error message quotes a damaged table
            self._remove()
        except OSError:
            pass  # the folder is not writable
        else:
            self._stored |= {blob: len(memory.derived) for blob, memory in fresh.items()}
            for kind, key, _, value in answers:
                self._read[kind][key] = value

    def _of(self, kind: str, type_: Any) -> dict[str, Any]:
        if kind not in self._answers:
            asked = "SELECT key, sum, value FROM answer WHERE kind = ? ORDER BY rowid"
            read = self._read[kind] = {
                key: value
                for key, sum_, value in self._select(asked, (kind,))
                if sum_ == _checksum(key, value)
            }
            found = {key: msgspec.json.decode(value, type=type_) for key, value in read.items()}
            self._answers[kind] = found
        return self._answers[kind]

    def _new_answers(self) -> Iterator[tuple[str, str, int, bytes]]:
        for kind, answers in self._answers.items():
            for key, answer in answers.items():
                value = msgspec.json.encode(answer)
                if self._read[kind].get(key) != value:
                    yield kind, key, _checksum(key, value), value

    def _select(self, asked: str, values: Sequence[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the readable rows written by the current program version."""
        if self._path.exists():
            with suppress(sqlite3.Error, UnicodeDecodeError), self._open() as base:
                if _is_ours(base):
                    yield from base.execute(asked, values)

    def _remove(self) -> None:
        with suppress(OSError):
            remove(self._path)  # the next run rebuilds it

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=WAIT_S, isolation_level=None)) as base:
            base.execute("PRAGMA synchronous = OFF")
            yield base


@contextmanager
def _uncollected() -> Iterator[None]:
    """Run the block without garbage collection, which would repeatedly scan new memories."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def catalogue_at(path: Path) -> Catalogue:
    """Return the catalogue in a file. Each process shares one catalogue object per file."""
    return Catalogue(path)


@cache
def program_print() -> str:
    """Return a fingerprint of memrepo's modules and tables, based on file sizes and times.

    Python uses the same data to decide whether a compiled module is current.
    """
    found = [*_files(str(Path(memrepo.__file__).parent))]
    return blake2b(repr((memrepo.__version__, sorted(found))).encode(), digest_size=16).hexdigest()


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                seen = entry.stat()
                yield entry.path, seen.st_size, seen.st_mtime_ns


def _is_ours(base: sqlite3.Connection) -> bool:
    """Return whether the rows in a file were written by the current program version."""
    tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
    if not tables.issuperset(_OURS):
        return False
    return base.execute("SELECT program FROM made_by").fetchall() == [(program_print(),)]


def _start_over(base: sqlite3.Connection) -> None:
    for name in (*_OURS, *_FORMER):
        base.execute(f"DROP TABLE IF EXISTS {name}")
    for table in _TABLES:
        base.execute(table)
    base.execute("INSERT INTO made_by VALUES (?)", (program_print(),))


def _rows(memories: Mapping[str, Memory]) -> Iterator[tuple[str, int, bytes]]:
    encode: Callable[[object], bytes] = msgspec.msgpack.Encoder().encode
    for blob, memory in memories.items():
        data = encode((dict(memory.fields), memory.body, memory.derived))
        yield blob, _checksum(blob, data), data


def _delete_old(base: sqlite3.Connection, current: Collection[str]) -> None:
    """Delete the rows of removed files if there are many, and delete the oldest answers."""
    count = base.execute("SELECT count(*) FROM parsed").fetchone()[0]
    if count > 2 * len(current) + SPARE_ROWS:
        blobs = base.execute("SELECT blob FROM parsed").fetchall()
        gone = [blob for blob in blobs if blob[0] not in current]
        base.executemany("DELETE FROM parsed WHERE blob = ?", gone)
    for kind, most in MAX_ANSWERS.items():
        base.execute(
            "DELETE FROM answer WHERE kind = ?1 AND rowid NOT IN"
            " (SELECT rowid FROM answer WHERE kind = ?1 ORDER BY rowid DESC LIMIT ?2)",
            (kind, most),
        )


def _checksum(key: str, data: object) -> int:
    return crc32(data, crc32(key.encode())) if isinstance(data, bytes) else -1
