"""Read free-form markdown as records, one for each item that a run would judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from memrepo.core.problems import Problem
from memrepo.formats.pages import Page
from memrepo.formats.records import Given, Record
from memrepo.read.notes import scan_notes
from memrepo.read.thoughts import Unit, scan


def items(
    page: Page, noted: list[Problem], type_: str = "fact", *, layer: str = ""
) -> Iterator[Record]:
    """Yield a record for each list item, table row and paragraph of a file's body.

    Problems are appended to `noted`. If no item could be read, the whole body is one record.
    """
    found = scan(page.path, page.body.encode())
    noted += (_there(page, problem) for problem in found.problems)
    if not found.units and _unread(found.problems):
        yield Record(path=page.path, text=page.body, type=type_, layer=layer, lines=page.lines)
    for unit in found.units:
        yield item(page, unit, type_, layer=layer)


def _unread(problems: Sequence[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)


def _there(page: Page, problem: Problem) -> Problem:
    """Convert a problem in a body to a warning with the line number in the file."""
    line = problem.line + page.lines[0] - 1 if problem.line else 0
    if problem.severity == "warning":
        return replace(problem, line=line)
    return replace(
        problem,
        line=line,
        severity="warning",
        message=f"{problem.message.split(';')[0]}: its text is one memory",
        fix="split it by hand there, and import again",
    )


def item(page: Page, unit: Unit, type_: str, *, layer: str = "") -> Record:
    """Return the record for one unit. Its subject is the unit's lead or nearest heading."""
    given = Given(page.path, unit.lines[0])
    about = unit.lead or (unit.headings[-1] if unit.headings else "")
    given.put("subject", " ".join(about.split())[:2000])
    ahead = page.lines[0] - 1
    return Record(
        path=page.path,
        text=unit.text,
        type=type_,
        layer=layer,
        captured=unit.captured,
        lines=(unit.lines[0] + ahead, unit.lines[1] + ahead),
        captured_from=unit.captured_from,
        fields=given.fields,
    )


def log_notes(page: Page, noted: list[Problem]) -> Iterator[Record]:
    """Yield a note for each dated or timed section of a daily log.

    If the log cannot be read in sections, yield one note for the file.
    """
    ahead = page.lines[0] - 1
    notes, problems = scan_notes(page.path, page.body.encode())
    noted += (_there(page, problem) for problem in problems)
    if not notes and _unread(problems):
        yield Record(path=page.path, text=page.body, type="note", lines=page.lines)
    for note in notes:
        given = Given(page.path, note.lines[0])
        given.put("title", " ".join(note.title.split())[:2000])
        yield Record(
            path=page.path,
            text=note.text,
            type="note",
            captured=note.captured,
            lines=(note.lines[0] + ahead, note.lines[1] + ahead),
            captured_from=note.captured_from,
            fields=given.fields,
        )
