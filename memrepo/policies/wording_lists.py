"""What each language has to say it: small words, negations, marks, numbers, units, words alike.

One file a language lies under `memrepo/languages/faithful/`; docs/wording.md says what its lists
are for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from memrepo.core.patterns import regex
from memrepo.policies.languages import bare, fold, language_of, small_words

FOLDER = Path(__file__).resolve().parents[1] / "languages" / "faithful"
CODES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "russian": "ru",
    "chinese": "zh",
    "japanese": "ja",
}
MARKS = (
    *("must", "should", "may", "only", "if", "when", "maybe", "always", "often", "sometimes"),
    *("about", "least", "most", "except", "plan", "former", "report", "why", "ask"),
)
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = regex(
    rf"[{_WIDE}]|[€$£%]|\d+(?:[.,:'’]\d+)*|[^\W\d_{_WIDE}]+(?:['’][^\W\d_]+)?|[.!?;:,()\[\]—–\n。！？；，、：]"
)
BREAK = frozenset(".!?;:,()[]—–\n。！？；，、：")
ELIDED = regex(r"^(?:l|d|j|m|t|s|c|qu|n|un|dell|all|nell|sull|dall|quell)['’](?=\w)")


class Words:
    """The lists of one language."""

    def __init__(self, name: str) -> None:
        """Take the name of a language, as `policies.languages` has it."""
        self.name = name
        code = CODES.get(name, "other")
        told = tomllib.loads((FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
        self._told: Mapping[str, str] = told
        self._stem = _stemmer(name)
        self.small = small_words().get(name, frozenset())
        self.contrast = phrases(told.get("contrast", ""))
        self.negators = phrases(f"{told['not']}, {told.get('contrast', '')}")
        self.need = phrases(told.get("need", ""))
        self.even = phrases(told.get("even", ""))
        self.marks = {mark: phrases(told.get(mark, "")) for mark in MARKS}
        self.order = frozenset(_listed(told.get("order", "")))
        self.passive = frozenset(_listed(told.get("passive", "")))
        self.before = phrases(told.get("before", ""))
        self.after = phrases(told.get("after", ""))
        self.wide = code in ("zh", "ja")

    @cached_property
    def fill(self) -> frozenset[str]:
        """Return the stems of words that only carry others."""
        return frozenset(self.stem(fold(word)) for word in self._told.get("fill", "").split())

    @cached_property
    def label(self) -> frozenset[str]:
        """Return the stems of words that carry a value beside its label."""
        return frozenset(self.stem(fold(word)) for word in self._told.get("label", "").split())

    @cached_property
    def groups(self) -> Mapping[str, frozenset[int]]:
        """Return by stem the groups of words of one meaning that hold it."""
        return self._grouped("alike")

    @cached_property
    def names(self) -> Mapping[str, frozenset[int]]:
        """Return by stem the groups of names of one meaning: Denmark, Danish."""
        return self._grouped("names")

    def _grouped(self, key: str) -> Mapping[str, frozenset[int]]:
        found: dict[str, frozenset[int]] = {}
        for number, line in enumerate(self._told.get(key, "").splitlines()):
            for word in line.split():
                stem = self.stem(fold(word))
                found[stem] = found.get(stem, frozenset()) | {number}
        return found

    @cached_property
    def same(self) -> tuple[re.Pattern[str], Mapping[str, str]] | None:
        """Return a pattern of the phrases that another says as well, and that other by each."""
        found: dict[str, str] = {}
        for line in self._told.get("same", "").strip().splitlines():
            plain, _, others = line.partition(":")
            found |= {" ".join(other.split()): plain for other in others.split(",")}
        if not found:
            return None
        longest = sorted(found, key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", re.I), found

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """Return the numbers that words stand for."""
        found = {fold(w): str(n) for n, w in enumerate(self._told.get("numbers", "").split())}
        for pair in _listed(self._told.get("more", "")):
            number, _, word = pair.partition(" ")
            found[word] = number
        return found

    @cached_property
    def times(self) -> frozenset[str]:
        """Return words that are numbers, but not of things: twice, half, first."""
        return frozenset(pair.partition(" ")[2] for pair in _listed(self._told.get("more", "")))

    @cached_property
    def months(self) -> Mapping[str, int]:
        """Return the months by their names and three letters of them."""
        names = [fold(w) for w in self._told.get("months", "").split()]
        found: dict[str, int] = {}
        for number, name in enumerate(names, start=1):
            found[name] = number
            if name[:3] not in ("mai", "mar", "jui") and len(name) > 3:
                found[name[:3]] = number
        return found

    def stem(self, word: str) -> str:
        """Return the stem of a folded word."""
        return bare(self._stem(word)) if self._stem else bare(word)

    def is_particle(self, word: str) -> bool:
        """Tell whether a word that ends a clause is a part of its verb: findet statt."""
        return (word,) in self.contrast.get(word, ())

    def is_small(self, word: str) -> bool:
        """Tell whether a word joins others."""
        return word in self.small or word in self.order


def plainly(texts: Sequence[str], words: Words) -> Iterator[str]:
    """Yield texts in which a phrase stands for all that say the same: at most, no more than.

    One word that stands in each of the first two needs none: unsafe is unsafe.
    """
    if words.same is None:
        yield from texts
        return
    pattern, found = words.same
    texts = [text.replace("\u2019", "'") for text in texts]
    one, two = ({m[0].lower() for m in pattern.finditer(text)} for text in texts[:2])
    shared = {phrase for phrase in one & two if " " not in phrase}
    for text in texts:
        yield pattern.sub(lambda m: m[0] if m[0].lower() in shared else found[m[0].lower()], text)


@cache
def words_of(name: str) -> Words:
    """Return the lists of a language by its name."""
    return Words(name)


def language_in(text: str) -> Words:
    """Return the lists of the language that a text is in.

    A short text has few small words: then the words of our own lists decide.
    """
    folded = [fold(word) for word in WORD.findall(text)]
    for name, script in _SCRIPTS:
        if script.search(text):
            return words_of(name)
    name = language_of(folded, text)
    if name not in _listed_words():
        return words_of(name)
    raw = [word.lower() for word in WORD.findall(text)]
    votes = {other: sum(w in listed for w in raw) for other, listed in _listed_words().items()}
    best = max(votes, key=lambda other: (2 * votes[other] + (other == name), other == "english"))
    return words_of(best)


_SCRIPTS = (
    ("japanese", regex("[\u3040-\u30ff]")),
    ("korean", regex("[\uac00-\ud7af]")),
    ("chinese", regex("[\u3400-\u9fff]")),
)


@cache
def _listed_words() -> Mapping[str, frozenset[str]]:
    """Return all words of the lists of each language that is written with Latin letters."""
    found = {}
    for name, code in CODES.items():
        if code in ("zh", "ja", "ru"):
            continue
        told = tomllib.loads((FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
        lists = " ".join(str(text) for key, text in told.items() if key not in ("months",))
        words = {w.lower() for w in WORD.findall(lists) if len(w) > 1 or not w.isascii()}
        small = small_words().get(name, frozenset())
        found[name] = frozenset(words | {w for w in small if len(w) > 1})
    return found


def is_rhythm(word: str) -> bool:
    """Tell whether something may be every such: every day, every Monday."""
    return bool(unit_of(word)) or word in _RHYTHMS or word.removesuffix("s") in _RHYTHMS


_RHYTHMS = frozenset(
    """
