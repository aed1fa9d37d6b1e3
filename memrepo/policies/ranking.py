"""Rank memories for a question: BM25 over terms, then what the places around a hit say.

Sources: BM25 (Robertson and Zaragoza 2009, with the smoothed inverse document frequency);
relevance feedback (Rocchio 1971, with the best hits taken as relevant). A memory is short, so its
length hardly counts (b 0.2), and what stands next to a hit in its source often holds the answer.
The constants were chosen on half of a public dialogue set; `python -m benchmarks.retrieval` chooses
them anew, leaving out the conversation that is measured.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from memrepo.policies.terms import MONTHS, query_terms, stems, stop_stems, words

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DAY = re.compile(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_AWAY = 15
"""Days from which on a day in the same month is as good as none."""
_BEST = 3
"""So many of a thread's best tell how good the thread is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each signal may add; scores of the words are divided by their maximum first."""

    k1: float = 1.0
    b: float = 0.2
    feedback: float = 0.15
    neighbour: float = 0.3
    second_neighbour: float = 0.2
    thread: float = 0.3
    subject: float = 0.3
    date: float = 0.2
    day: float = 0.2
    other_subject: float = 0.95
    """The subject's own best must reach this share of the best, or the question misnames it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far ranking looks: documents scored, hits with neighbours, hits and terms fed back."""

    candidates: int = 1000
    neighbours: int = 300
    fed_back: int = 8
    feedback_terms: int = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What ranking knows of one memory; `place`, then `path`, orders the documents of a thread."""

    number: int
    path: str
    terms: tuple[str, ...] = ()
    thread: str = ""
    place: int = 0
    subject: str = ""
    """Its folded subject; a question that names it asks for it."""
    day: str = ""
    """Newest evidence date, YYYY-MM-DD."""


class Corpus(Protocol):
    """The memories that a search is limited to, and how often terms occur in all of them."""

    size: int
    average: float
    """Mean number of terms a document."""

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Return for each term that occurs how many documents hold it."""

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return the documents that hold any of the terms, the likeliest first."""

    def around(self, documents: Iterable[Document]) -> Mapping[int, Sequence[int]]:
        """Return by number each document with up to two before and two after it in its thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a question says: its terms, its words as they stand, and the days it names."""

    terms: tuple[str, ...]
    words: tuple[str, ...] = ()
    months: frozenset[int] = frozenset()
    years: frozenset[str] = frozenset()
    days: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One document with its score, and what each signal added to it."""

    document: Document
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


def question_of(text: str) -> Question:
    """Return what a question says; `may` is a month only beside a day or a year."""
    found = words(text)
    years = frozenset(_YEAR.findall(text))
    days = frozenset(int(n) for n in _DAY.findall(text) if 1 <= int(n) <= 31)
    names = {name: number for number, name in enumerate(MONTHS, start=1)}
    names |= {name[:3]: number for name, number in names.items() if name != "may"}
    months = {names[w] for w in found if w in names and (w != "may" or years or days)}
    return Question(
        terms=query_terms(text), words=tuple(found), months=frozenset(months), years=years,
        days=days if months else frozenset(),
    )  # fmt: skip


def rank(
    question: Question, corpus: Corpus, count: int, weights: Weights | None = None,
    reach: Reach | None = None,
) -> list[Ranked]:  # fmt: skip
    """Return the best documents of a corpus, best first; ties by path."""
    if not question.terms:
        return []
    turn = _Turn(question, corpus, weights or Weights(), reach or Reach())
    scored = turn.scored()
    scored.sort(key=lambda one: (-one.score, one.document.path))
    return scored[:count]


