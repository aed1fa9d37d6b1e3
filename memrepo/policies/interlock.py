"""The interlock: what would eat the store does not land by itself; claims count, notes do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from memrepo.core.changes import Change, Create, Delete, Remove, Update, Write
from memrepo.core.memory import Memory
from memrepo.core.state import State

FREE = 20
"""A run may always take this many memories out of recall."""
_RETIRING = "retire_candidate"


def losses(state: State, changes: Iterable[Change]) -> frozenset[str]:
    """Return the ids of the claims in recall that the changes would take out of it.

    Those are removed, superseded, archived, or from now on about to be retired.
    """
    lost = set()
    for change in changes:
        match change:
            case Remove(id=id_):
                lost.add(id_)
            case Update(id=id_, fields=fields) if (fields.get("status") or "active") != "active":
                lost.add(id_)
            case Update(id=id_, fields=fields) if fields.get("standing") == _RETIRING:
                if id_ in state.memories and state.memories[id_].standing != _RETIRING:
                    lost.add(id_)
            case Update() | Create() | Write() | Delete():
                pass
            case _:
                assert_never(change)
    return frozenset(i for i in lost if i in state.memories and is_claim(state.memories[i]))


def is_claim(memory: Memory) -> bool:
    """Tell whether a memory is a claim in recall: active and no note, retired or not."""
    return memory.status == "active" and memory.type not in ("note", "chunk")


def interlock(state: State, changes: Iterable[Change], max_change_pct: float) -> str:
    """Return why a person must look first, or an empty string when the changes may land.

    They may not when they take more than `max_change_pct` percent of the claims out of recall, and
    more than 20 of them. What is about to be retired is out of it already.
    """
    lost = len(losses(state, changes))
    total = sum(is_claim(m) and m.standing != _RETIRING for m in state.active)
    if lost <= FREE or lost * 100 <= max_change_pct * total:
        return ""
    return f"it would take {lost} of {total} claims out of recall (more than {max_change_pct:g} %)"
