"""A file about current work is one note, with its last text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, done, git, memories

from memrepo.core.memory import Memory
from memrepo.read.notes import scan_state

DAYS = ("2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05")
WORK = """\
# Desk

Last updated: 2026-03-01

## In progress

- The oven door of the bakery is with the smith in Orrin.

## Waiting on

- Nils Orr sends the drawings of the second chimney.

## Done

- The lease of the barn was signed by both sisters.

## Setup

- The shop runs on an old laptop below the counter.
"""
BOXES = """\
# Todo

## Bakery

- [x] Whitewash the north wall of the bakery before frost
- [ ] Ask the smith in Orrin for rails of seven steel mills
"""


class Desk:
    """A workspace with a profile and a log, of which each run is one day later."""

    def __init__(self, base: Path, files: dict[str, str]) -> None:
        self.workspace, self.repo, self.days = base / "agent", base / "memory", iter(DAYS)
        start = {
            "MEMORY.md": "# Memory\n\n- Lea prefers short mails without greetings.\n",
            "memory/2026-02-28.md": "# 2026-02-28\n\n- Decided to rent the mixer by the month.\n",
        }
        self.day = next(self.days)
        self.write({**start, **files})
        done(base, "init", "memory", "--from", "agent", "--tz", "UTC", now=self.now)
        done(self.repo, "run", now=self.now)

    @property
    def now(self) -> str:
        return f"{self.day}T20:00:00Z"

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def night(self, files: dict[str, str], *argv: str) -> dict[str, Any]:
        self.day = next(self.days)
        self.write(files)
        found = done(self.repo, "run", *argv, now=self.now)
        assert_sound(self.repo)
        return found

    def notes(self, name: str) -> list[Memory]:
        found = (m for m in memories(self.repo).values() if m.is_note and m.status == "active")
        return [note for note in found if note.files == (f"sources/{name}",)]


def test_the_note_of_a_file_has_its_last_text(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"SESSION.md": WORK})
    (note,) = desk.notes("SESSION.md")
    assert (note.title, note.captured) == ("Desk", "2026-03-01")
    later = WORK.replace("the drawings of the second chimney", "eleven bags of lime from the coast")
    desk.night({"SESSION.md": later})
    (after,) = desk.notes("SESSION.md")
    assert (after.id, "eleven bags" in after.body) == (note.id, True)
    assert "drawings" not in after.body, "the older text leaves"
    assert after.captured == desk.day, "the file forgot to say when it was updated"
    assert "- In progress: The oven door of the bakery" in (desk.repo / "MEMORY.md").read_text()
    desk.night({"SESSION.md": WORK})
    assert desk.notes("SESSION.md")[0].body == note.body


def test_a_file_that_is_gone_takes_its_note_along_and_brings_it_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"SESSION.md": WORK})
    (desk.workspace / "SESSION.md").unlink()
    desk.night({})
    assert desk.notes("SESSION.md") == []
    desk.night({"SESSION.md": WORK})
    assert len(desk.notes("SESSION.md")) == 1
    desk.night({"SESSION.md": "# Desk\n\nThe desk is made of old oak and smells of wax.\n"})
    assert desk.notes("SESSION.md") == [], "it is about other things"


def test_the_same_files_give_the_same_memory(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"SESSION.md": WORK, "Todo.md": BOXES})
    before = git(desk.repo, "rev-parse", "HEAD:memories")
    desk.night({}, "--mode", "reconciliation")
    assert git(desk.repo, "rev-parse", "HEAD:memories") == before


def test_a_forgotten_note_stays_forgotten_when_its_file_changes(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"SESSION.md": WORK})
    (note,) = desk.notes("SESSION.md")
    done(desk.repo, "forget", note.id, now=desk.now)
    desk.night({"SESSION.md": WORK.replace("second chimney", "third chimney")})
    assert memories(desk.repo)[note.id].status == "forgotten"
    (other,) = desk.notes("SESSION.md")
    assert "third chimney" in other.body
    desk.night({"SESSION.md": WORK})
    assert desk.notes("SESSION.md") == [], "the file states again what was forgotten"
    assert memories(desk.repo)[note.id].status == "forgotten"
    desk.night({"SESSION.md": WORK.replace("second chimney", "fourth chimney")})
    assert has(desk, "fourth chimney")


def test_new_words_after_a_revert_are_stated_by_their_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"SESSION.md": WORK})
    desk.night({"SESSION.md": WORK.replace("second chimney", "third chimney")})
    done(desk.repo, "revert", now=desk.now)
    found = desk.night({"SESSION.md": WORK.replace("second chimney", "fourth chimney")})
    assert has(desk, "fourth chimney")
    assert "kept-unstated" not in str(found)


@pytest.mark.parametrize(
    ("name", "text", "is_state"),
    [
        ("SESSION.md", WORK, True),
        (
            "Stand.md",
            "# Backstube\n\n## Offene Punkte\n\n- Kalk\n\n## Nächste Schritte\n\n- Ruß\n",
            True,
        ),
        ("memory/now.md", "# 面包店\n\n## 进行中\n\n- 门\n\n## 待办\n\n- 石灰\n", True),
        ("todo.md", "- [ ] Ask the smith for rails\n", True),
        ("todo.md", "- Ask the smith for rails\n", False),
        ("oven.md", "# Oven\n\n## Parts\n\n- [ ] Ask the smith for rails\n", False),
        (
            "oven.md",
            "# Oven\n\n## What we learned of pending orders of flour and rye\n\nMuch.\n",
            False,
        ),
    ],
)
def test_names_headings_and_boxes_tell_a_file_about_work(
    name: str, text: str, *, is_state: bool
) -> None:
    assert bool(scan_state(name, text.encode())) == is_state


def lines_of_page(desk: Desk) -> list[str]:
    lines = (desk.repo / "MEMORY.md").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line.startswith("- ")]


def has(desk: Desk, words: str) -> bool:
    return any(words in line for line in lines_of_page(desk))


def test_the_page_follows_the_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"SESSION.md": WORK})
    assert has(desk, "drawings of the second chimney")
    later = WORK.replace("the drawings of the second chimney", "eleven bags of lime from the coast")
    desk.night({"SESSION.md": later})
    assert (has(desk, "drawings"), has(desk, "eleven bags of lime")) == (False, True)
    done(desk.repo, "revert", now=desk.now)
    assert_sound(desk.repo)
    assert (has(desk, "drawings"), has(desk, "eleven bags of lime")) == (True, False)
    desk.night({})
    is_back = has(desk, "drawings"), has(desk, "eleven bags of lime")
    assert is_back == (True, False), "what was reverted stays out"
    (desk.workspace / "SESSION.md").unlink()
    desk.night({})
    assert not has(desk, "oven door of the bakery")
    done(desk.repo, "revert", now=desk.now)
    assert has(desk, "oven door of the bakery")


def test_a_reverted_first_note_stays_out_until_the_file_changes(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {})
    desk.night({"SESSION.md": WORK})
    done(desk.repo, "revert", now=desk.now)
    desk.night({})
    assert desk.notes("SESSION.md") == []
    desk.night({"SESSION.md": WORK.replace("second chimney", "third chimney")})
    assert has(desk, "third chimney")
