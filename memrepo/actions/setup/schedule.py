"""`memrepo schedule`: start runs at configured times, by crontab or by an agent's own cron."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec

from memrepo.actions.request import DryRun, VerbResult, option
from memrepo.actions.run.plan import Mode
from memrepo.actions.run.timetable import BY, CRON_ZONE, SINCE, Next, local_folder, next_of
from memrepo.actions.setup.agent import cron_prompt
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.policies.cadence import MODES, clock_times, due, plain, upcoming
from memrepo.policies.rules import RunMode
from memrepo.store import crontab, run_files, settings

COMMAND_LIMIT = 990
"""The maximum length of a command in bytes. Crons truncate longer commands, or reject the table."""


class CannotSchedule(MemrepoError):
    """Raised when a job cannot be written as a crontab line."""

    exit_code = Exit.USAGE


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduled job, with its cron expression in the repository's time zone."""

    name: str
    mode: RunMode
    cron: str


def jobs(work: Work) -> tuple[Job, ...]:
    """Return the configured jobs, incremental ones first."""
    found = []
    for mode in reversed(MODES):
        crons = work.config.cadence.of(mode)
        for number, cron in enumerate(crons, start=1):
            name = f"{mode}-{number}" if len(crons) > 1 else mode
            found.append(Job(name=name, mode=mode, cron=cron))
    return tuple(found)


def crontab_lines(work: Work, cron_zone: str, now: datetime) -> dict[str, tuple[str, ...]]:
    """Return the crontab lines of each job, by job name. Raises CannotSchedule."""
    zone = ZoneInfo(cron_zone) if cron_zone else crontab.machine_zone()
    ahead = crontab.offsets(zone, work.config.zone, now)
    return {job.name: tuple(_lines(work, job, ahead)) for job in jobs(work)}


def block_of(work: Work, lines: dict[str, tuple[str, ...]]) -> list[str]:
    """Return a repository's block in the crontab.

    Each cron expression is a comment, followed by its lines.
    """
    zone = work.config.zone.key
    found = [f"# {zone}; written by `memrepo schedule install`, which overwrites it"]
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
    """Return the shell command to put on a crontab line.

    Escape percent signs, which would end the command.
    """
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
    """A job for an agent's own cron: times, timeout, message, and where to announce the result."""

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
    """Return the jobs for an agent's own cron, and problems that prevent delivery of reports."""
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
    """Return the path of the installed prompt for an agent that starts a run."""
    return local_folder(work) / f"{mode}-prompt.md"


def block_name(root: Path) -> str:
    """Return the name of a repository's crontab block, which is the repository's path."""
    return str(root)


