"""Whether a hit answers at all: shares by rarity, the floor, and how sure an answer is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from memrepo.policies.documents import Document, Ranked
from memrepo.policies.floor import (
    CONFIDENCES,
    FLOOR,
    LIKELY,
    PART,
    SURE,
    Held,
    answers,
    shares,
    sureness,
)
from memrepo.policies.questions import Idea, Question


class Corpus:
    """How many of ten documents hold a term."""

    size = 10
    average = 3.0

    def __init__(self, **held: int) -> None:
        self.held = held

    def alike(self, term: str, *, inflects: bool = False) -> Mapping[str, float]:
        return {}

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        return {term: self.held[term] for term in found if term in self.held}


def document(*terms: str, number: int = 1, day: str = "") -> Document:
    return Document(number=number, path=f"{number}.md", terms=terms, day=day)


def share(question: Question, *terms: str, **held: int) -> float:
    corpus: Any = Corpus(**held)
    return shares(question, corpus, [document(*terms)])[1].share


def asks(*terms: str, **more: Any) -> Question:
    return Question(terms=terms, **more)


def test_all_words_are_all_and_none_is_none() -> None:
    assert share(asks("gate", "larch"), "gate", "larch", gate=1, larch=1) == pytest.approx(1.0)
    assert share(asks("gate", "larch"), "oak", gate=1, larch=1) == 0.0
    assert share(asks("gate", "larch"), "gate", gate=2, larch=2) == pytest.approx(0.5)
    assert share(asks(), "gate") == 1.0  # a question of times alone asks for no word


def test_a_rare_word_weighs_more_and_one_that_nothing_holds_the_most() -> None:
    question = asks("gate", "larch")
    assert (
        share(question, "larch", gate=9, larch=1) > 0.5 > share(question, "gate", gate=9, larch=1)
    )
    assert share(question, "gate", gate=1) < share(question, "gate", gate=1, larch=1)


def test_a_word_that_is_asked_twice_weighs_once() -> None:
    assert share(asks("gate", "gate", "larch"), "gate", gate=1, larch=1) == pytest.approx(0.5)


def test_another_word_for_an_asked_one_counts_less_than_itself() -> None:
    dog = frozenset({frozenset({"dog"})})
    question = asks("pet", ideas=(Idea(frozenset({"pet"}), dog),))
    assert share(question, "dog", pet=1) == pytest.approx(0.8)
    assert share(question, "dog", "pet", pet=1) == pytest.approx(1.0)
    assert share(question, "cat", pet=1) == 0.0


def test_of_a_long_question_six_words_are_enough() -> None:
    terms = [f"w{n}" for n in range(12)]
    held = dict.fromkeys(terms, 1)
    assert share(asks(*terms), *terms[:6], **held) == pytest.approx(1.0)
    assert share(asks(*terms), *terms[:3], **held) == pytest.approx(0.5)
    assert share(asks(*terms), *terms, **held) == 1.0
    assert share(asks(*terms[:6]), *terms[:3], **held) == pytest.approx(0.5)


def hit(day: str = "") -> Ranked:
    return Ranked(document=document(day=day), score=1.0, parts={})


def test_above_the_floor_or_of_a_day_that_was_asked_for_a_hit_answers() -> None:
    assert not answers(asks("x"), [hit()], {1: Held(FLOOR, PART)})
    assert answers(asks("x"), [hit()], {1: Held(FLOOR + 0.01, 0.0)})
    assert answers(asks("x"), [hit()], {1: Held(0.0, PART + 0.01)})
    assert not answers(asks("x"), [], {})
    dated = asks("x", spans=(("2026-03-01", "2026-03-07"),))
    for day, held in (
        ("2026-02-28", False),
        ("2026-03-01", True),
        ("2026-03-07", True),
        ("2026-03-08", False),
        ("", False),
    ):
        assert answers(dated, [hit(day)], {1: Held(0.0, 0.0)}) is held


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (SURE, "high"),
        (SURE - 0.01, "medium"),
        (LIKELY, "medium"),
        (LIKELY - 0.01, "low"),
        (0.0, "low"),
    ],
)
def test_how_sure_an_answer_is(value: float, word: str) -> None:
    assert 0 < FLOOR < LIKELY < SURE < 1
    assert sureness(value) == word
    assert sureness(value, "very low") == "very low"
    assert sureness(value, "high") == word
    assert CONFIDENCES.index(sureness(value, "medium")) >= CONFIDENCES.index("medium")
