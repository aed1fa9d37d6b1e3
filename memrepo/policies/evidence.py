"""Which of two statements is the newer one, by where and when each was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from memrepo.core.memory import Memory, Source

if TYPE_CHECKING:
    from memrepo.core.judge import Newer

Basis = Literal["dated", "later", ""]
"""What says so: a day in a text, heading or file name; the order in which it was written; nothing.
"""
_EXPLICIT = ("unit", "heading", "file")
_T = TypeVar("_T")


def newer_of(first: Iterable[Source], second: Iterable[Source]) -> tuple[Newer, Basis]:
    """Return which of two statements is newer, and whether a date says so or only their order."""
    one, two = tuple(first), tuple(second)
    days = _day(one), _day(two)
    seen = _seen(one), _seen(two)
    if days[0] and seen[1] and days[0] > seen[1]:
        return "first", "dated"
    if days[1] and seen[0] and days[1] > seen[0]:
        return "second", "dated"
    if all(seen) and seen[0] != seen[1]:
        return ("first" if seen[0] > seen[1] else "second"), "later"
    places = {s.resource: s.lines for s in one}, {s.resource: s.lines for s in two}
    for resource in places[0].keys() & places[1].keys():
        lines = places[0][resource], places[1][resource]
        if lines[0] != lines[1]:
            return ("first" if lines[0] > lines[1] else "second"), "later"
    return "unknown", ""


def is_dated(sources: Iterable[Source]) -> bool:
    """Tell whether a text, a heading or a file name says of which day evidence is."""
    return bool(_day(sources))


def same_place(first: Iterable[Source], second: Iterable[Source]) -> bool:
    """Tell whether one place says both: what stands in one line was meant to hold together."""
    places = {(s.resource, s.blob, s.lines) for s in first if s.blob}
    return any((s.resource, s.blob, s.lines) in places for s in second)


def _day(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources if s.captured_from in _EXPLICIT), default="")


def _seen(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources), default="")


def newer_first(hits: Sequence[_T], memories: Sequence[Memory]) -> list[_T]:
    """Return hits in their order, but of two that contradict each other the newer one first.

    Both stay on one of the two places that they had.
    """
    order = list(range(len(hits)))
    contested = [n for n, memory in enumerate(memories) if memory.standing == "contested"]
    if len(contested) < 2:
        return list(hits)
    from memrepo.policies.conflicts import contradicts  # a search seldom meets a contradiction

    for at, one in enumerate(contested):
        for other in contested[at + 1 :]:
            if not contradicts(memories[one], memories[other]):
                continue
            first, second = order.index(one), order.index(other)
            newer = newer_of(memories[one].sources, memories[other].sources)[0]
            if first < second and newer == "second":
                order[first], order[second] = other, one
    return [hits[n] for n in order]
