"""Read a folder of Remnic (formerly engram): one markdown file with a header per memory.

Memories are in `facts/DAY/ID.md` and similar paths. `entities/TYPE-NAME.md` and `profile.md` are
read item by item. `namespaces/NAME/` becomes a scope. Chunks are skipped, because their parent
contains the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from memrepo.core.jsonl import mappings
from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.problems import Problem
from memrepo.formats.items import items
from memrepo.formats.pages import Page, linked, read_pages
from memrepo.formats.records import Files, Given, Read, Record, day_of

_TYPES: Mapping[str, str] = {
    "correction": "lesson",
    "entity": "fact",
    "principle": "constraint",
    "rule": "constraint",
    "moment": "episode",
    "skill": "method",
    "reasoning_trace": "lesson",
}
_LINKS = ("follows", "references", "contradicts", "supports", "related")
_STATUSES = {"archived": "archived", "forgotten": "forgotten"}
_UNBELIEVED = ("pending_review", "rejected", "quarantined")
_HELD = {"entities": "fact", "questions": "open_question"}


def read(files: Files) -> Read:
    """Read every memory, except chunks and memories that Remnic itself does not trust."""
    pages, problems = read_pages(files)
    records: list[Record] = []
    successors: dict[str, str] = {}
    passed = dict.fromkeys(
        ("chunks_passed_over", "unbelieved_passed_over", "without_id_passed_over"), 0
    )
    for page in pages:
        if not page.text("id"):
            records += _without_id(page, problems, passed)
        elif page.text("parentId"):
            passed["chunks_passed_over"] += 1
        elif page.text("status") in _UNBELIEVED:
            passed["unbelieved_passed_over"] += 1
        else:
            record, noted = _record(page)
            records.append(record)
            problems += noted
            if page.text("status") == "superseded":
                successors[record.key] = page.text("supersededBy")
    return Read(
        records=tuple(_replaced(records, successors)),
        problems=tuple(problems),
        passed={name: count for name, count in passed.items() if count},
    )


def _without_id(page: Page, noted: list[Problem], passed: dict[str, int]) -> list[Record]:
    """Read the items of a page without a memory id: a profile or an entity.

    Items of an entity page refer to the entity.
    """
    if page.path.rpartition("/")[2] == "profile.md":
        return list(items(page, noted, "fact", layer="user"))
    folder = next((part for part in page.path.split("/")[:-1] if part in _HELD), "")
    if not folder:
        passed["without_id_passed_over"] += 1
        return []
    name = page.text("name") or page.stem.partition("-")[2].replace("-", " ")
    return [
        replace(r, fields={**r.fields, **({"entities": (name,)} if name else {})})
        for r in (items(page, noted, _HELD[folder]))
    ]


def _record(page: Page) -> tuple[Record, list[Problem]]:
    given = Given(page.path)
    for name, key in (
        ("tags", "tags"),
        ("confidence", "confidence"),
        ("entities", "entityRef"),
        ("valid_from", "validAt"),
    ):
        value = page.values.get(key)
        if name == "entities" and isinstance(value, str) and value:
            value = [value]
        given.put(name, value, key, page.at.get(key, 0))
    until = next((key for key in ("invalidAt", "expiresAt") if page.text(key)), "")
    given.put("valid_until", page.text(until), until, page.at.get(until, 0))
    _importance(page, given)
    given.put("status", _STATUSES.get(page.text("status")), "status")
    parts = page.path.split("/")
    if parts[0] == "namespaces" and len(parts) > 2:
        given.put("scope", f"project:{parts[1]}")
    category = page.text("category") or "fact"
    type_ = _TYPES.get(category, category)
    created = given.time(page.values.get("created"), "created", page.at.get("created", 0))
    record = Record(
        path=page.path,
        text=page.body,
        type=type_ if type_ in CLAIM_TYPES else "fact",
        key=page.text("id"),
        lines=page.lines,
        captured=day_of(created),
        captured_from="unit",
        written=given.time(page.values.get("updated"), "updated", page.at.get("updated", 0))
        or created,
        fields=given.fields,
        links=_links(page),
        replaces=tuple(filter(None, [page.text("supersedes")])),
    )
    return record, given.problems


def _importance(page: Page, given: Given) -> None:
    nested = page.values.get("importance")
    if isinstance(nested, dict):
        wanted: Mapping[str, object] = nested
    else:
        wanted = {
            key: page.values.get(f"importance{key.capitalize()}")
            for key in ("score", "level", "reasons", "keywords")
        }
    if wanted.get("score") and wanted.get("level"):
        known = {key: wanted[key] for key in ("score", "level") if wanted.get(key)}
        given.put("importance", known, "importance")


def _links(page: Page) -> tuple[tuple[str, str], ...]:
    found = [("references", name) for name in linked(page.body)]
    for entry in mappings(page.values.get("links")):
        type_ = str(entry.get("linkType") or entry.get("type"))
        target = entry.get("targetId") or entry.get("target")
        if target:
            found.append((type_ if type_ in _LINKS else "references", str(target)))
    return tuple(dict.fromkeys(found))


def _replaced(records: list[Record], successors: Mapping[str, str]) -> list[Record]:
    """Set `replaces` in the records that are successors of others, and return all records.

    A superseded record without a successor is archived.
    """
    keys = {record.key for record in records}
    made = []
    for record in records:
        old = tuple(key for key, new in successors.items() if new == record.key)
        if record.key in successors and successors[record.key] not in keys:
            record = replace(record, fields={**record.fields, "status": "archived"})
        made.append(replace(record, replaces=tuple(dict.fromkeys((*record.replaces, *old)))))
    return made
