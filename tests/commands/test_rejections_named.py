"""Which rejections a word names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memrepo.actions.takeback.reject import tombstones_named
from memrepo.core import codec
from memrepo.core.errors import UsageError
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import State, read_state
from memrepo.merge.tombstones import (
    Tombstone,
    path_of,
    tombstone_bytes,
    tombstone_of,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
A, B, C, D = ("mem-" + digit * 16 for digit in "123d")


def fact(id_: str, body: str) -> Memory:
    path = f"memories/knowledge/x-{id_[4:10]}.md"
    return Memory.of(path, {"id": id_, "type": "fact"}, body=body)


ONE, TWO = fact(A, "The gate of the mill is green."), fact(B, "The barn next to it is red.")
BOTH = fact(C, f"{ONE.body} {TWO.body}")


def rejection(memory: Memory) -> Tombstone:
    return tombstone_of(memory, reason="no", by="human:me", at=AT)


def state(*stones: Tombstone) -> State:
    files = {path_of(Layout(), stone.key): tombstone_bytes(stone) for stone in stones}
    files |= {memory.path: codec.encode(memory) for memory in (ONE, TWO, BOTH)}
    return read_state(files, Layout())


FIRST, SECOND = rejection(ONE), rejection(TWO)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        (FIRST.key, [FIRST]),
        (FIRST.key[3:9], [FIRST]),
        (A, [FIRST]),
        (B, [SECOND]),
        (C, sorted((FIRST, SECOND), key=lambda stone: stone.key)),
        (fact(D, "").id, None),
        ("ts-", None),
    ],
)
def test_a_word_names_rejections_by_key_or_memory(word: str, found: list[Tombstone] | None) -> None:
    if found is None:
        with pytest.raises(UsageError):
            tombstones_named(state(FIRST, SECOND), word)
    else:
        assert tombstones_named(state(FIRST, SECOND), word) == found


def test_a_memory_that_is_gone_names_its_rejection() -> None:
    gone = rejection(fact(D, "The old fence fell over."))
    assert tombstones_named(state(FIRST, gone), D) == [gone]
