"""Read formats that may hold memrepo's own files, which are imported without loss."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memrepo.core import codec
from memrepo.core.jsontext import JsonLine, read_lines
from memrepo.core.layout import Layout
from memrepo.core.memory import BY_NAME, Memory
from memrepo.core.patterns import regex
from memrepo.formats.pages import Page, hashtags, read_pages
from memrepo.formats.records import (
    FieldReader,
    Files,
    ImportRecord,
    Report,
    WholeMemory,
    type_or_fact,
)
from memrepo.text.dates import is_date_heading

_AREA = "memories/"
_ODD = regex(r"(?:^|/)(?:\.{0,2}|\.git)(?:/|$)|\.md/|[\x00-\x1f\x7f]|[^/]{250}", re.I)
_DATES = ("modified", "updated", "created", "date")
_KNOWN = {*_DATES, "title", "description", "tags", "tag", "aliases", "type", "cssclasses"}


def wants_lines(path: str) -> bool:
    """Return whether a file contains JSON lines."""
    return path.endswith(".jsonl")


def read_jsonl(files: Files, report: Report) -> Iterator[WholeMemory]:
    """Read the output of `memrepo export jsonl`, which includes forgotten memories."""
    for path, data in files.items():
        lines, problems = read_lines(path, data, "import-line")
        report.problems += problems
        for line in lines:
            if memory := _memory(path, line, report):
                yield WholeMemory(memory=memory, path=path, line=line.number)


def _memory(path: str, line: JsonLine, report: Report) -> Memory | None:
    known = Report()
    reader, record = FieldReader(known, path, line.number), line.record
    for key, value in record.items():
        if key in BY_NAME:
            reader.set(key, value)
        elif key not in ("path", "layer", "text"):
            reader.note(key, "found a key that no memory has")
    text = record.get("text")
    missing = [key for key in ("id", "type") if key not in reader.fields]
    if missing or not isinstance(text, str):
        key = missing[0] if missing else "text"
        report.refuse(path, f"found no {key}", line=line.number, key=key)
        return None
    report.problems += known.problems
    return Memory.of(
        path=str(record.get("path")), fields=reader.fields, body=codec.normal_body(text)
    )


def path_here(layout: Layout, memory: Memory) -> str:
    """Return the path that an imported memory gets in this repository.

    Use the memory's own path below this repository's prefix if that path is valid. Otherwise use
    the path of a new memory.
    """
    name = memory.path.rpartition(_AREA)[2] if _AREA in memory.path else memory.path
    path = layout.area("memories") + name
    if layout.is_memory(path) and not _ODD.search(name) and name.isprintable():
        return path
    return layout.memory(
        id_=memory.id,
        type_=memory.type,
        text=memory.text("title") or memory.body,
        captured=memory.captured,
    )


def _memories_and_pages(files: Files, report: Report) -> Iterator[WholeMemory | Page]:
    """Yield the memory in each file that memrepo wrote, and the page of each other file."""
    for path, data in sorted(files.items()):
        memory, _ = codec.decode(path, data)
        if memory is not None and memory.id:
            yield WholeMemory(memory=memory, path=path, data=data)
        else:
            yield from read_pages({path: data}, report)


def read_obsidian(files: Files, report: Report) -> Iterator[ImportRecord | WholeMemory]:
    """Read every note of a vault, with tags, and links to other notes."""
    found = list(_memories_and_pages(files, report))
    yield from (one for one in found if isinstance(one, WholeMemory))
    for page in found:
        if isinstance(page, Page) and page.body and not page.path.endswith("index.md"):
            yield _note(page, report)


def _note(page: Page, report: Report) -> ImportRecord:
    reader = page.fields(report)
    reader.put("title", page.text("title") or page.stem, "title")
    reader.put("description", page.text("description"), "description")
    inline = hashtags(line for _, line in page.prose())
    tags = [t.lstrip("#") for t in (*page.texts("tags"), *page.texts("tag"), *inline)]
    reader.put("tags", list(dict.fromkeys(tags)), "tags")
    reader.put("aliases", page.texts("aliases"), "aliases")
    times = (reader.time(page.values.get(key), key) for key in _DATES)
    dated = {"captured": page.day, "captured_from": "file"} if page.day else {}
    return reader.record(
        "\n\n".join(filter(None, (page.body, page.properties(_KNOWN)))),
        at=next(filter(None, times), None),
        key=page.path.removesuffix(".md"),
        type="note" if is_date_heading(page.stem) else type_or_fact(page.text("type")),
        names=(*page.names(), *page.texts("aliases")),
        lines=page.lines,
        links=page.links(),
        **dated,
    )
