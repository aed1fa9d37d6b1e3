"""What a person means by a date: a whole day in the repository's zone, or one moment.

One rule for every question about time: who asks about a day asks about its last second, and what
holds from or until a day holds on all of that day.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

from memrepo.core.patterns import regex
from memrepo.core.times import parse_time

_DATE = regex(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_OFFSET = regex(r"(?:[Zz]|[+-]\d{2}:?\d{2})$", re.ASCII)
_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(microsecond=0, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def extent(text: str, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the first moment of a date and the first after it; of a time the moment twice.

    Dates, and times without an offset, are those of the zone. Raises ValueError.
    """
    text = text.strip()
    if _DATE.fullmatch(text):
        day = date.fromisoformat(text)
        after = day + timedelta(days=1) if day < date.max else None
        return _midnight(day, zone), _midnight(after, zone) if after else _LAST
    moment = parse_time(text)
    if _OFFSET.search(text) is None:
        moment = _utc(moment.replace(tzinfo=zone))
    return moment, moment


def asked(text: str, zone: tzinfo) -> datetime:
    """Return the moment that is asked about: of a date its last second. Raises ValueError."""
    start, after = extent(text, zone)
    return start if start == after else after - _SECOND


def _midnight(day: date, zone: tzinfo) -> datetime:
    return _utc(datetime(day.year, day.month, day.day, tzinfo=zone))


def _utc(moment: datetime) -> datetime:
    """Turn into UTC; what leaves the years 1 to 9999 is their edge (`9999-12-31`: for ever)."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return _FIRST if moment.year == 1 else _LAST
