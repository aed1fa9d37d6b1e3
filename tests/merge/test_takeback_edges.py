"""Taking back at its edges: what later commits wrote, which files go along, who makes room."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import strategies
from histories import operation
from strategies import IDS

from memrepo.core import codec
from memrepo.core.corrections import Correction, Side, contradiction_id, path_of
from memrepo.core.corrections import written as case_bytes
from memrepo.core.layout import Layout
from memrepo.core.memory import Gist, Link, Memory, Source
from memrepo.core.state import State, read_state
from memrepo.merge.takeback import PATH, Later, Reverted, take_back, together, written

A, B, C = IDS[:3]
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fact(id_: str = A, body: str = "one", *, path: str = "", **fields: Any) -> Memory:
    made = {"id": id_, "type": "fact", **fields}
    return Memory(path=path or strategies.place(id_), fields=made, body=body)


def state(*memories: Memory, **files: bytes) -> State:
    return read_state({**{m.path: codec.encode(m) for m in memories}, **files}, Layout())


def back(*states: State, side: Any = "", **more: Any) -> Reverted:
    return take_back(operation(states, 0, **more), states[-1], side)


# -- what later commits wrote ----------------------------------------------------------------


def test_nothing_written_is_nothing() -> None:
    assert written(None, None) == Later()
    assert written(fact(), fact()) == Later()


@pytest.mark.parametrize(("before", "after"), [(None, fact()), (fact(), None)])
def test_what_comes_or_goes_is_later_work_as_a_whole(
    before: Memory | None, after: Memory | None
) -> None:
    assert written(before, after) == Later(any=True, whole=True)


@pytest.mark.parametrize(
    ("fields", "later"),
    [
        ({"title": "t"}, Later(any=True, fields=frozenset({"title"}))),
        ({"tier": "warm"}, Later(any=False, fields=frozenset({"tier"}))),
        ({"gist": Gist(title="x")}, Later(any=False, fields=frozenset({"gist"}))),
        (
            {"status": "archived"},
            Later(any=True, fields=frozenset({"status", "status_epoch"})),
        ),
        ({"status_epoch": 1}, Later(any=True, fields=frozenset({"status", "status_epoch"}))),
        (
            {"tags": ("a", "b")},
            Later(
                any=True,
                fields=frozenset({"tags"}),
                elements={"tags": frozenset({("a", 0), ("b", 0)})},
            ),
        ),
    ],
)
def test_what_one_commit_wrote_of_fields(fields: dict[str, Any], later: Later) -> None:
    assert written(fact(), fact(**fields)) == later
    assert written(fact(**fields), fact()) == later


def test_what_one_commit_wrote_of_text_and_place() -> None:
    moved = fact(body="two", path=strategies.place(A, "skills/2026-02"))
    assert written(fact(), moved) == Later(
        any=True, fields=frozenset({PATH}), bodies=(("one", "two"),)
    )


def test_one_after_the_other_holds_both() -> None:
    one = written(fact(tags=("a",)), fact(tags=("b",), body="two", title="t"))
    other = written(fact(tags=("b",)), fact(tags=("b", "c"), body="three", pinned=True))
    both = one.then(other)
    assert both.any
    assert not both.whole
    assert both.fields == {"tags", "title", "pinned"}
    assert both.elements["tags"] == {("a", 0), ("b", 0), ("c", 0)}
    assert both.bodies == (("one", "two"), ("one", "three"))
    assert Later().then(Later(any=True)).any
    assert Later(whole=True).then(Later()).whole
    assert Later().then(Later(whole=True)).whole


# -- memories ------------------------------------------------------------------------------


def test_growing_older_is_nobodys_edit() -> None:
    found = back(state(), state(fact()), state(fact(tier="warm")))
    assert (found.clashes, dict(found.state.memories)) == ((), {})


def test_a_field_that_both_hold_alike_stays_as_it_is_now() -> None:
    found = back(
        state(fact(title="t", pinned=True)),
        state(fact(title="u", pinned=True)),
        state(fact(title="u", subject="later")),
    )
    assert dict(found.state.memories) == {A: fact(title="t", subject="later")}


def test_of_a_list_what_was_removed_comes_back_and_what_was_added_goes() -> None:
    pre, post = fact(tags=("a", "b", "c")), fact(tags=("b", "d"))
    head = fact(tags=("b", "d", "e"))
    assert set(back(state(pre), state(post), state(head)).state.memories[A].texts("tags")) == {
        "a",
        "b",
        "c",
        "e",
    }
    later = fact(tags=("b", "d", "c"))
    found = back(state(pre), state(post), state(later), state(fact(tags=("b", "d"))))
    assert "c" not in found.state.memories[A].texts("tags"), "later work took it out again"


def test_an_element_that_was_changed_goes_back_to_what_it_was() -> None:
    weak, strong = (Link(target=B, type="related", strength=s) for s in (0.5, 1.0))
    others = fact(B)
    found = back(
        state(fact(links=(weak,)), others),
        state(fact(links=(strong,)), others),
        state(fact(links=(strong, Link(target=B, type="follows"))), others),
    )
    assert found.state.memories[A].fields["links"] == (weak, Link(target=B, type="follows"))


def test_a_text_goes_back_under_later_lines_and_over_none() -> None:
    body = "\n".join("abcdef")
    first, then = body.replace("a", "A"), body.replace("a", "A").replace("f", "F")
    last = then.replace("d", "D")
    states = [state(fact(body=b)) for b in (body, first, then, last)]
    assert back(*states).state.memories[A].body == body.replace("f", "F").replace("d", "D")


def test_a_move_goes_back_unless_a_later_commit_moved_it() -> None:
    away, further = (strategies.place(A, f) for f in ("skills/2026-02", "skills/2026-03"))
    start, moved = state(fact()), state(fact(path=away))
    assert back(start, moved).state == start
    again = state(fact(path=further))
    found = back(start, moved, again)
    assert (found.state.memories[A].path, found.effect.files) == (further, {})


def test_what_comes_back_makes_room_for_what_stands_there() -> None:
    lost, stranger = fact(), fact(B, path=strategies.place(A))
    found = back(state(lost), state(), state(stranger))
    assert found.state.memories[B].path == strategies.place(A)
    assert found.state.memories[A].path != strategies.place(A)
    assert set(found.state.files) == {m.path for m in found.state.memories.values()}


@pytest.mark.parametrize(
    ("side", "body"), [("", "made again"), ("ours", "made again"), ("theirs", "one")]
)
def test_what_it_removed_and_was_made_again(side: Any, body: str) -> None:
    found = back(state(fact()), state(), state(fact(body="made again")), side=side)
    assert [c.kind for c in found.clashes] == ([] if side else ["edited-later"])
    assert found.state.memories[A].body == body
    assert len(found.state.files) == 1


@pytest.mark.parametrize("body", ["one", "made again"])
@pytest.mark.parametrize("side", ["", "ours", "theirs"])
def test_what_it_removed_and_was_made_again_and_removed_again_stays_away(
    side: Any, body: str
) -> None:
    found = back(state(fact()), state(), state(fact(body=body)), state(), side=side)
    assert (found.clashes, found.effect.files) == ((), {})


@pytest.mark.parametrize(("side", "there"), [("", True), ("ours", True), ("theirs", False)])
def test_what_it_made_and_somebody_edited(side: Any, there: bool) -> None:
    found = back(state(), state(fact()), state(fact(title="mine")), side=side)
    assert [(c.kind, c.memory, c.path) for c in found.clashes] == (
        [] if side else [("edited-later", A, strategies.place(A))]
    )
    assert (A in found.state.memories) is there


def test_what_is_gone_by_now_is_left_gone() -> None:
    found = back(state(), state(fact()), state())
    assert (found.clashes, found.effect.files) == ((), {})


def test_what_later_work_removed_and_made_again_is_not_touched() -> None:
    found = back(state(fact()), state(fact(title="t")), state(), state(fact(title="t", body="new")))
    assert found.effect.files == {}


def test_the_file_comes_back_to_the_byte_where_nothing_came_later() -> None:
    odd = codec.encode(fact()).replace(b"id:", b"id:   ")
    path = strategies.place(A)
    states = [read_state({path: d}, Layout()) for d in (odd, codec.encode(fact(title="t")))]
    assert back(*states).effect.files == {path: odd}


def test_who_refers_to_it_already_before_does_not_hold_it() -> None:
    link = (Link(target=B, type="supports"),)
    known = state(fact(links=link), fact(B))
    found = back(state(fact()), known, state(fact(links=link, title="x"), fact(B)))
    assert found.clashes == ()
    assert B not in found.state.memories
    assert "links" not in found.state.memories[A].fields
    assert found.state.memories[A].text("title") == "x"


def test_with_ours_a_chain_of_those_who_refer_stays_whole() -> None:
    def holding(id_: str, *targets: str) -> Memory:
        return fact(id_, links=tuple(Link(target=t, type="supports") for t in targets))

    states = [
        state(fact(C)),
        state(fact(C), fact(A), fact(B)),
        state(holding(C, B), fact(A), holding(B, A)),
    ]
    found = back(*states, side="ours").state.memories
    assert set(found) == {A, B, C}
    assert found[C] == holding(C, B)
    assert set(back(*states, side="theirs").state.memories) == {C}


# -- other files ---------------------------------------------------------------------------


def test_only_files_of_ours_that_are_not_rendered_go_back() -> None:
    first = {
        "sources/a.md": b"0",
        "views/LTMEMORY.md": b"0",
        "MEMORY.md": b"0",
        "tombstones/ts-0.md": b"0",
        "README.md": b"0",
    }
    then = dict.fromkeys(first, b"1")
    found = back(state(**first), state(**then))
    assert found.effect.files == {"sources/a.md": b"0"}
    assert back(state(), state(**then)).effect.files == {"sources/a.md": None}
    assert back(state(**then), state()).effect.files == {"sources/a.md": b"1"}


def test_paths_that_are_named_are_the_only_ones_looked_at() -> None:
    before, after = ({"sources/a.md": x, "sources/b.md": x} for x in (b"0", b"1"))
    states = state(**before), state(**after)
    assert back(*states, paths=["sources/b.md"]).effect.files == {"sources/b.md": b"0"}


def case(one: str, other: str) -> dict[str, bytes]:
    made = Correction(
        id=contradiction_id(one, other),
        kind="contradiction",
        verdict="flagged",
        sides=(Side(memory=one, text="x"), Side(memory=other, text="y")),
        by="process:run",
        at=NOW,
    )
    path = path_of(Layout(), made)
    return {path: case_bytes(path, made)}


def test_of_a_part_only_corrections_about_no_other_memory_go_along() -> None:
    ours, others = case(A, B), case(A, C)
    memories = [fact(i) for i in (A, B, C)]
    before = state(*memories)
    after = state(*memories, **ours, **others, **{"sources/a.md": b"1"})
    found = back(before, after, only=frozenset({A, B}))
    assert found.effect.files == dict.fromkeys(ours)
    broken = state(*memories, **dict.fromkeys(ours, b"no case"))
    assert back(before, broken, only=frozenset({A, B})).effect.files == {}
    again = back(after, before, only=frozenset({A, B}))
    assert again.effect.files == ours


def test_sources_of_a_memory_are_elements_too() -> None:
    one, other = (
        Source(resource="sources/a.md", text_hash=f"th-{n:016x}", lines=(n, n)) for n in (1, 2)
    )
    found = back(
        state(fact(sources=(one,))),
        state(fact(sources=(one, other))),
        state(fact(sources=(one, other))),
    )
    assert found.state.memories[A].sources == (one,)


def test_a_replacement_that_stays_is_contested_with_what_returns() -> None:
    old, new = fact(A), fact(B, supersedes=(A,))
    replaced = fact(A, status="superseded", superseded_by=(B,))
    third = fact(C, status="superseded", superseded_by=(B,))
    edited = fact(B, "another", supersedes=(A, C))
    states = state(old, fact(C)), state(replaced, new, fact(C)), state(replaced, edited, third)
    found = back(*states, side="ours").state.memories
    assert {i: (m.status, m.standing) for i, m in found.items()} == {
        A: ("active", "contested"),
        B: ("active", "contested"),
        C: ("superseded", "resolved"),
    }
    assert found[B].texts("supersedes") == (C,)
    assert found[B].body == "another"


def test_without_a_side_the_replacement_that_was_edited_is_a_conflict() -> None:
    states = (
        state(fact(A)),
        state(fact(A, status="superseded", superseded_by=(B,)), fact(B, supersedes=(A,))),
        state(
            fact(A, status="superseded", superseded_by=(B,)), fact(B, "another", supersedes=(A,))
        ),
    )
    assert [(c.kind, c.memory) for c in back(*states).clashes] == [("edited-later", B)]
    assert back(*states, side="ours").clashes == ()
    assert [*back(*states, side="theirs").state.memories] == [A]


def test_who_refers_to_a_memory_that_would_go_is_a_conflict_in_order() -> None:
    link = (Link(target=A, type="related"),)
    states = state(), state(fact(A)), state(fact(A), fact(C, links=link), fact(B, links=link))
    found = back(*states)
    assert [(c.kind, c.memory, c.on) for c in found.clashes] == [
        ("depended-on", B, A),
        ("depended-on", C, A),
    ]
    kept = back(*states, side="ours")
    assert ({*kept.state.memories}, kept.clashes) == ({A, B, C}, ())
    gone = back(*states, side="theirs")
    assert {i: m.texts("links") for i, m in gone.state.memories.items()} == {B: (), C: ()}
    assert set(gone.effect.files) == {fact(i).path for i in (A, B, C)}


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
    assert (found[A].status, found[A].texts("superseded_by")) == ("superseded", (C,))
    assert found[A].fields["superseded_at"] == NOW
    assert B not in found
