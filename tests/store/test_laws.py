"""Laws of the writer: what it commits is what `apply` says, and equal input gives equal ids."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import driving
import strategies
import workspaces
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.actions.landing import prepare
from memrepo.core.layout import Layout
from memrepo.core.memory import FIELDS, LAYER_OF_TYPE, Memory
from memrepo.core.messages import Context
from memrepo.core.state import (
    Change,
    Create,
    Delete,
    Files,
    Remove,
    State,
    Step,
    Update,
    Write,
    apply,
)
from memrepo.store.git import opened
from memrepo.store.repo import Repository

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
EMPTY = State(files=Files({}, {}), memories={})
CONTEXT = Context(actor="human:person@example.org", run="20260301T090000Z-00000000")
PATHS = (
    *("views/PAGE.md", "views/deep/page.md", "views/deep/er/page.md", "runs/2026-03/a.json"),
    *("candidates/deferred/ab/th.md", 'sources/a "quoted" name.md', "sources/-dash.md"),
    *("sources/日記 🚀.md", "sources/back\\slash.md", "sources/tab\there.md", "sources/ü.md"),
)
updatable = st.sampled_from([f for f in FIELDS if f.name not in ("id", "type")])
few = settings(
    max_examples=200 if driving.LONG else 8,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@contextmanager
def fresh() -> Iterator[Repository]:
    """Make an empty repository."""
    with tempfile.TemporaryDirectory() as folder:
        driving.git(Path(folder), "init", "-q")
        with opened(Path(folder)) as repo:
            yield Repository(repo, Layout())


def placed(memory: Memory, number: int) -> Memory:
    """Give a memory an identity and a path of its own."""
    path = f"memories/{LAYER_OF_TYPE[memory.type]}/2026-01/m-{number:06x}.md"
    return replace(memory.with_fields({"id": f"mem-{number:016x}"}), path=path)


@st.composite
def changes(draw: st.DrawFn, state: State, number: int) -> Change:
    """Draw a change that fits a state."""
    kinds = ["create", "write"]
    kinds += ["update", "update", "remove"] if state.memories else []
    others = sorted(p for p in state.files if not state.layout.is_memory(p))
    kinds += ["delete"] if others else []
    match draw(st.sampled_from(kinds)):
        case "create":
            return Create(memory=placed(draw(strategies.memories()), number))
        case "update":
            field = draw(updatable)
            value = draw(st.none() | strategies.field_values(field))
            body = draw(st.none() | strategies.bodies())
            return Update(
                id=draw(st.sampled_from(sorted(state.memories))),
                fields={field.name: value},
                body=body,
            )
        case "remove":
            return Remove(id=draw(st.sampled_from(sorted(state.memories))))
        case "write":
            return Write(path=draw(st.sampled_from(PATHS)), data=draw(st.binary(max_size=20)))
        case _:
            return Delete(path=draw(st.sampled_from(others)))


@st.composite
def histories(draw: st.DrawFn) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Draw the steps that make a base, and the steps of a plan on it."""
    steps, state, number = [], EMPTY, 0
    for op in draw(st.lists(st.sampled_from(("create", "reword", "view")), min_size=2, max_size=5)):
        made = []
        for _ in range(draw(st.integers(1, 3))):
            number += 1
            change = draw(changes(state, number))
            state = apply(state, [change])
            made.append(change)
        steps.append(Step(op=op, what=f"step {number}", reason="why", changes=tuple(made)))
    cut = draw(st.integers(1, len(steps) - 1))
    return tuple(steps[:cut]), tuple(steps[cut:])


def land(store: Repository, state: State, base: str, steps: tuple[Step, ...]) -> str:
    """Land steps as a run does: a chain and its merge."""
    merge = Step(op="run", what="all of it") if base else None
    return store.land(prepare(store, state, base, steps, CONTEXT, NOW, merge=merge).chain, "law")


def all_changes(steps: tuple[Step, ...]) -> list[Change]:
    """Return the changes of steps in order."""
    return [change for step in steps for change in step.changes]


@few
@given(histories())
def test_what_is_committed_is_what_apply_says(
    history: tuple[tuple[Step, ...], tuple[Step, ...]],
) -> None:
    first, then = history
    with fresh() as store:
        base = land(store, EMPTY, "", first)
        before = store.snapshot(base).state()
        assert before == apply(EMPTY, all_changes(first))
        merge = land(store, before, base, then)
        assert store.snapshot(merge).state() == apply(before, all_changes(then))

        left, right = driving.git(store.root, "show", "-s", "--format=%P", merge).split()
        assert left == base
        assert store.work.changed(right, merge) == {}
        chain = driving.git(store.root, "rev-list", "--reverse", f"{base}..{right}").split()
        assert len(chain) == len(then)
        for commit, count in zip(chain, range(1, len(then) + 1), strict=True):
            assert store.snapshot(commit).state() == apply(before, all_changes(then[:count]))

        # The work tree and the index stand where HEAD does.
        assert store.head() == merge
        assert store.work.dirty() == {}
        assert driving.git(store.root, "for-each-ref", "refs/memrepo") == ""


@few
@given(histories())
def test_equal_plans_give_equal_commit_ids(
    history: tuple[tuple[Step, ...], tuple[Step, ...]],
) -> None:
    first, then = history
    tips = []
    for _ in range(2):
        with fresh() as store:
            base = land(store, EMPTY, "", first)
            tips.append(land(store, store.snapshot(base).state(), base, then))
    assert tips[0] == tips[1]


def test_a_file_takes_the_place_of_a_folder_and_gives_it_back() -> None:
    inside, over = Write(path="views/x/y.md", data=b"1"), Write(path="views/x", data=b"2")
    there = (Step(op="view", what="in", changes=(Delete(path="views/x/y.md"), over)),)
    back = (
        Step(op="view", what="out", changes=(Delete(path="views/x"),)),
        Step(op="view", what="in again", changes=(inside,)),
    )
    with fresh() as store:
        base = land(store, EMPTY, "", (Step(op="view", what="first", changes=(inside,)),))
        second = land(store, store.snapshot(base).state(), base, there)
        assert dict(store.snapshot(second).files) == {"views/x": b"2"}
        third = land(store, store.snapshot(second).state(), second, back)
        assert dict(store.snapshot(third).files) == {"views/x/y.md": b"1"}
        assert store.work.dirty() == {}


bullets = st.lists(
    st.sampled_from(("Vera", "Holt", "The pump", "The greenhouse")).flatmap(
        lambda name: st.sampled_from(("likes tea", "is in Oslo", "costs 3 euro", "works")).map(
            lambda rest: f"- {name} {rest}.\n"
        )
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=100 if driving.LONG else 5)
@given(bullets, bullets)
def test_taking_a_run_back_restores_all_but_what_is_decided_against(
    first: list[str], more: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        text = "# Memory\n\n" + "".join(first)
        workspaces.write(base / "ws", {"MEMORY.md": text.encode()})
        repo = driving.begin(base, base / "ws")
        workspaces.write(base / "ws", {"MEMORY.md": (text + "".join(more)).encode()})
        driving.done(repo, "ingest")
        before = driving.git(repo, "rev-parse", "HEAD^{tree}")
        if driving.done(repo, "run", now=driving.LATER)["status"] != "ok":
            return
        assert driving.git(repo, "rev-parse", "HEAD^{tree}") != before
        driving.done(repo, "revert", now=driving.LATER)
        changed = driving.git(repo, "diff", "--name-only", before.strip(), "HEAD").split()
        assert [path for path in changed if not path.startswith("tombstones/")] == []
        assert driving.git(repo, "status", "--porcelain") == ""
