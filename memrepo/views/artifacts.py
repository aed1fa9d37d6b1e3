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
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.core.errors import Problem
from memrepo.core.judge import Profile, Usage, VerdictWord
from memrepo.core.manifest import IMPORT, Judged, Manifest, read_manifests
from memrepo.core.memory import CLAIM_TYPES, HOMES, Memory
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_time
from memrepo.formats import plan
from memrepo.formats.plan import candidate_id, contradiction_id, status_of
from memrepo.formats.readers import spell_lines
from memrepo.policies.claims import is_permitted, normal_predicate, normal_subject
from memrepo.read.kinds import file_kind
from memrepo.read.shelf import FAIR, POOR, rank_file
from memrepo.read.sources import SourceRules, default_type, kind_of
from memrepo.read.thoughts import scan

Json: TypeAlias = dict[str, Any]
Related: TypeAlias = Mapping[str, set[str]]


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The exported files by name, the counts of exported and omitted claims, and the problems."""

    files: Mapping[str, bytes]
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    problems: tuple[Problem, ...] = ()


def artifacts(export: Export, rules: SourceRules) -> Exported:
    """Return the eight files of memory-purifier. Equal exports and rules give equal bytes."""
    aside, page = candidate_records(export, rules), manifest(export, rules)
    lines = {
        plan.CLAIMS: [claim_record(claim, export) for claim in export.claims],
        plan.CONTRADICTIONS: contradiction_records(export),
        plan.DEFERRED: aside["defer"],
        plan.REJECTED: aside["reject"],
    }
    pages = {
        plan.ENTITIES: entities(export),
        plan.ROUTES: routes(export),
        plan.MANIFEST: page,
        plan.SUMMARY: summary(export, page),
    }
    names = ("claims", "contradictions", "deferred", "rejected")
    return Exported(
        files={
            **{name: spell_lines(records) for name, records in lines.items()},
            **{name: _page(record) for name, record in pages.items()},
        },
        counts=dict(zip(names, map(len, lines.values()), strict=True)),
        left_out=dict(sorted(export.omitted.items())),
        problems=export.problems,
    )


def _page(record: Json) -> bytes:
    return json.dumps(record, ensure_ascii=False, indent=2).encode() + b"\n"


class Claim(NamedTuple):
    """A memory as a claim, with its newest judgement and the run that made it."""

    memory: Memory
    id: str
    judged: Judged
    run: Manifest | None

    @property
    def status(self) -> str:
        """Return memory-purifier's status of the claim."""
        return status_of(self.memory)

    @property
    def text(self) -> str:
        """Return the text of the claim."""
        memory = self.memory
        return memory.body or memory.title or memory.description or memory.slug


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
        self.id_of = self._ids()
        judged: dict[str, tuple[Judged, Manifest]] = {}
        for run in runs:
            for id_, decided in run.judgements.items():
                if not decided:
                    continue
                one = decided[0]
                first = judged[id_][0] if id_ in judged else one
                if first.disposition == "probable_duplicate":  # it was one when it was created
                    one = replace(one, disposition=first.disposition, reason=first.reason)
                judged[id_] = one, run
        self.older, self.newer, self.against = self._relations()
        self.clusters = _clusters(self.against)
        unjudged = Judged(), None
        found = (
            Claim(state.memories[memory_id], id_, *judged.get(memory_id, unjudged))
            for memory_id, id_ in self.id_of.items()
        )
        self.claims = sorted(found, key=lambda claim: claim.id)
        self.by_id: Mapping[str, Claim] = {claim.id: claim for claim in self.claims}

    def _ids(self) -> dict[str, str]:
        """Return {memory id: claim id} of the claims that the profile may see."""
        found, taken = dict[str, str](), set[str]()
        state = self.state.memories.values()
        for memory in sorted(state, key=lambda m: (not m.claim_id, m.id)):
            if memory.type not in CLAIM_TYPES or memory.status == "forgotten":
                self.omitted["forgotten" if memory.type in CLAIM_TYPES else memory.type] += 1
            elif not is_permitted(memory.home, self.profile):
                self.omitted["personal"] += 1
            else:  # an own id stays when the claim is reworded
                own = f"cl-{memory.id.removeprefix('mem-')}"
                id_ = memory.claim_id or own
                found[memory.id] = own if id_ in taken else id_
                taken.add(found[memory.id])
        return found

    def _relations(self) -> tuple[Related, Related, Related]:
        """Return the superseded, the superseding and the contradicting claims of each claim.

        Reverted supersessions, whose target is active again, are omitted.
        """
        older, newer, against = (defaultdict[str, set[str]](set) for _ in range(3))
        ids, memories = self.id_of, self.state.memories
        for id_ in ids:
            memory = memories[id_]
            pairs = [(id_, old) for old in memory.supersedes]
            pairs += [(new, id_) for new in memory.superseded_by]
            for new, old in pairs:
                known = new != old and {new, old} <= ids.keys()
                if known and memories[old].status == "superseded":
                    older[ids[new]].add(ids[old])
                    newer[ids[old]].add(ids[new])
            for link in memory.links:
                if link.type == "contradicts" and link.target in ids and link.target != id_:
                    against[ids[id_]].add(ids[link.target])
                    against[ids[link.target]].add(ids[id_])
        return older, newer, against

    def stamps(self, moment: datetime | None, name: str) -> dict[str, str | None]:
        """Return a time in the local zone and in UTC, with the name of the zone."""
        return {
            name: moment.astimezone(self.zone).isoformat() if moment else None,
            f"{name}_utc": format_time(moment) if moment else None,
            "timezone": self.zone.key,
        }

    def count(self, key: str) -> int:
        """Return a count of the newest run."""
        return int(self.run.counts.get(key, 0)) if self.run else 0

    @property
    def touched(self) -> list[Claim]:
        """Return the claims that the newest run judged."""
        judged = self.run.judgements if self.run else {}
        return [claim for claim in self.claims if claim.memory.id in judged]

    @property
    def views(self) -> list[str]:
        """Return the names of the rendered views."""
        area = self.state.layout.area("views")
        return sorted(p.removeprefix(area) for p in self.state.files if p.startswith(area))


