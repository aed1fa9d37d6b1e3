"""Summaries made offline: what they say, of what they are made, and their bounds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memrepo.core.memory import Memory, Source
from memrepo.policies.gists import (
    ENTITIES,
    FACTS,
    SUMMARY_LENGTH,
    SUMMARY_SENTENCES,
    TITLE,
    day_of,
    summary_of,
)


def memory(number: int, body: str, **fields: object) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", **fields}
    return Memory(path=f"memories/knowledge/m-{number:06x}.md", fields=base, body=body)


def test_the_most_telling_are_the_text_and_the_rest_are_facts() -> None:
    said = [f"Tree number {word} stands." for word in ("one", "two", "three")]
    told = [f"We decided on {word}." for word in ("larch", "birch", "maple", "aspen")]
    found = summary_of("Trees", [memory(n, body) for n, body in enumerate([*said, *told])])
    assert found.title == "Trees"
    assert found.text == " ".join(told)
    assert set(found.facts) == set(said)


def test_what_is_said_twice_is_told_once() -> None:
    found = summary_of("T", [memory(1, "The gate is green."), memory(2, "The gate is green.")])
    assert (found.text, found.facts) == ("The gate is green.", ())


def test_a_title_without_a_topic_is_made_of_the_commonest_words() -> None:
    bodies = ["larch gate", "larch gate birch", "larch birch gate maple", "zeta larch"]
    assert (
        summary_of("", [memory(n, b) for n, b in enumerate(bodies)]).title == "larch, gate, birch"
    )
    assert summary_of("", [memory(1, "a b")]).title == "m-000001"
    assert summary_of("  A   gate ", [memory(1, "x")]).title == "A gate"
    assert len(summary_of("x" * 300, [memory(1, "x")]).title) == TITLE


def test_names_are_listed_the_most_mentioned_first_and_few() -> None:
    found = summary_of("T", [memory(1, "We met Bo and Ana."), memory(2, "They saw Bo.")])
    assert found.entities == ("Bo", "Ana")
    crowd = " ".join(f"They met Person{chr(97 + n)}." for n in range(ENTITIES + 3))
    assert len(summary_of("T", [memory(1, crowd)]).entities) <= ENTITIES


def test_a_summary_is_bounded() -> None:
    long = [memory(n, f"{'word ' * 60}number {n}.") for n in range(40)]
    found = summary_of("T", long)
    assert len(found.text) <= SUMMARY_LENGTH
    assert len(found.facts) <= FACTS
    many = summary_of("T", [memory(n, f"Tree {n} stands.") for n in range(40)])
    assert many.text.count(".") == SUMMARY_SENTENCES
    assert len(many.facts) == FACTS


@pytest.mark.parametrize(
    ("captured", "created", "day"),
    [
        ("2026-03-05", None, "2026-03-05"),
        ("2026-03-05T10:00:00Z", None, "2026-03-05"),
        ("2026-03-05", datetime(2026, 4, 1, tzinfo=UTC), "2026-03-05"),
        ("", datetime(2026, 4, 1, tzinfo=UTC), "2026-04-01"),
        ("", None, ""),
    ],
)
def test_the_day_of_a_memory(captured: str, created: datetime | None, day: str) -> None:
    fields = {"sources": (Source(resource="s", captured=captured),)}
    assert day_of(memory(1, "x", **fields, **({"created": created} if created else {}))) == day
