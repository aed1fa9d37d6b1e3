"""Rank memories for a question by BM25, context, dates and similarity of meaning.

Source: BM25 (Robertson and Zaragoza 2009, with the smoothed inverse document frequency). Memories
are short, so their length hardly counts (b 0.2). The text next to a hit in its source often
contains the answer. The constants were chosen on half of a public dialogue set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Protocol

import msgspec

from memrepo.policies.questions import ASKS, ASSISTANT, USER, Question, nearness, of_self
from memrepo.policies.rules import Weights
from memrepo.text.dates import Span
from memrepo.text.words import is_spaceless, stems


class Document(msgspec.Struct, frozen=True, dict=True):
    """The data about one memory that ranking uses."""

    number: int
    path: str
    part: int = 0
    """The number of a chunk in a long text. A memory has the score of its best chunk."""
    terms: tuple[str, ...] = ()
    thread: str = ""
    place: int = 0
    subject: str = ""
    """The folded subject. It matters for questions that name it."""
    day: str = ""
    """The newest date of the evidence, YYYY-MM-DD."""
    id: str = ""
    seen: int = 0
    """When the memory was last confirmed, in seconds since 1970, or 0 if unknown."""
    importance: float | None = None
    successors: tuple[str, ...] = ()
    """The ids of the memories that superseded it."""
    cues: str = ""
    """The kinds of answer that the memory may give, and whether it is a question (`cues`)."""
    blob: str = ""
    status: str = "active"
    is_record: bool = False
    """Whether the memory records a whole day or session, as notes and episodes do."""
    resource: str = ""
    """The source of a passage. A passage also has lines, the headings above it, and a text."""
    lines: tuple[int, int] = (0, 0)
    context: str = ""
    text: str = ""
    members: tuple[str, ...] = ()
    """The paths of the active memories that state a part of a passage."""
    is_new: bool = False
    """Whether no memory states a part of a passage."""

    @cached_property
    def distinct(self) -> frozenset[str]:
        """Return the distinct terms."""
        return frozenset(self.terms)


class ThreadRow(msgspec.Struct, frozen=True):
    """Adjacent documents of one thread, by number, and whether the thread is a conversation."""

    numbers: Sequence[int]
    talk: bool = False


class Corpus(Protocol):
    """The documents that a search covers, with the frequencies of terms."""

    size: int
    average: float
    """The mean number of terms per document."""

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Map each term that occurs to the number of documents that contain it."""

    def alike(self, term: str, *, inflects: bool) -> Mapping[str, float]:
        """Map each indexed term spelled like `term` to its similarity, at most 1."""

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return documents that contain any of the terms, most likely first."""

    def dated(self, spans: Sequence[Span], limit: int) -> list[Document]:
        """Return documents dated within one of the time spans, newest first."""

    def numbered(self, numbers: Collection[int]) -> list[Document]:
        """Return the documents with the given numbers."""

    def around(self, documents: Iterable[Document]) -> Mapping[int, ThreadRow]:
        """Map each document's number to its neighbours, up to four places away in the thread."""


class Ranked(msgspec.Struct, frozen=True):
    """A document with its score and the contribution of each signal."""

    document: Document
    score: float
    parts: Mapping[str, float]
    passage: Document | None = None
    """The passage that contains the statement of a memory."""


Likeness = Callable[[Collection[int]], Mapping[int, float]]
"""Return cosines by number, for the given documents and for those most similar to the question."""


_LENGTHS = (40, 100)
"""The mean text lengths in terms between which the effect of length grows from `b` to `b_long`."""
_FAR, _ENOUGH, _POWER = 20.0, 0.8, 4.0
"""Parameters of the weight of meaning.

The first is the factor if no word of the question is found. The second is the share of found words
from which meaning is not needed. The third is the exponent in between.
"""
_NEARBY = (0.5, 0.35, 0.25, 0.15)
"""The weight of a word in a conversation by its distance in turns, from 1 to 4."""
_PART = 0.2
"""The weight of a word of a joined name (`getUserProfile`) if the name itself occurs."""
MAX_CANDIDATES, MAX_DATED = 300, 100
"""The maximum number of documents scored by words, and by the days of a question."""
MAX_LENDING, MAX_ASKING = 300, 50
"""The number of best hits that lend score to their neighbours, and to their replies."""
FAINT = 0.2
"""The weight of a pair of characters that contains a function word, as in Chinese."""
_EXCHANGES = 100
"""The number of best hits whose conversations are checked for the words of the question."""


