"""The fold of the ledger: exact in any order and grouping, bounded, and counted in UTC days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.access import (
    DAYS,
    RECENT,
    RETRIEVAL,
    SESSION,
    Event,
    fold,
    moment,
    seconds,
    united,
)

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


@given(events)
def test_an_account_survives_its_spelling(found: list[Event]) -> None:
    for value in (*found, fold(found)):
        assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


def test_only_the_newest_days_and_retrievals_are_kept_and_all_are_counted() -> None:
    found = [Event(kind=RETRIEVAL, at=n * 86_400, session="s", memory="m") for n in range(50)]
    account = fold(found).of("m")
    assert account.total == 50
    assert len(account.days) == DAYS
    assert len(account.recent) == RECENT
    assert account.last == moment(49 * 86_400)


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


@pytest.mark.parametrize(("shift", "count"), [(-1, 1), (0, 0), (1, 0)])
def test_retrievals_after_a_cutoff_exclude_the_moment_itself(shift: int, count: int) -> None:
    at = seconds(NOW)
    account = fold([Event(kind=RETRIEVAL, at=at, session="s", memory="m")]).of("m")
    assert len(account.since(NOW + timedelta(seconds=shift))) == count
    assert len(account.since(None)) == 1


def test_sessions_are_counted_once_each_and_only_those_that_began_after() -> None:
    starts = [(-10, "a"), (0, "b"), (5, "c"), (6, "c"), (20, "d"), (99, "later")]
    found = fold(Event(kind=SESSION, at=seconds(NOW) + at, session=s) for at, s in starts)
    assert found.sessions_since(NOW, NOW + timedelta(seconds=30)) == 2
