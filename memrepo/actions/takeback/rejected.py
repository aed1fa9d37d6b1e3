"""`memrepo rejected`: what does not come back, since when, why, and as what."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge.tombstones import Tombstone, tombstones_in


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `rejected`."""

    all: Annotated[bool, option("those that were lifted too", "--all")] = False


def do(work: Work, request: Request) -> Answer:
    """List the tombstones; a text is told only while its memory is in the tree."""
    state = work.tree.state()
    stones = tombstones_in(state)
    shown = [s for s in stones.found.values() if request.all or s.state == "active"]
    shown.sort(key=lambda s: (s.at, s.key))
    lines = [_line(state, stone) for stone in shown]
    return Answer(
        data={"rejected": [_as_json(state, stone) for stone in shown]},
        text="\n".join(lines) or "nothing is rejected",
        problems=stones.problems,
    )


def _as_json(state: State, stone: Tombstone) -> dict[str, Any]:
    memory = state.memories.get(stone.memory)
    return {
        "key": stone.key,
        "state": stone.state,
        "epoch": stone.epoch,
        "memory": stone.memory,
        "path": memory.path if memory else "",
        "scope": stone.scope,
        "reason": stone.reason,
        "by": stone.by,
        "at": format_time(stone.at),
        "forgotten": list(stone.forgotten),
    }


def _line(state: State, stone: Tombstone) -> str:
    memory = state.memories.get(stone.memory)
    slug = memory.slug if memory else f"{stone.memory} (no longer in the tree)"
    lifted = " lifted" if stone.state == "lifted" else ""
    scope = f" in {visible(stone.scope)}" if stone.scope else ""
    return (
        f"{stone.key}{lifted}  {stone.at:%Y-%m-%d}  {stone.by}  {slug}{scope}\n"
        f"    {visible(stone.reason)}"
    )
