"""What nobody reads for a year is found as on the first day, and nothing that stands leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import begin, done, memories

PEOPLE = ("Ada", "Bruno", "Clara", "Dimitri", "Elena", "Farid", "Greta", "Hanna", "Ivo", "Jana")
FACTS = {
    "restores clocks": "What does {} restore?",
    "keeps bees on the roof of the bakery": "Where does {} keep bees?",
    "is allergic to walnuts": "What is {} allergic to?",
    "drives a green van": "Which colour is the van of {}?",
    "was born in Tartu": "Where was {} born?",
    "is working on a boat of cedar": "Which wood is the boat of {} made of?",
}
LATER = "2027-03-01T10:00:00Z"


def told(name: str, fact: str) -> str:
    return f"{name} {fact} since {1980 + PEOPLE.index(name)}."


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    lines = [f"- {told(name, fact)}" for name in PEOPLE for fact in FACTS]
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("# People\n\n" + "\n".join(lines) + "\n")
    return begin(tmp_path, workspace)


def recall(repo: Path, now: str) -> float:
    """Return the share of questions whose fact is among the first three hits."""
    asked = [
        (told(name, fact), question.format(name))
        for name in PEOPLE[::3]
        for fact, question in FACTS.items()
    ]
    found = 0
    for fact, question in asked:
        hits = done(repo, "search", "--no-touch", "-k", "3", question, now=now)["hits"]
        found += any(fact in hit["text"] for hit in hits)
    return found / len(asked)


def year(repo: Path) -> None:
    """Run on some days of a year, in which nobody reads anything."""
    for month in (4, 6, 8, 10, 12):
        done(repo, "run", now=f"2026-{month:02}-01T09:00:00Z")
    done(repo, "run", now="2027-03-01T09:00:00Z")


def test_unread_facts_are_found_on_day_365_as_on_day_0(repo: Path) -> None:
    first = recall(repo, "2026-03-01T10:00:00Z")
    assert first > 0.9
    year(repo)
    assert abs(recall(repo, LATER) - first) <= 0.02
    (hit, *_) = done(repo, "search", "--no-touch", "bees of Ada", now=LATER)["hits"]
    assert hit["stale"]
    assert "stale" in hit["doubts"][0]


def test_what_ends_by_a_word_of_somebody_leaves(repo: Path) -> None:
    ended = done(repo, "add", "The ferry runs hourly.", "--valid-until", "2026-05-31")["id"]
    short = done(repo, "add", "The pier is wet.", "--class", "session")["id"]
    done(repo, "run", now="2026-05-31T09:00:00Z")
    assert memories(repo)[ended].status == "active"
    assert short not in memories(repo)
    late = "2026-06-02T09:00:00Z"
    assert done(repo, "search", "--no-touch", "ferry hourly", now=late)["hits"] == []
    done(repo, "run", now=late)
    assert memories(repo)[ended].status == "archived"
