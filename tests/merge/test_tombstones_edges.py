"""Tombstones at their edges: what decides between two, and where they lie."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import read_state
from memrepo.merge.tombstones import (
    Tombstone,
    Tombstones,
    held_against,
    is_tombstone,
    join_tombstones,
    path_of,
    tombstone_bytes,
    tombstone_of,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
A, B = "mem-" + "1" * 16, "mem-" + "2" * 16


def fact(body: str = "The gate is green.", id_: str = A, **fields: object) -> Memory:
    return Memory.of(
        path=f"memories/a/{id_}.md", fields={"id": id_, "type": "fact", **fields}, body=body
    )


def stone(memory: Memory | None = None, **changes: object) -> Tombstone:
    return replace(tombstone_of(memory or fact(), reason="wrong", by="human:me", at=AT), **changes)


def test_a_tombstone_lies_in_its_area_as_markdown() -> None:
    for prefix in ("", "memrepo/"):
        layout = Layout(prefix)
        assert is_tombstone(layout, path_of(layout, "ts-0"))
        assert not is_tombstone(layout, f"{prefix}tombstones/ts-0.json")
        assert not is_tombstone(layout, f"{prefix}runs/ts-0.md")
    assert not is_tombstone(Layout("memrepo/"), "tombstones/ts-0.md")


def test_of_two_clones_the_later_decision_stays_with_the_evidence_of_both() -> None:
    one = stone(units=("th-1",), forgotten=(A,))
    other = stone(units=("th-2",), reason="later", at=AT.replace(day=2))
    joined = join_tombstones(one, other)
    assert joined == join_tombstones(other, one)
    assert (joined.reason, joined.units, joined.forgotten) == ("later", ("th-1", "th-2"), (A,))


def test_what_is_near_shares_most_words() -> None:
    words = "alpha bravo charlie delta echo foxtrot golf"
    by_words = Tombstones({"t": stone(fact(words))})
    assert by_words.near(fact(f"{words} hotel india", B))
    assert not by_words.near(fact(f"{words} hotel india juliett", B))
    assert not Tombstones({}).near(fact())


def rejected(*memories: Memory) -> Tombstones:
    made = [tombstone_of(m, reason="no", by="human:me", at=AT) for m in memories]
    return Tombstones({stone.key: stone for stone in made})


def test_a_statement_of_two_words_is_found_within_a_text_when_it_is_a_pair() -> None:
    stones = rejected(fact("door: ajar", subject="Mill"))
    within = "The mill was built in 1902.\n\ndoor: ajar"
    assert stones.bar(fact(within, B, subject="Mill")) is not None
    assert stones.bar(fact(within, B, subject="Barn")) is None


def test_a_state_is_read_with_what_is_rejected_forgotten() -> None:
    memory, other = fact(), fact("The barn is red.", B)
    stone = tombstone_of(memory, reason="no", by="human:me", at=AT)
    files = {m.path: codec.encode(m) for m in (memory, other)}
    files[path_of(Layout(), stone.key)] = tombstone_bytes(stone)
    read = held_against(read_state(files, Layout()))
    assert [read.memories[i].status for i in (A, B)] == ["forgotten", "active"]
    assert [p.rule for p in read.problems] == ["rejected-value"]
    assert held_against(read).problems == read.problems
