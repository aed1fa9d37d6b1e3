"""What every reader of a format returns: records that may become memories, and findings.

A reader is pure: file contents by name in, records out. What cannot be read is a Problem that names
file, line and key, and never stops the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, time
from typing import Any, cast

import msgspec

from memrepo.core.fields import Node, Raw, ValueMismatch
from memrepo.core.ids import as_tag
from memrepo.core.memory import Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.schema import BY_NAME
from memrepo.core.times import format_time, parse_time

_HALVES = regex(r"\\u[dD][89a-fA-F]")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as another program keeps it.

    `path` and `lines` say where it stands among the files, `key` is its id there and `names` are
    further names by which others link to it. `captured` is an ISO date, `written` when that program
    last wrote it. `fields` holds values of our schema. `links` are (type of ours, name) pairs,
    `replaces` and `replaced_by` are names of records that this one supersedes, or is superseded by.
    `evidence` is where the program says that it has the text from. Instead of the record itself,
    `places` of the workspace (resources are names there) may be its evidence. `judgement` is what a
    manifest stores of it.
    """

    path: str
    text: str
    type: str = "fact"
    key: str = ""
    names: tuple[str, ...] = ()
    lines: tuple[int, int] = (0, 0)
    layer: str = ""
    captured: str = ""
    captured_from: str = ""
    written: datetime | None = None
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    replaces: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()
    places: tuple[Source, ...] = ()
    judgement: Mapping[str, Any] = msgspec.field(default_factory=dict)
    evidence: Source | None = None


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of our own shape, taken in as it is; `data` is its file where there is one."""

    memory: Memory
    path: str
    line: int = 0
    data: bytes = b""


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader found: records and whole memories in order, findings, what it passed over."""

    records: tuple[Record | Whole, ...] = ()
    problems: tuple[Problem, ...] = ()
    passed: Mapping[str, int] = msgspec.field(default_factory=dict)


Files = Mapping[str, bytes]
Reader = Callable[[Files], Read]


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format: its name, what it is in a few words, which files it reads, and its reader."""

    name: str
    what: str
    wants: Callable[[str], bool]
    read: Reader
    is_database: bool = False
    """Whether its files are SQLite databases: the reader is given a snapshot of each."""


class Given:
    """Values of one foreign record as fields of ours; what does not fit is a finding."""

    def __init__(self, path: str, line: int = 0) -> None:
        self.path, self.line = path, line
        self.fields: dict[str, Any] = {}
        self.problems: list[Problem] = []

    def put(self, name: str, value: object, key: str = "", line: int = 0) -> None:
        """Set a field from a JSON value or a header's node; nothing is set from nothing.

        What another program has as tags is spelled as tags are here.
        """
        if value not in (None, "", []):
            self.set(name, value, key, line)
        if name == "tags" and "tags" in self.fields:
            words = dict.fromkeys(as_tag(tag) for tag in self.fields["tags"])
            self.fields["tags"] = tuple(filter(None, words))

    def set(self, name: str, value: object, key: str = "", line: int = 0) -> None:
        """Set a field from a value, an empty one too."""
        node = node_of(value)
        try:
            read = BY_NAME[name].kind.read("" if node is None else node)
        except ValueMismatch as mismatch:
            self.note(key or name, str(mismatch), line)
            return
        if read != BY_NAME[name].default:
            self.fields[name] = read

    def time(self, value: object, key: str, line: int = 0) -> datetime | None:
        """Return a value as a time; None, with a finding, where it is something else."""
        node = node_of(value)
        if node in (None, ""):
            return None
        try:
            return parse_time(node if isinstance(node, str) else "")
        except ValueError:
            self.note(key, f"found {str(node)[:40]!r}, expected a time", line)
            return None

    def note(self, key: str, said: str, line: int = 0) -> None:
        """Note that a field could not be used: the record is taken in without it."""
        self.problems.append(
            Problem(
                path=self.path,
                line=line or self.line,
                column=1,
                rule="import-field",
                key=key,
                message=f"{said}: left out",
                severity="warning",
                fix="set it on the memory by hand, if it matters",
            )
        )


def node_of(value: object) -> Node | None:
    """Return a JSON value as the header reader would yield it; null is None."""
    match value:
        case None | str():
            return value
        case bool():
            return Raw("true" if value else "false")
        case int() | float():
            return Raw(repr(value))
        case list() | tuple():
            return [part for part in map(node_of, value) if part is not None]
        case dict():
            pairs = ((str(key), node_of(part)) for key, part in value.items())
            return {key: part for key, part in pairs if part is not None}
        case _:
            raise TypeError(type(value).__name__)


def read_json(path: str, data: bytes, problems: list[Problem]) -> object | None:
    """Return what a file of JSON holds; None, with a finding, where it holds nothing to read.

    Half a surrogate pair, which JSON can spell and no text can hold, becomes U+FFFD.
    """
    try:
        text = data.decode("utf-8-sig")
        value: object = json.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        said = f"found the byte 0x{data[error.start]:02X} at offset {error.start}, expected UTF-8"
        problems.append(refused(path, said, line=line))
        return None
    except RecursionError:
        problems.append(refused(path, "found values nested too deep, expected JSON"))
        return None
    except ValueError as error:
        at = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        problems.append(refused(path, f"found text that is not JSON ({error})", line=at))
        return None
    if value is None:
        problems.append(refused(path, "found null, expected memories"))
    if _HALVES.search(text) is None:
        return value
    whole = json.loads(
        json.dumps(value, ensure_ascii=False)
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
    )
    if whole != value:
        problems.append(
            Problem(
                path=path,
                rule="import-field",
                message="found half a surrogate pair, expected whole characters: U+FFFD is there",
                severity="warning",
                fix="fix the text there, or the memory here",
            )
        )
    return cast("object", whole)


def refused(path: str, said: str, *, line: int = 0, key: str = "") -> Problem:
    """Return the finding that a record is not taken in."""
    return Problem(
        path=path,
        line=line,
        column=1 if line else 0,
        rule="import-record",
        key=key,
        message=f"{said}: the record is not taken in",
        fix="fix the record and import again",
    )


def day_of(moment: datetime | None) -> str:
    """Return a moment as evidence has it: midnight is a date, whose day needs no zone."""
    if moment is None:
        return ""
    return format_time(moment) if moment.time() != time() else moment.date().isoformat()
