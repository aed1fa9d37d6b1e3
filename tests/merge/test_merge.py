"""Merging states and memories: the laws over generated cases, and the trials that wrote them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import FIELDS, MAX_LISTED, Link, Memory, Source, Stamp, listed_places
from memrepo.core.state import State, read_state
from memrepo.merge import states
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.tombstones import tombstone_bytes, tombstone_of
from memrepo.merge.versions import FileVersion, join_versions
from tests.strategies import IDS, Triple, cases, place, triples

A, B, C = IDS[:3]
DAY = datetime(2026, 3, 1, tzinfo=UTC)
MACHINE = Stamp(by="memrepo/0.1.0", at=DAY)
PERSON = Stamp(by="human:me", at=DAY - timedelta(days=9))


def merged(t: Triple) -> MergeResult:
    return merge_states(t.base, t.ours, t.theirs)


def rejecting(side: State, *rejected: Memory) -> State:
    """Return a state with the tombstones of some memories."""
    stones = [tombstone_of(m, reason="no", by="human:me", at=DAY) for m in rejected]
    files = {f"tombstones/{stone.key}.md": tombstone_bytes(stone) for stone in stones}
    return read_state({**side.files, **files}, Layout())


# Laws


@cases(80)
@given(triples())
def test_every_result_decodes(t: Triple) -> None:
    result = merged(t).state
    read = read_state(dict(result.files), Layout())
    assert read.memories == result.memories
    unread = {p.path for p in read.problems if p.severity == "error"}
    assert {p.path for p in result.problems if p.severity == "error"} == unread
    for path in unread:
        assert any(result.files[path] in side.files.values() for side in (t.ours, t.theirs))


@cases(80)
@given(triples())
def test_the_effect_turns_ours_into_the_result(t: Triple) -> None:
    result = merged(t)
    assert t.ours.files.edited(result.effect) == result.state.files


@cases(150)
@given(triples())
def test_what_one_side_alone_changed_is_in_the_result(t: Triple) -> None:
    result = merged(t)
    odd = {c.id for c in result.conflicts}
    mended = {(p.message.split(":")[0], p.key) for p in result.problems}
    for id_, memory in result.state.memories.items():
        if id_ in odd or any(name == id_ for name, _ in mended):
            continue
        versions = [state.memories.get(id_) for state in (t.base, t.ours, t.theirs)]
        if None in versions:
            continue
        base, ours, theirs = (m.fields for m in versions if m is not None)
        for field in FIELDS:
            if field.name in ("status", "superseded_by", "supersedes"):
                continue
            o, a, b = (side.get(field.name, field.default) for side in (base, ours, theirs))
            if o in (a, b):
                assert memory.fields.get(field.name, field.default) == (b if o == a else a)


@cases(100)
@given(triples())
def test_no_memory_and_no_file_of_one_side_is_dropped(t: Triple) -> None:
    result = merged(t).state
    for side, other in ((t.ours, t.theirs), (t.theirs, t.ours)):
        for id_ in side.memories:
            if id_ not in t.base.memories or side.memories[id_] != t.base.memories[id_]:
                broken = any(d.endswith(b"---\n" + id_.encode()) for d in result.files.values())
                assert id_ in result.memories or broken
        for path, data in side.files.items():
            if t.base.files.get(path) != data and not result.layout.is_memory(path):
                assert path in result.files
                assert other.files.get(path) != t.base.files.get(path) or result.files[path] == data


@cases(80)
@given(triples())
def test_a_merge_breaks_no_reference(t: Triple) -> None:
    result = merged(t).state
    known = {f.name for side in (t.ours, t.theirs) for f in states.findings(side)}
    assert {f.name for f in states.findings(result)} <= known


def test_files_that_we_swapped_and_they_removed_leave_one_file_per_memory() -> None:
    one, two = (f"memories/knowledge/2026-01/m-00000{n}.md" for n in (1, 2))
    first, second = (f"---\nid: {id_}\ntype: fact\n---\n".encode() for id_ in IDS[:2])
    base, ours, theirs = (
        read_state(files, Layout())
        for files in ({one: first, two: second}, {one: second, two: first}, {two: second})
    )
    result = merge_states(base, ours, theirs).state
    assert result.problems == ()
    assert len([path for path in result.files if path.startswith("memories/")]) == 2


@cases(60)
@given(triples(), st.frozensets(st.sampled_from(IDS), min_size=1, max_size=3))
def test_no_side_brings_back_what_a_tombstone_names(t: Triple, dead: frozenset[str]) -> None:
    # A rejection names one of several memories with the same statement.
    named = {m.body: m for i, m in t.ours.memories.items() if i in dead}
    dying = [*named.values()]
    dead = frozenset(memory.id for memory in dying)
    result = merged(replace(t, ours=rejecting(t.ours, *dying))).state
    for id_ in dead & result.memories.keys():
        assert result.memories[id_].status == "forgotten"
    again = merge_states(t.base, result, t.theirs).state
    assert not [i for i in dead & again.memories.keys() if again.memories[i].status != "forgotten"]


# The trials behind the design, and boundaries


def fact(id_: str = A, body: str = "one", **fields: Any) -> Memory:
    path = fields.pop("path", place(id_))
    return Memory.of(path, {"id": id_, "type": "fact", **fields}, body=body)


def state(*memories: Memory, **files: bytes) -> State:
    written = {m.path: codec.encode(m) for m in memories}
    return read_state({**written, **files}, Layout())


def test_a_pin_follows_its_memory_and_never_its_path() -> None:
    moved = place(A, "skills/2026-02")
    base = state(fact(A), fact(B, "two"))
    ours = state(fact(A, path=moved), fact(B, "two", path=place(A)))
    theirs = state(fact(A, pinned=True), fact(B, "two"))
    result = merge_states(base, ours, theirs).state
    assert result.memories[A] == fact(A, path=moved, pinned=True)
    assert result.memories[B] == fact(B, "two", path=place(A))


def test_a_pin_on_a_removed_memory_does_not_land_on_a_new_one_of_the_same_text() -> None:
    base, ours = state(fact(A)), state(fact(B))
    result = merge_states(base, ours, state(fact(A, pinned=True)))
    assert result.state == state(fact(A, pinned=True), fact(B))


def test_files_of_identical_content_are_not_taken_for_each_other() -> None:
    a, b = "memories/knowledge/a.md", "memories/knowledge/b.md"
    same = codec.encode(Memory.of(a, {"type": "fact"}, body="same"))
    edited = codec.encode(Memory.of(a, {"type": "fact"}, body="edited"))
    base = read_state({a: same, b: same}, Layout())
    result = merge_states(
        base, read_state({b: same}, Layout()), read_state({a: same, b: edited}, Layout())
    )
    assert dict(result.state.files) == {b: edited}


def test_two_replacements_of_one_memory_both_stand() -> None:
    base = state(fact(A))
    ours = state(fact(A, status="superseded", superseded_by=(B,)), fact(B, supersedes=(A,)))
    theirs = state(fact(A, status="superseded", superseded_by=(C,)), fact(C, supersedes=(A,)))
    result = merge_states(base, ours, theirs)
    assert result.state.memories[A].superseded_by == (B, C)
    assert result.problems == ()


def test_three_memories_that_moved_to_one_path_are_numbered() -> None:
    at = place(A)
    ours = state(fact(A), fact(B, "two", path=place(B)))
    theirs = state(
        fact(IDS[3], "x", path=at), **{at.replace("m-", "m-2-"): b"---\nx: y\n---\n\nz\n"}
    )
    result = merge_states(state(), ours, theirs).state
    assert result.memories[IDS[3]].path == at.replace("m-", "m-3-")


def test_who_stays_keeps_its_path_from_one_that_moves_in() -> None:
    base = state(fact(A), fact(B, "two"))
    ours = state(fact(A), fact(B, "two", title="t"))
    result = merge_states(base, ours, state(fact(A, path=place(B))))
    assert result.state.memories[B] == fact(B, "two", title="t")
    assert result.state.memories[A].path == place(B).replace("m-", "m-2-")


def test_a_memory_that_both_sides_moved_stands_at_the_smaller_path() -> None:
    near, far = (place(A, f"skills/2026-0{n}") for n in (2, 3))
    for paths in ((near, far), (far, near)):
        ours, theirs = (state(fact(path=path)) for path in paths)
        assert merge_states(state(fact()), ours, theirs).state == state(fact(path=near))


LATE = DAY + timedelta(days=1)
BASE = Stamp(by="a/0", at=DAY - timedelta(days=20))


def both(base: Memory | None, ours: Memory, theirs: Memory) -> tuple[Memory, tuple[str, ...]]:
    """Merge a memory, and once more with the sides swapped: the result is the same."""
    versions = [
        FileVersion(m.path, codec.encode(m), m) if m else None for m in (base, ours, theirs)
    ]
    found = join_versions(*versions)
    assert join_versions(versions[0], versions[2], versions[1]) == found
    assert found.version is not None
    assert found.version.memory is not None
    return found.version.memory, found.lost


@pytest.mark.parametrize(
    ("ours", "theirs", "winner"),
    [
        pytest.param(MACHINE, PERSON, "theirs", id="a person over a newer machine"),
        pytest.param(MACHINE, Stamp(by="a/1", at=LATE), "theirs", id="newer"),
        pytest.param(MACHINE, BASE, "theirs", id="a hand that left the stamp over a machine"),
        pytest.param(BASE, PERSON, "theirs", id="a person with a date over one without"),
        pytest.param(MACHINE, MACHINE, "theirs", id="the values themselves"),
    ],
)
def test_who_wins_where_both_changed_a_value(ours: Stamp, theirs: Stamp, winner: str) -> None:
    sides = [fact(title=t, generated=s) for t, s in (("ours", ours), ("theirs", theirs))]
    memory, lost = both(fact(title="base", generated=BASE), *sides)
    assert (memory.title, lost) == (winner, ("title",))


@pytest.mark.parametrize("base", [None, "a", "b"])
def test_a_removal_against_a_change_is_a_conflict_and_against_none_a_removal(
    base: str | None,
) -> None:
    old = state(fact(A, base)) if base else state()
    for ours, theirs in ((state(), state(fact(A, "b"))), (state(fact(A, "b")), state())):
        result = merge_states(old, ours, theirs)
        assert (A in result.state.memories) is (base != "b")
        assert [c.kind for c in result.conflicts] == ["removed-and-edited"] * (base == "a")


def test_one_broken_file_does_not_stop_the_rest() -> None:
    base = state(fact(A), fact(B, "two"))
    theirs = state(fact(A, title="t"), fact(B, "two", title="t"))
    broken = read_state({**base.files, place(A): b"---\ntype: [\n---\nx\n"}, Layout())
    for ours, other in ((broken, theirs), (theirs, broken)):
        result = merge_states(base, ours, other)
        assert result.state.memories == theirs.memories
        assert [c.kind for c in result.conflicts] == ["unreadable"]


S1, S2, S3 = (Source(resource="sources/a.md", text_hash=f"th-{n:016x}") for n in range(3))
SPANS = (Source(resource="a", lines=(1, 2)), Source(resource="a", lines=(3, 4)))
NEAR, NEXT = Link(target=B, type="related"), Link(target=B, type="follows")
LOOSE = Link(target=B, type="related", strength=0.5)
MOVED = Source(resource="sources/a.md", text_hash=S1.text_hash, lines=(4, 5))


@pytest.mark.parametrize(
    ("key", "base", "ours", "theirs", "merged_"),
    [
        ("status", None, "archived", "superseded", "superseded"),
        ("status", "superseded", "forgotten", "archived", "forgotten"),
        ("status", None, "superseded", "forgotten", "forgotten"),
        ("tags", (), ("b", "d"), ("c",), ("b", "c", "d")),
        ("created", DAY, DAY - timedelta(days=1), DAY - timedelta(days=2), DAY - timedelta(days=2)),
        ("tags", ("a", "b"), ("b", "c"), ("a", "b", "0"), ("b", "0", "c")),
        ("tags", ("a", "b"), ("b", "a"), ("a", "b", "c"), ("a", "b", "c")),
        ("tags", ("a",), None, ("a", "b"), ("b",)),
        ("tags", ("a",), None, ("b",), ("b",)),
        ("links", (NEAR,), (LOOSE,), (NEAR, NEXT), (LOOSE, NEXT)),
        ("sources", (S1, S2), (MOVED, S2), (S1, S3), (MOVED, S3)),
        ("sources", (), (SPANS[0],), (SPANS[1],), SPANS),
        ("verified", (), (PERSON,), (MACHINE, PERSON), (PERSON, MACHINE)),
    ],
)
def test_a_field_that_both_sides_changed(
    key: str, base: object, ours: object, theirs: object, merged_: object
) -> None:
    sides = [fact().with_fields({key: value or None}) for value in (base, ours, theirs)]
    assert both(*sides)[0].fields.get(key) == merged_


PLACES = tuple(
    Source(resource=f"sources/{n:03}.md", lines=(1, 1), text_hash=S1.text_hash) for n in range(160)
)


_sides = st.sets(st.integers(0, 159), min_size=1, max_size=90)


@cases(150)
@given(_sides, _sides, _sides)
def test_places_are_joined_from_both_sides(one: set[int], two: set[int], three: set[int]) -> None:
    base, ours, theirs = (
        fact().with_fields({"sources": listed_places([PLACES[n] for n in sorted(side)])})
        for side in (one, two, three)
    )
    joined, _ = both(base, ours, theirs)
    assert joined == both(base, theirs, ours)[0]
    assert codec.decode(joined.path, codec.encode(joined))[0] == joined
    for side in (ours, theirs):
        assert both(side, joined, side)[0] == joined
        assert both(base, side, side)[0] == side
    assert both(base, joined, joined)[0] == joined
    if len({base.sources, ours.sources, theirs.sources}) == 3:
        o, a, b = ({*m.sources} for m in (base, ours, theirs))
        every = (a | b) - (o - a) - (o - b)
        assert len(joined.sources) == min(len(every), MAX_LISTED)


@pytest.mark.parametrize(
    ("theirs", "result"), [("archived", "active"), ("superseded", "superseded")]
)
def test_a_restored_memory_stays_active_unless_the_other_side_took_it_further(
    theirs: str, result: str
) -> None:
    base = fact(status="archived")
    assert both(base, fact(), base.with_fields({"status": theirs}))[0].status == result
