"""What a judge is asked and what it answers, in both passes (memory-purifier, Pass 1 and Pass 2).

A judge scores and words; code does everything else: it validates, re-derives the arithmetic and
rejects provenance that the candidates do not hold (`purify.pass1`, `purify.pass2`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal, Protocol

from memrepo.core.memory import Source
from memrepo.core.schema import Scores

VerdictWord = Literal["reject", "defer", "compress", "merge", "promote"]
VERDICTS: tuple[VerdictWord, ...] = ("reject", "defer", "compress", "merge", "promote")
Profile = Literal["personal", "business"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One distinct text that runs may promote, with every place it stands.

    `text` has neither list marker nor checkbox. `context` is the heading path, outermost first,
    then the texts of enclosing list items. `key` and `value` are the halves of a bold lead
    `**Key:** value`, else empty. `task` is open, done or empty. `days` counts distinct capture
    dates and `resources` distinct source files, over earlier evidence too.
    """

    candidate_id: str
    text: str
    context: tuple[str, ...] = ()
    type_hint: str = "fact"
    key: str = ""
    value: str = ""
    task: str = ""
    sources: tuple[Source, ...] = ()
    days: int = 1
    resources: int = 1

    @property
    def captured(self) -> str:
        """Return the newest ISO date of its evidence, or an empty string."""
        return max((s.captured for s in self.sources), default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionScores:
    """The six Pass 1 dimensions, each 0 to 1."""

    durability: float
    future_judgment_value: float
    action_value: float
    identity_relationship_weight: float
    cross_time_persistence: float
    noise_risk: float

    @property
    def strength(self) -> float:
        """Derive the strength: the first five minus noise risk, -1 to 5."""
        values: list[float] = [getattr(self, f.name) for f in fields(self)]
        return round(sum(values[:5]) - values[5], 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Pass 1's answer for one candidate; `merge_with` and `compress_into` name candidate ids."""

    candidate_id: str
    scores: PromotionScores
    strength: float
    verdict: VerdictWord
    rationale: str = ""
    merge_with: tuple[str, ...] = ()
    compress_into: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Candidates that survive together; becomes one claim. `strength` is its strongest member's."""

    cluster_id: str
    candidates: tuple[Candidate, ...]
    strength: float
    type_hint: str
    home_hint: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorClaim:
    """An active memory shown to Pass 2 as context."""

    memory_id: str
    type: str
    standing: str
    subject: str
    predicate: str
    object: str
    text: str
    home: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A prior claim that a new claim disagrees with."""

    memory_id: str
    relation: Literal["contested", "stale", "superseded"]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The canonical form of a claim; subject, predicate and object may be empty."""

    text: str
    subject: str = ""
    predicate: str = ""
    object: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalClaim:
    """Pass 2's answer for one cluster."""

    cluster_id: str
    type: str
    standing: str
    wording: Wording
    home: str
    scores: Scores
    tags: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    supersedes: tuple[str, ...] = ()
    freshness_posture: str = ""
    confidence_posture: str = ""
    rationale: str = ""
    route_rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRequest:
    """Pass 1's question: candidates of one batch, sorted by id."""

    run: str
    profile: Profile
    now: datetime
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalRequest:
    """Pass 2's question: clusters of one batch and the prior claims they may touch."""

    run: str
    profile: Profile
    now: datetime
    clusters: tuple[Cluster, ...]
    priors: tuple[PriorClaim, ...] = ()


class Judge(Protocol):
    """What scores and words; the offline rules, a model, a command or a recording."""

    @property
    def name(self) -> str:
        """Return the name and version of the judge, as manifests record it."""

    @property
    def batch(self) -> tuple[int, int]:
        """Return how many candidates and how many clusters one request may hold."""

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1: exactly one verdict a candidate."""

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2: exactly one claim a cluster."""
