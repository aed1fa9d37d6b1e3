"""Order scored documents, with one hit per memory, and decide whether any of them answers.

Recency, retrievals and importance change the score independently of the question. A memory is
placed after a better hit that superseded it. Lineage: engram (recency, importance). Its bonus for
retrievals reached the maximum at the first retrieval. This one grows up to the 31st.

Scores are relative: the best of many poor hits has a high score too. Whether a hit answers is
decided by the words of the question in its text, which does not depend on the other hits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from memrepo.core.access import seconds
from memrepo.policies.questions import Question
from memrepo.policies.ranking import (
    FAINT,
    Corpus,
    Document,
    Likeness,
    Ranked,
    Scoring,
    spelled,
)
from memrepo.policies.rules import Merits, Weights
from memrepo.text.words import is_spaceless

_DOUBLINGS = 5
"""How often the number of retrievals must double to reach the maximum bonus."""
_USUAL = 0.4
"""The minimum importance of a memory of normal level. It adds nothing to the score."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a question, and a function that counts a memory's earlier retrievals."""

    now: datetime
    retrievals: Callable[[str], int] = lambda _: 0


def _with_merits(one: Ranked, merits: Merits, moment: Moment) -> Ranked:
    """Add the bonuses that do not depend on the question to a document's score."""
    document = one.document
    share = merits.recency if document.seen or not document.id else 0.0
    parts = {name: value * (1 - share) for name, value in one.parts.items()}
    parts["recency"] = share * recency(document.seen, moment.now, merits.half_life)
    parts["access"] = access(moment.retrievals(document.id), merits.access)
    # A record covers a whole day, so words in it do not show how important it is.
    if document.importance is not None and not document.is_record:
        parts["importance"] = importance(document.importance, merits.importance)
    if document.is_record:
        parts["note"] = -merits.note * max(0.0, sum(parts.values()))
    return Ranked(document, sum(parts.values()), parts)


def recency(at: int, now: datetime, half_life: timedelta) -> float:
    """Return the recency of a time: 1 for now or the future, halved after each half-life."""
    age = max(0, seconds(now) - at)
    return float(0.5 ** (age / half_life.total_seconds()))


def access(retrievals: int, most: float) -> float:
    """Return the bonus for a number of retrievals, limited to `most`."""
    return min(most, most / _DOUBLINGS * math.log2(1 + retrievals))


def importance(score: float, weight: float) -> float:
    """Return the bonus for an importance score. It is negative for less than normal importance."""
    return (score - _USUAL) * weight


def behind(
    scores: Mapping[str, float], successors: Mapping[str, Sequence[str]]
) -> dict[str, tuple[float, int]]:
    """Limit each memory's score to the scores of its successors.

    Return by id the limited score, and a position among equal scores. The position is the number of
    successors in the longest chain after the memory.
    """
    found = {id_: (score, 0) for id_, score in scores.items()}
    after = {id_: [s for s in successors.get(id_, ()) if s in scores] for id_ in scores}
    for _ in successors:  # one link of each chain per pass; cycles end too
        before = dict(found)
        for id_, those in after.items():
            for score, number in (found[one] for one in those):
                found[id_] = min(found[id_][0], score), max(found[id_][1], number + 1)
        if found == before:
            break
    return found


