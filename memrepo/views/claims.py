"""Read runs and judgements from manifests, and build memory-purifier's claims from memories.

Lineage: memory-purifier, artifacts. Deliberate differences: a contradiction appears on both sides,
with one stable id. Records are sorted by id, not by time. Memories written by hand have their own
file as provenance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import asdict, replace

from memrepo.core.judge import Profile, Scores
from memrepo.core.layout import Layout
from memrepo.core.manifest import read_manifests
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, Memory, Retired
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_time
from memrepo.formats.purifier import contradiction_id, status_of
from memrepo.policies.claims import AFFINITY_SCORE, affinity, is_permitted, route, type_in_profile
from memrepo.policies.matching import normal_predicate, normal_subject
from memrepo.views.scores import scores_of

Json: TypeAlias = dict[str, Any]
IMPORT = "import"
"""The mode of a manifest written by an import, which has judgements but no run."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What a manifest states about a memory: a run's decision, or an imported claim's fields."""

    cluster: str = ""
    disposition: str = ""
    reason: str = ""
    rationale: str = ""
    route: str = ""
    freshness: str = ""
    confidence: str = ""
    scores: Mapping[str, float] = msgspec.field(default_factory=dict)
    run: str = ""
    rank: float = 0.0
    signs: tuple[str, ...] = ()


_TEXTS = ("cluster", "disposition", "reason", "rationale", "route", "freshness", "confidence")


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run manifest in a tree: the run, its time, its judgements by memory, and the raw record."""

    run: str
    now: datetime | None
    record: Json
    judgements: Mapping[str, Sequence[Judgement]]
    counts: Mapping[str, int]

    @property
    def mode(self) -> str:
        """Return the mode of the run: "incremental", "reconciliation" or "import"."""
        return str(self.record.get("mode", ""))


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def read_runs(
    files: Mapping[str, bytes], layout: Layout
) -> tuple[tuple[RunRecord, ...], tuple[Problem, ...]]:
    """Return a tree's run manifests, oldest first, and the problems of damaged manifests."""
    manifests, problems = read_manifests(files, layout)
    records = []
    for manifest in manifests:
        path = layout.manifest(manifest.run)
        if path not in files:
            continue
        record = json.loads(files[path])
        now = None
        with suppress(ValueError):
            now = parse_time(str(record.get("now")))
        judgements = {
            id_: [
                Judgement(
                    **{key: str(entry.get(key) or "") for key in _TEXTS},
                    scores=_mapping(entry.get("scores")),
                    run=manifest.run,
                    rank=float(entry.get("rank") or 0.0),
                    signs=tuple(map(str, entry.get("signs") or ())),
                )
                for entry in _mappings(entries)
            ]
            for id_, entries in _mapping(record.get("judgements")).items()
        }
        counts = _mapping(record.get("counts"))
        records.append(
            RunRecord(
                run=manifest.run, now=now, record=record, judgements=judgements, counts=counts
            )
        )
    return tuple(records), problems


def latest(records: Sequence[RunRecord]) -> RunRecord | None:
    """Return the newest run, or the newest import if there is no run."""
    runs = [r for r in records if r.mode != IMPORT]
    return next(reversed(runs or records), None)


def read_judgements(records: Iterable[RunRecord]) -> dict[str, Judgement]:
    """Return each memory's newest judgement. Within one run, the first judgement counts.

    The disposition of a duplicate is that of its creation and never changes later.
    """
    found: dict[str, Judgement] = {}
    for run in records:
        for id_, judged in run.judgements.items():
            if not judged:
                continue
            new, old = judged[0], found.get(id_)
            if old is not None:
                first = old if old.disposition == "probable_duplicate" else new
                new = replace(
                    new,
                    disposition=first.disposition,
                    reason=first.reason,
                    scores=new.scores or old.scores,
                )
            found[id_] = new
    return found


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, with the id, type, home, status and text of its claim in the export."""

    memory: Memory
    id: str
    type: str
    home: str
    status: str
    text: str


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The exported claims, ordered by id, with the relations between them.

    `omitted` counts the omitted memories by reason. `older` and `newer` map claim ids to superseded
    and superseding ones, and `against` to contradicting ones. `cluster` maps a claim id to the
    stable id of its contradiction.
    """

    all: tuple[Claim, ...]
    omitted: Mapping[str, int]
    older: Mapping[str, tuple[str, ...]]
    newer: Mapping[str, tuple[str, ...]]
    against: Mapping[str, tuple[str, ...]]
    cluster: Mapping[str, str]
    by_memory: Mapping[str, Claim]
    by_id: Mapping[str, Claim]


