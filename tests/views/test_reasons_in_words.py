"""Codes are for programs: what a person reads holds none, and what a person wrote stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.views.report import in_words, is_code, judged_in_words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "both passes of the purifier accepted them",
            "stated in the source, and kept by both passes of the judge",
        ),
        ("text_removed: sources/MEMORY.md", "sources/MEMORY.md no longer says so"),
        (
            "text_removed: sources/MEMORY.md no longer holds what they rested on",
            "sources/MEMORY.md no longer says so",
        ),
        ("source_removed: sources/a.md", "sources/a.md is gone"),
        (
            "a newer statement of the same matter (type_default,shape_1,newer_value; 0.95 sure)",
            "a newer statement of the same matter (95 % sure)",
        ),
        ("a newer statement of it (Mara moved in May; 1.00 sure)", None),
        ("said twice (0.70 sure)", "said twice (70 % sure)"),
        ("Ana: they moved in February", None),
        ("", None),
    ],
)
def test_reasons(reason: str, words: str | None) -> None:
    assert in_words(reason) == (reason if words is None else words)


@pytest.mark.parametrize(
    ("judged", "words"),
    [
        ("strong, new_claim, type_default,shape_3", "a new statement"),
        ("strong, new_claim, Mara said so, twice", "a new statement, Mara said so, twice"),
        ("suspicious, probable_duplicate", "probably known already"),
        ("no_candidates_above_threshold", "nothing like it was known"),
        ("", ""),
    ],
)
def test_judgements(judged: str, words: str) -> None:
    assert judged_in_words(judged) == words


@given(st.text(alphabet=" abcDE.,:;()%"))
def test_what_holds_no_code_stays(text: str) -> None:
    assert in_words(text) == text
    assert not is_code(text)
