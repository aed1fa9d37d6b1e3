"""The days that a question names: in full, counted from the day it is asked on, or by a feast.

`last week`, `since Tuesday`, `on Monday this week`, `the last two weeks of August`, `between 3 May
and 9 May`, `on Christmas Eve`. A day without a year is the latest such day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS, month_names
from memrepo.text.languages import ENGLISH, bare, language_asked

Span = tuple[str, str]
"""First and last day, as YYYY-MM-DD."""
ISO = regex(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_WRITTEN = regex(
    r"\b(\d{1,2})(?:st|nd|rd|th)?\.?(?: of| de)? ([^\W\d_]{3,10}),?(?: de)? (\d{4})\b"
    r"|\b([^\W\d_]{3,10}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b"
    r"|\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b"
)
"""A date in full: `5 January 2024`, `Jan 5th, 2024`, `05.01.2024`."""
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
_PAST = regex(rf"\b(?:last|past|previous) {_COUNT} (day|week|month|year)s?\b(?! of\b)")
_WORD = regex(r"[^\W\d_]+")
_DAYNAME = "|".join(_WEEKDAYS)
_WEEKDAY_OF = regex(rf"\b(?:on )?({_DAYNAME}) (?:of )?(this|last) week\b")
_UNIT = regex(r"\b(this|last|past|previous) (week|weekend|month|year)\b")
_WEEKDAY = regex(rf"\b(this|last|on) ({_DAYNAME})\b(?! (?:of )?(?:this|last) week)")
_MONTH = "|".join([*MONTHS, *(m[:3] for m in MONTHS if m != "may"), "sept"])
_DATE = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH})(?:,? \d{{4}})?"
    rf"|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b|(?:{_MONTH})(?: \d{{4}})?"
    rf"|(?:last )?(?:{_DAYNAME})|yesterday|today|(?:19|20)\d\d)"
)
_BETWEEN = regex(rf"\b(?:between|from) (?:the )?({_DATE}) (?:and|to|till|until) (?:the )?({_DATE})")
_SINCE = regex(rf"\b(since|after) ({_DATE})")
_PART = regex(
    rf"\b(?:in |during |at )?(?:the )?(early|beginning of|start of|mid|middle of|late|end of"
    rf"|(?:first|last) (?:(?:couple of|few|two|three) )?(?:week|day)s?(?: of| in)|first half of"
    rf"|second half of)[ -](?:the )?(?:month of )?({_MONTH})(?: (\d{{4}}))?\b"
)
_FEASTS: Mapping[str, tuple[int, int]] = {
    "christmas eve": (12, 24),
    "heiligabend": (12, 24),
    "heiliger abend": (12, 24),
    "nochebuena": (12, 24),
    "reveillon de noel": (12, 24),
    "vigilia di natale": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "weihnachten": (12, 25),
    "noel": (12, 25),
    "navidad": (12, 25),
    "natale": (12, 25),
    "boxing day": (12, 26),
    "new year s eve": (12, 31),
    "new years eve": (12, 31),
    "silvester": (12, 31),
    "nochevieja": (12, 31),
    "new year s day": (1, 1),
    "new years day": (1, 1),
    "neujahr": (1, 1),
    "epiphany": (1, 6),
    "valentine s day": (2, 14),
    "valentines day": (2, 14),
    "valentinstag": (2, 14),
    "st patrick s day": (3, 17),
    "april fools day": (4, 1),
    "april fools": (4, 1),
    "may day": (5, 1),
    "fourth of july": (7, 4),
    "4th of july": (7, 4),
    "independence day": (7, 4),
    "halloween": (10, 31),
    "all saints day": (11, 1),
    "saint nicholas day": (12, 6),
    "nikolaus": (12, 6),
}
_MOVING: Mapping[str, int] = {
    "shrove tuesday": -47,
    "ash wednesday": -46,
    "palm sunday": -7,
    "good friday": -2,
    "karfreitag": -2,
    "easter sunday": 0,
    "easter monday": 1,
    "easter": 0,
    "ostern": 0,
    "pascua": 0,
    "pasqua": 0,
    "paques": 0,
    "whitsun": 49,
    "pentecost": 49,
    "pfingsten": 49,
}
"""Feasts by their days after Easter Sunday."""
_FEAST_NAMES = sorted([*_FEASTS, *_MOVING, "thanksgiving"], key=len, reverse=True)
_FEAST = regex(rf"\b({'|'.join(_FEAST_NAMES)})\b")
_SAID = {
    "last week": "letzte woche|letzter woche|vorige woche|la semaine derniere|semaine derniere"
    "|la semana pasada|semana pasada|la settimana scorsa|settimana scorsa|semana passada"
    "|vorige week|afgelopen week|forra veckan|forrige uke|sidste uge|w zeszlym tygodniu"
    "|на прошлои неделе|gecen hafta|viime viikolla|上周|上个星期|先週|지난주",
    "this week": "diese woche|dieser woche|cette semaine|esta semana|questa settimana|deze week"
    "|den har veckan|denne uke|denne uge|w tym tygodniu|на этои неделе|bu hafta|talla viikolla"
    "|这周|本周|今週|이번 주",
    "last month": "letzten monat|letztem monat|le mois dernier|mois dernier|el mes pasado"
    "|il mese scorso|mese scorso|mes passado|vorige maand|forra manaden|w zeszlym miesiacu"
    "|в прошлом месяце|gecen ay|viime kuussa|上个月|先月|지난달",
    "yesterday": "gestern|hier soir|ayer|ieri|ontem|gisteren|i gar|igar|wczoraj|вчера|dun|eilen"
    "|昨天|昨日|어제",
    "today": "heute|aujourd hui|hoy|oggi|hoje|vandaag|idag|i dag|dzisiaj|сегодня|bugun|tanaan"
    "|今天|今日|오늘",
}
"""What other languages say for it, without accents."""
_HINTS = ("ago", "day", "last", "night", "past", "previous", "this", "since", "after")
_HINTS_OF_MONTHS = ("between", "from", "early", "late", "mid", "end of", "start of", "beginning of")
"""Every phrase that counts from today holds one of these; else its patterns need no compiling."""
_HINTED = regex(r"\b(?:ago|last|night|past|previous|this|since|after)\b|days?\b")
"""Words that only English has for it."""
_FOREIGN = (
    *("letzt", "vergangen", "vorig", "dernier", "pasad", "passad", "scors", "afgelopen", "laatste"),
    *("forr", "sist", "sidst", "viime", "gecen", "zeszl", "ostatni", "ultim", "senast"),
    *("ende ", "anfang", "mitte", "fin ", "fine ", "debut", "inicio", "temu", "sedan", "siden"),
    *("geleden", "sitten", "atras", "kerst", "jul", "paske", "pasen", "natal", "wigili"),
)
"""What such phrases hold in texts without accents or small words."""
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}
_Days = tuple[date, date]


class Timespan(NamedTuple):
    """Days that a text names, first and last, and the words that say no more than that."""

    days: Span
    told: str = ""
    """In English."""
    said: frozenset[str] = frozenset()
    """In another language: those of the text's words, without accents, that were put in English."""


