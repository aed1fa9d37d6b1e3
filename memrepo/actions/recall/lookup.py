"""Shared steps of the reading verbs: find a memory, at a commit or date, and count retrievals.

A retrieval is a memory opened by its id, or a hit returned with its body. At most the first three
hits of a query count. Retrievals are recorded in the ledger by session.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memrepo.actions.work import Work
from memrepo.core.errors import Exit, Locked, MemrepoError
from memrepo.core.manifest import RETRIEVAL, SESSION, Event, seconds
from memrepo.core.memory import FIELDS, Memory, bare, node_of
from memrepo.store.run_files import Ledger

if TYPE_CHECKING:
    from memrepo.core.state import State


class NoSuchMemory(MemrepoError):
    """Raised when no memory has the given id, prefix, path or slug."""

    exit_code = Exit.USAGE

    def __init__(self, word: str, near: Sequence[str]) -> None:
        super().__init__(
            f"no memory is called {word!r}",
            fix=f"did you mean {near[0]}?" if near else "`memrepo search` finds memories by words",
        )


class Ambiguous(MemrepoError):
    """Raised when several memories match the input."""

    exit_code = Exit.DECIDE

    def __init__(self, word: str, found: Sequence[str]) -> None:
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        super().__init__(
            f"{word!r} fits {len(found)} memories: {', '.join(found[:5])}{more}",
            fix="type more characters of the id",
        )


def find(state: State, word: str) -> Memory:
    """Return the memory with an id, id prefix, path, slug or alias.

    Raises NoSuchMemory or Ambiguous.
    """
    if word in state.memories:
        return state.memories[word]
    digits = word.removeprefix("mem-")
    layer, _, slug = word.rpartition(":")
    found = [
        memory
        for memory in state.memories.values()
        if (digits and memory.id.startswith(f"mem-{digits}"))
        or memory.path == word
        or (slug in memory.names and layer in ("", memory.layer))
        or word in memory.aliases
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise Ambiguous(word, sorted(m.id for m in found))
    names = {m.id[: max(len(word), 10)]: m.id for m in state.memories.values()}
    names |= {name: name for m in state.memories.values() for name in m.names}
    import difflib  # only a wrong id needs it

    near = difflib.get_close_matches(word, names, n=1)
    raise NoSuchMemory(word, [names[name] for name in near])


HITS = 3
"""Number of hits per query that count as retrieved."""
CURRENT = "session"
"""The file in memrepo's folder that names the session started last in this clone."""


def current(work: Work) -> Event:
    """Return the start event of the session to which a new retrieval belongs.

    The session is named by the environment, or is the one started last with `session start`. If
    neither exists, each day counts as one session.
    """
    day = work.call.now.astimezone(work.config.zone).replace(hour=0, minute=0, second=0)
    if id_ := work.call.id.encode("utf-8", "replace").decode():
        return Event(kind=SESSION, at=seconds(day), session=id_)
    with suppress(OSError, UnicodeDecodeError):
        at, _, id_ = (work.store.folder / CURRENT).read_text(encoding="utf-8").partition(" ")
        if at.isdecimal() and id_.strip():
            return Event(kind=SESSION, at=int(at), session=id_.strip())
    return Event(kind=SESSION, at=seconds(day), session=f"day-{day:%Y-%m-%d}")


def touch(work: Work, ids: Iterable[str]) -> None:
    """Record retrievals at the current time, if access counting is enabled."""
    found = tuple(ids)
    if found and work.config.access.enabled:
        count_retrieval(work, found)


def count_retrieval(work: Work, ids: Iterable[str]) -> None:
    """Record one retrieval for each of the memories."""
    start, at = current(work), seconds(work.call.now)
    events = [Event(kind=RETRIEVAL, at=at, session=start.session, memory=id_) for id_ in ids]
    with suppress(OSError, Locked):
        ledger = Ledger(work.store)
        ledger.record([start, *events])


def as_json(memory: Memory) -> dict[str, Any]:
    """Return a memory's path, fields and body as JSON-compatible values."""
    fields = {f.name: field_as_json(f.name, memory) for f in FIELDS if f.name in memory.fields}
    return {"path": memory.path, "layer": memory.layer, **fields, "text": memory.body}


def field_as_json(name: str, memory: Memory) -> Any:
    """Return a field's value for JSON, or None if the memory lacks the field."""
    if name not in memory.fields:
        return None
    value = memory.fields[name]
    return bare(node_of(value, whole=name != "sources"))


class NotYetSetUp(MemrepoError):
    """Raised when a commit is older than the setup of memrepo in this repository."""

    exit_code = Exit.USAGE

    def __init__(self, word: str, commit: str) -> None:
        super().__init__(
            f"{word}: commit {commit[:10]} has no memrepo.toml, there was no memory yet",
            fix="name a later commit or date (`memrepo log` lists commits)",
        )


def work_at(work: Work, word: str) -> Work:
    """Return a Work on the commit that `REV|DATE` names, with that commit's configuration.

    An empty word returns `work`. A run's id means the merge commit of the run. If the old
    configuration cannot be read, the current one is used. Raises NoSuchMoment, BeforeHistory or
    NotYetSetUp.
    """
    if not word:
        return work
    from memrepo.config import ConfigError, parse_config
    from memrepo.store.history import commit_at, merges_of
    from memrepo.store.repo import find_layout

    store = work.store
    merge = merges_of(store.repo, work.tree.commit, [word]).get(word)
    commit = merge.commit if merge else ""
    commit = commit or commit_at(store, work.tree.commit, word, work.config.zone)
    layout = find_layout(store.repo, commit)
    if layout is None:
        raise NotYetSetUp(word, commit)
    tree = store.snapshot(commit, layout)
    try:
        config = parse_config(tree.files[layout.config].decode("utf-8"))
    except (ConfigError, KeyError, UnicodeDecodeError):
        config = work.config
    return work.at(tree, config)


def heading(work: Work, word: str) -> list[str]:
    """Return the line that states to which date an answer refers; none for the present."""
    lines = []
    if word:
        when = work.store.commit_time(work.tree.commit).astimezone(work.config.zone)
        lines.append(f"as of commit {work.tree.commit[:10]}, {when:%Y-%m-%d %H:%M}")
    return lines
