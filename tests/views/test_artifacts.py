"""Memories in the purifier lineage's file shapes: what each field comes from."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from lineage_contract import CLAIM_FIELDS, check_artifacts

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.manifest import Consumed, Manifest
from memrepo.core.memory import Link, Memory, Source, Stamp
from memrepo.core.state import State, read_state
from memrepo.formats import purifier
from memrepo.read.sources import SourceRules
from memrepo.views.artifacts import Exported, ExportTerms, artifacts

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
SEEN = datetime(2026, 2, 1, 9, tzinfo=UTC)
SOURCE = Source(resource="sources/MEMORY.md", lines=(3, 4), kind="direct", captured="2026-01-05")
LAYOUT = Layout()

MANIFEST_FIELDS = (
    "version",
    "packageVersion",
    "logicVersion",
    "manifestSchemaVersion",
    "artifactSchemaVersion",
    "runtimeStateVersion",
    "lastSuccessfulLogicVersion",
    "upgradeRequired",
    "upgradeReason",
    "upgradeBlockedAt",
    "requiresForcedReconciliation",
    "runId",
    "mode",
    "status",
    "startedAt",
    "finishedAt",
    "finishedAt_utc",
    "timezone",
    "profileScope",
    "sourceInventory",
    "processedSegments",
    "promotionStats",
    "claimStats",
    "homeStats",
    "warnings",
    "partialFailures",
    "routeValidationWarnings",
    "lastSuccessfulCursor",
    "downstreamWikiIngestSuggested",
    "publishCommitted",
    "publishedAt",
    "publishedArtifactSet",
    "publishedViewSet",
    "downstreamWikiSignalEmitted",
    "commitRunId",
)


def mem(digit: str, **fields: Any) -> Memory:
    """Return a fact about a garden; the id repeats a digit."""
    id_ = f"mem-{digit * 16}"
    body = fields.pop("body", f"The garden has {digit} beds, as counted in spring.")
    base = {
        "id": id_,
        "type": "fact",
        "subject": "Garden",
        "predicate": "has",
        "home": "LTMEMORY.md",
        "created": SEEN,
        "sources": (SOURCE,),
        "generated": Stamp(by="memrepo/1", at=SEEN),
    }
    kept = {key: value for key, value in {**base, **fields}.items() if value is not None}
    path = LAYOUT.memory(id_=id_, type_=kept["type"], text=body, captured="2026-01-05")
    return Memory(path=path, fields=kept, body=body)


def state(*found: Memory, **files: bytes) -> State:
    """Return a state of memory files and others (`__` in a keyword stands for a slash)."""
    tree = {m.path: codec.encode(m) for m in found}
    return read_state({**tree, **files}, LAYOUT)


def terms(profile: Any = "personal", zone: str = "Asia/Manila") -> ExportTerms:
    return ExportTerms(profile=profile, zone=ZoneInfo(zone), rules=SourceRules(), now=NOW)


def claims(made: Exported) -> dict[str, dict[str, Any]]:
    """Return claim records by memory text."""
    records = [json.loads(line) for line in made.files[purifier.CLAIMS].splitlines()]
    return {record["text"]: record for record in records}


def page(made: Exported, name: str) -> Any:
    return json.loads(made.files[name])


def only(made: Exported) -> dict[str, Any]:
    (record,) = claims(made).values()
    return record


def test_a_claim_has_the_lineages_fields_in_its_order() -> None:
    record = only(artifacts(state(mem("1")), terms()))
    assert tuple(record) == CLAIM_FIELDS
    assert len(record) == 33


def test_the_id_is_the_hash_of_the_four_raw_strings() -> None:
    record = only(artifacts(state(mem("1", subject="The Garden")), terms()))
    raw = f"The Garden|has|{record['text']}|LTMEMORY.md"
    assert record["id"] == f"cl-{hashlib.sha256(raw.encode()).hexdigest()[:16]}"


@pytest.mark.parametrize(
    ("status", "standing", "expected"),
    [
        ("active", "resolved", "resolved"),
        ("active", "contested", "contested"),
        ("active", "unresolved", "unresolved"),
        ("active", "stale", "stale"),
        ("active", "retire_candidate", "retire_candidate"),
        ("active", "probable_duplicate", "probable_duplicate"),
        ("superseded", "resolved", "superseded"),
        ("superseded", "contested", "superseded"),
        ("archived", "resolved", "stale"),
        ("archived", "retire_candidate", "retire_candidate"),
    ],
)
def test_the_two_axes_come_to_one_status(status: str, standing: str, expected: str) -> None:
    memory = mem("1", status=status, standing=standing)
    made = artifacts(state(memory), terms())
    record = only(made)
    assert record["status"] == expected
    routed = page(made, purifier.ROUTES)["LTMEMORY.md"]
    assert routed == ([] if expected in purifier.INACTIVE else [record["id"]])


def test_notes_forgotten_and_personal_memories_are_left_out_and_counted() -> None:
    found = state(
        mem("1"),
        mem("2", type="note"),
        mem("3", status="forgotten"),
        mem("4", type="aspiration", home="WISHES.md"),
    )
    made = artifacts(found, terms("business"))
    assert len(claims(made)) == 1
    assert made.left_out == {"forgotten": 1, "note": 1, "personal": 1}
    assert len(claims(artifacts(found, terms()))) == 2


def test_provenance_names_the_workspaces_files() -> None:
    more = Source(resource="sources/episodes/a.md", kind="merged")
    record = only(artifacts(state(mem("1", sources=(SOURCE, more))), terms()))
    assert record["provenance"] == [
        {
            "source": "MEMORY.md",
            "lineSpan": [3, 4],
            "type": "direct",
            "capturedAt": "2026-01-05T00:00:00Z",
        },
        {
            "source": "episodes/a.md",
            "lineSpan": None,
            "type": "merged",
            "capturedAt": "2026-02-01T00:00:00Z",
        },
    ]
    assert record["crossSurfaceSupport"] == ["MEMORY.md", "episodes/a.md"]


@pytest.mark.parametrize("side", ["newer", "older", "both"])
def test_supersession_stands_on_both_sides_whichever_names_it(side: str) -> None:
    new, old = mem("1"), mem("2", status="superseded", superseded_at=NOW)
    if side != "older":
        new = new.with_fields({"supersedes": (old.id,)})
    if side != "newer":
        old = old.with_fields({"superseded_by": (new.id,)})
    made = artifacts(state(new, old), terms())
    newer, older = claims(made)[new.body], claims(made)[old.body]
    assert (newer["supersedes"], older["supersededBy"]) == ([older["id"]], [newer["id"]])
    assert older["updatedAt_utc"] == "2026-03-01T09:00:00Z"
    assert check_artifacts(made.files, "personal") == []


def test_a_contradiction_has_one_stable_id_and_stands_on_both_sides() -> None:
    one = mem(
        "1",
        standing="contested",
        links=(
            Link(target="mem-2222222222222222", type="contradicts"),
            Link(target="mem-3333333333333333", type="related"),
        ),
    )
    said = {mem(digit).id: [judged("new_claim")] for digit in "12"}
    record = manifest("20260201T090000Z-00000000", judgements=said)
    made = artifacts(state(one, mem("2"), mem("3"), **record), terms())
    found = claims(made)
    first, second, third = (found[mem(d).body] for d in "123")
    expected = purifier.contradiction_id([second["id"], first["id"]])
    assert first["contradictionClusterId"] == second["contradictionClusterId"] == expected
    assert third["contradictionClusterId"] is None
    assert first["contradictions"] == [
        {
            "competingClaimId": second["id"],
            "competingText": second["text"],
            "relation": "contested",
            "flaggedInRunId": "20260201T090000Z-00000000",
        },
    ]
    records = [json.loads(x) for x in made.files[purifier.CONTRADICTIONS].splitlines()]
    assert {(r["claimId"], r["competingClaimId"]) for r in records} == {
        (first["id"], second["id"]),
        (second["id"], first["id"]),
    }
    assert artifacts(state(mem("3"), mem("2"), one, **record), terms()).files == made.files


def manifest(run: str, **more: Any) -> dict[str, bytes]:
    given = {
        "run": run,
        "mode": "incremental",
        "judge": "offline/1",
        "profile": "personal",
        "base": "0" * 40,
        "now": "2026-02-01T09:00:00Z",
        "package": "9.9",
        **more,
    }
    return {LAYOUT.manifest(run): Manifest(**given).to_bytes()}


def judged(disposition: str, **more: Any) -> dict[str, Any]:
    return {
        "cluster": "clust-1",
        "disposition": disposition,
        "reason": "why",
        "verdicts": [],
        "rationale": "because",
        "route": "strong",
        "freshness": "fresh",
        "confidence": "high",
        **more,
    }


def test_the_manifest_has_every_field_and_a_cursor_over_the_claim_sources() -> None:
    source = b"# Memory\n\n- The garden has 1 beds.\n"
    files = {
        "sources/MEMORY.md": source,
        "sources/memory/2026-02-01.md": b"a note\n",
        "views/LTMEMORY.md": b"# x\n",
        **manifest(
            "20260201T090000Z-aaaaaaaa",
            consumed=(
                Consumed(resource="sources/MEMORY.md", to="1" * 40),
                Consumed(resource="sources/memory/2026-02-01.md", to="2" * 40),
            ),
            counts={"promoted": 3, "rejected": 1},
            judgements={mem("1").id: [judged("new_claim")]},
            quarantined=({"id": "clust-9", "reason": "no text"},),
        ),
    }
    found = page(artifacts(state(mem("1"), **files), terms()), purifier.MANIFEST)
    hash_ = "sha256:" + hashlib.sha256(source).hexdigest()
    cursor = hashlib.sha256(f"MEMORY.md:{hash_}".encode()).hexdigest()[:16]
    assert found["sourceInventory"] == [{"path": "MEMORY.md", "content_hash": hash_}]
    assert found["lastSuccessfulCursor"] == f"cursor-v1:{cursor}"
    assert found["processedSegments"] == ["MEMORY.md"]
    assert found["promotionStats"] == {
        "reject": 1,
        "defer": 0,
        "compress": 0,
        "merge": 0,
        "promote": 3,
    }
    assert (found["claimStats"], found["homeStats"]) == ({"resolved": 1}, {"LTMEMORY.md": 1})
    assert found["partialFailures"] == [
        {
            "pass": "purifier",
            "attempts": None,
            "errors": ["clust-9: no text"],
            "failed_record_path": None,
        },
    ]
    assert found["status"] == "ok"
    assert found["publishCommitted"] is True
    assert found["downstreamWikiIngestSuggested"] is True
    assert found["publishedViewSet"] == ["LTMEMORY.md"]
    triple = hashlib.sha1(b"1.6.0|1|1", usedforsecurity=False).hexdigest()[:12]
    assert found["runtimeStateVersion"] == triple
    assert tuple(found) == MANIFEST_FIELDS


def test_a_damaged_manifest_is_a_problem_and_the_rest_is_exported() -> None:
    made = artifacts(state(mem("1"), **{"runs/2026-02/20260201T090000Z.json": b"{"}), terms())
    assert [p.rule for p in made.problems] == ["manifest-unreadable"]
    assert len(claims(made)) == 1


def test_a_damaged_candidate_is_a_problem_and_the_others_are_exported() -> None:
    good = (
        b"---\ntype: candidate\nverdict: defer\nstrength: 1.20\n"
        b"scores: {durability: 0.50, noise_risk: 0.10}\nreason: vague\n"
        b"judged: 2026-02-01T09:00:00Z\nsources:\n"
        b"  - {resource: sources/DREAMS.md, lines: [4, 5], captured: 2026-01-03}\n"
        b"---\n\nPerhaps a  pond.\n"
    )
    files = {
        "candidates/deferred/00/th-0000000000000000.md": good,
        "candidates/deferred/11/th-1111111111111111.md": b"no header\n",
        **manifest("20260201T090000Z-aaaaaaaa"),
    }
    made = artifacts(state(**files), terms())
    (record,) = [json.loads(x) for x in made.files[purifier.DEFERRED].splitlines()]
    assert [p.rule for p in made.problems] == ["candidate-unreadable"]
    raw = hashlib.sha256(b"DREAMS.md:4:perhaps a pond.").hexdigest()[:16]
    assert record["candidate_id"] == f"cand-{raw}"
    assert (record["type_hint"], record["verdict"]) == ("aspiration", "defer")
    assert record["run_id"] == "20260201T090000Z-aaaaaaaa"
    assert record["scores"] == {"durability": 0.5, "noise_risk": 0.1}
    assert record["source_refs"] == [
        {"source": "DREAMS.md", "line_span": [4, 5], "captured_at": "2026-01-03T00:00:00Z"}
    ]
