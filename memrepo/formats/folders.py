"""Read folders of markdown: workspaces of agents, notes in tiers, and vaults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os.path import normpath
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
    read_pages,
    refused,
)
from memrepo.read.thoughts import scan
from memrepo.text.dates import is_date_heading


def _json_object(files: Files, path: str) -> tuple[dict[str, Any], list[Problem]]:
    found = read_object(files[path]) if path in files else {}
    if isinstance(found, str):
        return {}, [refused(path, f"found {found}, expected one JSON object")]
    return found, []


# -- context-clear's memory_fs: `hot/`, `warm/`, `gist/`, `forgotten/` and `refcount.json` ---------

_TIERS = ("hot", "warm", "forgotten", "gist")
"""The tiers in the order in which to look for a note's text. A gist is only a summary."""
_COUNTER = "refcount.json"
_TAGS = regex(r"\s*(?:标签|標籤|tags?)\s*[:：]\s*(.*)", re.IGNORECASE)


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
    link to a memory file are not records, and a line that begins with a link to a missing file of
    the folder is reported. Older folders contain topic files without a header.
    """
    pages, problems = read_pages(files)
    yield from problems
    for page in pages:
        if page.text("name") or page.text("description"):
            yield _claude_memory(page)
            continue
        for found in _items(page):
            if page.stem != "MEMORY" or not isinstance(found, ImportRecord):
                yield found
                continue
            link = _INDEXED.search(found.text)
            target = _linked(page, link[1]) if link is not None else ""
            is_dead = target not in files
            if link is None or not target or (is_dead and link.start() > 0):
                yield found  # a statement, which may link to a file elsewhere
            elif is_dead:
                line = " ".join(found.text.split())
                message = f"found a link to {link[1]}, which is not there: {line!r}"
                dead = refused(page.path, message, line=found.lines[0])
                fix = "remove the line there, or restore the file"
                yield replace(dead, severity="warning", fix=fix)


def _items(page: Page) -> Iterator[Found]:
    """Yield a record for each list item, table row and paragraph of a file's body.

    Its subject is the item's lead or nearest heading. If no item could be read, the whole body is
    one record.
    """
    found, before = scan(page.path, page.body.encode()), page.lines[0] - 1
    for problem in found.problems:
        if problem.severity == "error":
            message = f"{problem.message.split(';')[0]}: its text is one memory"
            fix = "split it by hand there, and import again"
            problem = replace(problem, severity="warning", message=message, fix=fix)
        yield replace(problem, line=problem.line + before if problem.line else 0)
    if not found.units and found.problems:
        yield ImportRecord(path=page.path, text=page.body, lines=page.lines)
    for unit in found.units:
        about = unit.lead or (unit.headings[-1] if unit.headings else "")
        yield ImportRecord(
            path=page.path,
            text=unit.text,
            lines=(unit.lines[0] + before, unit.lines[1] + before),
            captured=unit.captured,
            captured_from=unit.captured_from,
            fields={"subject": " ".join(about.split())[:2000]},
        )


def _linked(page: Page, target: str) -> str:
    """Return the path of a link's target in the folder, or "" if it is elsewhere."""
    path = normpath(PurePosixPath(page.path).parent / target)
    return "" if "://" in target or path.startswith(("/", "../")) else path


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
