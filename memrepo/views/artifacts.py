"""Export a repository's claims in memory-purifier's file formats.

The bytes depend only on the tree. Lineage: memory-purifier, machine artifacts. The mapping is in
docs/migrating.md. Deliberate differences: a contradiction appears on both sides, with one stable
id. Records are sorted by id. Memories written by hand have their own file as provenance.

No judge gives scores any more. The six of Pass 1 follow from a statement's rank on the shelf. The
eight of Pass 2 follow from a memory's evidence:

| score | formula |
|---|---|
| semantic_cluster_confidence | 1.0, or 0.8 for evidence in other words |
| canonical_clarity | 0.9 with a key, 0.7 with a subject, else 0.6; -0.2 unresolved |
| provenance_strength | 0.4 + 0.2 per further file + 0.1 per further day + 0.1 if dated |
| contradiction_pressure | 0.6 contested, 0.3 superseding, else 0 |
| freshness | halves every 180 days from the newest evidence; 0.5 for undated evidence |
| confidence | 0.35 + 0.15 strength + 0.1 (provenance - 0.4) - 0.2 unresolved - 0.3 pressure |
| route_fitness | 1.0: each type has its own page |
| supersession_confidence | 0.95 superseding, else 0 |
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import asdict, replace

from memrepo import __version__
from memrepo.core.errors import Problem
from memrepo.core.judge import Profile, Scores, Usage, VerdictWord
from memrepo.core.layout import Layout
from memrepo.core.manifest import IMPORT, Judged, Manifest, read_manifests
from memrepo.core.memory import CLAIM_TYPES, HOMES, Memory
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_time
from memrepo.formats import purifier
from memrepo.formats.purifier import candidate_id, contradiction_id, status_of
from memrepo.formats.records import spell_lines
from memrepo.policies.claims import is_permitted
from memrepo.policies.matching import normal_predicate, normal_subject
from memrepo.read.kinds import file_kind
from memrepo.read.shelf import FAIR, POOR, RankedUnit, rank_file
from memrepo.read.sources import SourceRules, default_type, kind_of
from memrepo.read.thoughts import Unit, scan

_VERDICTS = {
    "reject": "rejected",
    "defer": "deferred",
    "compress": "compressed",
    "merge": "merged",
    "promote": "promoted",
}
_PASSES = (("cand-", "promotion"), ("op-", "purifier"))


def entities(claims: Iterable[Claim]) -> dict[str, object]:
    """Return all subjects with the ids of their claims, including inactive claims.

    Deliberate difference: `aliases` contains other spellings of a subject (case, article, plural).
    memory-purifier leaves it empty.
    """
    ids: dict[str, list[str]] = defaultdict(list)
    for claim in claims:
        if subject := claim.memory.subject:
            ids[subject].append(claim.id)
    spellings: dict[str, set[str]] = defaultdict(set)
    for subject in ids:
        spellings[normal_subject(subject)].add(subject)
    return {
        subject: {
            "canonicalForm": subject,
            "aliases": sorted(spellings[normal_subject(subject)] - {subject}),
            "claimIds": sorted(ids[subject]),
        }
        for subject in sorted(ids)
    }


def routes(claims: Sequence[Claim]) -> dict[str, list[str]]:
    """Return the ids of active claims, grouped by home. Every home has a key."""
    return {
        home: [c.id for c in claims if c.home == home and c.status not in purifier.INACTIVE]
        for home in HOMES
    }


def manifest(export: Export, rules: SourceRules) -> Json:
    """Return the published manifest, with every field that memory-purifier defines.

    Runs record no duration, so start and finish have the same time. An import counts as a
    reconciliation. The build metadata of the version names memrepo as the writer.
    """
    run, touched = export.run, _touched(export)
    inventory = _inventory(export.state, rules)
    at = export.stamps(run.when if run else None, "finishedAt")
    package = f"{purifier.PACKAGE_VERSION}+memrepo.{run.package if run else __version__}"
    mode = run.mode if run else ""
    status = "skipped" if run is None else "partial_failure" if run.receipt.partial else "ok"
    name_of = export.state.layout.source_name
    consumed = {name_of(c.resource) for c in (run.consumed if run else ())}
    return {
        "version": package,
        "packageVersion": package,
        "logicVersion": purifier.LOGIC_VERSION,
        "manifestSchemaVersion": purifier.MANIFEST_SCHEMA,
        "artifactSchemaVersion": purifier.ARTIFACT_SCHEMA,
        "runtimeStateVersion": purifier.state_version(),
        "lastSuccessfulLogicVersion": purifier.LOGIC_VERSION,
        "upgradeRequired": False,
        "upgradeReason": None,
        "upgradeBlockedAt": None,
        "requiresForcedReconciliation": False,
        "runId": run.run if run else None,
        "mode": "reconciliation" if mode == IMPORT else mode or "incremental",
        "status": status,
        "startedAt": at["finishedAt"],
        **at,
        "profileScope": export.profile,
        "sourceInventory": [
            {"path": path, "content_hash": hash_} for path, hash_ in sorted(inventory.items())
        ],
        "processedSegments": sorted(consumed & set(inventory)),
        "promotionStats": {name: _count(export, key) for name, key in _VERDICTS.items()},
        "claimStats": dict(sorted(Counter(c.status for c in touched).items())),
        "homeStats": dict(sorted(Counter(c.home for c in touched).items())),
        "warnings": list(run.warnings) if run else [],
        "partialFailures": _failures(run) if run else [],
        "routeValidationWarnings": [],
        "lastSuccessfulCursor": purifier.cursor_of(inventory) if run else None,
        "downstreamWikiIngestSuggested": status == "ok",
        "publishCommitted": run is not None,
        "publishedAt": at["finishedAt"],
        "publishedArtifactSet": list(purifier.ARTIFACTS[:-1]) if run else [],
        "publishedViewSet": _views(export.state),
        "downstreamWikiSignalEmitted": False,
        "commitRunId": run.run if run else None,
    }


def _failures(run: Manifest) -> list[Json]:
    """Group a run's quarantined answers by pass, adding a failure for an incomplete run."""
    errors: dict[str, list[str]] = {}
    for entry in run.quarantined:
        id_ = str(entry.get("id", ""))
        name = next((name for start, name in _PASSES if id_.startswith(start)), "assemble")
        errors.setdefault(name, []).append(f"{id_}: {entry.get('reason', '')}")
    if run.receipt.partial:
        errors.setdefault("run", []).append(run.receipt.partial)
    return [
        {"pass": name, "attempts": None, "errors": found, "failed_record_path": None}
        for name, found in sorted(errors.items())
    ]


