"""What a person rejected, in a run: an exact match is left out, what is close to it waits.

Both are told by fingerprint, so that what depends on such a decision shares its fate
(`purify.holding`). Without a tombstone nothing is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Change, Create, Delete, Remove, Step, Update, Write, prints_of
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.merge.tombstones import Tombstone, tombstones_in
from memrepo.purify.pipeline import Purified

_SAID = ("subject", "predicate", "object", "scope")


class Bars(msgspec.Struct, frozen=True, kw_only=True):
    """Fingerprints of proposals that are left out, and of those that wait for review."""

    dropped: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()


def barred(state: State, purified: Purified) -> tuple[Purified, Bars]:
    """Return what a run proposes with what is told of rejections, and the fingerprints."""
    stones = tombstones_in(state)
    if not stones:
        return replace(purified, problems=(*purified.problems, *stones.problems)), Bars()
    dropped: set[str] = set()
    held: set[str] = set()
    told: list[Problem] = []
    for op, change, memory in _news(state, purified.steps):
        if stone := stones.bar(memory):
            dropped |= prints_of(op, change)
            told.append(_told(memory, stone, "rejected-left-out", "left out: it says"))
        elif stone := stones.near(memory):
            held |= prints_of(op, change)
            what = "waits for review: it is close to"
            told.append(_told(memory, stone, "rejected-similar", what))
    problems = (*purified.problems, *stones.problems, *told)
    counts = {**purified.counts, "barred": len(dropped)} if dropped else purified.counts
    bars = Bars(dropped=frozenset(dropped), held=frozenset(held))
    return replace(purified, problems=problems, counts=counts), bars


def _news(state: State, steps: Sequence[Step]) -> Iterator[tuple[str, Change, Memory]]:
    """Yield each change after which a memory in recall says something new."""
    for step in steps:
        for change in step.changes:
            match change:
                case Create(memory=memory):
                    yield step.op, change, memory
                case Update(id=id_, fields=fields, body=body):
                    old = state.memories.get(id_)
                    if old is None or old.status == "forgotten":
                        continue
                    if body is not None or not fields.keys().isdisjoint(_SAID):
                        yield step.op, change, old.with_fields(fields, body)
                case Remove() | Write() | Delete():
                    pass


def left_out(
    state: State, memory: Memory, called: str, path: str, line: int, key: str = ""
) -> Problem | None:
    """Return why an import leaves out a memory that was rejected, or is close to what was.

    Nobody is there to ask. The memory is told as `called`, where its record stands.
    """
    stones = tombstones_in(state)
    if not stones:
        return None
    exact = stones.bar(memory)
    stone = exact or stones.near(memory)
    if stone is None:
        return None
    again = f"`memrepo unreject {stone.key}` and import again"
    what = "says" if exact else "is close to"
    return Problem(
        path=path,
        line=line,
        key=key,
        severity="warning",
        rule="rejected-left-out" if exact else "rejected-similar",
        message=f"{called} {what} what was rejected as {stone.key}: it is left out",
        fix=again if exact else f"{again}, or add it by hand",
    )


def _told(memory: Memory, stone: Tombstone, rule: str, what: str) -> Problem:
    return Problem(
        path=memory.path,
        rule=rule,
        severity="warning",
        message=f"{memory.id} {what} what was rejected as {stone.key}",
        fix=f"`memrepo unreject {stone.key}` lifts the rejection, if it holds after all",
    )
