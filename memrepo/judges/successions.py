"""Decide offline whether a new claim replaces or contradicts what is known.

Only a single key with one value can be replaced without a model, and only on an explicit, strictly
newer date. Sentences without a key are never compared at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.judge import Cluster, Contradiction, Finding, PriorClaim
from memrepo.core.memory import Source
from memrepo.core.patterns import regex
from memrepo.judges import wordlists
from memrepo.judges.wording import Triple
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
MOST_CONTRADICTED = 5  # the newest priors are named; the rest differ in the same key
_EXPLICIT = ("unit", "heading", "file")
SINGLE = frozenset(normal_predicate(word) for word in wordlists.SINGLE_VALUED)
_COPULA = frozenset(normal_predicate(word) for word in ("is", "am", "ist", "bin"))
_VERBS = frozenset(normal_predicate(word) for word in wordlists.SINGLE_VALUED_VERBS)
_ANOTHER_VALUE = "another value of the key"
_BOUND = regex(
    r"\b(?:until|till|from|since|during|while|when|if|unless|except|only|usually|sometimes|mostly"
    r"|at|in|on|for|with|by|before|after|next|bis|ab|seit|während|wenn|falls|nur|meist|bei|im|am"
    r"|in|für|mit|vor|nach|nächste[nrs]?)\b.*|(?:まで|から|直到|之前|之后|期间|까지|부터|동안).*"
)
"""When, where or for whom a value holds, from the first such word on."""
_NUMBER = regex(r"\d+(?:[.,:]\d+)*")


class Succession(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim does to priors, with the code of the rule; empty where it does nothing."""

    supersedes: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    confidence: float = 0.0
    code: str = ""
    overtaken: bool = False
    """A newer value of the same key stands in the same request: this one is stale from birth."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
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


class Values(msgspec.Struct, frozen=True, kw_only=True):
    """What is said under one key: by priors, and in this request with the newest day of each.

    Values are in the normalised form of objects; `dated` holds explicit days alone.
    """

    priors: tuple[tuple[PriorClaim, str], ...]
    given: Mapping[str, str]
    dated: Mapping[str, str]


def values_by_key(said: Iterable[Said], index: PriorIndex) -> dict[ReuseKey, Values]:
    """Return the values of each key that a request speaks of; priors newest first."""
    given: dict[ReuseKey, dict[str, str]] = {}
    dated: dict[ReuseKey, dict[str, str]] = {}
    priors: dict[ReuseKey, tuple[tuple[PriorClaim, str], ...]] = {}
    for one in said:
        value = normal_subject(one.triple.object)
        if one.key is None or not value:
            continue
        if one.key not in priors:
            found = index.with_key(one.statement)
            priors[one.key] = tuple((p, normal_subject(p.object)) for p in found if p.object)
        newest = max((c.captured[:10] for c in one.cluster.candidates), default="")
        days = given.setdefault(one.key, {})
        days[value] = max(newest, days.get(value, ""))
        sure = dated.setdefault(one.key, {})
        sure[value] = max(explicit_date(one.cluster), sure.get(value, ""))
    return {
        key: Values(priors=priors[key], given=days, dated=dated[key]) for key, days in given.items()
    }


def succession(said: Said, by_key: Mapping[ReuseKey, Values]) -> Succession:
    """Return what a claim supersedes or contradicts.

    A key is a list, and nothing is compared, where the request or the priors give it several
    values, unless its name says that it has one (`timezone`). The third shape is never compared.
    """
    triple, key = said.triple, said.key
    if triple.shape == 3 or key is None or key not in by_key:
        return Succession()
    new = normal_subject(triple.object)
    values = by_key[key]
    peers = [(p, v) for p, v in values.priors if _comparable(triple, v, key[1])]
    others = [(p, v) for p, v in peers if v != new]
    older = _older(said, values)
    given = {v for v in values.given if v not in older and _comparable(triple, v, key[1])}
    if _is_overtaken(said, values):
        return Succession(overtaken=True, code="older_value")
    listed = len(others) < len(peers) or len(others) > 1 or len(given) > 1
    if not others or (listed and triple.shape == 1 and key[1] not in SINGLE):
        return Succession()
    date = explicit_date(said.cluster)
    before = max(max(newest_capture(p)[:10], values.given.get(v, "")) for p, v in others)
    alone = len(others) == 1 and given <= {new, others[0][1]}
    # An undated prior says nothing of the order, so nothing is newer than it.
    dated = date and all(newest_capture(p) for p, _ in others)
    sure = key[1] in SINGLE and _plain(triple.object, others[0][0].object)
    if triple.shape == 1 and alone and dated and date > before and sure:
        return Succession(
            supersedes=(others[0][0].memory_id,),
            confidence=SUPERSEDING_CONFIDENCE,
            code="newer_value",
        )
    return _contradicting(
        [p for p, _ in others], "stale" if dated and date < before else "contested"
    )


def two_values(first: PriorClaim, second: PriorClaim) -> Finding:
    """Say what two values of one subject and predicate mean, from what stands in memory alone.

    They contradict each other where the predicate has but one value; the newer one replaces the
    other where both days are explicit and the predicate is a key, no verb of a sentence.
    """
    key = normal_predicate(first.predicate)
    if key not in SINGLE:
        return Finding(is_contradiction=False, confidence=CONTESTED_CONFIDENCE)
    days = [_explicit_day(prior.sources) for prior in (first, second)]
    ordered = all(days) and days[0] != days[1]
    if not ordered or key in _VERBS or not _plain(first.object, second.object):
        return Finding(
            is_contradiction=True, confidence=CONTESTED_CONFIDENCE, reasoning=_ANOTHER_VALUE
        )
    return Finding(
        is_contradiction=True,
        confidence=SUPERSEDING_CONFIDENCE,
        reasoning="a newer value of the key",
        newer="first" if days[0] > days[1] else "second",
    )


def _plain(one: str, other: str) -> bool:
    """Tell whether two values differ in the value itself, not in when or where each holds."""
    bounds = [found[0] if (found := _BOUND.search(normalise(v))) else "" for v in (one, other)]
    return bounds[0] == bounds[1]


def _older(said: Said, values: Values) -> frozenset[str]:
    """Return the other values of a single key that an earlier explicit day in this request has."""
    if said.triple.shape != 1 or said.key is None or said.key[1] not in SINGLE:
        return frozenset()
    day = values.dated.get(normal_subject(said.triple.object), "")
    return frozenset(v for v, other in values.dated.items() if other and other < day)


def _is_overtaken(said: Said, values: Values) -> bool:
    """Tell whether this request gives a single key a newer value that no prior has."""
    if said.triple.shape != 1 or said.key is None or said.key[1] not in SINGLE:
        return False
    day = values.dated.get(normal_subject(said.triple.object), "")
    known = {v for _, v in values.priors}
    return bool(day) and any(o > day for v, o in values.dated.items() if v not in known)


def explicit_date(cluster: Cluster) -> str:
    """Return the newest ISO day that a unit, heading or file name gives the evidence."""
    return _explicit_day(s for c in cluster.candidates for s in c.sources)


def _explicit_day(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources if s.captured_from in _EXPLICIT), default="")


def _comparable(triple: Triple, value: str, predicate: str) -> bool:
    """A bold key or a single-valued predicate; `is` between two short values with a number."""
    if triple.shape == 1 or predicate in SINGLE:
        return True
    if predicate not in _COPULA:
        return False
    both = normal_subject(triple.object), value
    if not all(len(v.split()) <= 3 and _NUMBER.search(v) for v in both):
        return False
    return len({_NUMBER.sub("0", v) for v in both}) == 1


def _contradicting(
    others: Sequence[PriorClaim], relation: Literal["contested", "stale"]
) -> Succession:
    reason = "older value of the key" if relation == "stale" else _ANOTHER_VALUE
    return Succession(
        contradictions=tuple(
            Contradiction(memory_id=p.memory_id, relation=relation, reason=reason)
            for p in others[:MOST_CONTRADICTED]
        ),
        confidence=CONTESTED_CONFIDENCE,
        code=f"{relation}_value",
    )
