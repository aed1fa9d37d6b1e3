"""Read an Obsidian vault: one memory per note, with tags, and links to other notes.

Files written by memrepo become the same memories again.
"""

from __future__ import annotations

from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.problems import Problem
from memrepo.formats.own import memory_file
from memrepo.formats.pages import Page, hashtags, linked, names_of, properties, prose, read_pages
from memrepo.formats.records import Files, Given, Read, Record, Whole, day_of
from memrepo.text.dates import is_date_heading

_DATES = ("modified", "updated", "created", "date")
_KNOWN = frozenset(
    {*_DATES, "title", "description", "tags", "tag", "aliases", "type", "cssclasses"}
)


def read(files: Files) -> Read:
    """Read every note of the vault."""
    found: list[Record | Whole] = []
    problems: list[Problem] = []
    others: dict[str, bytes] = {}
    for path, data in sorted(files.items()):
        whole = memory_file(path, data)
        if whole is not None:
            found.append(whole)
        elif not path.endswith("index.md"):
            others[path] = data
    pages, problems = read_pages(others)
    for page in pages:
        if page.body:
            record, given = _record(page)
            found.append(record)
            problems += given.problems
    return Read(records=tuple(found), problems=tuple(problems))


def _record(page: Page) -> tuple[Record, Given]:
    given = Given(page.path)
    given.put("title", page.text("title") or page.stem, "title", page.at.get("title", 0))
    given.put("description", page.text("description"), "description")
    inline = hashtags(line for _, line in prose(page))
    tags = [t.lstrip("#") for t in (*page.texts("tags"), *page.texts("tag"), *inline)]
    given.put("tags", list(dict.fromkeys(tags)), "tags", page.at.get("tags", 0))
    given.put("entities", page.texts("aliases"), "aliases", page.at.get("aliases", 0))
    when = next(
        filter(
            None, (given.time(page.values.get(key), key, page.at.get(key, 0)) for key in _DATES)
        ),
        None,
    )
    kind = page.text("type")
    daily = is_date_heading(page.stem)
    record = Record(
        path=page.path,
        text="\n\n".join(filter(None, (page.body, properties(page, _KNOWN)))),
        key=page.path.removesuffix(".md"),
        type="note" if daily else kind if kind in CLAIM_TYPES else "fact",
        names=(*names_of(page), *page.texts("aliases")),
        lines=page.lines,
        captured=page.day or day_of(when),
        captured_from="file" if page.day else "unit",
        written=when,
        fields=given.fields,
        links=tuple(("references", name) for name in linked(page.body)),
    )
    return record, given
