"""`memrepo schedule`: start runs at configured times, by crontab or by an agent's own cron."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from memrepo.actions.agent import cron_prompt
from memrepo.actions.run.record import BY, SINCE, local_folder
from memrepo.actions.work import DryRun, VerbResult, Work, option
from memrepo.core.errors import NoCrontab, Problem, UsageError
from memrepo.core.times import format_time
from memrepo.policies.rules import MODES, RunMode
from memrepo.policies.upkeep import Fire, upcoming
from memrepo.store import run_files, settings

MAX_COMMAND = 990
"""The maximum length of a command in bytes. Crons truncate longer commands, or reject the table."""
NEXT_RUNS = 3


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo schedule`."""

    what: Annotated[
        Literal["install", "show", "remove"],
        option("write, print or remove the entry", choices=("install", "show", "remove")),
    ]
    launcher: Annotated[
        bool,
        option(
            "an agent's cron starts the runs: print its jobs and do not change the crontab",
            "--launcher",
        ),
    ] = False
    dry_run: DryRun = False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job: its times in `zone` and, for an agent's cron, its message and delivery."""

    name: str
    mode: RunMode
    cron: str
    zone: str
    timeout_s: int
    message: str
    announce: bool
    channel: str | None
    to: str | None


class Jobs(VerbResult, frozen=True, kw_only=True):
    """The jobs, what happened to them, the lines of the crontab, and the next runs."""

    entries: tuple[Job, ...] = ()
    by: str
    """What starts the runs: crontab, launcher or nothing."""
    state: str
    """What is or was scheduled, as text; empty for jobs of an agent's cron that are only shown."""
    zone: str
    crontab: tuple[str, ...] = ()
    next: tuple[Fire, ...] = ()
    changed: bool = False
    """Whether the crontab was changed."""


def do(work: Work, request: Request) -> Jobs:
    """Install, show or remove the schedule."""
    by = settings.get(work.store.repo, BY)
    match request.what:
        case "remove":
            return _remove(work, by, dry_run=request.dry_run)
        case "install" if request.launcher:
            is_removed = not request.dry_run and _install_launchers(work, by)
            state = "removed the crontab entries; " if is_removed else ""
            state += "jobs for your agent's cron:"
            return _jobs(work, state=state, changed=is_removed, is_launcher=True)
        case "install":
            changed = install(work, dry_run=request.dry_run)
            state = "in the crontab now" if changed else "the crontab has this entry already"
            if request.dry_run:
                state = "dry run; this would be in the crontab"
                state = state if changed else "nothing would change"
            return _jobs(work, state=state, changed=changed)
    is_launcher = request.launcher or by == "launcher"
    return _jobs(work, state="" if is_launcher else _state(work), is_launcher=is_launcher)


def _jobs(work: Work, *, state: str, changed: bool = False, is_launcher: bool = False) -> Jobs:
    """Return the configured jobs, incremental ones first.

    For an agent's own cron, what prevents the delivery of reports is a notice.
    """
    config, announce = work.config, work.config.announce
    is_announced = bool(config.reporting.enabled and announce.channel and announce.to)
    jobs = [
        Job(
            name=f"memrepo-{name}" if is_launcher else name,
            mode=mode,
            cron=cron,
            zone=config.zone.key,
            timeout_s=config.schedule.timeout_s,
            message=f"Run memrepo. Read {_prompt_file(work, mode)} and follow every step strictly."
            if is_launcher
            else "",
            announce=is_announced,
            channel=announce.channel if is_announced else None,
            to=announce.to if is_announced else None,
        )
        for name, mode, cron in config.schedule.jobs()
    ]
    fires = islice(upcoming(work.call.now, config.schedule, config.zone), NEXT_RUNS)
    missing = "announce.to" if announce.channel else "announce.channel"
    undelivered = Problem(
        path=work.tree.layout.config,
        rule="announce-incomplete",
        key=missing,
        message=f"reporting.enabled is true, but {missing} is not set: nothing is delivered",
        fix="set announce.channel and announce.to",
        severity="warning",
    )
    is_undelivered = is_launcher and config.reporting.enabled and not is_announced
    return Jobs(
        entries=tuple(jobs),
        by=settings.get(work.store.repo, BY),
        state=state,
        zone=config.zone.key,
        crontab=() if is_launcher else tuple(_entries(work)),
        next=tuple(fires),
        changed=changed,
        notices=(undelivered,) if is_undelivered else (),
    )


