"""The jobs of a repository's schedule: crontab lines, and launcher messages for an agent's cron.

Zones: most crons know one zone, that of their machine, and CRON_TZ is obeyed by some and ignored
by others; where it is obeyed it moves foreign lines too. So a job is written in the machine's
time. Where that is not the repository's zone, a job starts at each clock time that may be meant,
on every day, and asks `memrepo schedule due` first: it alone knows both zones and summer time.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from memrepo.actions.run.timetable import local_folder
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.problems import Problem
from memrepo.policies.cadence import MODES, clock_times, plain
from memrepo.policies.rules import RunMode
from memrepo.store import crontab

COMMAND_LIMIT = 990
"""Crons cut longer commands off, or refuse the table."""


class CannotSchedule(MemrepoError):
    """A job cannot be written as a crontab line."""

    exit_code = Exit.USAGE


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One cron expression of the cadence, in the repository's zone."""

    name: str
    mode: RunMode
    cron: str


def jobs(work: Work) -> tuple[Job, ...]:
    """Return the jobs that the configuration asks for, incremental ones first."""
    found = []
    for mode in reversed(MODES):
        crons = work.config.cadence.of(mode)
        for number, cron in enumerate(crons, start=1):
            name = f"{mode}-{number}" if len(crons) > 1 else mode
            found.append(Job(name=name, mode=mode, cron=cron))
    return tuple(found)


def crontab_lines(work: Work, cron_zone: str, now: datetime) -> dict[str, tuple[str, ...]]:
    """Return the crontab lines of each job by name; raises CannotSchedule."""
    zone = ZoneInfo(cron_zone) if cron_zone else crontab.machine_zone()
    ahead = crontab.offsets(zone, work.config.zone, now)
    return {job.name: tuple(_lines(work, job, ahead)) for job in jobs(work)}


def block_of(work: Work, lines: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the block of a repository: a comment with each expression, then its lines."""
    zone = work.config.zone.key
    found = [f"# {zone}; written by `memrepo schedule install`, which writes it anew"]
    for job in jobs(work):
        found += [f"# {job.name}: {job.cron}", *lines[job.name]]
    return found


def _lines(work: Work, job: Job, ahead: frozenset[timedelta]) -> Iterator[str]:
    if ahead == {timedelta(0)} and plain(job.cron):
        yield f"{job.cron} {_command(work, job.mode, asks=False)}"
        return
    for cron in clock_times(job.cron, ahead):
        yield f"{cron} {_command(work, job.mode, asks=True)}"


def _command(work: Work, mode: RunMode, *, asks: bool) -> str:
    """Return what cron hands to its shell; a percent sign would end the command there."""
    root, log = str(work.store.root), local_folder(work) / "log"
    if "\n" in root or "\r" in root:
        raise CannotSchedule(
            "a crontab cannot hold a path with a line break", fix="move the repository"
        )
    memrepo = (*crontab.program(), "-C", root)
    words = [
        *crontab.timeout_words(work.config.get("schedule.timeout_s")),
        *memrepo,
        "run",
        "--mode",
        mode,
        "--report",
        work.config.get("reporting.mode"),
    ]
    run = shlex.join(words)
    if asks:
        run = f"{{ {shlex.join([*memrepo, '-q', 'schedule', 'due', '--mode', mode])} && {run}; }}"
    path = crontab.search_path()
    before = f"export PATH={shlex.quote(path)}; " if path else ""
    before += f"mkdir -p {shlex.quote(str(log))} && "
    command = f"{before}{run} >> {shlex.quote(str(log / 'cron.log'))} 2>&1".replace("%", r"\%")
    if len(command.encode()) > COMMAND_LIMIT:
        raise CannotSchedule(
            f"the command is longer than {COMMAND_LIMIT} bytes, which crons cut off",
            fix="move the repository to a shorter path, or use `schedule install --launcher`",
        )
    return command


class Launcher(msgspec.Struct, frozen=True, kw_only=True):
    """A job as an agent's cron takes it: when, for how long, what to say, and to whom."""

    name: str
    mode: RunMode
    cron: str
    zone: str
    timeout_s: int
    message: str
    announce: bool
    channel: str | None
    to: str | None


def launchers(work: Work) -> tuple[tuple[Launcher, ...], tuple[Problem, ...]]:
    """Return each job as an agent's cron takes it, and what keeps its reports from delivery."""
    get = work.config.get
    channel, to = get("announce.channel"), get("announce.to")
    told = bool(get("reporting.enabled") and channel and to)
    rows = tuple(
        Launcher(
            name=f"memrepo-{job.name}",
            mode=job.mode,
            cron=job.cron,
            zone=work.config.zone.key,
            timeout_s=get("schedule.timeout_s"),
            message=f"Run memrepo. Read {prompt_file(work, job.mode)} and follow every step"
            " strictly.",
            announce=told,
            channel=channel if told else None,
            to=to if told else None,
        )
        for job in jobs(work)
    )
    if told or not get("reporting.enabled"):
        return rows, ()
    lacking = "announce.to" if channel else "announce.channel"
    return rows, (
        Problem(
            path=work.tree.layout.config,
            rule="announce-incomplete",
            key=lacking,
            message=f"reporting.enabled is true, but {lacking} is not set: nothing is delivered",
            fix="set announce.channel and announce.to",
            severity="warning",
        ),
    )


def prompt_file(work: Work, mode: RunMode) -> Path:
    """Return where the instructions for an agent that starts a run are, once it was installed."""
    return local_folder(work) / f"{mode}-prompt.md"


def block_name(root: Path) -> str:
    """Return the name of a repository's block: its path."""
    return str(root)
