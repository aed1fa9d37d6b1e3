"""Tombstones at their edges: what decides between two, and where they lie."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source
from memrepo.core.problems import Problem
from memrepo.core.state import read_state
from memrepo.merge.tombstones import (
    Tombstone,
    Tombstones,
    held_against,
    is_tombstone,
    join_tombstones,
    path_of,
    read_tombstone,
    tokens,
    tombstone_bytes,
    tombstone_of,
    tombstones_in,
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


def test_a_state_is_read_once_and_only_where_tombstones_lie() -> None:
    files = {path_of(Layout(), "ts-0"): tombstone_bytes(stone()), "sources/x.md": b"no tombstone"}
    state = read_state(files, Layout())
    assert tombstones_in(state) is tombstones_in(state)
    assert tombstones_in(state).problems == ()
    assert bool(tombstones_in(state))
    assert not tombstones_in(read_state({}, Layout()))


def test_what_is_missing_or_odd_is_named() -> None:
    whole = tombstone_bytes(stone())
    for data, said in (
        (whole.replace(b"\nby: human:me", b""), "by"),
        (b"no header", ""),
    ):
        found = read_tombstone("tombstones/a.md", data)
        assert isinstance(found, Problem)
        assert (found.rule, found.path) == ("tombstone-unreadable", "tombstones/a.md")
        assert said in found.message
    later = whole.replace(b"---\n", b"---\nmood: calm\n", 1)
    assert read_tombstone("t.md", later) == stone()


def test_of_two_clones_the_later_decision_stays_with_the_evidence_of_both() -> None:
    one = stone(units=("th-1",), forgotten=(A,))
    other = stone(units=("th-2",), reason="later", at=AT.replace(day=2))
    joined = join_tombstones(one, other)
    assert joined == join_tombstones(other, one)
    assert (joined.reason, joined.units, joined.forgotten) == ("later", ("th-1", "th-2"), (A,))


def test_a_triple_bars_other_wordings_and_a_text_only_what_has_no_triple() -> None:
    triple = {"subject": "Gate", "predicate": "colour", "object": "green"}
    of_triple = Tombstones({"t": stone(fact(**triple))})
    assert of_triple.bar(fact("Another wording.", B, **triple))
    assert of_triple.bar(fact(id_=B)), "the same text without a triple"
    assert not of_triple.bar(fact(id_=B, **{**triple, "object": "red"}))
    of_text = Tombstones({"t": stone()})
    assert of_text.bar(fact(id_=B, **triple))
    assert of_text.bar(fact("Something else.")), "the memory itself"
    assert not of_text.bar(fact("Something else.", B))


def test_a_rejection_in_a_scope_holds_there_and_one_without_everywhere() -> None:
    everywhere, there = Tombstones({"t": stone()}), Tombstones({"t": stone(fact(scope="work"))})
    assert everywhere.bar(fact(id_=B, scope="home"))
    assert there.bar(fact(id_=B, scope="Work"))
    assert not there.bar(fact(id_=B, scope="home"))
    assert there.keys == {stone(fact(scope="work")).key}


def test_what_is_near_is_near_by_units_wording_or_words() -> None:
    one, two = (Source(resource="s", text_hash=f"th-{n:016x}") for n in (1, 2))
    units = Tombstones({"t": stone(fact(sources=(one,)))})
    assert units.near(fact("Else entirely.", B, sources=(one,)))
    assert not units.near(fact("Else entirely.", B, sources=(one, two)))
    assert not units.near(fact("Else entirely.", B))
    words = "alpha bravo charlie delta echo foxtrot golf"
    by_words = Tombstones({"t": stone(fact(words))})
    assert by_words.near(fact(f"{words} hotel india", B))
    assert not by_words.near(fact(f"{words} hotel india juliett", B))
    assert not Tombstones({}).near(fact())


def test_words_are_cut_and_characters_without_blanks_paired() -> None:
    assert len(tokens("東京都")) == 2
    assert len(tokens("東")) == 1
    assert tokens("東京abc") == tokens("東京") | tokens("abc")
    assert tokens("Gate, gate!") == tokens("gate")
    assert all(len(token) == 4 for token in tokens("a gate of larch"))


def rejected(*memories: Memory) -> Tombstones:
    made = [tombstone_of(m, reason="no", by="human:me", at=AT) for m in memories]
    return Tombstones({stone.key: stone for stone in made})


def test_a_statement_of_two_words_is_found_within_a_text_when_it_is_a_pair() -> None:
    stones = rejected(fact("door: ajar", subject="Mill"))
    within = "The mill was built in 1902.\n\ndoor: ajar"
    assert stones.bar(fact(within, B, subject="Mill")) is not None
    assert stones.bar(fact(within, B, subject="Barn")) is None


def test_a_rejection_in_a_scope_is_found_within_texts_of_that_scope_and_of_none() -> None:
    said = "Milk is served at six in the old mill."
    stones, within = rejected(fact(said, scope="user:ana")), f"One.\n\n{said}"
    scopes = ("user:ana", "user:bo", "")
    found = [stones.bar(fact(within, B, **({"scope": s} if s else {}))) for s in scopes]
    assert [stone is not None for stone in found] == [True, False, True]


def test_a_state_is_read_with_what_is_rejected_forgotten() -> None:
    memory, other = fact(), fact("The barn is red.", B)
    stone = tombstone_of(memory, reason="no", by="human:me", at=AT)
    files = {m.path: codec.encode(m) for m in (memory, other)}
    files[path_of(Layout(), stone.key)] = tombstone_bytes(stone)
    read = held_against(read_state(files, Layout()))
    assert [read.memories[i].status for i in (A, B)] == ["forgotten", "active"]
    assert [p.rule for p in read.problems] == ["rejected-value"]
    assert held_against(read).problems == read.problems
