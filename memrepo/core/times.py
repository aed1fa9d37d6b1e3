"""Parse and format UTC datetimes, and interpret dates given by a user.

A date is a whole day in the repository's time zone, and a time is one moment. A query about a day
uses its last second. A value valid from or until a day is valid on all of that day.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache

from memrepo.core.patterns import regex

EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
"""The earliest time. It replaces an unknown time when times are sorted."""
_TIME = regex(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|z|[+-]\d{2}:?\d{2})?)?"
)
"""A date, or a time with or without an offset."""


@lru_cache(maxsize=4096)
def parse_time(text: str) -> datetime:
    """Parse an RFC 3339 time or a date. A date is read as midnight UTC.

    Fractions are dropped, and a missing offset means UTC. Raise ValueError for anything else.
    """
    return _in_zone(text, UTC)[1]


def _in_zone(text: str, zone: tzinfo) -> tuple[str, datetime]:
    """Return the date that a text consists of, or "" if it is a time, and its start in UTC."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    moment = datetime.fromisoformat(match[0].upper()).replace(microsecond=0)
    if moment.tzinfo is not None:
        try:
            return "", moment.astimezone(UTC)
        except OverflowError as error:  # the offset moves the time outside the years 1 to 9999
            raise ValueError(f"not an RFC 3339 time: {text!r}") from error
    return match[1] if match[0] == match[1] else "", _utc(moment.replace(tzinfo=zone))


def format_time(moment: datetime) -> str:
    """Format a time as `YYYY-MM-DDTHH:MM:SSZ`. Raise ValueError for a datetime without a zone."""
    if moment.tzinfo is None:
        raise ValueError("found a datetime without a time zone, expected one with a zone")
    # strftime is not used because its %Y does not pad years before 1000.
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def end_of(until: str, zone: tzinfo = UTC) -> datetime:
    """Return the end of a validity period. A date is valid until that day ends in the zone."""
    return asked(until, zone) if len(until) == 10 else parse_time(until)


def local_day(moment: datetime, zone: tzinfo) -> str:
    """Return the ISO date of a time in a time zone."""
    try:
        return moment.astimezone(zone).date().isoformat()
    except OverflowError:  # outside the years 1 to 9999
        return moment.date().isoformat()


def whole_seconds(moment: datetime) -> datetime:
    """Convert a datetime to UTC without fractions of a second, as stored in files and commits."""
    return moment.astimezone(UTC).replace(microsecond=0)


_DURATION = regex(r"(\d{1,6})\s*(s|min|h|d|w)")
_UNITS = {"w": 604_800, "d": 86_400, "h": 3600, "min": 60, "s": 1}


def parse_duration(text: str) -> timedelta:
    """Parse a duration such as `4h`, `90d` or `2w`. Raise ValueError if it has another form."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise ValueError(f"not a duration: {text!r}")
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def format_duration(length: timedelta) -> str:
    """Format a duration in the largest unit (at most days) that divides the duration evenly."""
    whole = int(length.total_seconds())
    unit = next(u for u, size in _UNITS.items() if u != "w" and whole % size == 0)
    return f"{whole // _UNITS[unit]}{unit}"


_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(microsecond=0, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def extent(text: str, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the start of a date and of the following day. For a time, return that time twice.

    Dates and times without an offset are in `zone`. Raise ValueError for anything else.
    """
    day, start = _in_zone(text, zone)
    if not day:
        return start, start
    if day == date.max.isoformat():
        return start, _LAST
    return start, _in_zone(str(date.fromisoformat(day) + timedelta(days=1)), zone)[1]


def asked(text: str, zone: tzinfo) -> datetime:
    """Return the point in time that a query is about.

    For a date, return its last second. Raise ValueError if invalid.
    """
    start, after = extent(text, zone)
    return start if start == after else after - _SECOND


def _utc(moment: datetime) -> datetime:
    """Convert a datetime to UTC.

    Times outside the years 1 to 9999 become the limit (`9999-12-31`: forever).
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return _FIRST if moment.year == 1 else _LAST


MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)