def claims_of(state: State, profile: Profile) -> Claims:
    """Return the claims visible to a profile, with the relations between them."""
    omitted: Counter[str] = Counter()
    claims: dict[str, Claim] = {}
    for memory in sorted(state.memories.values(), key=lambda m: (not m.text("claim_id"), m.id)):
        if reason := _why_omitted(memory, profile):
            omitted[reason] += 1
            continue
        type_, home = memory.type, memory.text("home")
        if not home or affinity(type_, home) == "impossible":
            type_, home = type_in_profile(type_, profile), route(type_, profile)
        text = memory.body or memory.text("title") or memory.text("description") or memory.slug
        own = f"cl-{memory.id.removeprefix('mem-')}"  # stays when the claim is reworded
        id_ = memory.text("claim_id") or own
        if id_ in claims:
            id_ = own
        status = status_of(memory)
        claims[id_] = Claim(memory=memory, id=id_, type=type_, home=home, status=status, text=text)
    by_memory = {claim.memory.id: claim for claim in claims.values()}
    pairs, edges = _relations(by_memory)
    against = _by_first(edges)
    return Claims(
        all=tuple(claims[id_] for id_ in sorted(claims)),
        omitted=dict(sorted(omitted.items())),
        older=_by_first(pairs),
        newer=_by_first((old, new) for new, old in pairs),
        against=against,
        cluster=_clusters(against),
        by_memory=by_memory,
        by_id=claims,
    )


def _why_omitted(memory: Memory, profile: Profile) -> str:
    if memory.type not in CLAIM_TYPES:
        return memory.type
    if memory.status == "forgotten":
        return "forgotten"
    home = memory.text("home")
    return "personal" if home and not is_permitted(home, profile) else ""


