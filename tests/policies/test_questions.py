"""The days that a question means: written out, or counted from the day on which it is asked."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.policies.ranking import question_of
from memrepo.text.dates import timespans

SUNDAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we do today?", "2026-03-01", "2026-03-01"),
        ("Yesterday, what broke?", "2026-02-28", "2026-02-28"),
        ("the day before yesterday", "2026-02-27", "2026-02-27"),
        ("what happened last night", "2026-02-28", "2026-02-28"),
        ("what was sold this week", "2026-02-23", "2026-03-01"),
        ("what was sold last week", "2026-02-16", "2026-02-22"),
        ("in the previous month", "2026-02-01", "2026-02-28"),
        ("last Friday", "2026-02-27", "2026-02-27"),
        ("last Sunday", "2026-02-22", "2026-02-22"),
        ("on Monday", "2026-02-23", "2026-02-23"),
        ("on 2026-01-15", "2026-01-15", "2026-01-15"),
    ],
)
def test_days_are_counted_from_the_day_of_the_question(text: str, first: str, last: str) -> None:
    assert [span.days for span in timespans(text, SUNDAY)] == [(first, last)]


@pytest.mark.parametrize(
    "text",
    ["the last door", "weekly", "agosto", "9999 years ago", "2026-02-30", ""],
)
def test_no_day_is_read_into_other_words(text: str) -> None:
    assert timespans(text, SUNDAY) == []


@given(st.text(max_size=40), st.dates())
def test_no_question_breaks_the_calendar(text: str, today: date) -> None:
    for first, last in question_of(f"{text} yesterday last month {text}", today).spans:
        assert date.fromisoformat(first) <= date.fromisoformat(last)


@pytest.mark.parametrize(
    "text",
    [
        "what changed last week",
        "what happened last week?",
        "was ist letzte Woche passiert",
        "что изменилось на прошлой неделе",
        "o que mudou na semana passada",
    ],
)
def test_what_asks_for_no_more_than_its_days_is_asked_by_them_alone(text: str) -> None:
    asked = question_of(text, SUNDAY)
    assert asked.spans
    assert {*asked.terms} <= asked.timed
