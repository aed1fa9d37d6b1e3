"""Whether a text answers a question at all: how much of what was asked it holds.

Scores are relative, so the best of many bad hits looks like a good one. The share of the asked
words that a text holds, each weighed by how rare it is, does not depend on the other hits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from memrepo.policies.questions import Question
from memrepo.policies.ranking import Corpus, Document, Ranked

CONFIDENCES = ("high", "medium", "low", "very low")
FLOOR, PART = 0.2, 0.25
"""Where no hit holds a larger share of what was asked, nor more of its words, nothing was found."""
SURE, LIKELY = 0.6, 0.35
"""From these shares on an answer is sure, or likely."""
_ENOUGH = 6
"""So many words of a long question are as good as all of them."""
_SMALLEST = 50
"""Of fewer memories none is enough to say which words are rare: one of two asked ones is much."""
_KIND = 0.5
"""What a word of a kind that was asked for counts beside the word for the kind."""


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
    stand_ins = {term: _stand_ins(term, question, corpus) for term in asked}
    holders = corpus.holders(sorted({t for these in stand_ins.values() for t in these}))
    size = max(corpus.size, _SMALLEST)
    weights = {
        term: _rarity(size, max((holders.get(t, 0) for t in these), default=0))
        for term, these in stand_ins.items()
    }
    count = min(len(asked), _ENOUGH)
    every = sum(weights.values()) * count / len(asked)
    found = {}
    for document in documents:
        terms = frozenset(document.terms)
        held = {term: 1.0 for term in asked if not terms.isdisjoint(stand_ins[term])}
        held |= {
            term: _KIND
            for term in asked
            if term not in held and not terms.isdisjoint(question.kinds.get(term, ()))
        }
        weighed = sum(share * weights[term] for term, share in held.items())
        found[document.number] = Held(
            min(1.0, weighed / every), min(1.0, sum(held.values()) / count)
        )
    return found


def _stand_ins(term: str, question: Question, corpus: Corpus) -> frozenset[str]:
    """Return the terms that count as one: of other languages, or, where none is held, nearly it."""
    forms = (term, *question.forms.get(term, ()))
    if corpus.holders(forms) and not question.compounds:
        return frozenset(forms)
    return frozenset((*forms, *corpus.alike(term, inflects=question.inflects)))


def _rarity(size: int, held: int) -> float:
    """Return how much a word tells; most where nothing holds it."""
    return math.log(1 + size / max(held, 0.5))


def answers(question: Question, found: Iterable[Ranked], held: Mapping[int, Held]) -> bool:
    """Tell whether any hit answers: by what it holds, or as of a day that was asked for.

    `held` has what each holds by number.
    """
    return any(
        held[one.document.number].share > FLOOR
        or held[one.document.number].part > PART
        or any(first <= one.document.day <= last for first, last in question.spans)
        for one in found
    )


def sureness(share: float, *others: str) -> str:
    """Say how far a hit answers what was asked, and no surer than any of some other words."""
    word = "high" if share >= SURE else "medium" if share >= LIKELY else "low"
    return max((word, *others), key=CONFIDENCES.index)
