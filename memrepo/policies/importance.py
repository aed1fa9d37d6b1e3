"""How much a memory matters, by rules that name their reasons; derived on reading, never stored.

Lineage: openclaw-engram, importance. It ranks and it bounds compression; nothing is refused or
hidden for a low score. Deliberate differences: reasons are stable codes, words come from a file a
language, keywords keep letters of every script, and a short text in a script without blanks is
not trivial, since two such characters are a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memrepo.core.ids import normalise
from memrepo.core.memory import Importance, Memory
from memrepo.core.patterns import regex
from memrepo.policies.lexicon import Lexicon
from memrepo.policies.terms import SPACELESS

LEVELS: Mapping[str, float] = MappingProxyType({
    "critical": 0.9, "high": 0.7, "normal": 0.4, "low": 0.2, "trivial": 0.0,
})  # fmt: skip
"""From which score on a memory has a level, the highest first."""
CATEGORIES: Mapping[str, float] = MappingProxyType({
    "correction": 0.15, "principle": 0.12, "preference": 0.10, "commitment": 0.10,
    "decision": 0.08, "relationship": 0.05, "skill": 0.05, "moment": 0.03, "entity": 0.02,
})  # fmt: skip
CATEGORY_OF_TYPE: Mapping[str, str] = MappingProxyType({
    "lesson": "principle", "constraint": "principle", "preference": "preference",
    "commitment": "commitment", "decision": "decision", "relationship": "relationship",
    "method": "skill", "procedure": "skill", "episode": "moment", "milestone": "moment",
    "identity": "entity",
})  # fmt: skip
"""What the original calls the types of memories; one that replaces another is a correction."""
TAGS = frozenset(("important", "critical", "preference", "decision", "rule", "principle"))
REASONS = 5
KEYWORDS = 5
_TRIVIAL = 0.1
BASE = 0.5
_POINTS = {"critical": 0.20, "high": 0.12, "hedging": -0.15, "personal": 0.05, "specifics": 0.03}
_TAG = 0.05
_LONG = 200
_LENGTH = 0.1
_SHORT = 10
_SPECIFIC = regex(r"\d\d|\bv\d")
_NO_BLANKS = regex(f"[{SPACELESS}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One reason of a score: its stable code, what it adds, and the words that gave it."""

    code: str
    weight: float
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An importance, and every point of it in the order of the rules."""

    importance: Importance
    points: tuple[Point, ...]


def importance_of(memory: Memory, lexicon: Lexicon) -> Scored:
    """Score a memory: its body by its type and tags; the flag `critical` counts as the tag."""
    category = CATEGORY_OF_TYPE.get(memory.type, "")
    tags = (*memory.texts("tags"), *(("critical",) if memory.flag("critical") else ()))
    return score(
        memory.body, "correction" if memory.texts("supersedes") else category, tags, lexicon
    )


def score_of(memory: Memory, lexicon: Lexicon) -> float:
    """Return the score of a memory alone, worked out once."""
    return memory.once(
        f"score {lexicon.more}", lambda: importance_of(memory, lexicon).importance.score
    )


def score(text: str, category: str, tags: Iterable[str], lexicon: Lexicon) -> Scored:
    """Score a text by a category of the original and its tags; the level is of the exact sum."""
    text = text.strip()
    if said := _nothing(text, lexicon):
        point = Point(code="trivial", weight=_TRIVIAL, words=said)
        found = Importance(score=_TRIVIAL, level="trivial", reasons=("trivial",))
        return Scored(importance=found, points=(point,))
    points = tuple(p for p in _points(text, category, tags, lexicon) if p.weight)
    exact = BASE
    for point in points:
        exact += point.weight
    exact = min(1.0, max(0.0, exact))
    told = dict.fromkeys(p.code for p in points if p.code != "length" or p.weight > _LENGTH / 2)
    found = Importance(
        score=round(exact, 2), level=level_of(exact), reasons=tuple(told)[:REASONS],
        keywords=keywords(text, lexicon),
    )  # fmt: skip
    return Scored(importance=found, points=points)


def level_of(exact: float) -> str:
    """Return the level of a score."""
    return next(level for level, least in LEVELS.items() if exact >= least)


def _nothing(text: str, lexicon: Lexicon) -> str:
    """Say why a text says nothing, or return an empty string; a text without characters is none."""
    if lexicon.is_trivial(text):
        return "says nothing by itself"
    width = sum(_SHORT // 2 if _NO_BLANKS.match(c) else 1 for c in text)
    if 1 <= width <= _SHORT and len(text.splitlines()) == 1:
        return f"{len(text)} characters"
    return ""


def _points(text: str, category: str, tags: Iterable[str], lexicon: Lexicon) -> list[Point]:
    hits = lexicon.found(text)
    if "specifics" not in hits and (number := _SPECIFIC.search(normalise(text))):
        hits["specifics"] = number[0]
    said = {
        code: Point(code=code, weight=weight, words=hits[code])
        for code, weight in _POINTS.items() if code in hits
    }  # fmt: skip
    length = min(_LENGTH, max(0, len(text) - _LONG) / 1000)
    told = [tag for tag in tags if normalise(tag) in TAGS]
    return [
        *(said[code] for code in ("critical", "high", "hedging") if code in said),
        Point(code="category", weight=CATEGORIES.get(category, 0.0), words=category),
        Point(code="length", weight=length, words=f"{len(text)} characters"),
        *(said[code] for code in ("personal", "specifics") if code in said),
        *(Point(code="tags", weight=_TAG, words=tag) for tag in told),
    ]


def keywords(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the most frequent words of a text, ties by first appearance."""
    counts = Counter(lexicon.content(text))
    return tuple(word for word, _ in counts.most_common(KEYWORDS))
