"""Many memories at once: by columns they are what they are one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hoards import hoard, memory
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import (
    Listed,
    Memories,
    Memory,
    by_id,
    differing,
    each,
    each_once,
    editable,
    grouped,
    having,
    listed,
    of_types,
    only,
    picked,
    replaced,
)

NAMES = ("path", "id", "type", "status", "standing", "keys", "captured", "files", "first", "said")
TEXTS = ("subject", "lead", "scope", "home", "predicate", "object")
STOOD = sorted(
    (
        *hoard(6),
        memory(20, "A note of the day.", type="note"),
        memory(21, "It was so once.", status="archived"),
        memory(22, "The oven is new.", subject="Bakery", scope="user:ana", pinned=True),
    ),
    key=lambda one: one.path,
)
REWORDED = {one.id: one.with_fields({}, "In other words.") for one in STOOD}
OTHERS = [memory(n, f"Something else, number {n}.") for n in range(30, 35)]


class Rows:
    """Columns of memories; of some of them every other cell is not known."""

    def __init__(self, memories: list[Memory]) -> None:
        self._memories = memories
        self.ids, self.paths = [m.id for m in memories], [m.path for m in memories]
        self.made: set[int] = set()

    def memory(self, at: int) -> Memory:
        self.made.add(at)
        return self._memories[at]

    def column(self, name: str) -> list[Any] | None:
        if name.startswith("once"):
            return None
        found: list[Any] = [
            getattr(one, name) if name in NAMES else one.text(name) for one in self._memories
        ]
        if name == "lead":
            found[::2] = [None] * len(found[::2])
        return found


def by_columns() -> Memories:
    found = Memories.of(Rows([*STOOD]), [])
    assert found is not None
    return found


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from([*STOOD, *OTHERS])),
        st.tuples(st.just("reword"), st.sampled_from(STOOD)),
        st.tuples(st.just("take"), st.sampled_from([*STOOD, *OTHERS])),
        st.tuples(st.just("replace"), st.sampled_from([*STOOD, *OTHERS])),
    ),
    max_size=8,
)


def changed(memories: Mapping[str, Memory], how: str, one: Memory) -> Mapping[str, Memory]:
    if how == "replace":
        here = {m.path for m in memories.values() if m.id == one.id}
        return replaced(memories, here, [one]) or {}
    found = editable(memories)
    if how == "take":
        found.pop(one.id, None)
    elif how == "reword":
        found[one.id] = REWORDED[one.id]
    else:
        found[one.id] = one
    return found


@given(CHANGES)
def test_memories_by_columns_are_those_of_a_dictionary(changes: list[tuple[str, Memory]]) -> None:
    some: Mapping[str, Memory] = by_columns()
    plain: Mapping[str, Memory] = {one.id: one for one in STOOD}
    for how, one in changes:
        before = dict(plain)
        some, plain = changed(some, how, one), changed(plain, how, one)
        assert [*some.items()] == [*plain.items()]
        assert len(some) == len(plain)
        if isinstance(some, Memories):
            assert differing(some, by_columns()) == differing(plain, dict(by_columns()))
            assert differing(some, before) == differing(plain, before)
    assert one_by_one(listed(some)) == one_by_one(listed(plain))


def one_by_one(memories: Any) -> list[object]:
    """Return all that is asked of many memories."""
    told: list[object] = [each(memories, name) for name in (*NAMES, *TEXTS)]
    told.append(each_once(memories, "length", lambda m: len(m.body)))
    pinned = having(memories, ("pinned", "critical"))
    told += [[*pinned], [*of_types(memories, ("fact", "note"))], dict(by_id(memories))]
    groups = grouped(memories, each(memories, "type"))
    told.append({key: [*found] for key, found in groups.items()})
    told.append([*picked(memories, range(len(memories) - 1, -1, -2))])
    told.append([*only(memories, [m.id > "mem-8" for m in memories])])
    return told


def test_the_active_ones_stand_in_the_order_of_their_paths() -> None:
    some = by_columns()
    for one in reversed(OTHERS):
        some[one.id] = one
    del some[STOOD[0].id]
    active = [m for m in (*STOOD[1:], *OTHERS) if m.status == "active"]
    assert [*some.active()] == sorted(active, key=lambda one: one.path)
    assert [*some.active()[1:3]] == [*some.active()][1:3]


def test_nothing_is_made_for_what_columns_tell() -> None:
    rows = Rows([*STOOD])
    some = Memories.of(rows, [])
    assert some is not None
    active = some.active()
    assert [*zip(each(active, "id"), each(active, "subject"), strict=True)]
    assert isinstance(of_types(active, ("note",)), Listed)
    assert differing(some, some.copy()) == set()
    assert not rows.made
    assert [one.type for one in of_types(active, ("note",))] == ["note"]
    assert len(rows.made) == 1


@pytest.mark.parametrize("other", [STOOD[1], STOOD[1].with_fields({"id": None})])
def test_memories_of_one_id_or_of_none_are_no_columns(other: Memory) -> None:
    assert Memories.of(Rows([*STOOD]), [other]) is None
    assert by_columns().changed((), [other]) is None