# -- the crontab -----------------------------------------------------------------------------------


def install(work: Work, *, dry_run: bool = False) -> bool:
    """Write a repository's entry to the crontab. Return whether the crontab changed."""
    changed = _write(work, _entries(work), dry_run=dry_run)
    if not dry_run:
        _record(work, "crontab")
    return changed


def out_of_step(work: Work) -> str:
    """Return how the crontab differs from the configuration; empty if it does not."""
    present = settings.entries(settings.read(), str(work.store.root))
    if list(present) == _entries(work):
        return ""
    what = "different from the configuration" if present else "not there"
    return f"the crontab's entry is {what} (`memrepo schedule install`)"


def _state(work: Work) -> str:
    if settings.get(work.store.repo, BY) != "crontab":
        return "not scheduled; `memrepo schedule install` would write:"
    try:
        return f"{out_of_step(work) or 'scheduled by the crontab'}:"
    except NoCrontab as error:
        return f"not scheduled ({error.message}):"


def _remove(work: Work, by: str, *, dry_run: bool) -> Jobs:
    try:
        changed = _write(work, (), dry_run=dry_run)
    except NoCrontab:
        if by == "crontab":
            raise
        changed = False
    if not dry_run:
        for key in (BY, SINCE):
            settings.drop(work.store.repo, key)
    state = f"the entries {'would be' if dry_run else 'were'} removed"
    if by == "launcher":
        state = "runs are no longer expected; remove the jobs from your agent's cron"
    elif not changed:
        state = "nothing was scheduled in the crontab"
    return Jobs(changed=changed, by=by, state=state, zone=work.config.zone.key)


def _write(work: Work, entries: Sequence[str], *, dry_run: bool) -> bool:
    """Replace or remove the repository's entries, and return whether the crontab changed.

    A dry run without the program `crontab` compares with an empty table.
    """
    try:
        table = settings.read()
    except NoCrontab:
        if not dry_run:
            raise
        table = b""
    new = settings.with_entries(table, str(work.store.root), entries)
    if new != table and not dry_run:
        settings.write(new)
    return new != table


def _record(work: Work, by: str) -> None:
    """Record what starts the runs, and since when.

    The time is not changed if `by` is already stored, so runs missed since then still count.
    """
    if settings.get(work.store.repo, BY) != by:
        settings.put(work.store.repo, BY, by)
        settings.put(work.store.repo, SINCE, format_time(work.call.now))


def _entries(work: Work) -> list[str]:
    """Return the line of a repository, or nothing if no run is scheduled.

    cron starts it every five minutes. `run --scheduled` then decides in the repository's time zone,
    so neither cron's zone nor summer time matters, and changed times count at once.
    """
    return [f"*/5 * * * * {_command(work)}"] if list(work.config.schedule.jobs()) else []


def _command(work: Work) -> str:
    """Return the shell command of a crontab line, whose percent signs are escaped."""
    root, log = str(work.store.root), local_folder(work) / "log"
    if not root.isprintable():
        raise UsageError(
            "a crontab cannot hold a path with control characters", fix="move the repository"
        )
    memrepo = (*settings.program(), "-C", root)
    limit = settings.timeout_words(work.config.schedule.timeout_s)
    run = shlex.join([*limit, *memrepo, "run", "--scheduled"])
    path = settings.search_path()
    before = f"export PATH={shlex.quote(path)}; " if path else ""
    before += f"mkdir -p {shlex.quote(str(log))} && "
    logged = f">> {shlex.quote(str(log / 'cron.log'))} 2>&1"
    command = f"{before}{run} {logged}".replace("%", r"\%")
    if len(f"{command} # memrepo {root}".encode()) > MAX_COMMAND:
        raise UsageError(
            f"the command is longer than {MAX_COMMAND} bytes, which crons cut off",
            fix="move the repository to a shorter path, or use `schedule install --launcher`",
        )
    return command


# -- an agent's own cron ---------------------------------------------------------------------------


def _install_launchers(work: Work, by: str) -> bool:
    """Write the prompts of an agent's cron. Return whether the crontab had entries instead."""
    is_removed = by == "crontab" and _write(work, (), dry_run=False)
    for mode in MODES:
        text = cron_prompt(work, mode).prompt + "\n"
        run_files.write_file(_prompt_file(work, mode), text, within=work.store.root)
    _record(work, "launcher")
    return is_removed


def _prompt_file(work: Work, mode: RunMode) -> Path:
    return local_folder(work) / f"{mode}-prompt.md"
