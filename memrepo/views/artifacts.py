"""Export a repository's claims in memory-purifier's file formats.

The bytes depend only on the tree. Lineage: memory-purifier, machine artifacts. The mapping is in
docs/migrating.md.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from memrepo import __version__
from memrepo.core.jsontext import spell_lines
from memrepo.core.judge import Usage, VerdictWord
from memrepo.core.manifest import IMPORT, Manifest
from memrepo.core.memory import HOMES
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_time
from memrepo.formats import purifier
from memrepo.formats.purifier import candidate_id
from memrepo.policies.matching import normal_subject
from memrepo.read.kinds import file_kind
from memrepo.read.shelf import RankedUnit, rank_file
from memrepo.read.sources import SourceRules, default_type, kind_of
from memrepo.read.thoughts import Unit, scan
from memrepo.views.claims import (
    Claim,
    Export,
    Json,
    claim_record,
    contradiction_records,
    promotion_scores,
    verdict_of,
)

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