def summary(export: Export, page: Json) -> Json:
    """Return the summary of the newest run and its manifest page, with the time of the export."""
    run, touched = export.run, _touched(export)
    used = run.receipt.usage if run else Usage()
    backend, _, model = (run.judge if run else "").partition("/")
    return {
        "ok": page["status"] != "partial_failure",
        "status": page["status"],
        "mode": page["mode"],
        "profile": export.profile,
        "runId": page["runId"],
        "startedAt": page["startedAt"],
        "finishedAt": page["finishedAt"],
        "durationSeconds": None,
        "claimsNew": _count(export, "memories_new"),
        "claimsTotal": len(export.claims),
        "contradictionCount": sum(bool(c.against) for c in touched),
        "supersessionCount": sum(bool(c.older) for c in touched),
        "warnings": page["warnings"],
        "partialFailures": page["partialFailures"],
        "warningCount": len(page["warnings"]),
        "partialFailureCount": len(page["partialFailures"]),
        "viewsRendered": _views(export.state),
        "downstreamWikiIngestSuggested": page["downstreamWikiIngestSuggested"],
        "tokenUsage": {
            "prompt_tokens": used.prompt,
            "completion_tokens": used.completion,
            "total_tokens": used.total,
            "source": used.source,
        },
        "backend": backend or None,
        "backendModel": model or None,
        "tokenUsageSource": used.source,
        "manifestPath": purifier.MANIFEST,
        "summaryPath": purifier.SUMMARY,
        **export.stamps(export.now, "timestamp"),
    }


