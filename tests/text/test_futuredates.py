"""Which future moment a text names: each form at its edges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memrepo.text.dates import CAP, future_date

SAID = datetime(2026, 3, 4, 9, tzinfo=UTC)  # a Wednesday
D = timedelta(days=1)


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("due 2026-03-05", day(2026, 3, 5)),
        ("due 2026-03-04", None),
        ("build 12026-03-05", None),
        ("due 2026-13-05 or 2026-02-30", None),
        ("on March 5th", day(2026, 3, 5)),
        ("on mar 5, 2026", day(2026, 3, 5)),
        ("on March 3", day(2027, 3, 3)),
        ("on 5th of April 2026", day(2026, 4, 5)),
        ("on 5 APR", day(2026, 4, 5)),
        ("on January 7, 2026", None),
        ("on December 31", day(2026, 12, 31)),
        ("tomorrow", SAID + D),
        ("in 3 days", SAID + 3 * D),
        ("in 2 weeks", SAID + 14 * D),
        ("in 1 month", SAID + 30 * D),
        ("in 0 days", None),
        ("next week", SAID + 7 * D),
        ("next month", SAID + 30 * D),
        ("next year", SAID + 365 * D),
        ("next wednesday", SAID + 7 * D),
        ("next Thu", SAID + 8 * D),
        ("next tuesday", SAID + 13 * D),
        ("2026-03-10, or next week, or tomorrow", SAID + 7 * D),
        ("every monday, next one 2026-03-10", None),
        ("weekly, tomorrow", None),
        ("no date here", None),
        ("some day", None),
    ],
)
def test_which_moment_a_text_names(text: str, expected: datetime | None) -> None:
    assert future_date(text, SAID) == expected


def test_a_day_that_this_year_has_not_is_looked_for_in_the_next() -> None:
    said = datetime(2027, 3, 1, tzinfo=UTC)
    assert future_date("on February 29", said) == day(2028, 2, 29)
    assert future_date("on February 30", said) is None


def test_a_year_is_as_far_as_it_looks_unless_told_otherwise() -> None:
    assert future_date("2030-01-01", SAID) == SAID + CAP
    assert future_date("2030-01-01", SAID, 2 * D) == SAID + 2 * D
    assert future_date("2030-01-01", SAID, timedelta(0)) == day(2030, 1, 1)
    assert future_date("tomorrow", SAID, 2 * D) == SAID + D
