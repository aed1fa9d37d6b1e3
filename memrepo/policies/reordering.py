"""Put what was scored into the order in which it is passed, one hit a memory.

What speaks for a memory whatever is asked moves it: how fresh, how often retrieved, how important
it is. Down goes what a better hit superseded.

Lineage: engram (recency, importance), whose boost for retrievals had reached its bound at the
first one; ours grows until the thirty-first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from memrepo.core.access import seconds
from memrepo.policies.documents import Ranked
from memrepo.policies.rules import Merits, Weights

_DOUBLINGS = 5
"""So often the number of retrievals doubles until they add all they can."""
_USUAL = 0.4
"""The least importance of a memory that is neither low nor trivial: it adds nothing."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """When a question is asked, and how often each memory had been retrieved by then."""

    now: datetime
    retrievals: Callable[[str], int] = lambda _: 0


def in_order(
    scored: Iterable[Ranked],
    count: int,
    weights: Weights,
    moment: Moment | None = None,
) -> list[Ranked]:
    """Return the best memories, best first; ties by path."""
    if moment:
        scored = [_with_merits(one, weights.merits, moment) for one in scored]
    return _first(_best_parts(scored), count)


def cutoff(scores: Collection[float], count: int) -> float:
    """Return what the first so many of some scores have at least."""
    return sorted(scores, reverse=True)[count - 1] if count < len(scores) else -math.inf


def _with_merits(one: Ranked, merits: Merits, moment: Moment) -> Ranked:
    """Add what speaks for a document whatever is asked; what has no date loses nothing by it."""
    document, share = (
        one.document,
        merits.recency if one.document.seen or not one.document.id else 0.0,
    )
    parts = {name: value * (1 - share) for name, value in one.parts.items()}
    parts["recency"] = share * recency(document.seen, moment.now, merits.half_life)
    parts["access"] = access(moment.retrievals(document.id), merits.access)
    # A record is as long as its day: signs of importance that it holds anywhere say nothing of it.
    if document.importance is not None and not document.is_record:
        parts["importance"] = importance(document.importance, merits.importance)
    if document.is_record:
        parts["note"] = -merits.note * max(0.0, sum(parts.values()))
    return Ranked(document, sum(parts.values()), parts)


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


def _best_parts(scored: Iterable[Ranked]) -> list[Ranked]:
    """Keep the best chunk of each memory, the first of equals."""
    best: dict[str, Ranked] = {}
    for one in scored:
        had = best.setdefault(one.document.path, one)
        if had is not one and (-one.score, one.document.part) < (-had.score, had.document.part):
            best[one.document.path] = one
    return list(best.values())


def _first(scored: Sequence[Ranked], count: int) -> list[Ranked]:
    """Return the first by score, then by path; nothing stands above what superseded it."""
    successors = {o.document.id: o.document.successors for o in scored if o.document.successors}
    if not successors:
        least = cutoff([one.score for one in scored], count)
        return _best_first(one for one in scored if one.score >= least)[:count]
    places = behind({o.document.id: o.score for o in scored}, successors)
    lowered = [_lowered(one, places[one.document.id][0]) for one in scored]
    order = sorted(lowered, key=lambda o: (-o.score, places[o.document.id][1], o.document.path))
    return order[:count]


def _lowered(one: Ranked, score: float) -> Ranked:
    if score == one.score:
        return one
    return Ranked(one.document, score, {**one.parts, "status": score - one.score})


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


def _best_first(scored: Iterable[Ranked]) -> list[Ranked]:
    return sorted(scored, key=lambda one: (-one.score, one.document.path))
