"""The result of every format reader: records that may become memories, and problems.

A reader is pure: it yields records for file contents by name. Unreadable input is a Problem with
file, line and key, and does not stop the rest.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, time
from typing import Any, NamedTuple, cast

import msgspec

from memrepo.core.fields import Node, Raw, ValueMismatch
from memrepo.core.ids import as_tag
from memrepo.core.memory import BY_NAME, CLAIM_TYPES, Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.times import format_time, parse_time

_SURROGATE = regex(r"\\u[dD][89a-fA-F]")


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A memory read from another program's files.

    `path` and `lines` are its place in the imported files. `key` is its id there, and `names` are
    other names that links use. `captured` is an ISO date, and `written` is when the program last
    wrote it. `fields` has values of memrepo's schema. `links` are (memrepo link type, name) pairs.
    `replaces` and `replaced_by` are names of records. `evidence` is the source that the program
    states for the text. `places` of the workspace, with resources as names there, replace the
    record itself as evidence. `judgement` is stored in the manifest.
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


class WholeMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory in memrepo's own format, imported unchanged.

    `data` is its file, if there is one.
    """

    memory: Memory
    path: str
    line: int = 0
    data: bytes = b""


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a reader: records, whole memories, problems, and counts of skipped items."""

    records: tuple[ImportRecord | WholeMemory, ...] = ()
    problems: tuple[Problem, ...] = ()
    passed: Mapping[str, int] = msgspec.field(default_factory=dict)


Files = Mapping[str, bytes]


class Format(NamedTuple):
    """A format that can be imported: its name, description, file predicate and reader."""

    name: str
    what: str
    wants: Callable[[str], bool]
    reader: Callable[[Files, Report], Iterable[ImportRecord | WholeMemory]]
    is_database: bool = False
    """Whether the files are SQLite databases. The reader gets a snapshot of each."""

    def read(self, files: Files) -> Read:
        """Read files by name.

        A file on which the reader fails is left out and named. The others are still read.
        """
        try:
            report = Report()
            records = tuple(self.reader(files, report))
        except Exception as error:  # noqa: BLE001 a fault in one file must not stop an import
            return self._without_faulty(files, error)
        passed = {name: count for name, count in report.skipped.items() if count}
        return Read(records=records, problems=tuple(report.problems), passed=passed)

    def _without_faulty(self, files: Files, error: Exception) -> Read:
        """Read the files that the reader can read by itself, and refuse the others.

        If the fault is in no single file, all are refused.
        """
        faulty = {}
        for path, data in files.items() if len(files) > 1 else ():
            try:
                deque(self.reader({path: data}, Report()), maxlen=0)
            except Exception as fault:  # noqa: BLE001
                faulty[path] = fault
        faulty = faulty or dict.fromkeys(files, error)
        rest = {path: data for path, data in files.items() if path not in faulty}
        read = self.read(rest) if rest else Read()
        report = Report()
        for path, cause in faulty.items():
            report.refuse(path, f"found text that cannot be read ({type(cause).__name__})")
        return msgspec.structs.replace(read, problems=(*report.problems, *read.problems))


class Report:
    """The problems and the counts of skipped items that a reader reports."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.skipped: Counter[str] = Counter()

    def refuse(self, path: str, message: str, *, line: int = 0, key: str = "") -> None:
        """Add a problem for a record that is not imported."""
        self.problems.append(refused(path, message, line=line, key=key))

    def json_values(self, files: Files) -> Iterator[tuple[str, object]]:
        """Yield (path, value) for each JSON file that can be read.

        An unpaired surrogate, which JSON allows but text cannot contain, becomes U+FFFD.
        """
        for path, data in sorted(files.items()):
            try:
                text = data.decode("utf-8-sig")
                value: object = json.loads(text)
            except UnicodeDecodeError as error:
                line = data.count(b"\n", 0, error.start) + 1
                byte = f"0x{data[error.start]:02X} at offset {error.start}"
                self.refuse(path, f"found the byte {byte}, expected UTF-8", line=line)
                continue
            except RecursionError:
                self.refuse(path, "found values nested too deep, expected JSON")
                continue
            except ValueError as error:
                line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
                self.refuse(path, f"found text that is not JSON ({error})", line=line)
                continue
            if value is None:
                self.refuse(path, "found null, expected memories")
                continue
            if _SURROGATE.search(text):
                value = self._without_surrogates(path, value)
            yield path, value

    def _without_surrogates(self, path: str, value: object) -> object:
        encoded = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        whole = json.loads(encoded.decode("utf-16", "replace"))
        if whole != value:
            self.problems.append(
                Problem(
                    path=path,
                    rule="import-field",
                    message="found an unpaired surrogate, replaced by U+FFFD",
                    severity="warning",
                    fix="fix the text there, or the memory here",
                )
            )
        return cast("object", whole)


