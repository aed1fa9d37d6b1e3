"""Decide whether any search hit answers a question, by the share of question words it contains.

Scores are relative: the best of many poor hits has a high score too. The share of the question's
words in a text, weighted by rarity, does not depend on the other hits.
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
"""Nothing was found if no hit exceeds either: the weighted share, or the share by number of words.
"""
ENOUGH = 0.35
"""If no hit reaches this share of the question's words, the hits are only approximate."""
ALIKE = 0.35
"""The minimum cosine for a text that answers by its meaning, whatever its words."""
SURE, LIKELY = 0.6, 0.35
"""The minimum shares for a high and a medium confidence."""
_ENOUGH = 6
"""This many matching words are sufficient for a long question."""
_SMALLEST = 50
"""The minimum corpus size for rarities. In a smaller corpus every word would look common."""
_OTHER = 0.8
"""The weight of a synonym of a query word."""


class Held(msgspec.Struct, frozen=True):
    """The share of a question's words that a text contains, weighted by rarity and unweighted.

    For a long question, such as a whole prompt, a few matching words are sufficient.
    """

    share: float = 1.0
    part: float = 1.0


def shares(question: Question, corpus: Corpus, documents: Iterable[Document]) -> dict[int, Held]:
    """Map each document's number to the share of question words that the document contains."""
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
    """Return the terms of the corpus that match a term of the question.

    For a pair of characters that occurs nowhere there are none. Such a pair may span two words.
    """
    forms = (term, *question.forms.get(term, ()))
    held = corpus.holders(forms)
    if is_spaceless(term):
        return frozenset(held)
    return frozenset(spelled(question, corpus, term, held, 1.0))


def _rarity(size: int, held: int) -> float:
    """Return the weight of a word. The fewer documents contain the word, the higher the weight."""
    return math.log(1 + size / max(held, 0.5))


def answers(question: Question, found: Iterable[Ranked], held: Mapping[int, Held]) -> bool:
    """Return whether any hit answers the question, judged by the hit's words or day.

    `held` has the shares of the hits by document number.
    """
    return any(
        held[one.document.number].share > FLOOR
        or held[one.document.number].part > PART
        or any(first <= one.document.day <= last for first, last in question.spans)
        for one in found
    )


def sureness(share: float, *others: str) -> str:
    """Return the lowest of several confidences: the one for a share of words, and `others`."""
    word = "high" if share >= SURE else "medium" if share >= LIKELY else "low"
    return max((word, *others), key=CONFIDENCES.index)
