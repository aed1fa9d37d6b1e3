"""The schedule for a systemd timer, or for launchd: files to put in place, each with its words.

systemd knows zones, so a timer fires at the repository's own times, and catches up on what a
machine that was off has missed. launchd knows the machine's clock alone: a job fires at each clock
time that may be meant, and asks `memrepo schedule due` first, as a crontab does.
"""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import product

import msgspec
from cronsim import CronSim

from memrepo.actions.run.timetable import local_folder
from memrepo.actions.setup.jobs import CannotSchedule, Job, jobs
from memrepo.actions.work import Work
from memrepo.core.ids import digest
from memrepo.policies.cadence import clock_times, plain
from memrepo.store import crontab

_DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


class UnitFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file: where it goes, and what it holds."""

    path: str
    text: str


def systemd(work: Work) -> tuple[UnitFile, ...]:
    """Return a service and a timer for each job."""
    found = []
    for job in jobs(work):
        name = f"{_name(work)}-{job.name}"
        place = f"~/.config/systemd/user/{name}"
        seconds = work.config.get("schedule.timeout_s")
        service = (
            f"[Unit]\nDescription=memrepo, {job.mode} run\n\n"
            f"[Service]\nType=oneshot\nTimeoutStartSec={seconds}\n"
            f"ExecStart={_systemd_words(_run(work, job))}\n"
        )
        times = "".join(f"OnCalendar={one}\n" for one in _calendar(job, work.config.zone.key))
        timer = (
            f"[Unit]\nDescription=memrepo, {job.cron}\n\n"
            f"[Timer]\n{times}Persistent=true\n\n[Install]\nWantedBy=timers.target\n"
        )
        found.append(UnitFile(path=f"{place}.service", text=service))
        found.append(UnitFile(path=f"{place}.timer", text=timer))
    return tuple(found)


def launchd(work: Work, now: datetime) -> tuple[UnitFile, ...]:
    """Return a property list for each job."""
    ahead = crontab.offsets(crontab.machine_zone(), work.config.zone, now)
    found = []
    for job in jobs(work):
        label = f"{_name(work)}-{job.name}"
        memrepo = (*crontab.program(), "-C", str(work.store.root))
        asks = shlex.join([*memrepo, "-q", "schedule", "due", "--mode", job.mode])
        command = f"{asks} && exec {shlex.join(_run(work, job))}"
        log = str(local_folder(work) / "log" / "launchd.log")
        data = plistlib.dumps(
            {
                "Label": label,
                "ProgramArguments": ["/bin/sh", "-c", command],
                "StartCalendarInterval": [
                    {"Hour": hour, "Minute": minute}
                    for cron in clock_times(job.cron, ahead)
                    for hour, minute in _clock(cron)
                ],
                "StandardOutPath": log,
                "StandardErrorPath": log,
            }
        )
        path = f"~/Library/LaunchAgents/{label}.plist"
        found.append(UnitFile(path=path, text=data.decode()))
    return tuple(found)


def _name(work: Work) -> str:
    """Return a name for the jobs of a repository that no other has."""
    return f"memrepo-{digest([str(work.store.root)])[:8]}"


def _run(work: Work, job: Job) -> list[str]:
    root = str(work.store.root)
    if "\n" in root or "\r" in root:
        raise CannotSchedule(
            "a unit cannot hold a path with a line break", fix="move the repository"
        )
    report = work.config.get("reporting.mode")
    return [*crontab.program(), "-C", root, "run", "--mode", job.mode, "--report", report]


def _systemd_words(words: Sequence[str]) -> str:
    """Quote words for ExecStart, where a percent sign and a dollar mean something."""
    spelled = (w.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") for w in words)
    return " ".join(f'"{w.replace("$", "$$")}"' for w in spelled)


def _calendar(job: Job, zone: str) -> list[str]:
    """Return the calendar events of a job; cron joins day and weekday by or, systemd by and."""
    if not plain(job.cron):
        raise CannotSchedule(
            f"a timer cannot say {job.cron!r}", fix="use `memrepo schedule install`"
        )
    parsed = CronSim(job.cron, datetime(2000, 1, 1, tzinfo=UTC))
    _, _, day, month, weekday = job.cron.split()
    hours, minutes = (_listed(v) for v in (parsed.hours, parsed.minutes))
    months = _listed(parsed.months) if month != "*" else "*"
    days = _listed(parsed.days) if day != "*" else "*"
    names = [_DAYS[n % 7] for n in sorted({n % 7 for n in parsed.weekdays if isinstance(n, int)})]
    week = f"{','.join(names)} " if weekday != "*" else ""
    clock = f"{hours}:{minutes}:00 {zone}"
    if week and day != "*":
        return [f"{week}*-{months}-* {clock}", f"*-{months}-{days} {clock}"]
    return [f"{week}*-{months}-{days} {clock}"]


def _listed(values: Iterable[object]) -> str:
    return ",".join(f"{n:02}" for n in sorted(n for n in values if isinstance(n, int)))


def _clock(cron: str) -> list[tuple[int, int]]:
    parsed = CronSim(cron, datetime(2000, 1, 1, tzinfo=UTC))
    return sorted(product(parsed.hours, parsed.minutes))