def _clusters(against: Related) -> dict[str, str]:
    """Return the cluster of each claim: those that contradict each other, or by way of others."""
    clusters: dict[str, str] = {}
    for start in sorted(against):
        members, unvisited = {start}, [start]
        while unvisited and start not in clusters:
            found = against[unvisited.pop()] - members
            members |= found
            unvisited += found
        for member in members:
            clusters.setdefault(member, contradiction_id(members))
    return clusters


_VERDICTS = {
    "reject": "rejected",
    "defer": "deferred",
    "compress": "compressed",
    "merge": "merged",
    "promote": "promoted",
}
_PASSES = (("cand-", "promotion"), ("op-", "purifier"))


def entities(export: Export) -> Json:
    """Return all subjects with the ids of their claims, including inactive claims.

    Deliberate difference: `aliases` contains other spellings of a subject (case, article, plural).
    memory-purifier leaves it empty.
    """
    ids, spellings = (defaultdict[str, set[str]](set) for _ in range(2))
    for claim in export.claims:
        if subject := claim.memory.subject:
            ids[subject].add(claim.id)
            spellings[normal_subject(subject)].add(subject)
    return {
        subject: {
            "canonicalForm": subject,
            "aliases": sorted(spellings[normal_subject(subject)] - {subject}),
            "claimIds": sorted(ids[subject]),
        }
        for subject in sorted(ids)
    }


def routes(export: Export) -> Json:
    """Return the ids of active claims, grouped by home. Every home has a key."""
    active = [claim for claim in export.claims if claim.status not in plan.INACTIVE]
    return {home: [c.id for c in active if c.memory.home == home] for home in HOMES}


