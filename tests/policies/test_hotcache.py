"""The hot cache, function by function: who is on it, how warm, who comes and who goes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.access import RETRIEVAL, SESSION, Accesses, Event, fold, seconds
from memrepo.core.memory import Decay, Hot, Memory
from memrepo.policies.hotcache import (
    compose_hot,
    demote,
    end_of,
    heat,
    hot_of,
    is_exempt,
    may_be_hot,
    promote,
    unused,
    why_hot,
    why_over,
)
from memrepo.policies.rules import DecayRules, HotRules

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
S, H, D = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
RULES, DECAY = HotRules(budget=3, sessions=3, idle=3), DecayRules()
HOT = Hot(since=T0, reason="x")


def memory(number: int = 1, **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", "created": T0}
    base["decay"] = Decay(cls="permanent")
    return Memory(
        path=f"memories/knowledge/m-{number:06x}.md", fields={**base, **fields}, body="One."
    )


def reads(of: Memory, *at: tuple[datetime, str]) -> list[Event]:
    return [Event(kind=RETRIEVAL, at=seconds(t), session=s, memory=of.id) for t, s in at]


def begins(*times: datetime) -> list[Event]:
    return [Event(kind=SESSION, at=seconds(t), session=f"b{seconds(t)}") for t in times]


@pytest.mark.parametrize(
    ("fields", "on"),
    [
        ({"hot": HOT}, True),
        ({}, False),
        ({"hot": HOT, "status": "archived"}, False),
        ({"hot": Hot(since=T0, until=T0 + H)}, False),
        ({"hot": Hot(until=T0)}, False),
        ({"hot": Hot(reason="x")}, False),
    ],
)
def test_who_is_on_the_cache(fields: dict[str, Any], on: bool) -> None:
    assert (hot_of(memory(**fields)) is not None) is on


@pytest.mark.parametrize(
    ("flags", "exempt"),
    [({"critical": True}, True), ({"pinned": True}, True), ({"user_marked": True}, False)],
)
def test_who_is_exempt(flags: dict[str, Any], exempt: bool) -> None:
    assert is_exempt(memory(**flags)) is exempt


def test_sessions_count_since_the_last_use_or_the_coming_whichever_is_later() -> None:
    of, now = memory(hot=HOT), T0 + D
    starts = begins(T0 - H, T0, T0 + 2 * H, T0 + 4 * H)
    assert unused(of, fold(starts), now) == 2
    assert unused(of, fold([*starts, *reads(of, (T0 - 2 * H, "s"))]), now) == 2
    assert unused(of, fold([*starts, *reads(of, (T0 + 3 * H, "s"))]), now) == 1
    assert unused(of, fold(starts), T0 + 3 * H) == 1, "what begins later is not there yet"
    assert unused(memory(), fold(starts), now) == 0


@pytest.mark.parametrize(
    ("count", "name"), [(0, "recent"), (1, "stale"), (2, "stale"), (3, "cold")]
)
def test_heat_has_three_names(count: int, name: str) -> None:
    assert heat(count, RULES) == name


@pytest.mark.parametrize(
    ("hot", "sessions", "why"),
    [
        (None, "ab", ""),
        (None, "abc", "3 sessions"),
        (None, "abca", "3 sessions"),
        (None, "abcd", "4 sessions"),
        (None, "aa", "1 sessions"),
        (None, "a", ""),
        (None, "", ""),
        (Hot(since=T0 - D, until=T0 + 30 * S), "abc", ""),
        (Hot(since=T0 + 30 * S), "aab", ""),
        (Hot(since=T0 - D, until=T0), "aabc", "3 sessions"),
    ],
)
def test_why_a_memory_comes(hot: Hot | None, sessions: str, why: str) -> None:
    of = memory(hot=hot) if hot else memory()
    # The first retrieval is at T0, the others a minute apart.
    times = [(T0 + n * 60 * S, s) for n, s in enumerate(sessions)]
    accesses = fold(reads(of, *times))
    assert why_hot(of, accesses, T0 + H, RULES) == why


def test_a_critical_one_comes_by_itself_and_what_is_to_come_does_not_count() -> None:
    of = memory(critical=True)
    assert why_hot(of, Accesses(), T0, RULES) == "critical"
    later = fold(reads(memory(), (T0, "a"), (T0, "a"), (T0 + S, "b")))
    assert why_hot(memory(), later, T0 - S, RULES) == ""
    assert why_hot(memory(), later, T0, RULES) == "1 sessions"


@pytest.mark.parametrize(
    ("fields", "may"),
    [
        ({}, True),
        ({"status": "archived"}, False),
        ({"type": "note"}, False),
        ({"type": "chunk"}, False),
        ({"standing": "stale"}, False),
        ({"standing": "retire_candidate"}, False),
        ({"standing": "probable_duplicate"}, False),
        ({"standing": "contested"}, True),
        ({"valid_until": "2026-02-28"}, False),
        ({"valid_until": "2026-03-01"}, True),
        ({"decay": Decay(cls="session"), "created": T0 - 9 * D}, False),
    ],
)
def test_what_the_cache_may_show(fields: dict[str, Any], may: bool) -> None:
    assert may_be_hot(memory(**fields), Accesses(), T0, DECAY) is may


def test_why_it_is_over() -> None:
    until = memory(valid_until="2026-03-02")
    end = datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC)
    assert end_of("2026-03-02") == end
    assert end_of("2026-03-02T10:00:00Z") == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert why_over(until, Accesses(), end - S, DECAY) == ""
    assert why_over(until, Accesses(), end, DECAY) == "it was true until 2026-03-02"
    short = memory(decay=Decay(cls="session"))
    assert why_over(short, Accesses(), T0 + 9 * D, DECAY) == "its time is over"
    assert why_over(memory(), Accesses(), T0 + 9 * D, DECAY) == ""


def steps(
    *memories: Memory, events: list[Event] | None = None, **more: Any
) -> list[tuple[str, str]]:
    rules = HotRules(**{"budget": 3, "sessions": 3, "idle": 3, **more})
    page = compose_hot(memories, fold(events or []), T0 + D, rules, DECAY)
    assert [p.rule for p in page.problems] in ([], ["hot-over-budget"])
    found = [(s.op, s.memory_ids[0][-1]) for s in page.steps]
    return [*found, *(("problem", "") for _ in page.problems)]


def test_the_budget_is_full_and_no_more() -> None:
    many = [memory(n, hot=Hot(since=T0 + n * S, reason="x")) for n in range(1, 5)]
    assert steps(*many, budget=4) == []
    assert steps(*many, budget=3) == [("demote", "1")]
    assert steps(*many, budget=0) == [("demote", str(n)) for n in (1, 2, 3, 4)]


def test_exempt_ones_take_the_room_of_the_rest_and_are_never_cut() -> None:
    fixed = [memory(n, hot=HOT, pinned=True) for n in (1, 2)]
    loose = memory(3, hot=HOT)
    assert steps(*fixed, loose, budget=3) == []
    assert steps(*fixed, loose, budget=2) == [("demote", "3")]
    assert steps(*fixed, loose, budget=1) == [("demote", "3"), ("problem", "")]
    assert steps(*fixed, budget=2) == []


def test_idle_ones_go_whatever_the_room() -> None:
    of, pinned = memory(1, hot=HOT), memory(2, hot=HOT, pinned=True)
    starts = begins(*(T0 + n * H for n in (1, 2, 3)))
    assert steps(of, pinned, events=starts[:2]) == []
    assert steps(of, pinned, events=starts) == [("demote", "1")]
    found = compose_hot([of], fold(starts), T0 + D, RULES, DECAY)
    assert found.steps[0].reason.startswith("not retrieved for 3 sessions (")


def test_newcomers_stand_last_in_the_queue_to_go_and_come_only_where_there_is_room() -> None:
    new = memory(9)
    events = reads(new, (T0, "a"), (T0, "a"))
    old = [memory(n, hot=Hot(since=T0, reason="x")) for n in (1, 2, 3)]
    assert steps(*old[:2], new, events=events) == [("promote", "9")]
    assert steps(*old, new, events=events) == [("demote", "1"), ("promote", "9")]
    hidden = new.with_fields({"standing": "stale"})
    assert steps(hidden, events=events) == []


def test_who_was_not_used_longest_goes_first_and_is_told_why() -> None:
    used, unused_ = memory(1, hot=HOT), memory(2, hot=HOT)
    events = [*begins(T0 + H), *reads(used, (T0 + 2 * H, "s"))]
    rules = HotRules(budget=1, idle=3)
    (step,) = compose_hot([used, unused_], fold(events), T0 + D, rules, DECAY).steps
    assert step.memory_ids == (unused_.id,)
    assert step.reason == "stale, over the budget of 1 bullets (2026-03-02T09:00:00Z)"


def test_the_steps_say_what_changes_and_nothing_else() -> None:
    of = memory()
    up, down = promote(of, T0, "critical"), demote(of, T0 + H, "told to")
    assert (up.op, up.reason) == ("promote", "critical")
    assert up.changes[0].fields == {"hot": Hot(since=T0, reason="critical")}
    assert down.op == "demote"
    assert down.changes[0].fields == {"hot": Hot(until=T0 + H)}
