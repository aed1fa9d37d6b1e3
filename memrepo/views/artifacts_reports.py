"""What the lineage's files say of the claims as a whole: entities, routes, manifest, summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from memrepo import __version__
from memrepo.core.layout import Layout
from memrepo.core.memory import HOMES
from memrepo.policies.entities import catalogue
from memrepo.policies.matching import normal_subject
from memrepo.purify import lineage
from memrepo.views.artifacts_claims import Claims, Spelling, Told, route_of
from memrepo.views.artifacts_runs import IMPORT, RunRecord

_VERDICTS = (
    ("reject", "rejected"),
    ("defer", "deferred"),
    ("compress", "compressed"),
    ("merge", "merged"),
    ("promote", "promoted"),
)
_PASSES = (("cand-", "promotion"), ("clust-", "purifier"))


def entities(claims: Claims, configured: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return every subject with its claims, inactive ones included.

    Deliberate difference: `aliases` names the other spellings of a subject (case, article,
    plural) and the names that texts or the configuration give it; the lineage leaves it empty.
    The canonical form is then the entity's main name.
    """
    known = catalogue((t.memory for t in claims.told), configured)
    ids: dict[str, list[str]] = {}
    for told in claims.told:
        if subject := told.memory.text("subject"):
            ids.setdefault(subject, []).append(told.id)
    same: dict[str, list[str]] = {}
    for subject in sorted(ids):
        same.setdefault(normal_subject(subject), []).append(subject)
    rows: dict[str, object] = {}
    for subject in sorted(ids):
        entity = known.find(subject)
        spelled = {s for s in same[normal_subject(subject)] if s != subject}
        names = {entity.name, *entity.aliases} if entity is not None and entity.aliases else set()
        rows[subject] = {
            "canonicalForm": entity.name if entity is not None and names else subject,
            "aliases": sorted(spelled | {n for n in names if n != subject}),
            "claimIds": sorted(ids[subject]),
        }
    return rows


def routes(claims: Claims) -> dict[str, list[str]]:
    """Return the ids of the active claims by home; every home has a key."""
    return {
        home: [t.id for t in claims.told if t.home == home and t.status not in lineage.INACTIVE]
        for home in HOMES
    }


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What manifest and summary are made of: claims, the newest run, sources and views."""

    claims: Claims
    run: RunRecord | None
    inventory: Mapping[str, str]
    views: Sequence[str]
    layout: Layout

    @property
    def record(self) -> Mapping[str, Any]:
        """Return the newest run's manifest as it was written, or an empty mapping."""
        return self.run.record if self.run else {}

    @property
    def touched(self) -> tuple[Told, ...]:
        """Return the claims that the newest run judged."""
        judged = self.run.judgements if self.run else {}
        return tuple(t for t in self.claims.told if t.memory.id in judged)

    @property
    def status(self) -> str:
        """Return the lineage's word for how the newest run ended; no run at all is skipped."""
        if self.run is None:
            return "skipped"
        return "partial_failure" if self.record.get("partial") else "ok"


def manifest(told: Published, how: Spelling) -> dict[str, Any]:
    """Return the manifest with every field of the lineage; runs hold no duration, so one time."""
    at = how.stamps(told.run.now if told.run else None, "finishedAt")
    run = told.run.run if told.run else None
    status = told.status
    return {
        **_versions(told),
        "runId": run,
        "mode": _mode(told),
        "status": status,
        "startedAt": at["finishedAt"],
        **at,
        "profileScope": how.profile,
        "sourceInventory": [
            {"path": path, "content_hash": hash_} for path, hash_ in sorted(told.inventory.items())
        ],
        "processedSegments": _processed(told),
        "promotionStats": _promotion(told.run),
        "claimStats": _tally(t.status for t in told.touched),
        "homeStats": _tally(t.home for t in told.touched),
        "warnings": list(told.record.get("warnings", ())),
        "partialFailures": _failures(told.record),
        "routeValidationWarnings": _odd_routes(told.claims),
        "lastSuccessfulCursor": lineage.cursor_of(told.inventory) if run else None,
        "downstreamWikiIngestSuggested": status == "ok",
        "publishCommitted": run is not None,
        "publishedAt": at["finishedAt"],
        "publishedArtifactSet": list(lineage.ARTIFACTS[:-1]) if run else [],
        "publishedViewSet": list(told.views),
        "downstreamWikiSignalEmitted": False,
        "commitRunId": run,
    }


