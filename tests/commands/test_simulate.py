"""Simulating writes nothing, and says what a sequence of real runs then does."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from driving import NOW, done, memories, memrepo, standing

from memrepo.core.times import format_time, parse_time


def test_it_writes_nothing_and_agrees_with_real_runs(small_repo: Path) -> None:
    before = standing(small_repo)
    told = done(small_repo, "simulate", "--days", "16", "--sessions", "0")
    assert standing(small_repo) == before
    assert len(told["days"]) == 17
    for day in range(1, 17):
        done(small_repo, "run", now=format_time(parse_time(NOW) + timedelta(days=day)))
        active = [m for m in memories(small_repo).values() if m.status == "active"]
        tiers = Counter(m.text("tier") or "hot" for m in active if m.is_note)
        assert told["days"][day]["tiers"] == tiers, day
    assert told["active"] == sorted(m.id for m in active)


def test_the_same_seed_gives_the_same_chart(small_repo: Path) -> None:
    argv = ("simulate", "--days", "20", "--seed", "7")
    one, again = (memrepo(small_repo, *argv, as_json=False) for _ in range(2))
    assert one == again
    assert "forgotten" in one.out
    assert memrepo(small_repo, "simulate", "--days", "0").exit == 2


@pytest.mark.parametrize(
    ("days", "axis"),
    [
        ("1", "01"),
        ("9", "0   4    9"),
        ("90", f"0{' ' * 20}45{' ' * 21}90"),
        ("365", f"0{' ' * 19}182{' ' * 20}365"),
    ],
)
def test_the_days_stand_below_the_curves(small_repo: Path, days: str, axis: str) -> None:
    said = memrepo(small_repo, "simulate", "--days", days, "--sessions", "0", as_json=False).out
    last = said.splitlines()[-1]
    assert last.split("day", 1)[1].strip() == axis
    assert last.endswith(axis)
