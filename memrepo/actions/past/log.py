"""`memrepo log`: history in memory terms, one line a run and one an ingest."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from datetime import UTC
from itertools import islice

from memrepo.actions.past.history import count
from memrepo.actions.past.past import changing, find_past, who
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.core.changes import OPS
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.moments import asked, extent
from memrepo.store import history


class NoSuchRun(MemrepoError):
    """No run with this id landed on the branch."""

    exit_code = Exit.USAGE

    def __init__(self, run: str) -> None:
        super().__init__(f"no run is called {run!r}", fix="`memrepo log` lists them")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--run", metavar="RUN", help="every decision of one run")
    parser.add_argument(
        "--op", choices=OPS, metavar="OP", help="only this operation, in the full history"
    )
    parser.add_argument(
        "--memory",
        metavar="ID",
        help="everything that concerned one memory, also one that left the tree",
    )
    parser.add_argument(
        "--actor",
        metavar="WHO",
        help="only what this person or program decided: the actor or author, or a part of it",
    )
    parser.add_argument("--since", type=_time, metavar="DATE", help="from this date or time on")
    parser.add_argument(
        "--until", type=_time, metavar="DATE", help="up to this date (all of that day) or time"
    )
    parser.add_argument("-n", type=count, default=30, metavar="N", help="at most N lines (30)")


def _time(text: str) -> str:
    try:
        extent(text, UTC)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a date such as 2026-01-31 or an RFC 3339 time"
        ) from error
    return text


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List commits: runs and ingests by default, decisions where they are asked for."""
    with opened(session) as desk:
        wanted = _wanted(desk, options)
        found = list(islice(filter(wanted, _entries(desk, options)), options.n))
        zone = desk.config.zone
    lines = [
        f"{e.when.astimezone(zone):%Y-%m-%d %H:%M}  {e.commit[:10]}  {visible(e.subject)}"
        + (f"\n{'':30}{visible(e.trailer('Reason'))}" if _detailed(options) else "")
        for e in found
    ]
    return Answer(data={"entries": [e.as_json() for e in found]}, text="\n".join(lines))


def _detailed(options: argparse.Namespace) -> bool:
    return bool(options.run or options.memory or options.op or options.actor)


def _entries(desk: Desk, options: argparse.Namespace) -> Iterable[history.Entry]:
    """Return the commits that are looked through: one run's chain, all, or the short story."""
    repo, head = desk.store.repo, desk.tree.commit
    if options.run:
        # Newest first, as everything else, would hide in which order a chain was decided.
        return history.chain_of(repo, run_merge(desk, options.run).commit)
    if _detailed(options):
        return history.entries(repo, head)
    bound = [] if options.since or options.until else [f"--max-count={options.n}"]
    return _with_runs(list(history.entries(repo, "--first-parent", *bound, head)), desk)


def _with_runs(line: list[history.Entry], desk: Desk) -> list[history.Entry]:
    """Add the runs that a sync put off the first-parent line, by the time they landed."""
    known = {entry.commit for entry in line}
    runs = history.runs(desk.store.repo, desk.tree.commit)
    found = [*line, *(run for run in runs if run.commit not in known)]
    return sorted(found, key=lambda entry: entry.when, reverse=True)


def _wanted(desk: Desk, options: argparse.Namespace) -> Callable[[history.Entry], bool]:
    """Return the test of a commit: every filter that was given has to let it pass."""
    zone = desk.config.zone
    since = extent(options.since, zone)[0] if options.since else None
    until = asked(options.until, zone) if options.until else None
    actor = (options.actor or "").casefold()
    past = find_past(desk, desk.tree.state(), options.memory) if options.memory else None
    touched = {v.entry.commit for v, _ in changing(past.versions)} if past else set()

    def wanted(entry: history.Entry) -> bool:
        concerned = (
            past is None or entry.commit in touched or past.id in entry.trailers.get("Memory", ())
        )
        return (
            concerned
            and (not options.op or entry.op == options.op)
            and (since is None or since <= entry.when)
            and (until is None or entry.when <= until)
            and actor in who(entry).casefold()
        )

    return wanted


def run_merge(desk: Desk, run: str) -> history.Entry:
    """Return the merge by which a run landed, found by its id or a unique prefix of it."""
    found = history.runs(desk.store.repo, desk.tree.commit)
    merges = [e for e in found if e.run.startswith(run)]
    if len(merges) != 1:
        raise NoSuchRun(run)
    return merges[0]
