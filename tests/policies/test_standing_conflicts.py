"""Which memories of a tree contradict each other: how a pair stands, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memrepo.core.codec import encode
from memrepo.core.corrections import (
    Correction,
    Corrections,
    Side,
    VerdictWord,
    contradiction_id,
)
from memrepo.core.layout import Layout
from memrepo.core.memory import Link, Memory
from memrepo.core.state import State, read_state
from memrepo.policies.standing import (
    conflicts,
    contradicts,
    replaced,
    resolved,
    still_contested,
)

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)


def memory(number: int, body: str = "", **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", "created": T0, **fields}
    path = f"memories/knowledge/m-{number:06x}.md"
    return Memory(path=path, fields=base, body=body or f"Statement {number}.")


def against(*numbers: int) -> tuple[Link, ...]:
    return tuple(Link(target=f"mem-{n:016x}", type="contradicts") for n in numbers)


def case(one: Memory, other: Memory, verdict: VerdictWord, kept: str = "") -> Correction:
    return Correction(
        id=contradiction_id(one.id, other.id),
        kind="contradiction",
        verdict=verdict,
        sides=(Side(memory=one.id, text=one.body), Side(memory=other.id, text=other.body)),
        by="human:a@b.c",
        at=T0,
        kept=kept,
    )


def state(*memories: Memory) -> State:
    return read_state({m.path: encode(m) for m in memories}, Layout())


def found(of: State, *cases: Correction) -> list[tuple[str, str, str]]:
    corrections = Corrections(cases={c.id: c for c in cases})
    return [(c.status, c.first.id[-1], c.second.id[-1]) for c in conflicts(of, corrections)]


A, B = memory(1), memory(2)
A_AGAINST_B = memory(1, links=against(2))


def test_a_link_alone_is_an_open_case_from_whichever_side() -> None:
    assert found(state(A, B)) == []
    assert found(state(A_AGAINST_B, B)) == [("open", "1", "2")]
    assert found(state(A, memory(2, links=against(1)))) == [("open", "2", "1")]
    both = found(state(A_AGAINST_B, memory(2, links=against(1))))
    assert [status for status, *_ in both] == ["open"], "one case, though both name it"
    (only,) = conflicts(state(A_AGAINST_B, B), Corrections())
    assert (only.id, only.case) == (contradiction_id(A.id, B.id), None)
    assert only.sides == (only.first, only.second)


def test_what_is_no_contradiction_is_none() -> None:
    related = Link(target=B.id, type="related")
    assert found(state(memory(1, links=(related,)), B)) == []
    assert found(state(memory(1, links=against(1)))) == [], "a memory against itself"
    assert found(state(memory(1, links=against(9)))) == [], "against what is not there"


@pytest.mark.parametrize(
    ("verdict", "linked", "status"),
    [
        ("flagged", False, "open"),
        ("context", True, "open"),
        ("both", True, "resolved"),
        ("both", False, "resolved"),
        ("superseded", False, "resolved"),
        ("superseded", True, "open"),
    ],
)
def test_two_active_memories_with_a_case(verdict: VerdictWord, linked: bool, status: str) -> None:
    first = A_AGAINST_B if linked else A
    assert found(state(first, B), case(A, B, verdict)) == [(status, "1", "2")]


def test_the_order_is_that_of_the_case_the_newer_first() -> None:
    assert found(state(A_AGAINST_B, B), case(B, A, "flagged")) == [("open", "2", "1")]


def test_a_decision_holds_for_the_words_it_was_made_about() -> None:
    decided = case(A, B, "both")
    assert resolved(decided, A, B)
    assert not resolved(decided, A, memory(2, "Reworded."))
    assert not resolved(case(A, B, "superseded"), A, B)
    reworded = memory(2, "Reworded.")
    assert found(state(A_AGAINST_B, reworded), decided) == [("open", "1", "2")]


@pytest.mark.parametrize(
    ("second", "verdict", "expected"),
    [
        ({"status": "archived"}, "flagged", ["moot"]),
        ({"status": "archived"}, "both", ["resolved"]),
        ({"status": "superseded", "superseded_by": (A.id,)}, "flagged", ["open"]),
        ({"status": "superseded", "superseded_by": ("mem-" + "9" * 16,)}, "flagged", ["moot"]),
    ],
)
def test_when_one_of_the_two_left_recall(
    second: dict[str, Any], verdict: VerdictWord, expected: list[str]
) -> None:
    for pair in ((A, memory(2, **second)), (memory(2, **second), A)):
        assert [s for s, *_ in found(state(*pair), case(*pair, verdict))] == expected
    assert found(state(A_AGAINST_B, memory(2, **second))) == [], "a link to what left says nothing"


def test_open_ones_come_first_and_then_by_id() -> None:
    of = state(memory(1, links=against(2)), memory(2), memory(3), memory(4), memory(5), memory(6))
    cases = (case(memory(3), memory(4), "both"), case(memory(5), memory(6), "flagged"))
    rows = conflicts(of, Corrections(cases={c.id: c for c in cases}))
    assert [c.status for c in rows] == ["open", "open", "resolved"]
    assert rows[0].id < rows[1].id


def test_replaced_and_contradicting_go_by_what_is_marked() -> None:
    old = memory(1, status="superseded", superseded_by=(B.id,))
    assert replaced(old, B)
    assert not replaced(memory(1, superseded_by=(B.id,)), B)
    assert not replaced(old, memory(3))
    assert not replaced(old, memory(2, status="archived"))
    assert contradicts(A_AGAINST_B, B)
    assert not contradicts(B, A_AGAINST_B)
    assert not contradicts(A_AGAINST_B, memory(3))


def test_a_memory_stays_contested_by_a_third() -> None:
    of = memory(1, links=(*against(2, 3), Link(target="mem-" + "4" * 16, type="related")))
    active = {B.id, memory(3).id, "mem-" + "4" * 16}
    assert still_contested(of, active.__contains__, B.id)
    assert still_contested(of, {B.id}.__contains__, "")
    assert not still_contested(of, {B.id}.__contains__, B.id)
    assert not still_contested(of, {"mem-" + "4" * 16}.__contains__, B.id)
