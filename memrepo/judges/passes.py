"""Check a judge's answers in Pass 1 and Pass 2, the two passes of memory-purifier.

A judge's arithmetic and ids are never trusted. One bad verdict does not affect the others. It is
listed in `Pass1.rejected`, and its candidate remains unchanged.

Pass 2 answers are checked claim by claim, including their routes. Deliberate difference: only the
invalid claim is rejected, where memory-purifier refused the whole publish.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import normal_claim
from memrepo.core.judge import (
    VERDICTS,
    Candidate,
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
    PriorClaim,
    Profile,
    PromotionRequest,
    PromotionScores,
    Scores,
    Verdict,
    VerdictWord,
    Wording,
    named,
)
from memrepo.core.memory import CLAIM_TYPES, HOMES
from memrepo.core.secrets import secret_fault
from memrepo.core.times import parse_time
from memrepo.judges.clusters import part_fault
from memrepo.judges.grounding import Grounds, claim_fault
from memrepo.policies.claims import AFFINITY_SCORE, affinity, permitted
from memrepo.read.shelf import FAIR, POOR

STRENGTH_TOLERANCE = 0.01

_SLACK = 1e-9  # the bound is inclusive, and 2.01 - 2.0 is not 0.01 in binary

_SURVIVING = ("promote", "merge")

_DIMENSIONS = PromotionScores.__struct_fields__


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """A rejected verdict: the reason, and the candidate's id, which may be unknown."""

    candidate_id: str
    reason: str


class Pass1(msgspec.Struct, frozen=True, kw_only=True):
    """The result of Pass 1: accepted verdicts in the request's order, and rejections."""

    verdicts: tuple[Verdict, ...]
    rejected: tuple[Rejection, ...] = ()


def check_verdicts(request: PromotionRequest, verdicts: Sequence[Verdict]) -> Pass1:
    """Accept valid verdicts and reject all others. Report candidates without a verdict.

    If a candidate is answered twice, all its verdicts are rejected, since either could be intended.
    Merge links are made bidirectional. A link to a candidate that does not survive is dropped
    (`merge_dropped` in the rationale). A merge without remaining links becomes a promotion.
    """
    known = frozenset(c.candidate_id for c in request.candidates)
    answers: dict[str, list[Verdict]] = {c.candidate_id: [] for c in request.candidates}
    captured = {c.candidate_id: c.captured[:10] for c in request.candidates}
    bad: list[Rejection] = []
    merged = {other for verdict in verdicts for other in verdict.merge_with}
    for verdict in verdicts:
        if verdict.candidate_id in known:
            answers[verdict.candidate_id].append(verdict)
        else:
            bad.append(Rejection(candidate_id=verdict.candidate_id, reason="unknown candidate"))
    sound: dict[str, Verdict] = {}
    for candidate_id, given in answers.items():
        reason = _count_fault(len(given)) or _fault(given[0], known, candidate_id in merged)
        reason = reason or _closing_fault(given[0], captured)
        if reason:
            bad.append(Rejection(candidate_id=candidate_id, reason=reason))
        else:
            sound[candidate_id] = given[0]
    for verdict in tuple(sound.values()):
        for closed in verdict.closes:
            if closed in sound:
                sound[closed] = _closed(sound[closed])
    for candidate_id, reason in _compress_faults(sound).items():
        bad.append(Rejection(candidate_id=candidate_id, reason=reason))
        del sound[candidate_id]
    return Pass1(verdicts=_join_merges(sound), rejected=tuple(bad))


def _count_fault(count: int) -> str:
    if count == 1:
        return ""
    return "no verdict" if count == 0 else f"answered {count} times"


def _fault(verdict: Verdict, known: frozenset[str], is_named: bool) -> str:
    """Return why an individual verdict is invalid, or an empty string."""
    if verdict.fault:
        return verdict.fault
    for name in _DIMENSIONS:
        if not in_unit_range(getattr(verdict.scores, name)):
            return f"score {name} is not a number from 0 to 1"
    derived = verdict.scores.strength
    if not _is_number(verdict.strength):
        return "strength is not a number"
    if abs(verdict.strength - derived) > STRENGTH_TOLERANCE + _SLACK:
        return f"strength {verdict.strength:g} but its scores give {derived:g}"
    if verdict.verdict not in VERDICTS:
        return "verdict is none of " + ", ".join(VERDICTS)
    return secret_fault(verdict.rationale) or _link_fault(verdict, known, is_named)


