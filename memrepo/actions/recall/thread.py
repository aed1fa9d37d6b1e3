"""`memrepo thread`: one conversation in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict

from memrepo.actions import result
from memrepo.actions.recall.lookup import find
from memrepo.actions.recall.show import as_json as memory_json
from memrepo.actions.recall.threads import all_threads, row_of
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.state import State
from memrepo.policies.threads import Thread


class NoSuchThread(MemrepoError):
    """No thread has this id, and no memory of this name is part of one."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(f"no thread is called {word!r}", fix="`memrepo threads` lists them")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `thread`."""

    id: Annotated[str, option("a thread, or a memory that is part of one", metavar="ID")]


class Result(result.Result, frozen=True, kw_only=True):
    """One thread as `threads` lists it, and its memories in the order in which they came."""

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
    """The time zone in which a reader is shown its times."""


def do(work: Work, request: Request) -> Result:
    """Return the members of a thread in the order in which they came."""
    state, found = work.tree.state(), all_threads(work)
    thread = thread_of(found, state, request.id)
    titles = {other.id: other.title for other in found}
    return Result(
        **asdict(row_of(thread)),
        linked_titles=tuple(titles[id_] for id_ in thread.linked),
        memories=tuple(memory_json(state.memories[id_]) for id_ in thread.members),
        zone=work.config.zone.key,
    )


def thread_of(found: Sequence[Thread], state: State, word: str) -> Thread:
    """Return the thread that a word names, or that the memory it names is part of.

    Raises NoSuchThread, NoSuchMemory or Ambiguous.
    """
    thread = _named(found, word) or _around(found, find(state, word).id)
    if thread is None:
        raise NoSuchThread(word)
    return thread


def _named(found: Iterable[Thread], word: str) -> Thread | None:
    """Return the thread of an id, or of the one beginning of it that fits."""
    fitting = [t for t in found if t.id.startswith(word) and word]
    exact = [t for t in fitting if t.id == word]
    return exact[0] if exact else fitting[0] if len(fitting) == 1 else None


def _around(found: Iterable[Thread], id_: str) -> Thread | None:
    return next((thread for thread in found if id_ in thread.members), None)
