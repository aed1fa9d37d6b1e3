"""Read folders of markdown: workspaces of agents, notes in tiers, and vaults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from msgspec.structs import replace

from memrepo.core.jsontext import read_object
from memrepo.core.memory import CLAIM_TYPES, Gist
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.formats.records import (
    Files,
    Found,
    ImportRecord,
    Page,
    Skipped,
    is_markdown,
    items,
    log_notes,
    read_pages,
    refused,
)
from memrepo.text.dates import date_of_path, find_date, is_date_heading


def _json_object(files: Files, path: str) -> tuple[dict[str, Any], list[Problem]]:
    found = read_object(files[path]) if path in files else {}
    if isinstance(found, str):
        return {}, [refused(path, f"found {found}, expected one JSON object")]
    return found, []


# -- OpenClaw: docs.openclaw.ai, "Memory" and "Dreaming" -------------------------------------------

_PROFILES = {"USER.md": "user", "IDENTITY.md": "identity"}
"""The files about the person and the agent, and the layers of their items."""
_DIARY = ("DREAMS.md", "dreams.md")
_PROMOTED = regex(r"\[score=[^\[\]\n]{0,300}source=([^\[\]\s:]{1,300}):[\d-]{1,15}\]\s*$")
"""What dreaming writes behind a bullet that it promotes: its score, and the lines it is from."""
_RULE = regex(r"\s{0,3}(?:-\s?){3,}\s*")
_WHEN = regex(r"\s*[*_]([^*_]{4,80})[*_]\s*")
_COMMENT = regex(r"\s*<!--[^>]{0,300}-->\s*")


def wants_openclaw(path: str) -> bool:
    """Return whether a file belongs to the memory of a workspace."""
    return (
        is_markdown(path)
        and not path.startswith("memory/dreaming/")  # reports of phases, which repeat the logs
        and (path.startswith("memory/") or path in ("MEMORY.md", *_PROFILES, *_DIARY))
    )


def read_openclaw(files: Files) -> Iterator[Found]:
    """Read a workspace's long-term memory, topic files, daily logs and diary."""
    pages, problems = read_pages(files)
    yield from problems
    for page in pages:
        if page.path in _DIARY:
            yield from _dreams(page)
        elif page.day and page.path.startswith("memory/"):
            yield from log_notes(page)
        else:
            days = {
                number: date_of_path(match[1])
                for number, line in page.prose()
                if (match := _PROMOTED.search(line))
            }
            for found in items(page, layer=_PROFILES.get(page.path, "")):
                if isinstance(found, ImportRecord) and (day := days.get(found.lines[0], "")):
                    found = replace(found, captured=day, captured_from="file")
                yield found


def _dreams(page: Page) -> Iterator[ImportRecord]:
    """Yield the entries of the dream diary, which horizontal rules separate.

    A first line in italics is the date of its entry.
    """
    entry: list[tuple[int, str]] = []
    for number, line in enumerate([*page.body.split("\n"), "---"], start=page.lines[0]):
        if not _RULE.fullmatch(line):
            if line.strip() and not _COMMENT.fullmatch(line) and not line.startswith("# "):
                entry.append((number, line))
            continue
        filled, entry = entry, []
        head = _WHEN.fullmatch(filled[0][1]) if filled else None
        body = "\n\n".join(text.strip() for _, text in filled[1 if head else 0 :])
        if body:
            yield ImportRecord(
                path=page.path,
                text=body,
                type="note",
                lines=(filled[0][0], filled[-1][0]),
                captured=find_date(head[1]) if head else "",
                captured_from="heading",
                fields={"title": head[1] if head else "Dream diary", "tags": ["dreams"]},
            )


# -- context-clear's memory_fs: `hot/`, `warm/`, `gist/`, `forgotten/` and `refcount.json` ---------

_TIERS = ("hot", "warm", "forgotten", "gist")
"""The tiers in the order in which to look for a note's text. A gist is only a summary."""
_COUNTER = "refcount.json"
_TAGS = regex(r"\s*(?:标签|標籤|tags?)\s*[:：]\s*(.*)", re.IGNORECASE)


def wants_memory_fs(path: str) -> bool:
    """Return whether a file is a note in a tier's folder, or the counter next to the folder."""
    parts = path.split("/")
    if parts[-1] == _COUNTER:
        return len(parts) <= 2
    return len(parts) in (2, 3) and parts[-2] in _TIERS and path.endswith(".md")