def _touched(export: Export) -> list[Claim]:
    """Return the claims that the newest run judged."""
    judged = export.run.judgements if export.run else {}
    return [c for c in export.claims if c.memory.id in judged]


def _count(export: Export, key: str) -> int:
    """Return a count of the newest run."""
    return int(export.run.counts.get(key, 0)) if export.run else 0


def _views(state: State) -> list[str]:
    area = state.layout.area("views")
    return sorted(path.removeprefix(area) for path in state.files if path.startswith(area))


def candidate_records(
    export: Export, rules: SourceRules
) -> dict[VerdictWord, list[dict[str, object]]]:
    """Return the statements of the sources that no memory states, by derived verdict."""
    state, area = export.state, export.state.layout.area("sources")
    known = {hash_ for m in state.memories.values() for s in m.sources for hash_ in m.wordings(s)}
    found: dict[VerdictWord, list[dict[str, object]]] = {"defer": [], "reject": []}
    for path in sorted(p for p in state.files if p.startswith(area)) if export.run else ():
        name = state.layout.source_name(path)
        if kind_of(name, rules) in (None, "text"):
            continue
        data = state.files[path]
        units = scan(name, data).units
        kind = file_kind(name, data.decode("utf-8", "replace"), units)
        ranked = rank_file(kind, units)
        for unit in units:
            if unit.text_hash not in known:
                one = ranked[unit.hash]
                verdict = verdict_of(one.rank)
                found[verdict].append(_record(unit, one, verdict, export))
    return found


def _record(
    unit: Unit, ranked: RankedUnit, verdict: VerdictWord, export: Export
) -> dict[str, object]:
    run, (scores, strength) = export.run, promotion_scores(ranked.rank, verdict)
    captured = unit.captured[:10]
    return {
        "candidate_id": candidate_id(source=unit.resource, line=unit.lines[0], text=unit.text),
        "run_id": run.run if run else None,
        "text": unit.text,
        "type_hint": default_type(unit.resource),
        "source_refs": [
            {
                "source": unit.resource,
                "line_span": list(unit.lines),
                "captured_at": format_time(parse_time(captured)) if captured else None,
            }
        ],
        "verdict": verdict,
        "strength": strength,
        "scores": scores,
        "rationale": ",".join(ranked.reasons),
        "merge_candidate_ids": [],
        "compress_target": None,
        **export.stamps(run.when if run else None, "timestamp"),
    }


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The exported files by name, the counts of exported and omitted claims, and the problems."""

    files: Mapping[str, bytes]
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    problems: tuple[Problem, ...] = ()


def artifacts(export: Export, rules: SourceRules) -> Exported:
    """Return the eight files of memory-purifier. Equal exports and rules give equal bytes."""
    claims, aside = export.claims, candidate_records(export, rules)
    page, contradictions = manifest(export, rules), contradiction_records(export)
    files = {
        purifier.CLAIMS: spell_lines(claim_record(claim, export) for claim in claims),
        purifier.CONTRADICTIONS: spell_lines(contradictions),
        purifier.ENTITIES: _page(entities(claims)),
        purifier.ROUTES: _page(routes(claims)),
        purifier.MANIFEST: _page(page),
        purifier.SUMMARY: _page(summary(export, page)),
        purifier.DEFERRED: spell_lines(aside["defer"]),
        purifier.REJECTED: spell_lines(aside["reject"]),
    }
    counts = {
        "claims": len(claims),
        "contradictions": len(contradictions),
        "deferred": len(aside["defer"]),
        "rejected": len(aside["reject"]),
    }
    return Exported(
        files=files,
        counts=counts,
        left_out=dict(sorted(export.omitted.items())),
        problems=export.problems,
    )


def _inventory(state: State, rules: SourceRules) -> dict[str, str]:
    """Return the content hash of each source, except daily logs, which memory-purifier ignores."""
    area, name_of = state.layout.area("sources"), state.layout.source_name
    return {
        name_of(path): purifier.content_hash(state.files[path])
        for path in sorted(p for p in state.files if p.startswith(area))
        if kind_of(name_of(path), rules) in ("claims", "page")
    }


def _page(record: Mapping[str, object]) -> bytes:
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


# -- the records of claims and contradictions -----------------------------------------------------

Json: TypeAlias = dict[str, Any]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, with the id, type, home, status and text of its claim, and its newest judgement.

    `older`, `newer` and `against` are the ids of the claims that it supersedes, that supersede it
    and that contradict it. `cluster` is the stable id of its contradiction.
    """

    memory: Memory
    id: str
    type: str
    home: str
    status: str
    text: str
    judged: Judged
    run: str | None
    """The run that judged it."""
    made: datetime | None
    """The time of that run."""
    older: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    cluster: str | None = None


