"""What restoring a memory changes in it and in the memories that replaced it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memrepo.actions.takeback import restore
from memrepo.actions.takeback.restore import Replaced, Request
from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Stamp
from memrepo.core.state import State, read_state

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STAMP = Stamp(by="human:me", at=NOW)
A, B, C, D = ("mem-" + digit * 16 for digit in "123d")


def fact(id_: str, **fields: Any) -> Memory:
    path = f"memories/knowledge/x-{id_[4:10]}.md"
    return Memory.of(path, {"id": id_, "type": "fact", **fields}, body=f"Text {id_}.")


def state(*memories: Memory) -> State:
    return read_state({m.path: codec.encode(m) for m in memories}, Layout())


def changed(memory: Memory, *others: Memory, **how: Any) -> dict[str, dict[str, Any]]:
    updates = restore._changes(state(memory, *others), memory, STAMP, Request(id=A, **how))
    assert updates[0].id == A
    return {update.id: dict(update.fields) for update in updates}


OLD = fact(A, status="superseded", superseded_by=(B,), superseded_at=NOW, status_epoch=2)
NEW = fact(B, supersedes=(A, C))
BASE = {"status_epoch": 3, "archived_at": None, "verified": (STAMP,), "status": None}
FREE = {"superseded_by": None, "superseded_at": None}


def test_a_replaced_memory_needs_a_choice() -> None:
    with pytest.raises(Replaced):
        changed(OLD, NEW)


def test_instead_turns_the_supersession_round() -> None:
    assert changed(OLD, NEW, instead=True) == {
        A: {**BASE, **FREE, "supersedes": (B,)},
        B: {
            "supersedes": (C,),
            "status": "superseded",
            "superseded_at": NOW,
            "superseded_by": (A,),
        },
    }


def test_beside_keeps_both_as_contested() -> None:
    assert changed(OLD, NEW, beside=True) == {
        A: {**BASE, **FREE, "standing": "contested"},
        B: {"supersedes": (C,), "standing": "contested"},
    }


@pytest.mark.parametrize(("how"), [{}, {"beside": True}, {"instead": True}])
def test_a_replacement_that_is_gone_needs_no_choice(how: dict[str, bool]) -> None:
    gone = fact(B, supersedes=(A,), status="forgotten")
    assert changed(OLD, gone, **how) == {A: {**BASE, **FREE}, B: {"supersedes": None}}
    assert changed(OLD, **how) == {A: {**BASE, **FREE}}


def test_the_end_of_a_chain_counts() -> None:
    middle = fact(B, status="superseded", superseded_by=(C,), supersedes=(A,))
    last = fact(C, supersedes=(B,))
    found = changed(OLD, middle, last, instead=True)
    assert found[A]["supersedes"] == (C,)
    assert (found[B], found[C]["superseded_by"]) == ({"supersedes": None}, (A,))
    ring = fact(C, status="superseded", superseded_by=(A, B), supersedes=(B,))
    assert restore._heirs(state(OLD, middle, ring), OLD) == ()


def test_a_forgotten_memory_that_was_replaced_is_superseded_again() -> None:
    forgotten = OLD.with_fields({"status": "forgotten"})
    assert changed(forgotten, NEW) == {A: {**BASE, "status": "superseded"}}
    assert changed(forgotten, NEW, beside=True)[A]["status"] is None
    assert changed(forgotten)[A] == {**BASE, **FREE}


def test_a_note_starts_as_warm() -> None:
    note = fact(A, status="forgotten", tier="gist").with_fields({"type": "note"})
    assert changed(note)[A] == {
        **{key: value for key, value in BASE.items() if key != "verified"},
        **FREE,
        "status_epoch": 1,
        "tier": "warm",
        "tier_since": NOW,
        "user_marked": True,
    }


@pytest.mark.parametrize(
    ("word", "tail", "is_named"),
    [
        (A, "-111111", True),
        ("1111", "-1111??", True),
        ("mem-1", "-1?????", True),
        (D, "-dddddd", False),
        ("memories/knowledge/x-111111.md", "x-111111", True),
        ("X_y", "??y", False),
    ],
)
def test_a_word_names_a_removed_memory(word: str, tail: str, is_named: bool) -> None:
    assert restore._tail(word) == tail
    assert restore._names(fact(A), word) is is_named
