"""Select the prior claims that a judge sees: those that new text may repeat or contradict.

Lineage: memory-purifier, prior retrieval, with its weights. Deliberate differences:

- A prior claim must share a subject or a word with the cluster. Otherwise all claims of one primary
  page would match.
- Only active claims are shown.
- An inverted index finds them, and no text is split into words twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta

import msgspec

from memrepo.core.judge import Cluster, PriorClaim
from memrepo.policies.matching import newest_capture, normal_subject
from memrepo.text.tokens import content_words

SAME_SUBJECT, SUBJECT_WORDS, ENTITIES, SAME_HOME, SAME_TYPE, TEXT_WORDS, PREDICATE, RECENT = (
    3.0,
    2.0,
    1.5,
    1.0,
    0.5,
    1.0,
    1.0,
    1.0,
)
PREDICATE_WORDS = 0.5
SUBJECT_INSIDE = 2.0
"""The weight of a subject that occurs in the text of a cluster instead of its headings."""
FLOOR = 0.5
RECENT_DAYS = 30
COMMON = 0.2
"""Words in more than this share of the prior claims are not looked up."""
FEW = 50
"""In a store of up to this many prior claims, all words are looked up."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """The maximum number of prior claims per cluster and per request."""

    per_cluster: int = 5
    per_request: int = 50


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """The features of a cluster that are used to find prior claims before the cluster is judged."""

    subjects: frozenset[str]
    subject_words: frozenset[str]
    words: frozenset[str]
    entities: frozenset[str]
    type: str
    home: str


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    subject_words: frozenset[str]
    words: frozenset[str]
    predicate: frozenset[str]
    captured: str
    home: str
    type: str


def query_of(cluster: Cluster) -> Query:
    """Return the query for a cluster, with the words of its texts and its headings as subjects."""
    members = cluster.candidates
    headings = {h for c in members for h in (*c.context[-2:], c.key) if h}
    return Query(
        subjects=frozenset(filter(None, map(normal_subject, {*headings, *cluster.entities}))),
        subject_words=frozenset().union(*(content_words(h) for h in headings)),
        words=frozenset().union(*(content_words(c.text) for c in members)),
        entities=frozenset().union(*(content_words(e) for e in cluster.entities)),
        type=cluster.type_hint,
        home=cluster.home_hint,
    )


Near = Callable[[Query], Iterable[str]]
"""A function that returns the ids of memories that share a word or subject with a query."""


class Retrieval:
    """A ranking of prior claims by their relevance to clusters."""

    def __init__(
        self,
        priors: Iterable[PriorClaim] | Mapping[str, PriorClaim],
        today: date,
        near: Near | None = None,
    ) -> None:
        """Store the prior claims. `today` determines which evidence is recent.

        `near` finds candidates in a search index. Without it, an inverted index of all claims is
        built.
        """
        if not isinstance(priors, Mapping):
            priors = {prior.memory_id: prior for prior in priors}
        self._priors = priors
        self._known: dict[str, _Known] = {}
        self._since = (today - timedelta(days=RECENT_DAYS)).isoformat()
        self._near = near or _Words(self._priors.values()).near

    def select(self, clusters: Sequence[Cluster], reach: Reach) -> tuple[PriorClaim, ...]:
        """Return at most `reach.per_request` prior claims for a request, best first."""
        best: dict[str, float] = {}
        for cluster in clusters:
            for id_, score in self.nearest(query_of(cluster), reach.per_cluster):
                best[id_] = max(score, best.get(id_, 0.0))
        ranked = sorted(best, key=lambda id_: (-best[id_], id_))
        return tuple(self._priors[id_] for id_ in ranked[: reach.per_request])

    def nearest(self, query: Query, count: int) -> list[tuple[str, float]]:
        """Return the `count` best prior claims for a query as (id, score) pairs.

        Newer evidence breaks ties.
        """
        found = dict.fromkeys(id_ for id_ in self._near(query) if id_ in self._priors)
        scored = [(id_, self._score(query, self._seen(id_))) for id_ in sorted(found)]
        scored = [(id_, score) for id_, score in scored if score >= FLOOR]
        scored.sort(key=lambda pair: self._seen(pair[0]).captured, reverse=True)
        scored.sort(key=lambda pair: -pair[1])
        return scored[:count]

    def _seen(self, id_: str) -> _Known:
        if id_ not in self._known:
            prior = self._priors[id_]
            self._known[id_] = _Known(
                subject=normal_subject(prior.subject),
                subject_words=content_words(prior.subject),
                words=content_words(prior.text),
                predicate=content_words(prior.predicate),
                captured=newest_capture(prior),
                home=prior.home,
                type=prior.type,
            )
        return self._known[id_]

    def _score(self, query: Query, known: _Known) -> float:
        """Score a prior claim for a query, by the same signals as memory-purifier."""
        same = bool(known.subject) and known.subject in query.subjects
        told = bool(known.subject_words) and known.subject_words <= query.words
        score = SAME_SUBJECT if same else SUBJECT_INSIDE * told
        score += SUBJECT_WORDS * _jaccard(query.subject_words, known.subject_words)
        if query.entities:
            score += ENTITIES * min(1.0, len(query.entities & known.words) / len(query.entities))
        score += SAME_HOME * (known.home == query.home) + SAME_TYPE * (known.type == query.type)
        score += TEXT_WORDS * _jaccard(query.words, known.words)
        if known.predicate:
            inside = known.predicate <= query.words
            near = PREDICATE_WORDS * _jaccard(query.words, known.predicate)
            score += PREDICATE if inside else near
        return score + RECENT * (same and known.captured >= self._since)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


class _Words:
    """An in-process inverted index of prior claims, for stores without a search index."""

    def __init__(self, priors: Iterable[PriorClaim]) -> None:
        self._by_word: dict[str, list[str]] = defaultdict(list)
        self._by_subject: dict[str, list[str]] = defaultdict(list)
        self._count = 0
        for prior in priors:
            self._count += 1
            for word in content_words(prior.text) | content_words(prior.subject):
                self._by_word[word].append(prior.memory_id)
            if subject := normal_subject(prior.subject):
                self._by_subject[subject].append(prior.memory_id)

    def near(self, query: Query) -> Iterable[str]:
        """Yield the ids of claims that share a subject or an uncommon word with a query."""
        limit = max(FEW, COMMON * self._count)
        for word in sorted(query.words | query.entities):
            found = self._by_word.get(word, ())
            if len(found) <= limit:
                yield from found
        for subject in sorted(query.subjects):
            yield from self._by_subject.get(subject, ())
