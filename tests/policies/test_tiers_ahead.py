"""Where a note is going if nobody asks for it, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.access import RETRIEVAL, Access, Event, fold, seconds
from memrepo.core.changes import Step
from memrepo.core.memory import Memory
from memrepo.policies.ageing import CONFIDENCE, TIERS, ahead, effective, moves, place_of
from memrepo.policies.rules import TierRules
from memrepo.policies.upkeep import tier_steps

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
H, D = timedelta(hours=1), timedelta(days=1)
RULES = TierRules(warm_after=2 * D, gist_after=4 * D, forgotten_after=8 * D, clean_after=3 * D)


def note(**fields: Any) -> Memory:
    base = {"id": "mem-0000000000000001", "type": "note", "created": T0, **fields}
    return Memory(path="memories/notes/n-000001.md", fields=base, body="One.")


def read(*times: datetime) -> Access:
    return fold(Event(kind=RETRIEVAL, at=seconds(t), session="s", memory="m") for t in times).of(
        "m"
    )


@pytest.mark.parametrize(
    ("now", "times", "expected"),
    [
        (T0 + D, (), ("warm", T0 + 2 * D)),
        (T0 + D, (T0 + H,), ("warm", T0 + H + 2 * D)),
        (T0 + D, (T0 + 5 * D,), ("warm", T0 + 2 * D)),
        (T0 + 2 * D, (), ("gist", T0 + 4 * D)),
        (T0 + 5 * D, (), ("forgotten", T0 + 8 * D)),
    ],
)
def test_the_next_tier_and_its_moment(
    now: datetime, times: tuple[datetime, ...], expected: tuple[str, datetime]
) -> None:
    assert ahead(note(), read(*times), now, RULES) == expected


def test_what_is_forgotten_leaves_the_tree_after_it_stood_there() -> None:
    shown = note(tier="forgotten", tier_since=T0 + 8 * D, tier_written=T0 + 9 * D)
    now = T0 + 10 * D
    assert ahead(shown, Access(), now, RULES) == ("", T0 + 12 * D)
    assert ahead(shown.with_fields({"user_marked": True}), Access(), now, RULES) is None
    assert ahead(shown.with_fields({"tier_written": None}), Access(), now, RULES) is None
    assert ahead(note(), Access(), now, RULES) is None, "no run has shown it yet"
    gist = note(tier="gist", tier_since=T0 + 4 * D, tier_written=T0 + 4 * D)
    assert ahead(gist, Access(), now, RULES) is None, "it is forgotten, and no run wrote so"


@pytest.mark.parametrize("fields", [{"pinned": True}, {"created": None}])
def test_what_stays_goes_nowhere(fields: dict[str, Any]) -> None:
    assert ahead(note(**fields), Access(), T0 + D, RULES) is None


def test_every_tier_says_how_sure_an_answer_is() -> None:
    assert set(CONFIDENCE) == set(TIERS)
    assert [RULES.after(tier) for tier in TIERS] == [0 * D, 2 * D, 4 * D, 8 * D]


@pytest.mark.parametrize(
    ("fields", "touched"),
    [
        ({}, T0),
        ({"tier": "warm", "tier_since": T0 + 3 * D}, T0 + D),
        ({"tier": "gist", "tier_since": T0 + 3 * D}, T0),
        ({"tier": "hot", "tier_since": T0 + 3 * D}, T0 + 3 * D),
    ],
)
def test_without_a_ledger_the_last_touch_is_read_from_the_last_move(
    fields: dict[str, Any], touched: datetime
) -> None:
    place = place_of(note(**fields), Access(), RULES)
    assert place is not None
    assert (place.tier, place.touched) == (fields.get("tier", "hot"), touched)


def test_a_warm_note_knows_the_retrieval_that_warmed_it_and_no_later_one() -> None:
    warm = note(tier="warm", tier_since=T0 + 9 * D)
    place = place_of(warm, read(T0 + 9 * D, T0 + 9 * D + H), RULES)
    assert place is not None
    assert place.touched == T0 + 9 * D
    assert effective(warm, read(T0 + 9 * D), T0 + 12 * D, RULES) == "warm"
    assert effective(warm, read(T0 + 9 * D), T0 + 13 * D, RULES) == "gist"


def owed(of: Memory, access: Access, now: datetime) -> tuple[Step, ...]:
    return tier_steps([(of, moves(of, access, now, RULES))], now, RULES)


def test_a_move_is_told_by_what_it_counts_from() -> None:
    (aged,) = owed(note(), Access(), T0 + 2 * D)
    assert aged.reason.startswith("created 2026-03-01T09:00:00Z, 2d old when checked at 2026-03-03")
    (later,) = owed(note(), read(T0 + D), T0 + 3 * D)
    assert later.reason.startswith("last retrieved 2026-03-02T09:00:00Z, 2d old")
    assert dict(later.changes[0].fields) == {
        "tier": "warm",
        "tier_since": T0 + 3 * D,
        "tier_written": T0 + 3 * D,
    }
    back = owed(note(tier="gist", tier_since=T0 + 4 * D), read(T0 + 5 * D), T0 + 5 * D)
    assert [dict(s.changes[0].fields)["tier"] for s in back] == [None]


def test_moves_of_many_notes_share_a_commit_for_each_cause_and_turn() -> None:
    old, new = (note(id=f"mem-000000000000000{n}", created=T0 + n * D) for n in (1, 3))
    back = note(id="mem-0000000000000005", tier="gist", tier_since=T0 + 4 * D)
    now = T0 + 6 * D
    every = ((old, Access()), (new, Access()), (back, read(now)))
    made = tier_steps([(n, moves(n, a, now, RULES)) for n, a in every], now, RULES)
    assert [(s.op, s.memory_ids) for s in made] == [
        ("tier", (back.id,)),
        ("tier", (old.id, new.id)),
        ("tier", (old.id,)),
    ]
    assert made[1].reason == (
        "warm after 2d, gist after 4d, forgotten after 8d, since it was created or retrieved last"
    )
