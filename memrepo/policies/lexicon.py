"""The words by which texts are weighed, and what memories are about by such words.

The words by which texts are weighed: one file a language, and words of the configuration.

A text is cut into tokens and the phrases of the files in the same way, so that a phrase is found
by its first token; characters of scripts without blanks are tokens of their own.

What memories are about: the words that are frequent in few of them, and how that changes.

Lineage: openclaw-engram, topic extraction. Deliberate difference: the inverse document frequency is
smoothed, so that a word of all memories, or of the only one, scores a little and not nothing.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import msgspec

from memrepo.core.ids import digest, normalise
from memrepo.core.memory import Cells, Memory, each_once, without_chunks
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.policies.rules import SIGNALS, ImportanceRule
from memrepo.policies.terms import SPACELESS

_ASCII_TOKEN = regex(r"\w+", re.ASCII)
"""What `_TOKEN` finds in a text of ASCII alone."""
_TOKEN = regex(rf"[{SPACELESS}]|(?:(?![{SPACELESS}])\w)+")
_RUN = regex(rf"[{SPACELESS}]+|(?:(?![{SPACELESS}])[^\W_])+(?:[-_]+[^\W_]+)*")
_NO_BLANKS = regex(f"[{SPACELESS}]")
_REPEATED = regex(r"(.{1,3}?)\1+")
_Words = Mapping[str, Sequence[str]]
FOREIGN = 6
"""Of so many words one joins others, or a text may be of a language without a file of words."""


class Lexicon(msgspec.Struct, frozen=True, kw_only=True):
    """The words of all languages, ready to be looked up.

    `phrases` gives by first token the phrases that begin with it, each with its signal; `stop`
    holds the stop words of each language, `kinds` how many kinds of characters a trivial text has
    at most. `more` is a print of what was added to the shipped ones, `rule` says how importance is
    scored by them.
    """

    phrases: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    trivial: frozenset[str]
    kinds: int
    stop: tuple[frozenset[str], ...]
    more: str = ""
    rule: ImportanceRule = "sum"

    def found(self, cut: Sequence[str]) -> dict[str, str]:
        """Return the first phrase of each signal that stands in a text that is cut into tokens."""
        hits: dict[str, str] = {}
        for at, token in enumerate(cut):
            for signal, phrase in self.phrases.get(token, ()):
                if signal not in hits and tuple(cut[at : at + len(phrase)]) == phrase:
                    hits[signal] = " ".join(phrase)
        return hits

    def is_trivial(self, cut: Sequence[str]) -> bool:
        """Tell whether a text, in tokens, is nothing but a greeting, a thank-you or the like."""
        # What is repeated goes, and no kind of character with it: most texts have too many.
        return len(set().union(*cut)) <= self.kinds and _bare(cut) in self.trivial

    def content(self, text: str) -> list[str]:
        """Return the words of a text that say what it is about, in order, repeats included.

        Words of three letters and more, pairs of characters where no blanks stand between words.
        Stop words are those of the language that has most of its own in the text: a word that only
        joins in one may mean something in another (war, die, man).
        """
        found: list[str] = []
        for run in _RUN.findall(normalise(text)):
            if _NO_BLANKS.match(run):
                found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
            else:
                found.append(run)
        stop = max(self.stop, key=lambda words: sum(word in words for word in found))
        return [w for w in found if w not in stop and (len(w) > 2 or _NO_BLANKS.match(w))]


def tokens(text: str) -> list[str]:
    """Cut a text into words, in one spelling: without stemming, and at each apostrophe."""
    folded = normalise(text)
    return (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)


def _bare(cut: Iterable[str]) -> str:
    """Join tokens without repeated letters and syllables: hmmm is hm, hahaha ha."""
    return _REPEATED.sub(r"\1", " ".join(cut))


def lexicon(more: _Words | None = None, rule: ImportanceRule = "sum") -> Lexicon:
    """Return the words of the shipped languages, and more words of the same lists."""
    more = more or {}
    languages = (*_shipped(), more)
    phrases: dict[str, dict[tuple[str, tuple[str, ...]], None]] = {}
    for words in languages:
        for signal in SIGNALS:
            for text in words.get(signal, ()):
                phrase = tuple(tokens(text))
                phrases.setdefault(phrase[0], {})[signal, phrase] = None
    always = _folded(more.get("stop", ()))
    trivial = frozenset(_bare(tokens(t)) for words in languages for t in words.get("trivial", ()))
    return Lexicon(
        phrases={first: tuple(found) for first, found in phrases.items()},
        trivial=trivial,
        kinds=max(len(set(text) - {" "}) for text in trivial),
        stop=tuple(_folded(words["stop"]) | always for words in _shipped()),
        more=digest([more, rule])[:16] if more or rule != "sum" else "",
        rule=rule,
    )


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(normalise, words))


@cache
def _shipped() -> tuple[_Words, ...]:
    """Return the shipped language files, English first: it decides where no language does."""
    folder = Path(__file__).parents[1] / "languages"
    paths = sorted(folder.glob("*.toml"), key=lambda p: (p.stem != "en", p.stem))
    return tuple(tomllib.loads(path.read_text(encoding="utf-8")) for path in paths)


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


def topics_of(memories: Sequence[Memory], lexicon: Lexicon, most: int = MOST) -> tuple[Topic, ...]:
    """Return what memories are about, the highest score first."""
    said = partial(_said, lexicon=lexicon)
    texts = each_once(without_chunks(memories), f"topics {lexicon.more}", said)
    return _ranked(texts, most)


def _said(memory: Memory, lexicon: Lexicon) -> Cells:
    return _words(without_secrets(f"{memory.text('title')}\n{memory.body}"), lexicon)


def topics(texts: Iterable[str], lexicon: Lexicon, most: int = MOST) -> tuple[Topic, ...]:
    """Return the words of texts by the sum of TF times IDF, ties by first appearance.

    TF is the share of a text's words, IDF `ln((N + 0.01) / texts with the word)`.
    """
    return _ranked((_words(text, lexicon) for text in texts), most)


def _words(text: str, lexicon: Lexicon) -> Cells:
    """Return the words of a text that may be topics, each with its count behind it, in order."""
    small = _small(text, lexicon)
    said = (w for w in lexicon.content(text) if w not in _OWN and w not in small)
    found = Counter(filter(_is_term, said))
    return [part for pair in found.items() for part in pair]


def _small(text: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the words that join others, of a text in a language without a file of words."""
    said = _RUN.findall(normalise(text))
    if FOREIGN * max(sum(word in words for word in said) for words in lexicon.stop) >= len(said):
        return frozenset()
    from memrepo.policies.languages import ENGLISH, bare, language_asked, small_words

    language = language_asked(map(bare, said), text)
    small = small_words().get(language, frozenset()) if language != ENGLISH else frozenset()
    return frozenset(word for word in said if bare(word) in small)


def _is_term(word: str) -> bool:
    """Tell whether a word can be a topic: no number, and no letter or two."""
    return not word.isascii() or (len(word) > 2 and any(ch.isalpha() for ch in word))


def _ranked(texts: Iterable[Cells], most: int) -> tuple[Topic, ...]:
    of: dict[str, Cells] = {}
    size = 0
    for words in texts:
        size += 1
        counts = words[1::2]
        length = sum(counts)
        for word, count in zip(words[::2], counts, strict=True):
            if (said := of.get(word)) is None:
                of[word] = [count / length, count, 1]
            else:
                said[0] += count / length
                said[1] += count
                said[2] += 1
    found = [
        Topic(term=word, score=share * rarity(size, holders), count=count)
        for word, (share, count, holders) in of.items()
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
