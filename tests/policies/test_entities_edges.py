"""Names at their edges: bounds, trimming, aliases, and whose a name is."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.core.memory import Memory
from memrepo.policies.entities import LONGEST, catalogue, held, mentions


def memory(number: int, body: str, **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", **fields}
    return Memory(path=f"memories/knowledge/m-{number:06x}.md", fields=base, body=body)


@pytest.mark.parametrize(
    ("name", "held_"),
    [
        ("Ana", True),
        (" Ana ", True),
        ("ana", True),
        ("An", False),
        ("", False),
        ("Ana\nBo", False),
        ("x" * LONGEST, True),
        ("x" * (LONGEST + 1), False),
    ],
)
def test_a_name_is_held_as_a_whole_word_within_bounds(name: str, held_: bool) -> None:
    evidence = ["Ana met Bo", "x" * LONGEST, "x" * (LONGEST + 1), "Ana\nBo"]
    assert bool(held([name], evidence)) is held_


def test_names_are_held_once_in_their_order() -> None:
    assert held(["Bo", "Ana", "Bo"], ["Ana met Bo"]) == ("Bo", "Ana")


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("We met Ana's team.", ("Ana",)),
        ("They use Al now.", ("Al",)),
        ("They sat with Q and left.", ()),
    ],
)
def test_which_names_a_sentence_mentions(text: str, sure: tuple[str, ...]) -> None:
    assert mentions(text)[0] == sure


def test_a_name_at_the_beginning_is_only_likely() -> None:
    assert mentions("Ana left.") == ((), ("Ana",))
    assert mentions("It rained. Ana left.") == ((), ("Ana",))
    assert mentions("- Ana left.\n- Then Bo.")[1] == ("Ana",)


def test_entities_are_listed_the_most_mentioned_first_and_found_by_any_name() -> None:
    found = catalogue(
        [
            memory(1, "We met Ana and Bo."),
            memory(2, "We met Bo."),
            memory(3, "Nothing.", subject="Bo"),
            memory(4, "Nothing.", subject="Zed"),
            memory(5, "Nothing.", entities=("Ana",)),
        ],
        {"Robert": ["Bo"]},
    )
    rows = [(e.name, e.aliases, [i[-1] for i in e.memories]) for e in found.entities]
    assert rows == [("Robert", ("Bo",), ["1", "2", "3"]), ("Ana", (), ["1", "5"])]
    assert found.by_name["bo"] == found.by_name["robert"] == found.entities[0]
    assert found.by_name["ana"].confirmed == ("mem-0000000000000005",)