def with_replaced(ids: Collection[str], successors: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the given ids and the ids of all memories they replaced, directly or indirectly."""
    found = frozenset(ids)
    while more := {i for i, after in successors.items() if i not in found and found & set(after)}:
        found |= more
    return found


def rank(
    question: Question,
    corpus: Corpus,
    count: int,
    weights: Weights | None = None,
    moment: Moment | None = None,
    like: Likeness | None = None,
) -> list[Ranked]:
    """Return the `count` best memories for a question, best first. Ties are sorted by path.

    A memory has the score of its best chunk, and is placed after its successors. Without a moment,
    only the match with the question counts. Without `like`, only words count.
    """
    if not question.terms:
        return []
    weights = weights or Weights()
    scored = Scoring(question, corpus, weights).scored(like)
    if moment:
        scored = [_with_merits(one, weights.merits, moment) for one in scored]
    scored.sort(key=lambda one: (one.score, -one.document.part))
    best = [*_with_passages({one.document.path: one for one in scored})]
    successors = {o.document.id: o.document.successors for o in best if o.document.successors}
    places: Mapping[str, tuple[float, int]] = {}
    if successors:
        places = behind({o.document.id: o.score for o in best}, successors)

    def place(one: Ranked) -> tuple[float, int, str]:
        score, number = places.get(one.document.id, (one.score, 0))
        return -score, number, one.document.path

    return [_lowered(one, -place(one)[0]) for one in sorted(best, key=place)[:count]]


def _with_passages(best: dict[str, Ranked]) -> Iterable[Ranked]:
    """Give the score of each passage to the best memory that states a part of it.

    Other passages remain if they have statements of their own.
    """
    for path, one in [*best.items()]:
        members = [best[member] for member in one.document.members if member in best]
        if members:
            memory = max(members, key=lambda member: member.score)
            parts = dict(memory.parts)
            if one.score > memory.score:
                parts["passage"] = one.score - memory.score
            score = max(one.score, memory.score)
            best[memory.document.path] = Ranked(memory.document, score, parts, one.document)
        if members or (one.document.resource and not one.document.is_new):
            del best[path]
    return best.values()


def _lowered(one: Ranked, score: float) -> Ranked:
    if score == one.score:
        return one
    return msgspec.structs.replace(
        one, score=score, parts={**one.parts, "status": score - one.score}
    )


CONFIDENCES = ("high", "medium", "low", "very low")
ENOUGH = 0.35
"""The minimum share of a phrasing's words in a text that answers."""
ALIKE = 0.35
"""The minimum cosine for a text that answers by its meaning, whatever its words."""
SURE = 0.75
"""The minimum share for a high confidence."""
_LONG = 6
"""This many matching words are sufficient for a long question, such as a whole prompt."""
_SMALLEST = 50
"""The minimum corpus size for rarities. In a smaller corpus every word would look common."""


class Held(msgspec.Struct, frozen=True):
    """What a text contains of a question: the weighted share of the words of its best phrasing.

    A text answers if it contains enough of a phrasing, and the rarest of its words that any text
    contains.
    """

    share: float = 1.0
    answers: bool = True
    count: int = 2
    """The number of words contained. A single word is no sure answer."""


def shares(question: Question, corpus: Corpus, documents: Iterable[Document]) -> dict[int, Held]:
    """Map each document's number to what the document contains of the question."""
    asked = [term for term in question.terms if term not in question.timed]
    if not asked:
        return {document.number: Held() for document in documents}
    places = {term: _places(question, corpus, term) for term in asked}
    holders = corpus.holders(sorted({t for these in places.values() for t in these}))
    size = max(corpus.size, _SMALLEST)
    weights = {
        term: _rarity(size, max((holders.get(t, 0) for t in these), default=0))
        * (FAINT if term in question.faint | question.kinds else 1.0)
        for term, these in places.items()
        if these or not is_spaceless(term)
    }
    phrasings = [p for one in question.phrasings if (p := [t for t in one if t in weights])]
    known = {term for term in weights if any(map(holders.get, places[term]))}
    found = {}
    for document in documents:
        held = {term for term in weights if not places[term].isdisjoint(document.distinct)}
        every = [_held(phrasing, held, weights, known) for phrasing in phrasings]
        best = max(every, key=lambda one: (one.answers, one.share), default=Held(0.0, False, 0))
        found[document.number] = best
    return found


def _held(
    phrasing: Sequence[str],
    held: Collection[str],
    weights: Mapping[str, float],
    known: Collection[str],
) -> Held:
    count = min(len(phrasing), _LONG)
    every = sum(weights[term] for term in phrasing) * count / len(phrasing)
    mine = [term for term in phrasing if term in held]
    share = min(1.0, sum(weights[term] for term in mine) / every)
    rarest = max((weights[term] for term in phrasing if term in known), default=math.inf)
    decides = len(phrasing) > _LONG or any(weights[term] >= rarest for term in mine)
    return Held(share, decides and share >= ENOUGH, len(mine))


def _places(question: Question, corpus: Corpus, term: str) -> frozenset[str]:
    """Return the terms of the corpus that match a term of the question."""
    forms = (term, *question.forms.get(term, ()))
    held = corpus.holders(forms)
    if is_spaceless(term):
        return frozenset(held)
    return frozenset(spelled(question, corpus, term, held, 1.0))


def _rarity(size: int, held: int) -> float:
    """Return the weight of a word. The fewer documents contain the word, the higher the weight."""
    return math.log(1 + size / max(held, 0.5))


def sureness(held: Held, *others: str) -> str:
    """Return the lowest of several confidences: the one for what a text holds, and `others`."""
    is_sure = held.answers and held.share >= SURE and held.count > 1
    word = "high" if is_sure else "medium" if held.answers else "low"
    return max((word, *others), key=CONFIDENCES.index)
