"""Compute the due times of runs from cron expressions and a time zone.

An incremental run close to a reconciliation is skipped, because the reconciliation does its work.

Lineage: memory-purifier, the reconciliation-window guard. Deliberate differences: the guard accepts
any cron expression, measures 60 minutes instead of clock hours, and crosses midnight. The cron
rules, including those for summer time, are those of cronsim, which follows Debian's cron.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice, takewhile

import msgspec
from cronsim import CronSim

from memrepo.core.ids import visible
from memrepo.policies.rules import MODES, RunMode, Schedule

WINDOW = timedelta(hours=1)
"""Skip an incremental run this close to a reconciliation, before or after it."""
SLACK = timedelta(minutes=5)
"""How late a scheduler may start a run that is due."""
MOST_MISSED = 1000


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    """A due run: its mode, its name, and its time in the time zone of the schedule."""

    when: datetime
    name: str
    mode: RunMode

    def describe(self, zone: str) -> str:
        """Return the time and the name as text."""
        return f"{self.when:%a %Y-%m-%d %H:%M} {zone}, {self.name}"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """When and why the last runs failed, and how many did in a row."""

    at: str
    error: str
    times: int


class Timetable(msgspec.Struct, frozen=True, kw_only=True):
    """What starts the runs of a clone, the next run, and what went wrong with the last ones.

    `by` names the program that starts runs: crontab, launcher or nothing. `missed` counts the runs
    due since the last successful one. A single one counts as 0, because it may still be starting.
    """

    by: str
    missed: int
    failed: Failure | None
    """Set if the last run failed."""
    next: Fire | None

    @property
    def complaints(self) -> tuple[str, ...]:
        """Return what went wrong, worst first."""
        found = []
        if self.failed is not None:
            times = self.failed.times
            runs = "the last run" if times == 1 else f"the last {times} runs"
            found.append(f"{runs} failed, {self.failed.at}: {visible(self.failed.error)}")
        if self.missed:
            found.append(f"missed {self.missed} scheduled runs")
        return tuple(found)


def fires(expression: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """Yield the UTC times after `after` at which a cron expression fires.

    A fixed time that summer time skips fires when the gap ends. A time that occurs twice fires
    once.
    """
    for found in CronSim(expression, after.astimezone(zone)):
        # Compare in UTC: within one zone, Python compares clock times, and an hour may repeat.
        moment = found.astimezone(UTC)
        if moment > after:
            yield moment


def guard(now: datetime, schedule: Schedule, zone: tzinfo) -> bool:
    """Return whether to skip an incremental run at `now` because a reconciliation is close."""
    first = now - WINDOW - timedelta(seconds=1)
    return any(
        next(fires(each, zone, first), now + 2 * WINDOW) <= now + WINDOW
        for each in schedule.reconciliation
    )


def upcoming(now: datetime, schedule: Schedule, zone: tzinfo) -> Iterator[Fire]:
    """Yield the runs due after `now`, earliest first, except incremental runs that are skipped."""
    streams = [
        _stream(cron, MODES.index(mode), name, zone, now) for name, mode, cron in schedule.jobs()
    ]
    for moment, order, name in heapq.merge(*streams):
        mode = MODES[order]
        if mode == "reconciliation" or not guard(moment, schedule, zone):
            yield Fire(when=moment.astimezone(zone), name=name, mode=mode)


def _stream(
    cron: str, order: int, name: str, zone: tzinfo, after: datetime
) -> Iterator[tuple[datetime, int, str]]:
    for moment in fires(cron, zone, after):
        yield moment, order, name


def next_fire(now: datetime, schedule: Schedule, zone: tzinfo) -> Fire | None:
    """Return the next run due after `now`, or None if no run is scheduled."""
    return next(upcoming(now, schedule, zone), None)


def missed(since: datetime, now: datetime, schedule: Schedule, zone: tzinfo) -> int:
    """Count the runs that were due after `since` and up to `now`, at most 1000."""
    due = takewhile(lambda fire: fire.when <= now, upcoming(since, schedule, zone))
    return sum(1 for _ in islice(due, MOST_MISSED))


def due(now: datetime, schedule: Schedule, zone: tzinfo, mode: RunMode) -> bool:
    """Return whether a run of a mode became due within the last five minutes."""
    return any(
        next(fires(each, zone, now - SLACK), now + SLACK) <= now for each in schedule.of(mode)
    )
