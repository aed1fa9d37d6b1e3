"""Read a two-layer memory: `MEMORY.md` is the hot cache of the files `memory/LAYER.md`.

This is the format of the layered memory manager. A bullet of the hot cache ends with
`↑DATE(REASON)←memory/LAYER.md[pin]`. The full text is in that file, and becomes the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from msgspec.structs import replace

from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.formats.items import items, log_notes
from memrepo.formats.pages import Page, is_markdown, prose, read_pages
from memrepo.formats.records import Files, Given, Read, Record
from memrepo.policies.hotcache import CRITICAL
from memrepo.text.tokens import content_words

_HOT = "MEMORY.md"
_ARCHIVE = "memory/archive/"
_POINTER = "→"
"""The prefix of the line below a section that refers to the file with the full texts."""
_BULLET = regex(
    r"\s*[-*+]\s+(?P<text>\S.*?)\s*↑(?P<day>\d{4}-\d{2}-\d{2})\((?P<reason>[^()]{1,100})\)"
    r"←(?P<file>[^\s\[\]]{1,300})(?P<pin>\[pin\])?\s*"
)
_LAYERS: Mapping[str, tuple[str, str]] = {
    "identity": ("identity", ""),
    "user": ("fact", "user"),
    "preferences": ("preference", ""),
    "knowledge": ("fact", ""),
    "decisions": ("decision", ""),
    "skills": ("method", ""),
    "context": ("fact", "context"),
}
"""The layers as (type, layer) in memrepo. An empty layer is the default of the type."""
_SHARED = 0.6
"""The minimum share of a hot bullet's words that its full text must contain."""


def wants(path: str) -> bool:
    """Return whether a file is a hot cache, a layer, a log or an archived file."""
    return is_markdown(path) and (path == _HOT or path.startswith("memory/"))


def read(files: Files) -> Read:
    """Read all layers, logs and archived files, and mark the records in the hot cache."""
    pages, problems = read_pages(files)
    records: list[Record] = []
    for page in pages:
        if page.path != _HOT:
            records += _records(page, problems)
    for page in pages:
        if page.path == _HOT:
            problems += _heat(page, records)
            records += (r for r in items(page, problems) if not r.text.startswith(_POINTER))
    return Read(records=tuple(records), problems=tuple(problems))


def _records(page: Page, noted: list[Problem]) -> list[Record]:
    if page.path.startswith(_ARCHIVE):
        return [
            replace(record, fields={**record.fields, "status": "archived"})
            for record in items(page, noted)
        ]
    if page.day:
        return list(log_notes(page, noted))
    type_, layer = _LAYERS.get(page.stem, ("fact", ""))
    return list(items(page, noted, type_, layer=layer))


def _heat(page: Page, records: list[Record]) -> list[Problem]:
    """Mark records that hot bullets condense. A bullet without a full text becomes a record."""
    problems: list[Problem] = []
    for number, line in prose(page):
        match = _BULLET.fullmatch(line)
        if match is None:
            continue
        given = Given(page.path, number)
        given.put("hot", {"since": match["day"], "reason": match["reason"]}, "↑")
        given.put("critical", match["reason"] == CRITICAL or None, "↑")
        given.put("pinned", bool(match["pin"]) or None)
        problems += given.problems
        file = match["file"].partition(":")[0]
        at = _meant(match["text"], file, records)
        if at is None:
            type_, layer = _LAYERS.get(PurePosixPath(file).stem, ("fact", ""))
            records.append(
                Record(
                    path=page.path,
                    text=match["text"],
                    type=type_,
                    layer=layer,
                    lines=(number, number),
                    fields=given.fields,
                )
            )
        else:
            records[at] = replace(records[at], fields={**records[at].fields, **given.fields})
    return problems


def _meant(text: str, file: str, records: list[Record]) -> int | None:
    """Return the index of the record that a bullet condenses, or None if there is none.

    The record of the bullet's file that has the most words of the bullet is returned, if enough
    words match.
    """
    words = content_words(text)
    shares = [
        (len(words & content_words(record.text)) / len(words), -at)
        for at, record in enumerate(records)
        if record.path == file and words
    ]
    share, at = max(shares, default=(0.0, 0))
    return -at if share >= _SHARED else None
