"""Statements in ten languages: those that change another one, and those that only look like it.

`changes/LANG.txt` holds invented pairs, older and newer: `+` is a change, `-` is none.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.policies import change
from memrepo.policies.change import are_apart, change_of, forget
from memrepo.policies.rows import Row
from memrepo.policies.speech import LANGUAGES, language, language_of, sentences

FOLDER = Path(__file__).parent / "changes"


def cases(code: str) -> list[tuple[str, str, str]]:
    """Return mark, older and newer statement of each pair of a language."""
    lines = (FOLDER / f"{code}.txt").read_text(encoding="utf-8").splitlines()
    return [(line[0], *line[2:].split(" | ")) for line in lines if line]  # type: ignore[misc]


ALL = [
    pytest.param(*case, id=f"{code}-{case[1]}-{case[2]}")
    for code in LANGUAGES
    for case in cases(code)
]


@pytest.mark.parametrize(("mark", "old", "new"), ALL)
def test_a_change_is_noticed_and_a_look_alike_is_not(mark: str, old: str, new: str) -> None:
    assert (change_of(old, new) is not None) == (mark == "+")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Route: Riga → Oslo → Bergen → Riga.", "The plan spans Riga → Oslo → Bergen → Riga."),
        ("The kiln is fired by Vera.", "The kiln is fired by Vera, not by the apprentice."),
        ("Status: done\nOwner: Uwe\nDay: Monday", "Status: open\nOwner: Ida\nDay: Monday"),
        ("Title: Kilns; Status: out; Angle: heat", "Title: Glazes; Status: draft; Angle: colour"),
        ("- hub: the board\n- bank: the ledger", "Hub: the board (not the chat)."),
        (
            "The press is loud. It stands in bay two. Uwe oils it. Vera cleans it.",
            "The press does not stand in bay two.",
        ),
    ],
)
def test_a_list_a_record_a_paragraph_and_a_way_change_nothing(one: str, other: str) -> None:
    assert (change_of(one, other), change_of(other, one)) == (None, None)


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_short_way_to_no_change_is_never_wrong(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = list(dict.fromkeys(text for _, *pair in cases(code) for text in pair))
    pairs = [(one, other) for n in (1, 2, 7) for one, other in zip(texts, texts[n:], strict=False)]
    forget()
    short = [change_of(*pair) for pair in pairs]
    skipped = sum(are_apart(*pair) for pair in pairs)
    forget()
    monkeypatch.setattr(change, "are_apart", lambda _one, _other: False)
    monkeypatch.setattr(Row, "is_plain", False)
    assert [change_of(*pair) for pair in pairs] == short
    forget()
    assert skipped or "letters" in language(code).lists or "order" in language(code).lists


def test_what_was_read_is_let_go_of_without_the_collector() -> None:
    """A run collects no circles: a sentence in one would stay to its end."""
    for code in LANGUAGES:
        language(code)  # what is read once stays
    forget()
    gc.collect()
    gc.disable()
    try:
        for code in LANGUAGES:
            for _, old, new in cases(code):
                change_of(old, new)
        forget()
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_changes_and_look_alikes(code: str) -> None:
    marks = [mark for mark, _, _ in cases(code)]
    assert min(marks.count("+"), marks.count("-")) >= 15


@pytest.mark.parametrize(
    ("old", "new", "strength"),
    [
        ("Wanda lives in Ulm.", "Wanda lives in Kiel.", "restated"),
        ("Wanda lives in Ulm.", "Wanda lives in Kiel now.", "stated"),
        ("Wanda lives in Ulm.", "Wanda moved to Kiel.", "stated"),
        ("Wanda lives in Ulm.", "Correction: Wanda lives in Kiel.", "stated"),
        ("Wanda works at Norlux.", "Wanda no longer works at Norlux.", "stated"),
        ("The tunnel is required.", "The tunnel is not required.", "restated"),
        ("Wanda takes milk and sugar.", "Wanda no longer takes sugar.", "doubt"),
        ("The stand-up is every Monday.", "The stand-up is cancelled.", "doubt"),
        ("Wanda lives in Ulm. She sings.", "Wanda moved to Kiel.", "doubt"),
        ("**Editor:** vim at work", "**Editor:** helix at home", "doubt"),
    ],
)
def test_how_far_a_statement_says_itself_that_another_is_over(
    old: str, new: str, strength: str
) -> None:
    found = change_of(old, new)
    assert found is not None
    assert found.strength == strength


@pytest.mark.parametrize(
    ("old", "new", "bare"),
    [
        ("**Port:** 1", "**Port:** 2", True),
        ("Prefers tea over juice.", "Prefers juice over tea.", True),
        ("Wanda lives in Ulm.", "Wanda lives in Kiel.", False),
        ("I live in Ulm.", "I live in Kiel.", False),
    ],
)
def test_a_text_that_does_not_name_its_subject_says_so(old: str, new: str, bare: bool) -> None:
    found = change_of(old, new)
    assert found is not None
    assert found.bare is bare


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_word_file_can_be_read_whole(code: str) -> None:
    file = language(code)
    lists = [name for name, value in file.lists.items() if isinstance(value, str)]
    assert all(file.phrases(name) for name in ("ended", "cancelled", "correction", "hypothesis"))
    assert all(len(pair) == 2 for pair in file.opposites)
    assert {"live", "work", "called"} <= file.predicates.keys()
    assert len(lists) > 25


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Wanda wohnt in Ulm und arbeitet dort.", "de"),
        ("Odile n'habite plus à Metz.", "fr"),
        ("Paloma ya no vive en Vigo.", "es"),
        ("Nelma não mora mais em Braga.", "pt"),
        ("Flavia non vive più a Udine.", "it"),
        ("Злата живёт в Твери.", "ru"),
        ("小鹿住在苏州。", "zh"),
        ("美咲は仙台に住んでいる。", "ja"),
        ("미라는 여수에 산다.", "ko"),
        ("Qwrtz", "en"),
    ],
)
def test_a_language_is_told_by_script_and_common_words(text: str, code: str) -> None:
    assert language_of(text).code == code


def test_an_ordinal_ends_no_sentence() -> None:
    assert sentences("Das Fest ist am 12. Mai. Es regnet.") == (
        "Das Fest ist am 12. Mai.",
        "Es regnet.",
    )


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_are_compared_without_a_fault(one: str, other: str) -> None:
    assert change_of(one, one) is None
    change_of(one, other)


def test_texts_of_marks_and_words_of_change_alone_are_compared() -> None:
    assert change_of("升任, 忘掉那个, . :", "升任, 忘掉那个, . /") is None


@pytest.mark.parametrize(
    "text", ["not " * 100, "a, " * 130, "不" * 399, "the " * 99 + "- x", '"a ' * 130]
)
def test_a_long_row_of_marks_is_read_in_no_time(text: str) -> None:
    started = time.perf_counter()
    change_of(text[:400], f"{text[:398]}b")
    assert time.perf_counter() - started < 2