def _link_fault(verdict: Verdict, known: frozenset[str], is_named: bool) -> str:
    """Return why the candidate ids in a verdict are invalid, or an empty string.

    A merge may be declared by either candidate.
    """
    if verdict.verdict == "merge":
        if not verdict.merge_with and not is_named:
            return "merge names no candidate"
        if verdict.candidate_id in verdict.merge_with:
            return "merge names itself"
        if not known.issuperset(verdict.merge_with):
            return "merge names an unknown candidate"
    elif verdict.merge_with:
        return f"{verdict.verdict} must not name merge candidates"
    if verdict.verdict == "compress":
        if not verdict.compress_into:
            return "compress names no target"
        if verdict.compress_into == verdict.candidate_id:
            return "compress names itself"
        if verdict.compress_into not in known:
            return "compress names an unknown target"
    elif verdict.compress_into:
        return f"{verdict.verdict} must not name a compress target"
    return ""


def _closing_fault(verdict: Verdict, captured: Mapping[str, str]) -> str:
    """Return why a verdict cannot close the candidates that it names, or an empty string.

    The named candidates must be known and not later.
    """
    for closed in verdict.closes:
        if closed not in captured or closed == verdict.candidate_id:
            return "closes names an unknown candidate, or itself"
        if captured[closed] > captured[verdict.candidate_id]:
            return "closes names a candidate of a later day"
    return ""


def _closed(verdict: Verdict) -> Verdict:
    return replace(
        verdict, verdict="reject", rationale=_DONE, merge_with=(), compress_into="", closes=()
    )


_DONE = "a later line says that it is done"


def in_unit_range(value: object) -> bool:
    """Return whether a value is a finite number from 0 to 1. A bool is not a number."""
    return _is_number(value) and 0.0 <= float(value) <= 1.0  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _compress_faults(sound: Mapping[str, Verdict]) -> dict[str, str]:
    """Return the faults of compress verdicts whose final target does not survive."""
    faults: dict[str, str] = {}
    ends: dict[str, str] = {}
    for start in sound:
        trail: dict[str, None] = {}
        at = start
        while at not in ends and at in sound and sound[at].verdict == "compress":
            if at in trail:
                break
            trail[at] = None
            at = sound[at].compress_into
        end = ends.get(at, "compress targets form a cycle" if at in trail else _end(sound.get(at)))
        for passed in trail:
            ends[passed] = end
            if end:
                faults[passed] = end
    return faults


def _end(verdict: Verdict | None) -> str:
    if verdict is not None and verdict.verdict in _SURVIVING:
        return ""
    return "compress target does not survive"


def _join_merges(sound: Mapping[str, Verdict]) -> tuple[Verdict, ...]:
    """Make the merge links between surviving candidates bidirectional."""
    links: dict[str, set[str]] = {key: set() for key in sound}
    for key, verdict in sound.items():
        for other in verdict.merge_with:
            if other in sound and sound[other].verdict in _SURVIVING:
                links[key].add(other)
                links[other].add(key)
    return tuple(_linked(verdict, links[key]) for key, verdict in sound.items())


def _linked(verdict: Verdict, links: set[str]) -> Verdict:
    if verdict.verdict not in _SURVIVING:
        return verdict
    dropped = not links.issuperset(verdict.merge_with)
    notes = [verdict.rationale] if verdict.rationale else []
    rationale = ",".join([*notes, "merge_dropped"]) if dropped else verdict.rationale
    return replace(
        verdict,
        verdict="merge" if links else "promote",
        merge_with=tuple(sorted(links)),
        rationale=rationale,
    )


# Standings a judge may give. Code determines retire_candidate and probable_duplicate.
JUDGED_STANDINGS = ("resolved", "contested", "unresolved", "stale")

RELATIONS = ("contested", "stale", "superseded")

BODY_LIMIT = 400
"""Maximum characters of a claim's text. Quotations of the evidence have no limit."""

_REASON_LIMIT = 200

_FIELD_LIMIT = 2000  # as in the schema of a memory file


