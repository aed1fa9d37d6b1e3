"""Doubt is told: what contests a memory and since when, what is retired, and what is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import begin, done, memories, memrepo
from mcp import Client
from mcp_driving import with_client

BASE = [f"- The locker number {n} belongs to crew {n + 100}." for n in range(12)]
CRANE = "- The crane driver is Vera Holm."
LOVES, HATES = "- Vera really loves the old lighthouse.", "- Vera really hates the old lighthouse."
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


def test_a_search_says_what_contests_a_hit_and_since_when(
    contested: tuple[Path, str, str],
) -> None:
    repo, old, new = contested
    by_id = {hit["id"]: hit for hit in hits(repo, "old lighthouse")}
    assert by_id[new]["doubts"] == [
        f'contested by {old} since 2026-03-10: "Vera really loves the old lighthouse."'
    ]
    assert by_id[new]["answer_confidence"] == "medium"
    text = memrepo(repo, "search", "--no-touch", "old lighthouse", now=LATER, as_json=False).out
    assert by_id[new]["doubts"][0] in text
    shown = memrepo(repo, "show", "--no-touch", new, now=LATER, as_json=False).out
    assert by_id[new]["doubts"][0] in shown


def test_an_agent_is_told_in_words_what_contests_a_memory(
    contested: tuple[Path, str, str],
) -> None:
    repo, old, new = contested

    async def ask(client: Client) -> tuple[str, str]:
        found = await client.call_tool("memory_search", {"query": "old lighthouse"})
        one = await client.call_tool("memory_get", {"id": new})
        return found.content[0].text, one.content[0].text  # type: ignore[union-attr]

    for text in with_client(repo, ask, now=LATER):
        assert f"but contested by {old} since 2026-03-10" in text
        assert "Vera really loves" in text


def test_a_session_begins_with_what_is_contested(contested: tuple[Path, str, str]) -> None:
    repo, old, new = contested
    told = done(repo, "session", "start", now=LATER)["context"]
    (line,) = [line for line in told.splitlines() if line.startswith("in doubt: ")]
    assert {old, new} <= {word.strip(':"') for word in line.split()}
    assert "really loves" in line
    assert "really hates" in line
    assert "since 2026-03-10" in line


def test_what_a_person_confirmed_is_marked_and_comes_last_once_it_is_retired(repo: Path) -> None:
    (crane,) = [m.id for m in memories(repo).values() if "crane" in m.body]
    done(repo, "confirm", crane)
    write(repo)
    done(repo, "run", now=LATER)
    done(repo, "add", "A driver of a crane needs a licence.", now=LATER)
    *_, last = hits(repo, "crane driver")
    assert (last["standing"], last["answer_confidence"]) == ("retire_candidate", "low")
    assert last["doubts"] == [
        "retired since 2026-03-10: the line it rested on is gone from sources/MEMORY.md"
    ]
    assert done(repo, "status", now=LATER)["memories"]["retired"] == 1
    context = done(repo, "session", "start", now=LATER)["context"]
    assert "1 memory is retired" in context


def test_what_is_retired_takes_no_place_of_what_holds(repo: Path) -> None:
    (crane,) = [m.id for m in memories(repo).values() if "crane" in m.body]
    done(repo, "confirm", crane)
    write(repo)
    done(repo, "run", now=LATER)
    id_ = done(repo, "add", "A driver of a crane needs a licence.", now=LATER)["id"]
    (only,) = done(repo, "search", "--no-touch", "-k", "1", "crane driver", now=LATER)["hits"]
    assert only["id"] == id_


def test_what_nobody_says_any_more_is_in_the_archive_only(repo: Path) -> None:
    write(repo)
    done(repo, "run", now=LATER)
    assert hits(repo, "crane driver") == []
    (hit,) = hits(repo, "crane driver", "--status", "archived")
    assert (hit["status"], hit["standing"]) == ("archived", "retire_candidate")


@pytest.mark.parametrize(
    "asked",
    [
        "purple elephants juggling a locker on the moon",
        "which crew won the regional quantum chess tournament yesterday evening",
        "Kündigungsfrist der Versicherung des Fahrrads",
    ],
)
def test_nonsense_finds_nothing(repo: Path, asked: str) -> None:
    found = done(repo, "search", "--no-touch", asked)
    assert found["hits"] == []
    said = memrepo(repo, "search", "--no-touch", asked, as_json=False).out
    assert said.startswith("nothing found: ")


@pytest.mark.parametrize(
    ("asked", "confidence"),
    [
        ("Who is the crane driver?", "high"),
        ("crane", "high"),
        ("crane licence", "medium"),
    ],
)
def test_the_confidence_of_an_answer_is_how_much_of_the_question_it_holds(
    repo: Path, asked: str, confidence: str
) -> None:
    assert hits(repo, asked)[0]["answer_confidence"] == confidence


def test_a_whole_prompt_finds_what_some_of_its_words_name(repo: Path) -> None:
    prompt = (
        "Please look into the schedule for next week, draft a friendly message to everybody"
        " concerned, mention the new rules about helmets, and do not forget to ask the crane"
        " driver whether the morning shift suits him or somebody else should take it over"
    )
    assert "Vera" in hits(repo, prompt)[0]["text"]


@pytest.mark.parametrize("days", [1, 400])
def test_the_scores_of_a_past_commit_obey_the_time_that_is_asked_at(repo: Path, days: int) -> None:
    head = done(repo, "status")["commit"]
    now = {1: "2026-03-02T09:00:00Z", 400: "2027-04-05T09:00:00Z"}[days]
    past = done(repo, "search", "--at", head, "crane driver", now=now)["hits"][0]
    here = done(repo, "search", "--no-touch", "crane driver", now=now)["hits"][0]
    assert past["parts"]["recency"] == here["parts"]["recency"]
    assert (past["parts"]["recency"] > 0.1) is (days == 1)


THIRD = "2026-03-11T04:00:00Z"
BARN = "- Vera really hates the old barn."


def test_an_edited_line_that_no_longer_contradicts_ends_the_doubt(
    contested: tuple[Path, str, str],
) -> None:
    repo, old, new = contested
    write(repo, LOVES, CRANE, BARN)
    assert done(repo, "run", now=THIRD)["counts"]["memories_reworded"] == 1
    assert [memories(repo)[i].standing for i in (old, new)] == ["resolved", "resolved"]
    assert done(repo, "resolve", now=THIRD)["open"] == []
    (case,) = done(repo, "resolve", "--list", now=THIRD)["corrections"]
    assert (case["status"], case["verdict"]) == ("resolved", "both")
    assert done(repo, "check", now=THIRD)["problems"] == []
    done(repo, "revert", now=THIRD)
    assert [memories(repo)[i].standing for i in (old, new)] == ["contested", "contested"]
    assert len(done(repo, "resolve", now=THIRD)["open"]) == 1


def test_what_a_person_looked_at_waits_for_the_person(contested: tuple[Path, str, str]) -> None:
    repo, old, _ = contested
    done(repo, "resolve", old, "--needs-context", "--reason", "ask Vera", now=LATER)
    write(repo, LOVES, CRANE, BARN)
    done(repo, "run", now=THIRD)
    assert memories(repo)[old].standing == "contested"


def test_recall_says_that_the_file_is_gone_before_a_person_decided(tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / "memory"
    folder.mkdir(parents=True)
    for n in range(8):
        (folder / f"shelf-{n}.md").write_text(
            f"# Shelves\n\n- Shelf {n} holds the bowls of lot {n}.\n"
        )
    (folder / "kiln.md").write_text("# Kiln\n\n- The kiln must cool for nine hours.\n")
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = tmp_path / "repo"
    done(repo, "run")
    (folder / "kiln.md").unlink()
    assert memrepo(repo, "run", now=LATER).exit == 3, "the removal waits for a person"
    (hit,) = [h for h in done(repo, "search", "kiln")["hits"] if "nine hours" in h["text"]]
    assert hit["doubts"] == ["its source is gone: sources/memory/kiln.md"]
    assert hit["answer_confidence"] != "high"
    assert done(repo, "show", hit["id"])["doubts"] == hit["doubts"]
    (other, *_) = done(repo, "search", "bowls of lot 3")["hits"]
    assert not [said for said in other["doubts"] if "source is gone" in said]
