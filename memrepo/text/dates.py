"""Find dates, clock times and time spans in texts.

In files, only unambiguous dates are recognised: `03/04/2026` has two meanings and is ignored. Dates
that do not exist are ignored too, and relative words (today, yesterday) are not resolved.

In questions, relative days are resolved too: `yesterday` and `last week` in each language that has
such phrases (section `dates` of its table), and `on Monday`.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from memrepo.core.patterns import compiled, regex
from memrepo.core.times import MONTHS
from memrepo.text.words import (
    ENGLISH,
    LANGUAGES,
    bare,
    entries,
    languages_in,
    patterns,
    small_words,
    tables,
)

DateBasis = Literal["unit", "heading", "file", ""]

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@cache
def month_names() -> Mapping[str, int]:
    """Map the names of months, in lower case with and without accents, to the numbers 1 to 12."""
    names = _numbered("months")
    names |= {bare(name): number for name, number in names.items()}
    english = {name: number for number, name in enumerate(MONTHS, start=1)}
    return names | {name[:3]: number for name, number in english.items()} | english | {"sept": 9}


def _numbered(key: str) -> dict[str, int]:
    """Map the words in each row of a list to the row number, starting at 1, for all languages."""
    rows = (row for _, table in tables("dates") for row in enumerate(table.get(key, ()), start=1))
    return {word: number for number, row in rows for word in row.split()}


def _month_of(match: re.Match[str]) -> str:
    """Return the number of the month of a date."""
    month = match["month"]
    return month if month.isdigit() else str(month_names().get(month.casefold(), 0))


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
_MONTH_FORMS = (
    rf"(?<![\d/.-]){_YEAR}[-/](?P<month>0[1-9]|1[0-2])(?![\d/-])",
    rf"(?<!\w)MONTH,?[ \t]{{1,3}}{_YEAR}",
    rf"(?<!\d){_YEAR}[ \t]?[年년][ \t]?{_MONTH_DIGITS}[ \t]?[月월](?![ \t]?\d)",
)
_YEARLESS_FORMS = (
    rf"(?<!\d){_DAY}{_NTH}?[ \t]{{0,3}}(?:(?:of|de|di)[ \t])?MONTH(?!,?[ \t]+\d{{4}})",
    rf"(?<!\w)MONTH[ \t]{{1,3}}{_DAY}(?:st|nd|rd|th)?(?![\d:.]\d|,?[ \t]+\d{{4}})",
    rf"(?<![年\d]){_MONTH_DIGITS}[ \t]?月[ \t]?{_DAY}[ \t]?[日号號]",
)
_YEAR_LIKE = regex(r"[12]\d{3}")
_NAMES = regex(r"`[^`\n]+`|https?://\S+|[A-Za-z0-9_./-]+")
_SPELLED = regex(r"[A-Za-z]{2}")
"""What files, addresses and code are named by, and what such a name has more than a date."""
_FILE_DAY = regex(r"(?<!\d)([12]\d{3})-?(\d{2})-?(\d{2})(?!\d)")
_CLOCK_24 = r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d:])"
_CLOCK_12 = r"(?<![\d:.])(?P<bare>1[0-2]|0?[1-9])[ \t]?(?P<bare_half>[ap])\.?m\b\.?"
_CLOCK = regex(rf"{_CLOCK_24}(?:[ \t]?(?P<half>[ap])\.?m\b\.?)?|{_CLOCK_12}", re.IGNORECASE)
_WORDS = regex(r"\w+")


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of full dates, compiled on first use."""
    return _compiled(_FORMS)


@cache
def _month_forms() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of months with a year, compiled on first use."""
    return _compiled(_MONTH_FORMS)


@cache
def _yearless_forms() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of days without a year, compiled on first use."""
    return _compiled(_YEARLESS_FORMS)


