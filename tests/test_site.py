"""The documentation as a site: every page has its place, links hold, and no page is too long."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docs_parts
import docs_site
import pytest
import transcripts
import yaml
from docs_parts import ROOT

from memrepo.faces.cli.parser import COMMANDS

DOCS = ROOT / "docs"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
MOST = 1650
REFERENCE = {
    f"docs/{name}.md"
    for name in ("cli", "configuration", "files", "interchange", "problems", "python", "rules")
}


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose tags name Python objects, without making one."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
SITE: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _Loader)


def leaves(entry: Any) -> Iterator[str]:
    """Yield the pages of a navigation, in order."""
    match entry:
        case str():
            yield entry
        case list():
            yield from (leaf for one in entry for leaf in leaves(one))
        case dict():
            yield from (leaf for one in entry.values() for leaf in leaves(one))


def test_every_page_has_one_place_in_the_navigation() -> None:
    spelled = docs_site.on_config({"nav": SITE["nav"]})["nav"]
    listed = [page for page in leaves(spelled) if not page.startswith("reference/")]
    there = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    assert sorted(listed) == there
    assert [next(iter(part)) for part in SITE["nav"]] == ["Start", "Use", "Reference", "Inside"]


def test_every_command_has_a_page_of_its_own() -> None:
    pages = dict(docs_site.command_pages((DOCS / "cli.md").read_text(encoding="utf-8")))
    assert sorted(pages) == sorted(COMMANDS)
    assert "](../sync.md" in "".join(pages.values())
    assert not re.search(r"\]\((?!\.\./|https?:)[^)]", "".join(pages.values()))


def test_a_link_that_leaves_the_folder_leads_to_the_repository() -> None:
    page = "[a](../action.yml) [b](cli.md#x) [c](../templates/forge/nightly) [d](#e) [f](../x.md#g)"
    assert docs_site.outside(page, "forge.md", "R") == (
        "[a](R/blob/main/action.yml) [b](cli.md#x) [c](R/blob/main/templates/forge/nightly) [d](#e)"
        " [f](R/blob/main/x.md#g)"
    )
    assert docs_site.outside("[a](../cli.md)", "clients/cursor.md", "R") == "[a](../cli.md)"


def words(path: Path) -> int:
    """Count the words that are read as prose: no transcripts, and no tables from the code."""
    text = docs_parts.PART.sub("", path.read_text(encoding="utf-8"))
    return len(re.sub(r"^(```+).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE).split())


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda p: p.name)
def test_no_page_outside_the_reference_is_too_long(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    if name not in REFERENCE:
        assert words(page) <= MOST


def test_the_readme_is_short_and_says_what_where_and_where_it_ends() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert {"Try it", "Use it", "What it promises", "Where it ends"} <= set(heads)


def test_the_way_in_is_played_from_install_to_undo() -> None:
    page = (DOCS / "first-night.md").read_text(encoding="utf-8")
    played = [e.command for e in transcripts.exchanges(page)]
    for step in ("init", "run", "search", "diff", "revert"):
        assert any(command.startswith(f"memrepo {step}") for command in played), step
    assert re.findall(r"^## (.*)$", page, re.MULTILINE)[:3] == ["Install", "The night", "A memory"]


def test_the_glossary_is_in_order_and_each_word_stands_once() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \*\*([^*]+)\*\* \|", text, re.MULTILINE)
    assert listed == sorted(set(listed))
    assert len(listed) > 40


@pytest.mark.skipif(
    importlib.util.find_spec("material") is None, reason="needs the group `docs`: make site"
)
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    assert "WARNING" not in ran.stderr
    made = {p.parent.name for p in (tmp_path / "site" / "reference").glob("*/index.html")}
    assert made == set(COMMANDS)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="https?://(?!example\.org)[^"]*\.(?:js|css)', page)
    read = html.unescape(re.sub(r"<[^>]+>", "", _page(tmp_path / "site", "first-night")))
    played = transcripts.exchanges((DOCS / "first-night.md").read_text(encoding="utf-8"))
    assert [e.command for e in played if e.command not in read] == []


def _page(site: Path, name: str) -> str:
    return (site / name / "index.html").read_text(encoding="utf-8")
