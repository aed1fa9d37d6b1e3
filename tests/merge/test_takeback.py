"""Taking an operation back: a law over recorded histories, and the trials that wrote its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import strategies
from histories import as_fields, histories, operation
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import IDS, cases

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, references
from memrepo.core.schema import FIELDS
from memrepo.core.state import State, apply, read_state
from memrepo.merge import closure
from memrepo.merge.takeback import Reverted, take_back
from memrepo.merge.versions import merge_text

A, B, C = IDS[:3]


# -- the law ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What replaying all other steps gives: memories by id, and what could not be replayed."""

    memories: dict[str, Memory]
    clashes: set[tuple[str, str]]


def replayed(states: Sequence[State], k: int) -> Replayed:
    """Play every recorded change after step k on the state before it: the specification."""
    now = dict(states[k].memories)
    made = {i for i in states[k + 1].memories if i not in states[k].memories}
    clashes: set[tuple[str, str]] = set()
    for old, new in zip(states[k + 1 :], states[k + 2 :], strict=False):
        for id_ in sorted({*old.memories, *new.memories}):
            before, after = old.memories.get(id_), new.memories.get(id_)
            if before == after:
                if id_ in made and _comments(old, id_) != _comments(new, id_):
                    clashes.add(("edited-later", id_))
                continue
            if after is None:
                now.pop(id_, None)
            elif before is None:
                now[id_] = after
            elif id_ in now:
                now[id_], overlap = _played(now[id_], before, after)
                if overlap:
                    clashes.add(("text-overlaps", id_))
            if id_ in made:
                clashes.add(("edited-later", id_))
    head = states[-1].memories
    for id_ in states[k].memories:
        if id_ not in states[k + 1].memories and id_ in head:
            clashes.add(("edited-later", id_))
    clashes = {(kind, id_) for kind, id_ in clashes if id_ in head}
    return Replayed(
        memories={i: m for i, m in now.items() if i in head or _stays(states, k, i)},
        clashes=clashes,
    )


def _comments(state: State, id_: str) -> set[bytes]:
    """Return the comments of a person's own that a file's header holds."""
    lines = state.files[state.memories[id_].path].split(b"\n---")[0].splitlines()
    return {line.strip() for line in lines if line.lstrip().startswith(b"#")}


def _stays(states: Sequence[State], k: int, id_: str) -> bool:
    """Tell whether a memory that HEAD lacks is there without step k: only if k removed it."""
    return id_ in states[k].memories and all(id_ not in s.memories for s in states[k + 1 :])


def _played(memory: Memory, before: Memory, after: Memory) -> tuple[Memory, bool]:
    fields: dict[str, Any] = {}
    for column in FIELDS:
        old, new = (m.fields.get(column.name, column.default) for m in (before, after))
        if old == new:
            continue
        if column.merge == "set3":
            mine = _items(column.name, memory.fields.get(column.name) or ())
            was, is_ = (_items(column.name, v or ()) for v in (old, new))
            mine = {k: v for k, v in mine.items() if not (k in was and k not in is_)}
            mine |= {k: v for k, v in is_.items() if was.get(k) != v}
            new = tuple(mine.values()) or column.default
        fields[column.name] = None if new == column.default else new
    if {"status", "status_epoch"} & fields.keys():
        fields |= {k: after.fields.get(k) for k in ("status", "status_epoch")}
    joined = merge_text(before.body, memory.body, after.body)
    path = after.path if after.path != before.path else memory.path
    body = codec.normal_body(joined.text)
    return replace(memory.with_fields(fields, body), path=path), joined.overlap


def _items(name: str, items: Sequence[Any]) -> dict[Any, Any]:
    key = {
        "links": lambda i: (i.target, i.type),
        "sources": lambda i: (i.resource, i.text_hash) if i.text_hash else i,
    }.get(name, lambda i: i)
    found: dict[Any, Any] = {}
    for item in items:
        turn = sum(1 for k, _ in found if k == key(item))
        found[key(item), turn] = item
    return found


def dependents(states: Sequence[State], k: int, kept: Mapping[str, Memory]) -> set[tuple[str, str]]:
    """Return the memories that began to refer, after step k, to one that is not kept."""
    gone = states[-1].memories.keys() - kept.keys()
    post = states[k + 1].memories
    return {
        ("depended-on", id_)
        for id_, memory in kept.items()
        if (references(memory) - (references(post[id_]) if id_ in post else frozenset())) & gone
    }


