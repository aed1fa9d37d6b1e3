"""Statements by their words: who shares some, or is alike, is found without a look at all others.

Lineage: engram, contradiction detection (the five most similar above 0.7 are looked at).
Deliberate difference: where more than five are equally alike none of these is taken. Such a
statement is a line of a list, and five lines of it would be no better than the others.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence

from memrepo.policies.matching import MOST, cosine, tokens

_SHORT = 6
"""So many words a short statement has at most; they are found apart from the rest."""


class WordIndex:
    """The words of each statement, and the statements that hold each word, as they came."""

    def __init__(self, texts: Iterable[tuple[str, str]] = ()) -> None:
        """Take (id, text) pairs."""
        self.words: dict[str, frozenset[str]] = {}
        self.holders: dict[str, list[str]] = {}
        self._short: dict[str, list[str]] = {}
        for id_, text in texts:
            self.put(id_, text)

    def put(self, id_: str, text: str) -> None:
        """Take a statement that is new here."""
        found = self.words[id_] = tokens(text)
        for word in found:
            self.holders.setdefault(word, []).append(id_)
        if len(found) <= _SHORT:
            for word in found:
                self._short.setdefault(word, []).append(id_)

    def drop(self, id_: str) -> None:
        """Know no more of a statement."""
        found = self.words.pop(id_)
        for lists in (self.holders, self._short) if len(found) <= _SHORT else (self.holders,):
            for word in found:
                lists[word].remove(id_)

    def rarest(self, words: Iterable[str]) -> list[str]:
        """Return words, those that fewest statements hold first."""
        return sorted(words, key=lambda word: (len(self.holders.get(word, ())), word))

    def sharing(self, words: frozenset[str], least: float) -> Iterator[Sequence[str]]:
        """Yield by word, the rarest first, who may share enough of some words with them.

        Enough is a share of the words of the shorter of two. Whoever is first met at a word shares
        no more than what comes after it, so that of the words that stand everywhere only short
        statements are yielded: those that hold nothing else.
        """
        of = self.words
        for at, word in enumerate(self.rarest(words)):
            most = (len(words) - at) / least
            if len(words) <= most:
                yield self.holders.get(word, ())
            else:
                lists = self._short if most < _SHORT + 1 else self.holders
                yield [id_ for id_ in lists.get(word, ()) if len(of[id_]) <= most]


ALIKE = 0.7
"""Above this cosine two statements are compared."""
LOOKED = 64
"""How many statements are looked at for one, those with its rarest words first: what shares only
words that so many have is not found, and the work grows with the statements, not their pairs."""


class Similar:
    """Which statements are so alike that they may contradict each other.

    A cosine above 0.7 takes more than 0.49 of the words of either statement in common, so two
    that are alike share one of the rarest 0.51 of each.
    """

    def __init__(self, texts: Iterable[tuple[str, str]] | WordIndex) -> None:
        """Take (id, text) pairs, or statements whose words are known."""
        self._index = texts if isinstance(texts, WordIndex) else WordIndex(texts)
        self._words = self._index.words

    def nearest(self, id_: str, asked: Container[str] | None = None) -> list[tuple[str, float]]:
        """Return the statements that are most like one of them, best first.

        Where only some ids are asked about, nothing is returned where none of them may be among it.
        """
        words = self._words.get(id_, frozenset())
        near = self._near(id_, words)
        if asked is not None and not any(other in asked for other in near):
            return []
        scored = [(other, cosine(words, self._words[other])) for other in near]
        alike = sorted(
            (pair for pair in scored if pair[1] > ALIKE), key=lambda pair: (-pair[1], pair[0])
        )
        if len(alike) <= MOST:
            return alike
        return [pair for pair in alike[:MOST] if pair[1] > alike[MOST][1]]

    def around(self, ids: Iterable[str]) -> set[str]:
        """Return all whose nearest may be among some statements: those that are alike to one.

        Where that takes as many looks as `nearest` of every statement would, it is every statement.
        """
        found: set[str] = set()
        looks = LOOKED * len(self._words)
        for id_ in ids:
            words = self._words.get(id_, frozenset())
            near = {other for word in self._rarest(words) for other in self._index.holders[word]}
            if (looks := looks - len(near)) < 0:
                return set(self._words)
            found |= {other for other in near if cosine(words, self._words[other]) > ALIKE}
        return found

    def _near(self, id_: str, words: frozenset[str]) -> dict[str, None]:
        """Return who shares one of the rarest words, at most LOOKED."""
        near: dict[str, None] = {}
        for word in self._rarest(words):
            for other in self._index.holders[word]:
                if other != id_:
                    near[other] = None
                if len(near) == LOOKED:
                    return near
        return near

    def _rarest(self, words: frozenset[str]) -> list[str]:
        """Return the rarest words, of which whoever is alike has one."""
        common = math.floor(ALIKE * ALIKE * len(words)) + 1
        return self._index.rarest(words)[: len(words) - common + 1]