class _Turn:
    """One question put to one corpus."""

    def __init__(self, question: Question, corpus: Corpus, weights: Weights, reach: Reach) -> None:
        self.question, self.corpus, self.weights, self.reach = question, corpus, weights, reach
        self.documents = {d.number: d for d in corpus.propose(question.terms, reach.candidates)}
        self.counts: dict[int, Counter[str]] = {}
        self.rarity: dict[str, float] = {}

    def scored(self) -> list[Ranked]:
        """Return every document that any signal speaks for."""
        asked = dict.fromkeys(self.question.terms, 1.0)
        lexical = self.by_words(asked)
        if not lexical:
            return []
        subject = self.named_subject()
        if self.weights.feedback and len(lexical) > self.reach.fed_back:
            lexical = self.by_words(self.fed_back(lexical), lexical)
        near = self.with_neighbours(lexical)
        top = max(near.values())
        own = {n: lexical.get(n, 0.0) / top for n in near}
        level = {n: value / top for n, value in near.items()}
        threads = self.by_thread(level)
        return [
            self.one(n, {
                "words": own[n],
                "neighbours": level[n] - own[n],
                "thread": self.weights.thread * threads[self.documents[n].thread],
                "subject": self.weights.subject
                * (bool(subject) and self.documents[n].subject == subject),
                "date": self.by_date(self.documents[n].day),
            })
            for n in level
        ]  # fmt: skip

    def one(self, number: int, parts: Mapping[str, float]) -> Ranked:
        return Ranked(document=self.documents[number], score=sum(parts.values()), parts=parts)

    def counted(self, document: Document) -> Counter[str]:
        if document.number not in self.counts:
            self.counts[document.number] = Counter(document.terms)
        return self.counts[document.number]

    def rarities(self, found: Iterable[str]) -> Mapping[str, float]:
        """Return the inverse document frequency of each term that occurs."""
        new = [t for t in found if t not in self.rarity]
        size = self.corpus.size
        for term, held in self.corpus.holders(new).items():
            self.rarity[term] = math.log(1 + (size - held + 0.5) / (held + 0.5))
        return self.rarity

    def by_words(
        self, asked: Mapping[str, float], so_far: Mapping[int, float] | None = None
    ) -> dict[int, float]:
        """Return the BM25 score of each document that holds a term, terms by their weight.

        What documents have `so_far`, from other terms, is added to.
        """
        rarities = self.rarities(asked)
        before = so_far or {}
        k1, b, average = self.weights.k1, self.weights.b, self.corpus.average or 1.0
        worth = {t: w * rarities[t] * (k1 + 1) for t, w in asked.items() if t in rarities}
        scores = {}
        for number, document in self.documents.items():
            counts = self.counted(document)
            base = k1 * (1 - b + b * len(document.terms) / average)
            score = before.get(number, 0.0)
            for term in filter(counts.__contains__, worth):
                held = counts[term]
                score += worth[term] * held / (held + base)
            if score:
                scores[number] = score
        return scores

    def best(self, scores: Mapping[int, float], count: int) -> list[int]:
        return sorted(scores, key=lambda n: (-scores[n], self.documents[n].path))[:count]

    def fed_back(self, scores: Mapping[int, float]) -> dict[str, float]:
        """Return the telling terms of the best hits, weighted by how much they tell."""
        best = self.best(scores, self.reach.fed_back)
        asked = frozenset(self.question.terms)
        found: dict[str, float] = defaultdict(float)
        fresh = {t for n in best for t in self.counted(self.documents[n])} - asked - stop_stems()
        rarities = self.rarities(sorted(fresh))
        for number in best:
            share = scores[number] / scores[best[0]]
            for term in sorted(fresh & self.counted(self.documents[number]).keys()):
                found[term] += rarities.get(term, 0.0) * share
        chosen = sorted(found, key=lambda t: (-found[t], t))[: self.reach.feedback_terms]
        top = max(found.values(), default=0.0)
        return {t: self.weights.feedback * found[t] / top for t in chosen} if top else {}

    def named_subject(self) -> str:
        """Return the one subject that the question names, unless its hits are others' hits.

        A question that names the wrong person is answered best by what it says apart from the name.
        """
        said = frozenset(self.question.words)
        named = {
            d.subject for d in self.documents.values()
            if d.subject and said.issuperset(d.subject.split())
        }  # fmt: skip
        if len(named) != 1:
            return ""
        (subject,) = named
        name = frozenset(stems(subject.split()))
        rest = self.by_words({t: 1.0 for t in self.question.terms if t not in name})
        if not rest:
            return subject
        own = max((s for n, s in rest.items() if self.documents[n].subject == subject), default=0.0)
        return subject if own >= self.weights.other_subject * max(rest.values()) else ""

    def with_neighbours(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Return the scores with what hits that stand side by side in a source lend each other.

        What holds none of the asked words is no hit, wherever it stands: a hit explains itself.
        """
        lent = dict(scores)
        hits = self.best(scores, self.reach.neighbours)
        around = self.corpus.around(self.documents[n] for n in hits)
        shares = {1: self.weights.neighbour, 2: self.weights.second_neighbour}
        for number in hits:
            row = around.get(number, (number,))
            at = row.index(number)
            for i, other in enumerate(row):
                if other in lent and i != at:
                    lent[other] += shares[abs(i - at)] * scores[number]
        return lent

    def by_thread(self, level: Mapping[int, float]) -> Mapping[str, float]:
        """Return the mean of each thread's best, so that a source that fits lifts all it holds."""
        threads: dict[str, list[float]] = defaultdict(list)
        for number, value in level.items():
            threads[self.documents[number].thread].append(value)
        best = {name: sum(sorted(v)[-_BEST:]) / _BEST for name, v in threads.items() if name}
        return defaultdict(float, best)

    def by_date(self, day: str) -> float:
        """Return what a document of the month asked for gains, more the nearer its day."""
        question = self.question
        if not question.months or not day:
            return 0.0
        at = date.fromisoformat(day)
        if at.month not in question.months:
            return 0.0
        if question.years and str(at.year) not in question.years:
            return 0.0
        gained = self.weights.date
        if question.days:
            away = min(abs(at.day - asked) for asked in question.days)
            gained += self.weights.day * max(0.0, 1 - away / _AWAY)
        return gained
