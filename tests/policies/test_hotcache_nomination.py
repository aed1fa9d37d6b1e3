"""Which notes are nominated: thresholds, order, destination and what the report says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.access import RETRIEVAL, Accesses, Event, fold, seconds
from memrepo.core.memory import Memory
from memrepo.policies.ageing import HOT_CACHE, SKILLS, destination, nominated
from memrepo.policies.rules import TierRules

NOW = datetime(2026, 3, 30, 9, tzinfo=UTC)
D = timedelta(days=1)
RULES = TierRules()


def note(number: int = 1, body: str = "One.", **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "note", "created": NOW - 30 * D, **fields}
    return Memory(path=f"memories/notes/2026-02/n-{number:06x}.md", fields=base, body=body)


def reads(of: Memory, count: int, ago: int = 0) -> list[Event]:
    return [
        Event(kind=RETRIEVAL, at=seconds(NOW - ago * D), session="s", memory=of.id)
        for _ in range(count)
    ]


def test_only_active_notes_that_were_not_promoted_the_most_retrieved_first() -> None:
    often, seldom, same = note(1), note(2), note(3)
    claim = note(4, type="fact")
    rests, done = note(5, status="archived"), note(6, promoted=True)
    every = [same, seldom, often, claim, rests, done, note(7)]
    events = [*reads(often, 9), *(e for m in every[:2] + every[3:6] for e in reads(m, 8))]
    found = nominated(every, fold(events), NOW, RULES)
    assert [c.note.id for c in found] == [often.id, seldom.id, same.id]


@pytest.mark.parametrize(
    ("title", "body", "wanted"),
    [
        ("How to prune", "x", SKILLS),
        ("", "The RUNBOOK of the gate", SKILLS),
        ("A day", "We walked.", HOT_CACHE),
        ("A day", "x" * 2000 + " procedure", HOT_CACHE),
        ("A day", "x" * 1980 + " procedure", SKILLS),
    ],
)
def test_a_method_is_a_skill(title: str, body: str, wanted: str) -> None:
    assert destination(note(title=title, body=body)) == wanted


def test_what_the_report_says() -> None:
    of = note(title="The gate", user_marked=True)
    (asked,) = nominated([of], fold(reads(of, 3)), NOW, RULES)
    assert asked.record == (
        "3 retrievals in 7 days, marked by the user, last retrieved 2026-03-30T09:00:00Z"
    )
    (never,) = nominated([of], Accesses(), NOW, RULES)
    assert never.record == "marked by the user"
