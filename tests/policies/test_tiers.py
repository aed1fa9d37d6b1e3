"""Tiers of notes: every transition at its second, both ways, owed moves and what is protected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from driving import CLASSIC
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.access import RETRIEVAL, Access, Event, fold, seconds
from memrepo.core.changes import Update
from memrepo.core.memory import Memory
from memrepo.policies.ageing import effective, move_of, why_clean
from memrepo.policies.upkeep import tier_steps

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
RULES = CLASSIC.tiers
H, D, S = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
BODY = "Talked about the oak table.\nWe decided to oil the oak table in May. It rained."


def note(**fields: Any) -> Memory:
    base = {"id": "mem-0000000000000001", "type": "note", "created": T0, "title": "Morning"}
    return Memory.of("memories/notes/n-000000.md", {**base, **fields}, body=BODY)


def read(*times: datetime) -> Access:
    return fold(Event(kind=RETRIEVAL, at=seconds(t), session="s", memory="m") for t in times).of(
        "m"
    )


def owed(of: Memory, now: datetime, *times: datetime) -> list[tuple[str, str, datetime]]:
    move = move_of(of, read(*times), now, RULES)
    return [(move.source, move.tier, move.since)] if move else []


def written(of: Memory, now: datetime, *times: datetime) -> Memory:
    """Apply what a run at `now` would write."""
    move = move_of(of, read(*times), now, RULES)
    for step in tier_steps([(of, move)] if move else [], now, RULES):
        for change in step.changes:
            assert isinstance(change, Update)
            of = of.with_fields(change.fields)
    return of


@pytest.mark.parametrize(
    ("stored", "since", "age", "expected"),
    [
        ("hot", None, 3 * H - S, ""),
        ("hot", None, 3 * H, "warm"),
        ("hot", None, 3 * H + S, "warm"),
        ("warm", 3 * H, 7 * D - S, ""),
        ("warm", 3 * H, 7 * D, "gist"),
        ("warm", 3 * H, 7 * D + S, "gist"),
        ("gist", 7 * D, 14 * D - S, ""),
        ("gist", 7 * D, 14 * D, ""),
        ("gist", 7 * D, 14 * D + S, "forgotten"),
        ("warm", 3 * H, 14 * D + S, "forgotten"),
        ("hot", None, 7 * D, "gist"),
        ("hot", None, 400 * D, "forgotten"),
        ("forgotten", 14 * D, 400 * D, ""),
    ],
)
def test_a_note_ages_at_its_second(
    stored: str, since: timedelta | None, age: timedelta, expected: str
) -> None:
    of = note(tier=stored, tier_since=T0 + since) if since is not None else note()
    ages = {"warm": 3 * H, "gist": 7 * D, "forgotten": 14 * D}
    due = [(stored, expected, T0 + ages[expected])] if expected else []
    assert owed(of, T0 + age) == due


@pytest.mark.parametrize(
    ("kept", "gone"), [(30 * D - S, False), (30 * D, False), (30 * D + S, True)]
)
def test_a_forgotten_note_leaves_the_tree_thirty_days_after_the_commit_that_showed_it(
    kept: timedelta, gone: bool
) -> None:
    shown = T0 + 300 * D
    of = note(tier="forgotten", tier_since=shown)
    assert bool(why_clean(of, shown + kept, RULES)) is gone


@pytest.mark.parametrize("age", [3 * H, 7 * D, 14 * D + S, 400 * D])
def test_a_pinned_note_owes_no_move(age: timedelta) -> None:
    assert owed(note(pinned=True), T0 + age) == []
    assert effective(note(pinned=True), read(), T0 + age, RULES) == "hot"
    warm = note(pinned=True, tier="warm", tier_since=T0 + 3 * H)
    assert owed(warm, T0 + age) == []


@given(
    st.lists(st.integers(0, 60 * 86_400), max_size=8),
    st.lists(st.integers(0, 90 * 86_400), min_size=1, max_size=6),
)
def test_runs_at_any_times_end_where_one_run_ends_and_a_second_proposes_nothing(
    retrievals: list[int], runs: list[int]
) -> None:
    times = [T0 + timedelta(seconds=s) for s in retrievals]
    of = note()
    for at in sorted(runs):
        now = T0 + timedelta(seconds=at)
        known = [t for t in times if t <= now]
        of = written(of, now, *known)
        assert move_of(of, read(*known), now, RULES) is None
    last = T0 + timedelta(seconds=max(runs))
    known = [t for t in times if t <= last]
    assert effective(note(), read(*known), last, RULES) == of.tier
