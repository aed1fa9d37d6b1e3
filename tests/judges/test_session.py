"""The agent that already runs does the judging: its questions out, its answers in, same checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, done, git, memories, memrepo, standing
from serving import good
from workspaces import growing


@pytest.fixture
def place(tmp_path: Path) -> Path:
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    return tmp_path / "repo"


def answer(repo: Path, question: dict[str, Any], text: str, *more: str) -> Any:
    (repo.parent / "answer.json").write_text(text)
    return done(repo, "judge", "answer", question["id"], "../answer.json", *more)


def work_through(repo: Path, first: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Answer every question as a model should; return what the run came to, and the kinds."""
    kinds = []
    while first["question"]:
        kinds.append(first["question"]["kind"])
        first = answer(repo, first["question"], good(first["question"]["data"]))
    return first["run"], kinds


def test_a_session_answers_until_the_run_lands(place: Path) -> None:
    first = done(place, "judge", "next")
    assert first["run"] is None
    assert first["question"]["schema"]["required"] == ["verdicts"]
    assert done(place, "judge", "next") == first
    run, kinds = work_through(place, first)
    assert kinds[:2] == ["promotion", "purifier"]
    assert (run["status"], run["landed"]) == ("ok", True)
    assert any("raised beds" in m.body for m in memories(place).values())
    assert done(place, "judge", "next")["run"]["status"] == "skipped"
    assert_sound(place)


def test_nothing_lands_before_the_last_answer_and_no_answer_is_asked_twice(place: Path) -> None:
    first = done(place, "judge", "next")
    count = len(memories(place))
    second = answer(place, first["question"], good(first["question"]["data"]))
    assert second["question"]["kind"] == "purifier"
    assert len(memories(place)) == count
    assert done(place, "judge", "next")["question"]["id"] == second["question"]["id"]


@pytest.mark.parametrize("text", ["Sure, I will do that.", '{"verdicts": []}'])
def test_what_the_checks_refuse_comes_back_with_its_reason(place: Path, text: str) -> None:
    first = done(place, "judge", "next")
    again = answer(place, first["question"], text)
    assert again["question"]["kind"] == "promotion"
    assert again["question"]["id"] != first["question"]["id"]
    assert '"faults"' in again["question"]["data"]
    run, _ = work_through(place, again)
    assert run["status"] == "ok"


def test_an_answer_to_no_question_is_refused(place: Path) -> None:
    found = memrepo(place, "judge", "answer", "0" * 32, "memrepo.toml")
    assert found.exit == 2
    assert "`memrepo judge next`" in found.err


def test_a_person_is_shown_the_question_and_how_to_answer(place: Path) -> None:
    shown = memrepo(place, "judge", "next", as_json=False).out
    assert "# Pass 1" in shown
    assert "<<<data" in shown
    assert "`memrepo judge answer " in shown


def test_a_dry_run_stores_no_answer_and_lands_nothing(place: Path) -> None:
    first = done(place, "judge", "next")
    before = standing(place)
    (place.parent / "answer.json").write_text(good(first["question"]["data"]))
    words = ("judge", "answer", first["question"]["id"], "../answer.json")
    assert done(place, *words, "--dry-run") == first
    assert done(place, "judge", "next") == first
    last = done(place, *words)
    while last["question"]["kind"] != "purifier":
        last = answer(place, last["question"], good(last["question"]["data"]))
    assert standing(place) == before
    run = answer(place, last["question"], good(last["question"]["data"]), "--reason", "by hand")
    assert run["run"]["landed"]
    assert "Memrepo-Reason: by hand" in git(place, "log", "-1", "--format=%B")
