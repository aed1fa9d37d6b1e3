"""`memrepo schedule`: start runs at configured times, by crontab or by an agent's own cron."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import asdict

from memrepo.actions.request import DryRun, VerbResult, option
from memrepo.actions.run.plan import Mode
from memrepo.actions.run.timetable import BY, CRON_ZONE, SINCE, Next, local_folder, next_of
from memrepo.actions.setup.agent import cron_prompt
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, UsageError
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.policies.cadence import MODES, clock_times, due, plain, upcoming
from memrepo.policies.rules import RunMode
from memrepo.store import crontab, run_files, settings
from memrepo.store.errors import NoCrontab

MAX_COMMAND = 990
"""The maximum length of a command in bytes. Crons truncate longer commands, or reject the table."""
NEXT_RUNS = 3


def _zone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"found {text}, expected a zone") from error


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
            "time zone of cron, if not the machine's", "--cron-zone", metavar="ZONE", read=_zone
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
    """The prompt for an agent that a scheduler starts for a run."""

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


class Launchers(VerbResult, frozen=True, kw_only=True):
    """The jobs for an agent's own cron, and the times of the next runs."""

    entries: tuple[Launcher, ...]
    by: str
    zone: str
    taken_out: bool = False
    """Whether the entries were removed from the crontab."""
    next: tuple[Next, ...] = ()


class CrontabEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduled job with its cron expression in `zone`, and its lines in the crontab."""

    name: str
    mode: RunMode
    cron: str
    zone: str
    crontab: tuple[str, ...]


class Entries(VerbResult, frozen=True, kw_only=True):
    """The crontab entries with their state, and the times of the next runs."""

    entries: tuple[CrontabEntry, ...]
    by: str
    state: str
    zone: str
    next: tuple[Next, ...]
    changed: bool = False


def do(work: Work, request: Request) -> CronPrompt | Due | Removed | Launchers | Entries:
    """Install, show or remove the schedule, or report whether a run is due."""
    now = work.call.now
    if request.prompt and request.what != "show":
        raise UsageError(
            f"memrepo schedule: {request.what} takes no --prompt",
            fix=f"memrepo schedule show --prompt {request.prompt}",
        )
    match request.what:
        case "show" if request.prompt:
            return CronPrompt(mode=request.prompt, **asdict(cron_prompt(work, request.prompt)))
        case "due":
            is_due = due(now, work.config.cadence, work.config.zone, request.mode)
            return Due(due=is_due, mode=request.mode, exit=Exit.DONE if is_due else Exit.NO)
        case "remove":
            return _remove(work, dry_run=request.dry_run)
        case "install" if request.launcher:
            return _install_launchers(work, dry_run=request.dry_run)
        case "install":
            changed = install(work, now, request.cron_zone or "", dry_run=request.dry_run)
            state = "in the crontab now" if changed else "the crontab holds these entries already"
            if request.dry_run:
                state = "dry run; these would be in the crontab"
                state = state if changed else "nothing would change"
        case _:
            by = settings.get(work.store.repo, BY)
            if request.launcher or by == "launcher":
                return _launchers(work, by, next_=_next_runs(work))
            state, changed = _state(work, by), False
    return Entries(
        entries=_entries(work, now, request.cron_zone or ""),
        by=settings.get(work.store.repo, BY),
        state=state,
        zone=work.config.zone.key,
        next=_next_runs(work),
        changed=changed,
    )


def _next_runs(work: Work) -> tuple[Next, ...]:
    fires = islice(upcoming(work.call.now, work.config.cadence, work.config.zone), NEXT_RUNS)
    return tuple(one for fire in fires if (one := next_of(fire)))


def _jobs(work: Work) -> Iterator[tuple[str, RunMode, str]]:
    """Yield (name, mode, cron expression) for each configured job, incremental ones first."""
    for mode in reversed(MODES):
        crons = work.config.cadence.of(mode)
        for number, cron in enumerate(crons, start=1):
            yield f"{mode}-{number}" if len(crons) > 1 else mode, mode, cron


# -- the crontab -----------------------------------------------------------------------------------


def install(work: Work, now: datetime, zone: str = "", *, dry_run: bool = False) -> bool:
    """Write a repository's entries to the crontab. Return whether the crontab changed.

    `zone` is the time zone of cron, if it differs from the machine's. A given zone is stored in the
    settings.
    """
    changed = _write(work, _block(work, now, zone), dry_run=dry_run)
    if not dry_run:
        if zone:
            settings.put(work.store.repo, CRON_ZONE, zone)
        _record(work, "crontab")
    return changed


def out_of_step(work: Work, now: datetime) -> str:
    """Return how the crontab differs from the configuration; empty if it does not."""
    present = crontab.block(crontab.read(), str(work.store.root))
    if list(present) == _block(work, now):
        return ""
    what = "different from the configuration" if present else "not there"
    return f"the crontab's entries are {what} (`memrepo schedule install`)"


def _state(work: Work, by: str) -> str:
    if by != "crontab":
        return "not scheduled; `memrepo schedule install` would write:"
    try:
        return f"{out_of_step(work, work.call.now) or 'scheduled by the crontab'}:"
    except NoCrontab as error:
        return f"not scheduled ({error.message}):"


def _remove(work: Work, *, dry_run: bool) -> Removed:
    by = settings.get(work.store.repo, BY)
    try:
        changed = _write(work, (), dry_run=dry_run)
    except NoCrontab:
        if by == "crontab":
            raise
        changed = False
    if not dry_run:
        for key in (BY, SINCE, CRON_ZONE):
            settings.drop(work.store.repo, key)
    return Removed(changed=changed, by=by)


def _write(work: Work, block: Sequence[str], *, dry_run: bool) -> bool:
    """Replace or remove the repository's block, and return whether the crontab changed."""
    table = crontab.read()
    new = crontab.with_block(table, str(work.store.root), block)
    if new != table and not dry_run:
        crontab.write(new)
    return new != table


