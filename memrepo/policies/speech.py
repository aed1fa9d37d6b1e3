"""Read a sentence by the word file of its language: its words, their stems, and listed phrases.

One file a language lies under `memrepo/languages/change/`; docs/change.md says what its lists are.
A phrase is a row of words; `*` ends a stem, `...` stands for up to six words between two parts, and
at its end for all that follows.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path
from sys import intern
from typing import Any, cast

import msgspec

from memrepo.core.ids import visible
from memrepo.core.patterns import regex

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja", "ko")
"""Every language that has a word file; where none can be told, it is the first."""
LONGEST = 60
"""A sentence of more words than these is no plain statement: none of its phrases is looked for."""
_GAP = 6

_WORD = regex(
    r"(?P<word>[^\W_]+(?:[-._/:@+#][^\W_]+)*%?)|(?P<mark>[:：—–→]|->|\s-\s)|(?P<list>[,、，])"
)
_SENTENCES = regex(
    r"(?<!\b\d\.)(?<!\b\d\d\.)"
    r"(?<!\b[DMSJ]r\.)(?<!\b[MD]s\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bProf\.)(?<!\b[NH][or]\.)"
    r"(?<!\bTel\.)(?<!\b[DS]ra\.)(?<!\b[Dd]ott\.)(?<!\bStr\.)(?<!\bca\.)(?<!\bvs\.)(?<!\binkl\.)(?<!\bapprox\.)"
    r"(?<=[.!?…;])\s+|(?<=[。！？；])|\n+"
)
_SHORT_NOT = regex(r"(?<=\w)n['’]t\b", re.IGNORECASE)
_CANNOT = regex(r"\b(can|won|shan)['’]t\b|\bcannot\b", re.IGNORECASE)
_KANA, _HAN, _HANGUL = "\u3040-\u30ff", "\u3400-\u9fff\uf900-\ufaff々", "\uac00-\ud7af"
_SCRIPTS = (
    ("ja", regex(f"[{_KANA}]")),
    ("ko", regex(f"[{_HANGUL}]")),
    ("zh", regex(f"[{_HAN}]")),
    ("ru", regex("[\u0400-\u04ff]")),
)
_PIECES = regex(
    f"[{_HAN}]+|[\u30a0-\u30ffー]+|[\u3040-\u309f]+|[{_HANGUL}]+|[^{_KANA}{_HAN}{_HANGUL}]+"
)
_MARK = {"：": ":", "—": ":", "–": ":", "->": "→"}


class Word(msgspec.Struct, frozen=True, gc=False):
    """One word of a sentence: as it is written, folded, and its stem.

    `letter` is the key under which lists hold stems that begin as it does.
    """

    raw: str
    text: str
    stem: str
    letter: str

    @property
    def is_number(self) -> bool:
        """Tell whether it is written with a digit."""
        return any(ch.isdigit() for ch in self.text)

    @property
    def is_name(self) -> bool:
        """Tell whether it begins with a capital letter, or holds a sign that only names have."""
        return self.raw[:1].isupper() or any(ch in "-._/@+#" for ch in self.raw)


Phrase = tuple[tuple[str, ...], ...]
"""The parts of a phrase between its gaps, each a row of words."""


class Language(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The word file of one language, and how its words are cut."""

    code: str
    lists: Mapping[str, Any]

    def phrases(self, name: str) -> Mapping[str, tuple[Phrase, ...]]:
        """Return the phrases of a list by their first word; stems are under `a*`, their letter."""
        known = self._phrases
        if name not in known:
            known[name] = self._by_first(str(self.lists.get(name, "")))
        return known[name]

    def spans(self, words: tuple[Word, ...], name: str) -> tuple[tuple[int, ...], ...]:
        """Return where phrases of a list stand in a sentence: the places of their words."""
        return self.found(words, self.phrases(name))

    def listed(self, words: tuple[Word, ...]) -> frozenset[str]:
        """Return the lists of which a phrase may stand in a sentence: one begins with its words."""
        by_first, known = self._names_by_first, self._named
        firsts = {key for word in words for key in (word.text, word.letter)}
        found = frozenset(name for key in firsts for name in by_first.get(key, ()))
        return known.setdefault(found, found)

    @cached_property
    def _names_by_first(self) -> Mapping[str, frozenset[str]]:
        """Return the lists that hold a phrase with this first word, or first letter of a stem."""
        found: dict[str, set[str]] = {}
        for name, value in self.lists.items():
            for first in self.phrases(name) if isinstance(value, str) else ():
                found.setdefault(first, set()).add(name)
        return {first: frozenset(names) for first, names in found.items()}

    @cached_property
    def _named(self) -> dict[frozenset[str], frozenset[str]]:
        return {}

    def found(
        self, words: tuple[Word, ...], by_first: Mapping[str, tuple[Phrase, ...]]
    ) -> tuple[tuple[int, ...], ...]:
        """Return where some phrases stand, the longest at each place."""
        if not by_first or len(words) > LONGEST:
            return ()
        spans: list[tuple[int, ...]] = []
        for at, word in enumerate(words):
            # Most words begin no phrase, and this is asked of each word for each list.
            if word.text not in by_first and word.letter not in by_first:
                continue
            these = (*by_first.get(word.text, ()), *by_first.get(word.letter, ()))
            fits = [span for phrase in these if (span := _fit(words, at, phrase))]
            if fits:
                spans.append(max(fits, key=len))
        return tuple(spans)

    def group(self, name: str, part: str) -> Mapping[str, tuple[Phrase, ...]]:
        """Return the phrases of a predicate: those of `state`, of `change`."""
        key = f"{name}/{part}"
        if key not in self._phrases:
            self._phrases[key] = self._by_first(str(self.predicates[name].get(part, "")))
        return self._phrases[key]

    def marks(self, words: tuple[Word, ...]) -> Iterator[tuple[tuple[int, ...], str]]:
        """Yield where predicates stand, and which; one is looked for where its first word is."""
        by_first, groups = self._groups_by_first, self._groups
        firsts = {key for word in words for key in (word.text, word.letter)}
        for n in sorted({n for key in firsts for n in by_first.get(key, ())}):
            name, phrases = groups[n]
            for span in self.found(words, phrases):
                yield span, f"§{name}"

    @cached_property
    def _groups(self) -> Sequence[tuple[str, Mapping[str, tuple[Phrase, ...]]]]:
        """Return the phrases of each predicate: those of its state, then those of its change."""
        named = product(self.predicates, ("state", "change"))
        return [(name, self.group(name, part)) for name, part in named]

    @cached_property
    def _groups_by_first(self) -> Mapping[str, Sequence[int]]:
        """Return by the first word of a phrase, or letter of a stem, whose phrases begin so."""
        found: dict[str, list[int]] = {}
        for n, (_, phrases) in enumerate(self._groups):
            for first in phrases:
                found.setdefault(first, []).append(n)
        return found

    @cached_property
    def moving(self) -> Mapping[str, tuple[Phrase, ...]]:
        """Return all phrases by which a predicate tells of a change or an end."""
        found: dict[str, tuple[Phrase, ...]] = {}
        for name, part in product(self.predicates, ("change", "end")):
            for first, phrases in self.group(name, part).items():
                found[first] = (*found.get(first, ()), *phrases)
        return found

    @property
    def predicates(self) -> Mapping[str, Mapping[str, str]]:
        """Return the listed predicates by name."""
        return cast("Mapping[str, Mapping[str, str]]", self.lists.get("predicate", {}))

    @cached_property
    def common(self) -> Mapping[str, int]:
        """Return the words by which the language is told, those that join twice as telling."""
        joining = ("fill", "articles", "copula", "negation", "now", "was", "told_by")
        texts = [(str(text), 2 if name in joining else 1) for name, text in self.lists.items()]
        texts += [(text, 1) for group in self.predicates.values() for text in group.values()]
        told: dict[str, int] = {}
        for text, weight in texts:
            for word in re.findall(r"[^\W\d_]+", text):
                told[word] = max(weight, told.get(word, 0))
        return told

    @cached_property
    def opposites(self) -> frozenset[frozenset[str]]:
        """Return the stems of words that turn a statement round, in pairs."""
        rows = str(self.lists.get("opposites", "")).split(",")
        pairs = (row.split() for row in rows if row.strip())
        return frozenset(
            frozenset(self.cut(word)[0].stem for word in pair) for pair in pairs if len(pair) == 2
        )

    @cached_property
    def turning(self) -> frozenset[str]:
        """Return the stems of all words that turn a statement round."""
        return frozenset().union(*self.opposites)

    def stem(self, text: str) -> str:
        """Return the stem of a folded word; it stays as it is in languages without a stemmer."""
        return _stemmed(self.code, text)

    def cut(self, text: str) -> tuple[Word, ...]:
        """Return the words of a text, marks that stand for a predicate among them."""
        words = tuple(_spelled(self.code, raw) for raw in self._raw(text))
        if len(set(map(id, words))) == len(words):
            return words
        # A word that stands twice in a sentence is two: rules tell them apart by what they are.
        return tuple(Word(one.raw, one.text, one.stem, one.letter) for one in words)

    def _raw(self, text: str) -> Iterator[str]:
        plain = visible(text).replace("*", "").replace("`", "")
        if self.code == "en":
            plain = _CANNOT.sub(lambda m: f"{m[1] or 'can'} not", plain)
            plain = _SHORT_NOT.sub(" not", plain)
        for match in _WORD.finditer(plain):
            if match["mark"]:
                yield match["mark"].strip() if match["mark"].strip() != "-" else "—"
            elif match["list"]:
                yield ","
            elif self.code in ("zh", "ja"):
                yield from self._segments(match["word"])
            elif self.code == "ko":
                yield from self._with_particles(match["word"])
            else:
                yield match["word"]

    def _segments(self, run: str) -> Iterator[str]:
        """Cut a run of a script without blanks at listed words and where the script changes."""
        for piece in self._listed(run):
            if piece in self._lexicon:
                yield piece
            else:
                yield from _PIECES.findall(piece)

    def _listed(self, run: str) -> Iterator[str]:
        at = start = 0
        while at < len(run):
            longest = range(min(self._longest, len(run) - at), 0, -1)
            size = next((n for n in longest if run[at : at + n] in self._lexicon), 0)
            if not size:
                at += 1
                continue
            if start < at:
                yield run[start:at]
            yield run[at : at + size]
            at = start = at + size
        if start < len(run):
            yield run[start:]

    def _with_particles(self, word: str) -> Iterator[str]:
        """Part a Korean word from what is joined to it: numbers before, particles after."""
        for piece in _PIECES.findall(word):
            if piece in self._lexicon:
                yield piece
                continue
            tail = next((p for p in self._particles if piece.endswith(p) and piece != p), "")
            yield piece.removesuffix(tail) if tail else piece
            if tail:
                yield self._particles[tail]

    @cached_property
    def _particles(self) -> Mapping[str, str]:
        """Return each particle with the form that stands for it, the longest first."""
        rows = [row.split() for row in str(self.lists.get("particles", "")).split(",")]
        forms = {form: row[0] for row in rows if row for form in row}
        return dict(sorted(forms.items(), key=lambda one: (-len(one[0]), one[0])))

    @cached_property
    def _lexicon(self) -> frozenset[str]:
        lists = [str(v) for v in self.lists.values() if isinstance(v, str)]
        lists += [v for group in self.predicates.values() for v in group.values()]
        words = (w for text in lists for w in re.split(r"[,\s]+|\.\.\.", text))
        return frozenset(w.rstrip("*") for w in words if w.rstrip("*") and not w.isascii())

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._lexicon), default=0)

    @cached_property
    def _phrases(self) -> dict[str, Mapping[str, tuple[Phrase, ...]]]:
        return {}

    def _parsed(self, text: str) -> Iterator[Phrase]:
        for row in text.split(","):
            parts = tuple(tuple(self._row(part)) for part in row.split("..."))
            if parts[0]:
                yield parts

    def _row(self, part: str) -> Iterator[str]:
        for word in part.split():
            if word.endswith("*") or word in (":", "→"):
                yield word
            else:
                yield from (w.text for w in self.cut(word))

    def _by_first(self, text: str) -> Mapping[str, tuple[Phrase, ...]]:
        found: dict[str, list[Phrase]] = {}
        for phrase in self._parsed(text):
            first = phrase[0][0]
            found.setdefault(f"{first[0]}*" if first.endswith("*") else first, []).append(phrase)
        return {first: tuple(phrases) for first, phrases in found.items()}


