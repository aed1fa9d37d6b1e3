"""Read a statement for what a rewording must keep: its words, numbers, dates, negations and marks.

A mark is a word that changes how far a statement goes: must, may, only, if, maybe, at least.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.policies.languages import fold
from memrepo.policies.wording_lists import (
    BREAK,
    ELIDED,
    WORD,
    Phrases,
    Words,
    is_rhythm,
    language_in,
)

BOUNDS = ("about", "least", "most")
"""Marks that count beside a number alone: "over 100", not "over tea"."""
_ENDS = frozenset(".!?;\n。！？；")
_JOINS = frozenset(("and", "but", "und", "aber", "sondern", "et", "mais", "y", "pero", "sino", "e"))
_JOINED = _JOINS | {"ma", "mas", "и", "но", "а", "en", "maar"}
_THOUSANDS = regex(r"\d{1,3}(?:[.,'’]\d{3})+")
_TWO = 2
_NEAR = 4
_LABEL = 6
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


_DENIALS = frozenset(
    """
not never no none without nor neither cannot can't don't doesn't didn't isn't aren't wasn't nicht
nie kein keine keinen keinem keiner ohne ne n pas jamais sans ni non no nunca sin não nao nem sem
mai senza niet nooit geen zonder не нет без никогда
""".split()
)
"""Words that deny and say nothing else."""


class Denial(NamedTuple):
    """What a clause denies, by stems.

    `scope` stands behind the negation, `whole` is all of it; with `contrast` something else is said
    instead.
    """

    scope: frozenset[str]
    whole: frozenset[str]
    contrast: bool
    word: str
    """The word that denies, where it says something itself: stops, avoids."""


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
        if token.number or token.text in BREAK or token.text in self._marked:
            return False
        if token.raw.isupper() and len(token.raw) > 1 and not self.raw.isupper():
            return True  # a short name: US is not us
        if self.named and token.raw[:1].isupper() and len(token.raw) > 1 and not token.first:
            return True  # Go is not to go
        return not (self.words.is_small(token.text) or token.stem in self.words.fill)

    @cached_property
    def named(self) -> bool:
        """Tell whether a capital letter says that a word is a name."""
        return self.words.name != "german" and not self.raw.istitle() and not self.raw.isupper()

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

    def carriers(self, marks: Collection[str]) -> frozenset[str]:
        """Return the words by which a text says who told it, why, or that it is open."""
        return frozenset(
            token.text
            for name in ("why", "report", "ask")
            if name in marks
            for at in range(len(self.tokens))
            for token in self.tokens[at : at + _fit(self.tokens, at, self.words.marks[name])]
        )

    def marks(self, clause: Iterable[Token] | None = None) -> dict[str, int]:
        """Return the marks that stand in a clause, or in all of it, with where the first stands."""
        tokens = self.tokens if clause is None else tuple(clause)
        found: dict[str, int] = {}
        for name, phrases in self.words.marks.items():
            for at in range(len(tokens)):
                size = _fit(tokens, at, phrases)
                if not size or (
                    name in BOUNDS and not _bounds(tokens, at, size, self.words.months, name)
                ):
                    continue
                if name == "may" and tokens[at].text == "may" and _is_month(tokens, at):
                    continue
                if name == "always" and _is_cadence(tokens, at + size):
                    continue
                found.setdefault(name, at)
                break
        return found

    def spelled(self, name: str) -> frozenset[str]:
        """Return the words of a mark as it is said here."""
        phrases, row = self.words.marks[name], self.tokens
        return frozenset(
            t.text for at in range(len(row)) for t in row[at : at + _fit(row, at, phrases)]
        )

    def count(self, name: str) -> int:
        """Count the phrases of a mark."""
        phrases = self.words.marks[name]
        return sum(bool(_fit(self.tokens, at, phrases)) for at in range(len(self.tokens)))

    def negators(self) -> int:
        """Count the words that negate."""
        return sum(bool(_fit(self.tokens, n, self.words.negators)) for n in range(len(self.tokens)))

    def negated(self) -> list[Denial]:
        """Return what each clause that negates denies."""
        found = []
        even: set[int] = set()
        for at in range(len(self.tokens)):
            even |= {id(t) for t in self.tokens[at : at + _fit(self.tokens, at, self.words.even)]}
        for clause in self.clauses:
            for at in range(len(clause)):
                if id(clause[at]) in even:
                    continue
                size = _fit(clause, at, self.words.negators)
                if size and (
                    at + size < len(clause) or not self.words.is_particle(clause[at].text)
                ):
                    whole = frozenset(t.stem for t in clause if self.tells(t) or t.number)
                    after = clause[at + size :]
                    contrast = bool(_fit(clause, at, self.words.contrast))
                    if contrast:
                        after = after[: self._ends(after)]
                    rest = frozenset(t.stem for t in after if self.tells(t))
                    whole = frozenset(t.stem for t in clause if self.tells(t) or t.number)
                    word = "" if clause[at].text in _DENIALS else clause[at].stem
                    found.append(Denial(rest or whole, whole, contrast, word))
                    break
        return found

    @cached_property
    def labelled(self) -> bool:
        """Tell whether a text is a label and its value, as far as a colon shows."""
        return any(t.text == ":" for t in self.tokens[:_LABEL])

    def counted(self) -> tuple[Token, ...]:
        """Return words that say of what there is so much each: per person, each team."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return tuple(
            t
            for before, t in pairs
            if before.text in ("each", "per", "pro", "par", "por")
            and t.text.isalpha()
            and not self.tells(t)
            and t.text not in self.words.small
        )

    def measures(self, token: Token) -> bool:
        """Tell whether a unit stands behind a number, with which it is compared."""
        at = self.tokens.index(token)
        return at > 0 and bool(self.tokens[at - 1].number)

    def replaces(self, at: int) -> int:
        """Return how many words here say "instead of"; 0 for none."""
        return _fit(self.tokens, at, self.words.contrast)

    def _ends(self, after: tuple[Token, ...]) -> int:
        """Return where what something stands instead of ends: at a word that is not part of it."""
        small = (n for n, t in enumerate(after) if n and self.words.is_small(t.text))
        return next(small, len(after))

    def unneeded(self) -> bool:
        """Tell whether a clause says that something may be left: not necessary, need not."""
        return any(
            _fit(clause, at, self.words.need)
            for clause in self.clauses
            if any(_fit(clause, n, self.words.negators) for n in range(len(clause)))
            for at in range(len(clause))
        )


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text."""
    return [part for part in regex(r"(?<=[.!?])\s+|\n+|(?<=[。！？])").split(text) if part.strip()]


def parted(text: str) -> str:
    """Part a number from what is written onto it: `30s`, `5GB`."""
    return _ATTACHED.sub(" ", text)


def meet(one: Statement, left: frozenset[str], right: frozenset[str]) -> bool:
    """Tell whether two sets of words have one in common, or two of one meaning."""
    if left & right:
        return True
    groups = {g for stem in left for g in one.words.groups.get(stem, ())}
    return any(g in groups for stem in right for g in one.words.groups.get(stem, ()))


def is_told(text: str) -> bool:
    """Tell whether a text says what somebody said, rather than what is."""
    return "report" in Statement(text, language_in(text)).marks()


# -- words ---------------------------------------------------------------------------------------


def _tokens(text: str, words: Words) -> Iterator[Token]:
    clause, first = 0, True
    for match in WORD.finditer(text):
        raw = match[0]
        if raw in BREAK:
            clause += 1
            first = first or raw in _ENDS or raw in ":\n"
            yield Token(raw, raw, raw, "", clause, first)
            continue
        folded = ELIDED.sub("", fold(raw)).replace("’", "'")
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


def _fit(tokens: tuple[Token, ...], at: int, phrases: Phrases) -> int:
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


def _bounds(
    tokens: tuple[Token, ...], at: int, size: int, months: Mapping[str, int], name: str
) -> bool:
    after = tokens[at + size : at + size + _NEAR]
    if any(t.text in months for t in after):
        return False  # until a day is no bound of a number
    far = _TWO if name == "about" else _NEAR
    near = tokens[max(0, at - _TWO) : at] + tokens[at + size : at + size + far]
    return any(t.number and not _is_rank(t) for t in near)


def _is_rank(token: Token) -> bool:
    """Tell whether a number says which in a row: first, second."""
    return token.text in _RANKS


_RANKS = frozenset("first second third fourth fifth erste zweite première premier primera".split())


def _is_month(tokens: tuple[Token, ...], at: int) -> bool:
    """Tell whether "may" is the month: beside a number, or with a capital inside a sentence."""
    near = (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])
    return any(t.number for t in near) or (tokens[at].raw == "May" and not tokens[at].first)


def _is_cadence(tokens: tuple[Token, ...], at: int) -> bool:
    """Tell whether "every" begins a rhythm: every day, every 3 weeks, every Monday."""
    after = tokens[at : at + 2]
    return any(t.number or is_rhythm(t.text) for t in after)
