"""Memories in the purifier lineage's file shapes: what each field comes from."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source, Stamp
from memrepo.core.state import State, read_state
from memrepo.formats import plan
from memrepo.read.sources import SourceRules
from memrepo.views.artifacts import Export, Exported, artifacts

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
SEEN = datetime(2026, 2, 1, 9, tzinfo=UTC)
SOURCE = Source(resource="sources/MEMORY.md", lines=(3, 4), kind="direct", captured="2026-01-05")
LAYOUT = Layout()


def mem(digit: str, **fields: Any) -> Memory:
    """Return a fact about a garden; the id repeats a digit."""
    id_ = f"mem-{digit * 16}"
    body = fields.pop("body", f"The garden has {digit} beds, as counted in spring.")
    base = {
        "id": id_,
        "type": "fact",
        "subject": "Garden",
        "predicate": "has",
        "created": SEEN,
        "sources": (SOURCE,),
        "generated": Stamp(by="memrepo/1", at=SEEN),
    }
    kept = {key: value for key, value in {**base, **fields}.items() if value is not None}
    path = LAYOUT.memory(id_=id_, type_=kept["type"], text=body, captured="2026-01-05")
    return Memory.of(path, kept, body=body)


def state(*found: Memory, **files: bytes) -> State:
    """Return a state of memory files and others (`__` in a keyword stands for a slash)."""
    tree = {m.path: codec.encode(m) for m in found}
    return read_state({**tree, **files}, LAYOUT)


def exported(found: State, profile: Any = "personal") -> Exported:
    export = Export(found, profile=profile, zone=ZoneInfo("Asia/Manila"), now=NOW)
    return artifacts(export, SourceRules())


def claims(made: Exported) -> dict[str, dict[str, Any]]:
    """Return claim records by memory text."""
    records = [json.loads(line) for line in made.files[plan.CLAIMS].splitlines()]
    return {record["text"]: record for record in records}


def page(made: Exported, name: str) -> Any:
    return json.loads(made.files[name])


def only(made: Exported) -> dict[str, Any]:
    (record,) = claims(made).values()
    return record


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
    made = exported(state(memory))
    record = only(made)
    assert record["status"] == expected
    routed = page(made, plan.ROUTES)["LTMEMORY.md"]
    assert routed == ([] if expected in plan.INACTIVE else [record["id"]])


def test_notes_forgotten_and_personal_memories_are_left_out_and_counted() -> None:
    found = state(
        mem("1"), mem("2", type="note"), mem("3", status="forgotten"), mem("4", type="aspiration")
    )
    made = exported(found, "business")
    assert len(claims(made)) == 1
    assert made.left_out == {"forgotten": 1, "note": 1, "personal": 1}
    assert len(claims(exported(found))) == 2
