"""The line a memory stands in: what it replaced, and what replaced it, nearest first."""

from __future__ import annotations

from collections.abc import Mapping

from memrepo.core.memory import Memory


def before(memory: Memory, memories: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """Return what a memory replaced, and what that had replaced; each once, nearest first.

    A memory that is not there any more comes as one with nothing but its id.
    """
    return _line(memory, memories, "supersedes")


def after(memory: Memory, memories: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """Return what replaced a memory, and what replaced that; each once, nearest first."""
    return _line(memory, memories, "superseded_by")


def _line(memory: Memory, memories: Mapping[str, Memory], key: str) -> tuple[Memory, ...]:
    seen = {memory.id}
    found: list[Memory] = []
    near = [memory]
    while near:
        ids = dict.fromkeys(id_ for m in near for id_ in m.texts(key) if id_ not in seen)
        seen.update(ids)
        near = [memories.get(id_) or Memory(path="", fields={"id": id_}) for id_ in ids]
        found += near
    return tuple(found)
