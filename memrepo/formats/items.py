"""Markdown without a schema, item by item: what runs would judge, taken as it stands."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.formats.pages import Page
from memrepo.formats.records import Given, Record
from memrepo.purify.capture import scan_notes
from memrepo.purify.units import Unit, scan


def items(page: Page, type_: str = "fact", *, layer: str = "") -> Iterator[Record]:
    """Yield a record for each list item, table row and paragraph of a file's body."""
    for unit in scan(page.path, page.body.encode()).units:
        yield item(page, unit, type_, layer=layer)


def item(page: Page, unit: Unit, type_: str, *, layer: str = "") -> Record:
    """Return the record of one unit: its nearest heading is what it is about."""
    given = Given(page.path, unit.lines[0])
    about = unit.parents[-1] if unit.parents else unit.headings[-1] if unit.headings else ""
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


def log_notes(page: Page) -> Iterator[Record]:
    """Yield a note for each dated or timed section of a daily log, else one for the file."""
    ahead = page.lines[0] - 1
    for note in scan_notes(page.path, page.body.encode())[0]:
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
