"""Check whether runs follow their schedule: the last run, missed runs, and the next one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.core.times import format_time, parse_time
from memrepo.policies.cadence import Fire, guard, missed, next_fire
from memrepo.policies.rules import RunMode
from memrepo.store import run_files, settings
from memrepo.views.report import RunSummary

BY = "memrepo.schedule.by"
SINCE = "memrepo.schedule.since"
LAST = "last-run.json"


class Next(msgspec.Struct, frozen=True, kw_only=True):
    """The time of the next scheduled run, in the cadence's time zone."""

    when: str
    name: str
    mode: RunMode

    def describe(self, zone: str) -> str:
        """Return the time of the next run as text."""
        return f"{datetime.fromisoformat(self.when):%a %Y-%m-%d %H:%M} {zone}, {self.name}"


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """The schedule of this clone and the problems with it, worst first.

    `by` names the program that starts runs: crontab, launcher or nothing. `missed` counts the runs
    due since the last successful one. A single one counts as 0, because it may still be starting.
    """

    by: str
    missed: int
    failed: Mapping[str, Any] | None
    """Time and error of the last run if it failed (`at`, `error`), else None."""
    next: Next | None
    complaints: tuple[str, ...]


def next_of(fire: Fire | None) -> Next | None:
    """Return a scheduled time as a Next record."""
    if fire is None:
        return None
    return Next(when=fire.when.isoformat(), name=fire.name, mode=fire.mode)


def local_folder(work: Work) -> Path:
    """Return `.memrepo/`, the git-ignored folder for logs and records of this clone."""
    return work.store.root / work.tree.layout.prefix / ".memrepo"


def last_record(work: Work) -> dict[str, Any]:
    """Return the record of this clone's last runs; empty if it cannot be read."""
    return run_files.load_json(local_folder(work) / LAST, within=work.store.root)


def timetable(work: Work, now: datetime) -> Schedule:
    """Compare the configured cadence with the runs recorded in this clone."""
    here, record = settings.local(work.store.repo), last_record(work)
    cadence, zone = work.config.cadence, work.config.zone
    by = here.get(BY, "")
    times = [_parsed_time(here.get(SINCE, "")), _parsed_time(record.get("succeeded", ""))]
    since = max((t for t in times if t is not None), default=None)
    count = missed(since, now, cadence, zone) if by and since else 0
    failed = record.get("failed")
    failed = failed if _is_failure(failed) else None
    complaints = []
    if failed is not None:
        runs = "the last run" if failed["times"] == 1 else f"the last {failed['times']} runs"
        complaints.append(f"{runs} failed, {failed['at']}: {visible(failed['error'])}")
    if count > 1:
        complaints.append(f"missed {count} scheduled runs")
    return Schedule(
        by=by,
        missed=count if count > 1 else 0,
        failed=failed,
        next=next_of(next_fire(now, cadence, zone)),
        complaints=tuple(complaints),
    )


def _parsed_time(text: object) -> datetime | None:
    try:
        return parse_time(str(text))
    except ValueError:
        return None


def _is_failure(found: object) -> bool:
    return (
        isinstance(found, dict)
        and {"at", "error", "times"} <= found.keys()
        and isinstance(found["times"], int)
    )


def record_of(before: Mapping[str, object], summary: RunSummary) -> dict[str, object]:
    """Return this clone's record, updated after a run.

    A run skipped for a reconciliation changes no status.
    """
    failure, succeeded = before.get("failed"), before.get("succeeded", "")
    at = format_time(summary.finished)
    if summary.event == "run_failed" or summary.status == "partial":
        times = failure["times"] if _is_failure(failure) and isinstance(failure, dict) else 0
        failure = {"at": at, "error": summary.why, "times": times + 1}
    elif summary.status != "skipped_superseded":
        failure, succeeded = None, at
    return {
        "schema_version": 1,
        "last": summary.as_json(),
        "failed": failure,
        "succeeded": succeeded,
    }


def collides_with_reconciliation(work: Work, now: datetime) -> str:
    """Return why an incremental run would collide with a reconciliation; empty if it would not.

    Without an installed schedule in this clone, no reconciliation will start. A manual first run
    must not depend on the time of day.
    """
    cadence, zone = work.config.cadence, work.config.zone
    if not settings.local(work.store.repo).get(BY) or not guard(now, cadence, zone):
        return ""
    local = f"{now.astimezone(zone):%H:%M} {zone.key}"
    return f"{local} is within an hour of a reconciliation, which has priority (--force runs now)"


def stamp(now: datetime) -> str:
    """Return the id shared by the events of one run: its start time."""
    return format_time(now).replace("-", "").replace(":", "")
