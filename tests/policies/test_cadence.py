"""When runs are due: cron in a zone, the slots of reconciliation, summer time, what was missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.config import parse_config
from memrepo.core.judge import Profile
from memrepo.policies.rules import Schedule, cron_problem
from memrepo.policies.upkeep import fires, missed, upcoming

MANILA = ZoneInfo("Asia/Manila")
CADENCES = {
    "personal": Schedule(),
    "business": parse_config('profile = "business"').schedule,
}


def at(text: str, zone: ZoneInfo = MANILA) -> datetime:
    """Read a local time of a zone as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


# 2026-03-01 is a Sunday.
@pytest.mark.parametrize(
    ("profile", "due_in_one_week"),
    [
        (
            "personal",
            [
                "Sun 05:15 reconciliation",
                "Sun 17:15 incremental-2",
                "Mon 05:15 incremental-1",
                "Mon 17:15 incremental-2",
                "Tue 05:15 incremental-1",
                "Tue 17:15 incremental-2",
                "Wed 05:15 reconciliation",
                "Wed 17:15 incremental-2",
                "Thu 05:15 incremental-1",
                "Thu 17:15 incremental-2",
                "Fri 05:15 incremental-1",
                "Fri 17:15 incremental-2",
                "Sat 05:15 incremental-1",
                "Sat 17:15 incremental-2",
            ],
        ),
        (
            "business",
            [
                "Sun 13:15 reconciliation",
                "Mon 13:15 incremental",
                "Tue 13:15 incremental",
                "Wed 13:15 reconciliation",
                "Thu 13:15 incremental",
                "Fri 13:15 incremental",
                "Sat 13:15 incremental",
            ],
        ),
    ],
)
def test_a_week_of_each_profile(profile: Profile, due_in_one_week: list[str]) -> None:
    start = at("2026-03-01T00:00")
    found = islice(upcoming(start, CADENCES[profile], MANILA), len(due_in_one_week))
    assert [f"{fire.when:%a %H:%M} {fire.name}" for fire in found] == due_in_one_week
    assert missed(start, start + timedelta(days=7), CADENCES[profile], MANILA) == len(
        due_in_one_week
    )


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ("15 5 * * 1,2,4,5,6", ""),
        ("*/20 9-17/2 1,15 JAN,jul mon#2", ""),
        ("0 0 L * *", ""),
        ("0 0 31 2 1", ""),
        ("61 * * * *", "wrong minute"),
        ("* 24 * * *", "wrong hour"),
        ("* * * *", "expected five fields"),
        ("0 0 12 * * *", "expected five fields"),
        ("@daily", "expected five fields"),
        ("0 0 30 2 *", "wrong day-of-month"),
        ("* * */20 * 1L", "no date matches"),
        ("5-1 * * * *", "wrong minute"),
        ("15 5 * *\n1", "one line"),
        ("", "expected five fields"),
        ("0 0 * * 5L/2", "wrong"),
        (f"{'9' * 5000} * * * *", "wrong"),
    ],
)
def test_an_expression_is_understood_or_named(cron: str, said: str) -> None:
    assert said in cron_problem(cron)
    assert bool(cron_problem(cron)) is bool(said)


@given(
    parts=st.lists(
        st.text("0123456789*/-,L#WMONJA ", min_size=1, max_size=6), min_size=5, max_size=5
    )
)
def test_any_text_is_understood_or_named(parts: list[str]) -> None:
    cron = " ".join(parts)
    if cron_problem(cron) == "":
        assert next(fires(cron, MANILA, at("2026-03-01T00:00")))
