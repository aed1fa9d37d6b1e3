"""Check and score a judge's answers in Pass 1 and Pass 2, the two passes of memory-purifier.

A judge's arithmetic and ids are never trusted. One invalid answer does not affect the others.
Deliberate difference: in Pass 2 only the invalid claim is rejected, where memory-purifier refused
the whole publish.

Scores are computed by formulae. Pass 1: a candidate's strength follows from its rank on the shelf
(`read.shelf`). Its type and signs determine how the strength is distributed over five dimensions.
Noise risk follows from the verdict. Pass 2:

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

import math
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from typing import Generic, TypeVar

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
from memrepo.policies.claims import AFFINITY_SCORE, affinity, is_permitted
from memrepo.read.shelf import FAIR, POOR

T = TypeVar("T")
STRENGTH_TOLERANCE = 0.01
_SLACK = 1e-9  # the bound is inclusive, and 2.01 - 2.0 is not 0.01 in binary
_SURVIVING = ("promote", "merge")
_DIMENSIONS = PromotionScores.__struct_fields__
_DONE = "a later line says that it is done"
# Standings a judge may give. Code determines retire_candidate and probable_duplicate.
JUDGED_STANDINGS = ("resolved", "contested", "unresolved", "stale")
RELATIONS = ("contested", "stale", "superseded")
BODY_LIMIT = 400
"""Maximum characters of a claim's text. Quotations of the evidence have no limit."""
_REASON_LIMIT = 200
_FIELD_LIMIT = 2000  # as in the schema of a memory file


