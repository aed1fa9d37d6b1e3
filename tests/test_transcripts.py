"""Every transcript in the documentation is what the program answers."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
import transcripts
from docs_parts import ROOT, pages
from transcripts import Exchange

from memrepo.actions.import_ import FORMATS

HOLDERS = [path for path in pages() if transcripts.exchanges(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", HOLDERS, ids=lambda page: page.name)
def test_a_document_shows_what_the_program_answers(page: Path) -> None:
    said: list[str] = []

    def compare(exchange: Exchange, found: tuple[str, ...]) -> None:
        if not transcripts.same(exchange.answer, found):
            said.append(f"{page.name}:{exchange.line}: $ {exchange.command}")
            said.extend(difflib.ndiff(exchange.answer, found))

    transcripts.play(page.read_text(encoding="utf-8"), compare)
    assert not said, "\n".join([*said, "refresh it with: make docs"])


def test_the_way_in_is_played_from_install_to_undo() -> None:
    for page, steps in {
        "README.md": ("mkdir", "memrepo init", "memrepo run", "memrepo revert"),
        "docs/first-night.md": ("mkdir", "memrepo init", "memrepo run", "memrepo search"),
        "docs/morning.md": ("memrepo demo", "memrepo undo"),
    }.items():
        played = [e.command for e in transcripts.exchanges((ROOT / page).read_text("utf-8"))]
        for step in steps:
            assert any(command.startswith(step) for command in played), (page, step)


def test_a_migration_is_played_for_every_program() -> None:
    page = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
    played: dict[str, str] = {}
    transcripts.play(page, lambda e, found: played.update({e.command: "\n".join(found)}))
    table = re.findall(r"^\| [^|]+ \| `memrepo import (\S+) PATH` \|", page, re.MULTILINE)
    lists = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE))
    assert set(table) <= set(FORMATS) <= lists, "each format is in both tables or in the second"
    for format_ in table:
        found = played[f"memrepo import {format_} ../theirs/{format_} --dry-run"]
        assert int(re.search(r"(\d+) memories new", found)[1]) > 1  # type: ignore[index]
    assert played["memrepo undo"].startswith("undid Import")
