"""What kind of change each difference between two memories is counted as."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memrepo.core.memory import Hot, Link, Memory, Retired, Source, Stamp
from memrepo.core.state import KINDS, Files, State, differences
from memrepo.views.review import SUMMARIES

ID = "mem-0000000000000001"
THEN = datetime(2026, 3, 1, tzinfo=UTC)
NEXT = datetime(2026, 3, 2, tzinfo=UTC)


def state(*memories: Memory) -> State:
    return State(files=Files({}, {}), memories={m.id: m for m in memories})


def memory(body: str = "a text", path: str = "memories/notes/a.md", **fields: Any) -> Memory:
    return Memory(path=path, fields={"id": ID, "type": "note", **fields}, body=body)


@pytest.mark.parametrize(
    ("before", "after", "kinds", "names"),
    [
        (
            {},
            {"status": "superseded", "superseded_by": ("mem-2",), "superseded_at": THEN},
            ("superseded",),
            ("status", "superseded_by", "superseded_at"),
        ),
        (
            {},
            {"standing": "retire_candidate", "retired": (Retired(run="r", reason="x"),)},
            ("retired",),
            ("standing", "retired"),
        ),
        ({}, {"status": "forgotten"}, ("forgotten",), ("status",)),
        ({}, {"status": "archived", "archived_at": THEN}, ("archived",), ("status", "archived_at")),
        ({"status": "archived"}, {"status_epoch": 1}, ("restored",), ("status", "status_epoch")),
        ({}, {"body": "other"}, ("reworded",), ()),
        ({}, {"body": "other", "standing": "contested"}, ("reworded", "standing"), ("standing",)),
        (
            {"sources": (Source(resource="a.md"),)},
            {"sources": (Source(resource="b.md"),)},
            ("evidence",),
            ("sources",),
        ),
        ({}, {"verified": (Stamp(by="human:a"),)}, ("confirmed",), ("verified",)),
        ({}, {"hot": Hot(since=THEN, reason="user request")}, ("promoted",), ("hot",)),
        ({"hot": Hot(since=THEN)}, {"hot": Hot(since=NEXT)}, ("promoted",), ("hot",)),
        ({"hot": Hot(since=THEN)}, {"hot": Hot(until=NEXT)}, ("demoted",), ("hot",)),
        ({"hot": Hot(since=THEN)}, {}, ("demoted",), ("hot",)),
        ({"hot": Hot(since=THEN)}, {"hot": Hot(since=THEN, reason="sync")}, ("fields",), ("hot",)),
        ({}, {"promoted": True}, ("promoted",), ("promoted",)),
        (
            {},
            {"tier": "warm", "tier_since": THEN, "tier_written": NEXT},
            ("tier",),
            ("tier", "tier_since"),
        ),
        ({}, {"confidence": 0.5}, ("confidence",), ("confidence",)),
        ({}, {"pinned": True}, ("flags",), ("pinned",)),
        ({}, {"links": (Link(target="mem-2", type="related"),)}, ("links",), ("links",)),
        ({}, {"path": "memories/notes/b.md"}, ("moved",), ()),
        ({}, {"tags": ("a",)}, ("fields",), ("tags",)),
    ],
)
def test_a_change_is_counted_by_what_it_means(
    before: dict[str, Any], after: dict[str, Any], kinds: tuple[str, ...], names: tuple[str, ...]
) -> None:
    (found,) = differences(state(memory(**before)), state(memory(**after)))
    assert (found.kinds, found.fields) == (kinds, names)


def test_what_comes_and_goes_is_told_and_what_stays_is_not() -> None:
    (came,) = differences(state(), state(memory()))
    (went,) = differences(state(memory()), state())
    assert (came.kind, went.kind) == ("added", "removed")
    assert differences(state(memory()), state(memory())) == ()


def test_every_kind_has_a_heading() -> None:
    assert tuple(SUMMARIES) == KINDS