class Export:
    """The export of a state's claims, ordered by id. `zone` is the zone of times.

    `problems` are those of damaged manifests, `omitted` counts the omitted memories by reason, and
    `run` is the newest run, or the newest import if there is no run.
    """

    def __init__(self, state: State, *, profile: Profile, zone: ZoneInfo, now: datetime) -> None:
        self.state, self.profile, self.zone, self.now = state, profile, zone, now
        runs, self.problems = read_manifests(state.files, state.layout)
        self.run = next(reversed([r for r in runs if r.mode != IMPORT] or runs), None)
        self.omitted: Counter[str] = Counter()
        self._judged: dict[str, tuple[Judged, str, datetime | None]] = {}
        for run in runs:
            for id_, judged in run.judgements.items():
                if judged:
                    self._judge(id_, judged[0], run.run, run.when)
        claims = {claim.id: claim for claim in _related([*self._claims()])}
        self.claims = tuple(claims[id_] for id_ in sorted(claims))
        self.by_id: Mapping[str, Claim] = claims
        self.id_of = {claim.memory.id: claim.id for claim in self.claims}

    def _judge(self, id_: str, judged: Judged, run: str, when: datetime | None) -> None:
        """Record a memory's newest judgement. A duplicate was one when it was created."""
        first = self._judged.get(id_, (judged,))[0]
        if first.disposition == "probable_duplicate":
            judged = replace(judged, disposition=first.disposition, reason=first.reason)
        self._judged[id_] = (judged, run, when)

    def _claims(self) -> Iterable[Claim]:
        """Yield the claims that the profile may see, without their relations."""
        known = set[str]()
        state = self.state.memories.values()
        for memory in sorted(state, key=lambda m: (not m.claim_id, m.id)):
            home = memory.home
            if memory.type not in CLAIM_TYPES or memory.status == "forgotten":
                self.omitted["forgotten" if memory.type in CLAIM_TYPES else memory.type] += 1
                continue
            if not is_permitted(home, self.profile):
                self.omitted["personal"] += 1
                continue
            own = f"cl-{memory.id.removeprefix('mem-')}"  # stays when the claim is reworded
            id_ = memory.claim_id or own
            id_ = own if id_ in known else id_
            known.add(id_)
            texts = (memory.body, memory.title, memory.description)
            judged, run, made = self._judged.get(memory.id, (Judged(), None, None))
            yield Claim(
                memory=memory,
                id=id_,
                type=memory.type,
                home=home,
                status=status_of(memory),
                text=next(filter(None, texts), memory.slug),
                judged=judged,
                run=run,
                made=made,
            )

    def stamps(self, moment: datetime | None, name: str) -> dict[str, str | None]:
        """Return a time in the local zone and in UTC, with the name of the zone."""
        return {
            name: moment.astimezone(self.zone).isoformat() if moment else None,
            f"{name}_utc": format_time(moment) if moment else None,
            "timezone": self.zone.key,
        }


