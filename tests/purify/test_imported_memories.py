"""A purifier workspace's records as memories: what each field becomes, and what is said of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_contract import CLAIM_FIELDS
from memrepo.purify.imported_memories import Imported, Offer, import_artifacts

from memrepo.core import codec
from memrepo.core.changes import Create, Update, Write
from memrepo.core.ids import claim_id, text_hash
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Retired
from memrepo.core.state import State, apply, read_state
from memrepo.formats import lineage

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
SOURCE = b"# Memory\n\n- Vera keeps the greenhouse at 14 degrees in winter.\n- Holt sells seeds.\n"


def claim(digit: str, **more: Any) -> dict[str, Any]:
    record: dict[str, Any] = dict.fromkeys(CLAIM_FIELDS)
    record |= {
        "id": f"cl-{digit * 16}",
        "type": "fact",
        "status": "resolved",
        "text": f"Bed {digit} of the garden holds roses.",
        "subject": f"Bed {digit}",
        "predicate": "holds",
        "object": "roses",
        "primaryHome": "LTMEMORY.md",
        "secondaryTags": [],
        "profileScope": "personal",
        "provenance": [
            {
                "source": "MEMORY.md",
                "lineSpan": [3, 3],
                "type": "direct",
                "capturedAt": "2026-01-05T08:30:00Z",
            }
        ],
        "contradictions": [],
        "supersedes": [],
        "supersededBy": [],
        "updatedAt": "2026-02-01T17:00:00.123456+08:00",
        "updatedAt_utc": "2026-02-01T09:00:00.123456Z",
    }
    return {**record, **more}


def offer(*claims: Any, **more: Any) -> Offer:
    raw = [c if isinstance(c, bytes) else json.dumps(c).encode() for c in claims]
    files = {lineage.CLAIMS: b"".join(line + b"\n" for line in raw), **more.pop("files", {})}
    given_ = {"sources": {}, "blobs": {}, "profile": "personal", "now": NOW, **more}
    return Offer(files=files, **given_)


EMPTY = read_state({}, Layout())


def made(found: Imported) -> dict[str, Memory]:
    """Return the memories of an import by claim id, read back from what would be written."""
    apply(EMPTY, (c for c in found.changes if isinstance(c, Create)))
    return {c.memory.text("claim_id"): c.memory for c in found.changes if isinstance(c, Create)}


def only(*claims: Any, **more: Any) -> Memory:
    (memory,) = made(import_artifacts(EMPTY, offer(*claims, **more))).values()
    return memory


def rules(found: Imported) -> list[tuple[str, int]]:
    return [(p.rule, p.line) for p in found.problems]


def test_a_claim_becomes_a_memory_under_our_id() -> None:
    record = claim("1", secondaryTags=["garden"], scores={"confidence": 0.75})
    memory = only(record)
    assert memory.id == claim_id(
        scope="", subject="Bed 1", predicate="holds", object_="roses", text=record["text"]
    )
    assert memory.path.startswith("memories/knowledge/2026-01/bed-1-of-the-garden")
    assert (memory.type, memory.body, memory.text("home")) == (
        "fact",
        record["text"],
        "LTMEMORY.md",
    )
    assert memory.text("claim_id") == "cl-1111111111111111"
    assert memory.texts("tags") == ("garden",)
    assert memory.text("origin") == "import"
    assert memory.fields["generated"].by == "memory-purifier/unknown"
    assert memory.fields["generated"].at == datetime(2026, 2, 1, 9, tzinfo=UTC)
    assert memory.time("created") == NOW
    (source,) = memory.sources
    assert (source.resource, source.lines, source.kind, source.captured) == (
        "sources/MEMORY.md",
        (3, 3),
        "direct",
        "2026-01-05",
    )


@pytest.mark.parametrize("status", lineage.CLAIM_STATUSES)
def test_a_status_comes_back_as_it_was(status: str) -> None:
    memory = only(claim("1", status=status))
    assert lineage.status_of(memory) == status
    assert memory.status == ("superseded" if status == "superseded" else "active")


def test_supersession_duplicates_and_contradictions_are_linked_both_ways() -> None:
    new = claim(
        "1",
        supersedes=["cl-2222222222222222"],
        contradictions=[
            {"competingClaimId": "cl-3333333333333333", "competingText": "x", "relation": "stale"},
            {
                "competingClaimId": None,
                "competingText": claim("4")["text"],
                "relation": "contested",
            },
        ],
    )
    old = claim("2", status="superseded", supersededBy=[new["id"]])
    twin = claim(
        "4",
        status="probable_duplicate",
        duplicateDisposition="probable_duplicate",
        duplicateTargetClaimId="cl-3333333333333333",
    )
    found = import_artifacts(EMPTY, offer(new, old, claim("3"), twin))
    memories = made(found)
    one, two, three, four = (memories[f"cl-{d * 16}"] for d in "1234")
    assert found.problems == ()
    assert (one.texts("supersedes"), two.texts("superseded_by")) == ((two.id,), (one.id,))
    assert two.time("superseded_at") == datetime(2026, 2, 1, 9, tzinfo=UTC)
    against = {m.id: {k.target for k in m.fields.get("links", ())} for m in memories.values()}
    assert against == {
        one.id: {three.id, four.id},
        two.id: set(),
        three.id: {one.id},
        four.id: {one.id},
    }
    assert four.text("duplicate_of") == three.id
    assert found.judgements[one.id][0]["relations"] == {three.id: "stale", four.id: "contested"}


def test_a_contradiction_that_only_its_own_file_knows_is_linked() -> None:
    record = {"claimId": "cl-1111111111111111", "competingClaimId": "cl-2222222222222222"}
    files = {lineage.CONTRADICTIONS: json.dumps(record).encode()}
    memories = made(import_artifacts(EMPTY, offer(claim("1"), claim("2"), files=files)))
    assert all(len(m.fields["links"]) == 1 for m in memories.values())


def test_reasons_of_retirement_are_kept_one_a_source() -> None:
    reasons = [
        {"runId": "r1", "reason": "all_sources_removed", "removed_sources": ["A.md", "B.md"]}
    ]
    memory = only(claim("1", status="retire_candidate", retirementReasons=reasons))
    assert memory.fields["retired"] == (
        Retired(run="r1", reason="source_removed: sources/A.md"),
        Retired(run="r1", reason="source_removed: sources/B.md"),
    )


def test_what_has_no_field_in_a_memory_goes_to_the_judgement() -> None:
    record = claim(
        "1",
        rationale="why",
        routeRationale="where",
        freshnessPosture="aging",
        confidencePosture="low",
        sourceClusterId="clust-1",
        duplicateDisposition="new_claim",
        duplicateReason="none",
    )
    found = import_artifacts(EMPTY, offer(record))
    ((judgement,),) = found.judgements.values()
    assert judgement == {
        "cluster": "clust-1",
        "disposition": "new_claim",
        "reason": "none",
        "rationale": "why",
        "route": "where",
        "freshness": "aging",
        "confidence": "low",
        "run": "",
        "scores": {},
        "verdicts": [],
    }


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b"{", "import-line"),
        (b"[1]", "import-line"),
        (b"\xff", "import-line"),
        (b'{"id": NaN}', "import-line"),
        (b"[" * 100_000, "import-line"),
        (claim("1", text=" "), "import-record"),
        (claim("1", text=["x"]), "import-field"),
        (claim("1", type="rumour"), "import-record"),
        (claim("1", type=["fact"]), "import-record"),
        (claim("1", text="nul \0 byte"), "import-record"),
        (claim("1", subject="s" * 2001), "import-record"),
    ],
)
def test_a_line_that_cannot_be_taken_in_is_named_and_the_rest_is(line: Any, rule: str) -> None:
    found = import_artifacts(EMPTY, offer(claim("2"), line, claim("3")))
    assert set(made(found)) == {"cl-2222222222222222", "cl-3333333333333333"}
    assert (rule, 2) in rules(found)
    assert found.counts["unreadable"] == 1


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"status": "fine"}, "status"),
        ({"primaryHome": "NOTES.md"}, "primaryHome"),
        ({"primaryHome": "PLAYBOOKS.md"}, "primaryHome"),
        ({"secondaryTags": ["a", 3]}, "secondaryTags"),
        ({"scores": {"confidence": 2}}, "scores"),
        ({"provenance": []}, "provenance"),
        ({"provenance": [{"source": 3}]}, "provenance"),
        ({"provenance": [{"source": "A.md", "lineSpan": [3, 1], "type": "direct"}]}, "provenance"),
        ({"provenance": [{"source": "A.md", "type": "odd"}]}, "provenance"),
        (
            {"provenance": [{"source": "A.md", "type": "direct", "capturedAt": "soon"}]},
            "provenance",
        ),
        ({"id": "x"}, "id"),
        ({"updatedAt_utc": "soon"}, "updatedAt_utc"),
        ({"subject": 3}, "subject"),
        ({"text": "The key is ghp_" + "FakeFakeFake1234FakeFakeFake5678Fake"}, "text"),
        ({"supersedes": ["cl-9999999999999999"]}, "supersedes"),
        ({"contradictions": [{"competingClaimId": "cl-9"}]}, "contradictions"),
        (
            {"duplicateDisposition": "probable_duplicate", "duplicateTargetClaimId": "cl-9"},
            "duplicateTargetClaimId",
        ),
    ],
)
def test_a_field_that_cannot_be_used_is_named_and_the_claim_is_taken_in(
    more: dict[str, Any], key: str
) -> None:
    found = import_artifacts(EMPTY, offer(claim("1", **more)))
    assert [(p.key, p.line, p.severity) for p in found.problems] == [(key, 1, "warning")]
    ((memory,),) = [[c.memory for c in found.changes if isinstance(c, Create)]]
    assert "Fake1234" not in codec.encode(memory).decode()


def test_a_personal_home_is_rerouted_on_a_business_repository() -> None:
    record = claim("1", type="milestone", primaryHome="HISTORY.md")
    assert only(record, profile="business").text("home") == "EPISODES.md"


def test_one_statement_under_two_homes_is_one_memory_with_all_evidence() -> None:
    one = claim("1", type="method", primaryHome="PLAYBOOKS.md")
    other = {
        **one,
        "id": "cl-2222222222222222",
        "primaryHome": "LTMEMORY.md",
        "provenance": [{"source": "RTMEMORY.md", "type": "direct"}],
    }
    found = import_artifacts(EMPTY, offer(one, other))
    (memory,) = made(found).values()
    assert [s.resource for s in memory.sources] == ["sources/MEMORY.md", "sources/RTMEMORY.md"]
    assert rules(found) == [("import-same", 2)]


INVENTORY = {
    "sourceInventory": [
        {"path": "MEMORY.md", "content_hash": lineage.content_hash(SOURCE)},
    ]
}
UNIT = text_hash("Vera keeps the greenhouse at 14 degrees in winter.")


@pytest.mark.parametrize(
    ("more", "page", "expected"),
    [
        ({"text": "Vera keeps the greenhouse at 14 degrees in winter."}, {}, UNIT),
        ({"text": "In winter Vera keeps the greenhouse at 14."}, INVENTORY, UNIT),
        ({"text": "In winter Vera keeps the greenhouse at 14."}, {}, ""),
        ({"text": "Completely different words stand here."}, INVENTORY, ""),
        (
            {"text": "In winter Vera keeps the greenhouse at 14.", "status": "superseded"},
            INVENTORY,
            "",
        ),
        (
            {
                "text": "Vera keeps the greenhouse at 14, Holt sells seeds.",
                "provenance": [{"source": "MEMORY.md", "lineSpan": [3, 4], "type": "direct"}],
            },
            INVENTORY,
            "",
        ),
    ],
    ids=["same-text", "reworded", "file-changed", "other-words", "superseded", "two-units"],
)
def test_evidence_is_a_unit_only_where_that_is_sure(
    more: dict[str, Any], page: dict[str, Any], expected: str
) -> None:
    files = {lineage.MANIFEST: json.dumps(page).encode()}
    memory = only(
        claim("1", **more),
        files=files,
        sources={"MEMORY.md": SOURCE},
        blobs={"MEMORY.md": "a" * 40},
    )
    (source,) = memory.sources
    assert source.text_hash == expected


def test_an_export_of_ours_names_itself_as_producer() -> None:
    files = {lineage.MANIFEST: json.dumps({"packageVersion": "1.7.0+memrepo.0.1.0"}).encode()}
    assert only(claim("1"), files=files).fields["generated"].by == "memrepo/0.1.0"


def test_a_damaged_manifest_is_a_warning() -> None:
    found = import_artifacts(EMPTY, offer(claim("1"), files={lineage.MANIFEST: b"x"}))
    assert rules(found) == [("import-manifest", 0)]
    assert len(made(found)) == 1


def after(found: Imported, base: State = EMPTY) -> State:
    return apply(base, (*found.changes, *found.files))


def candidate(text: str, verdict: str, at: str) -> dict[str, Any]:
    scores = dict.fromkeys(
        (
            "durability",
            "future_judgment_value",
            "action_value",
            "identity_relationship_weight",
            "cross_time_persistence",
            "noise_risk",
        ),
        0.25,
    )
    return {
        "candidate_id": "cand-1",
        "text": text,
        "type_hint": "fact",
        "verdict": verdict,
        "strength": 1.0,
        "scores": scores,
        "rationale": "vague",
        "timestamp_utc": at,
        "source_refs": [
            {"source": "DREAMS.md", "line_span": [4, 5], "captured_at": "2026-01-03T00:00:00Z"}
        ],
    }


def log(*records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_candidates_become_files_the_newest_judgement_of_a_text_counts() -> None:
    files = {
        lineage.DEFERRED: log(
            candidate("Perhaps a pond.", "defer", "2026-01-01T00:00:00Z"),
            candidate(claim("1")["text"], "defer", "2026-01-01T00:00:00Z"),
        ),
        lineage.REJECTED: log(
            candidate("Perhaps a pond.", "reject", "2026-02-01T00:00:00Z"),
            candidate("ok", "reject", "2026-02-01T00:00:00Z"),
            candidate("ok", "promote", "2026-02-01T00:00:00Z"),
            candidate("", "reject", "2026-02-01T00:00:00Z"),
        ),
    }
    found = import_artifacts(EMPTY, offer(claim("1"), files=files))
    written = {f.path: f.data.decode() for f in found.files if isinstance(f, Write)}
    assert sorted(written) == sorted(
        Layout().candidate("rejected", text_hash(text)) for text in ("Perhaps a pond.", "ok")
    )
    assert (found.counts["rejected"], found.counts["deferred"]) == (2, 0)
    assert found.counts["promoted_since"] == 1
    assert rules(found) == [("import-record", 3), ("import-record", 4)]
    (pond,) = [text for text in written.values() if "Perhaps a pond." in text]
    assert "judged: 2026-02-01T00:00:00Z" in pond
    assert "resource: sources/DREAMS.md" in pond


def test_importing_again_changes_nothing() -> None:
    new = claim("1", supersedes=["cl-2222222222222222"])
    old = claim("2", status="superseded", supersededBy=[new["id"]])
    files = {lineage.DEFERRED: log(candidate("Perhaps a pond.", "defer", "2026-01-01T00:00:00Z"))}
    given_ = offer(new, old, files=files)
    state = after(import_artifacts(EMPTY, given_))
    again = import_artifacts(state, given_)
    assert (again.changes, again.files) == ((), ())
    assert again.counts["memories_known"] == 2


def test_a_claim_that_is_known_by_its_text_only_lends_its_id() -> None:
    state = after(import_artifacts(EMPTY, offer(claim("1"))))
    (memory,) = state.memories.values()
    bare = apply(state, [Update(id=memory.id, fields={"claim_id": None, "subject": "Other"})])
    found = import_artifacts(bare, offer(claim("1")))
    assert found.changes == (Update(id=memory.id, fields={"claim_id": "cl-1111111111111111"}),)


def test_a_later_import_links_new_claims_to_known_ones() -> None:
    state = after(import_artifacts(EMPTY, offer(claim("1"))))
    new = claim(
        "2",
        contradictions=[
            {
                "competingClaimId": "cl-1111111111111111",
                "competingText": "",
                "relation": "contested",
            },
        ],
    )
    found = after(import_artifacts(state, offer(claim("1"), new)), state)
    assert all(len(m.fields["links"]) == 1 for m in found.memories.values())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["source", "lineSpan", "type", "competingClaimId", "runId", "x"]), inner
        )
    ),
    max_leaves=8,
)


@settings(max_examples=80)
@given(st.dictionaries(st.sampled_from([*CLAIM_FIELDS, "retirementReasons"]), JSON))
def test_any_json_is_taken_in_or_named(more: dict[str, Any]) -> None:
    found = import_artifacts(EMPTY, offer(claim("1", **more), claim("2")))
    after(found)
    errors = {p.line for p in found.problems if p.severity == "error"}
    ids = [c for c in found.changes if isinstance(c, Create)]
    assert len(ids) + len(errors) + sum(p.rule == "import-same" for p in found.problems) >= 2
