"""Which open claim a skipped run brings up: the formula, its bounds, its ties."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memrepo.core.memory import Memory, Source, Stamp
from memrepo.policies.standing import recall_surface

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def claim(
    number: int = 1,
    *,
    standing: str = "unresolved",
    age: int = 0,
    days: int = 1,
    sources: int = 1,
    **fields: object,
) -> Memory:
    """Return an open claim with evidence from so many sources, captured on so many days."""
    evidence = tuple(
        Source(resource=f"sources/{n}.md", captured=f"2026-01-{n % days + 1:02}")
        for n in range(sources)
    )
    return Memory(
        path=f"memories/knowledge/{number}.md",
        fields={
            "id": f"mem-{number:016x}",
            "type": "fact",
            "standing": standing,
            "sources": evidence,
            "created": NOW - timedelta(days=age),
            "home": "LTMEMORY.md",
            **fields,
        },
        body="Maybe the\nfan is\u200b louder.",
    )


@pytest.mark.parametrize(
    ("memory", "score"),
    [
        (claim(standing="contested"), 3 + 0.3 + 0.2),
        (claim(standing="unresolved"), 2 + 0.3 + 0.2),
        (claim(standing="retire_candidate"), 1 + 0.3 + 0.2),
        (claim(age=7), 2 + 0.7 + 0.3 + 0.2),
        (claim(age=14), 2 + 1.4 + 0.3 + 0.2),
        (claim(age=400), 2 + 1.4 + 0.3 + 0.2),
        (claim(sources=5), 2 + 1.5 + 0.2),
        (claim(sources=9), 2 + 1.5 + 0.2),
        (claim(sources=10, days=10), 2 + 1.5 + 2.0),
        (claim(sources=20, days=20), 2 + 1.5 + 2.0),
        (claim(age=-3), 2 + 0.3 + 0.2),
    ],
)
def test_the_score_follows_the_formula(memory: Memory, score: float) -> None:
    found = recall_surface([memory], NOW)
    assert found is not None
    assert found.score == pytest.approx(score)


@pytest.mark.parametrize(
    "memory",
    [
        claim(standing="resolved"),
        claim(standing="stale"),
        claim(status="superseded"),
        claim(status="archived"),
    ],
)
def test_what_is_settled_or_gone_is_not_brought_up(memory: Memory) -> None:
    assert recall_surface([memory], NOW) is None


def test_the_highest_score_wins_then_the_oldest_then_the_id() -> None:
    low, high = claim(1), claim(2, standing="contested")
    assert recall_surface([low, high], NOW).memory == high  # type: ignore[union-attr]
    older, newer = claim(3, age=30), claim(2, age=20)
    assert recall_surface([newer, older], NOW).memory == older  # type: ignore[union-attr]
    assert recall_surface([claim(9), claim(4)], NOW).memory.slug == "4"  # type: ignore[union-attr]


def test_age_counts_from_the_last_change_of_the_text() -> None:
    stamp = Stamp(by="memrepo/0", at=NOW - timedelta(days=2))
    found = recall_surface([claim(age=9, generated=stamp)], NOW)
    assert found is not None
    assert (found.age_days, found.as_json()["updated"]) == (2, "2026-02-27T09:00:00Z")


def test_its_text_is_one_short_line() -> None:
    memory = claim()
    told = recall_surface([memory], NOW).as_json()  # type: ignore[union-attr]
    assert told["text"] == "Maybe the fan is louder."
    long = Memory(path=memory.path, fields=memory.fields, body="word " * 200)
    assert len(recall_surface([long], NOW).as_json()["text"]) == 240  # type: ignore[union-attr]
