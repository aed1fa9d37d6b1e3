"""Whether a text answers a question at all: how much of what was asked it holds.

Scores are relative, so the best of many bad hits looks like a good one. The share of the asked
words that a text holds, each weighed by how rare it is, does not depend on the other hits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from memrepo.policies.questions import Question
from memrepo.policies.ranking import Corpus, Document, Ranked

CONFIDENCES = ("high", "medium", "low", "very low")
FLOOR = 0.2
"""Where no hit holds more of what was asked, nothing was found."""
SURE, LIKELY = 0.6, 0.35
"""From these shares on an answer is sure, or likely."""
_ENOUGH = 6
"""So many words of a long question are as good as all of them."""
_SMALLEST = 50
"""Of fewer memories none is enough to say which words are rare: one of two asked ones is much."""
_KIND = 0.5
"""What a word of a kind that was asked for counts beside the word for the kind."""


def shares(question: Question, corpus: Corpus, documents: Iterable[Document]) -> dict[int, float]:
    """Return by number which share of a question's words, weighed by rarity, each text holds."""
    asked = dict.fromkeys(question.terms)
    holders = corpus.holders([*asked])
    size = max(corpus.size, _SMALLEST)
    weights = {term: _rarity(size, holders.get(term, 0)) for term in asked}
    # Of a long text, such as a whole prompt, some words are enough to answer.
    every = sum(weights.values()) * min(1.0, _ENOUGH / (len(asked) or 1)) or 1.0
    found = {}
    for document in documents:
        terms = frozenset(document.terms)
        held = sum(
            weight
            if term in terms
            else _KIND * weight * (not terms.isdisjoint(question.kinds.get(term, ())))
            for term, weight in weights.items()
        )
        found[document.number] = min(1.0, held / every)
    return found


def _rarity(size: int, held: int) -> float:
    """Return the inverse document frequency; a word that nothing holds is the rarest."""
    return math.log(1 + (size - held + 0.5) / (held + 0.5))


def answers(question: Question, found: Iterable[Ranked], held: Mapping[int, float]) -> bool:
    """Tell whether any hit answers: by the share that it holds, or as of a day that was asked for.

    `held` has the shares by number.
    """
    return any(
        held[one.document.number] > FLOOR
        or any(first <= one.document.day <= last for first, last in question.spans)
        for one in found
    )


def sureness(share: float, *others: str) -> str:
    """Say how far a hit answers what was asked, and no surer than any of some other words."""
    word = "high" if share >= SURE else "medium" if share >= LIKELY else "low"
    return max((word, *others), key=CONFIDENCES.index)