class CheckedAnswers(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """The accepted answers in the request's order, and the reasons for refusing others, by id.

    Ids may be unknown. `instead` has replacements for refused answers whose only fault was the
    wording.
    """

    answers: tuple[T, ...]
    refused: Mapping[str, str]
    instead: Mapping[str, T] = msgspec.field(default_factory=dict)


def in_unit_range(value: object) -> bool:
    """Return whether a value is a finite number from 0 to 1. A bool is not a number."""
    return _is_number(value) and 0.0 <= float(value) <= 1.0  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _score_fault(scores: PromotionScores | Scores) -> str:
    names = scores.__struct_fields__
    bad = next((name for name in names if not in_unit_range(getattr(scores, name))), "")
    return f"score {bad} is not a number from 0 to 1" if bad else ""


# -- pass 1 ----------------------------------------------------------------------------------------


def check_verdicts(
    request: PromotionRequest, verdicts: Sequence[Verdict]
) -> CheckedAnswers[Verdict]:
    """Accept valid verdicts and refuse all others. Report candidates without a verdict.

    If a candidate is answered twice, all its verdicts are refused, since either could be intended.
    Merge links are made bidirectional. A link to a candidate that does not survive is dropped
    (`merge_dropped` in the rationale). A merge without remaining links becomes a promotion.
    """
    captured = {c.candidate_id: c.captured[:10] for c in request.candidates}
    answers: dict[str, list[Verdict]] = {id_: [] for id_ in captured}
    refused: dict[str, str] = {}
    merged = {other for verdict in verdicts for other in verdict.merge_with}
    for verdict in verdicts:
        if verdict.candidate_id in answers:
            answers[verdict.candidate_id].append(verdict)
        else:
            refused[verdict.candidate_id] = "unknown candidate"
    sound: dict[str, Verdict] = {}
    for id_, given in answers.items():
        if len(given) != 1:
            refused[id_] = f"answered {len(given)} times" if given else "no verdict"
        elif why := _verdict_fault(given[0], captured, id_ in merged):
            refused[id_] = why
        else:
            sound[id_] = given[0]
    for verdict in tuple(sound.values()):
        for closed in sound.keys() & set(verdict.closes):
            sound[closed] = replace(
                sound[closed],
                verdict="reject",
                rationale=_DONE,
                merge_with=(),
                compress_into="",
                closes=(),
            )
    for id_, why in _compress_faults(sound).items():
        refused[id_] = why
        del sound[id_]
    return CheckedAnswers(answers=_join_merges(sound), refused=refused)


def _verdict_fault(verdict: Verdict, captured: Mapping[str, str], is_named: bool) -> str:
    """Return why an individual verdict is invalid, or an empty string."""
    if fault := verdict.fault or _score_fault(verdict.scores):
        return fault
    derived = verdict.scores.strength
    if not _is_number(verdict.strength):
        return "strength is not a number"
    if abs(verdict.strength - derived) > STRENGTH_TOLERANCE + _SLACK:
        return f"strength {verdict.strength:g} but its scores give {derived:g}"
    if verdict.verdict not in VERDICTS:
        return "verdict is none of " + ", ".join(VERDICTS)
    return secret_fault(verdict.rationale) or _link_fault(verdict, captured, is_named)


def _link_fault(verdict: Verdict, captured: Mapping[str, str], is_named: bool) -> str:
    """Return why the candidate ids in a verdict are invalid, or an empty string.

    A merge may be declared by either candidate. Closed candidates must not be later.
    """
    own = verdict.candidate_id
    if verdict.verdict == "merge":
        if not verdict.merge_with and not is_named:
            return "merge names no candidate"
        if own in verdict.merge_with:
            return "merge names itself"
        if not captured.keys() >= set(verdict.merge_with):
            return "merge names an unknown candidate"
    elif verdict.merge_with:
        return f"{verdict.verdict} must not name merge candidates"
    if verdict.verdict == "compress":
        if not verdict.compress_into:
            return "compress names no target"
        if verdict.compress_into == own:
            return "compress names itself"
        if verdict.compress_into not in captured:
            return "compress names an unknown target"
    elif verdict.compress_into:
        return f"{verdict.verdict} must not name a compress target"
    for closed in verdict.closes:
        if closed not in captured or closed == own:
            return "closes names an unknown candidate, or itself"
        if captured[closed] > captured[own]:
            return "closes names a candidate of a later day"
    return ""


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
        if at in trail:
            end = "compress targets form a cycle"
        elif at in ends:
            end = ends[at]
        else:
            survives = at in sound and sound[at].verdict in _SURVIVING
            end = "" if survives else "compress target does not survive"
        ends |= dict.fromkeys(trail, end)
        faults |= dict.fromkeys(trail, end) if end else {}
    return faults


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
    dropped = "" if links.issuperset(verdict.merge_with) else "merge_dropped"
    return replace(
        verdict,
        verdict="merge" if links else "promote",
        merge_with=tuple(sorted(links)),
        rationale=",".join(filter(None, (verdict.rationale, dropped))),
    )


def promotion_scores(candidate: Candidate, verdict: VerdictWord) -> PromotionScores:
    """Return a candidate's six dimensions, with a strength that agrees with the verdict.

    The strength is at least 2.0 for promoted candidates, and from 0.5 to 1.5 for deferred ones. For
    rejected candidates, the strength is lower.
    """
    if verdict in _SURVIVING:
        strength, noise = min(2.1 + 0.3 * max(candidate.rank - FAIR, 0.0), 4.4), 0.1
    elif verdict == "reject":
        strength, noise = 0.2, 0.8
    else:
        strength, noise = min(max(0.7 + 0.2 * (candidate.rank - POOR), 0.6), 1.4), 0.35
    weights = [
        1.2,
        1.1,
        0.8 * (2 if candidate.type_hint in _ACTS else 1),
        0.6 * (2 if candidate.type_hint in _PERSONAL else 1),
        0.9 * (2 if candidate.days > 1 or candidate.resources > 1 else 1),
    ]
    left, values = strength + noise, [0.0] * 5
    for _ in range(3):  # move any excess over 1.0 to the other dimensions
        room = [
            weight if value < 1.0 else 0.0 for weight, value in zip(weights, values, strict=True)
        ]
        spread = [left * part / sum(room) for part in room]
        values = [min(1.0, value + more) for value, more in zip(values, spread, strict=True)]
        left = strength + noise - sum(values)
    scores = {name: round(value, 2) for name, value in zip(_DIMENSIONS, values, strict=False)}
    return PromotionScores(**scores, noise_risk=noise)


_ACTS = frozenset(("constraint", "procedure", "method", "commitment", "decision"))
_PERSONAL = frozenset(("identity", "preference", "relationship"))


# -- pass 2 ----------------------------------------------------------------------------------------


def check_claims(
    request: CanonicalRequest,
    claims: Sequence[CanonicalClaim],
    *,
    grounds: Callable[[str], Grounds] | None = None,
    quote: Callable[[str, str], CanonicalClaim | None] = lambda *_: None,
) -> CheckedAnswers[CanonicalClaim]:
    """Accept valid claims and refuse all others. Report clusters without a claim.

    A cluster may have several claims if each quotes its evidence. One invalid claim refuses all
    claims of its cluster. `grounds` returns the grounds of a cluster id. If given, each wording
    must be based on them. `quote` returns a claim to use instead for a cluster id whose wording was
    refused, given the reason. Postures are computed from the scores and override the judge's.
    """
    answers: dict[str, list[CanonicalClaim]] = {c.cluster_id: [] for c in request.clusters}
    refused: dict[str, str] = {}
    for claim in claims:
        if claim.cluster_id in answers:
            answers[claim.cluster_id].append(claim)
        else:
            refused[claim.cluster_id] = "unknown cluster"
    good: list[CanonicalClaim] = []
    instead: dict[str, CanonicalClaim] = {}
    for cluster in request.clusters:
        id_ = cluster.cluster_id
        given = answers[id_]
        exception = next((c for c in given if c.restates or c.drop), None)
        if exception is not None:
            checked = [exception]
            why = _exception_fault(exception, given, request.priors)
        else:
            checked = given
            why = _claims_fault(given, cluster, request)
        if grounds and not why:
            faults = (claim_fault(c, grounds(id_), request.priors) for c in checked)
            why = next(filter(None, faults), "")
            if why and (quoted := quote(id_, why)):
                instead[id_] = quoted
        if why:
            refused[id_] = why
        elif exception is not None:
            good.append(_without_own_words(exception, request.priors))
        else:
            good += map(with_postures, given)
    return CheckedAnswers(answers=tuple(good), refused=refused, instead=instead)


def _claims_fault(
    given: Sequence[CanonicalClaim], cluster: Cluster, request: CanonicalRequest
) -> str:
    ids = {prior.memory_id for prior in request.priors}
    faults = (_claim_fault(claim, cluster, request.profile, ids) for claim in given)
    why = next(filter(None, faults), "") if given else "no claim"
    return part_fault(given, cluster) if len(given) > 1 and not why else why


def _exception_fault(
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


def _without_own_words(claim: CanonicalClaim, priors: Sequence[PriorClaim]) -> CanonicalClaim:
    """Give a claim that restates a memory the words of that memory.

    A dropped claim is returned with its reason shortened.
    """
    prior = named(priors, claim.restates)
    if prior is None:
        return replace(claim, drop=" ".join(claim.drop.split())[:_REASON_LIMIT])
    wording = Wording(
        text=prior.text, subject=prior.subject, predicate=prior.predicate, object=prior.object
    )
    return with_postures(
        replace(
            claim,
            wording=wording,
            type=prior.type,
            home=prior.home,
            standing="resolved",
            contradictions=(),
            supersedes=(),
            links=(),
            entities=(),
            tags=(),
        )
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
    if fault := claim.fault or _score_fault(claim.scores):
        return fault
    for name, known in (("type", CLAIM_TYPES), ("standing", JUDGED_STANDINGS), ("home", HOMES)):
        if getattr(claim, name) not in known:
            return f"{name} is none of " + ", ".join(known)
    if not is_permitted(claim.home, profile):
        return f"home {claim.home} is personal only"
    if affinity(claim.type, claim.home) == "impossible":
        return f"type {claim.type} cannot be in {claim.home}"
    words = (getattr(claim.wording, name) for name in Wording.__struct_fields__)
    more = (claim.rationale, claim.route_rationale, *claim.tags, *claim.entities)
    if fault := _shape_fault(claim.wording, cluster) or secret_fault(*words, *more):
        return fault
    if not {*claim.supersedes} <= priors:
        return "supersedes names a memory that was not shown"
    for contradiction in claim.contradictions:
        if contradiction.memory_id not in priors:
            return "contradictions name a memory that was not shown"
        if contradiction.relation not in RELATIONS:
            return "relation is none of " + ", ".join(RELATIONS)
    return ""


def _shape_fault(wording: Wording, cluster: Cluster) -> str:
    if not wording.text.strip():
        return "text is empty"
    quoted = any(c.text == wording.text for c in cluster.candidates)
    if len(wording.own_text) > BODY_LIMIT and not quoted:
        return f"text has {len(wording.own_text)} characters, at most {BODY_LIMIT} are allowed"
    for name in ("subject", "predicate", "object", "title"):
        value = getattr(wording, name)
        if len(value) > _FIELD_LIMIT or len(value.splitlines()) > 1:
            return f"{name} is not one line of at most {_FIELD_LIMIT} characters"
    return ""


HALF_LIFE_DAYS = 180.0
UNDATED_FRESHNESS = 0.5
_DAY_S = 86_400.0


def measure(claim: CanonicalClaim, cluster: Cluster, now: datetime, *, hedged: bool) -> Scores:
    """Return the eight scores of a claim that is worded by rules."""
    scores = add_scores(claim, cluster, now).scores
    doubt = 0.2 if hedged else 0.0
    clarity = 0.9 if claim.wording.predicate else 0.7 if claim.wording.subject else 0.6
    confidence = 0.35 + 0.15 * cluster.strength + 0.1 * (scores.provenance_strength - 0.4)
    texts = {normal_claim(c.text) for c in cluster.candidates}
    certainty = 0.95 if len(texts) == 1 else 0.8
    return replace(
        scores,
        semantic_cluster_confidence=1.0 if len(cluster.candidates) == 1 else certainty,
        canonical_clarity=_bounded(clarity - doubt),
        confidence=_bounded(confidence - doubt - 0.3 * scores.contradiction_pressure),
        supersession_confidence=0.95 if claim.supersedes else 0.5 if claim.contradictions else 0.0,
    )


def add_scores(claim: CanonicalClaim, cluster: Cluster, now: datetime) -> CanonicalClaim:
    """Return a model's claim, adding the scores that are computed without a model."""
    pressure = 0.3 if claim.contradictions or claim.supersedes else 0.0
    if any(c.relation == "contested" for c in claim.contradictions):
        pressure = 0.6
    is_known = claim.type in CLAIM_TYPES and claim.home in HOMES
    scores = replace(
        claim.scores,
        canonical_clarity=0.9 if claim.wording.subject else 0.6,
        provenance_strength=provenance_strength(cluster),
        contradiction_pressure=pressure,
        freshness=freshness(cluster, now),
        route_fitness=AFFINITY_SCORE[affinity(claim.type, claim.home)] if is_known else 0.0,
    )
    return replace(claim, scores=scores)


def provenance_strength(cluster: Cluster) -> float:
    """Score a cluster's evidence by distinct resources, distinct days and known dates."""
    sources = [s for c in cluster.candidates for s in c.sources]
    captured = {s.captured[:10] for s in sources if s.captured}
    resources = max(len({s.resource for s in sources}), *(c.resources for c in cluster.candidates))
    days = max(len(captured), *(c.days for c in cluster.candidates))
    dated = 0.1 if captured else 0.0
    return _bounded(0.4 + 0.2 * max(resources - 1, 0) + 0.1 * max(days - 1, 0) + dated)


def freshness(cluster: Cluster, now: datetime) -> float:
    """Return the freshness of evidence: 1.0 today, halved every 180 days, and 0.5 if undated."""
    newest = max((c.captured for c in cluster.candidates), default="")
    try:
        captured = parse_time(newest)
    except ValueError:
        return UNDATED_FRESHNESS
    age_days = max((now - captured).total_seconds() / _DAY_S, 0.0)
    return _bounded(0.5 ** (age_days / HALF_LIFE_DAYS))


def _bounded(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 2)
