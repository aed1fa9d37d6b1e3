"""Excerpts: the part that answers, within its bound, marked where text is missing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memrepo.policies.excerpts import MARK, excerpt
from memrepo.text.terms import query_terms

DAY = """\
- The oven was cleaned and the tray was put away.
- Ana said that the harbour depot moves to Porto in May.
- Lunch was soup and bread.
- The oven of the depot needs a new door before winter comes.
- Nothing else happened."""


@pytest.mark.parametrize(
    ("question", "most", "found"),
    [
        ("lunch", 60, "… - Lunch was soup and bread. …"),
        ("move to Porto", 66, "… - Ana said that the harbour depot moves to Porto in May. …"),
        ("oven door", 70, "… - The oven of the depot needs a new door before winter comes. …"),
        ("zebra", 60, "- The oven was cleaned and the tray was put away. …"),
        ("Porto", 30, "… - Ana said that the harb…"),
        ("nothing", 40, "… - Nothing else happened."),
    ],
)
def test_the_sentences_that_hold_the_question_are_shown(
    question: str, most: int, found: str
) -> None:
    assert excerpt(DAY, query_terms(question), most) == found


def test_two_words_that_stand_together_beat_one_that_stands_alone() -> None:
    shown = excerpt(DAY, query_terms("oven of the depot"), 75)
    assert "needs a new door" in shown


def test_the_room_that_is_left_is_filled_with_what_stands_around() -> None:
    shown = excerpt(DAY, query_terms("soup"), 140)
    assert "soup" in shown
    assert "needs a new door" in shown


def test_a_text_that_fits_is_untouched() -> None:
    assert excerpt(DAY, query_terms("lunch"), len(DAY)) == DAY


@given(st.text(max_size=400), st.text(max_size=40), st.integers(min_value=1, max_value=200))
@example("a. b. c. d. e. f.", "c", 7)
def test_an_excerpt_stays_within_its_bound_and_says_nothing_that_the_text_does_not(
    text: str, question: str, most: int
) -> None:
    shown = excerpt(text, query_terms(question), most)
    assert len(shown) <= most
    bare = shown if shown in text else shown.removeprefix(f"{MARK} ").removesuffix(MARK).rstrip()
    assert bare in text
