"""Contradictions among memories that stand already, as consolidation finds them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from test_assemble import NOW, editor, empty, group, run, source
from test_assemble import claim as said
from test_contradictions import COFFEE, TEA, YES, Scripted, bodies, ops_of, plain

from memrepo.actions.run import contradictions as stage
from memrepo.actions.run.contradictions import Among, among
from memrepo.actions.run.holds import fingerprints
from memrepo.core.changes import Update
from memrepo.core.judge import BudgetReached, Finding, JudgeFailed
from memrepo.core.state import State, apply
from memrepo.judges.offline import OfflineJudge

BOTH = replace(YES, is_contradiction=False)


def stand(*pairs: Any) -> State:
    """Return memories as runs would leave them that compared nothing."""
    state = empty()
    for pair in pairs:
        state = run(state, pair)
    return state


def look(
    state: State, judge: Any, never: Collection[str] = (), compared: Collection[str] = ()
) -> Among:
    return among(state, judge, NOW, never, compared)


def after(state: State, found: Among) -> State:
    return apply(state, [change for step in found.steps for change in step.changes])


def teas() -> State:
    return stand(plain("b", COFFEE, "2026-02-20"), plain("a", TEA, "2026-02-10"))


def keyed(name: str, value: str, captured: str, key: str = "Main editor") -> Any:
    text = f"{key}: {value}"
    return (
        group(name, text, sources=(source(text, captured=captured),)),
        said(name, text, "Tools", key, value),
    )


def test_a_pair_is_asked_about_once_and_the_newer_evidence_comes_first() -> None:
    judge = Scripted()
    state = teas()
    found = look(state, judge)
    (asked,) = judge.asked
    assert (asked.first.text, asked.second.text, asked.why) == (COFFEE, TEA, "similar")
    assert ops_of(found.steps) == ["supersede"]
    later = after(state, found)
    assert (bodies(later, "active"), bodies(later, "superseded")) == ([COFFEE], [TEA])
    assert look(later, Scripted()).steps == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (YES, ["supersede"]),
        (replace(YES, confidence=0.9), ["flag"]),
        (replace(YES, confidence=0.9000001), ["supersede"]),
        (replace(YES, newer="unknown"), ["flag"]),
        (replace(YES, newer="second"), ["flag"]),  # the evidence is dated the other way round
        (BOTH, []),
    ],
)
def test_only_a_sure_answer_with_an_order_replaces(answer: Finding, expected: list[str]) -> None:
    state = teas()
    found = look(state, Scripted([answer]))
    assert ops_of(found.steps) == expected
    judge = Scripted()
    assert look(after(state, found), judge, compared=found.harmless).steps == ()
    assert judge.asked == []


def test_a_pair_that_a_model_let_stand_is_asked_about_again_once_a_text_changes() -> None:
    state = teas()
    found = look(state, Scripted([BOTH]))
    assert len(found.harmless) == 1
    (tea,) = (m.id for m in state.active if m.body == TEA)
    edited = apply(state, [Update(id=tea, body=f"{TEA}.")])
    judge = Scripted([BOTH])
    look(edited, judge, compared=found.harmless)
    assert len(judge.asked) == 1


def test_what_a_person_took_back_is_not_asked_about_again() -> None:
    state, judge = teas(), Scripted()
    for op in ("supersede", "flag"):
        look(state, judge, never=fingerprints(op, state.memories))
    assert judge.asked == []


@pytest.mark.parametrize("failed", [BudgetReached("spent"), JudgeFailed("gone")])
def test_a_judge_that_stops_leaves_the_pairs_for_the_next_run(failed: Exception) -> None:
    found = look(teas(), Scripted([failed]))
    assert (found.steps, found.harmless) == ((), frozenset())
    assert found.asked.stopped


def test_one_run_asks_a_model_about_so_many_pairs_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stage, "MAX_ASKED", 1)
    state = stand(
        plain("a", TEA),
        plain("b", COFFEE),
        plain("c", "The gate of the old mill is painted red"),
        plain("d", "The gate of the old mill is painted blue"),
    )
    first = Scripted([BOTH])
    done = look(state, first)
    second = Scripted([BOTH])
    look(state, second, compared=done.harmless)
    asked = [{s.first.text, s.second.text} for s in (*first.asked, *second.asked)]
    assert len(first.asked) == len(second.asked) == 1
    assert asked[0] != asked[1]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (("vim", "2026-01-02"), ("helix", "2026-02-02"), ["supersede"]),
        (("vim", "2026-02-02"), ("helix", "2026-02-02"), ["flag"]),
        (("vim", "2026-01-02"), ("helix", ""), ["flag"]),
        (("vim at work", "2026-01-02"), ("helix at home", "2026-02-02"), []),
        (("vim until May", "2026-01-02"), ("helix", "2026-02-02"), []),
    ],
)
def test_the_rules_replace_a_value_only_by_an_explicitly_newer_one(
    one: tuple[str, str], other: tuple[str, str], expected: list[str]
) -> None:
    state = stand(keyed("a", *one), keyed("b", *other))
    found = look(state, OfflineJudge())
    assert ops_of(found.steps) == expected
    assert look(after(state, found), OfflineJudge()).steps == ()
    if expected == ["supersede"]:
        assert bodies(after(state, found), "active") == ["Main editor: helix"]


def test_the_rules_take_no_other_key_for_one_with_a_single_value() -> None:
    state = stand(keyed("a", "vim", "2026-01-02", "Tool"), keyed("b", "ed", "2026-02-02", "Tool"))
    assert look(state, OfflineJudge()).steps == ()


def test_a_key_with_many_values_is_a_list() -> None:
    names = ["vim", "nano", "ed", "kate", "emacs", "micro", "helix"]
    state = stand(*(editor(f"k{n}", name) for n, name in enumerate(names)))
    judge = Scripted([BOTH] * 50)
    look(state, judge)
    assert "changed" not in {s.why for s in judge.asked}


WORDS = ("old", "mill", "gate", "painted", "red", "blue", "not", "north")


@settings(max_examples=40)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS), min_size=4, max_size=6, unique=True),
        min_size=2,
        max_size=12,
    ),
    keyed_as=st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("xyz")), max_size=6),
    turn=st.randoms(use_true_random=False),
)
def test_of_what_changed_the_same_pairs_are_suspected_as_among_all(
    texts: list[list[str]], keyed_as: list[tuple[str, str]], turn: Any
) -> None:
    state = stand(
        *(plain(f"t{n}", " ".join(words)) for n, words in enumerate(texts)),
        *(keyed(f"k{n}", f"{value}{n}", "", key) for n, (key, value) in enumerate(keyed_as)),
    )
    changed = set(turn.sample(sorted(state.memories), turn.randint(0, len(state.memories))))
    among_all, among_these = Scripted([BOTH] * 200), Scripted([BOTH] * 200)
    among_all.prompt_hash = among_these.prompt_hash = ""
    look(state, among_all)
    among(state, among_these, NOW, (), (), changed)
    expected = [
        (s.first.memory_id, s.second.memory_id, s.why)
        for s in among_all.asked
        if changed & {s.first.memory_id, s.second.memory_id}
    ]
    found = [(s.first.memory_id, s.second.memory_id, s.why) for s in among_these.asked]
    assert found == expected