class ClaimRejection(msgspec.Struct, frozen=True, kw_only=True):
    """A rejected claim: the reason, and the cluster's id, which may be unknown."""

    cluster_id: str
    reason: str
    wording: bool = False
    """Whether only the wording was invalid: it states something the evidence does not."""


class Pass2(msgspec.Struct, frozen=True, kw_only=True):
    """The result of Pass 2: accepted claims in the request's order, and rejections."""

    claims: tuple[CanonicalClaim, ...]
    rejected: tuple[ClaimRejection, ...] = ()


def check_claims(
    request: CanonicalRequest,
    claims: Sequence[CanonicalClaim],
    *,
    grounds: Callable[[str], Grounds] | None = None,
) -> Pass2:
    """Accept valid claims and reject all others. Report clusters without a claim.

    A cluster may have several claims if each quotes its evidence. One invalid claim rejects all
    claims of its cluster. `grounds` returns the grounds of a cluster id. If given, each wording
    must be based on them. Postures are computed from the scores with the documented thresholds and
    override the judge's.
    """
    answers: dict[str, list[CanonicalClaim]] = {c.cluster_id: [] for c in request.clusters}
    bad: list[ClaimRejection] = []
    for claim in claims:
        if claim.cluster_id in answers:
            answers[claim.cluster_id].append(claim)
        else:
            bad.append(ClaimRejection(cluster_id=claim.cluster_id, reason="unknown cluster"))
    priors = request.priors
    ids = {prior.memory_id for prior in priors}
    good: list[CanonicalClaim] = []
    clusters = {c.cluster_id: c for c in request.clusters}
    for cluster_id, given in answers.items():
        if aside := next((c for c in given if c.restates or c.drop), None):
            why = _aside_fault(aside, given, request.priors)
            worded = claim_fault(aside, grounds(cluster_id), priors) if grounds and not why else ""
            if why or worded:
                bad.append(
                    ClaimRejection(
                        cluster_id=cluster_id, reason=why or worded, wording=bool(worded)
                    )
                )
            else:
                good.append(_joining(aside, request.priors))
            continue
        faults = (
            _claim_fault(claim, clusters[cluster_id], request.profile, ids) for claim in given
        )
        reason = next(filter(None, faults), "") if given else "no claim"
        if len(given) > 1 and not reason:
            reason = part_fault(given, clusters[cluster_id])
        worded = ""
        if grounds and not reason:
            found = (claim_fault(c, grounds(cluster_id), priors) for c in given)
            worded = next(filter(None, found), "")
        if reason or worded:
            bad.append(
                ClaimRejection(cluster_id=cluster_id, reason=reason or worded, wording=bool(worded))
            )
        else:
            good += map(with_postures, given)
    return Pass2(claims=tuple(good), rejected=tuple(bad))


def _aside_fault(
    claim: CanonicalClaim, given: Sequence[CanonicalClaim], priors: Sequence[PriorClaim]
) -> str:
    """Return why a claim that restates a memory or is dropped is invalid, or an empty string."""
    if claim.fault:
        return claim.fault
    if len(given) > 1:
        return "restates and drop answer a whole cluster: give one claim only"
    if claim.restates and claim.drop:
        return "it restates a memory or is dropped, not both"
    if claim.drop:
        return secret_fault(claim.drop)
    if named(priors, claim.restates) is None:
        return "restates names a memory that was not shown"
    return ""


def _joining(claim: CanonicalClaim, priors: Sequence[PriorClaim]) -> CanonicalClaim:
    """Give a claim that restates a memory the words of that memory.

    A dropped claim is returned with its reason shortened.
    """
    prior = named(priors, claim.restates)
    if prior is None:
        return replace(claim, drop=" ".join(claim.drop.split())[:_REASON_LIMIT])
    said = Wording(
        text=prior.text, subject=prior.subject, predicate=prior.predicate, object=prior.object
    )
    plain = replace(claim, wording=said, type=prior.type, home=prior.home, standing="resolved")
    return with_postures(
        replace(plain, contradictions=(), supersedes=(), links=(), entities=(), tags=())
    )


