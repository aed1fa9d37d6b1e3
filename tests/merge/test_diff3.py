from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.merge.diff3 import merge_text
from tests.strategies import cases

words = st.lists(st.sampled_from("abcdef "), max_size=7).map("\n".join)


@pytest.mark.parametrize(
    ("base", "older", "newer", "text", "overlap"),
    [
        pytest.param("a b c", "a b c", "a x c", "a x c", False, id="one side"),
        pytest.param("a b c", "x b c", "a b y", "x b y", False, id="far apart"),
        pytest.param("a b c", "a x c", "a b c y", "a x c y", False, id="near"),
        pytest.param("a b c", "x b c", "a y c", "x y c", False, id="neighbours"),
        pytest.param("a b", "a x b", "a y b", "a x y b", False, id="both insert: older first"),
        pytest.param("a b", "a x b", "a x y b", "a x y b", False, id="both insert the same"),
        pytest.param("a", "a _ x", "a _ y", "a _ x _ y", False, id="paragraphs stay apart"),
        pytest.param("", "x", "y", "x y", False, id="nothing before"),
        pytest.param("a b c", "a x c", "a x y c", "a x y c", False, id="same change and more"),
        pytest.param("a b c", "a x c", "a y c", "a y c", True, id="both replace"),
        pytest.param("a b c", "a c", "a y c", "a y c", True, id="removed and replaced"),
        pytest.param("a b c", "a y c", "a c", "a c", True, id="replaced and removed"),
        pytest.param("a b c", "a c", "a c", "a c", False, id="both remove"),
        pytest.param("a b c d", "a d", "a b x c d", "a b x c d", True, id="insert in a removal"),
        pytest.param("a b c", "x a b c", "b c", "x b c", False, id="insert before a removal"),
        pytest.param("a b c", "", "a b c", "", False, id="all removed"),
        pytest.param("a b c d e", "v w c d e", "a x y d z", "a x y d z", True, id="a chain"),
    ],
)
def test_two_sides_of_a_text(base: str, older: str, newer: str, text: str, overlap: bool) -> None:
    base, older, newer, text = (
        t.replace(" ", "\n").replace("_", "") for t in (base, older, newer, text)
    )
    joined = merge_text(base, older, newer)
    assert (joined.text, joined.overlap) == (text, overlap)


@cases(200)
@given(words, words, words)
def test_lines_that_one_side_added_are_there_unless_it_lost_an_overlap(
    base: str, older: str, newer: str
) -> None:
    joined = merge_text(base, older, newer)
    lines = [set(text.split("\n")) - {""} for text in (base, older, newer, joined.text)]
    assert lines[2] - lines[0] <= lines[3]
    if not joined.overlap:
        assert lines[1] - lines[0] <= lines[3]
    assert lines[3] <= lines[0] | lines[1] | lines[2]


@cases(100)
@given(words, words)
def test_one_changed_side_or_two_equal_ones_are_the_result(base: str, side: str) -> None:
    for older, newer in ((side, base), (base, side), (side, side)):
        joined = merge_text(base, older, newer)
        assert (joined.text, joined.overlap) == (side, False)
