"""`apply` is the specification of the writer: pure, total over valid changes, strict on others."""

from __future__ import annotations

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import (
    Change,
    ChangeRefused,
    Create,
    Delete,
    Files,
    Remove,
    State,
    Step,
    Update,
    Write,
    apply,
    apply_steps,
    play,
    read_state,
)

ID, OTHER = "mem-" + "a" * 16, "mem-" + "b" * 16
MEMORY = Memory.of(
    path="memories/knowledge/2026-01/a-aaaaaa.md",
    fields={"id": ID, "type": "fact"},
    body="The pump is new.\n",
)
EMPTY = State(files=Files({}, {}), memories={})
ONE = apply(EMPTY, [Create(memory=MEMORY), Write(path="views/A.md", data=b"1")])


def test_a_state_is_what_reading_its_files_gives() -> None:
    assert read_state(dict(ONE.files), Layout()) == ONE
    assert ONE.memories[ID].body == "The pump is new."
    assert EMPTY != "no state"


@strategies.cases(25)
@given(st.lists(strategies.memories(), min_size=1, max_size=4))
def test_created_memories_read_back(memories: list[Memory]) -> None:
    made = [
        replace(m.with_fields({"id": f"mem-{n:016x}"}), path=f"memories/x/m{n}.md")
        for n, m in enumerate(memories)
    ]
    after = apply(EMPTY, [Create(memory=m) for m in made])
    assert read_state(dict(after.files), Layout()) == after
    assert set(after.memories) == {m.id for m in made}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Create(memory=MEMORY), "already"),
        (Create(memory=replace(MEMORY, path="memories/knowledge/b.md")), "already"),
        (Create(memory=MEMORY.with_fields({"id": OTHER})), "already"),
        (
            Create(memory=Memory.of("memories/x/b.md", {"type": "fact"}, body="b")),
            "never changes",
        ),
        (Create(memory=replace(MEMORY, path="views/b.md").with_fields({"id": OTHER})), "layer"),
        (Update(id=ID, fields={"id": OTHER}), "never changes"),
        (Delete(path=MEMORY.path), "Remove"),
        (Write(path="views/A.md/b", data=b""), "same name"),
        (Write(path="views", data=b""), "same name"),
        (Write(path="views/../x", data=b""), "not a path"),
        (Write(path="views//x", data=b""), "not a path"),
        (Write(path="", data=b""), "not a path"),
        (Write(path="views/.GIT/x", data=b""), "not a path"),
        (Update(id=OTHER, body="x"), "no such memory"),
        (Remove(id=OTHER), "no such memory"),
        (Write(path="memories/knowledge/x.md", data=b""), "written by Create or Update"),
        (Delete(path="views/NONE.md"), "no file"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(change: Change, why: str) -> None:
    with pytest.raises(ChangeRefused, match=why) as caught:
        play(ONE, (Step(op="edit", changes=(change,)),))
    assert caught.value.exit_code == 70


@pytest.mark.parametrize(
    "change",
    [
        Create(memory=Memory.of("memories/x/b.md", {"id": "x", "type": "fact"}, body="")),
        Update(id=ID, fields={"status": "nonsense"}),
    ],
)
def test_what_would_not_read_back_is_refused(change: Change) -> None:
    with pytest.raises(codec.CodecError):
        apply(ONE, [change])


def test_playing_steps_gives_each_step_its_effect_and_the_end() -> None:
    steps = (
        Step(
            op="reword",
            what="a",
            changes=(Update(id=ID, body="First.\n"), Update(id=ID, body="Second.\n")),
        ),
        Step(op="view", what="b", changes=(Write(path="views/A.md", data=b"2"),)),
        Step(op="prune", what="c", changes=(Remove(id=ID), Delete(path="views/A.md"))),
        Step(op="confirm", what="nothing"),
    )
    effects, after = play(ONE, steps)
    assert [set(e) for e in effects] == [
        {MEMORY.path},
        {"views/A.md"},
        {MEMORY.path, "views/A.md"},
        set(),
    ]
    assert b"Second." in (effects[0][MEMORY.path] or b"")
    assert set(effects[2].values()) == {None}
    assert after == apply_steps(ONE, steps) == EMPTY


def test_files_without_an_id_or_unreadable_are_named_and_kept() -> None:
    none = b"---\ntype: fact\n---\nText\n"
    state = read_state(
        {"memories/x/a.md": none, "memories/x/b.md": b"\xff", "memories/x/index.md": b"\xff"},
        Layout(),
    )
    assert dict(state.memories) == {}
    assert {p.path for p in state.problems} == {"memories/x/a.md", "memories/x/b.md"}
    assert state.problems[0].rule == "memory-no-id"
    assert len(state.files) == 3
