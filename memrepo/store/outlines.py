"""Memories of which only what runs ask of all of them is known; the rest is read when asked for.

Their outlines lie in segments: a column for each property, of as many memories as were kept at
once. A column is read when it is first asked for, and a memory's own row (store/records) when a
policy asks for what no column holds: its text, its stamps, its links.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TypeAlias, TypeVar

import msgspec

from memrepo.core.memory import ONCE, Cell, Memory, taking

T = TypeVar("T")
Row: TypeAlias = dict[str, Cell]
"""What is kept of one memory, by the name of the column."""
_TEXTS = ("subject", "context", "lead", "scope", "home", "predicate", "object")
_LONGEST = 200
"""Longer texts are in no column."""
_UNREAD = "\0unread"
_SLOT = Memory.__dict__["fields"]


class _Column(msgspec.Struct, frozen=True, array_like=True):
    """Values in order; with `codes` each is the number of one of them."""

    values: list[Cell]
    codes: list[int] | None = None

    def spelled(self) -> list[Cell]:
        """Return the values, one a memory."""
        if self.codes is None:
            return self.values
        values = self.values
        return [values[code] for code in self.codes]


class _Segment(msgspec.Struct, frozen=True, array_like=True):
    blobs: list[str]
    columns: dict[str, msgspec.Raw]


_SEGMENT = msgspec.msgpack.Decoder(_Segment)
_COLUMN = msgspec.msgpack.Decoder(_Column)
UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError)


class Outlines:
    """The outlines of one segment, and how the whole of one of its memories is read."""

    def __init__(self, data: bytes, whole: Callable[[Kept], Memory]) -> None:
        """Raises one of UNREADABLE on what `segment` did not make."""
        said = _SEGMENT.decode(data)
        self.blobs, self._columns, self.whole = said.blobs, said.columns, whole
        self.read: dict[str, list[Cell] | None] = {}
        for name in ("id", "type", "status", "standing", "keys"):
            if self.column(name) is None:
                raise ValueError(f"no column {name}")
        keys = {text: frozenset(text.split(" ")) for text in {*self.read["keys"]}}  # type: ignore[misc]
        self.keys = [keys[text] for text in self.read["keys"]]  # type: ignore[union-attr]
        self.ids, self.types = self.read["id"], self.read["type"]
        self.statuses, self.standings = self.read["status"], self.read["standing"]

    def column(self, name: str) -> list[Cell] | None:
        """Return the values of a column, None where no memory of the segment has one."""
        if name not in self.read:
            raw = self._columns.get(name)
            found = None if raw is None else _COLUMN.decode(raw).spelled()
            if found is not None and len(found) != len(self.blobs):
                raise ValueError(f"a column {name} of another length")
            self.read[name] = found
        return self.read[name]

    def told(self, name: str) -> list[Cell] | None:
        """Return a property as a memory of the segment has it, where a column tells it."""
        if name == "keys":
            return list(self.keys)
        found = self.column({"files": "resource", "first": "resource"}.get(name, name))
        if name in _TEXTS:
            cells = found or [None] * len(self.blobs)
            return [
                cell if cell is not None or name in keys else ""
                for cell, keys in zip(cells, self.keys, strict=True)
            ]
        if found is None or name not in ("files", "first"):
            return found
        beside = self.column("files" if name == "files" else "line") or [None] * len(self.blobs)
        pairs = zip(found, beside, strict=True)
        return [*map(_files if name == "files" else _first, pairs)]

    def memory(self, path: str, at: int) -> Kept:
        """Return the memory of a row, at a path."""
        return Kept(path=path, fields=(self, at), body=_UNREAD)  # type: ignore[arg-type]

    def row(self, at: int) -> Row:
        """Return all that is kept of one memory."""
        columns = ((name, self.column(name)) for name in self._columns)
        return {name: values[at] for name, values in columns if values is not None}


def _files(pair: tuple[str | None, list[str] | None]) -> tuple[str, ...] | None:
    resource, several = pair
    if resource is None:
        return None
    return tuple(several) if several is not None else (resource,) if resource else ()


def _first(pair: tuple[str | None, int]) -> tuple[str, int] | None:
    return None if pair[0] is None else (pair[0], pair[1])


class Kept(Memory, frozen=True, kw_only=True, dict=True):
    """A memory of an outline: what it holds beyond that is read when it is first asked for."""

    def __post_init__(self) -> None:
        given, own = _SLOT.__get__(self, Kept), self.__dict__
        body = _BODY.__get__(self, Kept)
        if type(given) is tuple and body is _UNREAD:
            of, at = own["outline"] = given
            own["id"], own["status"] = of.ids[at], of.statuses[at]
            own["type"] = type_ = of.types[at]
            own["standing"], own["is_note"] = of.standings[at], type_ == "note"
            return
        if type(given) is tuple:  # a copy with another text
            own["outline"] = given
            given = given[0].whole(self).fields
            del own["outline"]
        own["fields"], own["body"] = given, body
        super().__post_init__()

    @property
    def blob(self) -> str:
        """Return the blob that it was read of."""
        of, at = self.__dict__["outline"]
        found: str = of.blobs[at]
        return found

    @property
    def is_whole(self) -> bool:
        """Tell whether all of it was read."""
        return "_said" in self.__dict__

    def fill(self, memory: Memory) -> None:
        """Take what another copy of it holds."""
        own = self.__dict__
        own["fields"] = memory.fields
        own.setdefault("body", memory.body)
        own["_said"] = dict(memory.fields)

    @cached_property
    def _said(self) -> dict[str, Cell]:  # type: ignore[override]
        self._fill()
        found: dict[str, Cell] = self.__dict__["_said"]
        return found

    @cached_property  # type: ignore[misc]  # of the record, that is; here it is read when asked for
    def fields(self) -> Mapping[str, Cell]:
        """Return the fields that differ from their default; which these are is known before."""
        return _Fields(self)

    @cached_property  # type: ignore[misc]
    def body(self) -> str:
        """Return the text."""
        self._fill()
        found: str = self.__dict__["body"]
        return found

    def _fill(self) -> None:
        if "_said" not in self.__dict__:
            self.fill(self.__dict__["outline"][0].whole(self))

    @property
    def keys(self) -> Set[str]:
        """Return the names of its fields."""
        if "_said" in self.__dict__:
            return self._said.keys()
        of, at = self.__dict__["outline"]
        found: Set[str] = of.keys[at]
        return found

    @property
    def value_keys(self) -> Iterable[str]:
        """Return the names of its fields in the order of the file."""
        return self._said.keys()

    def value(self, key: str) -> Cell:
        """Return the value of a field that it has."""
        return self._said[key]

    def has(self, key: str) -> bool:
        """Tell whether it has a field."""
        own = self.__dict__
        if "_said" in own:
            return key in own["_said"]
        of, at = own["outline"]
        return key in of.keys[at]

    def _column(self, name: str) -> Cell:
        """Return what a column says of it; None where none does."""
        if (outline := self.__dict__.get("outline")) is None:
            return None
        of, at = outline
        values = of.read[name] if name in of.read else of.column(name)
        return None if values is None else values[at]

    def text(self, key: str) -> str:
        """Return a text field, or an empty string."""
        own = self.__dict__
        if "_said" not in own:  # spelled out, for runs ask a million times
            of, at = own["outline"]
            if key not in of.keys[at]:
                return ""
            if key in _TEXTS:
                values = of.read[key] if key in of.read else of.column(key)
                if values is not None and (told := values[at]) is not None:
                    known: str = told
                    return known
        found: str = self._said.get(key, "")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list field, or an empty tuple."""
        return super().texts(key) if self.has(key) else ()

    def flag(self, key: str) -> bool:
        """Return a flag field."""
        return self.has(key) and super().flag(key)

    @property
    def said(self) -> str:
        """Return the body without the words that context added."""
        told: str | None = None if "body" in self.__dict__ else self._column("said")
        return super().said if told is None else told

    @property
    def captured(self) -> str:
        """Return the newest evidence date, or an empty string."""
        told: str | None = self._column("captured")
        return super().captured if told is None else told

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of its sources, each once."""
        told = _files((self._column("resource"), self._column("files")))
        return super().files if told is None else told

    @property
    def first(self) -> tuple[str, int]:
        """Return the file and the line of its first source, or an empty name."""
        told = _first((self._column("resource"), self._column("line")))
        return super().first if told is None else told

    def once(self, rule: str, work_out: Callable[[], T]) -> T:
        """Return what follows from fields and body alone, as `Memory.once` does."""
        found: T
        if rule in self.derived:
            found = self.derived[rule]
        elif (told := self._column(ONCE + rule)) is not None:
            found = told
        else:
            found = self.derived[rule] = work_out()
        return found


class _Fields(Mapping[str, Cell]):
    """The fields of a memory, of which the values are read when one is asked for."""

    __slots__ = ("_kept",)

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def __getitem__(self, key: str) -> Cell:
        if key not in self:
            raise KeyError(key)
        return self._kept.value(key)

    def get(self, key: str, default: Cell = None) -> Cell:
        """Return a value, or the default where the memory has no such field."""
        return self._kept.value(key) if key in self else default

    def __contains__(self, key: object) -> bool:
        return key in self._kept.keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept.value_keys)

    def __len__(self) -> int:
        return len(self._kept.keys)


_BODY = Memory.__dict__["body"]


def row_of(memory: Memory) -> Row:
    """Return what is kept of a memory."""
    outline = memory.__dict__.get("outline")
    if outline is not None:
        row: Row = outline[0].row(outline[1])
    else:
        said = {key: memory.text(key) for key in _TEXTS}
        row = {
            "id": memory.id,
            "type": memory.type,
            "status": memory.status,
            "standing": memory.standing,
            "keys": " ".join(sorted(memory.fields)),
            "captured": memory.captured,
            "resource": memory.first[0],
            "line": memory.first[1],
            "said": memory.said,
            **({"files": [*memory.files]} if len(memory.files) > 1 else {}),
            **{key: text for key, text in said.items() if text and len(text) <= _LONGEST},
        }
    return row | {ONCE + rule: value for rule, value in memory.derived.items()}


def rows_of(data: bytes) -> dict[str, Row]:
    """Return what a segment keeps, by blob; raises one of UNREADABLE on what is none."""
    of = Outlines(data, _never)
    return {blob: of.row(at) for at, blob in enumerate(of.blobs)}


def _never(kept: Kept) -> Memory:
    raise LookupError(kept.path)


def segment(rows: Mapping[str, Row]) -> bytes:
    """Return the columns of some memories, by blob."""
    names = dict.fromkeys(name for row in rows.values() for name in row)
    columns = {name: _column([row.get(name) for row in rows.values()]) for name in names}
    return msgspec.msgpack.encode([[*rows], columns])


def _column(values: Sequence[Cell]) -> _Column:
    """Return a column; what stands in it time and again is spelled once."""
    numbers: dict[Cell, int] = {}
    found: list[Cell] = []
    codes = []
    for value in values:
        key = msgspec.msgpack.encode(value) if isinstance(value, list) else value
        if (code := numbers.setdefault(key, len(numbers))) == len(found):
            found.append(value)
        codes.append(code)
    return _Column(found, codes) if 2 * len(found) <= len(values) else _Column([*values])


class Table:
    """The outlines of the memory files of a commit, in the order of their paths (core/memory)."""

    def __init__(self, found: Sequence[Outlines], files: Mapping[str, str]) -> None:
        """Take segments, the newest first, and blobs by path in order."""
        self._segments = found
        rows: dict[str, int] = {}
        start = sum(len(of.blobs) for of in found)
        for of in reversed(found):
            start -= len(of.blobs)
            rows |= zip(of.blobs, range(start, start + len(of.blobs)), strict=True)
        at = [rows.get(blob) for blob in files.values()]
        self.missing = [p for p, row in zip(files, at, strict=True) if row is None]
        """The files that have no outline."""
        self._rows = [row for row in at if row is not None]
        left = {*self.missing}
        self.paths = [path for path in files if path not in left] if left else [*files]
        self._columns: dict[str, list[Cell] | None] = {"path": self.paths}
        self._taken = taking(self._rows)
        self.made: list[Kept | None] = [None] * len(self._rows)
        """Those that somebody asked for."""
        self._starts = [0]
        for of in found:
            self._starts.append(self._starts[-1] + len(of.blobs))
        self.ids: list[str] = self.column("id") or []

    def memory(self, at: int) -> Kept:
        """Return one memory, the same each time."""
        found = self.made[at]
        if found is None:
            row = self._rows[at]
            segment = bisect(self._starts, row) - 1
            of = self._segments[segment]
            found = self.made[at] = of.memory(self.paths[at], row - self._starts[segment])
        return found

    def column(self, name: str) -> list[Cell] | None:
        """Return a property of all of them, None where none is known; a cell may be None too."""
        if name not in self._columns:
            found: list[Cell] = []
            for of in self._segments:
                found += of.told(name) or [None] * len(of.blobs)
            self._columns[name] = self._taken(found)
        return self._columns[name]
