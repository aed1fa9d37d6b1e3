"""Answers that a run was given before it broke off: nobody pays for them twice.

An answer is known by everything that its item showed the judge: its text and places, the prompts,
the judge's name, and for a claim the priors near it. Another word in any of these is another key,
and the item is asked about again. Days that pass do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from memrepo.core.ids import digest
from memrepo.core.judge import (
    Assessment,
    Candidate,
    CanonicalClaim,
    Cluster,
    Finding,
    Judge,
    PriorClaim,
    Suspicion,
    Usage,
    Verdict,
    WordingCheck,
)
from memrepo.purify.passes import with_postures
from memrepo.purify.replies import CLAIMS_KEY

T = TypeVar("T")


class Kept(Protocol):
    """Where answers are kept between runs."""

    @property
    def unbilled(self) -> Usage:
        """Return what the answers kept have cost, as far as no manifest says so yet."""

    def find(self, key: str) -> Mapping[str, object] | None:
        """Return an answer, or None."""

    def keep(self, answers: Mapping[str, Mapping[str, object]], usage: Usage) -> None:
        """Keep the answers of one question, and what it cost."""


def verdict_key(candidate: Candidate, judge: Judge, profile: str) -> str:
    """Return the key of a verdict: what a judge is shown of its candidate."""
    return digest(["verdict", judge.name, judge.prompt_hash, profile, _shown(candidate)])


def claim_key(cluster: Cluster, priors: Sequence[PriorClaim], judge: Judge, profile: str) -> str:
    """Return the key of a cluster's claims, with the priors that are near it."""
    return digest(
        [
            "claim",
            judge.name,
            judge.prompt_hash,
            profile,
            cluster.cluster_id,
            cluster.strength,
            cluster.type_hint,
            list(cluster.tags),
            [_shown(c) for c in cluster.candidates],
            sorted([p.memory_id, p.text, p.standing] for p in priors),
        ]
    )


def finding_key(suspicion: Suspicion, judge: Judge) -> str:
    """Return the key of a finding: both statements as they are shown, and why it is asked."""
    sides = [
        [p.memory_id, p.type, p.text, p.subject, p.predicate, p.object, _days(p)]
        for p in (suspicion.first, suspicion.second)
    ]
    return digest(["finding", judge.name, judge.prompt_hash, suspicion.why, *sides])


def check_key(check: WordingCheck, judge: Judge) -> str:
    """Return the key of an assessment: everything that its item shows."""
    return digest(["check", judge.name, judge.prompt_hash, check.check_id, check.stated_on])


def known_check(check: WordingCheck, kept: Kept, judge: Judge) -> Assessment | None:
    """Return the assessment kept for a wording, or None."""
    return _kept(kept.find(check_key(check, judge)), Assessment)


def _days(prior: PriorClaim) -> list[list[str]]:
    return sorted([s.resource, s.captured, s.captured_from] for s in prior.sources)


def known_finding(suspicion: Suspicion, kept: Kept, judge: Judge) -> Finding | None:
    """Return the finding kept for two statements, or None."""
    return _kept(kept.find(finding_key(suspicion, judge)), Finding)


def _kept(record: object, cls: type[T]) -> T | None:
    """Read an answer that code has checked before it was kept; what is damaged is asked again."""
    try:
        return None if record is None else msgspec.convert(record, cls)
    except msgspec.ValidationError:
        return None


def known_verdicts(
    candidates: Sequence[Candidate], kept: Kept, keys: Mapping[str, str]
) -> dict[str, Verdict]:
    """Return the verdicts kept for these candidates, by id.

    One that links to a candidate without a kept verdict is asked for again, with it.
    """
    found: dict[str, Verdict] = {}
    for candidate in candidates:
        record = kept.find(keys[candidate.candidate_id])
        verdict = _kept(record, Verdict)
        if verdict is not None and not verdict.fault:
            found[candidate.candidate_id] = verdict
    while loose := [id_ for id_, v in found.items() if not found.keys() >= _links(v)]:
        for id_ in loose:
            del found[id_]
    return found


def known_claims(
    groups: Sequence[Cluster], kept: Kept, keys: Mapping[str, str]
) -> dict[str, tuple[CanonicalClaim, ...]]:
    """Return the claims kept for these clusters, by cluster id."""
    found = {}
    for group in groups:
        record = kept.find(keys[group.cluster_id])
        rows = record.get(CLAIMS_KEY) if record else None
        claims = [_kept(row, CanonicalClaim) for row in rows] if isinstance(rows, list) else []
        sound = [c for c in claims if c and c.cluster_id == group.cluster_id and not c.fault]
        if sound and len(sound) == len(claims):
            found[group.cluster_id] = tuple(map(with_postures, sound))
    return found


def verdict_record(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as it is kept."""
    return _record(verdict)


def claims_record(claims: Sequence[CanonicalClaim]) -> dict[str, object]:
    """Return the claims of one cluster as they are kept."""
    return {CLAIMS_KEY: [_record(c) for c in claims]}


def finding_record(finding: Finding | Assessment) -> dict[str, object]:
    """Return a finding, or an assessment, as it is kept."""
    return _record(finding)


def _record(answer: Verdict | CanonicalClaim | Finding | Assessment) -> dict[str, object]:
    record: dict[str, object] = msgspec.to_builtins(answer)
    return record


def _links(verdict: Verdict) -> set[str]:
    return {*verdict.merge_with, *([verdict.compress_into] if verdict.compress_into else [])}


def _shown(c: Candidate) -> list[object]:
    return [
        c.candidate_id,
        c.text,
        list(c.context),
        c.type_hint,
        c.key,
        c.value,
        c.task,
        c.captured,
        c.days,
        c.resources,
    ]
