"""Tell whether two statements say the opposite of each other: equal but for one turn of a word.

Deliberately narrow: other names, numbers and nouns make other statements, not contradictions
("likes tea" and "likes coffee" both hold).
"""

from __future__ import annotations

from memrepo.core.ids import normalise
from memrepo.judges import wordlists
from memrepo.policies.matching import tokens

_TURNS = frozenset(
    "not no never cannot can don doesn didn isn aren won wasn t do does did longer any more"
    " nicht kein keine keinen nie mehr".split()
)
"""Words of a negation, with the auxiliaries that English takes for it."""
_PAIRS = """
love hate, love dislike, like dislike, like hate, enjoy hate, prefer avoid, want refuse,
enable disable, enabled disabled, allow forbid, allowed forbidden, accept reject, open closed,
open shut, on off, always never, start stop, started stopped, win lose, true false, married single,
vegetarian carnivore, early late, public private, liebt hasst, mag hasst, immer nie, an aus,
erlaubt verboten, offen geschlossen
"""


def _stem(word: str) -> str:
    """Return a word without the s of the third person."""
    plain = len(word) > 3 and word.endswith("s") and word[-2] not in "siu"
    return word[:-1] if plain else word


_OPPOSITES = frozenset(
    frozenset(map(_stem, pair.split()))
    for pair in _PAIRS.replace("\n", " ").split(",")
    if pair.split()
)


def opposed(one: str, other: str) -> str:
    """Return how two texts contradict each other, or an empty string."""
    first, second = _stems(one), _stems(other)
    if first ^ second in _OPPOSITES:
        return "the same statement with the opposite word"
    negated = [bool(wordlists.NEGATION.search(normalise(text))) for text in (one, other)]
    if negated[0] != negated[1] and first - _TURNS == second - _TURNS and first - _TURNS:
        return "the same statement, once negated"
    return ""


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, tokens(text)))
