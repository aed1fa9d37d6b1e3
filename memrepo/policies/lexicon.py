"""The words by which texts are weighed: one file a language, and words of the configuration.

A text is cut into tokens and the phrases of the files in the same way, so that a phrase is found
by its first token; characters of scripts without blanks are tokens of their own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from memrepo.core.ids import digest, normalise
from memrepo.core.patterns import regex
from memrepo.policies.rules import SIGNALS
from memrepo.policies.terms import SPACELESS

_ASCII_TOKEN = regex(r"\w+", re.ASCII)
"""What `_TOKEN` finds in a text of ASCII alone."""
_TOKEN = regex(rf"[{SPACELESS}]|(?:(?![{SPACELESS}])\w)+")
_RUN = regex(rf"[{SPACELESS}]+|(?:(?![{SPACELESS}])[^\W_])+(?:[-_]+[^\W_]+)*")
_NO_BLANKS = regex(f"[{SPACELESS}]")
_REPEATED = regex(r"(.{1,3}?)\1+")
_Words = Mapping[str, Sequence[str]]


class Lexicon(msgspec.Struct, frozen=True, kw_only=True):
    """The words of all languages, ready to be looked up.

    `phrases` gives by first token the phrases that begin with it, each with its signal; `stop`
    holds the stop words of each language, `kinds` how many kinds of characters a trivial text has
    at most. `more` is a print of what was added to the shipped ones.
    """

    phrases: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    trivial: frozenset[str]
    kinds: int
    stop: tuple[frozenset[str], ...]
    more: str = ""

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


def lexicon(more: _Words | None = None) -> Lexicon:
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
        more=digest([more])[:16] if more else "",
    )


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(normalise, words))


@cache
def _shipped() -> tuple[_Words, ...]:
    """Return the shipped language files, English first: it decides where no language does."""
    folder = Path(__file__).parents[1] / "languages"
    paths = sorted(folder.glob("*.toml"), key=lambda p: (p.stem != "en", p.stem))
    return tuple(tomllib.loads(path.read_text(encoding="utf-8")) for path in paths)
