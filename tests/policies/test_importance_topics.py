"""Topics: the original's order and trends, and a score where the original gives none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import Memory
from memrepo.policies.importance import MOST, Lexicon, Topic, lexicon, topics_of, trends

FOLDER = Path(__file__).resolve().parents[1] / "golden"
WORDS = lexicon()


def topics(texts: Sequence[str], words: Lexicon, most: int = MOST) -> tuple[Topic, ...]:
    return topics_of([Memory(path=f"{n}", body=t) for n, t in enumerate(texts)], words, most)


def rows(function: str) -> list[Any]:
    lines = (FOLDER / "topics.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [pytest.param(row, id=row["id"]) for row in found if row["fn"] == function]


@pytest.mark.parametrize("row", rows("extractTopics"))
def test_topics_are_those_of_the_original_but_for_words_of_every_text(row: dict[str, Any]) -> None:
    texts, most = row["args"]
    found = {t.term: t for t in topics(texts, WORDS, 1000)}
    expected = [t for t in row["expect"] if t["score"] > 0]
    assert [t for t in found if t in {e["term"] for e in expected}] == [e["term"] for e in expected]
    assert len(topics(texts, WORDS, most)) == len(row["expect"])
    for topic in expected:
        assert found[topic["term"]].count == topic["count"]
        assert found[topic["term"]].score == pytest.approx(topic["score"], rel=0.15, abs=0.02)


def as_topics(found: list[dict[str, Any]]) -> list[Topic]:
    return [Topic(**topic) for topic in found]


@pytest.mark.parametrize("row", rows("findTrendingTopics"))
def test_trends_are_those_of_the_original(row: dict[str, Any]) -> None:
    now, before, _ = row["args"]
    rising, falling = trends(as_topics(now), as_topics(before))
    for name, found in (("rising", rising), ("falling", falling)):
        told = [(t.term, abs(t.change)) for t in found]
        assert told == [(t["term"], pytest.approx(t["score"])) for t in row["expect"][name]]


@pytest.mark.parametrize(
    ("text", "topic", "small"),
    [
        ("O barco que não volta com a maré fica no cais", "barco", {"que", "não", "com"}),
        ("Le bateau ne part pas sans les rames pour le port", "bateau", {"pas", "sans", "les"}),
        ("Лодка, что стоит у причала для ремонта", "лодка", {"что", "для"}),
        ("The boat that is not back with the tide", "boat", {"that", "not", "with"}),
    ],
)
def test_small_words_are_no_topics_in_any_language(text: str, topic: str, small: set[str]) -> None:
    found = {t.term for t in topics([text], WORDS)}
    assert topic in found
    assert not small & found


@given(st.lists(st.text(max_size=80), max_size=8))
def test_topics_are_bounded_positive_and_in_order(texts: list[str]) -> None:
    found = topics(texts, WORDS)
    assert len(found) <= MOST
    assert all(t.score > 0 and t.count > 0 for t in found)
    assert [t.score for t in found] == sorted((t.score for t in found), reverse=True)