def _fit(words: tuple[Word, ...], at: int, phrase: Phrase) -> tuple[int, ...]:
    """Return the places of a phrase that begins at a word, or nothing."""
    places: list[int] = []
    for number, part in enumerate(phrase):
        if not part:  # "since ...": to the end
            return (*places, *range(at, len(words)))
        reach = range(at, at + (_GAP + 1 if number else 1))
        start = next((n for n in reach if _stands(words, n, part)), None)
        if start is None:
            return ()
        places += range(start, start + len(part))
        at = start + len(part)
    return tuple(places)


def _stands(words: tuple[Word, ...], at: int, part: tuple[str, ...]) -> bool:
    if at + len(part) > len(words):
        return False
    pairs = zip(words[at : at + len(part)], part, strict=True)
    return all(
        word.text.startswith(one[:-1]) if one.endswith("*") else word.text == one
        for word, one in pairs
    )


@cache
def language(code: str) -> Language:
    """Return a language by its code, read once."""
    path = Path(__file__).resolve().parents[1] / "languages" / "change" / f"{code}.toml"
    return Language(code, tomllib.loads(path.read_text(encoding="utf-8")))


@cache
def _stemmer(code: str) -> Callable[[str], str] | None:
    import Stemmer

    name = language(code).lists.get("stemmer", "")
    return cast("Callable[[str], str]", Stemmer.Stemmer(name).stemWord) if name else None


