"""`memrepo rejected`: what does not come back, since when, why, and as what."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.state import State
from memrepo.merge.tombstones import Stand, Tombstone, tombstones_in


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `rejected`."""

    all: Annotated[bool, option("those that were lifted too", "--all")] = False


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """A tombstone; `path` is empty where its memory is no longer in the tree."""

    key: str
    state: Stand
    epoch: int
    memory: str
    path: str
    scope: str
    reason: str
    by: str
    at: datetime
    forgotten: tuple[str, ...]


class Result(result.Result, frozen=True, kw_only=True):
    """What does not come back, the oldest first."""

    rejected: tuple[Rejection, ...]


def do(work: Work, request: Request) -> Result:
    """List the tombstones; a text is told only while its memory is in the tree."""
    state = work.tree.state()
    stones = tombstones_in(state)
    shown = [s for s in stones.found.values() if request.all or s.state == "active"]
    shown.sort(key=lambda s: (s.at, s.key))
    return Result(
        rejected=tuple(_rejection(state, stone) for stone in shown), notices=stones.problems
    )


def _rejection(state: State, stone: Tombstone) -> Rejection:
    memory = state.memories.get(stone.memory)
    return Rejection(
        key=stone.key,
        state=stone.state,
        epoch=stone.epoch,
        memory=stone.memory,
        path=memory.path if memory else "",
        scope=stone.scope,
        reason=stone.reason,
        by=stone.by,
        at=stone.at,
        forgotten=stone.forgotten,
    )
