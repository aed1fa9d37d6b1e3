"""Find dates, clock times and time spans in texts.

In files, only unambiguous dates are recognised: `03/04/2026` has two meanings and is ignored. Dates
that do not exist are ignored too, and relative words (today, yesterday) are not resolved.

In questions, relative days are resolved too: `last week`, `three days ago`, `on Monday`. Phrases of
other languages (section `dates` of their tables) are first translated into English.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS
from memrepo.text.languages import ENGLISH, bare, entries, language_asked, small_words, tables

DateBasis = Literal["unit", "heading", "file", ""]

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@cache
def month_names() -> Mapping[str, int]:
    """Map the names of months, in lower case with and without accents, to the numbers 1 to 12."""
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
    """Return whether a heading names only a time: a date, a weekday, "Morning" or "14:00"."""
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

    `headings` are ordered from the outermost. A heading that only mentions a date dates its own
    section, and nothing in a file whose name has a date. Return two empty strings if none has a
    date. The caller then uses the date of the commit.
    """
    if day := find_date(text):
        return day, "unit"
    of_file = date_of_path(path)
    for depth, heading in enumerate(reversed(tuple(headings))):
        day, is_entry = _date_of_heading(heading)
        if day and (is_entry or not (depth or of_file)):
            return day, "heading"
    return (of_file, "file") if of_file else ("", "")


@lru_cache(maxsize=4096)  # called for each line below a heading
def _date_of_heading(heading: str) -> tuple[str, bool]:
    """Return the date in a heading, and whether the heading begins or ends with the date."""
    start, end, day = min(_dates(heading), default=(0, 0, ""))
    before, after = (_WORDS.findall(part) for part in (heading[:start], heading[end:]))
    is_last = _around_dates().issuperset(_WORDS.findall(_CLOCK.sub(" ", heading[end:]).casefold()))
    return day, not before or not after or is_last


_UPDATED_LINES = 12
"""The lines at the beginning and at the end of a file that may say when it was updated."""


def date_updated(text: str) -> str:
    """Return the day on which a file says that it was last updated, or an empty string."""
    lines = text.splitlines()
    for line in (*lines[:_UPDATED_LINES], *lines[_UPDATED_LINES:][-_UPDATED_LINES:]):
        if len(line) <= 120 and _updated().search(line.casefold()) and (day := find_date(line)):
            return day
    return ""


@cache
def _updated() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in entries("dates", "updated"))
    return re.compile(rf"^[\W_]*(?:{words})\W*[:：\d]")


def date_until(text: str, said: str = "") -> str:
    """Return the day until which a statement of one line is true, or an empty string.

    `said` is the day on which the statement was made, if that is known: a weekday (`until Friday`)
    is the next one after it. A text with two weekdays is about every week.
    """
    if "\n" in text:
        return ""
    found = [day for start, _, day in _dates(text) if _until().search(text[:start].casefold())]
    if found or not said:
        return max(found, default="")
    plain = _folded(text.casefold())
    named = list(_weekdays().finditer(plain))
    if len(named) != 1 or not named[0]["ends"] or _RECURRING.search(plain):
        return ""
    day = date.fromisoformat(said)
    ahead = (_weekday_numbers()[named[0]["day"]] - day.weekday() - 1) % 7 + 1
    return (day + timedelta(days=ahead)).isoformat()


@cache
def _until() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in entries("dates", "until"))
    return re.compile(rf"(?:^|[\W_]|(?<=[\u3400-\u9fff]))(?:{words})\W{{0,3}}$")


@cache
def _weekdays() -> re.Pattern[str]:
    """Return the pattern of a weekday, and of a phrase before it that ends something on it."""
    ends = _any([*entries("dates", "until"), *entries("dates", "due")])
    days = "|".join(sorted(map(re.escape, _weekday_numbers()), key=len, reverse=True))
    return re.compile(
        rf"(?P<ends>(?<!\w){ends} (?:[^\W\d_]{{1,7}} )?)?(?<!\w)(?P<day>{days})(?!\w)"
    )


