"""What every format reader yields, and the tools to read JSON values and markdown files with.

A reader is one pure function: it yields records for file contents by name. Unreadable input is a
Problem with file, line and key, and does not stop the rest. What a reader leaves out on purpose is
counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple, NoReturn, TypeAlias
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from memrepo.core.codec import normal_body, not_utf8
from memrepo.core.errors import Problem
from memrepo.core.memory import Node, Source
from memrepo.core.patterns import regex
from memrepo.read import documents
from memrepo.text.dates import date_of_path

Files = Mapping[str, bytes]


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A memory read from another program's files.

    `path` and `lines` are its place in the imported files. `key` is its id there, and `names` are
    other names that links use. `captured` is an ISO date. `written` is the value that the program
    stores for when the text was written. `fields` has
    values for memrepo's fields as the program spells them, and `at` the lines of its keys. `links`
    are (memrepo link type, name) pairs. `replaces` are names of records. `places` of the
    workspace, with resources as names there, replace the record itself as evidence. A record with
    `is_own` is a memory in memrepo's own format with its path there, and is imported unchanged.
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
    written: object = None
    fields: Mapping[str, object] = msgspec.field(default_factory=dict)
    at: Mapping[str, int] = msgspec.field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    replaces: tuple[str, ...] = ()
    places: tuple[Source, ...] = ()
    is_own: bool = False
    own_path: str = ""


class Skipped(NamedTuple):
    """A number of items that a reader leaves out on purpose, such as `answers_passed_over`."""

    name: str
    number: int


Found: TypeAlias = ImportRecord | Problem | Skipped


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


def left_out(path: str, key: str, message: str, *, line: int = 0) -> Problem:
    """Return the problem that reports an omitted field of a record that is still imported."""
    return Problem(
        path=path,
        line=line,
        column=1,
        rule="import-field",
        key=key,
        message=f"{message}: left out",
        severity="warning",
        fix="set it on the memory by hand, if it matters",
    )


class Format(NamedTuple):
    """A format that can be imported: its description, the paths of its files, and its reader."""

    what: str
    paths: str
    """A regular expression, which the whole path of a file below the imported folder matches."""
    reader: Callable[[Files], Iterable[Found]]
    is_database: bool = False
    """Whether the files are SQLite databases. The reader gets a snapshot of each."""
    is_followed: bool = False
    """Whether a repeated import of a folder ends the memories of a removed file."""

    def wants(self, path: str) -> bool:
        """Return whether a file is of this format."""
        return re.fullmatch(self.paths, path) is not None

    def read(self, files: Files) -> tuple[Found, ...]:
        """Read files by name.

        A file on which the reader fails by itself is left out and named, and the others are read.
        If the fault is in no single file, all are refused.
        """
        faults: dict[str, str] = {}
        try:
            return tuple(self.reader(files))
        except Exception as error:  # noqa: BLE001 a fault in one file must not stop an import
            fault = type(error).__name__
        for path, data in files.items():
            try:
                tuple(self.reader({path: data}))
            except Exception as error:  # noqa: BLE001
                faults[path] = type(error).__name__
        faults = faults or dict.fromkeys(files, fault)
        rest = {path: data for path, data in files.items() if path not in faults}
        refusals = [refused(p, f"found text that cannot be read ({e})") for p, e in faults.items()]
        return (*refusals, *(self.read(rest) if rest else ()))


def read_json(path: str, data: bytes) -> Any | Problem:
    """Return the value of a JSON file, or the problem with it."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        return refused(path, "found values nested too deep, expected JSON")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return refused(path, f"found the byte 0x{data[error.start]:02X}, expected UTF-8", line=line)
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        return refused(path, f"found text that is not JSON ({error})", line=line)


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
        """Return a header value as unique texts. A comma-separated text is split."""
        value = self.values.get(key)
        found = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        parts = (part for item in found if isinstance(item, str) for part in item.split(","))
        return list(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def links(self) -> tuple[tuple[str, str], ...]:
        """Return one reference per distinct link: a `[[name]]`, or a markdown link to a file."""
        files = (PurePosixPath(unquote(target)).stem for target in _LINK.findall(self.body))
        names = [*(name.strip() for name in _WIKI.findall(self.body)), *files]
        return tuple(("references", name) for name in dict.fromkeys(names))

    def hashtags(self) -> Iterator[str]:
        """Yield the hashtags outside fenced code, without the `#`."""
        source = documents.read_lines(self.path, self.body.encode())
        for number, line in enumerate(source.text, start=1):
            if number not in source.fenced:
                yield from _TAG.findall(line)

    def names(self) -> tuple[str, ...]:
        """Return the names by which links may refer to this file."""
        path = self.path.removesuffix(".md")
        names = [self.stem, path, *map(self.text, ("title", "permalink", "name"))]
        return tuple(dict.fromkeys(filter(None, names)))

    def properties(self, known: Collection[str]) -> str:
        """Return the header values for which memrepo has no field, one line per key."""
        found = ((key, self.texts(key)) for key in self.values if key not in known)
        return "\n".join(f"{key}: {', '.join(values)}" for key, values in found if values)


def read_pages(files: Files) -> tuple[list[Page], list[Problem]]:
    """Read the markdown files into headers and bodies, sorted by name, and return the problems.

    A file without a header is all body. A file that is not UTF-8 is left out.
    """
    pages, problems = [], []
    for path, data in sorted(files.items()):
        try:
            head = documents.read_head(data.decode("utf-8-sig"), path)
        except UnicodeDecodeError as error:
            problems.append(not_utf8(path, data, error.start))
            continue
        if head.problem is not None:
            how = "header was read line by line" if head.last else "file was all read as text"
            fix = f"if something is missing here, {head.problem.fix} there, and import again"
            problems.append(
                replace(
                    head.problem,
                    path=path,
                    column=1,
                    rule="import-header",
                    message=f"{head.problem.message}: the {how}",
                    severity="warning",
                    fix=fix,
                )
            )
        body = normal_body(head.body)
        lines = (head.body_line, head.body_line + body.count("\n")) if body else (0, 0)
        pages.append(Page(path=path, values=head.values, at=head.at, body=body, lines=lines))
    return pages, problems


# -- JSON lines -----------------------------------------------------------------------------------

_SEPARATORS = regex("[\x85\u2028\u2029]")


class JsonLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a JSON lines file and its one-based line number."""

    number: int
    record: Mapping[str, Any]


def read_json_lines(path: str, data: bytes) -> Iterator[JsonLine | Problem]:
    """Yield the objects of a file of JSON lines, and a problem for each line that is none.

    Blank lines are ignored. Lines end only at line feeds. NaN and infinity are not JSON.
    """
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        record = read_object(raw)
        if isinstance(record, str):
            yield Problem(
                path=path,
                line=number,
                column=1,
                rule="import-line",
                message=f"found {record}, expected one JSON object",
                fix="fix the line, or remove it",
            )
        else:
            yield JsonLine(number=number, record=record)


def read_object(data: bytes) -> dict[str, object] | str:
    """Decode one JSON object, or return a description of the text that was found instead."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        return f"a byte that is not UTF-8 at offset {error.start}"
    except RecursionError:
        return "values nested too deep"
    except ValueError as error:
        return f"text that is not JSON ({error})"
    return value if isinstance(value, dict) else f"a {type(value).__name__}"


def spell_lines(records: Iterable[Mapping[str, object]]) -> bytes:
    """Format records as JSON lines.

    Unicode line separators are escaped because some programs split lines at them.
    """
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return _SEPARATORS.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def texts(value: object) -> list[str]:
    """Return the strings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the mappings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []
