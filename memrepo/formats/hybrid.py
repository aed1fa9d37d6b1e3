"""Read `openclaw hybrid-mem export` files: one per fact, `memory/CATEGORY/[TAG/]SLUG-ID.md`.

The files have no header. Category, first tag and the first eight digits of the id are in their
paths. `memory/procedures/` contains procedures, and `MEMORY.md` is only an index.
"""

from __future__ import annotations

from collections.abc import Mapping

from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.patterns import regex
from memrepo.formats.pages import Page, is_markdown, read_pages
from memrepo.formats.records import Files, Given, Read, Record

_TYPES: Mapping[str, str] = {
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


def wants(path: str) -> bool:
    """Return whether a file is an exported fact or procedure."""
    return is_markdown(path) and path.startswith("memory/") and path.count("/") >= 2


def read(files: Files) -> Read:
    """Read every exported fact and procedure."""
    pages, problems = read_pages(files)
    records = []
    for page in pages:
        record, given = _record(page)
        records.append(record)
        problems += given.problems
    return Read(records=tuple(records), problems=tuple(problems))


def _record(page: Page) -> tuple[Record, Given]:
    _, category, *tags, _ = page.path.split("/")
    given = Given(page.path)
    known = category in _TYPES or category in CLAIM_TYPES
    given.put("tags", [*([] if known else [category]), *tags])
    text = page.body
    first, _, rest = text.partition("\n\n")
    triple = _TRIPLE.fullmatch(first)
    if triple:
        for name, part in (("subject", "entity"), ("predicate", "key"), ("object", "value")):
            given.put(name, triple[part])
        text = rest or text
    if category == "procedures":
        title, _, text = text.partition("\n")
        given.put("title", title.removeprefix("# Procedure:").lstrip("# ").strip())
    id_ = _ID.search(page.stem)
    type_ = _TYPES.get(category, category)
    record = Record(
        path=page.path,
        text=text,
        type=type_ if type_ in CLAIM_TYPES else "fact",
        key=id_[1] if id_ else page.stem,
        lines=page.lines,
        fields=given.fields,
    )
    return record, given