@cases(200)
@given(histories())
def test_without_a_step_the_state_is_what_all_other_steps_make(
    history: tuple[tuple[State, ...], int],
) -> None:
    states, k = history
    head = states[-1]
    wanted = replayed(states, k)
    found = take_back(operation(states, k), head)
    kept = {**wanted.memories}
    for kind, id_ in wanted.clashes:
        if kind == "edited-later":
            kept[id_] = head.memories[id_]
    expected = wanted.clashes | dependents(states, k, kept)
    assert {(c.kind, c.memory) for c in found.clashes} == expected
    if expected:
        return  # nothing is written
    assert head.files.edited(found.effect.files) == found.state.files
    assert dict(read_state(dict(found.state.files), Layout()).memories) == dict(
        found.state.memories
    )
    spec = _closed(head, wanted.memories)
    assert {i: as_fields(m) for i, m in found.state.memories.items()} == {
        i: as_fields(m) for i, m in spec.items()
    }
    if k == len(states) - 2 and not (closure_of(states[k]) - closure_of(head)):
        assert dict(found.state.files) == dict(states[k].files), "of the last step, to the byte"


def closure_of(state: State) -> set[Any]:
    return {f.name for f in closure.findings(state)}


def _closed(head: State, memories: Mapping[str, Memory]) -> Mapping[str, Memory]:
    """Mend the specification as every merge is mended: supersessions are whole."""
    whole = {}
    for id_, memory in memories.items():
        here = head.memories.get(id_)
        if here and memory.texts("superseded_by") and here.status == "superseded" != memory.status:
            keys = ("status", "status_epoch", "superseded_at")
            memory = memory.with_fields({key: here.fields.get(key) for key in keys})
        whole[id_] = memory
    files = {f"memories/knowledge/2026-01/{i}.md": codec.encode(m) for i, m in whole.items()}
    state = read_state(files, Layout())
    updates, _ = closure.close(state, closure_of(head))
    return apply(state, updates).memories


@cases(60)
@given(histories(), st.sampled_from(("ours", "theirs")))
def test_with_a_side_chosen_nothing_clashes_and_references_hold(
    history: tuple[tuple[State, ...], int], side: Any
) -> None:
    states, k = history
    found = take_back(operation(states, k), states[-1], side)
    assert found.clashes == ()
    assert states[-1].files.edited(found.effect.files) == found.state.files
    read = read_state(dict(found.state.files), Layout())
    assert dict(read.memories) == dict(found.state.memories)


# -- single situations ---------------------------------------------------------------------------
def fact(id_: str = A, body: str = "one", *, path: str = "", **fields: Any) -> Memory:
    return Memory(
        path=path or strategies.place(id_), fields={"id": id_, "type": "fact", **fields}, body=body
    )


def state(*memories: Memory, **files: bytes) -> State:
    return read_state({**{m.path: codec.encode(m) for m in memories}, **files}, Layout())


def back(*states: State, k: int = 0, side: Any = "", **more: Any) -> Reverted:
    return take_back(operation(states, k, **more), states[-1], side)


def test_an_equal_value_that_was_written_later_is_not_untouched() -> None:
    archived, plain = fact(status="archived"), fact()
    restored = fact(status_epoch=1)
    again = fact(status="archived", status_epoch=1)
    found = back(*map(state, (plain, archived, restored, again)))
    assert found.state.memories[A].status == "archived"
    assert not found.effect.files


def test_of_a_list_each_element_is_decided_alone() -> None:
    found = back(
        state(fact(tags=("old",))),
        state(fact(tags=("old", "run"))),
        state(fact(tags=("old", "run", "mine"))),
    )
    assert found.state.memories[A].texts("tags") == ("old", "mine")
    touched = back(
        state(fact()), state(fact(tags=("run",))), state(fact()), state(fact(tags=("run",)))
    )
    assert touched.state.memories[A].texts("tags") == ("run",)


def test_lines_of_a_text_are_decided_alone() -> None:
    found = back(
        state(fact(body="a\nb\nc\nd")),
        state(fact(body="A\nb\nc\nd")),
        state(fact(body="A\nb\nc\nD")),
    )
    assert found.state.memories[A].body == "a\nb\nc\nD"
    assert not found.clashes


@pytest.mark.parametrize(("side", "body"), [("ours", "2"), ("theirs", "0")])
def test_the_same_lines_clash_and_a_side_settles_it(side: str, body: str) -> None:
    states = [state(fact(body=b, title=t)) for b, t in (("0", "x"), ("1", "y"), ("2", "y"))]
    assert [c.kind for c in back(*states).clashes] == ["text-overlaps"]
    settled = back(*states, side=side).state.memories[A]
    assert (settled.body, settled.text("title")) == (body, "x"), "other fields go back anyway"


@pytest.mark.parametrize("body", ["edited", "one"])
def test_what_it_made_and_somebody_wrote_since_clashes(body: str) -> None:
    states = [state(), state(fact()), state(fact(pinned=True)), state(fact(body=body))]
    (clash,) = back(*states).clashes
    assert (clash.kind, clash.memory) == ("edited-later", A)
    assert A in back(*states, side="ours").state.memories
    assert A not in back(*states, side="theirs").state.memories


