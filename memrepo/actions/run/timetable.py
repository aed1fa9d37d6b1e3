"""What this clone recorded of its runs: the last one, missed runs, and the next one."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec

from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.core.times import format_time, parse_time
from memrepo.policies.cadence import Fire, guard, missed, next_fire
from memrepo.policies.rules import RunMode
from memrepo.store import run_files, settings
from memrepo.views.report import RunRecord

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
    failed: Failure | None
    """Set if the last run failed."""
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


class CloneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of this clone's runs: the last one, the last failure and the last success."""

    last: RunRecord | None = None
    failed: Failure | None = None
    """Set until a run succeeds."""
    succeeded: datetime | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """When and why the last runs failed, and how many did in a row."""

    at: str
    error: str
    times: int


def last_record(work: Work) -> CloneRecord:
    """Return the record of this clone's last runs; empty if it cannot be read."""
    found = run_files.load_json(local_folder(work) / LAST, within=work.store.root)
    try:
        return msgspec.convert(found, CloneRecord)
    except msgspec.ValidationError:
        return CloneRecord()


def timetable(work: Work, now: datetime) -> Schedule:
    """Compare the configured cadence with the runs recorded in this clone."""
    here, record = settings.local(work.store.repo), last_record(work)
    cadence, zone = work.config.schedule, work.config.zone
    by = here.get(BY, "")
    times = [_parsed_time(here.get(SINCE, "")), record.succeeded]
    since = max((t for t in times if t is not None), default=None)
    count = missed(since, now, cadence, zone) if by and since else 0
    failed = record.failed
    complaints = []
    if failed is not None:
        runs = "the last run" if failed.times == 1 else f"the last {failed.times} runs"
        complaints.append(f"{runs} failed, {failed.at}: {visible(failed.error)}")
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


def updated_record(before: CloneRecord, run: RunRecord) -> CloneRecord:
    """Return this clone's record after a run.

    A run skipped for a reconciliation changes no status.
    """
    failed, succeeded = before.failed, before.succeeded
    if run.event == "run_failed" or run.status == "partial":
        times = failed.times + 1 if failed else 1
        failed = Failure(at=format_time(run.finished), error=visible(run.why), times=times)
    elif run.status != "skipped_superseded":
        failed, succeeded = None, run.finished
    return CloneRecord(last=run, failed=failed, succeeded=succeeded)


def collides_with_reconciliation(work: Work, now: datetime) -> str:
    """Return why an incremental run would collide with a reconciliation; empty if it would not.

    Without an installed schedule in this clone, no reconciliation will start. A manual first run
    must not depend on the time of day.
    """
    cadence, zone = work.config.schedule, work.config.zone
    if not settings.local(work.store.repo).get(BY) or not guard(now, cadence, zone):
        return ""
    local = f"{now.astimezone(zone):%H:%M} {zone.key}"
    return f"{local} is within an hour of a reconciliation, which has priority (--force runs now)"
