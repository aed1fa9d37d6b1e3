"""What a merge made by git should have left: laws over generated merges, and their cases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import State, read_state
from memrepo.merge.git_merges import Made, Settled, settle
from memrepo.merge.states import MergeResult, merge_states
from tests.strategies import IDS, Triple, cases, place, triples

A, B, C = IDS[:3]
MARKED = b"---\nid: %s\ntype: fact\n---\n\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"


def made(t: Triple, united: MergeResult, left: State) -> Made:
    states = (t.base, t.ours, t.theirs, united.state, left)
    every = {path for state in states for path in state.files}
    paths = {p for p in every if len({state.files.get(p) for state in states}) > 1}
    return Made(
        base=t.base, ours=t.ours, theirs=t.theirs, united=united, left=left, paths=frozenset(paths)
    )


def united(t: Triple) -> MergeResult:
    return merge_states(t.base, t.ours, t.theirs, our_facts=t.our_facts, their_facts=t.their_facts)


def plain(t: Triple) -> bool:
    """Tell whether every memory file can be read and no id stands twice."""
    return not any(p.severity == "error" for s in (t.base, t.ours, t.theirs) for p in s.problems)


@cases(60)
@given(triples())
def test_what_our_own_merge_left_is_left_alone(t: Triple) -> None:
    ours = united(t)
    result = settle(made(t, ours, ours.state))
    assert result.edits == frozenset()
    assert result.memories == ()


@cases(80)
@given(triples(), st.lists(st.sampled_from((0, 1, 2)), min_size=5, max_size=5))
def test_whatever_side_git_took_for_each_memory_the_outcome_is_our_merge(
    t: Triple, sides: list[int]
) -> None:
    ours = united(t)
    if not plain(t) or ours.conflicts:
        return
    states = (t.ours, t.theirs, ours.state)
    files = {p: d for p, d in ours.state.files.items() if not Layout().is_memory(p)}
    for id_, side in zip(IDS, sides, strict=True):
        found = states[side].memories.get(id_)
        if found is not None and found.path not in files:
            files[found.path] = states[side].files[found.path]
    left = read_state(files, Layout())
    gone_on_both = {
        i for i in IDS if i not in left.memories and i in t.ours.memories and i in t.theirs.memories
    }
    result = settle(made(t, ours, left))
    expected = {i: m for i, m in ours.state.memories.items() if i not in gone_on_both}
    if not gone_on_both:
        assert dict(result.state.memories) == expected
    assert settle(made(t, ours, result.state)).edits == frozenset()


@cases(80)
@given(triples(), st.sampled_from(IDS))
def test_a_word_that_no_side_has_is_a_persons_and_stands(t: Triple, id_: str) -> None:
    ours = united(t)
    both = [s.memories.get(id_) for s in (t.ours, t.theirs, ours.state)]
    if not plain(t) or ours.conflicts or None in both:
        return
    memory = ours.state.memories[id_]
    path = memory.path
    said = memory.with_fields({"title": "what a person decided"}, "in words of their own")
    data = codec.edit(ours.state.files[path], said)
    left = read_state({**ours.state.files, path: data}, Layout())
    result = settle(made(t, ours, left)).state.memories[id_]
    assert result.text("title") == said.text("title")
    # Into an empty text both may write: then what the other side said stands beside it.
    assert said.body in result.body


# Cases


def fact(id_: str = A, body: str = "one", **fields: Any) -> Memory:
    path = fields.pop("path", place(id_))
    return Memory(path=path, fields={"id": id_, "type": "fact", **fields}, body=body)


def state(*memories: Memory, **files: bytes) -> State:
    written = {m.path: codec.encode(m) for m in memories}
    return read_state({**written, **files}, Layout())


def settled(base: State, ours: State, theirs: State, left: State) -> Settled:
    result = merge_states(base, ours, theirs)
    paths = {p for s in (base, ours, theirs, left, result.state) for p in s.files}
    return settle(
        Made(base=base, ours=ours, theirs=theirs, united=result, left=left, paths=frozenset(paths))
    )


def test_kept_ours_gets_what_the_other_side_said() -> None:
    ours, theirs = state(fact(tags=("a",))), state(fact(pinned=True))
    result = settled(state(fact()), ours, theirs, ours)
    assert result.state.memories[A] == fact(tags=("a",), pinned=True)
    assert result.memories == (A,)


def test_a_person_who_resolved_by_hand_keeps_the_wording_and_gets_the_rest() -> None:
    ours = state(fact(body="Berlin", tags=("a",)))
    theirs = state(fact(body="Bonn", pinned=True))
    left = state(fact(body="Berlin, before that Bonn", tags=("a",)))
    result = settled(state(fact()), ours, theirs, left)
    assert result.state.memories[A] == fact(
        body="Berlin, before that Bonn", tags=("a",), pinned=True
    )


def test_an_edit_that_git_dropped_with_the_other_sides_removal_comes_back() -> None:
    ours, theirs = state(fact(title="t"), fact(B)), state(fact(B))
    result = settled(state(fact(), fact(B)), ours, theirs, state(fact(B)))
    assert result.state.memories[A] == fact(title="t")
    assert result.memories == (A,)


def test_a_memory_that_a_person_took_out_of_the_merge_stays_out() -> None:
    base, ours, theirs = (
        state(fact(), fact(B)),
        state(fact(title="a"), fact(B)),
        state(fact(title="b")),
    )
    result = settled(base, ours, theirs, state())
    assert A not in result.state.memories


def test_a_memory_that_git_brought_back_goes_again() -> None:
    base = state(fact(), fact(B))
    result = settled(
        base, state(fact(B)), state(fact(), fact(B, title="t")), state(fact(), fact(B, title="t"))
    )
    assert set(result.state.memories) == {B}
    assert result.memories == (A,)


def test_an_edit_that_followed_a_rename_onto_another_memory_goes_home() -> None:
    moved = place(A, "skills/2026-02")
    base = state(fact(A, "the same words"))
    ours = state(fact(A, "the same words", path=moved))
    theirs = state(fact(A, "the same words", pinned=True))
    left = state(fact(A, "the same words", path=moved), fact(A, "the same words", pinned=True))
    result = settled(base, ours, theirs, left)
    assert dict(result.state.memories) == {A: fact(A, "the same words", path=moved, pinned=True)}
    assert sorted(result.state.files) == [moved]


def test_conflict_markers_that_were_committed_give_way_to_our_merge() -> None:
    left = read_state({place(A): MARKED % A.encode()}, Layout())
    result = settled(state(fact()), state(fact(body="ours")), state(fact(body="theirs")), left)
    assert b"<<<<" not in result.state.files[place(A)]
    assert result.state.memories[A].body in ("ours", "theirs")


def test_a_file_that_can_no_longer_be_read_gives_way_to_our_merge() -> None:
    broken = b"---\nid: x\n<<<<<<< HEAD\ntags: [a]\n=======\n>>>>>>> other\n---\n\none\n"
    left = read_state({place(A): broken}, Layout())
    result = settled(state(fact()), state(fact(tags=("a",))), state(fact(tags=("b",))), left)
    assert result.state.memories[A] == fact(tags=("a", "b"))


def test_half_a_supersession_becomes_a_whole_one() -> None:
    base = state(fact(A), fact(B, "two"))
    ours = state(fact(A, status="superseded", superseded_by=(B,)), fact(B, "two", supersedes=(A,)))
    theirs = state(fact(A), fact(B, "two", pinned=True))
    left = state(fact(A, status="superseded", superseded_by=(B,)), fact(B, "two", pinned=True))
    result = settled(base, ours, theirs, left)
    assert result.state.memories[B] == fact(B, "two", supersedes=(A,), pinned=True)


@pytest.mark.parametrize("path", ["sources/a.md", "tombstones/a.md", "memrepo.toml"])
def test_another_file_of_ours_that_kept_one_side_is_joined(path: str) -> None:
    base, ours, theirs = (
        b"a = 1\nb = 2\nc = 3\n",
        b"a = 0\nb = 2\nc = 3\n",
        b"a = 1\nb = 2\nc = 4\n",
    )
    states = [read_state({path: data}, Layout()) for data in (base, ours, theirs, ours)]
    joined = merge_states(*states[:3]).state.files[path]
    result = settled(*states)
    assert result.state.files[path] == joined
    assert result.files == ((path,) if joined != ours else ())
    by_hand = read_state({path: b"a = 9\n"}, Layout())
    assert settled(*states[:3], by_hand).state.files[path] == b"a = 9\n"


def test_what_both_sides_lack_and_git_left_goes_again() -> None:
    base = state(fact(), fact(B))
    result = settled(base, state(fact(B)), state(fact(B)), base)
    assert set(result.state.memories) == {B}
    assert result.memories == (A,)
    edited = state(fact(title="a person wrote this"), fact(B))
    kept = settled(base, state(fact(B)), state(fact(B)), edited)
    assert kept.state.memories.get(A) == fact(title="a person wrote this")


def test_a_memory_that_git_left_at_its_old_place_is_moved() -> None:
    moved = place(A, "skills/2026-02")
    base, ours = state(fact()), state(fact(path=moved))
    theirs = state(fact(tags=("a",)))
    result = settled(base, ours, theirs, theirs)
    assert result.state.memories[A] == fact(path=moved, tags=("a",))
    assert result.memories == (A,)


def test_a_file_that_one_side_removed_is_gits_doing_and_one_that_both_had_a_persons() -> None:
    path = "threads/a.json"
    base, changed, gone = (
        read_state(files, Layout()) for files in ({path: b"1"}, {path: b"2"}, {})
    )
    assert settled(base, changed, gone, gone).state.files.get(path) == b"2"
    both = settled(base, changed, read_state({path: b"3"}, Layout()), gone)
    assert path not in both.state.files
    assert both.edits == frozenset()


def test_what_is_set_right_is_counted() -> None:
    found = Settled(state=state(), edits=frozenset(), memories=(A, B), files=("f",))
    assert found.summary == ("2 memories", "1 file")
