"""Read folders of notes: Claude Code's memory, and hybrid-mem's exported facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.patterns import regex
from memrepo.formats.pages import Page, is_markdown, items, read_pages
from memrepo.formats.records import Files, ImportRecord, Report, type_or_fact
from memrepo.text.words import content_words

# -- Claude Code: `~/.claude/projects/<project>/memory/` -------------------------------------------

_KINDS = {"user": ("fact", "user"), "feedback": ("preference", "")}
"""Claude Code's types as (type, layer) in memrepo. An empty layer is the default of the type."""
_POINTER = regex(r"\[[^\[\]\n]{1,300}\]\(([^()\s]{1,300}\.md)\)")


def read_claude_code(files: Files, report: Report) -> Iterator[ImportRecord]:
    """Read memory files, one record each, and the items of the index and of topic files.

    A memory file has name, description and type in its header. `MEMORY.md` is an index: lines that
    link to a memory file are not records, but descriptions of that memory. Older folders contain
    topic files without a header.
    """
    pages = read_pages(files, report)
    descriptions: dict[str, str] = {}
    for page in (page for page in pages if page.stem == "MEMORY"):
        for line in page.body.split("\n"):
            if link := _POINTER.search(line):
                text = line[link.end() :].strip().lstrip("-:\u2013\u2014").strip()
                descriptions.setdefault(_linked(page, link[1]), text)
    for page in pages:
        if page.text("name") or page.text("description"):
            yield _claude_memory(page, descriptions.get(page.path, ""), report)
            continue
        for record in items(page, report):
            link = _POINTER.search(record.text)
            if page.stem != "MEMORY" or not link or _linked(page, link[1]) not in files:
                yield record


def _linked(page: Page, target: str) -> str:
    return str(PurePosixPath(page.path).parent / target)


def _claude_memory(page: Page, indexed: str, report: Report) -> ImportRecord:
    reader = page.fields(report)
    metadata = page.values.get("metadata")
    nested = metadata if isinstance(metadata, dict) else {}
    kind = page.text("type") or str(nested.get("type", ""))
    type_, layer = _KINDS.get(kind, ("fact", ""))
    reader.put("title", page.text("name"), "name")
    description = page.text("description")
    known = content_words(f"{page.text('name')} {description} {page.body}")
    more = indexed if not content_words(indexed) <= known else ""
    text = "; ".join(filter(None, (description, more))) or indexed
    reader.put("description", text, "description")
    reader.put("tags", [kind] if kind else [], "type")
    return reader.record(
        page.body or description or indexed,
        at=reader.time(nested.get("modified"), "metadata.modified"),
        type=type_,
        layer=layer,
        key=page.stem,
        names=page.names(),
        lines=page.lines,
        links=page.links(),
    )


# -- `openclaw hybrid-mem export`: `memory/CATEGORY/[TAG/]SLUG-ID.md` ------------------------------

_CATEGORIES = {
    "rule": "constraint",
    "pattern": "lesson",
    "procedures": "procedure",
    "entity": "fact",
    "goal": "aspiration",
    "technical": "fact",
    "edict": "constraint",
}
_ID = regex(r"-([0-9a-f]{8})\Z")
_TRIPLE = regex(r"(?P<entity>[^\n]{1,200})'s (?P<key>[^\n]{1,200}?) is (?P<value>[^\n]+)\.")


def wants_hybrid(path: str) -> bool:
    """Return whether a file is an exported fact or procedure."""
    return is_markdown(path) and path.startswith("memory/") and path.count("/") >= 2


def read_hybrid(files: Files, report: Report) -> Iterator[ImportRecord]:
    """Read every exported fact and procedure.

    The files have no header. Category, first tag and the start of the id are in their paths.
    """
    for page in read_pages(files, report):
        category, *tags = page.path.split("/")[1:-1] or [""]
        reader = page.fields(report)
        is_known = not category or category in _CATEGORIES or category in CLAIM_TYPES
        reader.put("tags", [*([] if is_known else [category]), *tags])
        text = page.body
        first, _, rest = text.partition("\n\n")
        if triple := _TRIPLE.fullmatch(first):
            for name, part in (("subject", "entity"), ("predicate", "key"), ("object", "value")):
                reader.put(name, triple[part])
            text = rest or text
        if category == "procedures":
            title, _, text = text.partition("\n")
            reader.put("title", title.removeprefix("# Procedure:").lstrip("# ").strip())
        id_ = _ID.search(page.stem)
        yield reader.record(
            text,
            type=type_or_fact(_CATEGORIES.get(category, category)),
            key=id_[1] if id_ else page.stem,
            lines=page.lines,
        )
