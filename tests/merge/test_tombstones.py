"""What a rejection knows again, what it only finds close, and what it keeps out of its file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, memories

from memrepo.core import codec
from memrepo.core.errors import Problem
from memrepo.core.ids import text_hash
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source
from memrepo.core.state import State, read_state
from memrepo.merge.tombstones import (
    Tombstone,
    Tombstones,
    held_against,
    path_of,
    read_tombstone,
    read_tombstones,
    similarity,
    tokens,
    tombstone_bytes,
    tombstone_of,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)


SAID = "The spare key lies under the third pot."


def fact(body: str = SAID, id_: str = "mem-0000000000000001", **fields: Any) -> Memory:
    path = f"memories/knowledge/2026-01/m-{id_[4:10]}.md"
    return Memory.of(path, {"id": id_, "type": "fact", **fields}, body=body)


def stone(memory: Memory) -> Tombstone:
    return tombstone_of(memory, reason="wrong", by="human:me", at=AT)


def stones(*memories: Memory) -> Tombstones:
    return Tombstones({s.key: s for s in map(stone, memories)})


OTHER = "mem-0000000000000002"


@pytest.mark.parametrize(
    ("rejected", "said", "barred"),
    [
        ("", "", True),
        ("", "user:ana", True),
        ("user:ana", "", True),
        ("user:ana", "user:ana", True),
        ("user:ana", "user:bo", False),
    ],
)
def test_a_rejection_holds_in_its_scope_and_in_wider_ones(
    rejected: str, said: str, barred: bool
) -> None:
    found = stones(fact(scope=rejected) if rejected else fact())
    memory = fact(SAID, OTHER, scope=said) if said else fact(SAID, OTHER)
    assert (found.find_barring(memory) is not None) is barred


@given(st.lists(memories(), min_size=1, max_size=6), st.data())
def test_whatever_is_barred_is_suspected(drawn: list[Memory], data: st.DataObject) -> None:
    barring = stones(data.draw(st.sampled_from(drawn)))
    suspected = [*barring.suspected(drawn)]
    assert [one for one in suspected if barring.find_barring(one)] == [
        m for m in drawn if barring.find_barring(m)
    ]


def test_most_memories_are_not_even_suspected() -> None:
    barring = stones(fact())
    others = [fact(f"Shelf {n} holds another thing.", f"mem-{n:016x}") for n in range(2, 50)]
    assert [*barring.suspected([*others, fact()])] == [fact()]
    assert [*Tombstones().suspected(others)] == []


def test_what_rests_only_on_rejected_units_is_close() -> None:
    one, two = (Source(resource="sources/a.md", text_hash=f"th-{n:016x}") for n in (1, 2))
    found = stones(fact(sources=(one,)))
    assert found.near(fact("Quite other words here.", OTHER, sources=(one,)))
    assert found.near(fact("Quite other words here.", OTHER, sources=(one, two))) is None
    assert found.near(fact("Quite other words here.", OTHER)) is None


def test_a_former_wording_is_close() -> None:
    found = stones(fact(former=(text_hash("It was worded otherwise."),)))
    assert found.near(fact("It was worded otherwise.", OTHER))


@pytest.mark.parametrize(
    ("one", "other", "close"),
    [
        ("a b c d e f g", "a b c d e f h", True),  # one word of seven
        ("a b c d e f", "a b c d e h", False),
        ("The heap was covered on Friday by Vera.", "Vera covered the heap on Friday.", True),
        ("on Friday Vera was covered by the heap", "The heap was covered by Vera on Friday", True),
        (
            "\u5317\u4eac\u662f\u9996\u90fd\u57ce\u5e02\u4e4b\u4e00",
            "\u5317\u4eac\u662f\u9996\u90fd\u57ce\u5e02\u4e4b\u4e00\u3002",
            True,
        ),
        ("", "", False),
    ],
)
def test_how_close_two_texts_are_is_a_share_of_words(one: str, other: str, close: bool) -> None:
    assert (similarity(tokens(one), tokens(other)) >= 0.85) is close


def test_a_tombstone_is_a_file_for_a_person() -> None:
    data = tombstone_bytes(stone(fact("My card number ends in seven.", title="Server A"))).decode()
    for words in ("My card number ends in seven.\n", "human:me", "wrong", "2026-03-01", "Server A"):
        assert words in data


texts = st.text(st.characters(codec="utf-8"), max_size=30)


@cases(60)
@given(texts, texts, st.sampled_from(("", "user:a")), texts)
def test_a_tombstone_is_read_as_it_was_written(
    body: str, subject: str, scope: str, reason: str
) -> None:
    made = tombstone_of(
        fact(body, subject=subject, predicate="is", object="x", scope=scope),
        reason=reason,
        by="human:me@example.org",
        at=AT,
        forgotten=("mem-0000000000000001",),
    )
    assert read_tombstone("tombstones/x.md", tombstone_bytes(made)) == made


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no header",
        b"\xff",
        b"---\nkey: ts-1\n---\n",
        b"---\nkey: ts-0000000000000001\n---\n",
        b"---\nkey: ts-0000000000000001\nkey: ts-0000000000000001\n---\n",
    ],
)
def test_a_damaged_file_is_a_problem_and_bars_nothing(data: bytes) -> None:
    assert isinstance(read_tombstone("tombstones/a.md", data), Problem)
    found = read_tombstones({"tombstones/a.md": data}, Layout())
    assert not found
    assert [p.rule for p in found.problems] == ["tombstone-unreadable"]


def state(*memories: Memory, **files: bytes) -> State:
    found = {memory.path: codec.encode(memory) for memory in memories}
    return read_state({**found, **files}, Layout())


def test_a_state_is_read_with_what_is_rejected_forgotten() -> None:
    made = stone(fact())
    files = {path_of(Layout(), made.key): tombstone_bytes(made)}
    read = held_against(state(fact(), fact("The barn is red.", "mem-" + "2" * 16), **files))
    assert [m.status for m in read.memories.values()] == ["forgotten", "active"]
    assert [p.rule for p in read.problems] == ["rejected-value"]
    assert held_against(read).problems == read.problems
