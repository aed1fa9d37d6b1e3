"""Which memories are suggested as links of another."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.core.memory import Memory
from memrepo.policies.matching import AKIN, FEW, akin, cosine


def memory(number: int, body: str, **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", **fields}
    return Memory(path=f"memories/knowledge/m-{number:06x}.md", fields=base, body=body)


def found(*others: Memory, of: Memory | None = None) -> list[tuple[str, float]]:
    return [(m.id[-1], score) for m, score in akin(of or memory(1, "elm fir oak"), others)]


def test_the_most_alike_come_first_and_few_of_them() -> None:
    others = [memory(n, "elm fir oak larch") for n in range(2, 7)]
    assert found(*others, memory(9, "elm fir oak")) == [("9", 1.0), ("2", 0.87), ("3", 0.87)]
    assert len(found(*others)) == FEW


def test_only_others_of_the_same_scope() -> None:
    one = memory(1, "elm fir oak", scope="work")
    there, elsewhere = memory(2, one.body, scope="work"), memory(3, one.body)
    assert found(one, there, elsewhere, of=one) == [("2", 1.0)]


@pytest.mark.parametrize(
    ("mine", "other", "score"),
    [
        ("elm fir oak ash yew", "elm fir pine birch beech", AKIN),
        ("elm fir oak ash yew", "elm rowan pine birch beech", None),
    ],
)
def test_exactly_at_the_bound_a_memory_is_suggested(
    mine: str, other: str, score: float | None
) -> None:
    assert found(memory(2, other), of=memory(1, mine)) == ([("2", score)] if score else [])


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [("ab", "ab", 1.0), ("ab", "cd", 0.0), ("", "", 0.0), ("a", "", 0.0), ("abcd", "a", 0.5)],
)
def test_cosine_of_sets(one: str, other: str, wanted: float) -> None:
    assert cosine(frozenset(one), frozenset(other)) == wanted
