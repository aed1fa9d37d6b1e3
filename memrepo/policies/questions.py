"""What a question says: its terms, its words, and the days it means, relative ones by the clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache

import msgspec

from memrepo.core.patterns import regex
from memrepo.policies.cues import asks_several, wanted
from memrepo.policies.english import kinds
from memrepo.policies.terms import MONTHS, query_terms, stems, words

_YEAR = regex(r"\b(?:19|20)\d\d\b")
_DAY = regex(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_ISO = regex(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "couple of": 2,
    "few": 3,
}
_COUNT = rf"(?:a )?(\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_DAYS_AGO = {
    "today": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tonight": 0,
    "yesterday": 1,
    "last night": 1,
    "day before yesterday": 2,
}
_NAMED = regex(rf"\b({'|'.join(sorted(_DAYS_AGO, key=len, reverse=True))})\b")
_AGO = regex(rf"\b{_COUNT} (day|week|month|year)s? ago\b")
_PAST = regex(rf"\b(?:last|past|previous) {_COUNT} (day|week|month|year)s?\b")
_UNIT = regex(r"\b(this|last|past|previous) (week|weekend|month|year)\b")
_WEEKDAY = regex(rf"\b(this|last|on) ({'|'.join(_WEEKDAYS)})\b")
_HINTS = ("ago", "day", "last", "night", "past", "previous", "this")
"""Every phrase that counts from today holds one of these; else its patterns need no compiling."""
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}

_AWAY = 15
"""Days from which on a day in the same month is as good as none."""
Span = tuple[str, str]
"""First and last day, as YYYY-MM-DD."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a question says: its terms, its words as they stand, and the days it names.

    `spans` are days that stand fast: dates written out, and such as `last week` once it is known
    when the question was asked.
    """

    terms: tuple[str, ...]
    words: tuple[str, ...] = ()
    months: frozenset[int] = frozenset()
    years: frozenset[str] = frozenset()
    days: frozenset[int] = frozenset()
    spans: tuple[Span, ...] = ()
    latest: str = ""
    """The year of the month that a question without a year means, where today is known."""
    kinds: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Terms that are of the kind which a term of the question names: dog, cat of pet."""
    wanted: str = ""
    """Which kinds of answer it asks for (`cues`)."""
    several: bool = False
    """Whether it asks for several things, which may be of several days."""


def question_of(text: str, today: date | None = None) -> Question:
    """Return what a question says; `may` is a month only beside a day or a year, or after `in`."""
    found, terms = words(text), query_terms(text)
    bare = _ISO.sub(" ", text)
    years = frozenset(_YEAR.findall(bare))
    days = frozenset(int(n) for n in _DAY.findall(bare) if 1 <= int(n) <= 31)
    names = {name: number for number, name in enumerate(MONTHS, start=1)}
    names |= {name[:3]: number for name, number in names.items() if name != "may"}
    may = years or days or "in may" in " ".join(found)
    months = frozenset(names[w] for w in found if w in names and (w != "may" or may))
    return Question(
        terms=terms,
        words=tuple(found),
        months=months,
        years=years,
        days=days if months else frozenset(),
        spans=tuple(spans(text, today)),
        latest=_latest(months, today) if today and not years else "",
        kinds={t: _kinds()[t] for t in terms if t in _kinds()},
        wanted=wanted(found),
        several=asks_several(found),
    )


def nearness(question: Question, day: str) -> float:
    """Return how near a day is to those that a question names: 2 the very day, 0 where none is."""
    if not day or not (question.spans or question.months):
        return 0.0
    at = date.fromisoformat(day)
    return max(_to_spans(question.spans, at), _to_months(question, at))


def _to_spans(asked: Sequence[Span], at: date) -> float:
    if any(first <= at.isoformat() <= last for first, last in asked):
        return 2.0
    edges = (date.fromisoformat(edge) for span in asked for edge in span)
    return _share(min((abs((at - edge).days) for edge in edges), default=_AWAY))


def _to_months(question: Question, at: date) -> float:
    if at.month not in question.months:
        return 0.0
    if question.years and str(at.year) not in question.years:
        return 0.0
    if question.days:
        return 1 + _share(min(abs(at.day - asked) for asked in question.days))
    return 1.0 + (question.latest == f"{at.year:04}")


def _share(away: int) -> float:
    return max(0.0, 1 - away / _AWAY)


@lru_cache(maxsize=1)
def _kinds() -> Mapping[str, frozenset[str]]:
    """Return the terms of each kind by the term that names it."""
    return {stems([name])[0]: frozenset(stems(found)) for name, found in kinds()}


def spans(text: str, today: date | None) -> list[Span]:
    """Return the days that a text names: in full, or counted from today where that is known."""
    found = []
    for match in _ISO.finditer(text):
        try:
            day = date(*map(int, match.groups()))
        except ValueError:
            continue
        found.append((day, day))
    if today:
        found += _relative(" ".join(text.lower().split()), today)
    return sorted({(first.isoformat(), last.isoformat()) for first, last in found})


def _relative(text: str, today: date) -> Iterator[tuple[date, date]]:
    if not any(hint in text for hint in _HINTS):
        return
    try:
        for match in _NAMED.finditer(text):
            day = today - timedelta(days=_DAYS_AGO[match[1]])
            yield day, day
        for match in _AGO.finditer(text):
            yield _ago(_number(match[1]), match[2], today)
        for match in _PAST.finditer(text):
            yield today - timedelta(days=_number(match[1]) * _LENGTHS[match[2]]), today
        for match in _UNIT.finditer(text):
            yield _calendar(match[2], today, back=match[1] != "this")
        for match in _WEEKDAY.finditer(text):
            back = (today.weekday() - _WEEKDAYS.index(match[2])) % 7
            day = today - timedelta(days=back or (7 if match[1] == "last" else 0))
            yield day, day
    except (OverflowError, ValueError):
        return  # before the first year


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[word]


def _ago(count: int, unit: str, today: date) -> tuple[date, date]:
    """Return the day, or the days about it that a person who counts in the unit may mean."""
    match unit:
        case "day":
            day = today - timedelta(days=count)
            return day, day
        case "week":
            middle = today - timedelta(weeks=count)
            return middle - timedelta(days=3), middle + timedelta(days=3)
        case "month":
            return _month(today.year * 12 + today.month - 1 - count)
        case _:
            return date(today.year - count, 1, 1), date(today.year - count, 12, 31)


def _calendar(unit: str, today: date, *, back: bool) -> tuple[date, date]:
    monday = today - timedelta(days=today.weekday() + 7 * back)
    match unit:
        case "week":
            return monday, monday + timedelta(days=6)
        case "weekend":
            return monday + timedelta(days=5), monday + timedelta(days=6)
        case _:
            return _ago(int(back), unit, today)


def _month(number: int) -> tuple[date, date]:
    """Return the days of a month, counted from January of the year 0."""
    import calendar

    year, month = divmod(number, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, 1), date(year, month + 1, last)


def _latest(months: frozenset[int], today: date) -> str:
    """Return the year in which the month that is named was last, where it is but one."""
    if len(months) != 1:
        return ""
    (month,) = months
    return f"{today.year - (month > today.month):04}"
