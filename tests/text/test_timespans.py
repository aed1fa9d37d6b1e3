"""Days that a question names."""

from datetime import date

import pytest

from memrepo.text.dates import timespans

WEDNESDAY = date(2026, 3, 4)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("letzte Woche", "2026-02-23", "2026-03-01"),
        ("на прошлой неделе", "2026-02-23", "2026-03-01"),
    ],
)
def test_spans_are_days(text: str, first: str, last: str) -> None:
    assert [span.days for span in timespans(text, WEDNESDAY)] == [(first, last)]


@pytest.mark.parametrize("text", ["between 31 May and 3 May 99999", "since 31 February", "may day"])
def test_no_text_breaks_the_calendar(text: str) -> None:
    for span in timespans(text, WEDNESDAY):
        assert span.days[0] <= span.days[1]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("am letzten Montag", "2026-03-02"),
        ("Was haben wir am Dienstag gemacht?", "2026-03-03"),
        ("seit Montag", "2026-03-02"),
        ("lundi dernier", "2026-03-02"),
        ("depuis mardi", "2026-03-03"),
        ("el lunes pasado", "2026-03-02"),
        ("desde el martes", "2026-03-03"),
        ("lunedì scorso", "2026-03-02"),
        ("na segunda-feira passada", "2026-03-02"),
        ("afgelopen maandag", "2026-03-02"),
        ("i måndags", "2026-03-02"),
        ("w zeszły poniedziałek", "2026-03-02"),
        ("в прошлый понедельник", "2026-03-02"),
        ("geçen pazartesi", "2026-03-02"),
        ("viime maanantaina", "2026-03-02"),
        ("上周一", "2026-02-23"),
        ("月曜日に何をした", "2026-03-02"),
        ("w zeszłym tygodniu", "2026-02-23"),
        ("Heute", "2026-03-04"),
    ],
)
def test_other_languages_name_days_too(text: str, first: str) -> None:
    assert first in [span.days[0] for span in timespans(text, WEDNESDAY)]


@pytest.mark.parametrize("text", ["What did Mars sell to Martin?", "How long is the natal chart?"])
def test_english_is_not_read_as_another_language(text: str) -> None:
    assert timespans(text, WEDNESDAY) == []
