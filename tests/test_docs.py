"""The generated parts of the documentation are fresh; `make docs` runs this file to refresh them.

It also follows every relative link of the documentation.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memrepo.core.fields import Kind
from memrepo.core.schema import FIELDS

ROOT = Path(__file__).resolve().parents[1]
FILES_PAGE = ROOT / "docs" / "files.md"
START, END = "<!-- fields:start -->", "<!-- fields:end -->"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def cell(text: object) -> str:
    """Escape what would end a table cell."""
    return str(text).replace("|", "\\|")


def value(kind: Kind, default: object) -> str:
    """Describe a value and what is understood when it is absent."""
    shown = "" if default in (None, (), "") else f"; absent means {str(default).lower()}"
    return cell(kind.describe() + shown)


def field_table() -> str:
    """Render the frontmatter fields as a markdown table, in the order of a file."""
    rows = [
        f"| `{f.name}` | {value(f.kind, f.default)} | {f.writer} | {cell(f.doc)} |" for f in FIELDS
    ]
    head = ["| field | value | written by | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def refreshed(page: str) -> str:
    """Return the page with a fresh table between its markers."""
    before, rest = page.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{field_table()}\n{END}{after}"


def test_the_field_table_says_what_the_schema_says() -> None:
    page = FILES_PAGE.read_text(encoding="utf-8")
    assert page == refreshed(page), "docs/files.md is stale; refresh it with: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_a_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in t]
    assert [t for t in targets if not (page.parent / t).exists()] == []


if __name__ == "__main__":
    FILES_PAGE.write_text(refreshed(FILES_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
