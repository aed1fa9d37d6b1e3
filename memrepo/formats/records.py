"""What every format reader yields, and the tools to read JSON values and markdown files with.

A reader is pure: it yields records for file contents by name. Unreadable input is a Problem with
file, line and key, and does not stop the rest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, time
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from memrepo.core.codec import normal_body
from memrepo.core.fields import Node, Raw, ValueMismatch
from memrepo.core.header import not_utf8
from memrepo.core.ids import as_tag
from memrepo.core.memory import BY_NAME, CLAIM_TYPES, Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.times import format_time, parse_time
from memrepo.read.documents import read_head, read_lines
from memrepo.read.notes import scan_notes
from memrepo.read.thoughts import scan
from memrepo.text.dates import date_of_path

Files = Mapping[str, bytes]


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A memory read from another program's files.

    `path` and `lines` are its place in the imported files. `key` is its id there, and `names` are
    other names that links use. `captured` is an ISO date, and `written` is when the program last
    wrote it. `fields` has values of memrepo's schema. `links` are (memrepo link type, name) pairs.
    `replaces` and `replaced_by` are names of records. `evidence` is the source that the program
    states for the text. `places` of the workspace, with resources as names there, replace the
    record itself as evidence. `judgement` is stored in the manifest. `whole` is a memory in
    memrepo's own format, which is imported unchanged.
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
    whole: Memory | None = None


class Report:
    """The problems and the counts of skipped items that a reader reports."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.skipped: Counter[str] = Counter()

    def refuse(self, path: str, message: str, *, line: int = 0, key: str = "") -> None:
        """Add a problem for a record that is not imported."""
        self.problems.append(refused(path, message, line=line, key=key))

    def json_values(self, files: Files) -> Iterator[tuple[str, object]]:
        """Yield (path, value) for each JSON file that can be read."""
        for path, data in sorted(files.items()):
            try:
                value: object = json.loads(data.decode("utf-8-sig"))
            except UnicodeDecodeError as error:
                line = data.count(b"\n", 0, error.start) + 1
                self.refuse(
                    path, f"found the byte 0x{data[error.start]:02X}, expected UTF-8", line=line
                )
            except RecursionError:
                self.refuse(path, "found values nested too deep, expected JSON")
            except ValueError as error:
                line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
                self.refuse(path, f"found text that is not JSON ({error})", line=line)
            else:
                yield path, value


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


# -- markdown files -------------------------------------------------------------------------------

