"""`memrepo thread`: show one conversation in order, or list the newest ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict

from memrepo.actions.recall.lookup import as_json as memory_json
from memrepo.actions.recall.lookup import find
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_duration
from memrepo.policies.threads import Thread, threads_of


class NoSuchThread(MemrepoError):
    """Raised when no thread has the given id, and no memory with that name is in a thread."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(f"no thread is called {word!r}", fix="`memrepo thread` lists them")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `thread`."""

    id: Annotated[
        str,
        option("a thread, or a memory that is part of one (default: all)", metavar="ID"),
    ] = ""
    n: Annotated[int, option("at most N threads (20)", "-n", metavar="N", ge=1)] = 20


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A thread with its members. `begin` and `end` are empty if no time of the thread is known."""

    id: str
    title: str
    key: str
    """The session that its memories name."""
    begin: str
    end: str
    members: tuple[str, ...]
    linked: tuple[str, ...]
    """Ids of other threads on the same subject."""


class Threads(VerbResult, frozen=True, kw_only=True):
    """The newest threads of the repository."""

    threads: tuple[Row, ...]
    count: int
    """Total number of threads."""
    zone: str
    """The time zone for showing times to a reader."""


class Result(VerbResult, frozen=True, kw_only=True):
    """One thread, and its memories in chronological order."""

    id: str
    title: str
    key: str
    begin: str
    end: str
    members: tuple[str, ...]
    linked: tuple[str, ...]
    linked_titles: tuple[str, ...]
    memories: tuple[Mapping[str, Any], ...]
    zone: str
    """The time zone for showing times to a reader."""


def do(work: Work, request: Request) -> Result | Threads:
    """Return one thread with its members in order, or the newest threads."""
    found = all_threads(work)
    if not request.id:
        newest = tuple(map(row_of, reversed(found)))[: request.n]
        return Threads(threads=newest, count=len(found), zone=work.config.zone.key)
    state = work.tree.state()
    thread = thread_of(found, state, request.id)
    titles = {other.id: other.title for other in found}
    return Result(
        **asdict(row_of(thread)),
        linked_titles=tuple(titles[id_] for id_ in thread.linked),
        memories=tuple(memory_json(state.memories[id_]) for id_ in thread.members),
        zone=work.config.zone.key,
    )


def thread_of(found: Sequence[Thread], state: State, word: str) -> Thread:
    """Return the thread with an id, or the thread that contains the memory with that name.

    Raises NoSuchThread, NoSuchMemory or Ambiguous.
    """
    thread = _named(found, word) or _around(found, find(state, word).id)
    if thread is None:
        raise NoSuchThread(word)
    return thread


def _named(found: Iterable[Thread], word: str) -> Thread | None:
    """Return the thread with an id or a unique id prefix, or None."""
    fitting = [t for t in found if t.id.startswith(word) and word]
    exact = [t for t in fitting if t.id == word]
    return exact[0] if exact else fitting[0] if len(fitting) == 1 else None


def _around(found: Iterable[Thread], id_: str) -> Thread | None:
    return next((thread for thread in found if id_ in thread.members), None)


def all_threads(work: Work) -> tuple[Thread, ...]:
    """Return the threads of a commit, oldest first, followed by those that memories name."""
    gap = parse_duration(work.config.get("threads.gap"))
    memories = work.tree.state().memories
    return threads_of(memories, work.config.lexicon, work.config.zone, gap)


def row_of(thread: Thread) -> Row:
    """Return a thread as a row for the list of threads."""
    return Row(
        id=thread.id,
        title=thread.title,
        key=thread.key,
        begin=format_time(thread.begin) if thread.begin else "",
        end=format_time(thread.end) if thread.end else "",
        members=tuple(thread.members),
        linked=tuple(thread.linked),
    )
