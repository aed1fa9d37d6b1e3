"""Comparing two wordings word by word."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.views.html import Span, word_diff, words

TEXTS = st.text("ab é東 \n.,'x\u0301", max_size=40)


def sides(spans: tuple[Span, ...]) -> tuple[str, str]:
    old = "".join(s.text for s in spans if s.mark != "new")
    return old, "".join(s.text for s in spans if s.mark != "old")


@given(TEXTS, TEXTS)
def test_the_spans_join_to_both_texts(old: str, new: str) -> None:
    spans = word_diff(old, new)
    assert sides(spans) == (old, new)
    assert all(s.text for s in spans)
    assert all(a.mark != b.mark for a, b in pairwise(spans))


@given(TEXTS)
def test_no_text_differs_from_itself(text: str) -> None:
    assert {s.mark for s in word_diff(text, text)} <= {"same"}
    assert "".join(words(text)) == text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Ana lives in Lisbon now.", "Ana lives in Porto now.", ["Lisbon", "Porto"]),
        ("the hall", "the hall, and more", [", and more"]),
        ("runs at 02:30 UTC", "runs at 03:30 UTC", ["02", "03"]),
        ("東京のサーバーは夜", "東京のサーバーは朝", ["夜", "朝"]),
        ("I use vim daily", "I use cafe\u0301 daily", ["vim", "cafe\u0301"]),
        ("alpha beta gamma", "one two three", ["alpha beta gamma", "one two three"]),
        ("we met Ana Maria today here", "we met Bob Jones today here", ["Ana Maria", "Bob Jones"]),
    ],
)
def test_what_differs_is_told_in_whole_words(old: str, new: str, told: list[str]) -> None:
    assert [s.text for s in word_diff(old, new) if s.mark != "same"] == told


def test_texts_of_a_book_are_compared_by_line() -> None:
    lines = [f"line {n} of many\n" for n in range(2000)]
    spans = word_diff("".join(lines), "".join([*lines[:1000], "another\n", *lines[1000:]]))
    assert [s.text for s in spans if s.mark != "same"] == ["another\n"]
