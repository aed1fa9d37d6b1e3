"""Reverting a change by joining end states: laws over recorded histories, and single situations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import strategies
from histories import histories
from hypothesis import given
from hypothesis import strategies as st
from strategies import IDS, cases

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import FIELDS, Link, Memory, references
from memrepo.core.state import State, read_state
from memrepo.merge.states import Reverted, revert_change, together

A, B, C = IDS[:3]
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fact(id_: str = A, body: str = "one", *, path: str = "", **fields: Any) -> Memory:
    made = {"id": id_, "type": "fact", **fields}
    return Memory.of(path or strategies.place(id_), made, body=body)


def state(*memories: Memory, **files: bytes) -> State:
    return read_state({**{m.path: codec.encode(m) for m in memories}, **files}, Layout())


def back(*states: State, **more: Any) -> Reverted:
    """Revert the first step of a history on top of its last state."""
    return revert_change(states[0], states[1], states[-1], **more)


def kinds(found: Reverted) -> list[str]:
    return [work.kind for work in found.kept]


# -- laws ----------------------------------------------------------------------------------------


@cases(200)
@given(histories())
def test_what_only_the_step_wrote_goes_back_and_all_other_work_stays(
    history: tuple[tuple[State, ...], int],
) -> None:
    states, k = history
    before, after, head = states[k], states[k + 1], states[-1]
    found = revert_change(before, after, head)
    assert head.files.edited(found.effect) == found.state.files
    assert dict(read_state(dict(found.state.files), Layout()).memories) == dict(
        found.state.memories
    )
    if found.kept:
        return
    gone = head.memories.keys() - found.state.memories.keys()
    for id_, now in head.memories.items():
        old, new = before.memories.get(id_), after.memories.get(id_)
        result = found.state.memories.get(id_)
        if result is None or references(now) & gone:
            assert result is not None or (old is None and new is not None)
            continue
        if old == new:
            assert (result.body, result.path) == (now.body, now.path), "no part of the step"
        for column in FIELDS if old and new else ():
            was, became, here, is_ = (
                m.fields.get(column.name, column.default) for m in (old, new, now, result)
            )
            if column.merge == "union" or column.name.startswith(("status", "superseded_at")):
                continue
            if was == became:
                assert is_ == here, column.name
            elif became == here:
                assert is_ == was, column.name


@cases(60)
@given(histories())
def test_the_last_step_goes_back_to_the_byte(history: tuple[tuple[State, ...], int]) -> None:
    *_, before, after = history[0]
    gone = after.memories.keys() - before.memories.keys()
    if any(references(m) & gone for i, m in before.memories.items()):
        return  # a reference that was broken before is broken again
    assert dict(revert_change(before, after, after).state.files) == dict(before.files)


@cases(60)
@given(histories(), st.booleans())
def test_references_hold_whatever_happens_to_later_work(
    history: tuple[tuple[State, ...], int], later: bool
) -> None:
    states, k = history
    found = revert_change(states[k], states[k + 1], states[-1], later=later)
    assert not (later and found.kept)
    assert states[-1].files.edited(found.effect) == found.state.files
    read = read_state(dict(found.state.files), Layout())
    assert dict(read.memories) == dict(found.state.memories)


# -- single situations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("later", "body", "kept"), [(False, "2", ["text-overlaps"]), (True, "0", [])]
)
def test_of_the_same_lines_the_later_ones_stay_unless_they_go_too(
    later: bool, body: str, kept: list[str]
) -> None:
    states = [state(fact(body=b, title=t)) for b, t in (("0", "x"), ("1", "y"), ("2", "y"))]
    found = back(*states, later=later)
    assert kinds(found) == kept
    memory = found.state.memories[A]
    assert (memory.body, memory.title) == (body, "x"), "other fields go back anyway"


def test_an_edit_never_moves_to_another_memory_of_the_same_content() -> None:
    one, other = fact(A, "same"), fact(B, "same")
    moved = fact(A, "same", path=strategies.place(A, "skills/2026-02"))
    states = [state(one), state(moved, other), state(moved, fact(B, "mine"))]
    found = back(*states)
    assert found.state.memories[B].body == "mine"
    assert found.state.memories[A].path == one.path


def test_a_foreign_key_and_a_comment_of_a_person_stay() -> None:
    before, after = (codec.encode(fact(**f)) for f in ({}, {"title": "t"}))
    mine = after.replace(b"\ntype:", b"\n# why\nmine: 1\ntype:")
    path = fact().path
    found = back(*(read_state({path: d}, Layout()) for d in (before, after, mine)))
    assert found.state.files[path] == mine.replace(b"title: t\n", b"")


def test_growing_older_is_nobodys_edit() -> None:
    found = back(state(), state(fact()), state(fact(tier="warm")))
    assert (found.kept, dict(found.state.memories)) == ((), {})


def test_an_element_that_was_changed_goes_back_to_what_it_was() -> None:
    weak, strong = (Link(target=B, type="related", strength=s) for s in (0.5, 1.0))
    others = fact(B)
    found = back(
        state(fact(links=(weak,)), others),
        state(fact(links=(strong,)), others),
        state(fact(links=(strong, Link(target=B, type="follows"))), others),
    )
    assert found.state.memories[A].fields["links"] == (weak, Link(target=B, type="follows"))


def test_a_move_goes_back_unless_a_later_commit_moved_it() -> None:
    away, further = (strategies.place(A, f) for f in ("skills/2026-02", "skills/2026-03"))
    start, moved = state(fact()), state(fact(path=away))
    assert back(start, moved).state == start
    again = state(fact(path=further))
    found = back(start, moved, again)
    assert (found.state.memories[A].path, found.effect) == (further, {})


def test_what_comes_back_makes_room_for_what_stands_there() -> None:
    lost, stranger = fact(), fact(B, path=strategies.place(A))
    found = back(state(lost), state(), state(stranger))
    assert found.state.memories[B].path == strategies.place(A)
    assert found.state.memories[A].path != strategies.place(A)
    assert set(found.state.files) == {m.path for m in found.state.memories.values()}


@pytest.mark.parametrize(("later", "body"), [(False, "made again"), (True, "one")])
def test_what_it_removed_and_was_made_again(later: bool, body: str) -> None:
    found = back(state(fact()), state(), state(fact(body="made again")), later=later)
    assert kinds(found) == ([] if later else ["edited-later"])
    assert found.state.memories[A].body == body
    assert len(found.state.files) == 1


def test_who_refers_to_it_already_before_does_not_hold_it() -> None:
    link = (Link(target=B, type="supports"),)
    known = state(fact(links=link), fact(B))
    found = back(state(fact()), known, state(fact(links=link, title="x"), fact(B)))
    assert found.kept == ()
    assert B not in found.state.memories
    assert "links" not in found.state.memories[A].fields
    assert found.state.memories[A].title == "x"


def test_a_chain_of_those_who_refer_stays_whole() -> None:
    def holding(id_: str, *targets: str) -> Memory:
        return fact(id_, links=tuple(Link(target=t, type="supports") for t in targets))

    states = [
        state(fact(C)),
        state(fact(C), fact(A), fact(B)),
        state(holding(C, B), fact(A), holding(B, A)),
    ]
    found = back(*states).state.memories
    assert set(found) == {A, B, C}
    assert found[C] == holding(C, B)
    assert set(back(*states, later=True).state.memories) == {C}


def test_only_files_of_ours_that_are_not_rendered_go_back() -> None:
    first = {"sources/a.md": b"0", "views/LTMEMORY.md": b"0", "MEMORY.md": b"0", "README.md": b"0"}
    then = dict.fromkeys(first, b"1")
    found = back(state(**first), state(**then))
    assert found.effect == {"sources/a.md": b"0"}
    assert back(state(), state(**then)).effect == {"sources/a.md": None}
    assert back(state(**then), state()).effect == {"sources/a.md": b"1"}


def test_a_replacement_that_stays_is_contested_with_what_returns() -> None:
    old, new = fact(A), fact(B, supersedes=(A,))
    replaced = fact(A, status="superseded", superseded_by=(B,))
    third = fact(C, status="superseded", superseded_by=(B,))
    edited = fact(B, "another", supersedes=(A, C))
    states = state(old, fact(C)), state(replaced, new, fact(C)), state(replaced, edited, third)
    found = back(*states).state.memories
    assert {i: (m.status, m.standing) for i, m in found.items()} == {
        A: ("active", "contested"),
        B: ("active", "contested"),
        C: ("superseded", "resolved"),
    }
    assert found[B].supersedes == (C,)
    assert found[B].body == "another"


def test_who_refers_to_a_memory_that_would_go_keeps_it() -> None:
    link = (Link(target=A, type="related"),)
    states = state(), state(fact(A)), state(fact(A), fact(C, links=link), fact(B, links=link))
    found = back(*states)
    assert [(w.kind, w.memory, w.on) for w in found.kept] == [
        ("depended-on", B, A),
        ("depended-on", C, A),
    ]
    assert {*found.state.memories} == {A, B, C}
    gone = back(*states, later=True)
    assert {i: m.links for i, m in gone.state.memories.items()} == {B: (), C: ()}
    assert set(gone.effect) == {fact(i).path for i in (A, B, C)}


@pytest.mark.parametrize(
    ("only", "found"),
    [({A}, {A, B}), ({B}, {A, B}), ({C}, {C}), ({A, C}, {A, B, C}), (set(), set())],
)
def test_a_supersession_is_reverted_as_a_whole(only: set[str], found: set[str]) -> None:
    before = state(fact(A), fact(C))
    after = state(
        fact(A, status="superseded", superseded_by=(B,)), fact(B, supersedes=(A,)), fact(C, "two")
    )
    assert together(only, before, after) == found


def test_a_summary_is_reverted_with_what_it_replaced() -> None:
    before = state(fact(A), fact(C))
    after = state(fact(A, status="archived", compressed_into=B), fact(B), fact(C))
    assert together({B}, before, after) == {A, B}
    assert together({B}, after, after) == {B}


def test_a_memory_that_another_one_replaced_later_stays_superseded() -> None:
    states = (
        state(fact(A), fact(C)),
        state(
            fact(A, status="superseded", superseded_by=(B,), superseded_at=NOW),
            fact(B, supersedes=(A,)),
            fact(C),
        ),
        state(
            fact(A, status="superseded", superseded_by=(B, C), superseded_at=NOW),
            fact(B, supersedes=(A,)),
            fact(C, supersedes=(A,)),
        ),
    )
    found = back(*states).state.memories
    assert (found[A].status, found[A].superseded_by) == ("superseded", (C,))
    assert found[A].fields["superseded_at"] == NOW
    assert B not in found
