"""Read a statement for what a rewording must keep: its words, numbers, dates, negations and marks.

One file a language lies under `memrepo/languages/faithful/`; docs/judges.md says what its lists are
for. A mark is a word that changes how far a statement goes: must, may, only, if, maybe, at least.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core.ids import normalise
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
BOUNDS = ("about", "least", "most")
"""Marks that count beside a number alone: "over 100", not "over tea"."""
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = regex(
    rf"[{_WIDE}]|[€$£%]|\d+(?:[.,:'’]\d+)*|[^\W\d_{_WIDE}]+(?:['’][^\W\d_]+)?|[.!?;:,()\[\]—–\n。！？；，、：]"
)
_IS_WIDE = regex(f"[{_WIDE}]")
_BREAK = frozenset(".!?;:,()[]—–\n。！？；，、：")
_ENDS = frozenset(".!?;\n。！？；")
_JOINS = frozenset(("and", "but", "und", "aber", "sondern", "et", "mais", "y", "pero", "sino", "e"))
_JOINED = _JOINS | {"ma", "mas", "и", "но", "а", "en", "maar"}
_THOUSANDS = regex(r"\d{1,3}(?:[.,'’]\d{3})+")
_ELIDED = regex(r"^(?:l|d|j|m|t|s|c|qu|n|un|dell|all|nell|sull|dall|quell)['’](?=\w)")
_TWO = 2
_ATTACHED = regex(r"(?<=\d)(?=[^\W\d_])")


class Token(msgspec.Struct, frozen=True):
    """One word: as written, folded, its stem, the number it is, and the clause it stands in."""

    raw: str
    text: str
    stem: str
    number: str
    clause: int
    first: bool
    """Whether a sentence begins with it: its capital letter says nothing."""


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
        self.negators = _phrases(told["not"])
        self.even = _phrases(told.get("even", ""))
        self.marks = {mark: _phrases(told.get(mark, "")) for mark in MARKS}
        self.order = frozenset(_listed(told.get("order", "")))
        self.passive = frozenset(_listed(told.get("passive", "")))
        self.before = _phrases(told.get("before", ""))
        self.after = _phrases(told.get("after", ""))
        self.wide = code in ("zh", "ja")

    @cached_property
    def fill(self) -> frozenset[str]:
        """Return the stems of words that only carry others."""
        return frozenset(self.stem(fold(word)) for word in self._told.get("fill", "").split())

    @cached_property
    def groups(self) -> Mapping[str, frozenset[int]]:
        """Return by stem the groups of words of one meaning that hold it."""
        found: dict[str, frozenset[int]] = {}
        for number, line in enumerate(self._told.get("alike", "").splitlines()):
            for word in line.split():
                stem = self.stem(fold(word))
                found[stem] = found.get(stem, frozenset()) | {number}
        return found

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """Return the numbers that words stand for."""
        found = {fold(w): str(n) for n, w in enumerate(self._told.get("numbers", "").split())}
        for pair in _listed(self._told.get("more", "")):
            number, _, word = pair.partition(" ")
            found[word] = number
        return found

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

    def is_small(self, word: str) -> bool:
        """Tell whether a word joins others."""
        return word in self.small or word in self.order


class Statement:
    """A text, read in one language."""

    def __init__(self, text: str, words: Words) -> None:
        """Read it."""
        self.words = words
        self.raw = text
        self.text = normalise(text)
        self.tokens = tuple(_tokens(text, words))

    @cached_property
    def clauses(self) -> tuple[tuple[Token, ...], ...]:
        """Return the words by clause."""
        found: dict[int, list[Token]] = {}
        for token in self.tokens:
            found.setdefault(token.clause, []).append(token)
        return tuple(map(tuple, found.values()))

    @cached_property
    def content(self) -> tuple[Token, ...]:
        """Return the words that say what it is about; numbers are none of them."""
        return tuple(t for t in self.tokens if self.tells(t))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of all words."""
        return frozenset(t.stem for t in self.tokens)

    def tells(self, token: Token) -> bool:
        """Tell whether a word says what the statement is about."""
        if token.number or token.text in _BREAK or token.text in self._marked:
            return False
        if token.raw.isupper() and len(token.raw) > 1 and not self.raw.isupper():
            return True  # a short name: US is not us
        return not (self.words.is_small(token.text) or token.stem in self.words.fill)

    @cached_property
    def _marked(self) -> frozenset[str]:
        """Return the words of marks and negations that stand here."""
        lists = (*self.words.marks.items(), ("not", self.words.negators))
        found = set()
        for name, phrases in lists:
            if name in ("why", "report", "ask"):
                continue
            for at in range(len(self.tokens)):
                size = _fit(self.tokens, at, phrases)
                found |= {t.text for t in self.tokens[at : at + size]}
        return frozenset(found)

    def marks(self, clause: Iterable[Token] | None = None) -> dict[str, int]:
        """Return the marks that stand in a clause, or in all of it, with where the first stands."""
        tokens = self.tokens if clause is None else tuple(clause)
        found: dict[str, int] = {}
        for name, phrases in self.words.marks.items():
            for at in range(len(tokens)):
                size = _fit(tokens, at, phrases)
                if not size or (
                    name in BOUNDS and not _bounds(tokens, at, size, self.words.months)
                ):
                    continue
                if name == "may" and tokens[at].text == "may" and _is_month(tokens, at):
                    continue
                if name == "always" and _is_cadence(tokens, at + size):
                    continue
                found.setdefault(name, at)
                break
        return found

    def negators(self) -> int:
        """Count the words that negate."""
        return sum(bool(_fit(self.tokens, n, self.words.negators)) for n in range(len(self.tokens)))

    def negated(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """Return for each clause that negates the stems after it, and all stems of the clause."""
        found = []
        even: set[int] = set()
        for at in range(len(self.tokens)):
            even |= {id(t) for t in self.tokens[at : at + _fit(self.tokens, at, self.words.even)]}
        for clause in self.clauses:
            for at in range(len(clause)):
                if id(clause[at]) in even:
                    continue
                if size := _fit(clause, at, self.words.negators):
                    whole = frozenset(t.stem for t in clause if self.tells(t) or t.number)
                    rest = frozenset(t.stem for t in clause[at + size :] if self.tells(t))
                    found.append((rest or whole, whole))
                    break
        return found


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text."""
    return [part for part in regex(r"(?<=[.!?])\s+|\n+|(?<=[。！？])").split(text) if part.strip()]


def parted(text: str) -> str:
    """Part a number from what is written onto it: `30s`, `5GB`."""
    return _ATTACHED.sub(" ", text)


@cache
def words_of(name: str) -> Words:
    """Return the lists of a language by its name."""
    return Words(name)


def language_in(text: str) -> Words:
    """Return the lists of the language that a text is in.

    A short text has few small words: then the words of our own lists decide.
    """
    folded = [fold(word) for word in _WORD.findall(text)]
    for name, script in _SCRIPTS:
        if script.search(text):
            return words_of(name)
    name = language_of(folded, text)
    if name not in _listed_words():
        return words_of(name)
    raw = [word.lower() for word in _WORD.findall(text)]
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
        words = {w.lower() for w in _WORD.findall(lists) if len(w) > 1 or not w.isascii()}
        small = small_words().get(name, frozenset())
        found[name] = frozenset(words | {w for w in small if len(w) > 1})
    return found


def is_told(text: str) -> bool:
    """Tell whether a text says what somebody said, rather than what is."""
    return "report" in Statement(text, language_in(text)).marks()


# -- words ---------------------------------------------------------------------------------------


def _tokens(text: str, words: Words) -> Iterator[Token]:
    clause, first = 0, True
    for match in _WORD.finditer(text):
        raw = match[0]
        if raw in _BREAK:
            clause += 1
            first = first or raw in _ENDS or raw in ":\n"
            yield Token(raw, raw, raw, "", clause, first)
            continue
        folded = _ELIDED.sub("", fold(raw)).replace("’", "'")
        folded = folded.removesuffix("'s")
        if folded in _JOINED:
            clause += 1
        number = plain_number(raw) if raw[0].isdigit() else words.numbers.get(folded, "")
        yield Token(raw, folded, words.stem(folded), number, clause, first)
        first = False


def plain_number(raw: str) -> str:
    """Return a number in one spelling: without thousands marks, leading zeros, empty decimals."""
    if _THOUSANDS.fullmatch(raw):
        raw = "".join(ch for ch in raw if ch.isdigit())
    raw = raw.replace(",", ".").replace("'", "").replace("’", "")
    if raw.count(".") == 1 and ":" not in raw:
        whole, _, part = raw.partition(".")
        part = part.rstrip("0")
        return f"{whole.lstrip('0') or '0'}.{part}" if part else whole.lstrip("0") or "0"
    return raw.lstrip("0") or "0" if raw.isdigit() else raw


def _fit(tokens: tuple[Token, ...], at: int, phrases: _Phrases) -> int:
    """Return how many words of the longest phrase stand here; 0 for none."""
    here = tokens[at].text
    best = 0
    for phrase in phrases.get(here, ()):
        if len(phrase) > best and tuple(t.text for t in tokens[at : at + len(phrase)]) == phrase:
            best = len(phrase)
    for stem in phrases.get("*", ()):
        if here.startswith(stem[0]):
            best = max(best, 1)
    return best


def _bounds(tokens: tuple[Token, ...], at: int, size: int, months: Mapping[str, int]) -> bool:
    after = tokens[at + size : at + size + 4]
    if any(t.text in months for t in after):
        return False  # until a day is no bound of a number
    near = tokens[max(0, at - _TWO) : at] + tokens[at + size : at + size + 2 + 1]
    return any(t.number for t in near)


def _is_month(tokens: tuple[Token, ...], at: int) -> bool:
    """Tell whether "may" is the month: beside a number, or with a capital inside a sentence."""
    near = (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])
    return any(t.number for t in near) or (tokens[at].raw == "May" and not tokens[at].first)


def _is_cadence(tokens: tuple[Token, ...], at: int) -> bool:
    """Tell whether "every" begins a rhythm: every day, every 3 weeks, every Monday."""
    after = tokens[at : at + 2]
    return any(t.number or unit_of(t.text) or t.text in _RHYTHMS for t in after)


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

_Phrases = Mapping[str, tuple[tuple[str, ...], ...]]


def _listed(text: str) -> list[str]:
    return [fold(" ".join(part.split())) for part in text.split(",") if part.strip()]


def _phrases(text: str) -> _Phrases:
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
        _ELIDED.sub("", fold(w)).replace("’", "'") for w in _WORD.findall(part) if w not in _BREAK
    )


@cache
def _stemmer(name: str) -> Callable[[str], str] | None:
    import Stemmer

    if name not in Stemmer.algorithms():
        return None
    cut: Any = Stemmer.Stemmer(name)
    return lambda word: str(cut.stemWord(word))