class FieldReader:
    """The fields read from one foreign record. Invalid values are reported as problems.

    `lines` are the line numbers of keys. Other problems are at `line`.
    """

    def __init__(
        self, report: Report, path: str, line: int = 0, lines: Mapping[str, int] | None = None
    ) -> None:
        self.report, self.path, self.line = report, path, line
        self.lines = lines or {}
        self.fields: dict[str, Any] = {}

    def put(self, name: str, value: object, key: str = "") -> None:
        """Set a field from a JSON value or a header node. Empty values are ignored.

        Tags are converted to memrepo's spelling of tags.
        """
        if value not in (None, "", []):
            self.set(name, value, key)
        if name == "tags" and "tags" in self.fields:
            words = dict.fromkeys(as_tag(tag) for tag in self.fields["tags"])
            self.fields["tags"] = tuple(filter(None, words))

    def set(self, name: str, value: object, key: str = "") -> None:
        """Set a field from a value, even if the value is empty."""
        node = node_of(value)
        try:
            read = BY_NAME[name].kind.read("" if node is None else node)
        except ValueMismatch as mismatch:
            self.note(key or name, str(mismatch))
            return
        if read != BY_NAME[name].default:
            self.fields[name] = read

    def time(self, value: object, key: str) -> datetime | None:
        """Parse a value as a time. Return None and add a problem if parsing fails."""
        node = node_of(value)
        if node in (None, ""):
            return None
        try:
            return parse_time(node if isinstance(node, str) else "")
        except ValueError:
            self.note(key, f"found {str(node)[:40]!r}, expected a time")
            return None

    def note(self, key: str, message: str) -> None:
        """Add a problem for an omitted field of a record that is still imported."""
        self.report.problems.append(
            Problem(
                path=self.path,
                line=self.lines.get(key.partition(".")[0], 0) or self.line,
                column=1,
                rule="import-field",
                key=key,
                message=f"{message}: left out",
                severity="warning",
                fix="set it on the memory by hand, if it matters",
            )
        )

    def record(self, text: str, *, at: datetime | None = None, **more: Any) -> ImportRecord:
        """Return the record of a text with these fields. `at` is when it was written."""
        dated: dict[str, Any] = {}
        if at is not None:
            dated = {"captured": day_of(at), "captured_from": "unit", "written": at}
        return ImportRecord(path=self.path, text=text, fields=self.fields, **{**dated, **more})


def type_or_fact(name: str) -> str:
    """Return a type of claims, or "fact" for any other word."""
    return name if name in CLAIM_TYPES else "fact"


def node_of(value: object) -> Node | None:
    """Convert a JSON value to a node, as the header reader would return it. null becomes None."""
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


def refused(path: str, message: str, *, line: int = 0, key: str = "") -> Problem:
    """Return the problem that reports why a record is not imported."""
    return Problem(
        path=path,
        line=line,
        column=1 if line else 0,
        rule="import-record",
        key=key,
        message=f"{message}: the record is not imported",
        fix="fix the record and import again",
    )


def day_of(moment: datetime | None) -> str:
    """Format a time for evidence. Midnight becomes a date without a time zone."""
    if moment is None:
        return ""
    return format_time(moment) if moment.time() != time() else moment.date().isoformat()
