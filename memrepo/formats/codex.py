"""Codex CLI's memories: `~/.codex/memories/`.

`MEMORY.md` and `memory_summary.md` are read item by item, `rollout_summaries/` is a note a session.
`raw_memories.md` is what those were made of and is passed over.
"""

from __future__ import annotations

from msgspec.structs import replace

from memrepo.core.patterns import regex
from memrepo.formats.items import items
from memrepo.formats.pages import is_markdown, read_pages
from memrepo.formats.records import Files, Given, Read, Record

_RAW = "raw_memories.md"
_SESSIONS = "rollout_summaries/"
_TITLE = regex(r"(?m)^#[ \t]+(\S.*)$")
_PREFERENCES, _PROFILE = "user preferences", "user profile"
"""Headings of Codex's own, of what the person wants and of who it is."""


def wants(path: str) -> bool:
    """Tell whether a file is one of Codex's memories."""
    return path in ("MEMORY.md", "memory_summary.md", _RAW) or (
        is_markdown(path) and path.startswith(_SESSIONS)
    )


def read(files: Files) -> Read:
    """Read what was kept, and a note for each session."""
    pages, problems = read_pages({p: d for p, d in files.items() if p != _RAW})
    records: list[Record] = []
    for page in pages:
        if not page.path.startswith(_SESSIONS):
            records += map(_placed, items(page, problems))
        elif page.body:
            given = Given(page.path)
            title = _TITLE.search(page.body)
            given.put("title", page.text("title") or (title[1] if title else page.stem))
            records.append(
                Record(
                    path=page.path,
                    text=page.body,
                    type="note",
                    key=page.stem,
                    lines=page.lines,
                    captured=page.day,
                    captured_from="file",
                    fields=given.fields,
                )
            )
    passed = {"raw_passed_over": 1} if _RAW in files else {}
    return Read(records=tuple(records), problems=tuple(problems), passed=passed)


def _placed(record: Record) -> Record:
    """Return an item as the kind that its heading makes it."""
    heading = str(record.fields.get("subject", "")).casefold()
    if heading == _PREFERENCES:
        return replace(record, type="preference")
    return replace(record, layer="user") if heading == _PROFILE else record