@cache
def _weekday_numbers() -> Mapping[str, int]:
    return _foreign_rows("weekdays") | {name: n for n, name in enumerate(WEEKDAYS)}


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
        ahead = _SPANS.get(word) or (_DAY_NUMBERS[word] - stated.weekday()) % 7 + 7
        yield stated + timedelta(days=ahead)
    for count, unit in _IN.findall(text):
        yield stated + timedelta(days=int(count) * _SPANS[unit.lower()])
    if _TOMORROW.search(text):
        yield stated + timedelta(days=1)


Span = tuple[str, str]
"""First and last day, as YYYY-MM-DD."""
ISO = regex(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_NUMBERS = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
) | {"a": 1, "an": 1, "couple of": 2, "few": 3}
_COUNT = rf"(?:a )?(\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_DAYS_AGO = dict.fromkeys(
    ("today", "this morning", "this afternoon", "this evening", "tonight"), 0
) | {"yesterday": 1, "last night": 1, "day before yesterday": 2}
_NAMED = regex(rf"\b({'|'.join(sorted(_DAYS_AGO, key=len, reverse=True))})\b")
_AGO = regex(rf"\b{_COUNT} (day|week|month|year)s? ago\b")
_PAST = regex(rf"\b(?:last|past|previous) {_COUNT} (day|week|month|year)s?\b(?! of\b)")
_WORD = regex(r"[^\W\d_]+")
_DAYNAME = "|".join(WEEKDAYS)
_UNIT = regex(r"\b(this|last|past|previous) (week|weekend|month|year)\b")
_ON_WEEKDAY = regex(rf"\b(this|last|on) ({_DAYNAME})\b")
_HINTS = ("ago", "day", "last", "night", "past", "previous", "this")
"""A quick test: every relative phrase contains one of these. It avoids compiling patterns."""
_HINTED = regex(r"\b(?:ago|last|night|past|previous|this)\b|days?\b")
"""English words of relative phrases."""
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}
_Days = tuple[date, date]


class Timespan(NamedTuple):
    """A time span named in a text, and the words of the text that only express this time span."""

    days: Span
    english: str = ""
    """The words in English."""
    translated: frozenset[str] = frozenset()
    """For a text in another language: its words without accents that were translated."""


def timespans(text: str, today: date | None) -> list[Timespan]:
    """Return the time spans named in a text. Relative ones are computed from the current date."""
    found = []
    for match in ISO.finditer(text):
        with suppress(ValueError):
            day = date.fromisoformat(match[0])
            found.append(((day, day), ""))
    translated: frozenset[str] = frozenset()
    if today:
        plain = _plain(text)
        found += _relative(plain, today)
        if found:
            translated = frozenset(_WORD.findall(bare(text.lower()))) - set(_WORD.findall(plain))
    return [
        Timespan((a.isoformat(), b.isoformat()), english, translated) for (a, b), english in found
    ]


def _relative(text: str, today: date) -> Iterator[tuple[_Days, str]]:
    if not any(hint in text for hint in _HINTS):
        return
    try:
        yield from _counted(text, today)
    except (OverflowError, ValueError):
        return  # before the year 1, or not a calendar date


def _counted(text: str, today: date) -> Iterator[tuple[_Days, str]]:
    for match in _NAMED.finditer(text):
        day = today - timedelta(days=_DAYS_AGO[match[1]])
        yield (day, day), match[0]
    for match in _AGO.finditer(text):
        yield _ago(_number(match[1]), match[2], today), match[0]
    for match in _PAST.finditer(text):
        first = today - timedelta(days=_number(match[1]) * _LENGTHS[match[2]])
        yield (first, today), match[0]
    for match in _UNIT.finditer(text):
        yield _unit_days(match[2], today, back=match[1] != "this"), match[0]
    for match in _ON_WEEKDAY.finditer(text):
        day = _last(match[2], today, before=match[1] == "last")
        yield (day, day), match[0]