def spelled(
    question: Question, corpus: Corpus, term: str, held: Collection[str], share: float
) -> Mapping[str, float]:
    """Map the terms to search for a term of a question to their weights.

    The forms in `held` have the weight 1. If there are none, similarly spelled terms have at most
    the weight `share`. In languages with compounds, similarly spelled terms are always added.
    """
    found = dict.fromkeys(held, 1.0)
    if not found or question.compounds or is_spaceless(term):
        for form in (term, *question.forms.get(term, ())):  # a stem may be too short
            alike = corpus.alike(form, inflects=question.inflects)
            found |= {t: share * w for t, w in alike.items() if t not in found}
            if found:
                break
    return found or {term: 1.0}


class Scoring:
    """The state of ranking one corpus for one question."""

    def __init__(self, question: Question, corpus: Corpus, weights: Weights) -> None:
        self.question, self.corpus, self.weights = question, corpus, weights
        self.rarity: dict[str, float] = {}
        self.misnamed = False
        self.talks: list[ThreadRow] = []
        self.timely = corpus.dated(question.spans, MAX_DATED) if question.spans else []
        asked = [t for t in question.terms if not (self.timely and t in question.timed)]
        self.terms: dict[str, float] = {}
        for term in asked:
            for form, weight in self.spelled(term).items():
                self.terms[form] = max(weight, self.terms.get(form, 0.0))
        for name, parts in question.joined.items():
            if name in self.rarity:  # with full weights, the words would outweigh the name
                self.terms |= {t: _PART * self.terms[t] for t in parts if t in self.terms}
        if self.rarity.keys().isdisjoint(asked):  # single characters are not enough
            self.terms = {t: w for t, w in self.terms.items() if not is_spaceless(t)}
        short, long = _LENGTHS
        share = min(1.0, max(0.0, (corpus.average - short) / (long - short)))
        self.b = weights.b + share * (weights.b_long - weights.b)
        base = cache(self.base)  # many documents have the same length
        proposed = corpus.propose([*self.terms], MAX_CANDIDATES) if self.terms else ()
        self.documents = {d.number: d for d in proposed}
        self.looked = [(d.number, d, base(len(d.terms), d.is_record)) for d in proposed]

    def scored(self, like: Likeness | None) -> list[Ranked]:
        """Return all documents that score by any signal, unsorted."""
        lexical, subject = self.by_words(self.terms), self.named_subject()
        near = self.with_neighbours(lexical)
        near |= dict.fromkeys(self.of_those_days() - near.keys(), 0.0)
        weight = self.weights.meaning * self.need() if like else 0.0
        similar = self.by_meaning(like, near.keys(), weight) if like and weight else {}
        near |= dict.fromkeys(similar.keys() - near.keys(), 0.0)
        top = max(near.values(), default=0.0) or 1.0
        answers, dates = (cache(self.by_answer), cache(self.by_date))  # few distinct values
        of_subject = self.weights.subject
        scored = []
        for n, score in near.items():
            document, value, words = self.documents[n], score / top, lexical.get(n, 0.0) / top
            parts = {
                "words": words,
                "neighbours": value - words,
                "subject": of_subject * (subject != "" and document.subject == subject),
                "answer": (answers(document.cues) - self.by_speech(document)) * value,
                "date": dates(document.day),
            }
            if similar:
                parts["meaning"] = similar.get(n, 0.0)
            scored.append(Ranked(document, sum(parts.values()), parts))
        return scored

    def spelled(self, term: str) -> Mapping[str, float]:
        """Map the terms to search for a term of the question to their weights.

        The forms of a term count as one word with the rarity of its most common form.
        """
        forms = (term, *self.question.forms.get(term, ()))
        held = [form for form in forms if form in self.rarities(forms)]
        found = spelled(self.question, self.corpus, term, held, self.weights.alike)
        if term in self.question.faint:
            return {form: FAINT * weight for form, weight in found.items()}
        if len(held) < 2:
            return found
        least = min(self.rarity[form] for form in held)
        return {**found, **{form: least / self.rarity[form] for form in held}}

    def rarities(self, found: Iterable[str]) -> Mapping[str, float]:
        """Compute the inverse document frequency of each term that occurs in the corpus."""
        new = [t for t in found if t not in self.rarity]
        size = self.corpus.size
        for term, held in self.corpus.holders(new).items():
            self.rarity[term] = math.log(1 + (size - held + 0.5) / (held + 0.5))
        return self.rarity

    def by_words(self, asked: Mapping[str, float]) -> dict[int, float]:
        """Return the BM25 score of each document that contains any of the weighted terms."""
        worth, scores = self.worth(asked), dict[int, float]()
        every, place = frozenset(worth), {term: i for i, term in enumerate(worth)}.__getitem__
        for number, document, base in self.looked:
            if matched := every & document.distinct:
                # Floating-point sums depend on the order of the terms.
                score = 0.0
                for term in matched if len(matched) == 1 else sorted(matched, key=place):
                    count = document.terms.count(term)
                    score += worth[term] * count / (count + base)
                scores[number] = score
        return scores

    def by_date(self, day: str) -> float:
        """Score a document's day. A day within a time span of the question scores highest."""
        near = self.weights.date * nearness(self.question, day)
        within = any(first <= day <= last for first, last in self.question.spans)
        return self.weights.span if within else near

    def by_role(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Lower the scores of an assistant's answers, unless the question asks for them."""
        if self.question.of_assistant:
            return dict(scores)
        share, documents = 1 - self.weights.answers.assistant, self.documents
        lowered = {
            n: score * share for n, score in scores.items() if ASSISTANT in documents[n].cues
        }
        return {**scores, **lowered}

    def by_answer(self, cues: str) -> float:
        """Return the share of its score that a text gains for the kinds of answer it contains."""
        fitting = sum(kind in cues for kind in self.question.wanted)
        return self.weights.answers.fits * fitting

    def by_speech(self, document: Document) -> float:
        """Return the share of its score that a text loses because it is a question.

        It is halved if the text also says something about its speaker. Questions of a user to an
        assistant lose nothing.
        """
        cues = document.cues
        asks = self.weights.answers.asks if ASKS in cues and USER not in cues else 0.0
        if asks and ASSISTANT not in cues and of_self(document.distinct):
            asks /= 2
        return asks

    def worth(self, asked: Mapping[str, float]) -> dict[str, float]:
        """Return the maximum BM25 score of each term that occurs in the corpus."""
        rarities = self.rarities(asked)
        k1 = self.weights.k1
        return {t: w * rarities[t] * (k1 + 1) for t, w in asked.items() if t in rarities}

    def base(self, length: int, is_record: bool) -> float:
        """Return the BM25 term for document length, which is larger for longer documents."""
        b = max(self.b, self.weights.b_long) if is_record else self.b
        return self.weights.k1 * (1 - b + b * (length / (self.corpus.average or 1.0)))

    def best(self, scores: Mapping[int, float], count: int) -> list[int]:
        """Return the numbers of the `count` best documents, best first."""
        least, by_number = cutoff(scores.values(), count), self.documents
        found = enumerate((n, score) for n, score in scores.items() if score >= least)
        order = sorted([(-score, by_number[n].path, i, n) for i, (n, score) in found])
        return [n for _, _, _, n in order[:count]]

    def named_subject(self) -> str:
        """Return the subject that the question names, or an empty string if none or several.

        A question may name the wrong person. If other subjects match the rest of the question
        better, the name is ignored.
        """
        asked = frozenset(self.question.words)
        subjects = {document.subject for document in self.documents.values()} - {""}
        named = {subject for subject in subjects if asked.issuperset(subject.split())}
        if len(named) != 1:
            return ""
        (subject,) = named
        name = frozenset((*subject.split(), *stems(subject.split())))
        rest = self.by_words({t: w for t, w in self.terms.items() if t not in name})
        if not rest:
            return subject
        own = max((s for n, s in rest.items() if self.documents[n].subject == subject), default=0.0)
        self.misnamed = own < self.weights.other_subject * max(rest.values())
        return "" if self.misnamed else subject

    def with_neighbours(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Add to each score a share of the scores of adjacent hits in the same source.

        A text without any query word is not a hit, even next to one, because users must see why a
        hit matches. The reply to a question that is a hit is an exception. Chunks of one memory do
        not add to each other.
        """
        hits = self.best(scores, MAX_LENDING)
        around = self.corpus.around(self.documents[n] for n in hits)
        self.talks = [around[n] for n in hits[:_EXCHANGES] if n in around and around[n].talk]
        scores = self.by_role(self.in_context(scores, around))
        lent = dict(scores)
        for reply in self.replies(hits[:MAX_ASKING], around):
            lent.setdefault(reply, 0.0)
        for number in hits:
            row = around.get(number, ThreadRow((number,)))
            for other, away in self.neighbours(number, row, 1):
                if other in lent:
                    lent[other] += self.share(number, other, away) * scores[number]
        return lent

    def neighbours(self, number: int, row: ThreadRow, far: int) -> Iterator[tuple[int, int]]:
        """Yield the documents within `far` places of a document, with their relative positions."""
        here, at = self.documents[number].path, row.numbers.index(number)
        first = max(0, at - far)
        for i, other in enumerate(row.numbers[first : at + far + 1], start=first):
            if other in self.documents and self.documents[other].path != here:
                yield other, i - at

    def in_context(
        self, scores: Mapping[int, float], around: Mapping[int, ThreadRow]
    ) -> dict[int, float]:
        """Raise the scores of turns for query words that only the adjacent turns contain."""
        worth, found = self.worth(self.terms), dict(scores)
        talks = {number: row for number, row in around.items() if row.talk}
        near = {n for row in talks.values() for n in row.numbers} & scores.keys()
        scores_of = {number: self.term_scores(number, worth) for number in near}
        for number, row in talks.items():
            gained: dict[str, float] = {}
            own = scores_of[number]
            for other, away in self.neighbours(number, row, len(_NEARBY)):
                for term, value in scores_of.get(other, {}).items():
                    more = _NEARBY[abs(away) - 1] * value - own.get(term, 0.0)
                    gained[term] = max(more, gained.get(term, 0.0))
            found[number] += self.weights.context * sum(gained.values())
        return found

    def term_scores(self, number: int, worth: Mapping[str, float]) -> dict[str, float]:
        """Map each query term in a document to its contribution to the document's score."""
        document = self.documents[number]
        base = self.base(len(document.terms), document.is_record)
        counts = {t: document.terms.count(t) for t in worth if t in document.distinct}
        return {t: worth[t] * count / (count + base) for t, count in counts.items()}

    def share(self, number: int, other: int, away: int) -> float:
        """Return the share of a hit's score that is added to an adjacent document.

        A user's turn lends nothing to the assistant's answer, because every turn is answered. The
        answer lends to the turn, because it repeats much of it.
        """
        weights, cues, near = self.weights, self.documents[number].cues, self.documents[other].cues
        if away == 1 and USER in cues:
            return 0.0
        if away == -1 and ASSISTANT in cues and USER in near:
            return weights.answers.question
        if away == 1 and self.is_reply(number, other):
            return weights.answers.reply
        return weights.neighbour

    def replies(self, hits: Sequence[int], around: Mapping[int, ThreadRow]) -> set[int]:
        """Return the numbers of documents that reply to hits that are questions."""
        asking = [n for n in hits if ASKS in self.documents[n].cues and n in around]
        rows = {n: around[n].numbers for n in asking}
        after = {n: row[row.index(n) + 1 :][:1] for n, row in rows.items()}
        new = {m for next_ in after.values() for m in next_} - self.documents.keys()
        self.documents |= {d.number: d for d in self.corpus.numbered(new)}
        return {m for n, next_ in after.items() for m in next_ if self.is_reply(n, m)}

    def is_reply(self, number: int, after: int) -> bool:
        """Return whether the next document replies to a question of another speaker."""
        one, other = self.documents[number], self.documents[after]
        asks = ASKS in one.cues and USER not in one.cues and ASSISTANT not in other.cues
        return asks and one.subject != other.subject

    def of_those_days(self) -> set[int]:
        """Return the numbers of all documents of the days asked for, whatever their words."""
        self.documents |= {d.number: d for d in self.timely if d.number not in self.documents}
        return {document.number for document in self.timely}

    def need(self) -> float:
        """Return the weight of similarity of meaning: 0 if a memory contains most query words.

        Words are weighted by rarity, and most if they occur nowhere. The turns of a conversation
        count together. If the question seems to name the wrong person, the weight is 0, because
        meaning would follow the name.
        """
        if self.misnamed:
            return 0.0
        rarest = math.log(1 + (self.corpus.size + 0.5) / 0.5)
        worth = {t: self.rarity.get(t, rarest) for t in self.terms}
        matched = {n: worth.keys() & d.distinct for n, d in self.documents.items()}
        talks = (set().union(*(matched.get(n, ()) for n in row.numbers)) for row in self.talks)
        values = (sum(worth[t] for t in terms) for terms in (*matched.values(), *talks))
        share = max(values, default=0.0) / (sum(worth.values()) or 1.0)
        return _FAR * math.pow(max(0.0, 1 - share / _ENOUGH), _POWER)

    def by_meaning(
        self, like: Likeness, scored: Collection[int], weight: float
    ) -> dict[int, float]:
        """Score documents by similarity of meaning, relative to the most similar document.

        Scores are added after division by their maximum. Adding ranks instead would give a weak
        model as much influence as the words.
        """
        cosines = {n: cosine for n, cosine in like(scored).items() if cosine > 0}
        new = cosines.keys() - self.documents.keys()
        self.documents |= {d.number: d for d in self.corpus.numbered(new)}
        top = max(cosines.values(), default=1.0)
        return {n: weight * cosine / top for n, cosine in cosines.items()}


def cutoff(scores: Collection[float], count: int) -> float:
    """Return the lowest of the `count` best scores, or -infinity if all scores qualify."""
    return sorted(scores, reverse=True)[count - 1] if count < len(scores) else -math.inf
