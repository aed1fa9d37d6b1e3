"""Export memories as claims in memory-purifier's format of 33 camelCase fields.

Lineage: memory-purifier, artifacts. Deliberate differences: a contradiction appears on both sides,
with one stable id. Records are sorted by id, not by time. Memories written by hand have their own
file as provenance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import asdict

from memrepo.core.judge import Profile, Scores
from memrepo.core.layout import Layout
from memrepo.core.manifest import read_manifests
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, Memory, Retired, Source
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_time
from memrepo.formats.purifier import contradiction_id, lineage_id, status_of
from memrepo.policies.claims import AFFINITY_SCORE, affinity, permitted, recast, route
from memrepo.policies.matching import normal_predicate, normal_subject


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, with the claim that represents it in the export."""

    memory: Memory
    id: str
    type: str
    home: str
    status: str
    text: str


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The exported claims, ordered by id, with the relations between them.

    `left_out` counts the omitted memories by reason. `older` and `newer` map claim ids to
    superseded and superseding ones, and `against` to contradicting ones. `cluster` maps a claim id
    to the stable id of its contradiction.
    """

    told: tuple[Told, ...]
    left_out: Mapping[str, int]
    older: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    newer: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    against: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    cluster: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def by_memory(self) -> dict[str, Told]:
        """Return the claims by memory id."""
        return {told.memory.id: told for told in self.told}

    @property
    def by_id(self) -> dict[str, Told]:
        """Return the claims by claim id."""
        return {told.id: told for told in self.told}


def claims_of(state: State, profile: Profile) -> Claims:
    """Return the claims visible to a profile, with the relations between them."""
    left: Counter[str] = Counter()
    found: list[Memory] = []
    for memory in sorted(state.memories.values(), key=lambda m: (not m.text("claim_id"), m.id)):
        reason = _why_not(memory, profile)
        left[reason] += 1
        if not reason:
            found.append(memory)
    del left[""]
    told = sorted(_tell(found, profile), key=lambda t: t.id)
    return _related(Claims(told=tuple(told), left_out=dict(sorted(left.items()))))


def _why_not(memory: Memory, profile: Profile) -> str:
    if memory.type not in CLAIM_TYPES:
        return memory.type
    if memory.status == "forgotten":
        return "forgotten"
    home = memory.text("home")
    return "personal" if home and not permitted(home, profile) else ""


def _tell(memories: Iterable[Memory], profile: Profile) -> Iterator[Told]:
    """Yield one claim per memory. If two claims get the same id, add the memory's id to one."""
    taken: set[str] = set()
    for memory in memories:
        type_, home = _routed(memory, profile)
        text = memory.body or memory.text("title") or memory.text("description") or memory.slug
        parts = {"subject": memory.text("subject"), "predicate": memory.text("predicate")}
        id_ = memory.text("claim_id") or lineage_id(**parts, text=text, home=home)
        if id_ in taken:
            id_ = lineage_id(**parts, text=text, home=f"{home}|{memory.id}")
        taken.add(id_)
        yield Told(
            memory=memory, id=id_, type=type_, home=home, status=status_of(memory), text=text
        )


def _routed(memory: Memory, profile: Profile) -> tuple[str, str]:
    """Return the type and home of a memory.

    If the home is missing or impossible, return the one for its type.
    """
    home = memory.text("home")
    if home and affinity(memory.type, home) != "impossible":
        return memory.type, home
    return recast(memory.type, profile), route(memory.type, profile)


