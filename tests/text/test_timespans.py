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
        ("was geschah vor drei Tagen", "2026-03-01"),
        ("was war vor zwei Wochen los", "2026-02-15"),
        ("in den letzten zwei Wochen", "2026-02-18"),
        ("am letzten Montag", "2026-03-02"),
        ("Was haben wir am Dienstag gemacht?", "2026-03-03"),
        ("seit Montag", "2026-03-02"),
        ("qu'a-t-on fait il y a trois jours", "2026-03-01"),
        ("les deux dernières semaines", "2026-02-18"),
        ("lundi dernier", "2026-03-02"),
        ("depuis mardi", "2026-03-03"),
        ("¿qué pasó hace dos semanas?", "2026-02-15"),
        ("el lunes pasado", "2026-03-02"),
        ("desde el martes", "2026-03-03"),
        ("cosa è successo tre giorni fa", "2026-03-01"),
        ("lunedì scorso", "2026-03-02"),
        ("o que aconteceu há três dias", "2026-03-01"),
        ("na segunda-feira passada", "2026-03-02"),
        ("wat gebeurde er drie dagen geleden", "2026-03-01"),
        ("afgelopen maandag", "2026-03-02"),
        ("vad hände för tre dagar sedan", "2026-03-01"),
        ("i måndags", "2026-03-02"),
        ("co było trzy dni temu", "2026-03-01"),
        ("w zeszły poniedziałek", "2026-03-02"),
        ("что было три дня назад", "2026-03-01"),
        ("в прошлый понедельник", "2026-03-02"),
        ("за последние две недели", "2026-02-18"),
        ("üç gün önce ne oldu", "2026-03-01"),
        ("geçen pazartesi", "2026-03-02"),
        ("kolme päivää sitten", "2026-03-01"),
        ("viime maanantaina", "2026-03-02"),
        ("三天前做了什么", "2026-03-01"),
        ("上周一", "2026-02-23"),
        ("3日前に何をした", "2026-03-01"),
        ("月曜日に何をした", "2026-03-02"),
        ("사흘 3일 전에 뭐 했지", "2026-03-01"),
        ("w zeszłym tygodniu", "2026-02-23"),
        ("Heute", "2026-03-04"),
    ],
)
def test_other_languages_name_days_too(text: str, first: str) -> None:
    assert first in [span.days[0] for span in timespans(text, WEDNESDAY)]


@pytest.mark.parametrize("text", ["What did Mars sell to Martin?", "How long is the natal chart?"])
def test_english_is_not_read_as_another_language(text: str) -> None:
    assert timespans(text, WEDNESDAY) == []
