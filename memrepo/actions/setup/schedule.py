"""`memrepo schedule`: runs at the times of the cadence, by crontab or by an agent's own cron."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import msgspec

from memrepo.actions.request import DryRun, option
from memrepo.actions.setup.cron_prompts import cron_prompt
from memrepo.actions.setup.scheduling import (
    block_name,
    block_of,
    crontab_lines,
    jobs,
    launcher_text,
    launchers,
)
from memrepo.actions.setup.timetable import BY, CRON_ZONE, SINCE, fire_json, said
from memrepo.actions.work import Answer, Work
from memrepo.core.errors import Exit, UsageError
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.policies.cadence import MODES, due, upcoming
from memrepo.purify.pipeline import Mode
from memrepo.store import crontab, settings

SHOWN = 3


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `schedule`."""

    what: Annotated[
        str,
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


def _zone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"found {text}, expected a zone") from error


def do(work: Work, request: Request) -> Answer:
    """Do what is asked for."""
    if request.prompt and request.what != "show":
        raise UsageError(
            f"memrepo schedule: {request.what} takes no --prompt",
            fix=f"memrepo schedule show --prompt {request.prompt}",
        )
    match request.what:
        case "show" if request.prompt:
            found = cron_prompt(work, request.prompt)
            return Answer(data=found, text=found["prompt"])
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


def _due(work: Work, request: Request) -> Answer:
    is_due = due(work.call.now, work.config.cadence, work.config.zone, request.mode)
    return Answer(
        data={"due": is_due, "mode": request.mode},
        text=f"{request.mode}: {'due' if is_due else 'not due'}",
        exit=Exit.DONE if is_due else Exit.NO,
    )


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


def _install(work: Work, request: Request) -> Answer:
    zone = request.cron_zone or settings.get(work.store.repo, CRON_ZONE)
    changed = install(work, work.call.now, zone, dry_run=request.dry_run)
    head = "the crontab holds these entries already" if not changed else "in the crontab now"
    if request.dry_run:
        head = "nothing would change" if not changed else "dry run; these would be in the crontab"
    problems = () if zone else _about_zones(crontab.read())
    lines = crontab_lines(work, zone, work.call.now)
    return _answer(work, work.call.now, lines, head, problems, changed=changed)


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


def _launch(work: Work, request: Request) -> Answer:
    rows, problems = launchers(work)
    head = "jobs for your agent's cron:"
    if not request.dry_run:
        if settings.get(work.store.repo, BY) == "crontab" and _take_out(work, dry_run=False):
            head = f"the crontab's entries are taken out; {head}"
        _record(work, work.call.now, "launcher")
    text = "\n".join([head, *(launcher_text(row) for row in rows)])
    return Answer(data={"entries": rows, "by": "launcher"}, text=text, problems=problems)


def _remove(work: Work, request: Request) -> Answer:
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
    head = "nothing was scheduled in the crontab"
    if changed:
        head = "the entries would be taken out" if request.dry_run else "the entries are taken out"
    if by == "launcher":
        head = "runs are no longer expected; remove the jobs from your agent's cron"
    return Answer(data={"changed": changed, "by": by}, text=head)


def _take_out(work: Work, *, dry_run: bool) -> bool:
    table = crontab.read()
    new = crontab.with_block(table, block_name(work.store.root), ())
    if new != table and not dry_run:
        crontab.write(new)
    return new != table


def _show(work: Work, request: Request) -> Answer:
    by = settings.get(work.store.repo, BY)
    if request.launcher or by == "launcher":
        rows, problems = launchers(work)
        text = "\n".join([*map(launcher_text, rows), *_next_lines(work, work.call.now)])
        return Answer(
            data={"entries": rows, "by": by, **_next_json(work, work.call.now)},
            text=text,
            problems=problems,
        )
    zone = request.cron_zone or settings.get(work.store.repo, CRON_ZONE)
    lines = crontab_lines(work, zone, work.call.now)
    return _answer(work, work.call.now, lines, _standing(work, by, work.call.now), ())


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


def _answer(
    work: Work,
    now: datetime,
    lines: dict[str, tuple[str, ...]],
    head: str,
    problems: tuple[Problem, ...],
    **more: Any,
) -> Answer:
    zone = work.config.zone.key
    rows = [
        {
            "name": job.name,
            "mode": job.mode,
            "cron": job.cron,
            "zone": zone,
            "crontab": list(lines[job.name]),
        }
        for job in jobs(work)
    ]
    text = [head]
    for row in rows:
        text += [
            f"{row['name']}: {row['cron']} ({zone})",
            *(f"  {each}" for each in row["crontab"]),
        ]
    return Answer(
        data={
            "entries": rows,
            "by": settings.get(work.store.repo, BY),
            "state": head,
            **_next_json(work, now),
            **more,
        },
        text="\n".join([*text, *_next_lines(work, now)]),
        problems=problems,
    )


def _next_json(work: Work, now: datetime) -> dict[str, Any]:
    fires = islice(upcoming(now, work.config.cadence, work.config.zone), SHOWN)
    return {"next": [fire_json(fire) for fire in fires]}


def _next_lines(work: Work, now: datetime) -> list[str]:
    config = work.config
    fires = islice(upcoming(now, config.cadence, config.zone), SHOWN)
    return [f"next: {said(fire, config.zone.key)}" for fire in fires] or ["next: never"]