def _compiled(forms: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    month = "(?P<month>" + "|".join(sorted(month_names(), key=len, reverse=True)) + r")\b\.?"
    return tuple(compiled(form.replace("MONTH", month), re.IGNORECASE) for form in forms)


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
    """Return whether a heading consists only of a date, a month or a clock time, or a weekday."""
    rest = without_dates(text)
    if rest == text and not _CLOCK.search(text):
        return False
    # Remove the T between date and time of ISO timestamps.
    rest = re.sub(r"(?<![^\W\d_])T(?=\d)", " ", rest)
    rest = _CLOCK.sub(" ", rest)
    return _around_dates().issuperset(_WORDS.findall(rest.casefold()))


def without_dates(text: str) -> str:
    """Return a text with a blank in place of each date and of each month with a year."""
    for found in (_dates, _months_with_year):
        for start, end, _ in sorted(found(text), reverse=True):
            text = f"{text[:start]} {text[end:]}"
    return text


@lru_cache(maxsize=4096)  # called for each line below a heading
def is_time_heading(text: str) -> bool:
    """Return whether a heading names only a time: a date, a weekday, "Morning" or "14:00"."""
    words = _WORDS.findall(_CLOCK.sub(" ", text).casefold())
    return (bool(words) and _of_the_day().issuperset(words)) or is_date_heading(text)


@lru_cache(maxsize=4096)  # called for each memory of a file
def date_of_path(path: str) -> str:
    """Return the date in a file name (`YYYY-MM-DD` or `YYYYMMDD`), or an empty string."""
    for match in _FILE_DAY.finditer(path.rpartition("/")[2]):
        day = _calendar(match[1], match[2], match[3])
        if day:
            return day
    return ""


def date_unit(text: str, headings: Iterable[str], path: str) -> tuple[str, DateBasis]:
    """Return the date of a unit: from its text, the nearest dated heading, or the file name.

    Below the day of a log's name or of a heading, a later date is what a text speaks of, unless
    the text begins with it. A date in the name of a file, in an address or in code dates nothing.
    `headings` are ordered from the outermost. A heading that only mentions a date dates its own
    section, and nothing in a file whose name has a date. Return two empty strings if none has a
    date. The caller then uses the date of the commit. A month stands for its first day: that of a
    heading, or one with which the text begins ("As of March 2026").
    """
    plain = _NAMES.sub(lambda m: re.sub(r"\d", " ", m[0]) if _SPELLED.search(m[0]) else m[0], text)
    month = (len(text), 0, opening_date(plain)[0])
    of_file, (start, _, stated) = date_of_path(path), min(_dates(plain), default=month)
    above = ""
    for depth, heading in enumerate(reversed(tuple(headings))):
        day, is_entry = _date_of_heading(heading, months=not of_file)
        if day and (is_entry or not (depth or of_file)):
            above = day
            break
    of_log = of_file if _FILE_DAY.match(path.rpartition("/")[2]) else ""
    is_logged = (above or of_log) and _WORDS.search(text[:start])
    if stated and not (is_logged and stated > (above or of_log)):
        return stated, "unit"
    return (above, "heading") if above else (of_file, "file") if of_file else ("", "")


@lru_cache(maxsize=4096)  # called for each line below a heading
def _date_of_heading(heading: str, *, months: bool) -> tuple[str, bool]:
    """Return the date or month in a heading, and whether the heading begins or ends with it."""
    found = [*_dates(heading)] or [*(_months_with_year(heading) if months else ())]
    start, end, day = min(found, default=(0, 0, ""))
    before, after = (_WORDS.findall(part) for part in (heading[:start], heading[end:]))
    is_last = _around_dates().issuperset(_WORDS.findall(_CLOCK.sub(" ", heading[end:]).casefold()))
    return day, not before or not after or is_last


@lru_cache(maxsize=4096)
def opening_date(text: str, *, months: bool = True) -> tuple[str, int]:
    """Return the day or month with which a text begins, and where the text goes on after it.

    Before it are at most function words. A month is its first day, and counts only with `months`.
    Without one, the answer is an empty string and 0.
    """
    found: list[tuple[int, int, str]] = []
    if _YEAR_LIKE.search(text[:_OPENING]):
        found = [*_dates(text), *(_months_with_year(text) if months else ())]
    start, end, day = min(found, default=(0, 0, ""))
    if not day or start > _OPENING:
        return "", 0
    known = _around_dates().union(*small_words().values())
    known = known.union(word for one in entries("dates", "updated") for word in one.split())
    if not known.issuperset(_WORDS.findall(text[:start].casefold())):
        return "", 0
    return day, end + len(text[end:]) - len(text[end:].lstrip(" \t:：,—–-*_)]."))


_OPENING = 24
"""Where a date with which a text begins must begin."""
_UPDATED_LINES = 12
"""The lines at the beginning and at the end of a file that may say when it was updated."""


def date_updated(text: str) -> str:
    """Return the day on which a file says that it was last updated, or an empty string."""
    lines = text.splitlines()
    for line in (*lines[:_UPDATED_LINES], *lines[_UPDATED_LINES:][-_UPDATED_LINES:]):
        found = _updated().search(line.casefold()) if len(line) <= 120 else None
        if found and (day := find_date(line[found.start() :])):
            return day
    return ""


@cache
def _updated() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in entries("dates", "updated"))
    return compiled(rf"(?:^|[.;|·]\s)[\W_]*(?:{words})\W*[:：\d]")


