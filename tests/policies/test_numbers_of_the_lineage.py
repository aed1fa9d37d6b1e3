"""The numbers that the lineage fixed: a default that moves is a change of behaviour."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memrepo.policies.rules import CLASSIC, CRONS, GAP, HotRules, Rules

RULES = Rules()
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("tier", "age"),
    [
        ("hot", timedelta(0)),
        ("warm", 3 * HOUR),
        ("gist", 7 * DAY),
        ("forgotten", 14 * DAY),
    ],
)
def test_a_note_enters_its_tier_at_the_age_of_the_lineage(tier: str, age: timedelta) -> None:
    assert RULES.tiers.after(tier) == CLASSIC.tiers.after(tier) == age


def test_only_the_classic_rules_clean_and_put_last_what_is_forgotten() -> None:
    assert (RULES.tiers.clean_after, RULES.tiers.last) == (None, False)
    assert (CLASSIC.tiers.clean_after, CLASSIC.tiers.last) == (30 * DAY, True)


def test_what_is_meant_to_last_leaves_by_age_under_the_classic_rules_only() -> None:
    assert set(RULES.decay.lasting) == {"durable", "normal", "stable"}
    assert RULES.decay.evidence
    assert not CLASSIC.decay.lasting
    assert not CLASSIC.decay.evidence
    assert set(RULES.decay.refreshed) == {"durable", "normal", "stable", "active"}


def test_the_hot_page_has_thirty_bullets_and_its_old_limits() -> None:
    hot = HotRules()
    assert (hot.budget, hot.sessions, hot.idle, hot.path) == (30, 3, 3, "MEMORY.md")
    assert (hot.max_lines, hot.max_bytes) == (200, 24_576)


def test_rest_comes_after_a_month_under_the_classic_rules_only() -> None:
    assert (RULES.archive.after, RULES.archive.demoted_after) == (None, None)
    assert (CLASSIC.archive.after, CLASSIC.archive.demoted_after) == (30 * DAY, 60 * DAY)
    assert RULES.archive.review_after == CLASSIC.archive.review_after == 180 * DAY
    assert RULES.pace_pct == CLASSIC.pace_pct == 5


def test_runs_are_due_as_the_purifier_had_them() -> None:
    assert CRONS == {
        "incremental": {
            "personal": ("15 5 * * 1,2,4,5,6", "15 17 * * *"),
            "business": ("15 13 * * 1,2,4,5,6",),
        },
        "reconciliation": {"personal": ("15 5 * * 3,0",), "business": ("15 13 * * 3,0",)},
    }
    assert timedelta(minutes=30) == GAP
