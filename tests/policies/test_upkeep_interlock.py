"""The interlock at its boundaries: more than 20 memories and more than the share, never less."""

from __future__ import annotations

import pytest

from memrepo.core.changes import Change, Create, Remove, Update
from memrepo.core.memory import Memory
from memrepo.core.state import Files, State
from memrepo.policies.upkeep import interlock, losses


def state(count: int) -> State:
    memories = {
        f"mem-{n:016x}": Memory(
            path=f"memories/knowledge/undated/00/m-{n:06x}.md",
            fields={"id": f"mem-{n:016x}", "type": "fact"},
            body=f"fact {n}",
        )
        for n in range(count)
    }
    return State(files=Files({}, {}), memories=memories)


def gone(count: int, status: str = "superseded") -> list[Change]:
    return [Update(id=f"mem-{n:016x}", fields={"status": status}) for n in range(count)]


@pytest.mark.parametrize(
    ("total", "lost", "limit", "waits"),
    [
        (100, 20, 10, False),
        (100, 21, 10, True),
        (100, 21, 21, False),
        (1000, 200, 20, False),
        (1000, 201, 20, True),
        (21, 21, 100, False),
        (62, 59, 20, True),
        (0, 0, 0, False),
    ],
)
def test_a_run_waits_only_above_both_bounds(
    total: int, lost: int, limit: float, waits: bool
) -> None:
    assert bool(interlock(state(total), gone(lost), limit)) is waits


@pytest.mark.parametrize("status", ["superseded", "archived", "forgotten"])
def test_every_way_out_of_recall_counts(status: str) -> None:
    assert len(losses(state(3), gone(2, status))) == 2


def test_a_removal_counts_and_a_creation_does_not() -> None:
    new = Memory(path="memories/knowledge/x-ffffff.md", fields={"id": "mem-ffffffffffffffff"})
    changes = [Remove(id="mem-" + "0" * 16), Create(memory=new)]
    assert losses(state(2), changes) == {"mem-" + "0" * 16}


def test_bringing_a_memory_back_is_no_loss() -> None:
    assert losses(state(2), [Update(id="mem-" + "0" * 16, fields={"status": None})]) == frozenset()


def test_what_becomes_a_candidate_for_retirement_counts_once() -> None:
    first, second = (f"mem-{n:016x}" for n in range(2))
    before = state(2)
    retiring = {"standing": "retire_candidate"}
    known = before.memories[second].with_fields(retiring)
    held = State(files=before.files, memories={**before.memories, second: known})
    changes = [Update(id=i, fields=retiring) for i in (first, second)]
    assert losses(held, changes) == {first}


def test_the_reason_says_how_many_of_how_many() -> None:
    assert "30 of 100" in interlock(state(100), gone(30), 20)
