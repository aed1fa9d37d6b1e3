"""Whether a text answers a question at all: how much of what was asked it holds.

Scores are relative, so the best of many bad hits looks like a good one. The share of the asked
words that a text holds, each weighed by how rare it is, does not depend on the other hits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from memrepo.policies.documents import Corpus, Document, Ranked
from memrepo.policies.questions import Question
from memrepo.policies.ranking import FAINT, spelled
from memrepo.text.tokens import is_spaceless

CONFIDENCES = ("high", "medium", "low", "very low")
FLOOR, PART = 0.1, 0.25
"""Where no hit holds a larger share of what was asked, nor more of its words, nothing was found."""
ENOUGH = 0.35
"""Where no hit holds so much of what was asked, what was found is only the nearest there is."""
ALIKE = 0.35
"""The cosine from which on a text answers by its meaning, whatever words it holds."""
SURE, LIKELY = 0.6, 0.35
"""From these shares on an answer is sure, or likely."""
_ENOUGH = 6
"""So many words of a long question are as good as all of them."""
_SMALLEST = 50
"""Of fewer memories none is enough to say which words are rare: one of two asked ones is much."""
_OTHER = 0.8
"""What another word for an asked one counts."""


class Held(msgspec.Struct, frozen=True):
    """Which share of a question's words a text holds: each weighed by rarity, and by their number.

    Of a long question, such as a whole prompt, some words are as good as all.
    """

    share: float = 1.0
    part: float = 1.0


def shares(question: Question, corpus: Corpus, documents: Iterable[Document]) -> dict[int, Held]:
    """Return by number how much of a question's words each text holds."""
    asked = [term for term in dict.fromkeys(question.terms) if term not in question.timed]
    if not asked:
        return {document.number: Held() for document in documents}
    places = {term: _places(question, corpus, term) for term in asked}
    holders = corpus.holders(sorted({t for these in places.values() for t in these}))
    size = max(corpus.size, _SMALLEST)
    weights = {
        term: _rarity(size, max((holders.get(t, 0) for t in these), default=0))
        * (FAINT if term in question.faint else 1.0)
        for term, these in places.items()
        if these or not is_spaceless(term)
    }
    count = min(len(weights), _ENOUGH) or 1
    every = sum(weights.values()) * count / (len(weights) or 1) or 1.0
    found = {}
    for document in documents:
        terms = frozenset(document.terms)
        held = {term: 1.0 for term in weights if not terms.isdisjoint(places[term])}
        for idea in question.ideas:
            if not held.keys() & idea.asked and any(word <= terms for word in idea.words):
                held |= {term: _OTHER for term in weights if term in idea.asked}
        weighed = sum(share * weights[term] for term, share in held.items())
        found[document.number] = Held(
            min(1.0, weighed / every), min(1.0, sum(held.values()) / count)
        )
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
    """Return how much a word tells; most where nothing holds it."""
    return math.log(1 + size / max(held, 0.5))


def answers(question: Question, found: Iterable[Ranked], held: Mapping[int, Held]) -> bool:
    """Return whether any hit answers: by what it holds, or as of a day that was asked for.

    `held` has what each holds by number.
    """
    return any(
        held[one.document.number].share > FLOOR
        or held[one.document.number].part > PART
        or any(first <= one.document.day <= last for first, last in question.spans)
        for one in found
    )


def sureness(share: float, *others: str) -> str:
    """Return how far a hit answers what was asked, and no surer than any of some other words."""
    word = "high" if share >= SURE else "medium" if share >= LIKELY else "low"
    return max((word, *others), key=CONFIDENCES.index)
