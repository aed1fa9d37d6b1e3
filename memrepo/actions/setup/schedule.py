"""`memrepo schedule`: runs at the times of the cadence, by crontab or by an agent's own cron."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec

from memrepo.actions import result
from memrepo.actions.request import DryRun, option
from memrepo.actions.run.timetable import BY, CRON_ZONE, SINCE, Next, next_of
from memrepo.actions.setup.jobs import (
    Launcher,
    block_name,
    block_of,
    crontab_lines,
    jobs,
    launchers,
    prompt_file,
)
from memrepo.actions.setup.prompts import cron_prompt
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, UsageError
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.policies.cadence import MODES, due, upcoming
from memrepo.policies.rules import RunMode
from memrepo.purify.pipeline import Mode
from memrepo.store import crontab, settings, telemetry

SHOWN = 3


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `schedule`."""

    what: Annotated[
        Literal["install", "show", "remove", "due"],
        option(
            "write the entries, show them, take them out, or ask whether a run is due now",
            choices=("install", "show", "remove", "due"),
        ),
    ]
    launcher: Annotated[
        bool,
        option(
            "an agent's cron starts the runs: print its jobs and leave the crontab alone",
            "--launcher",
        ),
    ] = False
    cron_zone: Annotated[
        str | None,
        option(
            "zone that cron goes by, where it is not the machine's",
            "--cron-zone",
            metavar="ZONE",
            read=_zone,
        ),
    ] = None
    mode: Annotated[Mode, option("for due: which run", "--mode", choices=MODES)] = "incremental"
    prompt: Annotated[
        Mode | None,
        option(
            "for show: the instructions for an agent that a scheduler starts for such a run",
            "--prompt",
            choices=MODES,
        ),
    ] = None
    dry_run: DryRun = False


class CronPrompt(result.Result, frozen=True, kw_only=True):
    """The instructions for an agent that a scheduler starts for a run."""

    mode: Mode
    version: int
    hash: str
    prompt: str


class Due(result.Result, frozen=True, kw_only=True):
    """Whether a run is due now."""

    due: bool
    mode: Mode


class Removed(result.Result, frozen=True, kw_only=True):
    """Whether the crontab changed, and who started runs until then."""

    changed: bool
    by: str


class Launchers(result.Result, frozen=True, kw_only=True):
    """The jobs for an agent's cron, and the next times at which runs are due."""

    entries: tuple[Launcher, ...]
    by: str
    zone: str
    taken_out: bool = False
    """Whether the crontab's entries gave way."""
    next: tuple[Next, ...] = ()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One job of the cadence, and its lines of the crontab."""

    name: str
    mode: RunMode
    cron: str
    zone: str
    crontab: tuple[str, ...]


class Entries(result.Result, frozen=True, kw_only=True):
    """The crontab's entries, how they stand, and the next times at which runs are due."""

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
    """Do what is asked for."""
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
    """Write the entries of a repository into the crontab; tell whether they were not there yet.

    `zone` is the one that cron goes by, where it is not the machine's; it is remembered.
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
    """Remember who starts runs; from when on they count as missed stays as it was."""
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
            telemetry.put(prompt_file(work, mode), text, within=work.store.root)
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
    """Say how the crontab differs from what the configuration asks for, or return an empty text."""
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
