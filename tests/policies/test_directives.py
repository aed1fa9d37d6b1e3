"""Directives in double brackets: which a text holds, and what each asks for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memrepo.core.memory import Memory
from memrepo.policies.links import Directive, Verb, find_directives
from memrepo.policies.upkeep import directive_steps

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def asked(verb: Verb, of: Memory | None, *others: Memory, target: str = "k:oak") -> Any:
    return directive_steps(
        Directive(verb=verb, target=target), [*filter(None, [of]), *others], lambda _: of, NOW
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[pin:knowledge:oak]]", [("pin", "knowledge:oak")]),
        ("[[ promote : knowledge : oak ]]", [("promote", "knowledge:oak")]),
        ("[[forget:k:a]] and [[restore:k:b]]", [("forget", "k:a"), ("restore", "k:b")]),
        ("[[forget keyword: oak tree ]]", [("forget keyword", "oak tree")]),
        ("[[memory_health]]", [("memory_health", "")]),
        ("[[pin:k:a]] [[pin:k:a]]", [("pin", "k:a")]),
        ("`[[pin:k:a]]`", []),
        ("```\n[[pin:k:a]]\n```\n[[pin:k:b]]", [("pin", "k:b")]),
        ("~~~\n[[pin:k:a]]\n", []),
        ("[[pin:oak]] [[unpin:k:a]] [pin:k:a]", []),
    ],
)
def test_which_directives_a_text_holds(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(d.verb, d.target) for d in find_directives(text)] == expected


def test_what_names_no_memory_is_told_apart_from_what_is_so_already() -> None:
    assert asked("pin", None) is None
    assert asked("memory_health", None) == ()
