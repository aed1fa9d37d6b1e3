from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.merge.versions import merge_text
from tests.strategies import cases

words = st.lists(st.sampled_from("abcdef "), max_size=7).map("\n".join)


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


def merged(base: str, older: str, newer: str) -> tuple[str, bool]:
    """Join texts of lines that are a sign each; `_` is an empty one."""
    joined = merge_text(*("\n".join(t).replace("_", "") for t in (base, older, newer)))
    return "".join(
        line or "_" * bool(joined.text) for line in joined.text.split("\n")
    ), joined.overlap


@pytest.mark.parametrize(
    ("base", "older", "newer", "wanted"),
    [
        # An insertion at either edge of what the other side replaced is beside it.
        ("abcd", "aXbcd", "aYcd", ("aXYcd", False)),
        ("abcd", "abXcd", "aYcd", ("aYXcd", False)),
        ("abcd", "aYcd", "aXbcd", ("aXYcd", False)),
        ("abcd", "aYcd", "abXcd", ("aYXcd", False)),
        # Strictly inside it is within.
        ("abcd", "abXcd", "aYd", ("aYd", True)),
        ("abcd", "aYd", "abXcd", ("abXcd", True)),
        # Two replacements that meet do not touch; those that share a line do.
        ("abcd", "aXcd", "abYd", ("aXYd", False)),
        ("abcd", "aXd", "abYd", ("abYd", True)),
        ("abcd", "abYd", "aXd", ("aXd", True)),
        # Both insert at one place: the older first, and what both wrote once.
        ("ab", "aXYb", "aYZb", ("aXYZb", False)),
        ("ab", "aXb", "aXb", ("aXb", False)),
        # Both insert at different places.
        ("abc", "aXbc", "abYc", ("aXbYc", False)),
        # The same change, and one side added more to it, at the end or at the beginning.
        ("abc", "aXc", "aXYc", ("aXYc", False)),
        ("abc", "aXYc", "aXc", ("aXYc", False)),
        ("abc", "aYXc", "aXc", ("aYXc", False)),
        # The same change on both sides, and another on one.
        ("abcdef", "aXcdef", "aXcdeZ", ("aXcdeZ", False)),
        ("abc", "aXYZc", "aWXYZc", ("aWXYZc", False)),
        # Lines that one side left alone do not cut what the other replaced.
        ("abcdef", "Xcdef", "abcdeZ", ("XcdeZ", False)),
        ("abcdef", "abcdeZ", "Xcdef", ("XcdeZ", False)),
        ("a", "a_x", "a_y", ("a_x_y", False)),
        ("", "x", "y", ("xy", False)),
        # An overlap is told where another cluster has none.
        ("abcdef", "aXcdef", "aYcdeZ", ("aYcdeZ", True)),
        ("abcdef", "Xbcdef", "Ybcdef", ("Ybcdef", True)),
        ("abcde", "vwcde", "axydz", ("axydz", True)),
        # What one side removed stays away beside an insertion, and all of it may go.
        ("abc", "xabc", "bc", ("xbc", False)),
        ("abc", "", "abc", ("", False)),
        # What one side kept of the base and the other removed is no addition.
        ("abcd", "aXcd", "aXd", ("aXd", True)),
    ],
)
def test_which_hunks_touch(base: str, older: str, newer: str, wanted: tuple[str, bool]) -> None:
    assert merged(base, older, newer) == wanted
