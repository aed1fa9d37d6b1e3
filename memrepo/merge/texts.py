"""Merge two versions of a text by line.

Lines changed by only one side are always part of the result. Two sides overlap if both changed the
same lines differently, or if one inserted lines between lines that the other replaced. If both
insert lines at the same position, they do not overlap, and the older side's lines come first. The
idea of hunks against a common base is from Khanna, Kunal and Pierce, "A Formal Investigation of
Diff3".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memrepo.core.codec import pairs


class MergedText(msgspec.Struct, frozen=True, kw_only=True):
    """A merged text. `overlap` is true if the text lacks lines written by the losing side."""

    text: str
    overlap: bool = False


class _Hunk(msgspec.Struct, frozen=True):
    """A change that replaces base lines `lo` to `hi` (exclusive). An insertion has lo == hi."""

    lo: int
    hi: int
    newer: bool
    lines: tuple[str, ...]

    def touches(self, before: _Hunk) -> bool:
        """Return whether two hunks affect the same base lines or the same gap between lines.

        `before` must not sort after this hunk by (lo, hi).
        """
        if self.newer == before.newer:
            return False
        if self.lo == self.hi and before.lo == before.hi:
            return self.lo == before.lo
        # An insertion at the edge of a replaced range is adjacent to it. Strictly inside, it
        # overlaps.
        return self.lo < min(self.hi, before.hi) or before.lo < self.lo == self.hi < before.hi


def merge_text(base: str, older: str, newer: str) -> MergedText:
    r"""Merge two texts with `\n` line endings and a common base. On overlap, `newer` wins.

    Swapping both the sides and their ages gives the same result.
    """
    if older in (newer, base):
        return MergedText(text=newer)
    if newer == base:
        return MergedText(text=older)
    origin = _lines(base)
    hunks = [
        *_hunks(origin, _lines(older), newer=False),
        *_hunks(origin, _lines(newer), newer=True),
    ]
    merged: list[str] = []
    at, overlap = 0, False
    for cluster in _clusters(sorted(hunks, key=lambda h: (h.lo, h.hi))):
        lo, hi = min(h.lo for h in cluster), max(h.hi for h in cluster)
        lines, lost = _resolved(origin, cluster, lo, hi)
        merged += [*origin[at:lo], *lines]
        at, overlap = hi, overlap or lost
    return MergedText(text="\n".join([*merged, *origin[at:]]), overlap=overlap)


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _hunks(base: Sequence[str], side: Sequence[str], *, newer: bool) -> Iterator[_Hunk]:
    i = j = 0
    for a, b in [*sorted(pairs(base, side)), (len(base), len(side))]:
        if i < a or j < b:
            yield _Hunk(i, a, newer, tuple(side[j:b]))
        i, j = a + 1, b + 1


def _clusters(hunks: Sequence[_Hunk]) -> Iterator[list[_Hunk]]:
    """Group hunks that touch each other, directly or through other hunks, in base order."""
    cluster: list[_Hunk] = []
    for hunk in hunks:
        if cluster and not any(hunk.touches(other) for other in cluster):
            yield cluster
            cluster = []
        cluster.append(hunk)
    if cluster:
        yield cluster


def _resolved(
    base: Sequence[str], cluster: Sequence[_Hunk], lo: int, hi: int
) -> tuple[Sequence[str], bool]:
    """Return the merged lines for base lines `lo` to `hi`, and whether other lines were lost."""
    if len(cluster) == 1:
        return cluster[0].lines, False
    older = _replayed(base, [h for h in cluster if not h.newer], lo, hi)
    newer = _replayed(base, [h for h in cluster if h.newer], lo, hi)
    if older == newer:
        return newer, False
    if lo == hi:
        return _both(older, newer), False
    head = _common(older, newer)
    tail = _common(older[head:][::-1], newer[head:][::-1])
    rests = older[head : len(older) - tail], newer[head : len(newer) - tail]
    for rest, other, whole in ((*rests, older), (*rests[::-1], newer)):
        # Both sides made the same change, and one of them added more.
        if head + tail and not other and not set(rest) & set(base[lo:hi]):
            return whole, False
    return newer, True


def _replayed(base: Sequence[str], hunks: Sequence[_Hunk], lo: int, hi: int) -> list[str]:
    lines: list[str] = []
    for hunk in hunks:
        lines += [*base[lo : hunk.lo], *hunk.lines]
        lo = hunk.hi
    return [*lines, *base[lo:hi]]


def _both(older: Sequence[str], newer: Sequence[str]) -> list[str]:
    """Join the lines inserted by both sides at one position. Common lines are included once."""
    lines: list[str] = []
    i = j = 0
    for a, b in [*sorted(pairs(older, newer)), (len(older), len(newer))]:
        shared = a < len(older) and older[a].strip()
        # A common blank line only separates paragraphs. It does not count as a common line.
        if not shared and a < len(older):
            continue
        lines += [*older[i:a], *newer[j:b], *older[a : a + 1]]
        i, j = a + 1, b + 1
    return lines


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    least = min(len(first), len(second))
    return next((n for n in range(least) if first[n] != second[n]), least)
