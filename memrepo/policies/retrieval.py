"""Which prior claims a judge is shown: the few that a cluster may repeat, replace or contradict.

Lineage: memory-purifier, prior retrieval; its weights stand. Deliberate differences: a prior must
share a subject or a word with the cluster (the lineage's noise floor let every claim of the same
home through), only active priors are shown, and an inverted index finds them: no text is cut into
words twice.
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
"""A prior's subject that is in the words of a cluster, and not above them."""
FLOOR = 0.5
RECENT_DAYS = 30
COMMON = 0.2
"""A word that more than this share of the priors hold finds nothing by itself."""
FEW = 50
"""Among so few priors every word finds."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How many priors are shown: for one cluster, and for one request."""

    per_cluster: int = 5
    per_request: int = 50


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a cluster before it is judged."""

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
    """Return what a cluster asks for: the words of its texts, its headings as subjects."""
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
"""From a query to ids of memories that share a word or subject with it, best first."""


class Retrieval:
    """Priors, ranked for clusters. With `near` (a search index proposes) nothing is read twice."""

    def __init__(
        self,
        priors: Iterable[PriorClaim] | Mapping[str, PriorClaim],
        today: date,
        near: Near | None = None,
    ) -> None:
        """Take the priors, by id or not; `today` is what recent is measured from.

        Without `near` an inverted index over all priors is built here.
        """
        if not isinstance(priors, Mapping):
            priors = {prior.memory_id: prior for prior in priors}
        self._priors = priors
        self._known: dict[str, _Known] = {}
        self._since = (today - timedelta(days=RECENT_DAYS)).isoformat()
        self._near = near or _Words(self._priors.values()).near

    def select(self, clusters: Sequence[Cluster], reach: Reach) -> tuple[PriorClaim, ...]:
        """Return the priors for one request: the best of each cluster, best first, bounded."""
        best: dict[str, float] = {}
        for cluster in clusters:
            for id_, score in self.nearest(query_of(cluster), reach.per_cluster):
                best[id_] = max(score, best.get(id_, 0.0))
        ranked = sorted(best, key=lambda id_: (-best[id_], id_))
        return tuple(self._priors[id_] for id_ in ranked[: reach.per_request])

    def nearest(self, query: Query, count: int) -> list[tuple[str, float]]:
        """Return the best priors of one query with their scores; newer evidence breaks ties."""
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
        """Score one prior by the lineage's signals."""
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
    """An inverted index in memory, for a store without a search index."""

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
        """Return what shares a telling word or a subject; what most priors say tells nothing."""
        limit = max(FEW, COMMON * self._count)
        for word in sorted(query.words | query.entities):
            found = self._by_word.get(word, ())
            if len(found) <= limit:
                yield from found
        for subject in sorted(query.subjects):
            yield from self._by_subject.get(subject, ())
