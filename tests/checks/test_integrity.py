"""What must hold in a history: a sound one, and one broken in each way."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memrepo.checks.integrity import RULES, CommitFacts, history_problems

RUN = "20260301T090000Z-0123abcd"
ACTOR = ("memrepo/0.1.0",)


def name(letter: str) -> str:
    return letter * 40


def commit(letter: str, parents: str, op: str, *, tree: str = "", **more: object) -> CommitFacts:
    trailers = {"Op": (op,), "Actor": ACTOR, "Run": (RUN,)} if op else {}
    return CommitFacts(
        commit=name(letter),
        parents=tuple(map(name, parents)),
        tree=name(tree or letter),
        subject=f"{op or 'wip'}: words",
        trailers=trailers,
        **more,
    )


BASE = commit("a", "", "")
MADE = commit("b", "a", "create")
RECORD = commit("c", "b", "run", added=(RUN,))
MERGE = commit("d", "ac", "run", tree="c")
SOUND = (BASE, MADE, RECORD, MERGE)


def with_trailers(facts: CommitFacts, **trailers: tuple[str, ...]) -> CommitFacts:
    return replace(facts, trailers={**facts.trailers, **trailers})


def test_a_sound_history_has_no_findings() -> None:
    assert history_problems(SOUND) == ()
    assert history_problems(()) == ()


@pytest.mark.parametrize(
    ("broken", "at", "rule"),
    [
        pytest.param(
            (BASE, with_trailers(MADE, Op=("creat",)), RECORD, MERGE),
            "b",
            "history-trailers",
            id="no such operation",
        ),
        pytest.param(
            (BASE, with_trailers(MADE, Op=("create", "prune")), RECORD, MERGE),
            "b",
            "history-trailers",
            id="a forged second operation",
        ),
        pytest.param(
            (BASE, with_trailers(MADE, Actor=()), RECORD, MERGE),
            "b",
            "history-trailers",
            id="no actor",
        ),
        pytest.param(
            (BASE, with_trailers(MADE, Memory=("mem-1",)), RECORD, MERGE),
            "b",
            "history-trailers",
            id="no id of a memory",
        ),
        pytest.param(
            (BASE, with_trailers(MADE, Reverts=("HEAD",)), RECORD, MERGE),
            "b",
            "history-trailers",
            id="no id of a commit",
        ),
        pytest.param(
            (*SOUND, with_trailers(commit("e", "d", "revert"), Reverts=(name("f"),))),
            "e",
            "history-target",
            id="a revert of what never was",
        ),
        pytest.param(
            (*SOUND, with_trailers(commit("e", "d", "sync"), Settles=(name("f"),))),
            "e",
            "history-target",
            id="settles a merge that never was",
        ),
        pytest.param(
            (BASE, MADE, replace(RECORD, added=()), MERGE),
            "d",
            "run-without-manifest",
            id="a run without its manifest",
        ),
        pytest.param(
            (*SOUND, commit("e", "d", "", added=(RUN,))),
            "e",
            "manifest-without-run",
            id="a manifest out of nowhere",
        ),
        pytest.param(
            (BASE, MADE, replace(RECORD, added=(RUN, "20260301T090000Z-ffffffff")), MERGE),
            "c",
            "manifest-without-run",
            id="another run's manifest",
        ),
        pytest.param(
            (*SOUND, commit("e", "d", "edit", changed=(RUN,))),
            "e",
            "manifest-changed",
            id="a manifest edited",
        ),
        pytest.param(
            (BASE, MADE, RECORD, replace(MERGE, tree=name("b"))),
            "d",
            "run-tree",
            id="a merge that says more than its chain",
        ),
        pytest.param(
            (BASE, commit("b", "", "create"), RECORD, MERGE),
            "d",
            "run-chain",
            id="a chain from elsewhere",
        ),
        pytest.param(
            (BASE, with_trailers(MADE, Run=("20260301T090000Z-ffffffff",)), RECORD, MERGE),
            "d",
            "run-chain",
            id="a step of another run",
        ),
    ],
)
def test_what_does_not_hold_is_named_at_the_first_commit(
    broken: tuple[CommitFacts, ...], at: str, rule: str
) -> None:
    (problem, *_) = history_problems(broken)
    assert (problem.path, problem.rule) == (name(at), rule)
    assert problem.rule in RULES


def test_a_manifest_comes_back_with_a_revert_and_over_with_a_sync() -> None:
    for op in ("revert", "sync"):
        assert history_problems((*SOUND, commit("e", "d", op, added=(RUN,)))) == ()
