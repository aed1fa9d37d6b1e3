"""What a person took back waits; what does not depend on it goes on."""

from __future__ import annotations

import pytest

from memrepo.actions.run.holds import fingerprints, part
from memrepo.core.changes import Create, Step, Update
from memrepo.core.memory import Memory

A, B, C = (f"mem-{c * 16}" for c in "abc")


def create(*ids: str) -> Step:
    return Step(
        op="create",
        what=f"{len(ids)} memories from sources",
        changes=tuple(
            Create(memory=Memory(path=f"memories/knowledge/{i}.md", fields={"id": i})) for i in ids
        ),
    )


def supersede(old: str, new: str) -> Step:
    return Step(op="supersede", what="x by y", changes=(Update(id=old), Update(id=new)))


def test_nothing_refused_holds_nothing() -> None:
    steps = (create(A, B), supersede(C, A))
    parted = part(steps, frozenset())
    assert parted.kept == steps
    assert not parted.held


def test_one_of_a_bulk_step_waits_and_the_others_go_on() -> None:
    parted = part((create(A, B, C),), fingerprints("create", [B]))
    (kept,), (held,) = parted.kept, parted.held
    assert kept.memory_ids == (A, C)
    assert held.memory_ids == (B,)
    assert parted.held_ids == {B}


def test_a_decision_that_needs_a_held_memory_waits_with_it() -> None:
    parted = part((create(A, B), supersede(C, B)), fingerprints("create", [B]))
    assert [s.op for s in parted.held] == ["create", "supersede"]
    assert [s.memory_ids for s in parted.kept] == [(A,)]


def test_a_single_decision_waits_when_it_was_refused_itself() -> None:
    parted = part((create(A), supersede(C, A)), fingerprints("supersede", [A, C]))
    assert [s.op for s in parted.kept] == ["create"]
    assert [s.op for s in parted.held] == ["supersede"]


def test_what_was_refused_is_neither_done_nor_held_and_takes_its_dependents_along() -> None:
    parted = part((create(A, B), supersede(C, B)), frozenset(), fingerprints("create", [B]))
    assert [s.memory_ids for s in parted.kept] == [(A,)]
    assert parted.held == ()
    assert [s.op for s in parted.refused] == ["create", "supersede"]
    assert parted.refused_ids == {B}


def test_refused_beats_taken_back() -> None:
    prints = fingerprints("create", [A])
    parted = part((create(A),), prints, prints)
    assert (parted.kept, parted.held) == ((), ())
    assert len(parted.refused) == 1


@pytest.mark.parametrize(
    ("op", "memories", "expected"),
    [
        ("create", [A, B], {f"create:{A}", f"create:{B}"}),
        ("supersede", [B, A], {f"supersede:{A}+{B}"}),
        ("supersede", [A, B], {f"supersede:{A}+{B}"}),
    ],
)
def test_fingerprints_know_no_order(op: str, memories: list[str], expected: set[str]) -> None:
    assert fingerprints(op, memories) == expected


def twin_of(id_: str, other: str) -> Step:
    fields = {"id": id_, "duplicate_of": other, "standing": "probable_duplicate"}
    memory = Memory(path=f"memories/knowledge/{id_}.md", fields=fields)
    return Step(op="create", what="1 memory from sources", changes=(Create(memory=memory),))


@pytest.mark.parametrize("refused", [False, True])
def test_a_creation_says_nothing_of_a_twin_that_is_not_to_be(refused: bool) -> None:
    prints, none = fingerprints("create", [A]), frozenset[str]()
    taken_back, out = (none, prints) if refused else (prints, none)
    (kept,) = part((create(A), twin_of(B, A)), taken_back, out).kept
    (change,) = kept.changes
    assert isinstance(change, Create)
    assert dict(change.memory.fields) == {"id": B}


def test_a_creation_keeps_a_twin_that_stays() -> None:
    steps = (create(A), twin_of(B, A))
    assert part(steps, fingerprints("create", [C])).kept == steps
