"""Lookup of a memory by user input: an id, a unique prefix of an id, a path or a slug."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Memory
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
    """Return the memory with an id, id prefix, path or slug. Raises NoSuchMemory or Ambiguous."""
    if word in state.memories:
        return state.memories[word]
    digits = word.removeprefix("mem-")
    layer, _, slug = word.rpartition(":")
    found = [
        memory
        for memory in state.memories.values()
        if (digits and memory.id.startswith(f"mem-{digits}"))
        or memory.path == word
        or (slug in (memory.slug, memory.slug[:-7]) and layer in ("", memory.layer))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise Ambiguous(word, sorted(m.id for m in found))
    names = {m.id[: max(len(word), 10)]: m.id for m in state.memories.values()}
    names |= {name: name for m in state.memories.values() for name in (m.slug[:-7], m.slug)}
    near = difflib.get_close_matches(word, names, n=1)
    raise NoSuchMemory(word, [names[name] for name in near])
