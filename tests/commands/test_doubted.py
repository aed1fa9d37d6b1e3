"""Doubt is told: what contests a memory and since when, what is retired, and what is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import begin, done, memories, memrepo

BASE = [f"- The locker number {n} belongs to crew {n + 100}." for n in range(12)]
CRANE = "- The crane driver is Vera Holm."
LOVES, HATES = "- Crane old height: 40 meters", "- Crane old height: 52 meters"
LATER = "2026-03-10T04:00:00Z"


def write(repo: Path, *lines: str) -> None:
    path = repo.parent / "workspace" / "MEMORY.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("# Memory\n\n" + "\n".join([*BASE, *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    write(tmp_path / "repo", CRANE)
    return begin(tmp_path, tmp_path / "workspace")


@pytest.fixture
def contested(repo: Path) -> tuple[Path, str, str]:
    """Return a repository in which a later run flagged one pair, and the old and new memory."""
    write(repo, LOVES, CRANE)
    done(repo, "run")
    write(repo, LOVES, CRANE, HATES)
    done(repo, "run", now=LATER)
    found = {m.body: i for i, m in memories(repo).items()}
    old, new = found[LOVES.removeprefix("- ")], found[HATES.removeprefix("- ")]
    assert {memories(repo)[i].standing for i in (old, new)} == {"contested"}
    return repo, old, new


def hits(repo: Path, *words: str, now: str = LATER) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done(repo, "search", "--no-touch", *words, now=now)["hits"]
    return found


def test_a_search_says_what_contests_a_hit_and_since_when(contested: tuple[Path, str, str]) -> None:
    repo, old, new = contested
    by_id = {hit["id"]: hit for hit in hits(repo, "crane height")}
    assert by_id[new]["doubts"] == [
        f'contested by {old} since 2026-03-10: "Crane old height: 40 meters"'
    ]
    assert by_id[new]["answer_confidence"] == "medium"
    text = memrepo(repo, "search", "--no-touch", "crane height", now=LATER, as_json=False).out
    assert by_id[new]["doubts"][0] in text
    shown = memrepo(repo, "show", "--no-touch", new, now=LATER, as_json=False).out
    assert by_id[new]["doubts"][0] in shown


def test_what_a_person_confirmed_is_marked_and_comes_last_once_it_is_retired(repo: Path) -> None:
    (crane,) = [m.id for m in memories(repo).values() if "crane" in m.body]
    done(repo, "confirm", crane)
    write(repo)
    done(repo, "run", now=LATER)
    done(repo, "add", "A driver of a crane needs a licence.", now=LATER)
    *_, last = hits(repo, "crane driver")
    assert (last["standing"], last["answer_confidence"]) == ("retire_candidate", "low")
    assert last["doubts"] == [
        "marked for removal since 2026-03-10: its source line is gone from sources/MEMORY.md"
    ]
    assert done(repo, "status", now=LATER)["memories"]["retired"] == 1
    context = done(repo, "session", "start", now=LATER)["context"]
    assert "1 memory is marked for removal" in context


def test_what_nobody_says_any_more_is_in_the_archive_only(repo: Path) -> None:
    write(repo)
    done(repo, "run", now=LATER)
    assert hits(repo, "crane driver") == []
    (hit,) = hits(repo, "crane driver", "--status", "archived")
    assert (hit["status"], hit["standing"]) == ("archived", "retire_candidate")


THIRD = "2026-03-11T04:00:00Z"
BARN = "- Crane new width: 52 meters"


def test_an_edited_line_that_no_longer_contradicts_ends_the_doubt(
    contested: tuple[Path, str, str],
) -> None:
    repo, old, new = contested
    write(repo, LOVES, CRANE, BARN)
    assert done(repo, "run", now=THIRD)["counts"]["memories_reworded"] == 1
    assert [memories(repo)[i].standing for i in (old, new)] == ["resolved", "resolved"]
    assert done(repo, "resolve", now=THIRD)["contradictions"] == []
    assert done(repo, "check", now=THIRD)["problems"] == []
    done(repo, "revert", now=THIRD)
    assert [memories(repo)[i].standing for i in (old, new)] == ["contested", "contested"]
    assert len(done(repo, "resolve", now=THIRD)["contradictions"]) == 1


@pytest.mark.parametrize(
    "asked",
    [
        "purple elephants juggling a locker on the moon",
        "which crew won the regional quantum chess tournament yesterday evening",
        "Kündigungsfrist der Versicherung des Fahrrads",
    ],
)
def test_nonsense_is_answered_by_nothing(repo: Path, asked: str) -> None:
    found = done(repo, "search", "--no-touch", asked)
    assert all(hit["answer_confidence"] == "low" for hit in found["hits"])
    said = memrepo(repo, "search", "--no-touch", asked, as_json=False).out
    assert said.startswith("nothing found")


def test_a_session_begins_with_what_is_contested(contested: tuple[Path, str, str]) -> None:
    repo, old, new = contested
    told = done(repo, "session", "start", now=LATER)["context"]
    (line,) = [line for line in told.splitlines() if line.startswith("in doubt: ")]
    assert {old, new} <= {word.strip(':"') for word in line.split()}
    assert "40 meters" in line
    assert "52 meters" in line
    assert "since 2026-03-10" in line