def date_until(text: str, stated: str = "", captured: str = "") -> str:
    """Return the day until which a statement is true, or an empty string.

    Such a day in one of several lines or sentences is not the end of the others. `stated` is the
    day of the statement, if that is known: a weekday (`until Friday`) is the next one after it. A
    text with two weekdays is about every week. `captured` is a day on which the text stood there: a
    day without a year (`until 15 April`) is the next one, or one that has just passed. A month
    ends on its last day.
    """
    if _SENTENCES.search(text):
        return ""
    near = stated or captured
    dated = [*_dates(text)] or [*_yearless(text, near)]
    dated = dated or [(start, end, _month_end(day)) for start, end, day in _months_with_year(text)]
    found = [
        day
        for start, _, day in dated
        for before in [text[max(0, start - _UNTIL_LENGTH) : start].casefold()]
        if _until().search(before)
    ]
    if found or not stated:
        return max(found, default="")
    plain = _folded(text.casefold())
    named = list(_weekdays().finditer(plain))
    if len(named) != 1 or not named[0]["ends"] or _recurs(text):
        return ""
    day = date.fromisoformat(stated)
    ahead = (_weekday_numbers()[named[0]["day"]] - day.weekday() - 1) % 7 + 1
    return (day + timedelta(days=ahead)).isoformat()


def due_day(text: str, near: str) -> str:
    """Return the day on which a line of a text says that something is due, ends or comes.

    A day to come needs no word for that. Of several days the last counts, but none on which
    something starts or that is denied: `moved from 3 May to 5 May`, `on 5 May, not 3 May`. A day
    without a year is the first one that is at most PASSED before the day `near`.
    """
    lines = text.split("\n") if _LIKELY.search(text) else ()
    return next(filter(None, (_day_due(line, near) for line in lines)), "")


def _day_due(line: str, near: str) -> str:
    days = _days_in(line, near)
    if not days or _recurs(line):
        return ""
    is_promise = patterns().sentences["promise"].search(line) is not None
    last = f"{date.fromisoformat(near) + PASSED}" if near else ""
    due, coming = [""], [""]
    for before, day in ((line[:start], day) for start, _, day in days):
        if _is_left(before):
            continue
        if is_promise or _until("due").search(before[-_UNTIL_LENGTH:].casefold()):
            due.append(day)
        elif near < day <= last:
            coming.append(day)
    return max(due) or max(coming)


def _is_left(before: str) -> bool:
    """Return whether something starts on the day after a text, or does not take place on it."""
    phrase = _before_day(("dates", "starts"), ("change", "negation"))
    return phrase.search(before[-_UNTIL_LENGTH:].casefold()) is not None


def days_of(text: str, near: str) -> tuple[dict[str, bool], str]:
    """Return the days that a text names and whether it moves from each, and the text without them.

    A day without a year is read as `due_day` reads it.
    """
    found = sorted(_days_in(text, near), reverse=True)
    days = {day: _is_left(text[:start]) for start, _, day in found}
    for start, end, _ in found:
        text = f"{text[:start]} {text[end:]}"
    text = _CLOCK.sub(" ", text)
    return days, _WORDS.sub(lambda m: m[0] * (m[0].casefold() not in _around_dates()), text)


def _days_in(text: str, near: str) -> list[tuple[int, int, str]]:
    return [*_dates(text), *(_yearless(text, near, most=MAX_DAYS) if near else ())]


_SENTENCES = regex(
    r"\n|(?:[^\W\d_]{2}|\d{3}|-\d\d)\W{0,3}[.!?;]\W{0,3}\s\W{0,3}[^\W\d]|[。！？；]\W{0,3}\w"
)
"""What is between the lines or sentences of a text. The day in `20. Mai` ends no sentence."""
MAX_DAYS = 3
"""The most days without a year of a line that says when something is due. More are a list."""
_UNTIL_LENGTH = 40
"""More characters than a phrase before the day until which something is true has."""


def _month_end(first: str) -> str:
    """Return the last day of the month that begins on a day."""
    later = date.fromisoformat(first).replace(day=28) + timedelta(days=4)
    return (later - timedelta(days=later.day)).isoformat()


