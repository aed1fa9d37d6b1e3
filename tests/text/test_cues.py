"""Kinds of answer: what a text may give, and what a question asks for."""

from __future__ import annotations

import pytest

from memrepo.policies.questions import cues_of, wanted
from memrepo.text.words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("where is it", ""),
        ("Where is it?", "?"),
        ("那是什么？", "?"),
        ("it was last week", "t"),
        ("On Friday it was", "tp"),
        ("in may", ""),
        ("fed at 07:00", "tn"),
        ("three of them", "n"),
        ("it has 4 legs", "n"),
        ("anyone", ""),
        ("a way to the sea", ""),
        ("Ana went", ""),
        ("she and Ana went", "p"),
        ("to Élodie", "p"),
        ("so I went. He did", ""),
        ('I read "Water"', "pq"),
        ("«Eau»", "q"),
        ("", ""),
        ("so many days? 3 for Ana", "?tnp"),
    ],
)
def test_a_text_tells_what_it_may_answer(text: str, found: str) -> None:
    assert cues_of(text) == found


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("When did it start?", "t"),
        ("What year was it?", "t"),
        ("Say when", ""),
        ("How many pumps are there?", "n"),
        ("How long is it?", "n"),
        ("Who was it?", "p"),
        ("Where is it?", "p"),
        ("In what city was it?", "p"),
        ("Which books are these?", "pq"),
        ("What is it called?", "q"),
        ("What is it?", ""),
        ("", ""),
    ],
)
def test_a_question_tells_what_it_asks_for(question: str, kinds: str) -> None:
    assert wanted(words(question)) == kinds
