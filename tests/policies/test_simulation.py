"""The simulation is the sequence of runs it stands for, whatever it leaves asleep."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from driving import LONG
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.core.access import RETRIEVAL, SESSION, Accesses, Event, fold, seconds
from memrepo.core.codec import encode
from memrepo.core.layout import Layout
from memrepo.core.memory import Decay, Hot, Link, Memory
from memrepo.core.state import State, read_state
from memrepo.policies.decay import class_of
from memrepo.policies.hotcache import hot_of
from memrepo.policies.rules import CLASSIC, HotRules, Rules
from memrepo.policies.simulation import DRAWS, Simulation, simulate
from memrepo.policies.upkeep import LEAST, upkeep

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
H, D = timedelta(hours=1), timedelta(days=1)


def memory(number: int, **fields: Any) -> Memory:
    base = {"id": f"mem-{number:06x}{0:010x}", "type": "fact", "created": T0, "subject": "Oak"}
    made = {k: v for k, v in {**base, **fields}.items() if v is not None}
    layer = "notes/2026-03/01" if made["type"] == "note" else "knowledge/2026-03"
    return Memory(
        path=f"memories/{layer}/m-{number:06x}.md", fields=made, body=f"Statement {number}."
    )


def state(*memories: Memory) -> State:
    return read_state({m.path: encode(m) for m in memories}, Layout())


def by_runs(
    start: State, before: list[Event], played: tuple[Event, ...], rules: Rules, days: int
) -> list[State]:
    """Do the same in full: every memory looked at and written, every event folded, each day."""
    states = [start]
    for day in range(1, days + 1):
        now = T0 + day * D
        known = [e for e in (*before, *played) if e in before or e.at <= seconds(now)]
        states.append(upkeep(states[-1], fold(known), now, rules).state)
    return states


kinds = st.fixed_dictionaries(
    {
        "type": st.sampled_from(("fact", "note", "decision", "note")),
        "created": st.integers(-2, 40).map(lambda n: T0 - n * D),
        "decay": st.sampled_from((None, *(Decay(cls=c) for c in ("short", "normal", "durable")))),
        "hot": st.sampled_from(
            (None, None, Hot(since=T0 - 5 * D, reason="x"), Hot(until=T0 - 9 * D))
        ),
        "confidence": st.sampled_from((None, None, 0.05, 0.1, 0.3)),
        "valid_until": st.sampled_from((None, None, "2026-03-09")),
        "pinned": st.sampled_from((None, None, True)),
        "critical": st.sampled_from((None, None, None, True)),
        "user_marked": st.sampled_from((None, None, True)),
        "link": st.sampled_from((None, None, 1, 2)),
    }
)


def made(number: int, link: int | None, **fields: Any) -> Memory:
    to = link if link and link != number else None
    links = (Link(type="related", target=memory(to).id),) if to else None
    return memory(number, links=links, **fields)


@settings(
    max_examples=120 if LONG else 10,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(
    st.lists(kinds, min_size=2, max_size=9),
    st.lists(st.tuples(st.integers(1, 9), st.integers(-60, 24 * 40), st.sampled_from("abc"))),
    st.integers(0, 60),
    st.integers(0, 3),
    st.sampled_from((Rules(), CLASSIC)),
    st.sampled_from((1, 2, LEAST)),
)
def test_it_agrees_with_runs_that_look_at_everything(
    fields: list[dict[str, Any]],
    found: list[tuple[int, int, str]],
    sessions: int,
    seed: int,
    profile: Rules,
    least: int,
) -> None:
    start = state(*(made(n, **f) for n, f in enumerate(fields, start=1)))
    before = [
        Event(kind=RETRIEVAL, at=seconds(T0 - hours * H), session=s, memory=memory(n).id)
        for n, hours, s in found
        if n <= len(fields)
    ]
    rules, days = replace(profile, hot=HotRules(budget=2, composed=False)), 40
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memrepo.policies.upkeep.LEAST", least)  # with one a day, most have to wait
        told = simulate(start, fold(before), T0, rules, days=days, sessions=sessions, seed=seed)
        states = by_runs(start, before, told.events, rules, days)
    agree(told, states)


def agree(told: Simulation, states: list[State]) -> None:
    assert dict(told.memories) == dict(states[-1].memories)
    for day, after in zip(told.days, states, strict=True):
        notes = [m for m in after.active if m.is_note]
        assert day.tiers == Counter(m.text("tier") or "hot" for m in notes)
        assert day.classes == Counter(class_of(m) for m in after.active if not m.is_note)
        assert day.archived == sum(m.status == "archived" for m in after.memories.values())
        assert day.hot == sum(hot_of(m) is not None for m in after.active)
        assert day.gone == len(states[0].memories) - len(after.memories)


@pytest.mark.parametrize("sessions", [4, 150, 400])
def test_it_agrees_where_many_have_to_wait_and_some_are_retrieved_meanwhile(
    sessions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrepo.policies.upkeep.LEAST", 3)
    types, rules = ("decision", "fact", "preference"), replace(CLASSIC, pace_pct=5.0)
    start = state(
        *(memory(n, created=T0 - (1 + n % 4 * 8) * D, type=types[n % 3]) for n in range(1, 91))
    )
    told = simulate(start, Accesses(), T0, rules, days=36, sessions=sessions, seed=2)
    states = by_runs(start, [], told.events, rules, 36)
    assert any(day.hot for day in told.days)
    agree(told, states)


def test_what_waits_for_the_pace_is_taken_up_the_next_day() -> None:
    start = state(*(memory(n, created=T0 - 40 * D) for n in range(1, 51)))
    found = simulate(start, Accesses(), T0, CLASSIC, days=3)
    assert [day.archived for day in found.days] == [0, 20, 40, 50]


@pytest.mark.parametrize("sessions", [0, 1, 7, 40])
def test_sessions_are_spread_over_the_days_and_draw_three_each(sessions: int) -> None:
    start = state(*(memory(n) for n in range(1, 31)))
    found = simulate(start, Accesses(), T0, CLASSIC, days=20, sessions=sessions)
    begun = [e for e in found.events if e.kind == SESSION]
    assert len(begun) == len({e.session for e in begun}) == sessions
    assert len(found.events) - sessions + found.lost == DRAWS * sessions
    assert all(seconds(T0) < e.at <= seconds(T0 + 20 * D) for e in begun)


def test_the_seed_alone_says_what_is_looked_for() -> None:
    start = state(*(memory(n) for n in range(1, 31)))
    one, again, other = (
        simulate(start, Accesses(), T0, CLASSIC, days=20, sessions=20, seed=seed)
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one.events != other.events


def test_what_is_looked_for_most_lives_longest() -> None:
    start = state(*(memory(n) for n in range(1, 101)))
    found = simulate(start, Accesses(), T0, CLASSIC, days=60, sessions=60)
    asked = Counter(e.memory for e in found.events if e.memory)
    active = {m.id for m in found.memories.values() if m.status == "active"}
    assert active
    assert asked.most_common(1)[0][0] in active
    assert active <= asked.keys()