def _record(work: Work, by: str) -> None:
    """Record what starts the runs, and since when.

    The time is not changed if `by` is already stored, so runs missed since then still count.
    """
    if settings.get(work.store.repo, BY) != by:
        settings.put(work.store.repo, BY, by)
        settings.put(work.store.repo, SINCE, format_time(work.call.now))


def _block(work: Work, now: datetime, zone: str = "") -> list[str]:
    """Return a repository's block: each cron expression is a comment, followed by its lines."""
    entries = _entries(work, now, zone)
    head = f"# {work.config.zone.key}; written by `memrepo schedule install`, which overwrites it"
    lines = [line for one in entries for line in (f"# {one.name}: {one.cron}", *one.crontab)]
    return [head, *lines] if entries else []


def _entries(work: Work, now: datetime, zone: str) -> tuple[CrontabEntry, ...]:
    zone = zone or settings.get(work.store.repo, CRON_ZONE)
    cron_zone = ZoneInfo(zone) if zone else crontab.machine_zone()
    ahead = crontab.offsets(cron_zone, work.config.zone, now)
    return tuple(
        CrontabEntry(
            name=name,
            mode=mode,
            cron=cron,
            zone=work.config.zone.key,
            crontab=tuple(_lines(work, mode, cron, ahead)),
        )
        for name, mode, cron in _jobs(work)
    )


def _lines(work: Work, mode: RunMode, cron: str, ahead: frozenset[timedelta]) -> Iterator[str]:
    """Yield the crontab lines of a job.

    If cron's clock differs from the repository's, the lines of all possible times check whether a
    run is due.
    """
    if ahead == {timedelta(0)} and plain(cron):
        yield f"{cron} {_command(work, mode, checks_due=False)}"
        return
    for times in clock_times(cron, ahead):
        yield f"{times} {_command(work, mode, checks_due=True)}"


def _command(work: Work, mode: RunMode, *, checks_due: bool) -> str:
    """Return the shell command to put on a crontab line.

    Escape percent signs, which would end the command.
    """
    root, log = str(work.store.root), local_folder(work) / "log"
    if "\n" in root or "\r" in root:
        raise UsageError(
            "a crontab cannot hold a path with a line break", fix="move the repository"
        )
    memrepo = (*crontab.program(), "-C", root)
    limit = crontab.timeout_words(work.config.schedule.timeout_s)
    report = work.config.reporting.mode
    run = shlex.join([*limit, *memrepo, "run", "--mode", mode, "--report", report])
    if checks_due:
        run = f"{{ {shlex.join([*memrepo, '-q', 'schedule', 'due', '--mode', mode])} && {run}; }}"
    path = crontab.search_path()
    before = f"export PATH={shlex.quote(path)}; " if path else ""
    before += f"mkdir -p {shlex.quote(str(log))} && "
    command = f"{before}{run} >> {shlex.quote(str(log / 'cron.log'))} 2>&1".replace("%", r"\%")
    if len(command.encode()) > MAX_COMMAND:
        raise UsageError(
            f"the command is longer than {MAX_COMMAND} bytes, which crons cut off",
            fix="move the repository to a shorter path, or use `schedule install --launcher`",
        )
    return command


# -- an agent's own cron ---------------------------------------------------------------------------


def _install_launchers(work: Work, *, dry_run: bool) -> Launchers:
    is_removed = False
    if not dry_run:
        if settings.get(work.store.repo, BY) == "crontab":
            is_removed = _write(work, (), dry_run=False)
        for mode in MODES:
            text = cron_prompt(work, mode).prompt + "\n"
            run_files.write_file(_prompt_file(work, mode), text, within=work.store.root)
        _record(work, "launcher")
    return _launchers(work, "launcher", is_removed=is_removed)


def _prompt_file(work: Work, mode: RunMode) -> Path:
    return local_folder(work) / f"{mode}-prompt.md"


def _launchers(
    work: Work, by: str, *, is_removed: bool = False, next_: tuple[Next, ...] = ()
) -> Launchers:
    """Return the jobs for an agent's own cron, and problems that prevent delivery of reports."""
    zone = work.config.zone.key
    is_enabled, announce = work.config.reporting.enabled, work.config.announce
    channel, to = announce.channel, announce.to
    is_announced = bool(is_enabled and channel and to)
    rows = tuple(
        Launcher(
            name=f"memrepo-{name}",
            mode=mode,
            cron=cron,
            zone=zone,
            timeout_s=work.config.schedule.timeout_s,
            message=f"Run memrepo. Read {_prompt_file(work, mode)} and follow every step strictly.",
            announce=is_announced,
            channel=channel if is_announced else None,
            to=to if is_announced else None,
        )
        for name, mode, cron in _jobs(work)
    )
    notices: tuple[Problem, ...] = ()
    if is_enabled and not is_announced:
        missing = "announce.to" if channel else "announce.channel"
        message = f"reporting.enabled is true, but {missing} is not set: nothing is delivered"
        notices = (
            Problem(
                path=work.tree.layout.config,
                rule="announce-incomplete",
                key=missing,
                message=message,
                fix="set announce.channel and announce.to",
                severity="warning",
            ),
        )
    return Launchers(
        entries=rows, by=by, zone=zone, taken_out=is_removed, next=next_, notices=notices
    )
