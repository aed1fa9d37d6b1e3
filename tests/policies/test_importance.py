"""Importance: the original's answers pair by pair, its boundaries, and what memrepo adds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import Memory
from memrepo.policies.importance import (
    CATEGORIES,
    MAX_KEYWORDS,
    MAX_REASONS,
    importance_of,
    keywords,
    lexicon,
    score,
    tokens,
)
from memrepo.policies.rules import SIGNALS
from memrepo.text.words import tables

FOLDER = Path(__file__).resolve().parents[1] / "golden"


WORDS = lexicon()


LATER_CATEGORIES = {"rule", "procedure", "reasoning_trace"}
"""Categories that the original got after the plan that memrepo follows."""


CODES = {"hedge": "hedging"}


def rows(function: str, name: str = "importance") -> list[Any]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [pytest.param(row, id=row["id"]) for row in found if row["fn"] == function]


@pytest.mark.parametrize("row", rows("scoreImportance"))
def test_a_score_is_the_one_the_original_gives(row: dict[str, Any]) -> None:
    text, category, tags = row["args"]
    expected, found = row["expect"], score(text, category, tags, WORDS)
    if text.isascii() and found.level != "trivial":
        assert list(keywords(text, WORDS)) == expected["keywords"]
    if category in LATER_CATEGORIES:
        assert found.score <= expected["score"]
        return
    assert found.score == pytest.approx(expected["score"], abs=0.005)
    assert found.level == expected["level"]
    assert list(found.reasons) == [CODES.get(k, k) for k in expected["kinds"]]


@pytest.mark.parametrize("row", rows("scoreImportance", "upstream_test_facts"))
def test_a_level_is_as_the_originals_tests_say(row: dict[str, Any]) -> None:
    text, category, tags = row["args"]
    assert score(text, category, tags, WORDS).level == row["expect"]["level"]


@pytest.mark.parametrize(
    ("text", "reasons", "level"),
    [
        ("Vielen Dank!", ("trivial",), "trivial"),
        ("hahahahahaha :)", ("trivial",), "trivial"),
        ("Alles klaaaar…", ("trivial",), "trivial"),
        ("Das Backup MUSS jede Nacht laufen.", ("critical",), "high"),
        ("Wir haben uns für Postgres entschieden.", ("high",), "normal"),
        ("Vielleicht regnet es am Abend.", ("hedging",), "low"),
        ("Meine E-Mail steht im Profil.", ("critical", "personal"), "high"),
        ("Ich heisse Rue, auch in ß-losen Texten.", ("critical", "personal"), "high"),
        ("用户住在东京。", (), "normal"),
        ("谢谢", ("trivial",), "trivial"),
        ("The meeting\u2019s notes don\u2019t forget names.", ("critical", "high"), "high"),
        ("must-have, not musty", ("critical",), "high"),
        ("a musty cellar below", (), "normal"),
    ],
)
def test_words_of_both_languages_count(text: str, reasons: tuple[str, ...], level: str) -> None:
    found = score(text, "", (), WORDS)
    assert (found.reasons, found.level) == (reasons, level)


def test_a_memory_counts_by_what_it_is() -> None:
    def of(**fields: Any) -> tuple[float, tuple[str, ...]]:
        body = "Plain neutral sentence about harbours."
        found = importance_of(Memory.of("p", fields, body=body), WORDS)
        return found.score, found.reasons

    assert of(type="fact") == (0.5, ())
    assert of(type="decision") == (0.58, ("category",))
    assert of(type="decision", supersedes=("mem-0000000000000001",)) == (0.65, ("category",))
    assert of(type="fact", critical=True) == (0.55, ("tags",))


def test_every_point_is_told_with_its_words() -> None:
    scored = score("We must decide, maybe at 10:30.", "decision", ["Rule"], WORDS)
    assert [(p.code, p.weight, p.words) for p in scored.points] == [
        ("critical", 0.2, "must"),
        ("hedging", -0.15, "maybe"),
        ("category", 0.08, "decision"),
        ("specifics", 0.03, "10"),
        ("tags", 0.05, "Rule"),
    ]


@given(st.text(max_size=400), st.sampled_from(["", *CATEGORIES]), st.lists(st.text(max_size=12)))
def test_a_score_is_the_sum_of_its_points_and_within_bounds(
    text: str, category: str, tags: list[str]
) -> None:
    scored = score(text, category, tags, WORDS)
    found = scored
    assert 0 <= found.score <= 1
    assert len(found.reasons) <= MAX_REASONS
    assert len(keywords(text, WORDS)) <= MAX_KEYWORDS
    start = 0 if found.level == "trivial" else 0.5
    total = start + sum(p.weight for p in scored.points)
    assert found.score == pytest.approx(min(1, max(0, total)), abs=0.0051)


def test_every_language_has_every_list_and_no_phrase_is_empty() -> None:
    shipped = dict(tables("importance"))
    assert [*shipped] == ["english", "german"]
    for language, words in shipped.items():
        assert tuple(words) == ("trivial", *SIGNALS, "stop")
        for name, texts in words.items():
            assert all(map(tokens, texts)), (language, name)
            assert len(set(texts)) == len(texts), (language, name)


@pytest.mark.parametrize(("text", "level"), [("OK, thanks!", "trivial"), ("OK, thanks Ines!", "")])
def test_two_trivial_texts_are_trivial_together(text: str, level: str) -> None:
    assert (score(text, "fact", (), WORDS).level == "trivial") is bool(level)
