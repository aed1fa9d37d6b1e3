"""Which of several parts an excerpt takes, and how it fills its room."""

from __future__ import annotations

import pytest

from memrepo.policies.excerpts import excerpt
from memrepo.policies.terms import query_terms

LONG = "The gate by the mill was painted in a hurry before the first snow came down."
SHORT = "The gate is green."
FILL = ["Nobody spoke of it again.", "The bread was warm.", "A dog slept."]


def shown(said: list[str], question: str, most: int) -> str:
    return excerpt("\n".join(said), query_terms(question), most)


def test_of_equal_parts_the_shorter_is_taken() -> None:
    assert shown([LONG, *FILL, SHORT, *FILL], "gate", 30) == f"… {SHORT} …"


def test_of_parts_that_are_alike_the_first_is_taken() -> None:
    twins = ["The red gate.", "The big gate."]
    assert shown([FILL[0], twins[0], FILL[1], twins[1], FILL[2]], "gate", 20) == f"… {twins[0]} …"


def test_a_rare_word_weighs_more_than_two_common_ones() -> None:
    said = ["The gate creaks at the mill.", *["The gate and the mill."] * 4, "Larch.", *FILL]
    assert "Larch." in shown(said, "gate mill larch", 16)


def test_the_room_is_filled_behind_first_and_then_before() -> None:
    said = ["One one.", "Two two.", "The gate.", "Four four.", "Five five."]
    assert shown(said, "gate", 26) == "… The gate.\nFour four. …"
    assert shown(said[:3], "gate", 25) == "… Two two.\nThe gate."
    assert shown(said[:3], "gate", 30) == "One one.\nTwo two.\nThe gate."


@pytest.mark.parametrize(("most", "expected"), [(6, "The ga"), (7, "… T…")])
def test_without_room_for_its_marks_a_text_is_cut_bare(most: int, expected: str) -> None:
    assert shown(["The gate.", "Then nothing at all."], "nothing", most)[0] == expected[0]
    assert len(shown(["The gate.", "Then nothing at all."], "nothing", most)) <= most