def _relations(known: Mapping[str, Claim]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return pairs of claim ids: (newer, older) of supersessions, and both ways of contradictions.

    Reverted supersessions, whose target is active again, are omitted.
    """
    pairs: set[tuple[str, str]] = set()
    edges: set[tuple[str, str]] = set()
    for id_, claim in known.items():
        memory = claim.memory
        pairs |= {(id_, other) for other in memory.texts("supersedes")}
        pairs |= {(other, id_) for other in memory.texts("superseded_by")}
        for link in memory.fields.get("links", ()):
            if link.type == "contradicts" and link.target in known and link.target != id_:
                edges |= {(id_, link.target), (link.target, id_)}
    superseded = {
        (known[new].id, known[old].id)
        for new, old in pairs
        if new != old and new in known and old in known and known[old].status == "superseded"
    }
    return superseded, {(known[a].id, known[b].id) for a, b in edges}


def _by_first(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for first, second in sorted(pairs):
        found[first] = (*found.get(first, ()), second)
    return found


def _clusters(against: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Assign one id to each set of claims that contradict each other, directly or indirectly."""
    found: dict[str, str] = {}
    for start in sorted(against):
        if start in found:
            continue
        members, unvisited = {start}, [start]
        while unvisited:
            neighbours = set(against[unvisited.pop()]) - members
            members |= neighbours
            unvisited += sorted(neighbours)
        found.update(dict.fromkeys(members, contradiction_id(members)))
    return found


class Spelling(msgspec.Struct, frozen=True, kw_only=True):
    """What all records share: profile, time zone, source names, file lengths and judgements."""

    profile: Profile
    zone: ZoneInfo
    names: Mapping[str, str]
    lengths: Mapping[str, int]
    judged: Mapping[str, Judgement]
    made: Mapping[str, datetime | None] = msgspec.field(default_factory=dict)
    """The time of each run."""

    def stamps(self, moment: datetime | None, name: str) -> dict[str, str | None]:
        """Return a time in the local zone and in UTC, with the name of the zone."""
        return {
            name: moment.astimezone(self.zone).isoformat() if moment else None,
            f"{name}_utc": format_time(moment) if moment else None,
            "timezone": self.zone.key,
        }


def updated(memory: Memory) -> datetime | None:
    """Return when a memory's meaning last changed or the memory was superseded."""
    stamp = memory.fields.get("generated")
    moments = (stamp.at if stamp else None, memory.time("superseded_at"))
    return max((m for m in moments if m is not None), default=memory.time("created"))


def claim_record(claim: Claim, claims: Claims, how: Spelling) -> dict[str, object]:
    """Return the record of one claim, with keys in memory-purifier's order."""
    memory, judged = claim.memory, how.judged.get(claim.memory.id, Judgement())
    scores = Scores(**judged.scores) if judged.scores else None
    if scores is None and memory.text("origin") in ("purifier", "promotion"):
        scores = scores_of(memory, judged.rank, how.made.get(judged.run))
    length = how.lengths.get(memory.path, 1)
    provenance = [
        {
            "source": how.names.get(source.resource, source.resource),
            "lineSpan": list(source.lines) if source.lines[0] else None,
            "type": source.kind,
            "capturedAt": format_time(parse_time(source.captured)) if source.captured else None,
        }
        for source in memory.sources
    ] or [{"source": memory.path, "lineSpan": [1, length], "type": "direct", "capturedAt": None}]
    twin = claims.by_memory.get(memory.text("duplicate_of"))
    word, target = "new_claim", None
    if "probable_duplicate" in (claim.status, judged.disposition):
        word, target = "probable_duplicate", twin.id if twin else None
    elif judged.disposition in ("reuse_existing", "reworded"):
        word, target = "reuse_existing", claim.id
    subject = normal_subject(memory.text("subject"))
    signature = f"{subject}|{normal_predicate(memory.text('predicate'))}|{claim.home}"
    fresh = judged.freshness or (scores.freshness_posture if scores else "")
    sure = judged.confidence or (scores.confidence_posture if scores else "")
    record: dict[str, object] = {
        "id": claim.id,
        "sourceClusterId": judged.cluster or f"clust-{memory.id.removeprefix('mem-')}",
        "type": claim.type,
        "status": claim.status,
        "text": claim.text,
        "subject": memory.text("subject"),
        "predicate": memory.text("predicate"),
        "object": memory.text("object") or None,
        "primaryHome": claim.home,
        "secondaryTags": list(memory.texts("tags")),
        "profileScope": how.profile,
        "scores": asdict(scores) if scores else {},
        "provenance": provenance,
        "crossSurfaceSupport": sorted({str(entry["source"]) for entry in provenance}),
        "contradictions": _competing(claim, claims, judged),
        "contradictionClusterId": claims.cluster.get(claim.id),
        "supersedes": list(claims.older.get(claim.id, ())),
        "supersededBy": list(claims.newer.get(claim.id, ())),
        "freshnessPosture": fresh or None,
        "confidencePosture": sure or None,
        "rationale": judged.rationale or f"type_{memory.type}",
        "routeRationale": judged.route or affinity(claim.type, claim.home),
        "duplicateDisposition": word,
        "duplicateTargetClaimId": target,
        "duplicateReason": judged.reason or None,
        "normalizationSignature": signature,
        **route_of(claim),
        "updatedInRunId": judged.run or None,
        **how.stamps(updated(memory), "updatedAt"),
    }
    if retired := _retirements(memory, how):
        record["retirementReasons"] = retired
    return record


def _competing(claim: Claim, claims: Claims, judged: Judgement) -> list[dict[str, object]]:
    """Return the claims that contradict a claim. The relation follows from their status."""
    return [
        {
            "competingClaimId": other.id,
            "competingText": other.text,
            "relation": other.status if other.status in ("superseded", "stale") else "contested",
            "flaggedInRunId": judged.run or None,
        }
        for other in (claims.by_id[id_] for id_ in claims.against.get(claim.id, ()))
    ]


def route_of(claim: Claim) -> dict[str, object]:
    """Return a claim's three fields about its route."""
    state = affinity(claim.type, claim.home)
    return {
        "routeValidationState": state,
        "routeAffinityScore": AFFINITY_SCORE[state],
        "routeSuggestedHome": None if state == "strong" else HOME_OF_TYPE[claim.type],
    }


def _retirements(memory: Memory, how: Spelling) -> list[dict[str, object]]:
    found: dict[tuple[str, str], list[str]] = {}
    reasons: Sequence[Retired] = memory.fields.get("retired", ())
    for retired in reasons:
        word, _, path = retired.reason.partition(": ")
        word = "all_sources_removed" if word == "source_removed" else word
        names = found.setdefault((retired.run, word), [])
        if path and word == "all_sources_removed":
            names.append(how.names.get(path, path))
    return [
        {"runId": run, "reason": reason, "removed_sources": sorted(names)}
        for (run, reason), names in found.items()
    ]


def contradiction_records(claims: Claims, how: Spelling) -> list[dict[str, object]]:
    """Return two records per contradiction, one from the perspective of each claim."""
    return [
        {
            "contradictionClusterId": claims.cluster[claim.id],
            "claimId": claim.id,
            **competing,
            **how.stamps(updated(claim.memory), "recordedAt"),
        }
        for claim in claims.all
        for competing in _competing(claim, claims, how.judged.get(claim.memory.id, Judgement()))
    ]
