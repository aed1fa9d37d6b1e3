"""Score the importance of memories by rules that give reasons. Scores are never stored.

Lineage: openclaw-engram, importance. The score affects ranking and compression. No memory is
rejected or hidden for a low score. Deliberate differences:

- Reasons are stable codes.
- Words are loaded from a file per language.
- Keywords may have letters of any script.
- A short text in a script without blanks is not trivial, because two such characters form a word.

With the rule `levels` (planned in that lineage), the strongest reason decides the level, and the
sum of points decides the score within the level.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.memory import Importance, Memory, without_chunks
from memrepo.core.messages import counted
from memrepo.core.patterns import read_table, regex
from memrepo.core.secrets import has_clean_body, without_secrets
from memrepo.policies.ageing import segments
from memrepo.policies.rules import SIGNALS, ImportanceRule
from memrepo.text.dates import day_named
from memrepo.text.words import (
    IS_SPACELESS,
    SPACELESS,
    bare,
    language_of,
    small_words,
    tables,
    tokens,
)

_TABLE = read_table(Path(__file__).with_name("importance.toml"))
LEVELS: Mapping[str, float] = _TABLE["levels"]
"""The minimum score of each level, highest first."""
CATEGORIES: Mapping[str, dict[str, Any]] = _TABLE["categories"]
TAGS: Mapping[str, str] = _TABLE["tags"]
"""The tags that add points, with their minimum level under the rule `levels`."""
SIGNAL_POINTS: Mapping[str, float] = _TABLE["signals"]
PERSONAL = frozenset(_TABLE["personal"])
_CATEGORY_OF_TYPE = {type_: name for name, row in CATEGORIES.items() for type_ in row["types"]}
MAX_REASONS = MAX_KEYWORDS = 5
BASE, _TRIVIAL, _TAG = 0.5, 0.1, 0.05
LONG_TEXT, MAX_LENGTH_POINTS = 200, 0.1
SHORT_TEXT = 10
_SPECIFIC = regex(r"\d\d|\bv\d")


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A reason for a score: a stable code, the points it adds, and the matching words."""

    code: str
    weight: float
    words: str = ""


class Scored(Importance, frozen=True, kw_only=True):
    """An importance score, and the points for each reason in the order of the rules."""

    points: tuple[Point, ...]
    rule: str
    """How points combine: `sum` adds them, `levels` uses the strongest reason."""


def importance_of(memory: Memory, lexicon: Lexicon) -> Scored:
    """Score a memory by its body, type and tags. The flag `critical` counts as a tag."""
    tags = (*memory.tags, *(("critical",) if memory.critical else ()))
    return score(memory.body, _category(memory, lexicon), tags, lexicon)


def _category(memory: Memory, lexicon: Lexicon) -> str:
    if memory.supersedes:
        return "correction"
    if lexicon.rule == "levels" and not PERSONAL.isdisjoint(segments(memory.predicate)):
        return "entity"
    return _CATEGORY_OF_TYPE.get(memory.type, "")


def score_of(memory: Memory, lexicon: Lexicon) -> float:
    """Return the importance score of a memory, without reasons. The score is cached."""
    return memory.once(f"score {lexicon.rule}", lambda: importance_of(memory, lexicon).score)


def score(text: str, category: str, tags: Iterable[str], lexicon: Lexicon) -> Scored:
    """Score a text by its words, category and tags. The level is based on the unrounded sum."""
    points = tuple(_points(text.strip(), category, tags, lexicon))
    exact, least = _exact(points, lexicon), MAX_LENGTH_POINTS / 2
    reasons = dict.fromkeys(p.code for p in points if p.code != "length" or p.weight > least)
    return Scored(
        score=round(exact, 2),
        level="trivial"
        if _is_nothing(points)
        else next(level for level, low in LEVELS.items() if exact >= low),
        reasons=tuple(reasons)[:MAX_REASONS],
        points=points,
        rule=lexicon.rule,
    )


def _is_nothing(points: Sequence[Point]) -> bool:
    return bool(points) and points[0].code == "trivial"


def _exact(points: Sequence[Point], lexicon: Lexicon) -> float:
    """Return the score for some points, 0 to 1: their sum, or a value within their level."""
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
    """Return the level of the strongest reason, lowered by one if the text is uncertain."""
    codes = {point.code for point in points}
    levels = {CATEGORIES[p.words]["level"] for p in points if p.code == "category"}
    if codes & {"critical", "about"}:
        levels.add("critical")
    levels.update(TAGS[normalise(p.words)] for p in points if p.code == "tags")
    if codes & {"high", "dated"}:
        levels.add("high")
    ranked = [*LEVELS]
    at = min((ranked.index(level) for level in levels), default=ranked.index("normal"))
    return ranked[at + ("hedging" in codes)]


