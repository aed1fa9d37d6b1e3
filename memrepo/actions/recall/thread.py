"""`memrepo thread`: one conversation in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.recall.show import as_json as memory_json
from memrepo.actions.recall.threads import all_threads, as_json, when
from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
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


def do(work: Work, request: Request) -> Answer:
    """Print the members of a thread in the order in which they came."""
    state, zone = work.tree.state(), work.config.zone
    found = all_threads(work)
    thread = thread_of(found, state, request.id)
    members = [state.memories[id_] for id_ in thread.members]
    lines = [f"{thread.id}  {visible(thread.title)}", when(thread, zone)]
    if thread.key:
        lines.append(f"session {visible(thread.key)}")
    titles = {other.id: other.title for other in found}
    lines += [f"see also {id_}  {visible(titles[id_])}" for id_ in thread.linked]
    for memory in members:
        lines += ["", f"{memory.id}  {visible(memory.text('title'))}".rstrip()]
        lines += [f"  {visible(line)}".rstrip() for line in memory.body.split("\n")]
    data = {**as_json(thread), "memories": [memory_json(m) for m in members]}
    return Answer(data=data, text="\n".join(lines))


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
