"""Decide offline whether a new claim replaces or contradicts what is known.

Only a single key with one value can be replaced without a model, and only on an explicit, strictly
newer date. Sentences without a key are never compared at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memrepo.core.judging import Cluster, Contradiction, PriorClaim
from memrepo.judges import wordlists
from memrepo.judges.triples import Triple
from memrepo.policies.matching import (
    PriorIndex,
    ReuseKey,
    Statement,
    newest_capture,
    normal_predicate,
    normal_subject,
    reuse_key,
)

SUPERSEDING_CONFIDENCE = 0.95
CONTESTED_CONFIDENCE = 0.5
_EXPLICIT = ("unit", "heading", "file")
_SINGLE = frozenset(normal_predicate(word) for word in wordlists.SINGLE_VALUED)
_COPULA = frozenset(normal_predicate(word) for word in ("is", "am", "ist", "bin"))
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """What a claim does to priors, with the code of the rule; empty where it does nothing."""

    supersedes: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    confidence: float = 0.0
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A triple with the home it goes to and the cluster it comes from."""

    triple: Triple
    home: str
    cluster: Cluster

    @property
    def statement(self) -> Statement:
        """Return what the index looks up; a key needs no text."""
        triple = self.triple
        return Statement(
            subject=triple.subject,
            predicate=triple.predicate,
            object=triple.object,
            text="",
            home=self.home,
        )

    @property
    def key(self) -> ReuseKey | None:
        """Return the reuse key."""
        return reuse_key(self.triple.subject, self.triple.predicate, self.home)


def values_by_key(said: Iterable[Said]) -> dict[ReuseKey, frozenset[str]]:
    """Return the different values that one request gives to each key."""
    values: dict[ReuseKey, set[str]] = {}
    for one in said:
        if one.key and one.triple.object:
            values.setdefault(one.key, set()).add(normal_subject(one.triple.object))
    return {key: frozenset(found) for key, found in values.items()}


def succession(
    said: Said, index: PriorIndex, batch: Mapping[ReuseKey, frozenset[str]]
) -> Succession:
    """Return what a claim supersedes or contradicts.

    A key is a list, and nothing is compared, where the request or the priors give it several
    values, unless its name says that it has one (`timezone`). The third shape is never compared.
    """
    triple, key = said.triple, said.key
    if triple.shape == 3 or key is None or not triple.object:
        return Succession()
    priors = index.with_key(said.statement)
    new = normal_subject(triple.object)
    others = [p for p in priors if p.object and normal_subject(p.object) != new]
    if not others or not _comparable(said, others[0], key[1]):
        return Succession()
    given = batch.get(key, frozenset())
    listed = len(others) < len(priors) or len(others) > 1 or len(given) > 1
    if listed and key[1] not in _SINGLE:
        return Succession()
    date, before = explicit_date(said.cluster), max(newest_capture(p)[:10] for p in others)
    alone = len(others) == 1 and len(given - {normal_subject(others[0].object)}) <= 1
    if triple.shape == 1 and alone and date and before and date > before:
        return Succession(
            supersedes=(others[0].memory_id,),
            confidence=SUPERSEDING_CONFIDENCE,
            code="newer_value",
        )
    if date and before and date < before:
        return _contradicting(others, "stale", "older value of the same key")
    return _contradicting(others, "contested", "another value of the same key")


def explicit_date(cluster: Cluster) -> str:
    """Return the newest ISO day that a unit, heading or file name gives the evidence."""
    days = (
        s.captured[:10]
        for c in cluster.candidates
        for s in c.sources
        if s.captured_from in _EXPLICIT
    )
    return max(days, default="")


def _comparable(said: Said, prior: PriorClaim, predicate: str) -> bool:
    """A bold key or a single-valued predicate; `is` between two short values with a number."""
    if said.triple.shape == 1 or predicate in _SINGLE:
        return True
    if predicate not in _COPULA:
        return False
    values = said.triple.object, prior.object
    if not all(len(v.split()) <= 3 and _NUMBER.search(v) for v in values):
        return False
    frames = {_NUMBER.sub("0", normal_subject(v)) for v in values}
    return len(frames) == 1


def _contradicting(
    others: Sequence[PriorClaim], relation: Literal["contested", "stale"], reason: str
) -> Succession:
    return Succession(
        contradictions=tuple(
            Contradiction(memory_id=p.memory_id, relation=relation, reason=reason) for p in others
        ),
        confidence=CONTESTED_CONFIDENCE,
        code=f"{relation}_value",
    )
