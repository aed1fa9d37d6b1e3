"""The file `index.sqlite3`: its schema, its version, connections to it, and cached memories.

Everything in the file is a cache in the git directory. The tables are recreated if another version
of the program wrote them, and a damaged file is deleted. Missing rows are computed again.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, TypeVar
from zlib import crc32

import msgspec

import memrepo
from memrepo.core.memory import FIELDS, Memory

NAME = "index.sqlite3"
WAIT_S = 10.0
CACHE_WAIT_S = 1.0
"""Maximum wait of the memory cache. Reading the files instead is only slower."""
SPARE_ROWS = 1000
"""Number of outdated rows, beyond twice the current ones, from which they are deleted."""
_VERSION = "version"
# Errors of a file that is not damaged, but cannot be written or is locked for too long.
_UNREACHABLE = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    )
)
_UNREADABLE = (ValueError, TypeError, msgspec.MsgspecError)
T = TypeVar("T")


def connect(where: Path | str, wait_s: float) -> sqlite3.Connection:
    """Open a connection to a cache file. Transactions are explicit."""
    base = sqlite3.connect(where, timeout=wait_s, isolation_level=None)
    try:
        base.execute("PRAGMA synchronous = OFF")
    except BaseException:
        base.close()
        raise
    return base


def open_database(where: Path | str) -> sqlite3.Connection:
    """Open an index file. Recreate its tables if they are missing or of another version."""
    base = connect(where, WAIT_S)
    try:
        if not _is_current(base):
            base.execute("BEGIN IMMEDIATE")
            _create_tables(base)
            base.execute("COMMIT")
    except BaseException:
        base.close()
        raise
    return base


def query(path: Path, answer: Callable[[Path | str], T]) -> T:
    """Return the answer of a database, given its path.

    A damaged file is deleted, and rebuilt by the answer. If the file is not writable, the answer
    comes from a database in memory.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return answer(path)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _UNREACHABLE:
                raise
        except (UnicodeDecodeError, json.JSONDecodeError, TypeError):
            pass  # an error message quotes a damaged table, or a value is missing
        remove(path)  # not a database, or damaged
        return answer(path)
    except (OSError, sqlite3.OperationalError):
        return answer(":memory:")


def damage_of(path: Path) -> str:
    """Return what is wrong with an index file, or "" if nothing is, or if there is none."""
    if not path.exists():
        return ""
    try:
        with closing(connect(path, WAIT_S)) as base:
            found = str(base.execute("PRAGMA quick_check(1)").fetchone()[0])
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        is_other = getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNREACHABLE
        found = "ok" if is_other else str(error)
    return "" if found == "ok" else found.splitlines()[-1]


def remove(path: Path) -> None:
    """Delete an SQLite database with its -wal, -shm and -journal files."""
    for tail in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + tail).unlink(missing_ok=True)


def get_meta(base: sqlite3.Connection, key: str) -> str:
    """Return the value stored for a key in the meta table, or an empty string."""
    row = base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(base: sqlite3.Connection, values: Mapping[str, str]) -> None:
    """Store values by key in the meta table."""
    base.executemany("REPLACE INTO meta VALUES (?, ?)", [*values.items()])


@cache
def program_print() -> str:
    """Return a fingerprint of memrepo's modules and tables, based on file sizes and times."""
    found = [*_files(str(Path(memrepo.__file__).parent))]
    return f"{memrepo.__version__} {crc32(repr(sorted(found)).encode()):08x}"


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns


@cache
def _schema() -> str:
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


def _is_current(base: sqlite3.Connection) -> bool:
    tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
    wanted = re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", _schema(), re.MULTILINE)
    return tables.issuperset(wanted) and get_meta(base, _VERSION) == program_print()


def _create_tables(base: sqlite3.Connection) -> None:
    """Replace all tables, unless another process has just done so."""
    if _is_current(base):
        return
    # Dropping a virtual table also drops the tables that store it.
    names = """SELECT name FROM sqlite_master WHERE type = 'table'
        ORDER BY sql NOT LIKE 'CREATE VIRTUAL %'"""
    for (name,) in base.execute(names).fetchall():
        base.execute(f'DROP TABLE IF EXISTS "{name}"')
    for statement in _schema().split(";\n"):
        base.execute(statement)
    set_meta(base, {_VERSION: program_print()})


# -- memories --------------------------------------------------------------------------------


