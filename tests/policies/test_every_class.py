"""Every decay class has examples: what gives it, what nearly does, and how long it keeps.

A class without a row in EXAMPLES or GIVEN fails here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memrepo.core.memory import Memory
from memrepo.policies.ageing import AUTOMATIC, DEFAULT, automatic, class_of, classify
from memrepo.policies.rules import REFRESHED, TTLS

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
EXAMPLES: dict[str, tuple[tuple[tuple[str, str, str], ...], tuple[str, str, str]]] = {
    "permanent": (
        (
            ("", "email", ""),
            ("", "apiKey", ""),
            ("Decision", "", ""),
            ("the_decision", "", ""),
            ("", "", "We always use larch."),
        ),
        ("indecision", "emailer", "They always used larch."),
    ),
    "session": (
        (("", "temp", ""), ("", "debug_flag", ""), ("", "", "It is open right now.")),
        ("session", "temperature", "It is open right nowhere."),
    ),
    "active": (
        (("", "sprint", ""), ("", "my.todo", ""), ("", "", "They need to paint the gate.")),
        ("sprint", "sprinter", "They needed to paint the gate."),
    ),
    "checkpoint": (
        (("", "preflight", ""), ("", "", "The checkpoint of Monday.")),
        ("checkpoint", "checkpointed", "A check point."),
    ),
    DEFAULT: ((("", "", ""), ("Oak", "colour", "The oak is green.")), ("", "email", "")),
}
"""By automatic class: (entity, key, text) that give it, and the nearest that does not."""
GIVEN = ("durable", "normal", "short", "ephemeral")
"""Classes that no text gives: only by hand, or to what the program wrote."""


def memory(**fields: Any) -> Memory:
    base = {"id": "mem-" + "1" * 16, "type": "fact", "created": T0, **fields}
    return Memory.of("memories/knowledge/m-111111.md", base, body="The gate is green.")


def test_every_class_has_examples_and_a_time_to_live() -> None:
    assert set(EXAMPLES) == set(AUTOMATIC)
    assert {*EXAMPLES, *GIVEN} == set(TTLS)
    assert set(REFRESHED) <= set(TTLS)


@pytest.mark.parametrize("cls", sorted(EXAMPLES))
def test_what_gives_a_class_and_what_nearly_does(cls: str) -> None:
    given, near = EXAMPLES[cls]
    assert [classify(*said) for said in given] == [cls] * len(given)
    assert classify(*near) != cls


def test_an_explicit_class_wins_and_a_summary_has_its_own() -> None:
    assert class_of(memory(predicate="email")) == "permanent"
    assert class_of(memory(predicate="email", decay="short")) == "short"
    assert automatic(memory(type="summary", predicate="email")) == "durable"
    assert automatic(memory(type="decision")) == "permanent"
    assert automatic(memory(tags=("decision",))) == "permanent"