def read_memory_fs(files: Files) -> Iterator[Found]:
    """Read every note once, even if several folders contain it."""
    pages, problems = read_pages({p: d for p, d in files.items() if p.endswith(".md")})
    notes: dict[str, dict[str, Page]] = {}
    for page in pages:
        notes.setdefault(page.stem, {})[PurePosixPath(page.path).parent.name] = page
    path = next((p for p in sorted(files) if p.endswith(_COUNTER)), "")
    counter, more = _json_object(files, path)
    yield from (*problems, *more)
    counted = {PurePosixPath(k).stem: v for k, v in counter.items() if isinstance(v, dict)}
    for name in sorted(notes):
        versions, known = notes[name], counted.get(name, {})
        tier = next((tier for tier in _TIERS if tier in versions), next(iter(versions)))
        page, gist = versions[tier], versions.get("gist")
        since = known.get("created")
        created = since if isinstance(since, int | float) and 0 < since < 10**11 else None
        yield ImportRecord(
            path=page.path,
            text=page.body,
            type="note",
            key=page.stem,
            lines=page.lines,
            captured=page.day,
            captured_from="file",
            written=created,
            fields={
                "title": page.stem,
                "tier": "gist" if gist else tier,
                "user_marked": known.get("user_marked"),
                "promoted": known.get("promoted"),
                "gist": _gist(gist) if gist else None,
                "created": created,
            },
        )


def _gist(page: Page) -> Gist:
    """Read a summary: `# title`, a line of tags, text."""
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


# -- Claude Code: `~/.claude/projects/<project>/memory/` -------------------------------------------

_KINDS = {"user": ("fact", "user"), "feedback": ("preference", "")}
"""Claude Code's types as (type, layer) in memrepo. An empty layer is the default of the type."""
_INDEXED = regex(r"\[[^\[\]\n]{1,300}\]\(([^()\s]{1,300}\.md)\)")


def read_claude_code(files: Files) -> Iterator[Found]:
    """Read memory files, one record each, and the items of the index and of topic files.

    A memory file has name, description and type in its header. `MEMORY.md` is an index: lines that
    link to a memory file are not records. Older folders contain topic files without a header.
    """
    pages, problems = read_pages(files)
    yield from problems
    for page in pages:
        if page.text("name") or page.text("description"):
            yield _claude_memory(page)
            continue
        for found in items(page):
            link = _INDEXED.search(found.text) if isinstance(found, ImportRecord) else None
            if page.stem != "MEMORY" or not link or _linked(page, link[1]) not in files:
                yield found


def _linked(page: Page, target: str) -> str:
    return str(PurePosixPath(page.path).parent / target)


def _claude_memory(page: Page) -> ImportRecord:
    metadata = page.values.get("metadata")
    nested = metadata if isinstance(metadata, dict) else {}
    kind = page.text("type") or str(nested.get("type", ""))
    type_, layer = _KINDS.get(kind, ("fact", ""))
    description = page.text("description")
    return ImportRecord(
        path=page.path,
        text=page.body or description,
        type=type_,
        layer=layer,
        key=page.stem,
        names=page.names(),
        lines=page.lines,
        written=nested.get("modified"),
        fields={
            "title": page.text("name"),
            "description": description,
            "tags": [kind] if kind else [],
        },
        at=page.at,
        links=page.links(),
    )


# -- Obsidian --------------------------------------------------------------------------------------

_DATES = ("modified", "updated", "created", "date")
_KNOWN = {*_DATES, "title", "description", "tags", "tag", "aliases", "type", "cssclasses"}


def read_obsidian(files: Files) -> Iterator[Found]:
    """Read every note of a vault, with tags, and links to other notes."""
    pages, problems = read_pages(files)
    yield from problems
    for page in pages:
        if page.text("id").startswith("mem-"):
            yield Skipped("own_memories_passed_over", 1)  # `import jsonl` takes them whole
        elif page.body and not page.path.endswith("index.md"):
            yield _note(page)


def _note(page: Page) -> ImportRecord:
    tags = (*page.texts("tags"), *page.texts("tag"), *page.hashtags())
    type_ = page.text("type") if page.text("type") in CLAIM_TYPES else "fact"
    written = next((key for key in _DATES if page.values.get(key)), "")
    return ImportRecord(
        path=page.path,
        text="\n\n".join(filter(None, (page.body, page.properties(_KNOWN)))),
        type="note" if is_date_heading(page.stem) else type_,
        key=page.path.removesuffix(".md"),
        names=(*page.names(), *page.texts("aliases")),
        lines=page.lines,
        captured=page.day,
        captured_from="file",
        written=page.values.get(written),
        fields={
            "title": page.text("title") or page.stem,
            "description": page.text("description"),
            "tags": list(dict.fromkeys(tag.lstrip("#") for tag in tags)),
            "aliases": page.texts("aliases"),
        },
        at={**page.at, "written": page.at.get(written, page.lines[0])},
        links=page.links(),
    )
