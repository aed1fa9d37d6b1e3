"""`memrepo threads`: the conversations that the notes belong to, newest first."""

from __future__ import annotations

import argparse
from datetime import tzinfo
from typing import Any

from memrepo.actions.run.amounts import whole
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.times import format_time, parse_duration
from memrepo.policies.threads import Thread, threads_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("-n", type=whole, default=20, metavar="N", help="so many threads (20)")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List the threads with time, number of members and title."""
    with opened(session) as desk:
        found = all_threads(desk)
        zone = desk.config.zone
    newest = list(reversed(found))[: options.n]
    lines = [counted(len(found), "thread", "threads")]
    lines += [
        f"{t.id}  {when(t, zone)}  {counted(len(t.members), 'member', 'members')}"
        f"  {visible(t.title)}"
        for t in newest
    ]
    return Answer(data={"threads": [as_json(t) for t in newest]}, text="\n".join(lines))


def all_threads(desk: Desk) -> tuple[Thread, ...]:
    """Return the threads of a desk, oldest first, then those that memories name."""
    gap = parse_duration(desk.config.get("threads.gap"))
    memories = desk.tree.state().memories
    return threads_of(memories, desk.config.lexicon, desk.config.zone, gap)


def when(thread: Thread, zone: tzinfo) -> str:
    """Spell when a thread began and ended, as far as that is known."""
    if thread.begin is None or thread.end is None:
        return "no time known"
    begin, end = thread.begin.astimezone(zone), thread.end.astimezone(zone)
    same = "%H:%M" if begin.date() == end.date() else "%Y-%m-%d %H:%M"
    return f"{begin:%Y-%m-%d %H:%M}" + (f" to {end.strftime(same)}" if end != begin else "")


def as_json(thread: Thread) -> dict[str, Any]:
    """Return a thread for JSON."""
    return {
        "id": thread.id,
        "title": thread.title,
        "key": thread.key,
        "begin": format_time(thread.begin) if thread.begin else "",
        "end": format_time(thread.end) if thread.end else "",
        "members": list(thread.members),
        "linked": list(thread.linked),
    }