monday tuesday wednesday thursday friday saturday sunday morning evening night noon weekend quarter
montag dienstag mittwoch donnerstag freitag samstag sonntag morgen abend nacht wochenende
lundi mardi mercredi jeudi vendredi samedi dimanche matin soir nuit
lunes martes miercoles jueves viernes sabado domingo manana noche
lunedi martedi mercoledi giovedi venerdi sabato domenica mattina sera notte
segunda terca quarta quinta sexta manha noite
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ochtend avond nacht
понедельник вторник среду четверг пятницу субботу воскресенье утро вечер ночь
""".split()
)


@cache
def _units() -> tuple[Mapping[str, str], tuple[tuple[str, str], ...]]:
    told = tomllib.loads((FOLDER / "units.toml").read_text(encoding="utf-8"))
    exact: dict[str, str] = {}
    stems: list[tuple[str, str]] = []
    for name, text in told.items():
        for word in _listed(text):
            if word.endswith("*"):
                stems.append((word[:-1], name))
            else:
                exact[word] = name
    return exact, tuple(stems)


def unit_of(word: str) -> str:
    """Return the unit that a word names, or an empty string."""
    exact, stems = _units()
    return exact.get(word) or next((name for stem, name in stems if word.startswith(stem)), "")


# -- lists ---------------------------------------------------------------------------------------

Phrases = Mapping[str, tuple[tuple[str, ...], ...]]


def _listed(text: str) -> list[str]:
    return [fold(" ".join(part.split())) for part in text.split(",") if part.strip()]


def phrases(text: str) -> Phrases:
    """Return phrases by their first word; stems stand under a star."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for part in _listed(text):
        if part.endswith("*") and " " not in part:
            found["*"] = (*found.get("*", ()), (part[:-1],))
            continue
        cut = _cut(part.replace("*", ""))
        if cut:
            found[cut[0]] = (*found.get(cut[0], ()), cut)
    return found


def _cut(part: str) -> tuple[str, ...]:
    return tuple(
        ELIDED.sub("", fold(w)).replace("’", "'") for w in WORD.findall(part) if w not in BREAK
    )


@cache
def _stemmer(name: str) -> Callable[[str], str] | None:
    import Stemmer

    if name not in Stemmer.algorithms():
        return None
    cut: Any = Stemmer.Stemmer(name)
    return lambda word: str(cut.stemWord(word))
