"""Read context-clear's notes in `hot/`, `warm/`, `gist/` and `forgotten/`, and its counter.

`gist/NAME.md` is a summary (`# title`, a line of tags, text) of `warm/NAME.md`, which still exists.
The counter `refcount.json` is next to the folder, so `PATH` should be the parent folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from memrepo.core.jsonl import read_object
from memrepo.core.memory import Gist
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.formats.pages import Page, read_pages
from memrepo.formats.records import Files, Given, Read, Record, day_of, refused

_TIERS = ("hot", "warm", "forgotten", "gist")
"""The tiers in the order in which to look for a note's text. A gist is only a summary."""
_COUNTER = "refcount.json"
_TAGS = regex(r"\s*(?:标签|標籤|tags?)\s*[:：]\s*(.*)", re.IGNORECASE)


def wants(path: str) -> bool:
    """Return whether a file is a note in a tier's folder, or the counter."""
    parts = path.split("/")
    if parts[-1] == _COUNTER:
        return len(parts) <= 2
    return len(parts) in (2, 3) and parts[-2] in _TIERS and path.endswith(".md")


def read(files: Files) -> Read:
    """Read every note once, even if several folders contain it."""
    pages, problems = read_pages({p: d for p, d in files.items() if p.endswith(".md")})
    counted = _counter(files, problems)
    notes: dict[str, dict[str, Page]] = {}
    for page in pages:
        notes.setdefault(page.stem, {})[PurePosixPath(page.path).parent.name] = page
    records = []
    for name in sorted(notes):
        record, given = _note(notes[name], counted)
        problems += given.problems
        records.append(record)
    total = sum(c["total"] for c in counted.values() if type(c.get("total")) is int)
    passed = {"retrievals_passed_over": total} if total else {}
    return Read(records=tuple(records), problems=tuple(problems), passed=passed)


def _counter(files: Files, problems: list[Problem]) -> dict[str, Mapping[str, Any]]:
    """Return the counter's entries, by note name."""
    path = next((p for p in sorted(files) if p.endswith(_COUNTER)), "")
    page = read_object(files[path]) if path else {}
    if isinstance(page, str):
        problems.append(refused(path, f"found {page}, expected one JSON object"))
        return {}
    return {PurePosixPath(k).stem: v for k, v in page.items() if isinstance(v, dict)}


def _note(
    versions: Mapping[str, Page], counted: Mapping[str, Mapping[str, Any]]
) -> tuple[Record, Given]:
    page = next(versions[tier] for tier in _TIERS if tier in versions)
    tier = "gist" if "gist" in versions else PurePosixPath(page.path).parent.name
    entry = counted.get(page.stem, {})
    given = Given(page.path)
    given.put("title", page.stem)
    given.put("tier", tier)
    for flag in ("user_marked", "promoted"):
        given.put(flag, entry.get(flag), flag)
    if "gist" in versions:
        given.fields["gist"] = _gist(versions["gist"])
    since = entry.get("created")
    created = None
    if isinstance(since, int | float) and 0 < since < 10**11:
        created = datetime.fromtimestamp(int(since), tz=UTC)
    if created is not None:
        given.fields["created"] = created
    record = Record(
        path=page.path,
        text=page.body,
        type="note",
        key=page.stem,
        lines=page.lines,
        captured=page.day or day_of(created),
        captured_from="file",
        written=created,
        fields=given.fields,
    )
    return record, given


def _gist(page: Page) -> Gist:
    title, tags, rest = page.stem, "", []
    for line in page.body.split("\n"):
        if line.startswith("#") and title == page.stem:
            title = line.lstrip("# ").strip() or title
        elif (match := _TAGS.fullmatch(line)) and not tags:
            tags = match[1]
        else:
            rest.append(line.strip())
    words = (word.strip().lstrip("#") for word in re.split(r"[,，、\s]+", tags))
    return Gist(
        title=title[:2000],
        tags=tuple(dict.fromkeys(word[:200] for word in words if word)),
        summary=" ".join(filter(None, rest))[:2000],
    )