SHOWN = 3


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo schedule`."""

    what: Annotated[
        Literal["install", "show", "remove", "due"],
        option(
            "write, print or remove the entries, or check whether a run is due now",
            choices=("install", "show", "remove", "due"),
        ),
    ]
    launcher: Annotated[
        bool,
        option(
            "an agent's cron starts the runs: print its jobs and do not change the crontab",
            "--launcher",
        ),
    ] = False
    cron_zone: Annotated[
        str | None,
        option(
            "time zone of cron, if not the machine's",
            "--cron-zone",
            metavar="ZONE",
            read=_zone,
        ),
    ] = None
    mode: Annotated[Mode, option("with due: the kind of run", "--mode", choices=MODES)] = (
        "incremental"
    )
    prompt: Annotated[
        Mode | None,
        option(
            "with show: print the agent's instructions for this kind of run",
            "--prompt",
            choices=MODES,
        ),
    ] = None
    dry_run: DryRun = False


class CronPrompt(VerbResult, frozen=True, kw_only=True):
    """The prompt for an agent that a scheduler starts to perform a run."""

    mode: Mode
    version: int
    hash: str
    prompt: str


class Due(VerbResult, frozen=True, kw_only=True):
    """Whether a run is due now."""

    due: bool
    mode: Mode


class Removed(VerbResult, frozen=True, kw_only=True):
    """Whether the crontab was changed, and what started the runs before."""

    changed: bool
    by: str


class Launchers(VerbResult, frozen=True, kw_only=True):
    """The jobs for an agent's own cron, and the times of the next runs."""

    entries: tuple[Launcher, ...]
    by: str
    zone: str
    taken_out: bool = False
    """Whether the entries were removed from the crontab."""
    next: tuple[Next, ...] = ()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduled job, and its lines in the crontab."""

    name: str
    mode: RunMode
    cron: str
    zone: str
    crontab: tuple[str, ...]


class Entries(VerbResult, frozen=True, kw_only=True):
    """The crontab entries with their state, and the times of the next runs."""

    entries: tuple[Entry, ...]
    by: str
    state: str
    zone: str
    next: tuple[Next, ...]
    changed: bool = False


def _zone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"found {text}, expected a zone") from error


def do(work: Work, request: Request) -> CronPrompt | Due | Removed | Launchers | Entries:
    """Install, show or remove the schedule, or report whether a run is due."""
    if request.prompt and request.what != "show":
        raise UsageError(
            f"memrepo schedule: {request.what} takes no --prompt",
            fix=f"memrepo schedule show --prompt {request.prompt}",
        )
    match request.what:
        case "show" if request.prompt:
            found = cron_prompt(work, request.prompt)
            return CronPrompt(
                mode=request.prompt, version=found.version, hash=found.hash, prompt=found.prompt
            )
        case "install" if request.launcher:
            return _launch(work, request)
        case "install":
            return _install(work, request)
        case "remove":
            return _remove(work, request)
        case "due":
            return _due(work, request)
        case _:
            return _show(work, request)


def _due(work: Work, request: Request) -> Due:
    is_due = due(work.call.now, work.config.cadence, work.config.zone, request.mode)
    return Due(due=is_due, mode=request.mode, exit=Exit.DONE if is_due else Exit.NO)


def install(work: Work, now: datetime, zone: str = "", *, dry_run: bool = False) -> bool:
    """Write a repository's entries to the crontab. Return whether the crontab changed.

    `zone` is the time zone of cron, if it differs from the machine's. A given zone is stored in the
    settings.
    """
    zone = zone or settings.get(work.store.repo, CRON_ZONE)
    lines, table = crontab_lines(work, zone, now), crontab.read()
    block = block_of(work, lines) if lines else []
    new = crontab.with_block(table, block_name(work.store.root), block)
    if not dry_run:
        if new != table:
            crontab.write(new)
        if zone:
            settings.put(work.store.repo, CRON_ZONE, zone)
        _record(work, now, "crontab")
    return new != table


def _install(work: Work, request: Request) -> Entries:
    zone = request.cron_zone or settings.get(work.store.repo, CRON_ZONE)
    changed = install(work, work.call.now, zone, dry_run=request.dry_run)
    head = "the crontab holds these entries already" if not changed else "in the crontab now"
    if request.dry_run:
        head = "nothing would change" if not changed else "dry run; these would be in the crontab"
    problems = () if zone else _about_zones(crontab.read())
    lines = crontab_lines(work, zone, work.call.now)
    return _entries(work, lines, head, problems, changed=changed)


def _record(work: Work, now: datetime, by: str) -> None:
    """Record what starts the runs, and since when.

    The time is not changed if `by` is already stored, so runs missed since then still count.
    """
    if settings.get(work.store.repo, BY) != by:
        settings.put(work.store.repo, BY, by)
        settings.put(work.store.repo, SINCE, format_time(now))


def _about_zones(table: bytes) -> tuple[Problem, ...]:
    if not crontab.sets_zone(table):
        return ()
    return (
        Problem(
            path="crontab",
            rule="crontab-sets-zone",
            severity="warning",
            message="your crontab sets CRON_TZ, which some crons obey and others ignore",
            fix="if yours obeys it, say so: `memrepo schedule install --cron-zone ZONE`",
        ),
    )


def _launch(work: Work, request: Request) -> Launchers:
    rows, problems = launchers(work)
    taken_out = False
    if not request.dry_run:
        if settings.get(work.store.repo, BY) == "crontab":
            taken_out = _take_out(work, dry_run=False)
        for mode in MODES:
            text = cron_prompt(work, mode).prompt + "\n"
            run_files.write_file(prompt_file(work, mode), text, within=work.store.root)
        _record(work, work.call.now, "launcher")
    zone = work.config.zone.key
    return Launchers(entries=rows, by="launcher", zone=zone, taken_out=taken_out, notices=problems)


def _remove(work: Work, request: Request) -> Removed:
    by = settings.get(work.store.repo, BY)
    try:
        changed = _take_out(work, dry_run=request.dry_run)
    except crontab.NoCrontab:
        if by == "crontab":
            raise
        changed = False
    if not request.dry_run:
        for key in (BY, SINCE, CRON_ZONE):
            settings.drop(work.store.repo, key)
    return Removed(changed=changed, by=by)


def _take_out(work: Work, *, dry_run: bool) -> bool:
    table = crontab.read()
    new = crontab.with_block(table, block_name(work.store.root), ())
    if new != table and not dry_run:
        crontab.write(new)
    return new != table


def _show(work: Work, request: Request) -> Launchers | Entries:
    by = settings.get(work.store.repo, BY)
    if request.launcher or by == "launcher":
        rows, problems = launchers(work)
        zone = work.config.zone.key
        return Launchers(entries=rows, by=by, zone=zone, next=_next(work), notices=problems)
    zone = request.cron_zone or settings.get(work.store.repo, CRON_ZONE)
    lines = crontab_lines(work, zone, work.call.now)
    return _entries(work, lines, _standing(work, by, work.call.now), ())


def out_of_step(work: Work, now: datetime) -> str:
    """Return how the crontab differs from the configuration; empty if it does not."""
    there = crontab.block(crontab.read(), block_name(work.store.root))
    zone = settings.get(work.store.repo, CRON_ZONE)
    lines = crontab_lines(work, zone, now)
    if list(there) == (block_of(work, lines) if lines else []):
        return ""
    what = "out of step with the configuration" if there else "not there"
    return f"the crontab's entries are {what} (`memrepo schedule install`)"


def _standing(work: Work, by: str, now: datetime) -> str:
    if by != "crontab":
        return "not scheduled; `memrepo schedule install` would write:"
    try:
        return f"{out_of_step(work, now) or 'scheduled by the crontab'}:"
    except crontab.NoCrontab as error:
        return f"not scheduled ({error.message}):"


def _entries(
    work: Work,
    lines: dict[str, tuple[str, ...]],
    head: str,
    problems: tuple[Problem, ...],
    *,
    changed: bool = False,
) -> Entries:
    zone = work.config.zone.key
    return Entries(
        entries=tuple(
            Entry(name=job.name, mode=job.mode, cron=job.cron, zone=zone, crontab=lines[job.name])
            for job in jobs(work)
        ),
        by=settings.get(work.store.repo, BY),
        state=head,
        zone=zone,
        next=_next(work),
        changed=changed,
        notices=problems,
    )


def _next(work: Work) -> tuple[Next, ...]:
    fires = islice(upcoming(work.call.now, work.config.cadence, work.config.zone), SHOWN)
    return tuple(one for fire in fires if (one := next_of(fire)))
