"""`memrepo threads`: the conversations that the notes belong to, newest first."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.times import format_time, parse_duration
from memrepo.policies.threads import Thread, threads_of


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `threads`."""

    n: Annotated[int, option("so many threads (20)", "-n", metavar="N", ge=1)] = 20


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A thread: when it began and ended (empty where no time is known), and who is in it."""

    id: str
    title: str
    key: str
    """The session that its memories name."""
    begin: str
    end: str
    members: tuple[str, ...]
    linked: tuple[str, ...]
    """Other threads on the same matter."""


class Result(result.Result, frozen=True, kw_only=True):
    """The newest threads."""

    threads: tuple[Row, ...]
    count: int
    """How many there are in all."""
    zone: str
    """The time zone in which a reader is shown their times."""


def do(work: Work, request: Request) -> Result:
    """List the threads with time, number of members and title."""
    found = all_threads(work)
    newest = tuple(map(row_of, reversed(found)))[: request.n]
    return Result(threads=newest, count=len(found), zone=work.config.zone.key)


def all_threads(work: Work) -> tuple[Thread, ...]:
    """Return the threads of a commit, oldest first, then those that memories name."""
    gap = parse_duration(work.config.get("threads.gap"))
    memories = work.tree.state().memories
    return threads_of(memories, work.config.lexicon, work.config.zone, gap)


def row_of(thread: Thread) -> Row:
    """Return what is told of a thread."""
    return Row(
        id=thread.id,
        title=thread.title,
        key=thread.key,
        begin=format_time(thread.begin) if thread.begin else "",
        end=format_time(thread.end) if thread.end else "",
        members=tuple(thread.members),
        linked=tuple(thread.linked),
    )
