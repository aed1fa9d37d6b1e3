"""`memrepo schedule`: runs at the times of the cadence, by crontab or by an agent's own cron."""

from __future__ import annotations

import argparse
from datetime import datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from memrepo.actions.setup.cron_prompts import cron_prompt
from memrepo.actions.setup.scheduling import (
    block_name,
    block_of,
    crontab_lines,
    jobs,
    launcher_text,
    launchers,
)
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.faces.cli.table import UsageError
from memrepo.actions.setup.timetable import BY, CRON_ZONE, SINCE, fire_json, said
from memrepo.core.errors import Exit
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.policies.cadence import MODES, due, upcoming
from memrepo.store import crontab, settings

SHOWN = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "what",
        choices=("install", "show", "remove", "due"),
        help="write the entries, show them, take them out, or ask whether a run is due now",
    )
    parser.add_argument(
        "--launcher",
        action="store_true",
        help="an agent's cron starts the runs: print its jobs and leave the crontab alone",
    )
    parser.add_argument(
        "--cron-zone",
        type=_zone,
        metavar="ZONE",
        help="zone that cron goes by, where it is not the machine's",
    )
    parser.add_argument("--mode", choices=MODES, default="incremental", help="for due: which run")
    parser.add_argument(
        "--prompt",
        choices=MODES,
        help="for show: the instructions for an agent that a scheduler starts for such a run",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")


def _zone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError) as error:
        raise argparse.ArgumentTypeError(f"found {text}, expected a zone") from error


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Do what is asked for."""
    if options.prompt and options.what != "show":
        raise UsageError(
            f"memrepo schedule: {options.what} takes no --prompt",
            fix=f"memrepo schedule show --prompt {options.prompt}",
        )
    with opened(session) as desk:
        match options.what:
            case "show" if options.prompt:
                found = cron_prompt(desk, options.prompt)
                return Answer(data=found, text=found["prompt"])
            case "install" if options.launcher:
                return _launch(desk, session, options)
            case "install":
                return _install(desk, session, options)
            case "remove":
                return _remove(desk, options)
            case "due":
                return _due(desk, session, options)
            case _:
                return _show(desk, session, options)


def _due(desk: Desk, session: Session, options: argparse.Namespace) -> Answer:
    is_due = due(session.now, desk.config.cadence, desk.config.zone, options.mode)
    return Answer(
        data={"due": is_due, "mode": options.mode},
        text=f"{options.mode}: {'due' if is_due else 'not due'}",
        exit=Exit.DONE if is_due else Exit.NO,
    )


def install(desk: Desk, now: datetime, zone: str = "", *, dry_run: bool = False) -> bool:
    """Write the entries of a repository into the crontab; tell whether they were not there yet.

    `zone` is the one that cron goes by, where it is not the machine's; it is remembered.
    """
    zone = zone or settings.get(desk.store.repo, CRON_ZONE)
    lines, table = crontab_lines(desk, zone, now), crontab.read()
    block = block_of(desk, lines) if lines else []
    new = crontab.with_block(table, block_name(desk.store.root), block)
    if not dry_run:
        if new != table:
            crontab.write(new)
        if zone:
            settings.put(desk.store.repo, CRON_ZONE, zone)
        _record(desk, now, "crontab")
    return new != table


def _install(desk: Desk, session: Session, options: argparse.Namespace) -> Answer:
    zone = options.cron_zone or settings.get(desk.store.repo, CRON_ZONE)
    changed = install(desk, session.now, zone, dry_run=options.dry_run)
    head = "the crontab holds these entries already" if not changed else "in the crontab now"
    if options.dry_run:
        head = "nothing would change" if not changed else "dry run; these would be in the crontab"
    problems = () if zone else _about_zones(crontab.read())
    lines = crontab_lines(desk, zone, session.now)
    return _answer(desk, session.now, lines, head, problems, changed=changed)


def _record(desk: Desk, now: datetime, by: str) -> None:
    """Remember who starts runs; from when on they count as missed stays as it was."""
    if settings.get(desk.store.repo, BY) != by:
        settings.put(desk.store.repo, BY, by)
        settings.put(desk.store.repo, SINCE, format_time(now))


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


def _launch(desk: Desk, session: Session, options: argparse.Namespace) -> Answer:
    rows, problems = launchers(desk)
    head = "jobs for your agent's cron:"
    if not options.dry_run:
        if settings.get(desk.store.repo, BY) == "crontab" and _take_out(desk, dry_run=False):
            head = f"the crontab's entries are taken out; {head}"
        _record(desk, session.now, "launcher")
    text = "\n".join([head, *(launcher_text(row) for row in rows)])
    return Answer(data={"entries": rows, "by": "launcher"}, text=text, problems=problems)


def _remove(desk: Desk, options: argparse.Namespace) -> Answer:
    by = settings.get(desk.store.repo, BY)
    try:
        changed = _take_out(desk, dry_run=options.dry_run)
    except crontab.NoCrontab:
        if by == "crontab":
            raise
        changed = False
    if not options.dry_run:
        for key in (BY, SINCE, CRON_ZONE):
            settings.drop(desk.store.repo, key)
    head = "nothing was scheduled in the crontab"
    if changed:
        head = "the entries would be taken out" if options.dry_run else "the entries are taken out"
    if by == "launcher":
        head = "runs are no longer expected; remove the jobs from your agent's cron"
    return Answer(data={"changed": changed, "by": by}, text=head)


def _take_out(desk: Desk, *, dry_run: bool) -> bool:
    table = crontab.read()
    new = crontab.with_block(table, block_name(desk.store.root), ())
    if new != table and not dry_run:
        crontab.write(new)
    return new != table


def _show(desk: Desk, session: Session, options: argparse.Namespace) -> Answer:
    by = settings.get(desk.store.repo, BY)
    if options.launcher or by == "launcher":
        rows, problems = launchers(desk)
        text = "\n".join([*map(launcher_text, rows), *_next_lines(desk, session.now)])
        return Answer(
            data={"entries": rows, "by": by, **_next_json(desk, session.now)},
            text=text,
            problems=problems,
        )
    zone = options.cron_zone or settings.get(desk.store.repo, CRON_ZONE)
    lines = crontab_lines(desk, zone, session.now)
    return _answer(desk, session.now, lines, _standing(desk, by, session.now), ())


def out_of_step(desk: Desk, now: datetime) -> str:
    """Say how the crontab differs from what the configuration asks for, or return an empty text."""
    there = crontab.block(crontab.read(), block_name(desk.store.root))
    zone = settings.get(desk.store.repo, CRON_ZONE)
    lines = crontab_lines(desk, zone, now)
    if list(there) == (block_of(desk, lines) if lines else []):
        return ""
    what = "out of step with the configuration" if there else "not there"
    return f"the crontab's entries are {what} (`memrepo schedule install`)"


def _standing(desk: Desk, by: str, now: datetime) -> str:
    if by != "crontab":
        return "not scheduled; `memrepo schedule install` would write:"
    try:
        return f"{out_of_step(desk, now) or 'scheduled by the crontab'}:"
    except crontab.NoCrontab as error:
        return f"not scheduled ({error.message}):"


def _answer(
    desk: Desk,
    now: datetime,
    lines: dict[str, tuple[str, ...]],
    head: str,
    problems: tuple[Problem, ...],
    **more: Any,
) -> Answer:
    zone = desk.config.zone.key
    rows = [
        {
            "name": job.name,
            "mode": job.mode,
            "cron": job.cron,
            "zone": zone,
            "crontab": list(lines[job.name]),
        }
        for job in jobs(desk)
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
            "by": settings.get(desk.store.repo, BY),
            "state": head,
            **_next_json(desk, now),
            **more,
        },
        text="\n".join([*text, *_next_lines(desk, now)]),
        problems=problems,
    )


def _next_json(desk: Desk, now: datetime) -> dict[str, Any]:
    fires = islice(upcoming(now, desk.config.cadence, desk.config.zone), SHOWN)
    return {"next": [fire_json(fire) for fire in fires]}


def _next_lines(desk: Desk, now: datetime) -> list[str]:
    config = desk.config
    fires = islice(upcoming(now, config.cadence, config.zone), SHOWN)
    return [f"next: {said(fire, config.zone.key)}" for fire in fires] or ["next: never"]
