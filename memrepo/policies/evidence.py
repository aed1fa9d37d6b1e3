"""Which of two statements is the newer one, by where and when each was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from memrepo.core.memory import Memory, Source
from memrepo.policies.terms import terms

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
    places = {(s.resource, s.text_hash, s.lines) for s in first if s.text_hash}
    return any((s.resource, s.text_hash, s.lines) in places for s in second)


def _day(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources if s.captured_from in _EXPLICIT), default="")


def _seen(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources), default="")


MIN_SHARED = 0.4
"""Two statements about one thing share at least this part of their words."""


def newer_first(
    hits: Sequence[_T], memories: Sequence[Memory], asked: frozenset[str] = frozenset()
) -> list[tuple[_T, tuple[Memory, ...]]]:
    """Return hits in their order, but of two about one thing the newer one first.

    Both stay in the two places that they had. Each comes with the older hits about its thing. The
    older one keeps its place where it has one of the words that were asked for, and the newer one
    has not; unless they contradict each other.
    """
    order = list(range(len(hits)))
    older: dict[int, list[Memory]] = {}
    for at, one in enumerate(memories):
        for other in range(at + 1, len(memories)):
            is_contested = _are_contested(one, memories[other])
            if not (is_contested or _are_alike(one, memories[other])):
                continue
            newer = newer_of(one.sources, memories[other].sources)[0]
            if newer == "unknown":
                continue
            new, old = (at, other) if newer == "first" else (other, at)
            older.setdefault(new, []).append(memories[old])
            first, second = order.index(at), order.index(other)
            only_old = asked.intersection(terms(memories[old].said)).difference(
                terms(memories[new].said)
            )
            if first < second and new == other and (is_contested or not only_old):
                order[first], order[second] = other, at
    return [(hits[n], tuple(older.get(n, ()))) for n in order]


def _are_contested(one: Memory, other: Memory) -> bool:
    if not one.standing == other.standing == "contested":
        return False
    from memrepo.policies.conflicts import contradicts  # a search seldom meets a contradiction

    return contradicts(one, other)


def _are_alike(one: Memory, other: Memory) -> bool:
    """Tell whether two memories are about one thing; what shares few words is not read."""
    if one.is_note or other.is_note:
        return False
    words = frozenset(terms(one.said)), frozenset(terms(other.said))
    if len(words[0] & words[1]) < MIN_SHARED * min(map(len, words)):
        return False
    from memrepo.policies.change import is_same_thing  # its tables are read for few searches

    under = [memory.text("context") or memory.text("lead") for memory in (one, other)]
    return is_same_thing((one.said, under[0]), (other.said, under[1]))
