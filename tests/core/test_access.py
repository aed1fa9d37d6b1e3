"""The fold of the ledger: exact in any order and grouping, bounded, and counted in UTC days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.manifest import RETRIEVAL, SESSION, Event, fold, seconds, united

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
events = st.lists(
    st.builds(
        Event,
        kind=st.sampled_from((RETRIEVAL, RETRIEVAL, RETRIEVAL, SESSION)),
        at=st.integers(0, 60 * 86_400),
        session=st.sampled_from(("a", "b", "c")),
        memory=st.sampled_from(("mem-1", "mem-2")),
    ),
    max_size=60,
)


@given(events, st.lists(st.integers(0, 3), max_size=60))
def test_parts_add_up_to_the_whole_however_they_are_grouped(
    found: list[Event], turns: list[int]
) -> None:
    groups: dict[int, list[Event]] = {}
    for number, event in enumerate(found):
        groups.setdefault(turns[number] if number < len(turns) else 0, []).append(event)
    parts = [fold(group) for group in groups.values()]
    whole = fold(found)
    assert united(parts) == whole
    assert united(reversed(parts)) == whole
    assert united([united(parts[:2]), united(parts[2:])]) == whole


@pytest.mark.parametrize(
    ("ago", "counted"),
    [
        (timedelta(0), 1),
        (timedelta(days=6, hours=9), 1),
        (timedelta(days=6, hours=9, seconds=1), 0),
        (timedelta(seconds=-86_400), 0),
    ],
)
def test_the_last_seven_days_are_today_and_the_six_before(ago: timedelta, counted: int) -> None:
    account = fold([Event(kind=RETRIEVAL, at=seconds(NOW - ago), session="s", memory="m")]).of("m")
    assert account.within(7, NOW) == counted


def test_sessions_are_counted_once_each_and_only_those_that_began_after() -> None:
    starts = [(-10, "a"), (0, "b"), (5, "c"), (6, "c"), (20, "d"), (99, "later")]
    found = fold(Event(kind=SESSION, at=seconds(NOW) + at, session=s) for at, s in starts)
    assert found.sessions_since(NOW, NOW + timedelta(seconds=30)) == 2
