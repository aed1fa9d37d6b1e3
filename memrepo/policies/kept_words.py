"""The words of statements as an earlier run cut them: a run cuts only those that are new since.

Of a word it is known which statements hold it, by their numbers: two sorted arrays, of which a
look-up is a bisection. No text is needed for it, and no word is spelled out.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b

import msgspec

from memrepo.core.memory import Memory


def _print_of(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")


class Postings:
    """Which of some numbered texts hold which words."""

    def __init__(
        self, prints: array[int] | None = None, numbers: array[int] | None = None, size: int = 0
    ) -> None:
        """Take the prints of words, sorted, each with the number of a text that holds it."""
        self._prints = array("Q") if prints is None else prints
        self._numbers = array("I") if numbers is None else numbers
        self._size = size

    def __len__(self) -> int:
        return self._size

    def of(self, word: str) -> array[int]:
        """Return the numbers of the texts that hold a word, in order."""
        low, high = self._span(word)
        return self._numbers[low:high]

    def count(self, word: str) -> int:
        """Return how many texts hold a word."""
        low, high = self._span(word)
        return high - low

    def _span(self, word: str) -> tuple[int, int]:
        of = _print_of(word)
        low = bisect_left(self._prints, of)
        return low, bisect_right(self._prints, of, low)

    def with_words(self, texts: Iterable[frozenset[str]]) -> Postings:
        """Return these and more texts by the words of each, numbered on."""
        size, pairs, known = self._size, [], dict[str, int]()
        for words in texts:
            for word in words:
                if (of := known.get(word)) is None:
                    of = known[word] = _print_of(word)
                pairs.append((of << 32) | size)
            size += 1
        pairs.sort()
        prints, numbers, done = array("Q"), array("I"), 0
        for pair in pairs:
            of = pair >> 32
            at = bisect_right(self._prints, of, done) if done < len(self._prints) else done
            if at > done:
                prints.extend(self._prints[done:at])
                numbers.extend(self._numbers[done:at])
                done = at
            prints.append(of)
            numbers.append(pair & 0xFFFFFFFF)
        prints.extend(self._prints[done:])
        numbers.extend(self._numbers[done:])
        return Postings(prints, numbers, size)

    def without(self, gone: Callable[[int], bool]) -> Postings:
        """Return these without some texts, the others renumbered in their order."""
        numbers, size = array("i", [-1]) * self._size, 0
        for number in range(self._size):
            if not gone(number):
                numbers[number] = size
                size += 1
        pairs = zip(self._prints, map(numbers.__getitem__, self._numbers), strict=True)
        rest = [pair for pair in pairs if pair[1] >= 0]
        prints = array("Q", (of for of, _ in rest))
        return Postings(prints, array("I", (number for _, number in rest)), size)

    def to_bytes(self) -> bytes:
        """Return them as bytes of this machine."""
        head = array("Q", (len(self._prints), self._size))
        parts = (head, self._prints, self._numbers)
        return b"".join((sys.byteorder.encode(), *(part.tobytes() for part in parts)))

    @staticmethod
    def from_bytes(data: bytes) -> Postings | None:
        """Return what bytes hold; None where they are another machine's, or none of these."""
        order, head = sys.byteorder.encode(), array("Q")
        start = len(order) + 2 * head.itemsize
        if not data.startswith(order) or len(data) < start:
            return None
        head.frombytes(data[len(order) : start])
        prints, numbers = array("Q"), array("I")
        middle = start + head[0] * prints.itemsize
        if len(data) != middle + head[0] * numbers.itemsize:
            return None
        seen = memoryview(data)
        prints.frombytes(seen[start:middle])
        numbers.frombytes(seen[middle:])
        return Postings(prints, numbers, head[1])


class KeptPostings(msgspec.Struct, frozen=True, kw_only=True):
    """The words, or marks, of memories as an earlier run found them, and whose each are."""

    postings: Postings
    ids: Sequence[str | None]
    """By number; None where the memory is not there any more, or says something else."""
    of: Mapping[str, Memory]
    """The memories as they were when that was found out."""
