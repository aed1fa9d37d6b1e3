"""Prior retrieval through the search index, against cutting every prior into words each time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from benchmarks.measure import Ratio, Sizes, medians_s, timed
from benchmarks.recall import index_of
from memrepo.core import codec
from memrepo.core.judge import Candidate, Cluster, PriorClaim
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.policies.matching import jaccard, tokens
from memrepo.policies.retrieval import Query, Reach, Retrieval
from memrepo.store.index import Filter, Index

CLUSTERS = 20
BOUND = 1 / 20
_VOCABULARY = 3000
_WORDS = 14


def _text(seed: str) -> str:
    """Return words drawn by a hash, so that every run measures the same store."""
    digits = hashlib.sha512(seed.encode()).hexdigest()
    return " ".join(
        f"word{int(digits[at : at + 8], 16) % _VOCABULARY}" for at in range(0, 8 * _WORDS, 8)
    )


def _prior(number: int) -> PriorClaim:
    text = _text(f"prior {number}")
    return PriorClaim(
        memory_id=f"mem-{number:016x}",
        type="fact",
        standing="resolved",
        subject=text.split()[0],
        predicate="is",
        object="",
        text=text,
        home="LTMEMORY.md",
    )


def _cluster(number: int) -> Cluster:
    text = _text(f"cluster {number}")
    candidate = Candidate(candidate_id=f"cand-{number}", text=text, context=(text.split()[0],))
    return Cluster(
        cluster_id=f"clust-{number}",
        candidates=(candidate,),
        strength=2.0,
        type_hint="fact",
        home_hint="LTMEMORY.md",
    )


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Measure 20 clusters against many priors; the index is there already, as in a store."""
    priors = [_prior(n) for n in range(sizes.files * 10)]
    clusters = [_cluster(n) for n in range(CLUSTERS)]
    index = index_of(folder, {m.path: codec.encode(m) for m in map(_memory, priors)})
    index.near(["word1"], Filter())
    taken = medians_s(
        min(sizes.turns, 3),
        indexed=lambda: timed(lambda: _indexed(index, priors, clusters)),
        naive=lambda: timed(lambda: _naive(priors, clusters)),
    )
    return [
        Ratio(
            name=f"priors of {CLUSTERS} clusters / naive scan",
            ratio=taken["indexed"] / taken["naive"],
            bound=BOUND,
            count=len(priors),
            turns=min(sizes.turns, 3),
        )
    ]


def _memory(prior: PriorClaim) -> Memory:
    fields = {"id": prior.memory_id, "type": "fact", "subject": prior.subject}
    path = Layout().memory(id_=prior.memory_id, type_="fact", text=prior.memory_id, captured="")
    return Memory(path=path, fields=fields, body=prior.text)


def _indexed(index: Index, priors: Sequence[PriorClaim], clusters: Sequence[Cluster]) -> None:
    def near(query: Query) -> list[str]:
        words = sorted(query.words | query.subject_words)
        return index.near(words, Filter(limit=100))

    Retrieval(priors, date(2026, 1, 1), near).select(clusters, Reach())


def _naive(priors: Sequence[PriorClaim], clusters: Sequence[Cluster]) -> None:
    for cluster in clusters:
        words = tokens(cluster.candidates[0].text)
        subject = tokens(cluster.candidates[0].context[0])
        scored = [
            jaccard(words, tokens(p.text))
            + jaccard(subject, tokens(p.subject))
            + (tokens(p.predicate) <= words)
            for p in priors
        ]
        sorted(scored, reverse=True)[:5]