def _nothing(text: str, cut: Sequence[str], lexicon: Lexicon) -> str:
    """Return why a text is trivial, or an empty string if it is not."""
    if lexicon.is_trivial(cut):
        return "says nothing by itself"
    if len(text) > SHORT_TEXT:
        return ""
    width = sum(SHORT_TEXT // 2 if IS_SPACELESS.match(c) else 1 for c in text)
    if 1 <= width <= SHORT_TEXT and len(text.splitlines()) == 1:
        return counted(len(text), "character", "characters")
    return ""


def _points(text: str, category: str, tags: Iterable[str], lexicon: Lexicon) -> list[Point]:
    cut = tokens(text)
    if reason := _nothing(text, cut, lexicon):
        return [Point(code="trivial", weight=_TRIVIAL, words=reason)]
    hits = lexicon.found(cut)
    if lexicon.rule == "sum":
        hits.pop("about", None)
    elif day := day_named(text):  # possibly a deadline
        hits["dated"] = day
    return list(_reasons(text, category, tags, hits))


def _reasons(
    text: str, category: str, tags: Iterable[str], hits: dict[str, str]
) -> Iterator[Point]:
    if "specifics" not in hits and (number := _SPECIFIC.search(normalise(text))):
        hits["specifics"] = number[0]
    points = {
        code: Point(code=code, weight=SIGNAL_POINTS[code], words=word)
        for code, word in hits.items()
    }
    first = ("critical", "about", "high", "dated", "hedging")
    yield from (points[code] for code in first if code in points)
    if category in CATEGORIES:
        yield Point(code="category", weight=CATEGORIES[category]["points"], words=category)
    if (over := len(text) - LONG_TEXT) > 0:
        weight = min(MAX_LENGTH_POINTS, over / 1000)
        yield Point(code="length", weight=weight, words=f"{len(text)} characters")
    yield from (points[code] for code in ("personal", "specifics") if code in points)
    yield from (Point(code="tags", weight=_TAG, words=t) for t in tags if normalise(t) in TAGS)


def keywords(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the most frequent content words of a text. Ties are sorted by first appearance."""
    counts = Counter(lexicon.content(text))
    return tuple(word for word, _ in counts.most_common(MAX_KEYWORDS))


_RUN = regex(rf"[{SPACELESS}]+|(?:(?![{SPACELESS}])[^\W_])+(?:[-_]+[^\W_]+)*")
_REPEATED = regex(r"(.{1,3}?)\1+")
MAX_TRIVIAL_WORDS = 6
MOST_CONTENT = 6
"""Expect at least one stop word per this many words. Otherwise the language may have no stop words.
"""


class Lexicon(msgspec.Struct, frozen=True, kw_only=True):
    """The word lists of all languages for scoring importance, indexed for look-up.

    `phrases` maps a first token to the phrases that begin with it, each with its signal. `stop` has
    the stop words of each language. `other` names the languages that only have small words. `kinds`
    is the maximum number of distinct characters of a trivial text. `rule` is the rule for scoring.
    """

    phrases: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    trivial: frozenset[str]
    kinds: int
    stop: tuple[frozenset[str], ...]
    other: frozenset[str] = frozenset()
    rule: ImportanceRule = "sum"

    def found(self, cut: Sequence[str]) -> dict[str, str]:
        """Map each signal that occurs in a list of tokens to its first phrase there."""
        hits: dict[str, str] = {}
        for at, token in enumerate(cut):
            for signal, phrase in self.phrases.get(token, ()):
                if signal not in hits and tuple(cut[at : at + len(phrase)]) == phrase:
                    hits[signal] = " ".join(phrase)
        return hits

    def is_trivial(self, cut: Sequence[str]) -> bool:
        """Return whether the tokens of a text are only a greeting, thanks or the like."""
        # Repeats do not change the set of characters, and most texts have too many of them.
        if len(set().union(*cut)) <= self.kinds and _bare(cut) in self.trivial:
            return True
        if len(cut) > MAX_TRIVIAL_WORDS:
            return False
        ends = {0}  # "OK, thanks!" is two such texts
        for at in range(len(cut)):
            if at in ends:
                stops = range(at + 1, min(at + 4, len(cut) + 1))
                ends |= {to for to in stops if _bare(cut[at:to]) in self.trivial}
        return bool(cut) and len(cut) in ends

    def content(self, text: str) -> list[str]:
        """Return the content words of a text, in order and with repeats.

        Content words have three or more letters. In scripts without blanks they are pairs of
        characters. Only the stop words of the most likely language are removed. A stop word of one
        language may be a content word in another (war, die, man).
        """
        found: list[str] = []
        for run in _RUN.findall(normalise(text)):
            if IS_SPACELESS.match(run):
                found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
            else:
                found.append(run)
        stop = max(self.stop, key=lambda words: sum(map(words.__contains__, found)))
        if MOST_CONTENT * sum(map(stop.__contains__, found)) < len(found):
            language = language_of(map(bare, found), text)
            stop |= small_words()[language] if language in self.other else frozenset()
        long = (word for word in found if len(word) > 2 or IS_SPACELESS.match(word))
        return [word for word in long if word not in stop and bare(word) not in stop]


def _bare(cut: Iterable[str]) -> str:
    """Join tokens and collapse repeated letters and syllables: hmmm becomes hm, hahaha ha."""
    return _REPEATED.sub(r"\1", " ".join(cut))


@cache
def lexicon(rule: ImportanceRule = "sum") -> Lexicon:
    """Build the lexicon from the word lists of all languages."""
    shipped = dict(tables("importance"))
    phrases: dict[str, dict[tuple[str, tuple[str, ...]], None]] = {}
    for words in shipped.values():
        for signal in SIGNALS:
            for text in words.get(signal, ()):
                phrase = tuple(tokens(text))
                phrases.setdefault(phrase[0], {})[signal, phrase] = None
    every = (text for words in shipped.values() for text in words.get("trivial", ()))
    trivial = frozenset(_bare(tokens(text)) for text in every)
    return Lexicon(
        phrases={first: tuple(found) for first, found in phrases.items()},
        trivial=trivial,
        kinds=max(len(set(text) - {" "}) for text in trivial),
        stop=tuple(frozenset(map(normalise, words["stop"])) for words in shipped.values()),
        other=frozenset(small_words().keys() - shipped.keys()),
        rule=rule,
    )


MOST = 50
_SMOOTH = 0.01
_TURN = 0.5
"""A topic rises if its score grew by more, and falls if it lost more and over half of its score."""
MAX_TRENDS = 10
_OWN = frozenset(
    "user agent memory memories fact facts preference preferences use using used"
    " nutzer agenten erinnerung erinnerungen".split()
)
"""Words that occur in the memories of any agent."""


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """A topic: a word, its score, and its number of occurrences in all texts."""

    term: str
    score: float
    count: int


class Trend(Topic, frozen=True, kw_only=True):
    """A topic, and the change of its score between two points in time."""

    change: float


def topics_of(memories: Sequence[Memory], lexicon: Lexicon, most: int = MOST) -> tuple[Topic, ...]:
    """Return the topics of memories by summed TF-IDF. Ties are sorted by first appearance.

    TF is the word's share of the words in a text. IDF is `ln((N + 0.01) / texts with the word)`.
    """

    def words(memory: Memory) -> list[Any]:
        def work_out() -> list[Any]:
            body = memory.body if has_clean_body(memory) else without_secrets(memory.body)
            return _words(f"{without_secrets(memory.title)}\n{body}", lexicon)

        return memory.once("topics", work_out)

    return _ranked(map(words, without_chunks(memories)), most)


def _words(text: str, lexicon: Lexicon) -> list[Any]:
    """Return the possible topics of a text in text order, as a flat list of words and counts."""
    content = (word for word in lexicon.content(text) if word not in _OWN)
    # Skip numbers and words of one or two letters.
    found = Counter(
        w for w in content if not w.isascii() or (len(w) > 2 and any(map(str.isalpha, w)))
    )
    return [part for pair in found.items() for part in pair]


def _ranked(texts: Iterable[list[Any]], most: int) -> tuple[Topic, ...]:
    of: dict[str, list[Any]] = {}
    size = 0
    for words in texts:
        size += 1
        counts = words[1::2]
        length = sum(counts)
        for word, count in zip(words[::2], counts, strict=True):
            if (totals := of.get(word)) is None:
                of[word] = [count / length, count, 1]
            else:
                totals[0] += count / length
                totals[1] += count
                totals[2] += 1
    found = [
        Topic(term=word, score=share * rarity(size, holders), count=count)
        for word, (share, count, holders) in of.items()
    ]
    return tuple(sorted(found, key=lambda topic: -topic.score)[:most])


def rarity(size: int, holders: int) -> float:
    """Return the smoothed inverse document frequency of a word that `holders` texts contain."""
    return math.log((size + _SMOOTH) / holders)


def trends(
    now: Sequence[Topic], before: Sequence[Topic]
) -> tuple[tuple[Trend, ...], tuple[Trend, ...]]:
    """Return up to ten rising and up to ten falling topics, largest change first."""
    old, new = ({topic.term: topic.score for topic in found} for found in (before, now))
    rising = [one for t in now if (one := _trend(t, t.score, old.get(t.term, 0.0))).change > _TURN]
    falling = [
        one
        for t in before
        if (one := _trend(t, new.get(t.term, 0.0), t.score)).change < -_TURN
        and -2 * one.change > one.score
    ]
    largest = (
        sorted(found, key=lambda t: -abs(t.change))[:MAX_TRENDS] for found in (rising, falling)
    )
    rises, falls = map(tuple, largest)
    return rises, falls


def _trend(topic: Topic, now: float, before: float) -> Trend:
    return Trend(term=topic.term, score=topic.score, count=topic.count, change=now - before)
