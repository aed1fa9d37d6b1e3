"""Each program that people come from has a page: before, one command, after, and the way back."""

from __future__ import annotations

import re

import pytest
import transcripts
from docs_parts import ROOT

from memrepo.formats.registry import FORMATS

FOLDER = ROOT / "docs" / "migrate"
PAGES = {
    "claude-code": "claude-code",
    "hybrid-memory": "hybrid",
    "mem0": "mem0",
    "memory-purifier": "artifacts",
    "obsidian": "obsidian",
    "openclaw": "openclaw",
    "remnic": "remnic",
}


def test_there_is_a_page_for_each_and_the_first_names_its_command() -> None:
    assert {p.stem for p in FOLDER.glob("*.md")} == {*PAGES, "README"}
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for page, format_ in PAGES.items():
        assert f"({page}.md) | `memrepo import {format_} FOLDER` |" in text
        assert format_ in {*FORMATS, "artifacts"}


@pytest.mark.parametrize(("page", "format_"), PAGES.items(), ids=list(PAGES))
def test_a_page_goes_there_and_back(page: str, format_: str) -> None:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == ["Before", "The command", "After", "How to go back", "Then"]
    said: dict[str, str] = {}
    transcripts.play(text, lambda e, found: said.update({e.command: "\n".join(found)}))
    brought = re.search(r"(\d+) memories new", said[f"memrepo import {format_} ../theirs"])
    assert brought
    assert int(brought[1]) > 2
    assert f"{brought[1]} memories new" in said[f"memrepo import {format_} ../theirs --dry-run"]
    (search,) = (answer for command, answer in said.items() if command.startswith("memrepo search"))
    assert "(score " in search
    assert said["memrepo undo"].startswith("undid Import")