def _until(*more: str) -> re.Pattern[str]:
    return _before_day(*(("dates", key) for key in ("until", *more)))


@cache
def _before_day(*keys: tuple[str, str]) -> re.Pattern[str]:
    """Return the pattern of a phrase before a day, with a weekday or `on` between them."""
    words = "|".join(re.escape(entry) for key in keys for entry in entries(*key))
    around = "|".join(map(re.escape, sorted(_around_dates())))
    return compiled(
        rf"(?:^|[\W_]|(?<=[\u3400-\u9fff]))(?:{words})\W{{0,5}}(?:(?:{around})\W{{1,3}}){{0,3}}$"
    )


@cache
def _weekdays() -> re.Pattern[str]:
    """Return the pattern of a weekday, and of a phrase before it that ends something on it."""
    ends = _any([*entries("dates", "until"), *entries("dates", "due")])
    days = "|".join(sorted(map(re.escape, _weekday_numbers()), key=len, reverse=True))
    return compiled(rf"(?P<ends>(?<!\w){ends} (?:[^\W\d_]{{1,7}} )?)?(?<!\w)(?P<day>{days})(?!\w)")


@cache
def _weekday_numbers() -> Mapping[str, int]:
    found = {word: n for word, n in _rows("weekdays").items() if word < _EAST}
    return found | {name: n for n, name in enumerate(WEEKDAYS)}


def _dates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, ISO date) for each unambiguous date in a text, unordered."""
    if not _YEAR_LIKE.search(text):
        return
    for form in _forms():
        for match in form.finditer(text):
            if day := _calendar(match["year"], _month_of(match), match["day"]):
                yield match.start(), match.end(), day


def _months_with_year(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, first day) for each month with a year in a text, unordered."""
    if not _YEAR_LIKE.search(text):
        return
    for form in _month_forms():
        for match in form.finditer(text):
            if day := _calendar(match["year"], _month_of(match), "1"):
                yield match.start(), match.end(), day


