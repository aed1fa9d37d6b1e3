"""Gists made offline: sentences, their weight, and the bounds of what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import Memory
from memrepo.policies.gists import (
    LENGTH,
    SENTENCES,
    TAGS,
    TITLE,
    clipped,
    gist_of,
    sentences,
    telling,
    word_counts,
)


def note(body: str, **fields: object) -> Memory:
    base = {"id": "mem-" + "1" * 16, "type": "note", **fields}
    return Memory.of("memories/notes/2026-03/01/garden-000001.md", base, body=body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("- one\n- two\n", ["one", "two"]),
        ("## Head\n\n> said | \n| cell |", ["Head", "said", "cell"]),
        ("v1.2 is out", ["v1.2 is out"]),
        ("  \n--\n", []),
    ],
)
def test_sentences_and_items_without_their_marks(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_sentence_that_tells_an_outcome_comes_before_one_that_repeats() -> None:
    said = ["Gate gate.", "The gate was painted.", "We decided on larch.", "Nothing else happened."]
    counts = word_counts(said)
    assert telling(said, counts, 1, 400) == ["We decided on larch."]
    assert telling(said, counts, 2, 400) == ["Gate gate.", "We decided on larch."], "in their order"
    assert telling([], counts, 2, 400) == []


@given(st.text(alphabet="ab .\n-déc", max_size=600))
def test_a_gist_keeps_its_bounds_and_says_only_what_the_note_says(body: str) -> None:
    gist = gist_of(note(body))
    assert gist == gist_of(note(body))
    assert len(gist.title) <= TITLE
    assert len(gist.tags) <= TAGS
    assert len(gist.summary) <= LENGTH
    said = sentences(body)
    assert gist.summary in ("", clipped(gist.summary, LENGTH))
    assert sum(one in gist.summary for one in said) >= min(len(said), 1) or "…" in gist.summary
    assert len(telling(said, word_counts(said), SENTENCES, LENGTH)) <= SENTENCES


def test_where_nothing_fits_the_best_is_cut() -> None:
    said = ["aaaaaaaaaaaa", "bbbbbbbbbbbbbbb"]
    assert telling(said, word_counts(said), 2, 8) == ["aaaaaaa…"]


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [("abcde", 5, "abcde"), ("abcdef", 5, "abcd…"), ("abc def", 5, "abc…")],
)
def test_a_cut_sentence_is_as_long_as_allowed(text: str, length: int, expected: str) -> None:
    assert clipped(text, length) == expected


def test_a_line_that_returns_with_other_numbers_counts_once() -> None:
    body = "- 1:02 check: nothing new.\n- 2:02 check: nothing new.\n- The gateway moved to Turin."
    assert gist_of(note(body)).summary == "1:02 check: nothing new. The gateway moved to Turin."
