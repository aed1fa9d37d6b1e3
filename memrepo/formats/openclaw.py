"""Read an OpenClaw workspace: `MEMORY.md`, `USER.md`, `memory/`, diary and recalled lines.

A bullet promoted by dreaming refers to the source lines in a daily log.
`.dreams/short-term-recall.json` has concept tags for lines of logs. Docs: docs.openclaw.ai,
"Memory" and "Dreaming".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from msgspec.structs import replace

from memrepo.core.ids import normalise
from memrepo.core.jsonl import mappings, read_object, texts
from memrepo.core.memory import Source
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.formats.items import items, log_notes
from memrepo.formats.pages import Page, is_markdown, prose, read_pages
from memrepo.formats.records import Files, Given, Read, Record, refused
from memrepo.text.dates import date_of_path, find_date

_PROFILES = {"USER.md": "user", "IDENTITY.md": "identity"}
"""The files about the person and the agent, and the layers of their items."""
_DIARY = ("DREAMS.md", "dreams.md")
_RECALL = "memory/.dreams/short-term-recall.json"
_REPORTS = "memory/dreaming/"
_PROMOTED = regex(
    r"\s*[-*+]\s+(?P<text>\S.*?)\s+\[score=[\d.]{1,20} [^\[\]\n]{0,200}"
    r"source=(?P<path>[^\[\]\s:]{1,300}):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?\]\s*"
)
_RULE = regex(r"\s{0,3}(?:-\s?){3,}\s*")
_WHEN = regex(r"\s*[*_]([^*_]{4,80})[*_]\s*")
_COMMENT = regex(r"\s*<!--[^>]{0,300}-->\s*")
_KNOWN = 40
"""The number of characters of a recalled snippet that a memory must contain to get its tags."""


def wants(path: str) -> bool:
    """Return whether a file belongs to the memory of a workspace."""
    if path == _RECALL:
        return True
    return is_markdown(path) and (
        path.startswith("memory/") or path in ("MEMORY.md", *_PROFILES, *_DIARY)
    )


def read(files: Files) -> Read:
    """Read a workspace's long-term memory, topic files, daily logs and diary."""
    logs = {p: d for p, d in files.items() if p.endswith(".md") and not p.startswith(_REPORTS)}
    pages, problems = read_pages(logs)
    records = [record for page in pages for record in _records(page, problems)]
    recalled = _recalled(files, problems)
    return Read(
        records=tuple(_tagged(record, recalled) for record in records),
        problems=tuple(problems),
        passed={
            name: count
            for name, count in (
                ("reports_passed_over", sum(p.startswith(_REPORTS) for p in files)),
                ("recalls_passed_over", sum(_count(entry) for entry in recalled)),
            )
            if count
        },
    )


def _records(page: Page, noted: list[Problem]) -> Iterator[Record]:
    if page.path in _DIARY:
        yield from _dreams(page)
    elif page.day and page.path.startswith("memory/"):
        yield from log_notes(page, noted)
    else:
        promoted = list(_promoted(page))
        places = {record.lines for record in promoted}
        yield from promoted
        plain = items(page, noted, layer=_PROFILES.get(page.path, ""))
        yield from (record for record in plain if record.lines not in places)


def _promoted(page: Page) -> Iterator[Record]:
    """Yield the bullets that dreaming promoted, citing lines of the daily log as evidence."""
    for number, line in prose(page):
        match = _PROMOTED.fullmatch(line)
        if match is None:
            continue
        first, last = int(match["first"]), int(match["last"] or match["first"])
        day = date_of_path(match["path"])
        yield Record(
            path=page.path,
            text=match["text"],
            lines=(number, number),
            captured=day,
            captured_from="file",
            evidence=Source(
                resource=f"openclaw://{match['path']}",
                captured=day,
                captured_from="file" if day else "",
                lines=(min(first, last), max(first, last)),
            ),
        )


def _dreams(page: Page) -> Iterator[Record]:
    """Yield the entries of the dream diary, which horizontal rules separate.

    A first line in italics is the date of its entry.
    """
    entry: list[tuple[int, str]] = []
    for number, line in enumerate([*page.body.split("\n"), "---"], start=page.lines[0]):
        if not _RULE.fullmatch(line):
            if not _COMMENT.fullmatch(line) and not line.startswith("# "):
                entry.append((number, line))
            continue
        filled = [(n, text) for n, text in entry if text.strip()]
        entry = []
        if not filled:
            continue
        head = _WHEN.fullmatch(filled[0][1])
        given = Given(page.path, filled[0][0])
        given.put("title", head[1] if head else "Dream diary")
        given.put("tags", ["dreams"])
        body = "\n\n".join(text.strip() for _, text in filled[1 if head else 0 :])
        if body:
            yield Record(
                path=page.path,
                text=body,
                type="note",
                lines=(filled[0][0], filled[-1][0]),
                captured=find_date(head[1]) if head else "",
                captured_from="heading",
                fields=given.fields,
            )


def _recalled(files: Files, problems: list[Problem]) -> list[Any]:
    """Return the entries of dreaming's recall, with path, lines, snippet, tags and counts."""
    if _RECALL not in files:
        return []
    page = read_object(files[_RECALL])
    if isinstance(page, str):
        problems.append(refused(_RECALL, f"found {page}, expected one JSON object"))
        return []
    entries = page.get("entries")
    return mappings(list(entries.values()) if isinstance(entries, dict) else entries)


def _count(entry: Any) -> int:
    count = entry.get("recallCount")
    return count if isinstance(count, int) and not isinstance(count, bool) else 0


def _tagged(record: Record, recalled: Iterable[Any]) -> Record:
    """Add to a record the tags of recalled entries whose snippet the record contains.

    Line numbers are not compared, because they are unreliable.
    """
    said = normalise(record.text)
    found: list[str] = []
    for entry in recalled:
        known = normalise(str(entry.get("snippet") or ""))[:_KNOWN]
        same = PurePosixPath(str(entry.get("path"))) == PurePosixPath(record.path)
        if same and known and known in said:
            found += texts(entry.get("conceptTags"))
    if not found:
        return record
    given = Given(record.path, record.lines[0])
    given.put("tags", list(dict.fromkeys([*record.fields.get("tags", ()), *found])))
    return replace(record, fields={**record.fields, **given.fields})