def _yearless(text: str, near: str, most: int = 1) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and day of each day without a year in a text, if it has at most `most`.

    A day is the first one that is at most PASSED before `near`. Two such days are a season.
    """
    if not (near and _LIKELY.search(text)) or _recurs(text):
        return
    found = [match for form in _yearless_forms() for match in form.finditer(text)]
    if len({match.span("day") for match in found}) > most:
        return
    day_near = date.fromisoformat(near)
    for match in found:
        month = _month_of(match)
        years = (str(day_near.year + n) for n in (-1, 0, 1))
        days = (_calendar(year, month, match["day"]) for year in years)
        least = (day_near - PASSED).isoformat()
        if day := next((day for day in days if day >= least), ""):
            yield match.start(), match.end(), day


PASSED = timedelta(days=60)
"""How long before a statement the day without a year may be until which something was true."""


def _recurs(text: str) -> bool:
    """Return whether a text speaks of something that happens again and again."""
    return bool(_recurring().search(_folded(text.casefold())))


@cache
def _recurring() -> re.Pattern[str]:
    return compiled(_whole(entries("dates", "recurring")))


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
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}


def future_date(text: str, stated: datetime, cap: timedelta = CAP) -> datetime | None:
    """Return the latest time named in a text that is after `stated`, or None if there is none.

    The result is at most `cap` after `stated` (zero for no limit). Texts about recurring events
    have no date (openclaw-hybrid-memory, future-date freeze; English).
    """
    if not _LIKELY.search(text) or _RECURRING.search(text):
        return None
    found = max((moment for moment in _moments(text, stated) if moment > stated), default=None)
    return found if found is None or not cap else min(found, stated + cap)


def day_named(text: str) -> str:
    """Return the first calendar day in a text as written there, or an empty string."""
    if not _LIKELY.search(text):
        return ""
    found = (pattern.search(text) for pattern in _DAYS_NAMED)
    return next((one[0] for one in found if one), "")


def _moments(text: str, stated: datetime) -> Iterator[datetime]:
    for match in (match for form in _DAYS_NAMED for match in form.finditer(text)):
        month = str(_MONTH_NUMBERS.get(match["month"].lower(), match["month"]))
        # A day without a year is in this year, or in the next if it has passed.
        years = (match["year"],) if match["year"] else (str(stated.year), str(stated.year + 1))
        days = (_calendar(year, month, match["day"]) for year in years)
        moments = [datetime.fromisoformat(day).replace(tzinfo=UTC) for day in days if day]
        yield from [moment for moment in moments if moment > stated][:1]
    for word in map(str.lower, _NEXT.findall(text)):
        # "next Monday" is not the coming Monday but the one after it: 7 to 13 days ahead.
        ahead = _LENGTHS.get(word) or (_DAY_NUMBERS[word] - stated.weekday()) % 7 + 7
        yield stated + timedelta(days=ahead)
    for count, unit in _IN.findall(text):
        yield stated + timedelta(days=int(count) * _LENGTHS[unit.lower()])
    if _TOMORROW.search(text):
        yield stated + timedelta(days=1)


# -- days that a question names --------------------------------------------------------------------

Span = tuple[str, str]
"""First and last day, as YYYY-MM-DD."""
_Days = tuple[date, date]
_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], _Days]]
ISO = regex(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_WORD = regex(r"[^\W\d_]+")
_PHRASES: Mapping[str, tuple[str, int]] = {
    "last_week": ("week", 1),
    "this_week": ("week", 0),
    "last_month": ("month", 1),
    "before_yesterday": ("day", 2),
    "yesterday": ("day", 1),
    "today": ("day", 0),
}
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae"})
"""Letters that Unicode does not decompose into a letter and an accent."""
_EAST = "\u3000"
"""Scripts from here on have no blanks between words."""


class Timespan(NamedTuple):
    """A time span named in a text, and the words that name it, in lower case without accents."""

    days: Span
    words: frozenset[str] = frozenset()


def timespans(text: str, today: date) -> list[Timespan]:
    """Return the time spans named in a text: days, phrases of any language, English weekdays."""
    found = []
    for match in ISO.finditer(text):
        with suppress(ValueError):
            found.append(Timespan((date.fromisoformat(match[0]).isoformat(),) * 2))
    plain = " ".join(re.sub(r"['\u2019]", " ", text).lower().split())
    # Most questions are English, and the tables of all languages take long to load.
    own = (ENGLISH,) if languages_in(plain) == {ENGLISH} else LANGUAGES
    plain, taken = _folded(plain), list[tuple[int, int]]()
    for pattern, days in _rules(own):
        for match in pattern.finditer(plain):
            start, end = match.span()
            if any(a < end and start < b for a, b in taken):
                continue
            taken.append((start, end))
            with suppress(OverflowError, ValueError):  # before the year 1
                first, last = days(match, today)
                named = frozenset(_WORD.findall(match[0]))
                found.append(Timespan((first.isoformat(), last.isoformat()), named))
    return found


def _days_of(unit: str, today: date, back: int) -> _Days:
    """Return the day, calendar week or month that is `back` units before today."""
    if unit == "day":
        return (today - timedelta(days=back),) * 2
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return monday, monday + timedelta(days=6)
    year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, 1), date(year, month + 1, last)


def _folded(text: str) -> str:
    return bare(text.replace("'", " ")).translate(_LETTERS)


def _rows(key: str) -> dict[str, int]:
    """Map each word of a list, such as weekdays in other languages, to its row number from 0."""
    rows = ((n, r) for _, table in tables("dates") for n, r in enumerate(table.get(key, ())))
    return {_folded(word): n for n, row in rows for word in row.split()}


def _any(phrases: Iterable[str]) -> str:
    """Return a pattern group that matches any of the phrases, trying longer ones first."""
    return f"(?:{'|'.join(sorted(set(map(_folded, phrases)), key=lambda p: (-len(p), p)))})"


def _whole(phrases: Iterable[str]) -> str:
    """Return a pattern that matches any of the phrases as whole words."""
    found = set(map(_folded, phrases))
    east = [phrase for phrase in found if phrase[0] >= _EAST]
    forms = [rf"\b{_any(found.difference(east))}\b"] if found.difference(east) else []
    return "|".join([*forms, _any(east)] if east else forms) or "(?!)"


@cache
def _rules(own: tuple[str, ...]) -> list[_Rule]:
    """Return the rules for relative days in some languages, in the order to apply them."""

    def rule(key: str, unit: str, back: int) -> _Rule:
        form = compiled(_whole(entries("dates", key, own)))
        return form, lambda _, today: _days_of(unit, today, back)

    def on(match: re.Match[str], today: date) -> _Days:
        back = (today.weekday() - WEEKDAYS.index(match[2])) % 7
        return _days_of("day", today, back or 7 * (match[1] == "last"))

    weekday = compiled(rf"\b(this|last|on) ({'|'.join(WEEKDAYS)})\b")
    return [*(rule(key, *days) for key, days in _PHRASES.items()), (weekday, on)]
