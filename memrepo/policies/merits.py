"""What speaks for a memory whatever is asked: how fresh, how often retrieved, how important it is.

Lineage: engram (recency, importance), whose boost for retrievals had reached its bound at the
first one; ours grows until the thirty-first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec

from memrepo.core.access import seconds
from memrepo.core.memory import Memory
from memrepo.core.times import parse_time

_DOUBLINGS = 5
"""So often the number of retrievals doubles until they add all they can."""
_USUAL = 0.4
"""The least importance of a memory that is neither low nor trivial: it adds nothing."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """When a question is asked, and how often each memory had been retrieved by then."""

    now: datetime
    retrievals: Callable[[str], int] = lambda _: 0


def seen(memory: Memory) -> int:
    """Return when a memory was last borne out, in seconds since 1970; 0 where nothing says when.

    The newest evidence or confirmation; where it has neither, when it was made.
    """
    told = [stamp.at for stamp in memory.fields.get("verified", ()) if stamp.at]
    for source in memory.sources:
        with suppress(ValueError):  # undated, or no day of the calendar
            told.append(parse_time(source.captured))
    newest = max(told, default=memory.time("created"))
    return max(1, seconds(newest)) if newest else 0


def recency(at: int, now: datetime, half_life: timedelta) -> float:
    """Return 1 for what was just seen, half of it after each half-life; the future is now."""
    age = max(0, seconds(now) - at)
    return float(0.5 ** (age / half_life.total_seconds()))


def access(retrievals: int, most: float) -> float:
    """Return what so many retrievals add."""
    return min(most, most / _DOUBLINGS * math.log2(1 + retrievals))


def importance(score: float, weight: float) -> float:
    """Return what an importance adds; below the usual it takes away."""
    return (score - _USUAL) * weight


def behind(
    scores: Mapping[str, float], successors: Mapping[str, Sequence[str]]
) -> dict[str, tuple[float, int]]:
    """Return scores by which nothing stands above what superseded it, and how far it is behind.

    All by id. A score is lowered to that of the lowest successor which has one; the number says how
    many stand before it in its chain, for an order among equals.
    """
    found = {id_: (score, 0) for id_, score in scores.items()}
    after = {id_: [s for s in successors.get(id_, ()) if s in scores] for id_ in scores}
    for _ in successors:  # one link of every chain a turn; a ring has no end
        before = dict(found)
        for id_, those in after.items():
            for score, number in (found[one] for one in those):
                found[id_] = min(found[id_][0], score), max(found[id_][1], number + 1)
        if found == before:
            break
    return found


def with_replaced(ids: Collection[str], successors: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return ids with all that they replaced, directly or not, as far as it is among `successors`.

    What comes last takes along what it superseded: that may not stand above it.
    """
    found = frozenset(ids)
    while more := {i for i, after in successors.items() if i not in found and found & set(after)}:
        found |= more
    return found
