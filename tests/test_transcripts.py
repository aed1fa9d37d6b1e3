"""Every transcript in the documentation is what the program answers."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
import transcripts
from docs_parts import ROOT, pages
from transcripts import Exchange, Stage

from memrepo.actions.exchange.import_ import FORMATS

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


@pytest.mark.parametrize(
    ("expected", "found", "equal"),
    [
        (("a",), ("a",), True),
        (("a",), ("b",), False),
        (("a",), ("a", "b"), False),
        (("a", "..."), ("a",), True),
        (("a", "...", "z"), ("a", "b", "c", "z"), True),
        (("a", "...", "z"), ("a", "b", "c"), False),
        (("(...)",), ("(abc)",), False),
        (("run 0123abc",), ("run fedcba9876",), True),
        (("mem-0123456789abcdef  fact",), ("mem-fedcba9876543210  fact",), True),
        (("effaced",), ("defaced",), False),
    ],
)
def test_answers_are_compared_but_for_hashes_and_elided_lines(
    expected: tuple[str, ...], found: tuple[str, ...], equal: bool
) -> None:
    assert transcripts.same(expected, found) is equal


def test_a_stale_answer_is_replaced_and_an_elided_one_stays() -> None:
    text = "\n".join(
        [
            "text",
            "```console",
            "$ echo one > f",
            "$ cat f",
            "stale",
            "$ cat f",
            "...",
            "```",
            "```sh",
            "$ cat f",
            "not played",
            "```",
            "",
        ]
    )
    assert transcripts.refreshed(text) == text.replace("stale", "one")


@pytest.mark.parametrize("command", ["rm -rf x", "sh -c ls", "python -c pass", "./memrepo"])
def test_a_program_that_is_not_listed_is_not_run(tmp_path: Path, command: str) -> None:
    with pytest.raises(ValueError, match="may not run"):
        Stage(tmp_path).play(command)


def test_the_clock_goes_on_a_minute_a_command_and_exit_codes_can_be_asked_for(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path)
    stage.play("memrepo init memory")
    stage.play("cd memory")
    assert stage.play("git log -1 --format=%cI") == ("2026-03-02T04:01:00+00:00",)
    assert stage.play("memrepo show nothing-like-it") != ()
    assert stage.play("echo $?") != ("0",)