def _last(weekday: str, today: date, *, before: bool) -> date:
    back = (today.weekday() - WEEKDAYS.index(weekday)) % 7
    return today - timedelta(days=back or 7 * before)


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[word]


def _ago(count: int, unit: str, today: date) -> tuple[date, date]:
    """Return the days that may be meant by `count` units ago. Larger units are less precise."""
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


def _unit_days(unit: str, today: date, *, back: bool) -> tuple[date, date]:
    monday = today - timedelta(days=today.weekday() + 7 * back)
    match unit:
        case "week":
            return monday, monday + timedelta(days=6)
        case "weekend":
            return monday + timedelta(days=5), monday + timedelta(days=6)
        case _:
            return _ago(int(back), unit, today)


def _month(number: int) -> tuple[date, date]:
    """Return the first and last day of a month. Months are counted from January of the year 0."""
    year, month = divmod(number, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, 1), date(year, month + 1, last)


# -- other languages ---------------------------------------------------------------------------

_PHRASES = {
    "last_week": "last week",
    "this_week": "this week",
    "last_month": "last month",
    "yesterday": "yesterday",
    "today": "today",
}
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae"})
"""Letters that Unicode does not decompose into a letter and an accent."""
_EAST = "\u3000"
"""Scripts from here on have no blanks between words."""
_EAST_UNITS = {
    sign: unit
    for unit, signs in (("day", "天日일"), ("week", "周週주"), ("month", "月달"), ("year", "年년"))
    for sign in signs
}
_EAST_NUMBERS = {c: str(n) for n, c in enumerate("一二三四五六七八九十", start=1)} | {"两": "2"}
_EAST_DAYS = ("一二三四五六日", "月火水木金土日", "월화수목금토일")
Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _plain(text: str) -> str:
    """Return a text in lower case with its dates translated into English."""
    plain = " ".join(re.sub(r"['\u2019]", " ", text).lower().split())
    if plain.isascii():
        words = plain.split()
        foreign = not _foreign_words().isdisjoint(words) or language_asked(words, plain) != ENGLISH
        if _HINTED.search(plain) or not foreign or not _only_english().isdisjoint(words):
            return plain
    plain = _folded(plain)
    for form, english in _translations():
        plain = form.sub(english, plain)
    return plain


@cache
def _only_english() -> frozenset[str]:
    """Return the English function words that are not function words of another language."""
    others = (found for language, found in small_words().items() if language != ENGLISH)
    return small_words()[ENGLISH].difference(*others)


@cache
def _foreign_words() -> frozenset[str]:
    """Return the longer words for `last` and `ago` in other languages."""
    keys = ("last", "last_behind", "last_few", "ago_behind", *_PHRASES)
    found = [entry for key in keys for entry in entries("dates", key)]
    return frozenset(w for one in found for w in _folded(one).split() if len(w) > 2)


def _folded(text: str) -> str:
    return bare(text.replace("'", " ")).translate(_LETTERS)


def _foreign_rows(key: str) -> dict[str, int]:
    """Map each word of a list, such as weekdays in other languages, to its row number from 0."""
    rows = ((n, r) for _, table in tables("dates") for n, r in enumerate(table.get(key, ())))
    words = {_folded(word): n for n, row in rows for word in row.split()}
    return {word: n for word, n in words.items() if word < _EAST}


def _any(phrases: Iterable[str]) -> str:
    """Return a pattern group that matches any of the phrases, trying longer ones first."""
    return f"(?:{'|'.join(sorted(set(map(_folded, phrases)), key=lambda p: (-len(p), p)))})"


def _whole(phrases: Iterable[str]) -> re.Pattern[str]:
    folded = sorted(set(map(_folded, phrases)), key=lambda p: (-len(p), p))
    return re.compile("|".join(rf"\b{p}\b" if p[0] < _EAST else p for p in folded))