_Fields = TypedDict(  # type: ignore[misc]  # the schema has the names
    "_Fields", {field.name: field.type for field in FIELDS}, total=False
)


class _Row(msgspec.Struct, frozen=True, array_like=True):
    fields: _Fields
    body: str
    derived: dict[str, Any]


_ROW = msgspec.msgpack.Decoder(_Row)


class MemoryCache:
    """Decoded memories by blob with derived values, and answers. Disk errors are ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stored: dict[str, int] = {}
        """The number of derived values stored for each blob."""

    def read(self, wanted: Mapping[str, str]) -> dict[str, Memory]:
        """Return {blob: memory} of the stored memories among the given {blob: path}."""
        blobs = msgspec.json.encode([*wanted]).decode()
        by_blob = """SELECT blob, memory FROM parsed
            WHERE blob IN (SELECT value FROM json_each(?))"""
        found: dict[str, Memory] = {}
        for blob, data in self._select(by_blob, (blobs,)):
            with suppress(*_UNREADABLE):
                row = _ROW.decode(data)
                found[blob] = Memory.restored(wanted[blob], row.fields, row.body, row.derived)
                self._stored[blob] = len(row.derived)
        return found

    def store(self, memories: Mapping[str, Memory], current: Collection[str] | None = None) -> None:
        """Store memories by blob, with their derived values.

        Rows of blobs that are not `current` (by default: not in `memories`) are deleted once there
        are many of them.
        """
        if not self._path.exists():  # another process deleted it
            self._stored.clear()
        fresh = {b: m for b, m in memories.items() if self._stored.get(b) != len(m.derived)}

        def write(base: sqlite3.Connection) -> None:
            insert_memories(base, fresh)
            _delete_old(base, memories.keys() if current is None else current)

        if fresh and self._write(write):
            self._stored |= {blob: len(memory.derived) for blob, memory in fresh.items()}

    def answer(self, kind: str, key: str, type_: type[T], compute: Callable[[], T]) -> T:
        """Return the stored answer of a kind if its key is the given one, or else compute it."""
        by_key = "SELECT value FROM answer WHERE kind = ? AND key = ?"
        for (value,) in self._select(by_key, (kind, key)):
            with suppress(*_UNREADABLE):
                return msgspec.json.decode(value, type=type_)
        found = compute()
        row = (kind, key, msgspec.json.encode(found))
        self._write(lambda base: base.execute("REPLACE INTO answer VALUES (?, ?, ?)", row))
        return found

    def _write(self, write: Callable[[sqlite3.Connection], object]) -> bool:
        """Call a function with the database in a transaction. Return whether it was written.

        A damaged file stays, so that a check can name it: the search index begins it again.
        """
        with suppress(OSError, sqlite3.Error, UnicodeDecodeError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(connect(self._path, CACHE_WAIT_S)) as base:
                base.execute("BEGIN IMMEDIATE")
                _create_tables(base)
                write(base)
                base.execute("COMMIT")
            return True
        return False

    def _select(self, statement: str, values: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        if self._path.exists():
            with (
                suppress(sqlite3.Error, UnicodeDecodeError),
                closing(connect(self._path, CACHE_WAIT_S)) as base,
            ):
                if _is_current(base):
                    yield from base.execute(statement, values)


@cache
def memory_cache(path: Path) -> MemoryCache:
    """Return the memory cache in a file. Each process shares one object per file."""
    return MemoryCache(path)


def insert_memories(base: sqlite3.Connection, memories: Mapping[str, Memory]) -> None:
    """Store decoded memories by blob, with their text hashes, which `add` looks up."""
    encode: Callable[[object], bytes] = msgspec.msgpack.Encoder().encode
    rows = (
        (blob, encode((dict(memory.fields), memory.body, memory.derived)))
        for blob, memory in memories.items()
        if memory.own_hash
    )
    base.executemany("REPLACE INTO parsed VALUES (?, ?)", rows)


def _delete_old(base: sqlite3.Connection, current: Collection[str]) -> None:
    count = base.execute("SELECT count(*) FROM parsed").fetchone()[0]
    if count > 2 * len(current) + SPARE_ROWS:
        blobs = msgspec.json.encode([*current]).decode()
        base.execute(
            "DELETE FROM parsed WHERE blob NOT IN (SELECT value FROM json_each(?))", (blobs,)
        )