def timespans(text: str, today: date | None) -> list[Timespan]:
    """Return the days that a text names: in full, or counted from today where that is known."""
    found = []
    for match in ISO.finditer(text):
        try:
            day = date(*map(int, match.groups()))
        except ValueError:
            continue
        found.append(((day, day), ""))
    said: frozenset[str] = frozenset()
    if today:
        plain = _plain(text)
        found += _relative(plain, today)
        if found:
            said = frozenset(_WORD.findall(bare(text.lower()))) - set(_WORD.findall(plain))
    return [Timespan((a.isoformat(), b.isoformat()), told, said) for (a, b), told in found]


def written_days(text: str) -> Iterator[date]:
    """Yield the days that a text writes out with their year."""
    if not any(map(str.isdecimal, text)):
        return
    names = month_names()
    for match in _WRITTEN.finditer(bare(text.lower())):
        one, other, dotted = match.groups()[:3], match.groups()[3:6], match.groups()[6:]
        day, month, year = one if one[0] else (other[1], other[0], other[2])
        if dotted[0]:
            day, month, year = dotted
        number = int(month) if month.isdecimal() else names.get(month, 0)
        with suppress(ValueError):
            yield date(int(year), number, int(day))


def _plain(text: str) -> str:
    """Return a text in small letters, with what other languages say for `last week` in English."""
    plain = " ".join(re.sub(r"['\u2019]", " ", text).lower().split())
    if text.isascii() and _HINTED.search(plain):
        return plain
    if not text.isascii() or _is_foreign(plain):
        from memrepo.text.timewords import in_english

        plain = bare(in_english(plain, month_names()))
    for english, told in _SAID.items():
        if any(phrase in plain for phrase in told.split("|")):  # else it needs no compiling
            plain = _said(told).sub(english, plain)
    return plain


def _is_foreign(plain: str) -> bool:
    """Tell whether a text may name days in another language than English."""
    foreign = any(hint in plain for hint in _FOREIGN)
    return foreign or language_asked(plain.split(), plain) != ENGLISH


@cache
def _said(told: str) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{t}\b" if t[0] < "\u3000" else t for t in told.split("|")))


def _relative(text: str, today: date) -> Iterator[tuple[_Days, str]]:
    try:
        feasts = any(feast in text for feast in _FEAST_NAMES)  # else it needs no compiling
        for match in _FEAST.finditer(text) if feasts else ():
            yield _feast(match[1], text, today), ""
        if not any(hint in text for hint in (*_HINTS, *_HINTS_OF_MONTHS)):
            return
        for match in _PART.finditer(text):
            yield _part(match[1], match[2], match[3], today), match[0]
        for match in _BETWEEN.finditer(text):
            first, last = _dated(match[1], today), _dated(match[2], today)
            if first and last and first[0] <= last[1]:
                yield (first[0], last[1]), match[0]
        for match in _SINCE.finditer(text):
            if days := _dated(match[2], today):
                yield _open(match[1], days, today), match[0]
        if any(hint in text for hint in _HINTS):
            yield from _counted(text, today)
    except (OverflowError, ValueError):
        return  # before the first year, or no day of the calendar


