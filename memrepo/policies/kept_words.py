"""The words of statements as an earlier run cut them: a run cuts those that are new since.

Of a word it is known which statements hold it, by their numbers: two sorted arrays, of which a
look-up is a bisection. No text is needed for it, and no word is spelled out.
"""

from __future__ import annotations

import math
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate

import msgspec

from memrepo.core.memory import Memory
from memrepo.policies.matching import SHORT, WordIndex, is_paired, tokens

_PAIRED = 1 << 31
"""Beside the count of a statement's words: it holds words that are pairs of characters."""
_FEW = 64


def _print_of(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")


class Postings:
    """Which of some numbered texts hold which words, and how many words each holds."""

    def __init__(
        self,
        prints: array[int] | None = None,
        numbers: array[int] | None = None,
        sizes: array[int] | None = None,
        held: array[int] | None = None,
    ) -> None:
        """Take the prints of words, sorted, beside the number of who holds each, and the sizes.

        `held` has the prints once more, text by text.
        """
        self._prints = array("Q") if prints is None else prints
        self._numbers = array("I") if numbers is None else numbers
        self._sizes = array("I") if sizes is None else sizes
        self._held = array("Q") if held is None else held

    @cached_property
    def _ends(self) -> array[int]:
        """Return where the words of each text end among those of all."""
        return array("I", accumulate(size & ~_PAIRED for size in self._sizes))

    def shared(self, number: int, prints: frozenset[int]) -> int:
        """Return how many of some words, by their prints, a text holds."""
        first = self._ends[number - 1] if number else 0
        return len(prints.intersection(self._held[first : self._ends[number]]))

    def __len__(self) -> int:
        return len(self._sizes)

    def size(self, number: int) -> int:
        """Return how many words a text holds."""
        return self._sizes[number] & ~_PAIRED

    def is_paired(self, number: int) -> bool:
        """Tell whether a text holds pairs of characters."""
        return bool(self._sizes[number] & _PAIRED)

    def paired(self) -> list[int]:
        """Return the numbers of the texts that hold pairs of characters."""
        return [n for n, size in enumerate(self._sizes) if size & _PAIRED]

    def of(self, word: str) -> array[int]:
        """Return the numbers of the texts that hold a word, in order."""
        low, high = self._span(word)
        return self._numbers[low:high]

    def count(self, word: str, without: Sequence[int]) -> int:
        """Return how many texts hold a word, but for a few (by number)."""
        low, high = self._span(word)
        count = high - low
        for number in without:
            at = bisect_left(self._numbers, number, low, high)
            count -= at < high and self._numbers[at] == number
        return count

    def _span(self, word: str) -> tuple[int, int]:
        of = _print_of(word)
        low = bisect_left(self._prints, of)
        return low, bisect_right(self._prints, of, low)

    def with_texts(self, texts: Iterable[str]) -> Postings:
        """Return these and more texts, numbered on."""
        return self.with_words(map(tokens, texts))

    def with_words(self, texts: Iterable[frozenset[str]]) -> Postings:
        """Return these and more texts by the words of each, numbered on."""
        sizes, pairs, known = array("I", self._sizes), [], dict[str, int]()
        held = array("Q", self._held)
        for words in texts:
            for word in words:
                if (of := known.get(word)) is None:
                    of = known[word] = _print_of(word)
                pairs.append((of << 32) | len(sizes))
                held.append(of)
            sizes.append(len(words) | (_PAIRED if is_paired(words) else 0))
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
        return Postings(prints, numbers, sizes, held)

    def without(self, gone: Callable[[int], bool]) -> Postings:
        """Return these without some texts, the others numbered anew in their order."""
        numbers = array("i", [-1]) * len(self)
        sizes, held, first = array("I"), array("Q"), 0
        for number, end in enumerate(self._ends):
            if not gone(number):
                numbers[number] = len(sizes)
                sizes.append(self._sizes[number])
                held.extend(self._held[first:end])
            first = end
        pairs = zip(self._prints, map(numbers.__getitem__, self._numbers), strict=True)
        rest = [pair for pair in pairs if pair[1] >= 0]
        prints = array("Q", (of for of, _ in rest))
        return Postings(prints, array("I", (number for _, number in rest)), sizes, held)

    def to_bytes(self) -> bytes:
        """Return them as bytes of this machine."""
        head = array("Q", (len(self._prints), len(self._sizes)))
        parts = (head, self._prints, self._numbers, self._sizes, self._held)
        return b"".join((sys.byteorder.encode(), *(part.tobytes() for part in parts)))

    @staticmethod
    def from_bytes(data: bytes) -> Postings | None:
        """Return what bytes hold; None where they are another machine's, or none of these."""
        order = sys.byteorder.encode()
        if not data.startswith(order):
            return None
        seen, at, parts = memoryview(data), len(order), []
        head = array("Q")
        if len(data) < at + 2 * head.itemsize:
            return None
        head.frombytes(seen[at : at + 2 * head.itemsize])
        at += 2 * head.itemsize
        for code, count in (("Q", head[0]), ("I", head[0]), ("I", head[1]), ("Q", head[0])):
            part = array(code)
            if len(data) < at + count * part.itemsize:
                return None
            part.frombytes(seen[at : at + count * part.itemsize])
            at += count * part.itemsize
            parts.append(part)
        return Postings(*parts) if at == len(data) else None


class KeptPostings(msgspec.Struct, frozen=True, kw_only=True):
    """The words, or marks, of memories as an earlier run found them, and whose each are."""

    postings: Postings
    ids: Sequence[str | None]
    """By number; None where the memory is not there any more, or says something else."""
    of: Mapping[str, Memory]
    """The memories as they were when that was found out."""


class KeptIndex(WordIndex):
    """The words of statements of which most were cut before; as if all had been put in order."""

    def __init__(
        self,
        postings: Postings,
        places: Sequence[int],
        ids: Sequence[str],
        said: Callable[[str], str],
    ) -> None:
        """Take statements by their ids, in order; what is at no number's place is new.

        `places` gives the place of each number among the ids, or -1; `said` a statement's text.
        """
        super().__init__()
        self._postings, self._places, self._ids = postings, places, ids
        self._out = [n for n, place in enumerate(places) if place < 0]
        self._number = array("i", [-1]) * len(ids)
        for number, place in enumerate(places):
            if place >= 0:
                self._number[place] = number
        self._beside: dict[str, list[int]] = {}
        self._later: dict[str, list[str]] = {}
        own: dict[str, tuple[str, ...]] = {}
        for place, number in enumerate(self._number):
            if number < 0:
                found = own[ids[place]] = tuple(sorted(tokens(said(ids[place]))))
                for word in found:
                    self._beside.setdefault(word, []).append(place)
        kept = sum(places[number] >= 0 for number in postings.paired())
        self.pairs = kept + sum(map(is_paired, own.values()))
        """How many of these statements hold pairs of characters, before any is put or dropped."""
        self.words: _Words = _Words(ids, said, own)
        self._asked: tuple[frozenset[str], frozenset[int]] = (frozenset(), frozenset())

    def put(self, id_: str, text: str) -> None:
        """Take a statement that is new here."""
        found = tokens(text)
        self.words[id_] = tuple(sorted(found))
        for word in found:
            held = self.holders.get(word)
            (self._later.setdefault(word, []) if held is None else held).append(id_)
        if self._short and len(found) <= SHORT:
            for word in found & self._short.keys():
                self._short[word].append(id_)

    def drop(self, id_: str) -> None:
        """Know no more of a statement."""
        for word in self.words[id_]:
            self.holding(word)
        super().drop(id_)

    def over(self, words: frozenset[str], id_: str) -> tuple[int, int]:
        """Return how many words a statement shares with some, and how many it holds."""
        if id_ in self.words.own or id_ not in self.words.places:
            return super().over(words, id_)
        if words is not self._asked[0]:
            self._asked = words, frozenset(map(_print_of, words))
        number = self._number[self.words.places[id_]]
        return self._postings.shared(number, self._asked[1]), self._postings.size(number)

    def size(self, id_: str) -> int:
        """Return how many words a statement holds."""
        if id_ in self.words.own or id_ not in self.words.places:
            return super().size(id_)
        return self._postings.size(self._number[self.words.places[id_]])

    def is_paired(self, id_: str) -> bool:
        """Tell whether the words of a statement are pairs of characters."""
        if id_ in self.words.own or id_ not in self.words.places:
            return super().is_paired(id_)
        return self._postings.is_paired(self._number[self.words.places[id_]])

    def holding(self, word: str) -> list[str]:
        """Return the statements that hold a word, gathered when it is first asked for."""
        held = self.holders.get(word)
        if held is None:
            held = [self._ids[place] for place in self._placed(word)]
            held = self.holders[word] = held + self._later.pop(word, [])
        return held

    def count(self, word: str) -> int:
        """Return how many statements hold a word."""
        if word in self.holders or len(self._out) > _FEW:
            return len(self.holding(word))
        beside = len(self._beside.get(word, ())) + len(self._later.get(word, ()))
        return self._postings.count(word, self._out) + beside

    def within(self, word: str, most: float) -> list[str]:
        """Return the statements that hold a word, and at most so many; others are not looked at."""
        if word in self.holders:
            return [id_ for id_ in self.holders[word] if self.size(id_) <= most]
        held = [self._ids[place] for place in self._placed(word, most)]
        return held + [id_ for id_ in self._later.get(word, ()) if len(self.words[id_]) <= most]

    def _placed(self, word: str, most: float = math.inf) -> list[int]:
        """Return the places of the statements that hold a word, in order."""
        places, size = self._places, self._postings.size
        numbers: Iterable[int] = self._postings.of(word)
        if most < math.inf:
            numbers = (number for number in numbers if size(number) <= most)
        found = [place for number in numbers if (place := places[number]) >= 0]
        own = self.words.own
        found += (p for p in self._beside.get(word, ()) if len(own[self._ids[p]]) <= most)
        found.sort()
        return found


class _Words(MutableMapping[str, tuple[str, ...]]):
    """The words of each statement; those that are kept by number are cut when they are asked for.

    `own` holds those that are new, or were asked for.
    """

    def __init__(
        self,
        ids: Sequence[str],
        said: Callable[[str], str],
        own: dict[str, tuple[str, ...]],
    ) -> None:
        self.own, self._said = own, said
        self.places = {id_: place for place, id_ in enumerate(ids)}
        self._more: dict[str, None] = {}

    def __getitem__(self, id_: str) -> tuple[str, ...]:
        found = self.own.get(id_)
        if found is None:
            if id_ not in self.places:
                raise KeyError(id_)
            found = self.own[id_] = tuple(sorted(tokens(self._said(id_))))
        return found

    def __setitem__(self, id_: str, words: tuple[str, ...]) -> None:
        self.own[id_] = words
        if id_ not in self.places:
            self._more[id_] = None

    def __delitem__(self, id_: str) -> None:
        self.own.pop(id_, None)
        if self.places.pop(id_, None) is None:
            del self._more[id_]

    def __contains__(self, id_: object) -> bool:
        return id_ in self.places or id_ in self._more

    def __iter__(self) -> Iterator[str]:
        yield from self.places
        yield from self._more

    def __len__(self) -> int:
        return len(self.places) + len(self._more)
