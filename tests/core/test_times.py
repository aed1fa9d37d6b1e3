from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.times import (
    asked,
    extent,
    format_duration,
    format_time,
    parse_duration,
    parse_time,
)
from tests.strategies import times

NINE = datetime(2026, 1, 31, 9, 0, tzinfo=UTC)


@given(times)
def test_a_written_time_reads_the_same(moment: datetime) -> None:
    assert parse_time(format_time(moment)) == moment


@pytest.mark.parametrize(
    "text",
    [
        *("2026-01-31T09:00:00Z", "2026-01-31t09:00:00z", "2026-01-31 09:00"),
        *(" 2026-01-31T09:00Z ", "2026-01-31T10:00:00+01:00", "2026-01-31T10:00:00+0100"),
        *("2026-01-31T09:00:00.987Z",),
    ],
)
def test_every_spelling_of_a_moment_is_that_moment(text: str) -> None:
    assert parse_time(text) == NINE


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2026", "2026-02-30", "2026-13-01", "2026-01-31T25:00", "2026-01-31T09"),
        *("31.01.2026", "0000-01-01", "2026-01-31T09:00:00+99:00", "0001-01-01T00:00:00+23:59"),
        *("9999-12-31T23:59:59-23:59", "٢٠٢٦-01-31"),
    ],
)
def test_what_is_no_time_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [("4h", "4h"), ("90d", "90d"), ("2w", "14d"), ("24h", "1d"), ("90 min", "90min"), ("5s", "5s")],
)
def test_a_duration_is_spelled_in_its_largest_unit(text: str, spelled: str) -> None:
    length = parse_duration(text)
    assert format_duration(length) == spelled
    assert parse_duration(spelled) == length


@pytest.mark.parametrize("text", ["", "4", "0h", "-1d", "1.5h", "1y", "h", "1d 2h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


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


@given(st.dates(), st.sampled_from([MANILA, BERLIN, UTC_]))
def test_days_follow_each_other_without_gap_or_overlap(day: object, zone: ZoneInfo) -> None:
    start, after = extent(str(day), zone)
    assert start.tzinfo is after.tzinfo is UTC
    assert timedelta(0) < after - start <= timedelta(hours=26)
    assert start <= asked(str(day), zone) < after
