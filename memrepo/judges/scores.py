"""Compute the six dimensions of Pass 1 and the eight scores of Pass 2 by formulae.

Pass 1 (memory-purifier): a candidate's strength follows from its rank on the shelf (`read.shelf`).
Its type and signs determine how the strength is distributed over five dimensions. Noise risk
follows from the verdict.

Pass 2:

| score | formula |
|---|---|
| semantic_cluster_confidence | 1.0 for one member, 0.95 for equal texts, 0.8 otherwise |
| canonical_clarity | 0.9 with a key, 0.7 with a subject, else 0.6; -0.2 hedged |
| provenance_strength | 0.4 + 0.2 per further resource + 0.1 per further day + 0.1 if dated |
| contradiction_pressure | 0.6 contested, 0.3 superseding, else 0 |
| freshness | halves every 180 days from the newest evidence; 0.5 for undated evidence |
| confidence | 0.35 + 0.15 strength + 0.1 (provenance - 0.4) - 0.2 hedged - 0.3 pressure |
| route_fitness | the score of the route's affinity |
| supersession_confidence | 0.95 superseding, 0.5 contradicting, else 0 |

Each score is limited to 0 to 1 and rounded to two decimals.
"""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from memrepo.core.ids import normal_claim
from memrepo.core.judge import (
    Candidate,
    CanonicalClaim,
    Cluster,
    PromotionScores,
    Scores,
    VerdictWord,
)
from memrepo.core.memory import CLAIM_TYPES, HOMES
from memrepo.core.times import parse_time
from memrepo.purify.routes import AFFINITY_SCORE, affinity
from memrepo.read.shelf import FAIR, POOR

HALF_LIFE_DAYS = 180.0
UNDATED_FRESHNESS = 0.5
_DAY = 86_400.0
_NOISE = {"promote": 0.1, "merge": 0.1, "defer": 0.35, "compress": 0.35, "reject": 0.8}
_WEIGHTS = (1.2, 1.1, 0.8, 0.6, 0.9)
_ACTS = frozenset(("constraint", "procedure", "method", "commitment", "decision"))
_PERSONAL = frozenset(("identity", "preference", "relationship"))


def promotion_scores(candidate: Candidate, verdict: VerdictWord) -> PromotionScores:
    """Return a candidate's six dimensions, with a strength that agrees with the verdict.

    The strength is at least 2.0 for promoted candidates, and from 0.5 to 1.5 for deferred ones. For
    rejected candidates, the strength is lower.
    """
    if verdict in ("promote", "merge"):
        strength = min(2.1 + 0.3 * max(candidate.rank - FAIR, 0.0), 4.4)
    elif verdict in ("defer", "compress"):
        strength = min(max(0.7 + 0.2 * (candidate.rank - POOR), 0.6), 1.4)
    else:
        strength = 0.2
    noise = _NOISE[verdict]
    weights = list(_WEIGHTS)
    weights[2] *= 2 if candidate.type_hint in _ACTS else 1
    weights[3] *= 2 if candidate.type_hint in _PERSONAL else 1
    weights[4] *= 2 if candidate.days > 1 or candidate.resources > 1 else 1
    left, values = strength + noise, [0.0] * 5
    for _ in range(3):  # move any excess over 1.0 to the other dimensions
        room = [
            weight if value < 1.0 else 0.0 for weight, value in zip(weights, values, strict=True)
        ]
        spread = [left * part / sum(room) for part in room]
        values = [min(1.0, value + more) for value, more in zip(values, spread, strict=True)]
        left = strength + noise - sum(values)
    names = PromotionScores.__struct_fields__[:5]
    scores = {name: round(value, 2) for name, value in zip(names, values, strict=True)}
    return PromotionScores(**scores, noise_risk=noise)


def measure(claim: CanonicalClaim, cluster: Cluster, now: datetime, *, hedged: bool) -> Scores:
    """Return the eight scores of a claim."""
    provenance = provenance_strength(cluster)
    pressure = contradiction_pressure(claim)
    doubt = 0.2 if hedged else 0.0
    said = claim.wording
    clarity = 0.9 if said.predicate else 0.7 if said.subject else 0.6
    confidence = 0.35 + 0.15 * cluster.strength + 0.1 * (provenance - 0.4)
    texts = {normal_claim(c.text) for c in cluster.candidates}
    return Scores(
        semantic_cluster_confidence=1.0
        if len(cluster.candidates) == 1
        else 0.95
        if len(texts) == 1
        else 0.8,
        canonical_clarity=_cut(clarity - doubt),
        provenance_strength=provenance,
        contradiction_pressure=pressure,
        freshness=freshness(cluster, now),
        confidence=_cut(confidence - doubt - 0.3 * pressure),
        route_fitness=_fitness(claim),
        supersession_confidence=0.95 if claim.supersedes else 0.5 if claim.contradictions else 0.0,
    )


def measured(claim: CanonicalClaim, cluster: Cluster, now: datetime) -> CanonicalClaim:
    """Return a model's claim, adding the scores that are computed without a model."""
    scores = replace(
        claim.scores,
        canonical_clarity=0.9 if claim.wording.subject else 0.6,
        provenance_strength=provenance_strength(cluster),
        contradiction_pressure=contradiction_pressure(claim),
        freshness=freshness(cluster, now),
        route_fitness=_fitness(claim),
    )
    return replace(claim, scores=scores)


def provenance_strength(cluster: Cluster) -> float:
    """Score a cluster's evidence by distinct resources, distinct days and known dates."""
    sources = [s for c in cluster.candidates for s in c.sources]
    resources = max(len({s.resource for s in sources}), *(c.resources for c in cluster.candidates))
    days = max(
        len({s.captured[:10] for s in sources if s.captured}), *(c.days for c in cluster.candidates)
    )
    dated = 0.1 if any(s.captured for s in sources) else 0.0
    return _cut(0.4 + 0.2 * max(resources - 1, 0) + 0.1 * max(days - 1, 0) + dated)


def freshness(cluster: Cluster, now: datetime) -> float:
    """Return the freshness of evidence: 1.0 today, halved every 180 days, and 0.5 if undated."""
    newest = max((c.captured for c in cluster.candidates), default="")
    try:
        captured = parse_time(newest)
    except ValueError:
        return UNDATED_FRESHNESS
    age = max((now - captured).total_seconds() / _DAY, 0.0)
    return _cut(0.5 ** (age / HALF_LIFE_DAYS))


def contradiction_pressure(claim: CanonicalClaim) -> float:
    """Return the pressure against a claim, which is higher if contested than if superseding."""
    if any(c.relation == "contested" for c in claim.contradictions):
        return 0.6
    return 0.3 if claim.contradictions or claim.supersedes else 0.0


def _fitness(claim: CanonicalClaim) -> float:
    if claim.type not in CLAIM_TYPES or claim.home not in HOMES:
        return 0.0
    return AFFINITY_SCORE.get(affinity(claim.type, claim.home), 0.0)


def _cut(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 2)
