"""How much a memory matters, by rules that name their reasons; derived on reading, never stored.

Lineage: openclaw-engram, importance. It ranks and it bounds compression; nothing is refused or
hidden for a low score. Deliberate differences: reasons are stable codes, words come from a file a
language, keywords keep letters of every script, and a short text in a script without blanks is
not trivial, since two such characters are a word.

By the rule `levels` (the plan of that lineage) the strongest reason decides on the level, and the
sum on the place within it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.memory import Importance, Memory
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.policies.decay import segments
from memrepo.policies.futuredates import day_named
from memrepo.policies.lexicon import Lexicon, tokens
from memrepo.policies.terms import SPACELESS

LEVELS: Mapping[str, float] = MappingProxyType(
    {
        "critical": 0.9,
        "high": 0.7,
        "normal": 0.4,
        "low": 0.2,
        "trivial": 0.0,
    }
)
"""From which score on a memory has a level, the highest first."""
CATEGORIES: Mapping[str, float] = MappingProxyType(
    {
        "correction": 0.15,
        "principle": 0.12,
        "preference": 0.10,
        "commitment": 0.10,
        "decision": 0.08,
        "relationship": 0.05,
        "skill": 0.05,
        "moment": 0.03,
        "entity": 0.02,
    }
)
CATEGORY_OF_TYPE: Mapping[str, str] = MappingProxyType(
    {
        "lesson": "principle",
        "constraint": "principle",
        "preference": "preference",
        "commitment": "commitment",
        "decision": "decision",
        "relationship": "relationship",
        "method": "skill",
        "procedure": "skill",
        "episode": "moment",
        "milestone": "moment",
        "identity": "entity",
    }
)
"""What the original calls the types of memories; one that replaces another is a correction."""
LEVEL_OF_CATEGORY: Mapping[str, str] = MappingProxyType(
    {
        "preference": "critical",
        "entity": "critical",
        "relationship": "critical",
        "correction": "high",
        "principle": "high",
        "commitment": "high",
        "decision": "high",
    }
)
"""The least level of a category by the rule `levels`."""
PERSONAL = frozenset("name email phone address birthday born location language".split())
"""Predicates of what tells of a person, by the rule `levels`."""
TAGS = frozenset(("important", "critical", "preference", "decision", "rule", "principle"))
LEVEL_OF_TAG = MappingProxyType(dict.fromkeys(("important", "critical", "preference"), "critical"))
"""The least level of a tag by the rule `levels`; that of the others is high."""
REASONS = 5
KEYWORDS = 5
_TRIVIAL = 0.1
BASE = 0.5
_POINTS = {"critical": 0.20, "high": 0.12, "hedging": -0.15, "personal": 0.05, "specifics": 0.03}
_LEVEL_ONLY = {"about": 0.0, "dated": 0.0}
"""What counts by the rule `levels` only: it raises the level and adds nothing."""
_TAG = 0.05
_LONG = 200
_LENGTH = 0.1
_SHORT = 10
_SPECIFIC = regex(r"\d\d|\bv\d")
_NO_BLANKS = regex(f"[{SPACELESS}]")


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One reason of a score: its stable code, what it adds, and the words that gave it."""

    code: str
    weight: float
    words: str = ""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """An importance, and every point of it in the order of the rules."""

    importance: Importance
    points: tuple[Point, ...]


def importance_of(memory: Memory, lexicon: Lexicon) -> Scored:
    """Score a memory: its body by its type and tags; the flag `critical` counts as the tag."""
    return score(memory.body, _category(memory, lexicon), _tags(memory), lexicon)


def _category(memory: Memory, lexicon: Lexicon) -> str:
    if memory.texts("supersedes"):
        return "correction"
    if lexicon.rule == "levels" and not PERSONAL.isdisjoint(segments(memory.text("predicate"))):
        return "entity"
    return CATEGORY_OF_TYPE.get(memory.type, "")


def _tags(memory: Memory) -> tuple[str, ...]:
    return (*memory.texts("tags"), *(("critical",) if memory.flag("critical") else ()))


def score_of(memory: Memory, lexicon: Lexicon) -> float:
    """Return the score of a memory alone, worked out once."""

    def work_out() -> float:
        text = memory.body.strip()
        points = _points(text, _category(memory, lexicon), _tags(memory), lexicon)
        return round(_exact(points, lexicon), 2)

    return memory.once(f"score {lexicon.more}", work_out)