@lru_cache(maxsize=16_384)
def _spelled(code: str, raw: str) -> Word:
    """Return a word as it is written, folded, and its stem; sentences share their words."""
    text = unicodedata.normalize("NFKC", raw).casefold()
    text = _MARK.get(raw.strip(), text).strip() or raw
    return Word(raw, text, language(code).stem(text), intern(f"{text[:1]}*"))


@lru_cache(maxsize=16_384)
def _stemmed(code: str, text: str) -> str:
    stem = _stemmer(code)
    return stem(text) if stem else text


@lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text."""
    return tuple(part.strip() for part in _SENTENCES.split(text) if part and part.strip())


def language_of(*texts: str) -> Language:
    """Return the language of some texts: by their script, else by their commonest words."""
    told = [_told(text) for text in texts]
    for code, _ in _SCRIPTS:
        if code in told:
            return language(code)
    return _commonest(frozenset(one for one in told if not isinstance(one, str)))


@lru_cache(maxsize=32_768)  # most texts share the few words by which a language is told
def _commonest(told: frozenset[tuple[frozenset[str], ...]]) -> Language:
    """Return the language that has most of the common words of some texts."""
    found, best = _latin()[0], 0
    for n, candidate in enumerate(_latin()):
        words = frozenset().union(*(one[n] for one in told))
        score = sum(candidate.common[word] for word in words)
        if score > best:
            found, best = candidate, score
    return found


@cache
def _latin() -> tuple[Language, ...]:
    return tuple(language(code) for code in LANGUAGES if code not in dict(_SCRIPTS))


@lru_cache(maxsize=32_768)
def _told(text: str) -> str | tuple[frozenset[str], ...]:
    """Return the language that a text's script tells, or its common words in each other one."""
    for code, script in () if text.isascii() else _SCRIPTS:
        if script.search(text):
            return code
    words = frozenset(re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", text).casefold()))
    found = tuple(frozenset(words & one.common.keys()) for one in _latin())
    return _known().setdefault(found, found)  # many texts hold the same few


@cache
def _known() -> dict[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]:
    return {}
