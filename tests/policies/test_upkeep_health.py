"""The state of the memory in figures: each counts what it says and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.access import RETRIEVAL, SESSION, Event, fold, seconds
from memrepo.core.memory import Decay, Hot, Memory, Stamp
from memrepo.policies.rules import HotRules, Rules
from memrepo.policies.upkeep import Health, health

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
H, D = timedelta(hours=1), timedelta(days=1)
NOW = T0 + 5 * H
RULES = Rules(hot=HotRules(budget=2, idle=2))
HOT = Hot(since=T0, reason="x")
EVER = Decay(cls="permanent")


def memory(number: int, **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", "created": T0, "decay": EVER, **fields}
    return Memory(path=f"memories/knowledge/m-{number:06x}.md", fields=base, body="One.")


def sessions(*times: datetime) -> list[Event]:
    return [Event(kind=SESSION, at=seconds(t), session=f"b{seconds(t)}") for t in times]


def reads(of: Memory, at: datetime) -> Event:
    return Event(kind=RETRIEVAL, at=seconds(at), session="s", memory=of.id)


def figures(*memories: Memory, events: list[Event] | None = None, now: datetime = NOW) -> Health:
    return health(memories, fold(events or []), now, RULES)


def test_notes_and_parts_of_texts_are_no_memories_proper() -> None:
    found = figures(memory(1), memory(2, type="note"), memory(3, type="chunk"))
    assert (found.files, found.hot, found.archived, found.tracked) == (1, 0, 0, 0)


def test_what_is_counted() -> None:
    read, unread = memory(1, hot=HOT, pinned=True), memory(2, hot=HOT)
    rests = memory(3, status="archived", pinned=True, hot=HOT)
    found = figures(read, unread, rests, memory(4, pinned=True), events=[reads(read, T0 + H)])
    assert (found.files, found.hot, found.pinned) == (3, 2, 1)
    assert (found.tracked, found.archived, found.budget) == (1, 1, 2)


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"critical": True, "pinned": True}, "critical"),
        ({"pinned": True}, "pinned"),
        ({}, "cold"),
    ],
)
def test_a_hot_memory_has_one_label(fields: dict[str, Any], label: str) -> None:
    of = memory(1, hot=HOT, **fields)
    found = figures(of, memory(2), events=sessions(T0 + H, T0 + 2 * H))
    assert dict(found.labels) == {label: 1}


@pytest.mark.parametrize(("count", "label"), [(0, "recent"), (1, "stale"), (2, "cold")])
def test_heat_goes_by_the_sessions_without_use(count: int, label: str) -> None:
    events = sessions(*(T0 + (n + 1) * H for n in range(count)))
    found = figures(memory(1, hot=HOT), events=events)
    assert dict(found.labels) == {label: 1}
    assert found.stalest == (("knowledge:m-000001", count),)


def test_the_five_stalest_are_named_the_longest_unused_first() -> None:
    many = [memory(n, hot=HOT) for n in range(1, 8)]
    events = [*sessions(T0 + H, T0 + 3 * H), *(reads(m, T0 + 2 * H) for m in many[:4])]
    found = figures(*many, events=events)
    assert found.stalest == (
        ("knowledge:m-000005", 2),
        ("knowledge:m-000006", 2),
        ("knowledge:m-000007", 2),
        ("knowledge:m-000001", 1),
        ("knowledge:m-000002", 1),
    )


@pytest.mark.parametrize(
    ("fields", "synced"),
    [
        ({"hot": HOT, "generated": Stamp(by="human:a@b.c", at=T0 + H)}, 1),
        ({"hot": HOT, "generated": Stamp(by="human:a@b.c", at=T0)}, 0),
        ({"hot": HOT, "generated": Stamp(by="human:a@b.c")}, 0),
        ({"hot": HOT}, 0),
        ({"generated": Stamp(by="human:a@b.c", at=T0 + H)}, 0),
    ],
)
def test_synced_is_what_changed_after_it_was_promoted(fields: dict[str, Any], synced: int) -> None:
    assert figures(memory(1, **fields)).synced == synced


def test_what_is_not_well_is_said_and_nothing_else() -> None:
    assert figures(memory(1, hot=HOT), memory(2, hot=HOT)).ailments == ()
    many = [memory(n, hot=HOT) for n in (1, 2, 3)]
    over = memory(4, decay=Decay(cls="session"))
    rests = memory(5, status="archived", archived_at=T0 - 400 * D)
    found = figures(*many, over, rests, now=T0 + 20 * D)
    assert found.over == 1
    assert [m.id for m in found.review] == [rests.id]
    assert [a.split()[0] for a in found.ailments] == ["3", "1", "1"]
    assert figures(memory(4, decay=Decay(cls="session"), type="note"), now=T0 + 20 * D).over == 0


def test_what_nobody_ever_asked_for_is_cold_after_thirty_days() -> None:
    idle = memory(1)
    assert figures(idle, memory(2, hot=HOT), now=T0 + 30 * D + H).cold_candidates == 1
    assert figures(idle, now=T0 + 30 * D).cold_candidates == 0