def _related(claims: Sequence[Claim]) -> Iterable[Claim]:
    """Yield claims with their relations.

    Reverted supersessions, whose target is active again, are omitted. Claims that contradict each
    other, directly or indirectly, form one cluster.
    """
    known = {claim.memory.id: claim for claim in claims}
    pairs = set[tuple[str, str]]()
    older, newer, against = (defaultdict[str, set[str]](set) for _ in range(3))
    for id_, claim in known.items():
        pairs |= {(id_, other) for other in claim.memory.supersedes}
        pairs |= {(other, id_) for other in claim.memory.superseded_by}
        for link in claim.memory.links:
            if link.type == "contradicts" and link.target in known and link.target != id_:
                against[claim.id].add(known[link.target].id)
                against[known[link.target].id].add(claim.id)
    for new, old in pairs:
        if new != old and new in known and old in known and known[old].status == "superseded":
            older[known[new].id].add(known[old].id)
            newer[known[old].id].add(known[new].id)
    clusters: dict[str, str] = {}
    for start in sorted(against):
        members, unvisited = {start}, [start]
        while unvisited and start not in clusters:
            found = against[unvisited.pop()] - members
            members |= found
            unvisited += found
        for member in members:
            clusters.setdefault(member, contradiction_id(members))
    for claim in claims:
        yield replace(
            claim,
            older=tuple(sorted(older[claim.id])),
            newer=tuple(sorted(newer[claim.id])),
            against=tuple(sorted(against[claim.id])),
            cluster=clusters.get(claim.id),
        )


def updated(memory: Memory) -> datetime | None:
    """Return when a memory's meaning last changed or the memory was superseded."""
    stamp = memory.stamp
    moments = (stamp.at if stamp else None, memory.superseded_at)
    return max((m for m in moments if m is not None), default=memory.created)


