"""Derive the scores of memory-purifier's two passes, for exports that its validator reads.

No judge gives them any more. The six scores of Pass 1 follow from a statement's rank on the shelf,
its type, and whether it was repeated. The eight of Pass 2 follow from a memory's evidence:

| score | formula |
|---|---|
| semantic_cluster_confidence | 1.0, or 0.8 for evidence in other words |
| canonical_clarity | 0.9 with a key, 0.7 with a subject, else 0.6; -0.2 unresolved |
| provenance_strength | 0.4 + 0.2 per further file + 0.1 per further day + 0.1 if dated |
| contradiction_pressure | 0.6 contested, 0.3 superseding, else 0 |
| freshness | halves every 180 days from the newest evidence; 0.5 for undated evidence |
| confidence | 0.35 + 0.15 strength + 0.1 (provenance - 0.4) - 0.2 unresolved - 0.3 pressure |
| route_fitness | the score of the page's affinity |
| supersession_confidence | 0.95 superseding, else 0 |
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from memrepo.core.judge import Scores, VerdictWord
from memrepo.core.memory import Memory
from memrepo.core.times import parse_time
from memrepo.policies.claims import AFFINITY_SCORE, affinity
from memrepo.read.shelf import FAIR, POOR

HALF_LIFE_DAYS = 180.0
UNDATED_FRESHNESS = 0.5
_ACTS = frozenset(("constraint", "procedure", "method", "commitment", "decision"))
_PERSONAL = frozenset(("identity", "preference", "relationship"))


class PromotionScores(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The six scores of Pass 1, each from 0 to 1."""

    durability: float
    future_judgment_value: float
    action_value: float
    identity_relationship_weight: float
    cross_time_persistence: float
    noise_risk: float

    @property
    def strength(self) -> float:
        """Return the sum of the first five scores minus the noise risk (-1 to 5)."""
        values: list[float] = [getattr(self, name) for name in self.__struct_fields__]
        return round(sum(values[:5]) - values[5], 4)


_DIMENSIONS = PromotionScores.__struct_fields__


def promotion_scores(
    rank: float, type_: str, verdict: VerdictWord, *, again: bool = False
) -> PromotionScores:
    """Return the six scores of a statement, with a strength that agrees with the verdict.

    The strength is at least 2.0 for promoted statements, and from 0.5 to 1.5 for deferred ones. For
    rejected ones, it is lower.
    """
    if verdict == "promote":
        strength, noise = min(2.1 + 0.3 * max(rank - FAIR, 0.0), 4.4), 0.1
    elif verdict == "reject":
        strength, noise = 0.2, 0.8
    else:
        strength, noise = min(max(0.7 + 0.2 * (rank - POOR), 0.6), 1.4), 0.35
    weights = [
        1.2,
        1.1,
        0.8 * (2 if type_ in _ACTS else 1),
        0.6 * (2 if type_ in _PERSONAL else 1),
        0.9 * (2 if again else 1),
    ]
    left, values = strength + noise, [0.0] * 5
    for _ in range(3):  # move any excess over 1.0 to the other dimensions
        room = [w if v < 1.0 else 0.0 for w, v in zip(weights, values, strict=True)]
        spread = [left * part / sum(room) for part in room]
        values = [min(1.0, value + more) for value, more in zip(values, spread, strict=True)]
        left = strength + noise - sum(values)
    scores = {name: round(value, 2) for name, value in zip(_DIMENSIONS, values, strict=False)}
    return PromotionScores(**scores, noise_risk=noise)


def verdict_of(rank: float) -> VerdictWord:
    """Return the verdict on a statement that did not become a memory."""
    return "reject" if rank <= POOR else "defer"


def scores_of(memory: Memory, rank: float, now: datetime | None) -> Scores:
    """Return the eight scores of a memory. `now` is the time of the run that made it."""
    captured = {s.captured[:10] for s in memory.sources if s.captured}
    files = {s.resource for s in memory.sources}
    dated = 0.1 if captured else 0.0
    provenance = 0.4 + 0.2 * max(len(files) - 1, 0) + 0.1 * max(len(captured) - 1, 0) + dated
    doubt = 0.2 if memory.standing == "unresolved" else 0.0
    supersedes = bool(memory.texts("supersedes"))
    pressure = 0.6 if memory.standing == "contested" else 0.3 if supersedes else 0.0
    strength = promotion_scores(rank, memory.type, "promote").strength
    clarity = 0.9 if memory.text("predicate") else 0.7 if memory.text("subject") else 0.6
    merged = any(s.kind == "merged" for s in memory.sources)
    return Scores(
        semantic_cluster_confidence=0.8 if merged else 1.0,
        canonical_clarity=_bounded(clarity - doubt),
        provenance_strength=_bounded(provenance),
        contradiction_pressure=pressure,
        freshness=_freshness(max(captured, default=""), now or memory.time("created")),
        confidence=_bounded(
            0.35 + 0.15 * strength + 0.1 * (_bounded(provenance) - 0.4) - doubt - 0.3 * pressure
        ),
        route_fitness=AFFINITY_SCORE[affinity(memory.type, memory.text("home"))],
        supersession_confidence=0.95 if supersedes else 0.0,
    )


def _freshness(newest: str, now: datetime | None) -> float:
    """Return the freshness of evidence: 1.0 today, halved every 180 days, and 0.5 if undated."""
    try:
        captured = parse_time(newest)
    except ValueError:
        return UNDATED_FRESHNESS
    if now is None:
        return UNDATED_FRESHNESS
    age_days = max((now - captured).total_seconds() / 86_400, 0.0)
    return _bounded(0.5 ** (age_days / HALF_LIFE_DAYS))


def _bounded(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 2)
