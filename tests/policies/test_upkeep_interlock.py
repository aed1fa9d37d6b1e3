"""The interlock at its boundaries: more than 20 memories and more than the share, never less."""

from __future__ import annotations

import pytest

from memrepo.core.memory import Memory
from memrepo.core.state import Change, Files, State, Update
from memrepo.policies.upkeep import interlock, losses


def state(count: int) -> State:
    memories = {
        f"mem-{n:016x}": Memory.of(
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
