"""The site: every page has one place, links leave the folder rightly, and it builds."""

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

import docs_site
import pytest
import transcripts
import yaml
from docs_parts import ROOT

DOCS = ROOT / "docs"


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
    assert sorted(leaves(SITE["nav"])) == sorted(p.name for p in DOCS.rglob("*.md"))
    assert [next(iter(part)) for part in SITE["nav"]] == ["Start", "Use", "Reference", "Inside"]


def test_a_link_that_leaves_the_folder_leads_to_the_repository() -> None:
    page = "[a](../action.yml) [b](cli.md#x) [c](../templates/forge/nightly) [d](#e) [f](../x.md#g)"
    assert docs_site.outside(page, "team.md", "R") == (
        "[a](R/blob/main/action.yml) [b](cli.md#x) [c](R/blob/main/templates/forge/nightly) [d](#e)"
        " [f](R/blob/main/x.md#g)"
    )


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
    first = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="https?://(?!example\.org)[^"]*\.(?:js|css)', first)
    page = (tmp_path / "site" / "first-night" / "index.html").read_text(encoding="utf-8")
    read = html.unescape(re.sub(r"<[^>]+>", "", page))
    played = transcripts.exchanges((DOCS / "first-night.md").read_text(encoding="utf-8"))
    assert [e.command for e in played if e.command not in read] == []
