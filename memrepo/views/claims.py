"""Read runs and judgements from manifests, and build memory-purifier's claims from memories.

Lineage: memory-purifier, artifacts. Deliberate differences: a contradiction appears on both sides,
with one stable id. Records are sorted by id, not by time. Memories written by hand have their own
file as provenance.

No judge gives scores any more. The six of Pass 1 follow from a statement's rank on the shelf, its
type, and whether it was repeated. The eight of Pass 2 follow from a memory's evidence:

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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import asdict, replace

from memrepo import __version__
from memrepo.core.judge import Profile, Scores, VerdictWord
from memrepo.core.layout import Layout
from memrepo.core.manifest import Consumed, read_manifests, unreadable
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, Memory, Retired
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_time
from memrepo.formats.purifier import contradiction_id, status_of
from memrepo.policies.claims import AFFINITY_SCORE, affinity, is_permitted, route, type_in_profile
from memrepo.policies.matching import normal_predicate, normal_subject
from memrepo.read.shelf import FAIR, POOR

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


class RunManifest(msgspec.Struct, frozen=True, kw_only=True, rename={"package": "package_version"}):
    """A committed manifest with what it states about memories. An import's `mode` is `import`."""

    run: str
    mode: str = ""
    judge: str = ""
    now: datetime | None = None
    package: str = __version__
    partial: str = ""
    consumed: tuple[Consumed, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    judgements: Mapping[str, tuple[Judgement, ...]] = msgspec.field(default_factory=dict)
    tokens: Mapping[str, Any] = msgspec.field(default_factory=dict)
    warnings: tuple[Any, ...] = ()
    quarantined: tuple[Mapping[str, Any], ...] = ()


def read_runs(
    files: Mapping[str, bytes], layout: Layout
) -> tuple[tuple[RunManifest, ...], tuple[Problem, ...]]:
    """Return a tree's run manifests, oldest first, and the problems of damaged manifests."""
    manifests, problems = read_manifests(files, layout)
    found = []
    for path in (layout.manifest(manifest.run) for manifest in manifests):
        try:
            found += [msgspec.json.decode(files[path], type=RunManifest)] if path in files else []
        except msgspec.MsgspecError as error:
            problems = (*problems, unreadable(path, error))
    return tuple(found), problems


def latest(records: Sequence[RunManifest]) -> RunManifest | None:
    """Return the newest run, or the newest import if there is no run."""
    runs = [r for r in records if r.mode != IMPORT]
    return next(reversed(runs or records), None)


def read_judgements(records: Iterable[RunManifest]) -> dict[str, Judgement]:
    """Return each memory's newest judgement. Within one run, the first judgement counts.

    The disposition of a duplicate is that of its creation and never changes later.
    """
    found: dict[str, Judgement] = {}
    for run in records:
        for id_, judged in run.judgements.items():
            if not judged:
                continue
            new, old = replace(judged[0], run=run.run), found.get(id_)
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


class Export:
    """The export of a state's claims, with the runs that made them. `zone` is the zone of times.

    `problems` are those of damaged manifests. `judged` has the newest judgement of each memory,
    and `made` the time of each run.
    """

    def __init__(self, state: State, *, profile: Profile, zone: ZoneInfo, now: datetime) -> None:
        self.state, self.profile, self.zone, self.now = state, profile, zone, now
        self.claims = claims_of(state, profile)
        self.runs, self.problems = read_runs(state.files, state.layout)
        self.run = latest(self.runs)
        self.judged = read_judgements(self.runs)
        self.made = {run.run: run.now for run in self.runs}

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


def claim_record(claim: Claim, export: Export) -> dict[str, object]:
    """Return the record of one claim, with keys in memory-purifier's order."""
    claims, layout, memory = export.claims, export.state.layout, claim.memory
    judged = export.judged.get(memory.id, Judgement())
    scores = Scores(**judged.scores) if judged.scores else None
    if scores is None and memory.text("origin") in ("purifier", "promotion"):
        scores = scores_of(memory, judged.rank, export.made.get(judged.run))
    provenance = [
        {
            "source": layout.source_name(source.resource),
            "lineSpan": list(source.lines) if source.lines[0] else None,
            "type": source.kind,
            "capturedAt": format_time(parse_time(source.captured)) if source.captured else None,
        }
        for source in memory.sources
    ]
    if not provenance:
        length = max(1, export.state.files[memory.path].count(b"\n"))
        provenance = [
            {"source": memory.path, "lineSpan": [1, length], "type": "direct", "capturedAt": None}
        ]
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
        "profileScope": export.profile,
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
        **export.stamps(updated(memory), "updatedAt"),
    }
    if retired := _retirements(memory, layout):
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


def _retirements(memory: Memory, layout: Layout) -> list[dict[str, object]]:
    found: dict[tuple[str, str], list[str]] = {}
    reasons: Sequence[Retired] = memory.fields.get("retired", ())
    for retired in reasons:
        word, _, path = retired.reason.partition(": ")
        word = "all_sources_removed" if word == "source_removed" else word
        names = found.setdefault((retired.run, word), [])
        if path and word == "all_sources_removed":
            names.append(layout.source_name(path))
    return [
        {"runId": run, "reason": reason, "removed_sources": sorted(names)}
        for (run, reason), names in found.items()
    ]


def contradiction_records(export: Export) -> list[dict[str, object]]:
    """Return two records per contradiction, one from the perspective of each claim."""
    claims = export.claims
    return [
        {
            "contradictionClusterId": claims.cluster[claim.id],
            "claimId": claim.id,
            **competing,
            **export.stamps(updated(claim.memory), "recordedAt"),
        }
        for claim in claims.all
        for competing in _competing(claim, claims, export.judged.get(claim.memory.id, Judgement()))
    ]


# -- scores ---------------------------------------------------------------------------------------

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
