"""`memrepo log`: show history in terms of memories, one line per run or ingest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from itertools import islice
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.past.timeline import (
    Commit,
    changing,
    commit_of,
    find_past,
    landing_of,
    who,
)
from memrepo.actions.pending import all_waiting
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.changes import OPS
from memrepo.core.manifest import read_manifests
from memrepo.core.times import asked, extent
from memrepo.store import history


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo log`."""

    run: Annotated[str, option("every decision of one run", "--run", metavar="RUN")] = ""
    op: Annotated[
        str,
        option("only this operation, in the full history", "--op", metavar="OP", choices=OPS),
    ] = ""
    memory: Annotated[
        str,
        option(
            "every operation on one memory, even if it is no longer in the tree",
            "--memory",
            metavar="ID",
        ),
    ] = ""
    actor: Annotated[
        str,
        option(
            "only what this person or program decided: the actor or author, or a part of it",
            "--actor",
            metavar="WHO",
        ),
    ] = ""
    since: Annotated[
        str | None, option("from this date or time on", "--since", metavar="DATE", read=_time)
    ] = None
    until: Annotated[
        str | None,
        option("up to this date (all of that day) or time", "--until", metavar="DATE", read=_time),
    ] = None
    runs: Annotated[
        bool, option("only runs: pending runs, and the counts of each landed run", "--runs")
    ] = False
    n: Annotated[int, option("at most N lines (30)", "-n", metavar="N", ge=1)] = 30


def _time(text: str) -> str:
    try:
        extent(text, UTC)
    except ValueError as error:
        raise ValueError(
            f"found {text!r}, expected a date such as 2026-01-31 or an RFC 3339 time"
        ) from error
    return text


class Result(result.Result, frozen=True, kw_only=True):
    """The listed commits, newest first. The commits of one run are in chain order."""

    entries: tuple[Commit, ...]
    zone: str
    """The time zone in which times are shown."""


class WaitingRun(msgspec.Struct, frozen=True, kw_only=True):
    """A pending run, with its branch and the reason why it is pending."""

    run: str
    branch: str
    why: str


class LandedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in effect, as its manifest describes it. Older manifests contain fewer fields."""

    run: str
    now: str | None
    mode: str | None
    judge: str | None
    profile: str | None
    counts: Mapping[str, int] | None
    tokens: Mapping[str, int | str] | None
    cost_usd: float | None


class Runs(result.Result, frozen=True, kw_only=True):
    """The pending runs and the runs in effect, newest first."""

    waiting: tuple[WaitingRun, ...]
    runs: tuple[LandedRun, ...]


def do(work: Work, request: Request) -> Result | Runs:
    """List commits: runs and ingests by default, or individual decisions on request."""
    if request.runs:
        return _runs(work, request.n)
    wanted = _wanted(work, request)
    found = islice(filter(wanted, _entries(work, request)), request.n)
    return Result(entries=tuple(map(commit_of, found)), zone=work.config.zone.key)


def _runs(work: Work, most: int) -> Runs:
    """List runs from their manifests, which every clone contains."""
    manifests, problems = read_manifests(work.tree.files, work.tree.layout)
    names = LandedRun.__struct_fields__
    found = []
    for manifest in list(reversed(manifests))[:most]:
        record = json.loads(work.tree.files[work.tree.layout.manifest(manifest.run)])
        found.append(LandedRun(**{name: record.get(name) for name in names}))
    waiting = (
        WaitingRun(run=w.run, branch=w.branch, why=w.entry.trailer("Reason"))
        for w in all_waiting(work)
    )
    return Runs(waiting=tuple(waiting), runs=tuple(found), notices=problems)


def detailed(request: Request) -> bool:
    """Return whether individual decisions are requested, which are shown with their reasons."""
    return bool(request.run or request.memory or request.op or request.actor)


def _entries(work: Work, request: Request) -> Iterable[history.Entry]:
    """Return the log entries to which the filters are applied.

    These are the chain of one run, the full history, or the first parents of HEAD.
    """
    repo, head = work.store.repo, work.tree.commit
    if request.run:
        # In chain order, because newest first would hide the order of decisions.
        return landing_of(work, request.run).steps(repo)
    if detailed(request):
        return history.entries(repo, head)
    bound = [] if request.since or request.until else [f"--max-count={request.n}"]
    return _with_runs(list(history.entries(repo, "--first-parent", *bound, head)), work)


def _with_runs(line: list[history.Entry], work: Work) -> list[history.Entry]:
    """Add the runs that a sync moved off the first-parent line, sorted by landing time.

    A run whose commits were rewritten by git still gets one line with its name.
    """
    runs = work.landed()
    inside = {entry.commit for run in runs for entry in run.chain}
    named = {run.entry.commit: run.entry for run in runs}
    kept = [e for e in line if e.commit in named or e.commit not in inside]
    known = {entry.commit for entry in kept}
    found = [named.get(entry.commit, entry) for entry in kept]
    found += (entry for commit, entry in named.items() if commit not in known)
    return sorted(found, key=lambda entry: entry.when, reverse=True)


def _wanted(work: Work, request: Request) -> Callable[[history.Entry], bool]:
    """Return a predicate that accepts a commit if it passes all given filters."""
    zone = work.config.zone
    since = extent(request.since, zone)[0] if request.since else None
    until = asked(request.until, zone) if request.until else None
    actor = request.actor.casefold()
    past = find_past(work, work.tree.state(), request.memory) if request.memory else None
    touched = {v.entry.commit for v, _ in changing(past.versions)} if past else set()

    def wanted(entry: history.Entry) -> bool:
        concerned = (
            past is None or entry.commit in touched or past.id in entry.trailers.get("Memory", ())
        )
        return (
            concerned
            and (not request.op or entry.op == request.op)
            and (since is None or since <= entry.when)
            and (until is None or entry.when <= until)
            and actor in who(entry).casefold()
        )

    return wanted
