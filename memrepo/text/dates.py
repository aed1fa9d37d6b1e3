"""Find dates and clock times in memory files.

Only unambiguous dates are recognised: `03/04/2026` has two meanings and is ignored. Dates that do
not exist are ignored too. Relative words (today, yesterday) are not resolved here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import Literal

from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS
from memrepo.text.languages import bare, entries, tables

DateBasis = Literal["unit", "heading", "file", ""]

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@cache
def month_names() -> Mapping[str, int]:
    """Map the names of months, in lower case with and without accents, to the numbers 1 to 12.

    English names also occur by their first three letters.
    """
    names = _numbered("months")
    names |= {bare(name): number for name, number in names.items()}
    english = {name: number for number, name in enumerate(MONTHS, start=1)}
    return names | {name[:3]: number for name, number in english.items()} | english


def _numbered(key: str) -> dict[str, int]:
    """Map the words in each row of a list to the row number, starting at 1, for all languages."""
    rows = (row for _, table in tables("dates") for row in enumerate(table.get(key, ()), start=1))
    return {word: number for number, row in rows for word in row.split()}


@cache
def _months() -> Mapping[str, int]:
    """Return `month_names` plus short names, which are only used next to a day and a year."""
    tables_of = (table.get("short_months", {}) for _, table in tables("dates"))
    short = {w: int(n) for table in tables_of for n, words in table.items() for w in words.split()}
    return short | dict(month_names())


_YEAR = r"(?:del?[ \t])?(?P<year>[12]\d{3})(?!\d)"
_NTH = r"(?:st|nd|rd|th|er|\.)"
_MONTH_DIGITS = r"(?P<month>\d{1,2})"
_DAY = r"(?P<day>\d{1,2})"
_FORMS = (
    rf"(?<!\d){_YEAR}([-/]){_MONTH_DIGITS}\2{_DAY}(?!\d)",
    rf"(?<!\d){_DAY}{_NTH}?[ \t]{{0,3}}(?:(?:of|de|di)[ \t])?MONTH,?[ \t]{{1,3}}{_YEAR}",
    rf"(?<!\w)MONTH[ \t]{{1,3}}{_DAY}(?:st|nd|rd|th)?,?[ \t]{{1,3}}{_YEAR}",
    rf"(?<![\d.]){_DAY}\.[ \t]?{_MONTH_DIGITS}\.[ \t]?{_YEAR}(?!\.\d)",
    rf"(?<!\d){_YEAR}[ \t]?年[ \t]?{_MONTH_DIGITS}[ \t]?月[ \t]?{_DAY}[ \t]?[日号號]",
    rf"(?<!\d){_YEAR}[ \t]?년[ \t]?{_MONTH_DIGITS}[ \t]?월[ \t]?{_DAY}[ \t]?일",
)
_YEAR_LIKE = regex(r"[12]\d{3}")
_FILE_DAY = regex(r"(?<!\d)([12]\d{3})-?(\d{2})-?(\d{2})(?!\d)")
_CLOCK_24 = r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d:])"
_CLOCK_12 = r"(?<![\d:.])(?P<bare>1[0-2]|0?[1-9])[ \t]?(?P<bare_half>[ap])\.?m\b\.?"
_CLOCK = regex(rf"{_CLOCK_24}(?:[ \t]?(?P<half>[ap])\.?m\b\.?)?|{_CLOCK_12}", re.IGNORECASE)
_WORDS = regex(r"\w+")


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of full dates, compiled on first use."""
    month = "(?P<month>" + "|".join(sorted(_months(), key=len, reverse=True)) + r")\b\.?"
    return tuple(re.compile(form.replace("MONTH", month), re.IGNORECASE) for form in _FORMS)


@cache
def _around_dates() -> frozenset[str]:
    """Return words that accompany a date without adding content: weekdays, `at` and `UTC`."""
    weekdays = " ".join(entries("dates", "weekdays")).replace("-", " ").split()
    spelled = (*weekdays, *entries("dates", "around"))
    return frozenset(w.casefold() for word in spelled for w in (word, bare(word)))


@cache
def _of_the_day() -> frozenset[str]:
    """Return words for times of day (`morning`), relative days (`yesterday`), and date words."""
    return frozenset(entries("dates", "times")) | _around_dates()


def find_date(text: str) -> str:
    """Return the first unambiguous date in a text as `YYYY-MM-DD`, or an empty string.

    It recognises ISO (`-` or `/`), month names of a dozen languages, `d.m.yyyy`, and CJK forms.
    """
    return min(_dates(text), default=(0, 0, ""))[2]


def find_clock(text: str) -> str:
    """Return the first clock time in a text as `HH:MM`, or an empty string."""
    match = _CLOCK.search(text)
    if match is None:
        return ""
    hour = int(match["hour"] or match["bare"])
    half = (match["half"] or match["bare_half"] or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02}:{match['minute'] or '00'}"


def has_moment(text: str) -> bool:
    """Return whether a text contains a date or a clock time."""
    return bool(find_clock(text) or find_date(text))


