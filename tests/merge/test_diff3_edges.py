"""Hunks that touch and hunks that do not, at their edges."""

from __future__ import annotations

import pytest

from memrepo.merge.diff3 import merge_text


def merged(base: str, older: str, newer: str) -> tuple[str, bool]:
    joined = merge_text(*("\n".join(text) for text in (base, older, newer)))
    return joined.text.replace("\n", ""), joined.overlap


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
        # What one side kept of the base and the other removed is no addition.
        ("abcd", "aXcd", "aXd", ("aXd", True)),
    ],
)
def test_which_hunks_touch(base: str, older: str, newer: str, wanted: tuple[str, bool]) -> None:
    assert merged(base, older, newer) == wanted


def test_an_overlap_is_told_also_where_a_later_cluster_has_none() -> None:
    assert merged("abcdef", "aXcdef", "aYcdeZ") == ("aYcdeZ", True)
    assert merged("abcdef", "Xbcdef", "Ybcdef") == ("Ybcdef", True)
    text, overlap = merged("abcdefgh", "Xbcdefgh", "Ybcdefgz")
    assert (text, overlap) == ("Ybcdefgz", True)
    assert merged("abcde", "Xbcde", "abcdZ") == ("XbcdZ", False)
