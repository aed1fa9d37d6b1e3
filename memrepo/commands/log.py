"""`memrepo log`: history in memory terms, one line a run and one an ingest."""

from __future__ import annotations

import argparse
from zoneinfo import ZoneInfo

from memrepo.commands.finding import find
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.messages import PREFIX
from memrepo.core.times import format_time, parse_time
from memrepo.store import history

HELP = "history in memory terms"


class NoSuchRun(MemrepoError):
    """No run with this id landed on the branch."""

    exit_code = Exit.USAGE

    def __init__(self, run: str) -> None:
        super().__init__(f"no run is called {run!r}", fix="`memrepo log` lists them")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--run", metavar="RUN", help="every decision of one run")
    parser.add_argument("--op", metavar="OP", help="only this operation, in the full history")
    parser.add_argument("--memory", metavar="ID", help="everything that concerned one memory")
    parser.add_argument("--since", type=_time, metavar="DATE", help="from this date or time on")
    parser.add_argument("-n", type=int, default=30, metavar="N", help="at most N lines (30)")


def _time(text: str) -> str:
    try:
        parse_time(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a date such as 2026-01-31 or an RFC 3339 time"
        ) from error
    return text


def _since(text: str, zone: ZoneInfo) -> str:
    """Return the moment a person means: without an offset, in the repository's zone."""
    has_offset = text[-1] in "Zz" or "+" in text or text.count("-") > 2
    moment = parse_time(text)
    return format_time(moment if has_offset else moment.replace(tzinfo=zone))


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List commits: runs and ingests by default, decisions where they are asked for."""
    with opened(session) as desk:
        found = _entries(desk, options)
        zone = desk.config.zone
    lines = [
        f"{e.when.astimezone(zone):%Y-%m-%d %H:%M}  {e.commit[:10]}  {visible(e.subject)}"
        + (f"\n{'':30}{visible(e.trailer('Reason'))}" if _detailed(options) else "")
        for e in found
    ]
    return Answer(data={"entries": [e.as_json() for e in found]}, text="\n".join(lines))


def _detailed(options: argparse.Namespace) -> bool:
    return bool(options.run or options.memory or options.op)


def _entries(desk: Desk, options: argparse.Namespace) -> list[history.Entry]:
    repo, head = desk.store.repo, desk.tree.commit
    moment = _since(options.since, desk.config.zone) if options.since else ""
    since = [f"--since={moment}"] if moment else []
    if options.run:
        found = history.chain_of(repo, run_merge(desk, options.run).commit)
    elif options.memory:
        memory = find(desk.tree.state(), options.memory)
        pattern = f"--grep=^{PREFIX}Memory: {memory.id}$"
        found = list(history.entries(repo, pattern, *since, head))
    elif options.op:
        found = list(history.entries(repo, *since, head))
    else:
        found = list(history.entries(repo, "--first-parent", *since, head))
    return [e for e in found if not options.op or e.op == options.op][: options.n]


def run_merge(desk: Desk, run: str) -> history.Entry:
    """Return the merge by which a run landed, found by its id or a unique prefix of it."""
    found = history.runs(desk.store.repo, desk.tree.commit)
    merges = [e for e in found if e.run.startswith(run)]
    if len(merges) != 1:
        raise NoSuchRun(run)
    return merges[0]
