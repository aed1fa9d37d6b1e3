"""Tiers of notes: every transition at its second, both ways, owed moves and what is protected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from driving import CLASSIC
from hypothesis import given
from hypothesis import strategies as st

from memrepo.config import parse_config
from memrepo.core.manifest import RETRIEVAL, Access, Accesses, Event, fold, seconds
from memrepo.core.memory import Memory, Source, Stamp
from memrepo.core.state import Update
from memrepo.policies.ageing import (
    effective,
    is_over,
    move_of,
    never_ends,
    prunable,
    retention_of,
)
from memrepo.policies.rules import DecayRules
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


# -- decay: every class at its second, soft decay by time, holds, protection -----------------------


DECAY_RULES = CLASSIC.decay


S, H, D = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


def memory(cls: str = "", body: str = "plain words", **fields: Any) -> Memory:
    base: dict[str, Any] = {"id": "mem-0000000000000001", "type": "fact", "created": T0}
    if cls:
        base["decay"] = cls
    return Memory.of("memories/knowledge/a-000000.md", {**base, **fields}, body=body)


@pytest.mark.parametrize(("shift", "expired"), [(-S, False), (0 * S, False), (S, True)])
def test_a_future_date_holds_decay_until_its_day_has_passed(
    shift: timedelta, expired: bool
) -> None:
    of = memory("short", body="The fair opens on 2026-04-10.")
    end = datetime(2026, 4, 11, tzinfo=UTC)
    kept = retention_of(of, read(), end + shift, DECAY_RULES)
    assert kept.expired is expired
    assert retention_of(of, read(), end - S, DECAY_RULES).confidence == 1.0


@pytest.mark.parametrize(
    "fields",
    [
        {"decay": "permanent", "confidence": 0.01},
        {"pinned": True},
        {"critical": True},
        {"user_marked": True},
        {"verified": (Stamp(by="human:a@example.org", at=T0 - 500 * D),)},
        {"status": "archived"},
        {"status": "superseded"},
        {"type": "note"},
        {"type": "chunk"},
    ],
)
def test_what_is_protected_is_never_pruned(fields: dict[str, Any]) -> None:
    of = memory("short").with_fields(fields)
    assert prunable([of], Accesses(), T0 + 999 * D, DECAY_RULES) == []


@pytest.mark.parametrize("rules", [CLASSIC.decay, parse_config('timezone = "UTC"').rules.decay])
@pytest.mark.parametrize("confidence", [1.0, 0.05])
@pytest.mark.parametrize("until", ["", "2026-04-01"])
@pytest.mark.parametrize("cls", ["", "permanent", "session", "unknown"])
def test_what_never_ends_is_over_at_no_time(
    rules: DecayRules, confidence: float, until: str, cls: str
) -> None:
    fields = {"type": "fact", "created": T0, "confidence": confidence, "valid_until": until}
    line = Source(resource="sources/MEMORY.md", lines=(1, 1), text_hash="th-0123456789abcdef")
    for sources in ((), (line,)):
        given_ = {**fields, "id": "mem-0000000000000001", "decay": cls, "sources": sources}
        memory = Memory.of("memories/knowledge/a-000000.md", given_, body="The oak is oiled.")
        over = [
            is_over(memory, retention_of(memory, Access(), T0 + age, rules))
            for age in (D, 400 * D, 40_000 * D)
        ]
        assert not (never_ends(memory, rules) and any(over))
        if sources and not (until or cls) and confidence == 1.0 and rules.evidence:
            assert never_ends(memory, rules)