def test_what_it_removed_and_was_made_again_clashes() -> None:
    states = [state(fact()), state(), state(fact(body="anew"))]
    assert [c.kind for c in back(*states).clashes] == ["edited-later"]
    assert back(*states, side="ours").state.memories[A].body == "anew"
    assert back(*states, side="theirs").state.memories[A].body == "one"


def test_what_later_work_removed_stays_removed() -> None:
    found = back(state(fact()), state(fact(title="t")), state())
    assert not found.clashes
    assert not found.effect.files


def supersession() -> tuple[Memory, Memory, Memory]:
    old = fact(A, "vim")
    gone = fact(A, "vim", status="superseded", superseded_by=(B,))
    return old, gone, fact(B, "helix", supersedes=(A,))


def test_a_supersession_goes_back_whole() -> None:
    old, gone, new = supersession()
    found = back(state(old), state(gone, new))
    assert found.state == state(old)


def test_with_ours_an_edited_successor_stays_without_the_link_and_both_are_contested() -> None:
    old, gone, new = supersession()
    edited = fact(B, "helix, at work", supersedes=(A,))
    states = [state(old), state(gone, new), state(gone, edited)]
    assert [c.kind for c in back(*states).clashes] == ["edited-later"]
    found = back(*states, side="ours").state.memories
    assert (found[A].status, found[A].standing) == ("active", "contested")
    assert (found[B].body, found[B].standing) == ("helix, at work", "contested")
    assert "supersedes" not in found[B].fields
    assert not closure.findings(back(*states, side="ours").state)


def test_what_something_else_replaced_as_well_stays_superseded() -> None:
    old, gone, new = supersession()
    both = fact(A, "vim", status="superseded", superseded_by=(B, C))
    states = [state(old), state(gone, new), state(both, new, fact(C, "kakoune", supersedes=(A,)))]
    found = back(*states).state.memories
    assert B not in found
    assert (found[A].status, found[A].texts("superseded_by")) == ("superseded", (C,))


@pytest.mark.parametrize(("side", "there"), [("ours", True), ("theirs", False)])
def test_what_others_refer_to_does_not_vanish_unasked(side: str, there: bool) -> None:
    from memrepo.core.memory import Link

    link = (Link(target=B, type="supports"),)
    states = [state(fact()), state(fact(), fact(B)), state(fact(links=link, title="mine"), fact(B))]
    (clash,) = back(*states).clashes
    assert (clash.kind, clash.memory, clash.on) == ("depended-on", A, B)
    found = back(*states, side=side).state.memories
    assert (B in found) is there
    assert ("links" in found[A].fields) is there
    assert found[A].text("title") == "mine", "what the holder says otherwise is nobody's clash"


def test_an_edit_never_moves_to_another_memory_of_the_same_content() -> None:
    one, other = fact(A, "same"), fact(B, "same")
    moved = fact(A, "same", path=strategies.place(A, "skills/2026-02"))
    states = [state(one), state(moved, other), state(moved, fact(B, "mine"))]
    found = back(*states, side="ours")
    assert found.state.memories[B].body == "mine"
    assert found.state.memories[A].path == one.path


def test_two_files_that_changed_places_change_back() -> None:
    one, other = fact(A, "x"), fact(B, "y")
    swapped = state(replace(one, path=other.path), replace(other, path=one.path))
    assert back(state(one, other), swapped).state == state(one, other)


def test_files_that_a_later_commit_wrote_stay_and_kept_ones_too() -> None:
    a, b, c = (
        {"sources/a.md": x, "sources/b.md": y, "runs/r.json": z}
        for x, y, z in ((b"0", b"0", b"0"), (b"1", b"1", b"1"), (b"1", b"2", b"1"))
    )
    found = back(*(state(**files) for files in (a, b, c)), kept=frozenset({"runs/r.json"}))
    assert dict(found.state.files) == {
        "sources/a.md": b"0",
        "sources/b.md": b"2",
        "runs/r.json": b"1",
    }


def test_of_a_part_only_that_part_goes_back() -> None:
    before, after = state(fact(A), fact(B)), state(fact(A, title="x"), fact(B, title="y"))
    found = back(before, after, only=frozenset({A})).state.memories
    assert ("title" in found[A].fields, found[B].text("title")) == (False, "y")


def test_a_foreign_key_and_a_comment_of_a_person_stay() -> None:
    before, after = (codec.encode(fact(**f)) for f in ({}, {"title": "t"}))
    mine = after.replace(b"\ntype:", b"\n# why\nmine: 1\ntype:")
    path = fact().path
    found = back(*(read_state({path: d}, Layout()) for d in (before, after, mine)))
    assert found.state.files[path] == mine.replace(b"title: t\n", b"")
