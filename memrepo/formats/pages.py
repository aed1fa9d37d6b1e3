"""Read a markdown file of another program: its header as nodes, its body, items and links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from memrepo.core.codec import normal_body
from memrepo.core.fields import Node
from memrepo.core.header import not_utf8
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.formats.records import FieldReader, Files, ImportRecord, Report
from memrepo.read.documents import read_head, read_lines
from memrepo.read.notes import scan_notes
from memrepo.read.thoughts import scan
from memrepo.text.dates import date_of_path

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


def items(
    page: Page, report: Report, type_: str = "fact", *, layer: str = ""
) -> Iterator[ImportRecord]:
    """Yield a record for each list item, table row and paragraph of a file's body.

    Its subject is the item's lead or nearest heading. If no item could be read, the whole body is
    one record.
    """
    found = scan(page.path, page.body.encode())
    if _note_problems(page, found.problems, report) and not found.units:
        yield ImportRecord(
            path=page.path, text=page.body, type=type_, layer=layer, lines=page.lines
        )
    for unit in found.units:
        about = unit.lead or (unit.headings[-1] if unit.headings else "")
        yield _part(page, unit, report, type=type_, layer=layer, field=("subject", about))


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
