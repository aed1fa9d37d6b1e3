"""What memories are about: the words that are frequent in few of them, and how that changes.

Lineage: openclaw-engram, topic extraction. Deliberate difference: the inverse document frequency is
smoothed, so that a word of all memories, or of the only one, scores a little and not nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from memrepo.core.memory import Memory
from memrepo.core.secrets import without_secrets
from memrepo.policies.lexicon import Lexicon

MOST = 50
_SMOOTH = 0.01
_TURN = 0.5
"""A score that grew by more is rising; one that fell by more, to less than half, is falling."""
_TOLD = 10
_OWN = frozenset(
    "user agent memory memories fact facts preference preferences use using used"
    " nutzer agenten erinnerung erinnerungen".split()
)
"""Words that stand in any memory of an agent."""


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """One word: its score, and how often it stands in all texts."""

    term: str
    score: float
    count: int


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """A topic whose score changed, and by how much."""

    topic: Topic
    change: float


def topics_of(memories: Iterable[Memory], lexicon: Lexicon, most: int = MOST) -> tuple[Topic, ...]:
    """Return what memories are about, the highest score first."""
    rule = f"topics {lexicon.more}"
    return _ranked((m.once(rule, partial(_said, m, lexicon)) for m in memories), most)


def _said(memory: Memory, lexicon: Lexicon) -> list[list[object]]:
    return _words(without_secrets(f"{memory.text('title')}\n{memory.body}"), lexicon)


def topics(texts: Iterable[str], lexicon: Lexicon, most: int = MOST) -> tuple[Topic, ...]:
    """Return the words of texts by the sum of TF times IDF, ties by first appearance.

    TF is the share of a text's words, IDF `ln((N + 0.01) / texts with the word)`.
    """
    return _ranked((_words(text, lexicon) for text in texts), most)


def _words(text: str, lexicon: Lexicon) -> list[list[object]]:
    """Count the words of a text that may be topics, in the order in which they first stand."""
    found = Counter(w for w in lexicon.content(text) if w not in _OWN and _is_term(w))
    return [[word, count] for word, count in found.items()]


def _is_term(word: str) -> bool:
    """Tell whether a word can be a topic: no number, and no letter or two."""
    return not word.isascii() or (len(word) > 2 and any(ch.isalpha() for ch in word))


def _ranked(texts: Iterable[list[list[Any]]], most: int) -> tuple[Topic, ...]:
    shares: dict[str, float] = {}
    counts: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    size = 0
    for words in texts:
        size += 1
        length = sum(count for _, count in words)
        for word, count in words:
            shares[word] = shares.get(word, 0.0) + count / length
            counts[word] += count
            holders[word] += 1
    found = [
        Topic(term=w, score=share * rarity(size, holders[w]), count=counts[w])
        for w, share in shares.items()
    ]
    return tuple(sorted(found, key=lambda topic: -topic.score)[:most])


def rarity(size: int, holders: int) -> float:
    """Return the smoothed inverse document frequency of a word that some of the texts hold."""
    return math.log((size + _SMOOTH) / holders)


def trends(
    now: Sequence[Topic], before: Sequence[Topic]
) -> tuple[tuple[Trend, ...], tuple[Trend, ...]]:
    """Return the topics that rise and those that fall, the largest change first, ten of each."""
    old = {topic.term: topic for topic in before}
    new = {topic.term: topic for topic in now}
    rising = [
        Trend(topic=topic, change=change)
        for topic in now
        if (change := topic.score - (old[topic.term].score if topic.term in old else 0)) > _TURN
    ]
    falling = []
    for topic in before:
        score = new[topic.term].score if topic.term in new else 0.0
        if topic.score - score > _TURN and score < topic.score / 2:
            falling.append(Trend(topic=topic, change=score - topic.score))
    return _largest(rising), _largest(falling)


def _largest(found: list[Trend]) -> tuple[Trend, ...]:
    return tuple(sorted(found, key=lambda trend: -abs(trend.change))[:_TOLD])
