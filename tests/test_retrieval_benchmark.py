"""The benchmark of ranking: what it measures, and that it never chooses on what it measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import retrieval
from benchmarks.recall import Question
from memrepo.policies.rules import Weights


def talk(name: str, *turns: str) -> dict[str, Any]:
    said = [{"dia_id": f"D1:{n}", "speaker": "Ana", "text": t} for n, t in enumerate(turns, 1)]
    return {
        "sample_id": name,
        "conversation": {"session_1": said, "session_1_date_time": "1:56 pm on 8 May, 2023"},
        "qa": [
            {"question": "Where is the pump?", "category": 4, "evidence": ["D1:1"]},
            {"question": "Where is the yacht?", "category": 5, "evidence": ["D1:2"]},
            {"question": "What is nowhere?", "category": 1, "evidence": ["D9:9"]},
        ],
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "talks.json"
    talks = [
        talk("one", "The pump is in the shed.", "A lamp."),
        talk("two", "Pump: in the cellar.", "x"),
    ]
    path.write_text(json.dumps(talks), encoding="utf-8")
    return path


def test_questions_are_asked_of_their_own_conversation_and_need_an_answer(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "GRID", {"k1": (0.7,)})
    assert retrieval.main([str(data)]) == 0
    said = capsys.readouterr().out
    assert said.count("answerable   R@1 1.000  R@10 1.000  R@20 1.000  MRR 1.000") == 2
    assert said.count("adversarial  R@1 0.000  R@10 0.000") == 2
    assert said.count("one          R@1 1.000") == 1
    assert "one: as in force" in said


def test_constants_are_chosen_without_the_conversation_that_is_measured(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = retrieval.Trials(retrieval.read(data), tmp_path)
    asked: list[str] = []
    measured = trials.on

    def on(name: str, weights: Weights) -> retrieval.Figures:
        asked.append(name)
        return measured(name, weights)

    monkeypatch.setattr(trials, "on", on)
    trials.chosen(["two"])
    assert set(asked) == {"two"}


def test_of_several_files_each_is_asked_with_constants_of_the_others(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "GRID", {"k1": (0.7,)})
    other = tmp_path / "other.json"
    other.write_text(json.dumps([talk("one", "A pump.", "The pump is here.")]), encoding="utf-8")
    chosen_on: list[tuple[tuple[str, ...], ...]] = []

    def chosen(_: retrieval.Trials, *sets: list[str]) -> Weights:
        chosen_on.append(tuple(map(tuple, sets)))
        return Weights(k1=0.7)

    monkeypatch.setattr(retrieval.Trials, "chosen", chosen)
    assert retrieval.main([str(data), str(other)]) == 0
    assert chosen_on == [(("2-other-one",),), (("1-talks-one", "1-talks-two"),)]
    said = capsys.readouterr().out
    assert said.count("k1 0.7") == 2
    assert "1-talks: constants in force" in said
    assert "2-other: chosen on the other sets" in said


@pytest.mark.parametrize(
    ("held", "one", "ten", "twenty", "reciprocal"),
    [
        ([], 0, 0, 0, 0),
        (["a"], 0.5, 0.5, 0.5, 1),
        (["x", "a", "a", "b"], 0, 1, 1, 0.5),
        (["x"] * 9 + ["a", "b"], 0, 0.5, 1, 0.1),
        (["x"] * 20 + ["a"], 0, 0, 0, 1 / 21),
    ],
)
def test_what_is_found_twice_counts_once_and_what_is_deeper_not_at_all(
    held: list[str], one: float, ten: float, twenty: float, reciprocal: float
) -> None:
    asked = Question(text="?", category=1, gold=frozenset("ab"))
    row = retrieval.scored(asked, [frozenset(one) for one in held])
    assert row == {
        "R@1": one,
        "R@10": ten,
        "R@20": twenty,
        "MRR": reciprocal,
        "category": 1,
    }


def test_a_constant_is_changed_by_its_name_and_all_others_stay() -> None:
    usual = Weights()
    for name in retrieval.GRID:
        other = retrieval.changed(usual, name, 7.0)
        assert retrieval.value_of(other, name) == 7.0
        assert retrieval.changed(other, name, retrieval.value_of(usual, name)) == usual
