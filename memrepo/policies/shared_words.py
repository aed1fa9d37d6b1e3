"""Which statements share enough words with one: found of all at once, with a bit for each.

A word that many hold leads to many, and to look at each of them is most of the work of a large
run. Numbers of any length are rows of bits here: who holds a word is a row, and a few operations on
the rows of some words tell of every statement how many of them it holds.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator

from memrepo.policies.matching import WordIndex

_SELDOM = 1024
"""The row of a word that one statement of so many holds is kept, any other made when asked for."""


class SharedWords:
    """The statements of an index as they are now: it is made anew where one comes or goes."""

    def __init__(self, index: WordIndex) -> None:
        """Take an index; its statements are numbered in the order in which they came."""
        self._index = index
        self._ids = [*index.words]
        self._numbers = {id_: number for number, id_ in enumerate(self._ids)}
        self._sizes = array("L", map(index.size, self._ids))
        self._kept: dict[str, int] = {}
        self._short: dict[int, int] = {}

    def near(
        self, id_: str, words: Collection[str], least: float, most: int, examined: int
    ) -> list[str]:
        """Return who shares enough of some words with them, in the order of `WordIndex.sharing`.

        Enough is a share of the words of the shorter of two. At most so many are returned, of the
        first so many whom the words lead to (`examined`), and not the one whose id is given.
        """
        rows = [self._row(word) for word in self._index.rarest(words)]
        enough = self._sharing(rows, least)
        found: list[str] = []
        number = self._numbers.get(id_)
        looked = 0 if number is None else 1 << number
        room = examined
        if not enough & ~looked:
            return found
        for at, row in enumerate(rows):
            longest = (len(rows) - at) / least
            here = row if len(rows) <= longest else row & self._up_to(int(longest))
            new = here & ~looked
            count, near = new.bit_count(), new & enough
            if near and count > room:
                near = _first(new, room) & near
            for number in _bits(near):
                found.append(self._ids[number])
                if len(found) == most:
                    return found
            if (room := room - count) <= 0:
                break
            looked |= here
        return found

    def _sharing(self, rows: list[int], least: float) -> int:
        """Return the row of all that hold enough of the words whose rows these are."""
        size = len(rows)
        needed = [0]  # by how many are held: the longest statement of which that is enough
        while needed[-1] < size:
            held = len(needed)
            longest = int(held / least) + 1
            while least * longest > held:
                longest -= 1
            needed.append(longest)
        # By a count, who holds at least so many of the words that were added.
        holding = [0] * len(needed)
        for row in rows:
            for held in range(len(needed) - 1, 1, -1):
                holding[held] |= holding[held - 1] & row
            holding[1] |= row
        enough = holding[-1]
        for held in range(1, len(needed) - 1):
            enough |= holding[held] & self._up_to(needed[held])
        return enough

    def _row(self, word: str) -> int:
        """Return who holds a word."""
        row = self._kept.get(word)
        if row is None:
            held = self._index.holding(word)
            row = self._row_of(map(self._numbers.__getitem__, held))
            if len(held) * _SELDOM > len(self._ids):
                self._kept[word] = row
        return row

    def _up_to(self, longest: int) -> int:
        """Return who has at most so many words."""
        row = self._short.get(longest)
        if row is None:
            row = self._row_of(n for n, size in enumerate(self._sizes) if size <= longest)
            self._short[longest] = row
        return row

    def _row_of(self, numbers: Iterator[int]) -> int:
        bits = bytearray(len(self._ids) + 7 >> 3)
        for number in numbers:
            bits[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(bits, "little")


def _first(row: int, count: int) -> int:
    """Return the first bits of a row, so many of them; it has at least as many."""
    at, width, rest, left = 0, row.bit_length(), row, count
    while width > 1:
        half = width >> 1
        low = rest & ((1 << half) - 1)
        if (here := low.bit_count()) >= left:
            rest, width = low, half
        else:
            rest, width, at, left = rest >> half, width - half, at + half, left - here
    return row & ((2 << at) - 1)


def _bits(row: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, in order."""
    rest = row.to_bytes(row.bit_length() + 7 >> 3, "little")
    size = len(rest)
    while rest := rest.lstrip(b"\0"):
        at = (size - len(rest)) << 3
        for number in range(8):
            if rest[0] >> number & 1:
                yield at + number
        rest = rest[1:]