def with_postures(claim: CanonicalClaim) -> CanonicalClaim:
    """Compute a claim's freshness and confidence postures from its scores. Return the new claim."""
    return replace(
        claim,
        freshness_posture=claim.scores.freshness_posture,
        confidence_posture=claim.scores.confidence_posture,
    )


def _claim_fault(
    claim: CanonicalClaim, cluster: Cluster, profile: Profile, priors: Set[str]
) -> str:
    """Return why a claim is invalid, or an empty string."""
    if claim.fault:
        return claim.fault
    for name in Scores.__struct_fields__:
        if not in_unit_range(getattr(claim.scores, name)):
            return f"score {name} is not a number from 0 to 1"
    return (
        _word_fault(claim)
        or _route_fault(claim, profile)
        or _shape_fault(claim.wording, cluster)
        or secret_fault(*_said(claim))
        or _reference_fault(claim, priors)
    )


def _word_fault(claim: CanonicalClaim) -> str:
    if claim.type not in CLAIM_TYPES:
        return "type is none of " + ", ".join(CLAIM_TYPES)
    if claim.standing not in JUDGED_STANDINGS:
        return "standing is none of " + ", ".join(JUDGED_STANDINGS)
    if claim.home not in HOMES:
        return "home is none of " + ", ".join(HOMES)
    return ""


def _route_fault(claim: CanonicalClaim, profile: Profile) -> str:
    if not permitted(claim.home, profile):
        return f"home {claim.home} is personal only"
    if affinity(claim.type, claim.home) == "impossible":
        return f"type {claim.type} cannot be in {claim.home}"
    return ""


def _shape_fault(wording: Wording, cluster: Cluster) -> str:
    if not wording.text.strip():
        return "text is empty"
    quoted = any(c.text == wording.text for c in cluster.candidates)
    if len(wording.said) > BODY_LIMIT and not quoted:
        return f"text has {len(wording.said)} characters, at most {BODY_LIMIT} are allowed"
    for name in ("subject", "predicate", "object", "title"):
        value = getattr(wording, name)
        if len(value) > _FIELD_LIMIT or len(value.splitlines()) > 1:
            return f"{name} is not one line of at most {_FIELD_LIMIT} characters"
    return ""


def _said(claim: CanonicalClaim) -> Iterator[str]:
    yield from (getattr(claim.wording, name) for name in Wording.__struct_fields__)
    yield from (claim.rationale, claim.route_rationale, *claim.tags, *claim.entities)


def _reference_fault(claim: CanonicalClaim, priors: Set[str]) -> str:
    if not {*claim.supersedes} <= priors:
        return "supersedes names a memory that was not shown"
    for contradiction in claim.contradictions:
        if contradiction.memory_id not in priors:
            return "contradictions name a memory that was not shown"
        if contradiction.relation not in RELATIONS:
            return "relation is none of " + ", ".join(RELATIONS)
    return ""


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
        canonical_clarity=_bounded(clarity - doubt),
        provenance_strength=provenance,
        contradiction_pressure=pressure,
        freshness=freshness(cluster, now),
        confidence=_bounded(confidence - doubt - 0.3 * pressure),
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
    return _bounded(0.4 + 0.2 * max(resources - 1, 0) + 0.1 * max(days - 1, 0) + dated)


def freshness(cluster: Cluster, now: datetime) -> float:
    """Return the freshness of evidence: 1.0 today, halved every 180 days, and 0.5 if undated."""
    newest = max((c.captured for c in cluster.candidates), default="")
    try:
        captured = parse_time(newest)
    except ValueError:
        return UNDATED_FRESHNESS
    age = max((now - captured).total_seconds() / _DAY, 0.0)
    return _bounded(0.5 ** (age / HALF_LIFE_DAYS))


def contradiction_pressure(claim: CanonicalClaim) -> float:
    """Return the pressure against a claim, which is higher if contested than if superseding."""
    if any(c.relation == "contested" for c in claim.contradictions):
        return 0.6
    return 0.3 if claim.contradictions or claim.supersedes else 0.0


def _fitness(claim: CanonicalClaim) -> float:
    if claim.type not in CLAIM_TYPES or claim.home not in HOMES:
        return 0.0
    return AFFINITY_SCORE.get(affinity(claim.type, claim.home), 0.0)


def _bounded(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 2)