def score(text: str, category: str, tags: Iterable[str], lexicon: Lexicon) -> Scored:
    """Score a text by a category of the original and its tags; the level is of the exact sum."""
    text = text.strip()
    points = tuple(_points(text, category, tags, lexicon))
    exact = _exact(points, lexicon)
    if _is_nothing(points):
        found = Importance(score=exact, level="trivial", reasons=("trivial",))
        return Scored(importance=found, points=points)
    told = dict.fromkeys(p.code for p in points if p.code != "length" or p.weight > _LENGTH / 2)
    found = Importance(
        score=round(exact, 2),
        level=level_of(exact),
        reasons=tuple(told)[:REASONS],
        keywords=keywords(text, lexicon),
    )
    return Scored(importance=found, points=points)


def level_of(exact: float) -> str:
    """Return the level of a score."""
    return next(level for level, least in LEVELS.items() if exact >= least)


def _is_nothing(points: Sequence[Point]) -> bool:
    return bool(points) and points[0].code == "trivial"


def _exact(points: Sequence[Point], lexicon: Lexicon) -> float:
    """Return the score of points, from 0 to 1: their sum, or a place within their level."""
    if _is_nothing(points):
        return _TRIVIAL
    exact = BASE
    for point in points:
        exact += point.weight
    exact = min(1.0, max(0.0, exact))
    if lexicon.rule != "levels":
        return exact
    level = _level_of_reasons(points)
    above = [least for least in LEVELS.values() if least > LEVELS[level]]
    return LEVELS[level] + (min(above, default=1.0) - LEVELS[level]) * min(exact, 0.99)


def _level_of_reasons(points: Sequence[Point]) -> str:
    """Return the level of the strongest reason, one lower where the text is unsure."""
    codes = {point.code for point in points}
    levels = {LEVEL_OF_CATEGORY.get(p.words, "normal") for p in points if p.code == "category"}
    if codes & {"critical", "about"}:
        levels.add("critical")
    levels.update(LEVEL_OF_TAG.get(normalise(p.words), "high") for p in points if p.code == "tags")
    if codes & {"high", "dated"}:
        levels.add("high")
    ranked = [*LEVELS]
    at = min((ranked.index(level) for level in levels), default=ranked.index("normal"))
    return ranked[at + ("hedging" in codes)]


def _nothing(text: str, cut: Sequence[str], lexicon: Lexicon) -> str:
    """Say why a text says nothing, or return an empty string; a text without characters is none."""
    if lexicon.is_trivial(cut):
        return "says nothing by itself"
    if len(text) > _SHORT:
        return ""
    width = sum(_SHORT // 2 if _NO_BLANKS.match(c) else 1 for c in text)
    if 1 <= width <= _SHORT and len(text.splitlines()) == 1:
        return counted(len(text), "character", "characters")
    return ""


def _points(text: str, category: str, tags: Iterable[str], lexicon: Lexicon) -> list[Point]:
    if lexicon.rule == "off":
        return []
    cut = tokens(text)
    if said := _nothing(text, cut, lexicon):
        return [Point(code="trivial", weight=_TRIVIAL, words=said)]
    hits = lexicon.found(cut)
    if lexicon.rule == "levels":
        return list(_reasons(text, category, tags, _with_day(text, hits), _POINTS | _LEVEL_ONLY))
    return list(_reasons(text, category, tags, hits, _POINTS))


def _with_day(text: str, hits: dict[str, str]) -> dict[str, str]:
    """Add the day that a text names, which may be a deadline."""
    if day := day_named(text):
        hits["dated"] = day
    return hits


def _reasons(
    text: str,
    category: str,
    tags: Iterable[str],
    hits: dict[str, str],
    weights: Mapping[str, float],
) -> Iterator[Point]:
    if "specifics" not in hits and (number := _SPECIFIC.search(normalise(text))):
        hits["specifics"] = number[0]
    said = {
        code: Point(code=code, weight=weight, words=hits[code])
        for code, weight in weights.items()
        if code in hits
    }
    first = ("critical", "about", "high", "dated", "hedging")
    yield from (said[code] for code in first if code in said)
    if weight := CATEGORIES.get(category):
        yield Point(code="category", weight=weight, words=category)
    if (over := len(text) - _LONG) > 0:
        told = f"{len(text)} characters"
        yield Point(code="length", weight=min(_LENGTH, over / 1000), words=told)
    yield from (said[code] for code in ("personal", "specifics") if code in said)
    yield from (Point(code="tags", weight=_TAG, words=t) for t in tags if normalise(t) in TAGS)


def keywords(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the most frequent words of a text, ties by first appearance."""
    counts = Counter(lexicon.content(text))
    return tuple(word for word, _ in counts.most_common(KEYWORDS))