def is_date_heading(text: str) -> bool:
    """Return whether a heading consists only of a date or clock time, with or without a weekday."""
    found = [(start, end) for start, end, _ in _dates(text)]
    if not found and not _CLOCK.search(text):
        return False
    rest = text
    for start, end in sorted(found, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    # Remove the T between date and time of ISO timestamps.
    rest = re.sub(r"(?<![^\W\d_])T(?=\d)", " ", rest)
    rest = _CLOCK.sub(" ", rest)
    return _around_dates().issuperset(_WORDS.findall(rest.casefold()))


@lru_cache(maxsize=4096)  # called for each line below a heading
def is_time_heading(text: str) -> bool:
    """Return whether a heading names only a time: a date, a weekday, "Morning" or "14:00".

    The text below such a heading has only the time in common.
    """
    words = _WORDS.findall(_CLOCK.sub(" ", text).casefold())
    return (bool(words) and _of_the_day().issuperset(words)) or is_date_heading(text)


def date_of_path(path: str) -> str:
    """Return the date in a file name (`YYYY-MM-DD` or `YYYYMMDD`), or an empty string."""
    for match in _FILE_DAY.finditer(PurePosixPath(path).name):
        day = _calendar(match[1], match[2], match[3])
        if day:
            return day
    return ""


def date_unit(text: str, headings: Iterable[str], path: str) -> tuple[str, DateBasis]:
    """Return the date of a unit: from its text, the nearest dated heading, or the file name.

    `headings` are ordered from the outermost. Return two empty strings if none has a date. The
    caller then uses the date of the commit.
    """
    if day := find_date(text):
        return day, "unit"
    for heading in reversed(tuple(headings)):
        if day := find_date(heading):
            return day, "heading"
    day = date_of_path(path)
    return (day, "file") if day else ("", "")


def _dates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, ISO date) for each unambiguous date in a text, unordered."""
    if not _YEAR_LIKE.search(text):
        return
    for form in _forms():
        for match in form.finditer(text):
            month = match["month"].lower()
            day = _calendar(match["year"], str(_months().get(month, month)), match["day"])
            if day:
                yield match.start(), match.end(), day


def _calendar(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


# -- dates to come ---------------------------------------------------------------------------------

CAP = timedelta(days=365)
_MONTH_NUMBERS = {name[:cut]: n for n, name in enumerate(MONTHS, start=1) for cut in (3, len(name))}
_DAY_NUMBERS = {name[:cut]: n for n, name in enumerate(WEEKDAYS) for cut in (3, len(name))}
_ENGLISH_MONTH = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(_DAY_NUMBERS, key=len, reverse=True))
_RECURRING = regex(
    r"\b(?:every|each|daily|weekly|biweekly|monthly|yearly|recurring)\b", re.IGNORECASE
)
_LIKELY = regex(r"\d|tomorrow|next", re.IGNORECASE)
"""A quick test: a text without any of these does not name a future date."""
_OF_YEAR = r"\b(?:,?\s+(?P<year>\d{4})\b)?"
_DAYS_NAMED = (
    regex(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?!\d)"),
    regex(
        rf"\b(?P<month>{_ENGLISH_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_OF_YEAR}",
        re.IGNORECASE,
    ),
    regex(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_ENGLISH_MONTH}){_OF_YEAR}",
        re.IGNORECASE,
    ),
)
_NEXT = regex(rf"\bnext\s+({_WEEKDAY}|week|month|year)\b", re.IGNORECASE)
_IN = regex(r"\bin\s+(\d{1,4})\s+(day|week|month)s?\b", re.IGNORECASE)
_TOMORROW = regex(r"\btomorrow\b", re.IGNORECASE)
_SPANS = {"day": 1, "week": 7, "month": 30, "year": 365}


def future_date(text: str, said: datetime, cap: timedelta = CAP) -> datetime | None:
    """Return the latest time named in a text that is after `said`, or None if there is none.

    The result is at most `cap` after `said` (zero for no limit). Texts about recurring events have
    no date. Relative words count from `said` (openclaw-hybrid-memory, future-date freeze; English).
    """
    if not _LIKELY.search(text) or _RECURRING.search(text):
        return None
    found = max((moment for moment in _moments(text, said) if moment > said), default=None)
    return found if found is None or not cap else min(found, said + cap)


def day_named(text: str) -> str:
    """Return the first calendar day in a text as written there, or an empty string."""
    if not _LIKELY.search(text):
        return ""
    found = (pattern.search(text) for pattern in _DAYS_NAMED)
    return next((one[0] for one in found if one), "")


def _moments(text: str, said: datetime) -> Iterator[datetime]:
    for match in (match for form in _DAYS_NAMED for match in form.finditer(text)):
        month = str(_MONTH_NUMBERS.get(match["month"].lower(), match["month"]))
        # A day without a year is in this year, or in the next if it has passed.
        years = (match["year"],) if match["year"] else (str(said.year), str(said.year + 1))
        days = (_calendar(year, month, match["day"]) for year in years)
        moments = [datetime.fromisoformat(day).replace(tzinfo=UTC) for day in days if day]
        yield from [moment for moment in moments if moment > said][:1]
    for word in map(str.lower, _NEXT.findall(text)):
        # "next Monday" is not the coming Monday but the one after it: 7 to 13 days ahead.
        ahead = _SPANS.get(word) or (_DAY_NUMBERS[word] - said.weekday()) % 7 + 7
        yield said + timedelta(days=ahead)
    for count, unit in _IN.findall(text):
        yield said + timedelta(days=int(count) * _SPANS[unit.lower()])
    if _TOMORROW.search(text):
        yield said + timedelta(days=1)