def _related(claims: Claims) -> Claims:
    known = claims.by_memory
    pairs: set[tuple[str, str]] = set()
    edges: set[tuple[str, str]] = set()
    for told in claims.told:
        for other in told.memory.texts("supersedes"):
            pairs.add((told.memory.id, other))
        for other in told.memory.texts("superseded_by"):
            pairs.add((other, told.memory.id))
        for link in told.memory.fields.get("links", ()):
            if link.type == "contradicts" and link.target in known:
                edges |= {(told.memory.id, link.target), (link.target, told.memory.id)}
    # Omit reverted supersessions, whose target is active again.
    pairs = {
        (new, old)
        for new, old in pairs
        if new != old and new in known and old in known and known[old].status == "superseded"
    }
    against = _by_first((known[a].id, known[b].id) for a, b in edges if a != b)
    return Claims(
        told=claims.told,
        left_out=claims.left_out,
        older=_by_first((known[new].id, known[old].id) for new, old in pairs),
        newer=_by_first((known[old].id, known[new].id) for new, old in pairs),
        against=against,
        cluster=_clusters(against),
    )


def _by_first(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for first, second in sorted(pairs):
        found.setdefault(first, []).append(second)
    return {first: tuple(seconds) for first, seconds in found.items()}


def _clusters(against: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Assign one id to each set of claims that contradict each other, directly or indirectly."""
    found: dict[str, str] = {}
    for start in sorted(against):
        if start in found:
            continue
        members, open_ = {start}, [start]
        while open_:
            near = set(against[open_.pop()]) - members
            members |= near
            open_ += sorted(near)
        found.update(dict.fromkeys(members, contradiction_id(members)))
    return found


class Spelling(msgspec.Struct, frozen=True, kw_only=True):
    """The data shared by all records: profile, time zone, file lengths and judgements."""

    profile: Profile
    zone: ZoneInfo
    layout_source: Mapping[str, str]
    lengths: Mapping[str, int]
    judged: Mapping[str, Judgement]

    def local(self, moment: datetime | None) -> str | None:
        """Format a time in the configured time zone, with its UTC offset."""
        return moment.astimezone(self.zone).isoformat() if moment else None

    def stamps(self, moment: datetime | None, name: str) -> dict[str, str | None]:
        """Return a time in the local zone and in UTC, with the name of the zone."""
        return {
            name: self.local(moment),
            f"{name}_utc": format_time(moment) if moment else None,
            "timezone": self.zone.key,
        }


def updated(memory: Memory) -> datetime | None:
    """Return when a memory's meaning last changed or the memory was superseded."""
    stamp = memory.fields.get("generated")
    moments = [stamp.at if stamp else None, memory.time("superseded_at")]
    known = [m for m in moments if m is not None]
    return max(known) if known else memory.time("created")


def claim_record(told: Told, claims: Claims, how: Spelling) -> dict[str, object]:
    """Return the record of one claim, with keys in memory-purifier's order."""
    memory, judged = told.memory, how.judged.get(told.memory.id, Judgement())
    provenance = _provenance(memory, how)
    record: dict[str, object] = {
        "id": told.id,
        "sourceClusterId": judged.cluster or None,
        "type": told.type,
        "status": told.status,
        "text": told.text,
        "subject": memory.text("subject"),
        "predicate": memory.text("predicate"),
        "object": memory.text("object") or None,
        "primaryHome": told.home,
        "secondaryTags": list(memory.texts("tags")),
        "profileScope": how.profile,
        "scores": asdict(Scores(**judged.scores)) if judged.scores else {},
        "provenance": provenance,
        "crossSurfaceSupport": sorted({entry["source"] for entry in provenance}),
        "contradictions": _contradictions(told, claims, judged),
        "contradictionClusterId": claims.cluster.get(told.id),
        "supersedes": list(claims.older.get(told.id, ())),
        "supersededBy": list(claims.newer.get(told.id, ())),
        **_postures(judged),
        "rationale": judged.rationale or None,
        "routeRationale": judged.route or None,
        **_disposition(told, claims, judged),
        "normalizationSignature": _signature(told),
        **route_of(told),
        "updatedInRunId": judged.run or None,
        **how.stamps(updated(memory), "updatedAt"),
    }
    if retired := _retired(memory, how):
        record["retirementReasons"] = retired
    return record


def _provenance(memory: Memory, how: Spelling) -> list[dict[str, Any]]:
    if not memory.sources:
        length = how.lengths.get(memory.path, 1)
        return [
            {"source": memory.path, "lineSpan": [1, length], "type": "direct", "capturedAt": None}
        ]
    return [_evidence(source, how) for source in memory.sources]


def _evidence(source: Source, how: Spelling) -> dict[str, object]:
    captured = format_time(parse_time(source.captured)) if source.captured else None
    return {
        "source": how.layout_source.get(source.resource, source.resource),
        "lineSpan": list(source.lines) if source.lines[0] else None,
        "type": source.kind,
        "capturedAt": captured,
    }


def _contradictions(told: Told, claims: Claims, judged: Judgement) -> list[dict[str, object]]:
    by_id = claims.by_id if told.id in claims.against else {}
    return [
        {
            "competingClaimId": other,
            "competingText": by_id[other].text,
            "relation": relation(by_id[other], judged),
            "flaggedInRunId": judged.run or None,
        }
        for other in claims.against.get(told.id, ())
    ]


def relation(other: Told, judged: Judgement) -> str:
    """Return how a contradicting claim is related: as judged, or else by its status."""
    known = judged.relations.get(other.memory.id, "")
    return known or {"superseded": "superseded", "stale": "stale"}.get(other.status, "contested")


def _postures(judged: Judgement) -> dict[str, str | None]:
    scores = Scores(**judged.scores) if judged.scores else None
    fresh = scores.freshness_posture if scores else ""
    sure = scores.confidence_posture if scores else ""
    return {
        "freshnessPosture": judged.freshness or fresh or None,
        "confidencePosture": judged.confidence or sure or None,
    }


def _disposition(told: Told, claims: Claims, judged: Judgement) -> dict[str, str | None]:
    """Return a claim's three fields about duplicates. A rewording counts as a reuse of the id."""
    twin = claims.by_memory.get(told.memory.text("duplicate_of"))
    word, target = "new_claim", None
    if told.status == "probable_duplicate" or judged.disposition == "probable_duplicate":
        word, target = "probable_duplicate", twin.id if twin else None
    elif judged.disposition in ("reuse_existing", "reworded"):
        word, target = "reuse_existing", told.id
    return {
        "duplicateDisposition": word,
        "duplicateTargetClaimId": target,
        "duplicateReason": judged.reason or None,
    }


def _signature(told: Told) -> str:
    subject = normal_subject(told.memory.text("subject"))
    return f"{subject}|{normal_predicate(told.memory.text('predicate'))}|{told.home}"


def route_of(told: Told) -> dict[str, object]:
    """Return a claim's three fields about its route."""
    state = affinity(told.type, told.home)
    return {
        "routeValidationState": state,
        "routeAffinityScore": AFFINITY_SCORE[state],
        "routeSuggestedHome": None if state == "strong" else HOME_OF_TYPE[told.type],
    }


def _retired(memory: Memory, how: Spelling) -> list[dict[str, object]]:
    found: dict[tuple[str, str], list[str]] = {}
    reasons: Sequence[Retired] = memory.fields.get("retired", ())
    for retired in reasons:
        word, _, path = retired.reason.partition(": ")
        word = "all_sources_removed" if word == "source_removed" else word
        names = found.setdefault((retired.run, word), [])
        if path and word == "all_sources_removed":
            names.append(how.layout_source.get(path, path))
    return [
        {"runId": run, "reason": reason, "removed_sources": sorted(names)}
        for (run, reason), names in found.items()
    ]


def contradiction_records(claims: Claims, how: Spelling) -> list[dict[str, object]]:
    """Return two records per contradiction, one from the perspective of each claim."""
    by_id = claims.by_id
    return [
        {
            "contradictionClusterId": claims.cluster[told.id],
            "claimId": told.id,
            "competingClaimId": other,
            "competingText": by_id[other].text,
            "relation": relation(by_id[other], how.judged.get(told.memory.id, Judgement())),
            "flaggedInRunId": how.judged.get(told.memory.id, Judgement()).run or None,
            **how.stamps(updated(told.memory), "recordedAt"),
        }
        for told in claims.told
        for other in claims.against.get(told.id, ())
    ]


IMPORT = "import"
"""The mode of a manifest written by an import, which has judgements but no run."""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run manifest in a tree: the run, its time, and the record as written."""

    run: str
    now: datetime | None
    record: Mapping[str, Any]

    @property
    def mode(self) -> str:
        """Return the mode of the run: "incremental", "reconciliation" or "import"."""
        return str(self.record.get("mode", ""))

    @property
    def judgements(self) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """Return the run's judgements by memory id."""
        found = self.record.get("judgements")
        return found if isinstance(found, dict) else {}

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the run's counts."""
        found = self.record.get("counts")
        return found if isinstance(found, dict) else {}


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's last judgement, from Pass 2 and assembly. Unknown fields are empty.

    `relations` maps the id of each contradicting memory to the kind of relation.
    """

    cluster: str = ""
    disposition: str = ""
    reason: str = ""
    rationale: str = ""
    route: str = ""
    freshness: str = ""
    confidence: str = ""
    relations: Mapping[str, str] = msgspec.field(default_factory=dict)
    scores: Mapping[str, float] = msgspec.field(default_factory=dict)
    run: str = ""


def read_runs(
    files: Mapping[str, bytes], layout: Layout
) -> tuple[tuple[RunRecord, ...], tuple[Problem, ...]]:
    """Return a tree's run manifests, oldest first, and the problems of damaged manifests."""
    manifests, problems = read_manifests(files, layout)
    records = []
    for manifest in manifests:
        path = layout.manifest(manifest.run)
        if path in files:
            record = json.loads(files[path])
            records.append(RunRecord(run=manifest.run, now=_time(record.get("now")), record=record))
    return tuple(records), problems


def latest(records: Iterable[RunRecord]) -> RunRecord | None:
    """Return the newest run, or the newest import if there is no run."""
    ordered = list(records)
    runs = [r for r in ordered if r.mode != IMPORT]
    return next(iter(reversed(runs or ordered)), None)


def read_judgements(
    records: Iterable[RunRecord], files: Mapping[str, bytes], layout: Layout
) -> dict[str, Judgement]:
    """Return each memory's newest judgement. Within one run, the first judgement counts.

    The disposition of a duplicate is that of its creation and never changes later. Judgements from
    headers of format 1 are older than all others.
    """
    found: dict[str, Judgement] = {}
    for line in files.get(layout.upgraded, b"").splitlines():
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            said = json.loads(line)
            scores = {key: float(value) for key, value in said.get("scores", {}).items()}
            found[said["id"]] = Judgement(scores=scores, run=str(said.get("run", "")))
    for run in records:
        for id_, entries in run.judgements.items():
            if isinstance(entries, list) and entries and isinstance(entries[0], dict):
                found[id_] = _joined(found.get(id_), _judgement(entries[0], run.run))
    return found


def _joined(old: Judgement | None, new: Judgement) -> Judgement:
    if old is None:
        return new
    born = old if old.disposition == "probable_duplicate" else new
    return Judgement(
        cluster=new.cluster,
        disposition=born.disposition,
        reason=born.reason,
        rationale=new.rationale,
        route=new.route,
        freshness=new.freshness,
        confidence=new.confidence,
        relations={**old.relations, **new.relations},
        scores=new.scores or old.scores,
        run=new.run,
    )


def _judgement(entry: Mapping[str, object], run: str) -> Judgement:
    relations, scores = entry.get("relations"), entry.get("scores")
    keys = ("cluster", "disposition", "reason", "rationale", "route", "freshness", "confidence")
    return Judgement(
        **{key: str(entry.get(key) or "") for key in keys},
        relations=relations if isinstance(relations, dict) else {},
        scores=scores if isinstance(scores, dict) else {},
        run=run,
    )


def _time(text: object) -> datetime | None:
    try:
        return parse_time(str(text))
    except ValueError:
        return None
