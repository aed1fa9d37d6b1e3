"""Simulating writes nothing, and says what a sequence of real runs then does."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

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