@cache
def _translations() -> list[Rule]:
    """Return the replacements that translate dates into English, in the order to apply them."""
    days, numbers = _foreign_rows("weekdays"), _foreign_rows("numbers")
    months = {_folded(name): n for name, n in month_names().items() if name not in MONTHS}
    units = {unit: _any(entries("dates", unit)) for unit in _LENGTHS}
    month, day, count = "|".join(MONTHS), _DAYNAME, rf"(\d{{1,4}}|{'|'.join(numbers)})"
    unit = "|".join(units.values())
    says = {key: _any(entries("dates", key)) for key in _KEYS}

    def counted(english: str) -> Callable[[re.Match[str]], str]:
        def translate(match: re.Match[str]) -> str:
            number = str(numbers[match[1]] + 1) if match[1] in numbers else match[1]
            named = next(name for name, words in units.items() if re.fullmatch(words, match[2]))
            return english.format(number, named)

        return translate

    written: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
        (
            rf"\b{says['ago_before']} {count} ({unit})\b(?: {says['ago_behind']}\b)?",
            counted("{} {}s ago"),
        ),
        (rf"\b{count} ({unit}) {says['ago_behind']}\b", counted("{} {}s ago")),
        (rf"\b{says['last_few']} {count} ({unit})\b", counted("last {} {}s")),
        (rf"\b{count} {says['last_few']} ({unit})\b", counted("last {} {}s")),
        *_eastern(),
        (rf"\b({'|'.join(days)})\b", lambda m: WEEKDAYS[days[m[1]]]),
        (rf"\b({'|'.join(months)})\b", lambda m: MONTHS[months[m[1]] - 1]),
        (
            rf"(\d)(?:\.|er|º)?(?: (?:de|di))? ({month})\b(?:(?: (?:de|del))? (\d{{4}}))?",
            lambda m: " ".join(filter(None, m.groups())),
        ),
        (rf"\b{says['last']} ({day})", r"last \1"),
        (rf"\b({day}) {says['last_behind']}\b", r"last \1"),
        (rf"(?<!last )(?<!on )\b({day})\b", r"on \1"),
    )
    return [
        *((re.compile(form), english) for form, english in written),
        *((_whole(entries("dates", key)), english) for key, english in _PHRASES.items()),
    ]


_KEYS = ("last", "last_behind", "last_few", "ago_before", "ago_behind")


def _eastern() -> Iterator[tuple[str, Callable[[re.Match[str]], str]]]:
    """Yield (pattern, replacement) rules for translating Chinese, Japanese and Korean dates."""
    digits = "".join(_EAST_NUMBERS)
    chinese, japanese, korean = (f"[{row}]" for row in _EAST_DAYS)

    def month(match: re.Match[str]) -> str:
        number = int(match[1])
        return f" {match[2]} {MONTHS[number - 1]} " if 1 <= number <= len(MONTHS) else ""

    def ago(match: re.Match[str]) -> str:
        number = _EAST_NUMBERS.get(match[1], match[1])
        return f" {number} {_EAST_UNITS[match[2]]}s ago "

    def weekday(form: str) -> Callable[[re.Match[str]], str]:
        def translate(match: re.Match[str]) -> str:
            place = next((p for row in _EAST_DAYS if (p := row.find(match[1])) >= 0), -1)
            return form.format(WEEKDAYS[place])  # the other sign for Sunday is in no row

        return translate

    yield r"(\d{1,2})月(\d{1,2})[日号]", month
    yield rf"(\d{{1,3}}|[{digits}]) ?[个かヶ개]?([{''.join(_EAST_UNITS)}])[间間]? ?之?[前전]", ago
    yield rf"上(?:个)?(?:周|週|星期|礼拜)({chinese}|天)", weekday(" on {} last week ")
    yield rf"(?:周|星期|礼拜)({chinese}|天)", weekday(" on {} ")
    yield rf"({japanese})曜日?", weekday(" on {} ")
    yield rf"({korean})요일", weekday(" on {} ")