def claim_record(claim: Claim, export: Export) -> dict[str, object]:
    """Return the record of one claim, with keys in memory-purifier's order."""
    memory, name_of = claim.memory, export.state.layout.source_name
    scores = scores_of(claim) if memory.origin in _JUDGED else None
    provenance = [
        {
            "source": name_of(source.resource),
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
    word, target = "new_claim", None
    if "probable_duplicate" in (claim.status, claim.judged.disposition):
        word, target = "probable_duplicate", export.id_of.get(memory.duplicate_of)
    elif claim.judged.disposition in ("reuse_existing", "reworded"):
        word, target = "reuse_existing", claim.id
    subject = normal_subject(memory.subject)
    signature = f"{subject}|{normal_predicate(memory.predicate)}|{claim.home}"
    record: dict[str, object] = {
        "id": claim.id,
        "sourceClusterId": f"clust-{memory.id.removeprefix('mem-')}",
        "type": claim.type,
        "status": claim.status,
        "text": claim.text,
        "subject": memory.subject,
        "predicate": memory.predicate,
        "object": memory.object or None,
        "primaryHome": claim.home,
        "secondaryTags": list(memory.tags),
        "profileScope": export.profile,
        "scores": asdict(scores) if scores else {},
        "provenance": provenance,
        "crossSurfaceSupport": sorted({str(entry["source"]) for entry in provenance}),
        "contradictions": _competing(claim, export),
        "contradictionClusterId": claim.cluster,
        "supersedes": list(claim.older),
        "supersededBy": list(claim.newer),
        "freshnessPosture": scores.freshness_posture if scores else None,
        "confidencePosture": scores.confidence_posture if scores else None,
        "rationale": f"type_{memory.type}",
        "routeRationale": ROUTED["routeValidationState"],
        "duplicateDisposition": word,
        "duplicateTargetClaimId": target,
        "duplicateReason": claim.judged.reason or None,
        "normalizationSignature": signature,
        **ROUTED,
        "updatedInRunId": claim.run,
        **export.stamps(updated(memory), "updatedAt"),
    }
    if retired := _retirements(memory, export.state.layout):
        record["retirementReasons"] = retired
    return record


def _competing(claim: Claim, export: Export) -> list[dict[str, object]]:
    """Return the claims that contradict a claim. The relation follows from their status."""
    return [
        {
            "competingClaimId": other.id,
            "competingText": other.text,
            "relation": other.status if other.status in ("superseded", "stale") else "contested",
            "flaggedInRunId": claim.run,
        }
        for other in (export.by_id[id_] for id_ in claim.against)
    ]


ROUTED: Mapping[str, object] = MappingProxyType(
    {"routeValidationState": "strong", "routeAffinityScore": 1.0, "routeSuggestedHome": None}
)
"""A claim's three fields about its route: each type has its own page."""


def _retirements(memory: Memory, layout: Layout) -> list[dict[str, object]]:
    found: dict[tuple[str, str], list[str]] = {}
    reasons = memory.retired
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
    return [
        {
            "contradictionClusterId": claim.cluster,
            "claimId": claim.id,
            **competing,
            **export.stamps(updated(claim.memory), "recordedAt"),
        }
        for claim in export.claims
        for competing in _competing(claim, export)
    ]


# -- scores ---------------------------------------------------------------------------------------

HALF_LIFE_DAYS = 180.0
UNDATED_FRESHNESS = 0.5
_JUDGED = frozenset(("purifier", "promotion", "import"))
"""The origins of memories that have scores. Those written by hand have none."""


_DIMENSIONS = (
    "durability",
    "future_judgment_value",
    "action_value",
    "identity_relationship_weight",
    "cross_time_persistence",
)


def promotion_scores(rank: float, verdict: VerdictWord) -> tuple[dict[str, float], float]:
    """Return the six scores of a statement, and the strength that they come to.

    The strength is the sum of five equal scores minus the noise risk. It agrees with the verdict:
    at least 2.0 for promoted statements, from 0.5 to 1.5 for deferred ones, lower for rejected
    ones.
    """
    if verdict == "promote":
        strength, noise = min(2.1 + 0.3 * max(rank - FAIR, 0.0), 4.4), 0.1
    elif verdict == "reject":
        strength, noise = 0.2, 0.8
    else:
        strength, noise = min(max(0.7 + 0.2 * (rank - POOR), 0.6), 1.4), 0.35
    score = round((strength + noise) / 5, 2)
    scores = {**dict.fromkeys(_DIMENSIONS, score), "noise_risk": noise}
    return scores, round(5 * score - noise, 4)


def verdict_of(rank: float) -> VerdictWord:
    """Return the verdict on a statement that did not become a memory."""
    return "reject" if rank <= POOR else "defer"


def scores_of(claim: Claim) -> Scores:
    """Return the eight scores of a claim, at the time of the run that judged it."""
    memory, now = claim.memory, claim.made or claim.memory.created
    captured = {s.captured[:10] for s in memory.sources if s.captured}
    files = {s.resource for s in memory.sources}
    dated = 0.1 if captured else 0.0
    provenance = 0.4 + 0.2 * max(len(files) - 1, 0) + 0.1 * max(len(captured) - 1, 0) + dated
    doubt = 0.2 if memory.standing == "unresolved" else 0.0
    supersedes = bool(memory.supersedes)
    pressure = 0.6 if memory.standing == "contested" else 0.3 if supersedes else 0.0
    _, strength = promotion_scores(claim.judged.rank, "promote")
    clarity = 0.9 if memory.predicate else 0.7 if memory.subject else 0.6
    merged = any(s.kind == "merged" for s in memory.sources)
    return Scores(
        semantic_cluster_confidence=0.8 if merged else 1.0,
        canonical_clarity=_bounded(clarity - doubt),
        provenance_strength=_bounded(provenance),
        contradiction_pressure=pressure,
        freshness=_freshness(max(captured, default=""), now),
        confidence=_bounded(
            0.35 + 0.15 * strength + 0.1 * (_bounded(provenance) - 0.4) - doubt - 0.3 * pressure
        ),
        route_fitness=1.0,
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
