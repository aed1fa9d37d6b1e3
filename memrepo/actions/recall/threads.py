"""`memrepo threads`: the conversations that the notes belong to, newest first."""

from __future__ import annotations

from datetime import tzinfo
from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.times import format_time, parse_duration
from memrepo.policies.threads import Thread, threads_of


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `threads`."""

    n: Annotated[int, option("so many threads (20)", "-n", metavar="N", ge=1)] = 20


def do(work: Work, request: Request) -> Answer:
    """List the threads with time, number of members and title."""
    found = all_threads(work)
    zone = work.config.zone
    newest = list(reversed(found))[: request.n]
    lines = [counted(len(found), "thread", "threads")]
    lines += [
        f"{t.id}  {when(t, zone)}  {counted(len(t.members), 'member', 'members')}"
        f"  {visible(t.title)}"
        for t in newest
    ]
    return Answer(data={"threads": [as_json(t) for t in newest]}, text="\n".join(lines))


def all_threads(work: Work) -> tuple[Thread, ...]:
    """Return the threads of a there, oldest first, then those that memories name."""
    gap = parse_duration(work.config.get("threads.gap"))
    memories = work.tree.state().memories
    return threads_of(memories, work.config.lexicon, work.config.zone, gap)


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
