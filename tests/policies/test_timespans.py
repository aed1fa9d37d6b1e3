"""Days that a question names."""

from datetime import date

import pytest

from memrepo.policies.timespans import timespans

WEDNESDAY = date(2026, 3, 4)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on Monday this week", "2026-03-02", "2026-03-02"),
        ("on Thursday last week", "2026-02-26", "2026-02-26"),
        ("since Tuesday", "2026-03-03", "2026-03-04"),
        ("after 3 May 2025", "2025-05-04", "2026-03-04"),
        ("between 3 May and 9 May", "2025-05-03", "2025-05-09"),
        ("the last two weeks of August", "2025-08-18", "2025-08-31"),
        ("in early June 2024", "2024-06-01", "2024-06-11"),
        ("on Christmas Eve", "2025-12-24", "2025-12-24"),
        ("Christmas Eve 2023", "2023-12-24", "2023-12-24"),
        ("Good Friday", "2025-04-18", "2025-04-18"),
        ("Thanksgiving", "2025-11-27", "2025-11-27"),
        ("letzte Woche", "2026-02-23", "2026-03-01"),
        ("на прошлой неделе", "2026-02-23", "2026-03-01"),
    ],
)
def test_spans_and_feasts_are_days(text: str, first: str, last: str) -> None:
    assert [span.days for span in timespans(text, WEDNESDAY)] == [(first, last)]


@pytest.mark.parametrize("text", ["between 31 May and 3 May 99999", "since 31 February", "may day"])
def test_no_text_breaks_the_calendar(text: str) -> None:
    for span in timespans(text, WEDNESDAY):
        assert span.days[0] <= span.days[1]