def manifest(export: Export, rules: SourceRules) -> Json:
    """Return the published manifest, with every field that memory-purifier defines.

    Runs record no duration, so start and finish have the same time. An import counts as a
    reconciliation. The build metadata of the version names memrepo as the writer.
    """
    run, touched = export.run, export.touched
    state = export.state
    area, name_of = state.layout.area("sources"), state.layout.source_name
    inventory = {  # daily logs are ignored by memory-purifier
        name_of(path): plan.content_hash(state.files[path])
        for path in sorted(p for p in state.files if p.startswith(area))
        if kind_of(name_of(path), rules) in ("claims", "page")
    }
    at = export.stamps(run.when if run else None, "finishedAt")
    package = f"{plan.PACKAGE_VERSION}+memrepo.{run.package if run else __version__}"
    mode = run.mode if run else ""
    status = "skipped" if run is None else "partial_failure" if run.receipt.partial else "ok"
    consumed = {name_of(c.resource) for c in (run.consumed if run else ())}
    return {
        "version": package,
        "packageVersion": package,
        "logicVersion": plan.LOGIC_VERSION,
        "manifestSchemaVersion": plan.MANIFEST_SCHEMA,
        "artifactSchemaVersion": plan.ARTIFACT_SCHEMA,
        "runtimeStateVersion": plan.state_version(),
        "lastSuccessfulLogicVersion": plan.LOGIC_VERSION,
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
        "promotionStats": {name: export.count(key) for name, key in _VERDICTS.items()},
        "claimStats": dict(sorted(Counter(c.status for c in touched).items())),
        "homeStats": dict(sorted(Counter(c.memory.home for c in touched).items())),
        "warnings": list(run.warnings) if run else [],
        "partialFailures": _failures(run) if run else [],
        "routeValidationWarnings": [],
        "lastSuccessfulCursor": plan.cursor_of(inventory) if run else None,
        "downstreamWikiIngestSuggested": status == "ok",
        "publishCommitted": run is not None,
        "publishedAt": at["finishedAt"],
        "publishedArtifactSet": list(plan.ARTIFACTS[:-1]) if run else [],
        "publishedViewSet": export.views,
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


_SHARED = (
    *("status", "mode", "runId", "startedAt", "finishedAt", "warnings", "partialFailures"),
    "downstreamWikiIngestSuggested",
)
"""The keys of the manifest that the summary of a run has too."""


def summary(export: Export, page: Json) -> Json:
    """Return the summary of the newest run and its manifest page, with the time of the export."""
    run, touched = export.run, export.touched
    used = run.receipt.usage if run else Usage()
    backend, _, model = (run.judge if run else "").partition("/")
    return {
        **{key: page[key] for key in _SHARED},
        "ok": page["status"] != "partial_failure",
        "profile": export.profile,
        "durationSeconds": None,
        "claimsNew": export.count("memories_new"),
        "claimsTotal": len(export.claims),
        "contradictionCount": sum(c.id in export.against for c in touched),
        "supersessionCount": sum(c.id in export.older for c in touched),
        "warningCount": len(page["warnings"]),
        "partialFailureCount": len(page["partialFailures"]),
        "viewsRendered": page["publishedViewSet"],
        "tokenUsage": {
            "prompt_tokens": used.prompt,
            "completion_tokens": used.completion,
            "total_tokens": used.total,
            "source": used.source,
        },
        "backend": backend or None,
        "backendModel": model or None,
        "tokenUsageSource": used.source,
        "manifestPath": plan.MANIFEST,
        "summaryPath": plan.SUMMARY,
        **export.stamps(export.now, "timestamp"),
    }


def candidate_records(export: Export, rules: SourceRules) -> dict[VerdictWord, list[Json]]:
    """Return the statements of the sources that no memory states, by derived verdict."""
    state, run = export.state, export.run
    area = state.layout.area("sources")
    known = {hash_ for m in state.memories.values() for s in m.sources for hash_ in m.wordings(s)}
    found: dict[VerdictWord, list[Json]] = {"defer": [], "reject": []}
    for path in sorted(p for p in state.files if p.startswith(area)) if run else ():
        name = state.layout.source_name(path)
        if kind_of(name, rules) in (None, "text"):
            continue
        data = state.files[path]
        units = scan(name, data).units
        ranked = rank_file(file_kind(name, data.decode("utf-8", "replace"), units), units)
        for unit in units:
            if unit.text_hash in known:
                continue
            one, captured = ranked[unit.hash], unit.captured[:10]
            verdict: VerdictWord = "reject" if one.rank <= POOR else "defer"
            scores, strength = promotion_scores(one.rank, verdict)
            source = {
                "source": unit.resource,
                "line_span": list(unit.lines),
                "captured_at": format_time(parse_time(captured)) if captured else None,
            }
            record = {
                "candidate_id": candidate_id(
                    source=unit.resource, line=unit.lines[0], text=unit.text
                ),
                "run_id": run.run if run else None,
                "text": unit.text,
                "type_hint": default_type(unit.resource),
                "source_refs": [source],
                "verdict": verdict,
                "strength": strength,
                "scores": scores,
                "rationale": ",".join(one.reasons),
                "merge_candidate_ids": [],
                "compress_target": None,
                **export.stamps(run.when if run else None, "timestamp"),
            }
            found[verdict].append(record)
    return found


def updated(memory: Memory) -> datetime | None:
    """Return when a memory's meaning last changed or the memory was superseded."""
    stamp = memory.stamp
    moments = (stamp.at if stamp else None, memory.superseded_at)
    return max((m for m in moments if m is not None), default=memory.created)


def claim_record(claim: Claim, export: Export) -> Json:
    """Return the record of one claim, with keys in memory-purifier's order."""
    memory = claim.memory
    scores = scores_of(claim) if memory.origin in _JUDGED else {}
    provenance = _provenance(memory, export)
    word, target = "new_claim", None
    if "probable_duplicate" in (claim.status, claim.judged.disposition):
        word, target = "probable_duplicate", export.id_of.get(memory.duplicate_of)
    elif claim.judged.disposition in ("reuse_existing", "reworded"):
        word, target = "reuse_existing", claim.id
    subject = normal_subject(memory.subject)
    signature = f"{subject}|{normal_predicate(memory.predicate)}|{memory.home}"
    record: Json = {
        "id": claim.id,
        "sourceClusterId": f"clust-{memory.id.removeprefix('mem-')}",
        "type": memory.type,
        "status": claim.status,
        "text": claim.text,
        "subject": memory.subject,
        "predicate": memory.predicate,
        "object": memory.object or None,
        "primaryHome": memory.home,
        "secondaryTags": list(memory.tags),
        "profileScope": export.profile,
        "scores": scores,
        "provenance": provenance,
        "crossSurfaceSupport": sorted({str(entry["source"]) for entry in provenance}),
        "contradictions": _competing(claim, export),
        "contradictionClusterId": export.clusters.get(claim.id),
        "supersedes": sorted(export.older.get(claim.id, ())),
        "supersededBy": sorted(export.newer.get(claim.id, ())),
        "freshnessPosture": _posture(scores, "freshness"),
        "confidencePosture": _posture(scores, "confidence"),
        "rationale": f"type_{memory.type}",
        "routeRationale": "strong",
        "duplicateDisposition": word,
        "duplicateTargetClaimId": target,
        "duplicateReason": claim.judged.reason or None,
        "normalizationSignature": signature,
        "routeValidationState": "strong",
        "routeAffinityScore": 1.0,
        "routeSuggestedHome": None,
        "updatedInRunId": claim.run.run if claim.run else None,
        **export.stamps(updated(memory), "updatedAt"),
    }
    if retired := _retirements(memory, export):
        record["retirementReasons"] = retired
    return record


def _provenance(memory: Memory, export: Export) -> list[Json]:
    """Return where a memory was read; for one without sources, its own file."""
    found: list[Json] = [
        {
            "source": export.state.layout.source_name(source.resource),
            "lineSpan": list(source.lines) if source.lines[0] else None,
            "type": source.kind,
            "capturedAt": format_time(parse_time(source.captured)) if source.captured else None,
        }
        for source in memory.sources
    ]
    if found:
        return found
    length = max(1, export.state.files[memory.path].count(b"\n"))
    return [{"source": memory.path, "lineSpan": [1, length], "type": "direct", "capturedAt": None}]


def _competing(claim: Claim, export: Export) -> list[Json]:
    """Return the claims that contradict a claim. The relation follows from their status."""
    return [
        {
            "competingClaimId": other.id,
            "competingText": other.text,
            "relation": other.status if other.status in ("superseded", "stale") else "contested",
            "flaggedInRunId": claim.run.run if claim.run else None,
        }
        for other in (export.by_id[id_] for id_ in sorted(export.against.get(claim.id, ())))
    ]


def _retirements(memory: Memory, export: Export) -> list[Json]:
    """Return why a memory was retired, with one entry per run and reason."""
    found = defaultdict[tuple[str, str], list[str]](list)
    for retired in memory.retired:
        word, _, path = retired.reason.partition(": ")
        is_removed = word in ("source_removed", "all_sources_removed")
        names = found[retired.run, "all_sources_removed" if is_removed else word]
        names += [export.state.layout.source_name(path)] if path and is_removed else []
    return [
        {"runId": run, "reason": reason, "removed_sources": sorted(names)}
        for (run, reason), names in found.items()
    ]


def contradiction_records(export: Export) -> list[Json]:
    """Return two records per contradiction, one from the perspective of each claim."""
    return [
        {
            "contradictionClusterId": export.clusters.get(claim.id),
            "claimId": claim.id,
            **competing,
            **export.stamps(updated(claim.memory), "recordedAt"),
        }
        for claim in export.claims
        for competing in _competing(claim, export)
    ]


HALF_LIFE_DAYS = 180.0
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


def scores_of(claim: Claim) -> dict[str, float]:
    """Return the eight scores of a claim, at the time of the run that judged it."""
    memory = claim.memory
    captured = {s.captured[:10] for s in memory.sources if s.captured}
    files = {s.resource for s in memory.sources}
    provenance = 0.4 + 0.2 * max(len(files) - 1, 0) + 0.1 * len(captured)
    is_merged = any(s.kind == "merged" for s in memory.sources)
    doubt = 0.2 if memory.standing == "unresolved" else 0.0
    pressure = 0.6 if memory.standing == "contested" else 0.3 if memory.supersedes else 0.0
    _, strength = promotion_scores(claim.judged.rank, "promote")
    sure = 0.35 + 0.15 * strength + 0.1 * (min(1.0, provenance) - 0.4) - doubt - 0.3 * pressure
    clarity = 0.9 if memory.predicate else 0.7 if memory.subject else 0.6
    now, freshness = (claim.run.when if claim.run else None) or memory.created, 0.5
    if captured and now is not None:
        age_days = (now - parse_time(max(captured))).total_seconds() / 86_400
        freshness = 0.5 ** (max(age_days, 0.0) / HALF_LIFE_DAYS)
    scores = {
        "semantic_cluster_confidence": 0.8 if is_merged else 1.0,
        "canonical_clarity": clarity - doubt,
        "provenance_strength": provenance,
        "contradiction_pressure": pressure,
        "freshness": freshness,
        "confidence": sure,
        "route_fitness": 1.0,
        "supersession_confidence": 0.95 if memory.supersedes else 0.0,
    }
    return {name: round(min(1.0, max(0.0, score)), 2) for name, score in scores.items()}


_POSTURES = {
    "freshness": ("fresh", "recent", "aging", "stale"),
    "confidence": ("high", "medium", "low", "tentative"),
}


def _posture(scores: Mapping[str, float], name: str) -> str | None:
    """Return the word for a score. The thresholds 0.8, 0.5 and 0.3 belong to the higher word."""
    if not scores:
        return None
    words = zip(_POSTURES[name], (0.8, 0.5, 0.3, 0.0), strict=True)
    return next(word for word, least in words if scores[name] >= least)
