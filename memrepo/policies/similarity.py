"""Which statements are so alike that they may contradict each other: the cosine of their words.

Lineage: engram, contradiction detection (the five most similar above 0.7 are looked at).
Deliberate difference: where more than five are equally alike none of these is taken. Such a
statement is a line of a list, and five lines of it would be no better than the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from memrepo.core.memory import Memory
from memrepo.policies.matching import tokens

ALIKE = 0.7
"""Above this cosine two statements are compared."""
MOST = 5
"""With how many statements one is compared."""
LOOKED = 64
"""How many statements are looked at for one, those with its rarest words first: what shares only
words that so many have is not found, and the work grows with the statements, not their pairs."""


def cosine(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the cosine of two sets of words, 0 to 1; 0 where one is empty."""
    if not one or not other:
        return 0.0
    return len(one & other) / math.sqrt(len(one) * len(other))


AKIN = 0.4
"""From this cosine on a memory is suggested as a link of another."""
FEW = 3


def akin(memory: Memory, others: Iterable[Memory]) -> list[tuple[Memory, float]]:
    """Return the few memories of its scope whose words are most like a memory's, best first."""
    mine, scope = tokens(memory.body), memory.text("scope")
    scored = [
        (other, cosine(mine, tokens(other.body)))
        for other in others
        if other.id != memory.id and other.text("scope") == scope
    ]
    alike = [(other, round(score, 2)) for other, score in scored if score >= AKIN]
    return sorted(alike, key=lambda pair: (-pair[1], pair[0].id))[:FEW]


class Similar:
    """Statements by their rarest words: who may be alike is found without a look at all others.

    A cosine above 0.7 takes more than 0.49 of the words of either statement in common, so two
    that are alike share one of the rarest 0.51 of each.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """Take (id, text) pairs."""
        self._words = {id_: tokens(text) for id_, text in texts}
        self._by_word: dict[str, list[str]] = {}
        for id_ in sorted(self._words):
            for word in self._words[id_]:
                self._by_word.setdefault(word, []).append(id_)

    def nearest(self, id_: str) -> list[tuple[str, float]]:
        """Return the statements that are most like one of them, best first."""
        words = self._words.get(id_, frozenset())
        scored = [(other, cosine(words, self._words[other])) for other in self._near(id_, words)]
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
            near = {other for word in self._rarest(words) for other in self._by_word[word]}
            if (looks := looks - len(near)) < 0:
                return set(self._words)
            found |= {other for other in near if cosine(words, self._words[other]) > ALIKE}
        return found

    def _near(self, id_: str, words: frozenset[str]) -> dict[str, None]:
        """Return who shares one of the rarest words, at most LOOKED."""
        near: dict[str, None] = {}
        for word in self._rarest(words):
            for other in self._by_word[word]:
                if other != id_:
                    near[other] = None
                if len(near) == LOOKED:
                    return near
        return near

    def _rarest(self, words: frozenset[str]) -> list[str]:
        """Return the rarest words, of which whoever is alike has one."""
        common = math.floor(ALIKE * ALIKE * len(words)) + 1
        rarest = sorted(words, key=lambda word: (len(self._by_word[word]), word))
        return rarest[: len(words) - common + 1]
