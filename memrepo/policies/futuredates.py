"""The latest future date that a text names: until it has passed, its memory is kept.

Lineage: openclaw-hybrid-memory, future-date freeze; its forms stand. Relative words count from
the moment the text was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS

CAP = timedelta(days=365)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAMES = {name[:cut]: n for n, name in enumerate(MONTHS, start=1) for cut in (3, len(name))}
_WEEKDAYS = {name[:cut]: n for n, name in enumerate(_DAYS) for cut in (3, len(name))}
_MONTHS_BEGIN = tuple(name[:3] for name in MONTHS)
_MONTH = "|".join(sorted(_NAMES, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_RECURRING = regex(
    r"\b(?:every|each|daily|weekly|biweekly|monthly|yearly|recurring)\b", re.IGNORECASE
)
_LIKELY = regex(r"\d|tomorrow|next", re.IGNORECASE)
"""Without any of these a text names no date: most need no closer look."""
_ISO = regex(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_MONTH_DAY = regex(
    rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?", re.IGNORECASE
)
_DAY_MONTH = regex(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b(?:,?\s+(\d{{4}})\b)?", re.IGNORECASE
)
_NEXT = regex(rf"\bnext\s+({_WEEKDAY}|week|month|year)\b", re.IGNORECASE)
_IN = regex(r"\bin\s+(\d{1,4})\s+(day|week|month)s?\b", re.IGNORECASE)
_TOMORROW = regex(r"\btomorrow\b", re.IGNORECASE)
_SPANS = {"day": 1, "week": 7, "month": 30, "year": 365}


def future_date(text: str, said: datetime, cap: timedelta = CAP) -> datetime | None:
    """Return the latest moment after `said` that a text names, None for none.

    At most `cap` from then (zero: no limit); a text of something that recurs names none.
    """
    if not _LIKELY.search(text) or _RECURRING.search(text):
        return None
    found = max((moment for moment in _moments(text, said) if moment > said), default=None)
    if found is None or not cap:
        return found
    return min(found, said + cap)


def day_named(text: str) -> str:
    """Return the first day of the calendar that a text names, as written, or an empty string."""
    if not _LIKELY.search(text):
        return ""
    found = (pattern.search(text) for pattern in (_ISO, _MONTH_DAY, _DAY_MONTH))
    return next((one[0] for one in found if one), "")


def _moments(text: str, said: datetime) -> Iterator[datetime]:
    for year, month, day in _ISO.findall(text):
        yield from _on(int(year), int(month), int(day))
    if any(month in text.lower() for month in _MONTHS_BEGIN):
        for name, day, year in _MONTH_DAY.findall(text):
            yield from _named(_NAMES[name.lower()], int(day), year, said)
        for day, name, year in _DAY_MONTH.findall(text):
            yield from _named(_NAMES[name.lower()], int(day), year, said)
    for word in _NEXT.findall(text):
        yield said + timedelta(days=_ahead(word.lower(), said))
    for count, unit in _IN.findall(text):
        yield said + timedelta(days=int(count) * _SPANS[unit.lower()])
    if _TOMORROW.search(text):
        yield said + timedelta(days=1)


def _on(year: int, month: int, day: int) -> Iterator[datetime]:
    try:
        found = date(year, month, day)
    except ValueError:
        return
    yield datetime(found.year, found.month, found.day, tzinfo=UTC)


def _named(month: int, day: int, year: str, said: datetime) -> Iterator[datetime]:
    """Yield a day of a month: of the year it names, else of this year or, once past, the next."""
    if year:
        yield from _on(int(year), month, day)
        return
    this = list(_on(said.year, month, day))
    yield from this if this and this[0] > said else _on(said.year + 1, month, day)


def _ahead(word: str, said: datetime) -> int:
    if word in _SPANS:
        return _SPANS[word]
    # Not the coming one but the one after it: 7 to 13 days ahead.
    return (_WEEKDAYS[word] - said.weekday()) % 7 + 7