def _versions(told: Published) -> dict[str, object]:
    """Return the versions: the shape is the lineage's, the build metadata names who wrote it."""
    package = f"{lineage.PACKAGE_VERSION}+memrepo.{told.record.get('package_version', __version__)}"
    return {
        "version": package,
        "packageVersion": package,
        "logicVersion": lineage.LOGIC_VERSION,
        "manifestSchemaVersion": lineage.MANIFEST_SCHEMA,
        "artifactSchemaVersion": lineage.ARTIFACT_SCHEMA,
        "runtimeStateVersion": lineage.state_version(),
        "lastSuccessfulLogicVersion": lineage.LOGIC_VERSION,
        "upgradeRequired": False,
        "upgradeReason": None,
        "upgradeBlockedAt": None,
        "requiresForcedReconciliation": False,
    }


def _mode(told: Published) -> str:
    """Return the mode; claims that were only imported count as one reconciliation."""
    mode = told.run.mode if told.run else ""
    return "reconciliation" if mode == IMPORT else mode or "incremental"


def _processed(told: Published) -> list[str]:
    consumed = told.record.get("consumed", ())
    names = {told.layout.source_name(str(e.get("resource", ""))) for e in consumed}
    return sorted(names & set(told.inventory))


def _promotion(run: RunRecord | None) -> dict[str, int]:
    counts = run.counts if run else {}
    return {verdict: int(counts.get(key, 0)) for verdict, key in _VERDICTS}


def _tally(words: Any) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _failures(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Group what a run quarantined by the pass that refused it; a cut run is a failure too."""
    errors: dict[str, list[str]] = {}
    for entry in record.get("quarantined", ()):
        id_ = str(entry.get("id", ""))
        name = next((name for start, name in _PASSES if id_.startswith(start)), "assemble")
        errors.setdefault(name, []).append(f"{id_}: {entry.get('reason', '')}")
    if record.get("partial"):
        errors.setdefault("run", []).append(str(record["partial"]))
    return [
        {"pass": name, "attempts": None, "errors": found, "failed_record_path": None}
        for name, found in sorted(errors.items())
    ]


def _odd_routes(claims: Claims) -> list[dict[str, object]]:
    found = []
    for told in claims.told:
        state = route_of(told)
        if state["routeValidationState"] != "strong":
            found.append(
                {
                    "claim_id": told.id,
                    "chosen_home": told.home,
                    "suggested_home": state["routeSuggestedHome"],
                    "type": told.type,
                    "state": state["routeValidationState"],
                }
            )
    return found


def summary(told: Published, how: Spelling, now: datetime) -> dict[str, object]:
    """Return the summary of the newest run; only its timestamp is the time of the export."""
    page = manifest(told, how)
    tokens = told.record.get("tokens") or {}
    touched = told.touched
    backend, _, model = str(told.record.get("judge", "")).partition("/")
    return {
        "ok": told.status != "partial_failure",
        "status": told.status,
        "mode": page["mode"],
        "profile": how.profile,
        "runId": page["runId"],
        "startedAt": page["startedAt"],
        "finishedAt": page["finishedAt"],
        "durationSeconds": None,
        "claimsNew": int(told.run.counts.get("memories_new", 0)) if told.run else 0,
        "claimsTotal": len(told.claims.told),
        "contradictionCount": sum(t.id in told.claims.against for t in touched),
        "supersessionCount": sum(t.id in told.claims.older for t in touched),
        "warnings": page["warnings"],
        "partialFailures": page["partialFailures"],
        "warningCount": len(page["warnings"]),
        "partialFailureCount": len(page["partialFailures"]),
        "viewsRendered": list(told.views),
        "downstreamWikiIngestSuggested": page["downstreamWikiIngestSuggested"],
        "tokenUsage": {
            "prompt_tokens": int(tokens.get("prompt", 0)),
            "completion_tokens": int(tokens.get("completion", 0)),
            "total_tokens": int(tokens.get("total", 0)),
            "source": str(tokens.get("source", "unavailable")),
        },
        "backend": backend or None,
        "backendModel": model or None,
        "tokenUsageSource": str(tokens.get("source", "unavailable")),
        "manifestPath": lineage.MANIFEST,
        "summaryPath": lineage.SUMMARY,
        **how.stamps(now, "timestamp"),
    }
