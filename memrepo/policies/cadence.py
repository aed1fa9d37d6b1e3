"""When runs are due: cron expressions in a zone, and the slots that reconciliation owns.

Lineage: memory-purifier, the reconciliation-window guard.
Deliberate differences: the guard reads any cron expression and not only day lists, counts 60
minutes and not clock hours, and reaches over midnight. Cron's own rules, summer time included,
are cronsim's, which follows Debian's cron.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice, takewhile

import msgspec
from cronsim import CronSim, CronSimError

from memrepo.policies.rules import RunMode

MODES: tuple[RunMode, ...] = ("reconciliation", "incremental")

WINDOW = timedelta(hours=1)
"""An incremental run this near to a reconciliation, before or after it, is superseded by it."""
SLACK = timedelta(minutes=5)
"""How late a scheduler may start a run that is still the one meant."""
MOST_MISSED = 1000


class Cadence(msgspec.Struct, frozen=True, kw_only=True):
    """The cron expressions of both modes (five fields); an empty tuple: never."""

    incremental: tuple[str, ...] = ()
    reconciliation: tuple[str, ...] = ()

    def of(self, mode: RunMode) -> tuple[str, ...]:
        """Return the expressions of one mode."""
        return self.incremental if mode == "incremental" else self.reconciliation


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    """One time at which a run is due, in the cadence's zone; `name` counts a mode's expressions."""

    when: datetime
    name: str
    mode: RunMode


def cron_problem(expression: str) -> str:
    """Return what is wrong with a cron expression, or an empty string.

    It has five fields: numbers, names, ranges, lists, steps, and `L`, `LW` or `5#2` for days.
    """
    if not expression.isprintable():
        return "expected one line without control characters"
    if len(expression.split()) != 5:
        return "expected five fields: minute, hour, day of month, month, day of week"
    try:
        parsed = CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC))
        # Its search gives up after 50 years.
        return "" if next(parsed, None) else "no date matches it"
    except CronSimError as error:
        return str(error).replace("Bad ", "wrong ")
    except (AssertionError, ValueError, TypeError):  # what its parser did not foresee
        return "wrong cron expression"


def fires(expression: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """Yield in UTC when an expression fires, strictly after a moment, for as long as it does.

    A fixed time that summer time skips fires when the gap ends, one that comes twice fires once.
    """
    for found in CronSim(expression, after.astimezone(zone)):
        # Two times of one zone are compared by their clocks, which a repeated hour has twice.
        moment = found.astimezone(UTC)
        if moment > after:
            yield moment


def guard(now: datetime, cadence: Cadence, zone: tzinfo) -> bool:
    """Return whether a reconciliation owns this time: an incremental run would be superseded."""
    first = now - WINDOW - timedelta(seconds=1)
    return any(
        next(fires(each, zone, first), now + 2 * WINDOW) <= now + WINDOW
        for each in cadence.reconciliation
    )


def upcoming(now: datetime, cadence: Cadence, zone: tzinfo) -> Iterator[Fire]:
    """Yield what is due after a moment, earliest first, without what would be superseded."""
    streams = [
        _stream(cadence, mode, number, zone, now)
        for mode in MODES
        for number in range(len(cadence.of(mode)))
    ]
    for moment, _, name, mode in heapq.merge(*streams):
        if mode == "reconciliation" or not guard(moment, cadence, zone):
            yield Fire(when=moment.astimezone(zone), name=name, mode=mode)


def _stream(
    cadence: Cadence, mode: RunMode, number: int, zone: tzinfo, after: datetime
) -> Iterator[tuple[datetime, int, str, RunMode]]:
    expressions = cadence.of(mode)
    name = f"{mode}-{number + 1}" if len(expressions) > 1 else mode
    for moment in fires(expressions[number], zone, after):
        yield moment, MODES.index(mode), name, mode


def next_fire(now: datetime, cadence: Cadence, zone: tzinfo) -> Fire | None:
    """Return the next run that is due after a moment, or None where none ever is."""
    return next(upcoming(now, cadence, zone), None)


def missed(since: datetime, now: datetime, cadence: Cadence, zone: tzinfo) -> int:
    """Count the runs that were due after `since` and up to `now`, at most 1000."""
    due = takewhile(lambda fire: fire.when <= now, upcoming(since, cadence, zone))
    return sum(1 for _ in islice(due, MOST_MISSED))


def due(now: datetime, cadence: Cadence, zone: tzinfo, mode: RunMode) -> bool:
    """Return whether a run of a mode became due within the last five minutes."""
    return any(
        next(fires(each, zone, now - SLACK), now + SLACK) <= now for each in cadence.of(mode)
    )


def clock_times(expression: str, offsets: frozenset[timedelta]) -> tuple[str, ...]:
    """Return crontab expressions for every day at the clock times of one in another zone.

    `offsets` are how far the other clock is ahead. Days are left open, since a shift may cross
    midnight: whoever is started asks `due`.
    """
    parsed = CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC))
    hours_of: dict[int, set[int]] = {}
    for offset in offsets:
        for hour in parsed.hours:
            for minute in parsed.minutes:
                shifted = (hour * 60 + minute + offset // timedelta(minutes=1)) % 1440
                hours_of.setdefault(shifted % 60, set()).add(shifted // 60)
    minutes_of: dict[tuple[int, ...], list[int]] = {}
    for minute in sorted(hours_of):
        minutes_of.setdefault(tuple(sorted(hours_of[minute])), []).append(minute)
    return tuple(
        f"{_field(minutes, 60)} {_field(hours, 24)} * * *" for hours, minutes in minutes_of.items()
    )


def _field(values: list[int] | tuple[int, ...], all_: int) -> str:
    return "*" if len(values) == all_ else ",".join(map(str, values))


def plain(expression: str) -> bool:
    """Return whether any crontab knows an expression: the signs L, W and # are extensions."""
    day, weekday = expression.upper().split()[2], expression.upper().split()[4]
    return "L" not in day and "#" not in weekday and "L" not in weekday
