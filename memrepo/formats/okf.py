"""Read an Open Knowledge Format bundle: memrepo's files unchanged, other concepts as facts.

Spec: GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md, 0.2. `index.md` and `log.md` are reserved.
"""

from __future__ import annotations

from memrepo.core.layout import RESERVED_NAMES
from memrepo.core.memory import CLAIM_TYPES, Source
from memrepo.core.problems import Problem
from memrepo.formats.own import memory_file
from memrepo.formats.pages import Page, is_markdown, linked, names_of, read_page
from memrepo.formats.records import Files, Given, Read, Record, Whole, day_of, refused


def wants(path: str) -> bool:
    """Return whether a file is a concept of an OKF bundle."""
    return is_markdown(path) and path.rpartition("/")[2] not in RESERVED_NAMES


def read(files: Files) -> Read:
    """Read a bundle. Concepts without a type are refused."""
    found: list[Record | Whole] = []
    problems: list[Problem] = []
    for path, data in sorted(files.items()):
        whole = memory_file(path, data)
        if whole is not None:
            found.append(whole)
            continue
        page, noted = read_page(path, data)
        problems += noted
        if page is None:
            continue
        if not page.text("type"):
            problems.append(refused(path, "found no type", line=1, key="type"))
            continue
        record, given = _concept(page)
        found.append(record)
        problems += given.problems
    return Read(records=tuple(found), problems=tuple(problems))


def _concept(page: Page) -> tuple[Record, Given]:
    given = Given(page.path)
    for key in ("title", "description", "tags", "verified"):
        given.put(key, page.values.get(key), key, page.at.get(key, 0))
    kind = page.text("type")
    if kind not in CLAIM_TYPES:
        given.put("tags", [*given.fields.get("tags", ()), kind], "type")
    until = given.time(page.values.get("stale_after"), "stale_after", page.at.get("stale_after", 0))
    if until:
        given.put("valid_until", page.values["stale_after"], "stale_after")
    stamp = page.values.get("generated")
    at = stamp.get("at") if isinstance(stamp, dict) else page.values.get("timestamp")
    when = given.time(at, "generated", page.at.get("generated", 0))
    resource = page.text("resource")
    record = Record(
        path=page.path,
        text=page.body or page.text("description"),
        key=page.path,
        type=kind if kind in CLAIM_TYPES else "fact",
        names=names_of(page),
        lines=page.lines,
        captured=day_of(when),
        captured_from="unit",
        written=when,
        fields=given.fields,
        links=tuple(("references", name) for name in linked(page.body)),
        evidence=Source(resource=resource) if resource else None,
    )
    return record, given
