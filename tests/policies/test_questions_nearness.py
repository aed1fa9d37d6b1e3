"""How near a day is to what a question names: spans, months, years and days at their edges."""

from __future__ import annotations

from datetime import date

import pytest

from memrepo.policies.questions import Question, nearness, question_of

TODAY = date(2026, 3, 18)  # a Wednesday


def near(text: str, day: str, today: date | None = None) -> float:
    return nearness(question_of(text, today), day)


@pytest.mark.parametrize(
    ("text", "day", "wanted"),
    [
        ("on 2026-03-05", "2026-03-05", 2.0),
        ("on 2026-03-05", "2026-03-06", 1 - 1 / 15),
        ("on 2026-03-05", "2026-02-26", 1 - 7 / 15),
        ("on 2026-03-05", "2026-03-20", 0.0),
        ("on 2026-03-05", "", 0.0),
        ("the gate", "2026-03-05", 0.0),
        ("in March", "2026-03-05", 1.0),
        ("in mar", "2026-03-05", 1.0),
        ("in March", "2026-04-05", 0.0),
        ("in March 2026", "2026-03-05", 1.0),
        ("in March 2026", "2025-03-05", 0.0),
        ("on March 5", "2026-03-05", 2.0),
        ("on March 5", "2026-03-08", 2 - 3 / 15),
        ("on March 5 or 9", "2026-03-08", 2 - 1 / 15),
        ("on 31 Dec 2025", "2025-12-31", 2.0),
        ("on 31 Dec 2025", "2026-01-01", 2 - 1 / 15),
        ("on Dec 31st, 2025", "2025-12-30", 2 - 1 / 15),
        ("am 5. M\u00e4rz 2026", "2026-03-05", 2.0),
        ("on 05.03.2026", "2026-03-06", 2 - 1 / 15),
        ("on 31.02.2026", "2026-03-01", 0.0),
        ("in May 2026", "2026-05-05", 1.0),
        ("we may go", "2026-05-05", 0.0),
        ("sep", "2026-09-05", 1.0),
    ],
)
def test_how_near_a_day_is(text: str, day: str, wanted: float) -> None:
    assert near(text, day) == pytest.approx(wanted)


def test_a_month_without_a_year_means_the_latest_one_most() -> None:
    assert near("in February", "2026-02-05", TODAY) == 2.0
    assert near("in February", "2025-02-05", TODAY) == 1.0
    assert near("in April", "2025-04-05", TODAY) == 2.0
    assert near("in March", "2026-03-05", TODAY) == 2.0


def test_a_question_that_has_both_is_as_near_as_the_nearer() -> None:
    question = Question(terms=(), months=frozenset({3}), spans=(("2026-05-01", "2026-05-02"),))
    assert nearness(question, "2026-03-09") == 1.0
    assert nearness(question, "2026-05-02") == 2.0


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what was today", "2026-03-18", "2026-03-18"),
        ("the day before yesterday", "2026-03-16", "2026-03-16"),
        ("3 days ago", "2026-03-15", "2026-03-15"),
        ("a week ago", "2026-03-08", "2026-03-14"),
        ("two months ago", "2026-01-01", "2026-01-31"),
        ("three months ago", "2025-12-01", "2025-12-31"),
        ("a year ago", "2025-01-01", "2025-12-31"),
        ("in the last 2 weeks", "2026-03-04", "2026-03-18"),
        ("the past three months", "2025-12-18", "2026-03-18"),
        ("this week", "2026-03-16", "2026-03-22"),
        ("last week", "2026-03-09", "2026-03-15"),
        ("this weekend", "2026-03-21", "2026-03-22"),
        ("last month", "2026-02-01", "2026-02-28"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("on monday", "2026-03-16", "2026-03-16"),
        ("on wednesday", "2026-03-18", "2026-03-18"),
        ("last wednesday", "2026-03-11", "2026-03-11"),
        ("last thursday", "2026-03-12", "2026-03-12"),
    ],
)
def test_days_counted_from_today(text: str, first: str, last: str) -> None:
    assert (first, last) in question_of(text, TODAY).spans
    assert question_of(text).spans == ()


def test_the_numbers_of_a_question_are_days_only_beside_a_month() -> None:
    assert question_of("on March 5 and 31 and 32").days == {5, 31}
    assert question_of("gate 5").days == frozenset()
    assert question_of("in March 2026").years == {"2026"}