def _counted(text: str, today: date) -> Iterator[tuple[_Days, str]]:
    for match in _NAMED.finditer(text):
        day = today - timedelta(days=_DAYS_AGO[match[1]])
        yield (day, day), match[0]
    for match in _AGO.finditer(text):
        yield _ago(_number(match[1]), match[2], today), match[0]
    for match in _PAST.finditer(text):
        first = today - timedelta(days=_number(match[1]) * _LENGTHS[match[2]])
        yield (first, today), match[0]
    for match in _WEEKDAY_OF.finditer(text):
        monday = _calendar("week", today, back=match[2] == "last")[0]
        day = monday + timedelta(days=_WEEKDAYS.index(match[1]))
        yield (day, day), match[0]
    text = _WEEKDAY_OF.sub(" ", text)
    for match in _UNIT.finditer(text):
        yield _calendar(match[2], today, back=match[1] != "this"), match[0]
    for match in _WEEKDAY.finditer(text):
        day = _last(match[2], today, before=match[1] == "last")
        yield (day, day), match[0]


def _last(weekday: str, today: date, *, before: bool) -> date:
    back = (today.weekday() - _WEEKDAYS.index(weekday)) % 7
    return today - timedelta(days=back or 7 * before)


def _dated(told: str, today: date) -> _Days | None:
    """Return the days of a date as people write it; without a year the latest such."""
    if match := ISO.fullmatch(told):
        day = date(*map(int, match.groups()))
        return day, day
    if told in _DAYS_AGO:
        day = today - timedelta(days=_DAYS_AGO[told])
        return day, day
    if told.removeprefix("last ") in _WEEKDAYS:
        day = _last(told.removeprefix("last "), today, before=True)
        return day, day
    found = re.findall(r"[a-z]+|\d+", told)
    names = month_names()
    month = next((names[w] for w in found if w in names), 0)
    numbers = [int(w) for w in found if w.isdecimal()]
    year = next((n for n in numbers if n > 99), 0)
    if not month:
        return (date(year, 1, 1), date(year, 12, 31)) if year else None
    day_number = next((n for n in numbers if n <= 31), 0)
    year = year or _latest_year(month, day_number or 1, today)
    if day_number:
        day = date(year, month, day_number)
        return day, day
    return _month(year * 12 + month - 1)


def _latest_year(month: int, day: int, today: date) -> int:
    return today.year - ((month, day) > (today.month, today.day))


def _open(word: str, days: _Days, today: date) -> _Days:
    """Return the days since or after some."""
    first = days[0] if word == "since" else days[1] + timedelta(days=1)
    return first, max(today, first)


def _part(part: str, name: str, year: str | None, today: date) -> _Days:
    """Return a part of a month: its early, middle or late days, or so many of its weeks."""
    month = month_names()[name]
    first, last = _month((int(year) if year else _latest_year(month, 1, today)) * 12 + month - 1)
    count = next((_NUMBERS[w] for w in ("couple of", "few", "two", "three") if w in part), 1)
    length = timedelta(days=count * (7 if "week" in part else 1) - 1)
    match part.split(maxsplit=1)[0]:
        case "early" | "beginning" | "start":
            return first, first + timedelta(days=10)
        case "mid" | "middle":
            return first + timedelta(days=9), first + timedelta(days=20)
        case "first":
            return first, first + (timedelta(days=14) if "half" in part else length)
        case "second":
            return first + timedelta(days=14), last
        case "last":
            return last - length, last
        case _:
            return last - timedelta(days=10), last


def _feast(name: str, text: str, today: date) -> _Days:
    """Return the day of a feast in the year that is named, else the latest there was."""
    said = re.search(r"\b((?:19|20)\d\d)\b", text)
    years = [int(said[1])] if said else [today.year, today.year - 1]
    days = [_feast_in(name, year) for year in years]
    day = next((day for day in days if day <= today), days[-1])
    # Christmas and Easter last for days, and people tell of them the day after.
    return day, day + timedelta(days=name in ("christmas", "weihnachten", "easter", "ostern"))


def _feast_in(name: str, year: int) -> date:
    if name in _FEASTS:
        return date(year, *_FEASTS[name])
    if name == "thanksgiving":
        first = date(year, 11, 1)
        return first + timedelta(days=(3 - first.weekday()) % 7 + 21)
    return _easter(year) + timedelta(days=_MOVING[name])


def _easter(year: int) -> date:
    """Return Easter Sunday of a year (the anonymous Gregorian computus)."""
    golden, century, rest = year % 19, year // 100, year % 100
    leap, of_century = divmod(century, 4)
    fix = (8 * century + 13) // 25
    epact = (19 * golden + century - leap - fix + 15) % 30
    leaps, years = divmod(rest, 4)
    sunday = (32 + 2 * of_century + 2 * leaps - epact - years) % 7
    late = (golden + 11 * epact + 22 * sunday) // 451
    month, day = divmod(epact + sunday - 7 * late + 114, 31)
    return date(year, month, day + 1)


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
