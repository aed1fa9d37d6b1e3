"""The agent that already runs does the judging: its questions out, its answers in, same checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, done, git, memories, memrepo, standing
from serving import evidence, good
from workspaces import growing

LATER = "2026-03-02T10:00:00Z"


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


def test_the_question_is_the_same_after_a_line_elsewhere_was_committed(place: Path) -> None:
    first = done(place, "judge", "next")
    done(place, "add", "The kiln is in Bergen.")
    assert done(place, "judge", "next")["question"]["id"] == first["question"]["id"]


def reworded(question: dict[str, Any], text: str) -> str:
    """Answer as a model should, but word the line on raised beds otherwise."""
    found = json.loads(good(question["data"]))
    for one in found.get("claims", ()):
        if "raised beds" in one["wording"]["text"]:
            one["wording"]["text"] = text
    for one in found.get("assessments", ()):
        one["stated"] = False
    return json.dumps(found)


@pytest.mark.parametrize("text", ["Vera built 42 raised beds.", "Vera owns raised beds."])
def test_a_wording_is_asked_for_once_more_and_then_quoted_with_a_warning(
    place: Path, text: str
) -> None:
    """The first is refused by code, the second by the answer about wordings."""
    at, kinds = done(place, "judge", "next"), []
    while at["question"]:
        assert len(kinds) < 12
        kinds.append(at["question"]["kind"])
        at = answer(place, at["question"], reworded(at["question"], text))
    assert kinds.count("purifier") == 2
    bodies = [m.body for m in memories(place).values()]
    assert "Vera prefers raised beds because her back hurts." in bodies
    assert "wording-refused" in [w["rule"] for w in at["run"]["warnings"]]
    assert at["run"]["reused"] == 0


def test_the_parts_of_a_line_may_each_quote_several_spans(place: Path) -> None:
    line = "Lin paints on Mondays, in oil; Tor carves on Sundays, in oak."
    memory = place.parent / "workspace" / "MEMORY.md"
    memory.write_text(f"{memory.read_text()}\n- {line}\n")

    def split(question: dict[str, Any]) -> str:
        found = json.loads(good(question["data"]))
        for one in [c for c in found.get("claims", ()) if c["quote"] == line]:
            found["claims"].remove(one)
            for text, quote in (
                ("Lin paints in oil.", "Lin paints ... in oil"),
                ("Tor carves in oak.", "Tor carves ... in oak"),
            ):
                wording = {**one["wording"], "text": text}
                found["claims"].append({**one, "quote": quote, "wording": wording})
        return json.dumps(found)

    at = done(place, "judge", "next")
    while at["question"]:
        at = answer(place, at["question"], split(at["question"]))
    assert {"Lin paints in oil.", "Tor carves in oak."} <= {
        m.body for m in memories(place).values()
    }


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


def test_a_merge_that_one_side_names_is_one(place: Path) -> None:
    memory = place.parent / "workspace" / "MEMORY.md"
    memory.write_text(f"{memory.read_text()}\n- The kiln trips the fuse.\n- Fix: press reset.\n")

    def merging(question: dict[str, Any]) -> str:
        found = json.loads(good(question["data"]))
        ids = {one["text"]: one["candidate_id"] for one in evidence(question["data"])["candidates"]}
        pair = ids["The kiln trips the fuse."], ids["Fix: press reset."]
        for one in found["verdicts"]:
            if one["candidate_id"] in pair:
                one["verdict"] = "merge"
                one["merge_with"] = [pair[0]] if one["candidate_id"] == pair[1] else []
        return json.dumps(found)

    first = done(place, "judge", "next")
    after = answer(place, first["question"], merging(first["question"]))
    assert after["question"]["kind"] == "purifier"
    clusters = evidence(after["question"]["data"])["clusters"]
    assert max(len(one["candidates"]) for one in clusters) == 2