_WIKI = regex(r"\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_LINK = regex(r"\]\(<?([^()<>\s]{1,300}\.md)>?(?:#[^()\s]{0,200})?\)")
_TAG = regex(r"(?<![\w/#&])#([^\W\d_][\w/-]{0,100})")


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A markdown file: header values with their lines, the body, and the body's line range.

    Line numbers are one-based.
    """

    path: str
    values: Mapping[str, Node] = msgspec.field(default_factory=dict)
    at: Mapping[str, int] = msgspec.field(default_factory=dict)
    body: str = ""
    lines: tuple[int, int] = (1, 1)

    @property
    def stem(self) -> str:
        """Return the file's name without its extension."""
        return PurePosixPath(self.path).stem

    @property
    def day(self) -> str:
        """Return the ISO date in the file's name, or an empty string."""
        return date_of_path(self.path)

    def text(self, key: str) -> str:
        """Return a header value if it is a text, or else an empty string."""
        value = self.values.get(key)
        return str(value).strip() if isinstance(value, str) else ""

    def texts(self, key: str) -> list[str]:
        """Return a header value as a list of texts. A comma-separated text is split."""
        value = self.values.get(key)
        found = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        parts = (part for item in found if isinstance(item, str) for part in item.split(","))
        return list(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def fields(self, report: Report) -> FieldReader:
        """Return a reader for the fields of this page's record."""
        return FieldReader(report, self.path, lines=self.at)

    def prose(self) -> Iterator[tuple[int, str]]:
        """Yield (number, line) pairs for the lines of the body, except those in fenced code."""
        source = read_lines(self.path, self.body.encode())
        for number, line in enumerate(source.text, start=1):
            if number not in source.fenced:
                yield self.lines[0] + number - 1, line

    def links(self) -> tuple[tuple[str, str], ...]:
        """Return one reference per distinct link: a `[[name]]`, or a markdown link to a file."""
        files = (PurePosixPath(unquote(target)).stem for target in _LINK.findall(self.body))
        names = [*(name.strip() for name in _WIKI.findall(self.body)), *files]
        return tuple(("references", name) for name in dict.fromkeys(names))

    def names(self) -> tuple[str, ...]:
        """Return the names by which links may refer to this file."""
        path = self.path.removesuffix(".md")
        names = [self.stem, path, *map(self.text, ("title", "permalink", "name"))]
        return tuple(dict.fromkeys(filter(None, names)))

    def properties(self, known: Collection[str]) -> str:
        """Return the header values for which memrepo has no field, one line per key."""
        found = ((key, self.texts(key)) for key in self.values if key not in known)
        return "\n".join(f"{key}: {', '.join(values)}" for key, values in found if values)


def is_markdown(path: str) -> bool:
    """Return whether a path is a markdown file outside hidden folders."""
    return path.endswith(".md") and not any(part.startswith(".") for part in path.split("/"))


def hashtags(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the unique hashtags in some lines, without the `#`."""
    return tuple(dict.fromkeys(tag for line in lines for tag in _TAG.findall(line)))


def read_page(path: str, data: bytes) -> tuple[Page | None, list[Problem]]:
    """Read a file into header and body. Return None if the file is not UTF-8.

    A file without a header is all body.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, [not_utf8(path, data, error.start)]
    head = read_head(text, path)
    problems = []
    if (problem := head.problem) is not None:
        how = (
            "the header was read line by line" if head.last else "all of the file was read as text"
        )
        problems = [
            Problem(
                path=path,
                line=problem.line,
                column=1,
                rule="import-header",
                message=f"{problem.message}: {how}",
                severity="warning",
                fix=f"if something is missing here, {problem.fix} there, and import again",
            )
        ]
    body = normal_body(head.body)
    lines = (head.body_line, head.body_line + body.count("\n")) if body else (0, 0)
    return Page(path=path, values=head.values, at=head.at, body=body, lines=lines), problems


def read_pages(files: Files, report: Report) -> list[Page]:
    """Read all readable files, sorted by name."""
    pages = []
    for path in sorted(files):
        page, problems = read_page(path, files[path])
        report.problems += problems
        if page is not None:
            pages.append(page)
    return pages


def items(page: Page, report: Report, *, layer: str = "") -> Iterator[ImportRecord]:
    """Yield a record for each list item, table row and paragraph of a file's body.

    Its subject is the item's lead or nearest heading. If no item could be read, the whole body is
    one record.
    """
    found = scan(page.path, page.body.encode())
    if _note_problems(page, found.problems, report) and not found.units:
        yield ImportRecord(path=page.path, text=page.body, layer=layer, lines=page.lines)
    for unit in found.units:
        about = unit.lead or (unit.headings[-1] if unit.headings else "")
        yield _part(page, unit, report, layer=layer, field=("subject", about))


def log_notes(page: Page, report: Report) -> Iterator[ImportRecord]:
    """Yield a note for each dated or timed section of a daily log.

    If the log cannot be read in sections, yield one note for the file.
    """
    notes, problems = scan_notes(page.path, page.body.encode())
    if _note_problems(page, problems, report) and not notes:
        yield ImportRecord(path=page.path, text=page.body, type="note", lines=page.lines)
    for note in notes:
        yield _part(page, note, report, type="note", field=("title", note.title))


def _part(
    page: Page, part: Any, report: Report, *, field: tuple[str, str], **more: Any
) -> ImportRecord:
    """Return the record of a unit or note of a page's body."""
    reader = FieldReader(report, page.path, part.lines[0])
    reader.put(field[0], " ".join(field[1].split())[:2000])
    first, last = (line + page.lines[0] - 1 for line in part.lines)
    return reader.record(
        part.text,
        lines=(first, last),
        captured=part.captured,
        captured_from=part.captured_from,
        **more,
    )


def _note_problems(page: Page, problems: Iterable[Problem], report: Report) -> bool:
    """Report problems in a body as warnings, and return whether one was an error.

    Line numbers become those of the file.
    """
    has_error = False
    for problem in problems:
        line = problem.line + page.lines[0] - 1 if problem.line else 0
        noted = replace(problem, line=line)
        if problem.severity == "error":
            has_error = True
            noted = replace(
                noted,
                severity="warning",
                message=f"{problem.message.split(';')[0]}: its text is one memory",
                fix="split it by hand there, and import again",
            )
        report.problems.append(noted)
    return has_error
