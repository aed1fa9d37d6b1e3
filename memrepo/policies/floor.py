"""Whether a text answers a question at all: how much of what was asked it holds.

Scores are relative, so the best of many bad hits looks like a good one. The share of the asked
words that a text holds, each weighed by how rare it is, does not depend on the other hits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from memrepo.policies.questions import Question
from memrepo.policies.ranking import Corpus, Document, Ranked, spelled
from memrepo.policies.terms import is_spaceless

CONFIDENCES = ("high", "medium", "low", "very low")
FLOOR = 0.1
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
    asked = {term: _places(question, corpus, term) for term in question.terms}
    holders = corpus.holders([*asked, *frozenset().union(*asked.values())])
    size = max(corpus.size, _SMALLEST)
    weights = {
        term: _rarity(size, max((holders.get(t, 0) for t in places), default=0))
        for term, places in asked.items()
        if not (is_spaceless(term) and holders.keys().isdisjoint(places))
    }
    # Of a long text, such as a whole prompt, some words are enough to answer.
    every = sum(weights.values()) * min(1.0, _ENOUGH / (len(weights) or 1)) or 1.0
    found = {}
    for document in documents:
        terms = frozenset(document.terms)
        held = sum(
            weight
            if not terms.isdisjoint(asked[term])
            else _KIND * weight * (not terms.isdisjoint(question.kinds.get(term, ())))
            for term, weight in weights.items()
        )
        found[document.number] = min(1.0, held / every)
    return found


def _places(question: Question, corpus: Corpus, term: str) -> frozenset[str]:
    """Return the terms that a document may hold for one of the question.

    Of a pair of characters that nothing holds none does: it may straddle two words.
    """
    forms = (term, *question.forms.get(term, ()))
    held = corpus.holders(forms)
    if is_spaceless(term):
        return frozenset(held)
    return frozenset(spelled(question, corpus, term, held, 1.0))


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
