"""Derive the eight Pass 2 scores by formulae (memory-purifier, Pass 2).

| score | formula |
|---|---|
| semantic_cluster_confidence | 1.0 for one member, 0.95 for equal texts, 0.8 with a folded member |
| canonical_clarity | 0.9, 0.8, 0.6 by shape of the triple, 0.5 without a subject; -0.2 hedged |
| provenance_strength | 0.4 + 0.2 per further resource + 0.1 per further day + 0.1 if dated |
| contradiction_pressure | 0.6 contested, 0.3 superseding or overtaken, else 0 |
| freshness | halves every 180 days from the newest evidence; 0.5 where nothing dates it |
| confidence | 0.35 + 0.15 strength + 0.1 (provenance - 0.4) - 0.2 hedged - 0.3 pressure |
| route_fitness | the score of the route's affinity |
| supersession_confidence | 0.95 superseding, 0.5 contradicting, else 0 |

Each is cut to 0 to 1 and rounded to two decimals.
"""

from __future__ import annotations

from datetime import datetime

from memrepo.core.judging import Cluster
from memrepo.core.schema import Scores
from memrepo.core.times import parse_time
from memrepo.judges.folding import content
from memrepo.judges.successions import Said, Succession
from memrepo.judges.wording import tidy
from memrepo.purify.routing import AFFINITY_SCORE, affinity

HALF_LIFE_DAYS = 180.0
UNDATED_FRESHNESS = 0.5
_CLARITY = {1: 0.9, 2: 0.8, 3: 0.6}
_DAY = 86_400.0


def measure(said: Said, kind: str, found: Succession, *, now: datetime, hedged: bool) -> Scores:
    """Return the eight scores of a claim."""
    provenance = provenance_strength(said.cluster)
    pressure = _pressure(found)
    doubt = 0.2 if hedged else 0.0
    clarity = _CLARITY[said.triple.shape] if said.triple.subject else 0.5
    confidence = 0.35 + 0.15 * said.cluster.strength + 0.1 * (provenance - 0.4)
    return Scores(
        semantic_cluster_confidence=_cluster_confidence(said.cluster),
        canonical_clarity=_cut(clarity - doubt),
        provenance_strength=provenance,
        contradiction_pressure=pressure,
        freshness=freshness(said.cluster, now),
        confidence=_cut(confidence - doubt - 0.3 * pressure),
        route_fitness=AFFINITY_SCORE[affinity(kind, said.home)],
        supersession_confidence=found.confidence,
    )


def provenance_strength(cluster: Cluster) -> float:
    """Return how well evidenced a cluster is: distinct resources, distinct days, any date."""
    sources = [s for c in cluster.candidates for s in c.sources]
    resources = max(len({s.resource for s in sources}), *(c.resources for c in cluster.candidates))
    days = max(
        len({s.captured[:10] for s in sources if s.captured}), *(c.days for c in cluster.candidates)
    )
    dated = 0.1 if any(s.captured for s in sources) else 0.0
    return _cut(0.4 + 0.2 * max(resources - 1, 0) + 0.1 * max(days - 1, 0) + dated)


def freshness(cluster: Cluster, now: datetime) -> float:
    """Return 1.0 for evidence of today, halved every 180 days; 0.5 for undated evidence."""
    newest = max((c.captured for c in cluster.candidates), default="")
    try:
        captured = parse_time(newest)
    except ValueError:
        return UNDATED_FRESHNESS
    age = max((now - captured).total_seconds() / _DAY, 0.0)
    return _cut(0.5 ** (age / HALF_LIFE_DAYS))


def _cluster_confidence(cluster: Cluster) -> float:
    if len(cluster.candidates) == 1:
        return 1.0
    texts = {content(tidy(c.text)) for c in cluster.candidates}
    return 0.95 if len(texts) == 1 else 0.8


def _pressure(found: Succession) -> float:
    if any(c.relation == "contested" for c in found.contradictions):
        return 0.6
    return 0.3 if found.contradictions or found.supersedes else 0.0


def _cut(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 2)
