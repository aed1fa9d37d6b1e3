"""What `revert` makes of a history in git is what the pure rules make of its states."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import driving
from histories import as_fields, histories, operation
from hypothesis import HealthCheck, given, settings

from memrepo.actions.takeback.revert import Wanted
from memrepo.actions.takeback.revert import take_back as revert
from memrepo.actions.work import Call, Work
from memrepo.core.changes import Step
from memrepo.core.layout import Layout
from memrepo.core.messages import Context, message
from memrepo.core.state import Effect, State, read_state
from memrepo.merge.takeback import take_back
from memrepo.store import history
from memrepo.store.history import commit_landing
from memrepo.store.local import opened
from memrepo.store.repo import Repository
from memrepo.store.stream import Chain, NewCommit

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
CONFIG = {"memrepo.toml": b"format = 1\n"}
LONG = settings.get_current_profile_name() == "long"
some = settings(
    max_examples=200 if LONG else 15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def commits(states: list[State]) -> list[NewCommit]:
    """Return one commit a state, each an operation of memrepo's."""
    found = []
    for old, new in zip([read_state({}, Layout()), *states], states, strict=False):
        paths = sorted({*old.files, *new.files})
        files = {p: new.files.get(p) for p in paths if new.files.get(p) != old.files.get(p)}
        ids = tuple(
            sorted(
                i
                for i in {*old.memories, *new.memories}
                if old.memories.get(i) != new.memories.get(i)
            )
        )
        step = Step(op="edit", what="a step", memories=ids)
        said = message(step, Context(actor="human:person@example.org"))
        found.append(NewCommit(message=said, effect=Effect(files=files)))
    return found


def at_head(store: Repository) -> Work:
    return Work(Call(where=store.root, now=NOW), store=store)


@some
@given(histories())
def test_a_revert_in_git_gives_what_the_rules_say(
    history_: tuple[tuple[State, ...], int],
) -> None:
    drawn, k = history_
    states = [read_state({**dict(s.files), **CONFIG}, Layout()) for s in drawn]
    with tempfile.TemporaryDirectory() as folder:
        driving.git(Path(folder), "init", "-q")
        driving.git(Path(folder), "config", "core.fsync", "none")
        with opened(Path(folder)) as repo:
            store = Repository(repo, Layout())
            store.land(Chain(base="", commits=commits(states), when=NOW), "law")
            walk = list(history.entries(repo, "--reverse", "HEAD"))
            here, target = at_head(store), walk[k + 1]
            wanted = Wanted(landing=commit_landing(target), latest=k == len(states) - 2)
            answer = revert(here, wanted)
            model = take_back(operation(states, k), states[-1])
            told = {(c.kind, c.memory) for c in answer.conflicts}
            assert told == {(c.kind, c.memory) for c in model.clashes}
            if told:
                assert store.head() == walk[-1].commit
                return
            after = store.snapshot(store.head()).state()
            assert {i: as_fields(m) for i, m in after.memories.items()} == {
                i: as_fields(m) for i, m in model.state.memories.items()
            } or wanted.latest
            if wanted.latest:
                assert after.memories == states[k].memories
            assert store.work.dirty() == {}
