"""Read Claude Code's auto memory in `~/.claude/projects/<project>/memory/`.

`MEMORY.md` is an index with one line per memory. Every other file is one memory, with name,
description and type (user, feedback, project, reference) in its header. Older folders contain topic
files without a header. Each item of a topic file becomes a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from memrepo.core.patterns import regex
from memrepo.formats.items import items
from memrepo.formats.pages import Page, linked, names_of, read_pages
from memrepo.formats.records import Files, Given, Read, Record, day_of
from memrepo.text.tokens import content_words

_KINDS: Mapping[str, tuple[str, str]] = {
    "user": ("fact", "user"),
    "feedback": ("preference", ""),
    "project": ("fact", ""),
    "reference": ("fact", ""),
}
"""Claude Code's types as (type, layer) in memrepo. An empty layer is the default of the type."""
_POINTER = regex(r"\[[^\[\]\n]{1,300}\]\(([^()\s]{1,300}\.md)\)")


def read(files: Files) -> Read:
    """Read memory files, one record each, and the items of the index and of topic files.

    Index lines that link to a memory file are not records. Their text is added to the description
    of the linked memory.
    """
    pages, problems = read_pages(files)
    records: list[Record] = []
    hooks = _hooks(pages)
    for page in pages:
        if page.text("name") or page.text("description"):
            record, given = _record(page, hooks.get(page.path, ""))
            records.append(record)
            problems += given.problems
            continue
        for record in items(page, problems):
            target = _POINTER.search(record.text)
            if not (
                page.stem == "MEMORY"
                and target
                and str(PurePosixPath(page.path).parent / target[1]) in files
            ):
                records.append(record)
    return Read(records=tuple(records), problems=tuple(problems))


def _hooks(pages: Sequence[Page]) -> dict[str, str]:
    """Return the text that follows each link in the index, by the path of the linked file."""
    found: dict[str, str] = {}
    for page in (page for page in pages if page.stem == "MEMORY"):
        for line in page.body.split("\n"):
            if pointer := _POINTER.search(line):
                said = line[pointer.end() :].strip().lstrip("-:\u2013\u2014").strip()
                found.setdefault(str(PurePosixPath(page.path).parent / pointer[1]), said)
    return found


def _record(page: Page, hook: str) -> tuple[Record, Given]:
    given = Given(page.path)
    meta = page.values.get("metadata")
    nested = meta if isinstance(meta, dict) else {}
    kind = page.text("type") or str(nested.get("type", ""))
    type_, layer = _KINDS.get(kind, ("fact", ""))
    given.put("title", page.text("name"), "name", page.at.get("name", 0))
    said = page.text("description")
    known = content_words(f"{page.text('name')} {said} {page.body}")
    more = hook if not content_words(hook) <= known else ""
    given.put("description", "; ".join(filter(None, (said, more))) or hook, "description")
    given.put("tags", [kind] if kind else [], "type")
    modified = given.time(nested.get("modified"), "modified", page.at.get("metadata", 0))
    record = Record(
        path=page.path,
        text=page.body or page.text("description") or hook,
        type=type_,
        layer=layer,
        key=page.stem,
        names=names_of(page),
        lines=page.lines,
        captured=day_of(modified),
        captured_from="unit",
        written=modified,
        fields=given.fields,
        links=tuple(("references", name) for name in linked(page.body)),
    )
    return record, given
