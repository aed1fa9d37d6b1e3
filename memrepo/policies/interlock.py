"""The interlock: a run that would eat the store does not merge itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from memrepo.core.changes import Change, Create, Delete, Remove, Update, Write
from memrepo.core.state import State

FREE = 20
"""A run may always take this many memories out of recall."""
_RETIRING = "retire_candidate"


def losses(state: State, changes: Iterable[Change]) -> frozenset[str]:
    """Return the ids of active memories that the changes would take out of recall or views.

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
    return frozenset(
        i for i in lost if i in state.memories and state.memories[i].status == "active"
    )


def interlock(state: State, changes: Iterable[Change], max_change_pct: float) -> str:
    """Return why a run must wait for a person, or an empty string when it may merge itself.

    It must when it takes more than `max_change_pct` percent of the active memories out of recall,
    and more than 20 of them.
    """
    lost, total = len(losses(state, changes)), len(state.active)
    if lost <= FREE or lost * 100 <= max_change_pct * total:
        return ""
    return (
        f"it would take {lost} of {total} active memories out of recall"
        f" (more than {max_change_pct:g} %)"
    )
