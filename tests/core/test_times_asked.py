"""What a date means: a whole day of the zone, of which the last second is asked about."""

from __future__ import annotations

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.times import asked, extent, format_time

MANILA, BERLIN, UTC_ = ZoneInfo("Asia/Manila"), ZoneInfo("Europe/Berlin"), ZoneInfo("UTC")


@pytest.mark.parametrize(
    ("text", "zone", "start", "after"),
    [
        ("2026-03-02", UTC_, "2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z"),
        ("2026-03-02", MANILA, "2026-03-01T16:00:00Z", "2026-03-02T16:00:00Z"),
        # A day of 23 hours and one of 25.
        ("2026-03-29", BERLIN, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("2026-10-25", BERLIN, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ("2026-03-02T09:00:00Z", MANILA, "2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z"),
        ("2026-03-02T09:00:00+02:00", MANILA, "2026-03-02T07:00:00Z", "2026-03-02T07:00:00Z"),
        ("2026-03-02T09:00", MANILA, "2026-03-02T01:00:00Z", "2026-03-02T01:00:00Z"),
        ("2026-03-02 09:00:30", MANILA, "2026-03-02T01:00:30Z", "2026-03-02T01:00:30Z"),
        # The edges of the calendar: people write the last day for `for ever`.
        ("9999-12-31", MANILA, "9999-12-30T16:00:00Z", "9999-12-31T23:59:59Z"),
        ("0001-01-01", BERLIN, "0001-01-01T00:00:00Z", "0001-01-01T23:06:32Z"),
    ],
)
def test_a_date_is_a_day_of_the_zone_and_a_time_is_itself(
    text: str, zone: ZoneInfo, start: str, after: str
) -> None:
    assert tuple(map(format_time, extent(text, zone))) == (start, after)


def test_who_asks_about_a_day_asks_about_its_last_second() -> None:
    assert format_time(asked("2026-03-02", MANILA)) == "2026-03-02T15:59:59Z"
    assert format_time(asked("2026-03-02T09:00:00Z", MANILA)) == "2026-03-02T09:00:00Z"


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-02-30", "2026-3-2", "2026-03", "HEAD~2", "2026-03-02T25:00:00Z"]
)
def test_what_is_no_date_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        extent(text, MANILA)


@given(st.dates(), st.sampled_from([MANILA, BERLIN, UTC_]))
def test_days_follow_each_other_without_gap_or_overlap(day: object, zone: ZoneInfo) -> None:
    start, after = extent(str(day), zone)
    assert start.tzinfo is after.tzinfo is UTC
    assert timedelta(0) < after - start <= timedelta(hours=26)
    assert start <= asked(str(day), zone) < after
