"""Read a statement: its words and names, its key and value, and what it ends or replaces.

The phrases of each language are in the section `change` of its table (docs/languages.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

import msgspec

from memrepo.core.patterns import regex, spelled
from memrepo.text.dates import opening_date, without_dates
from memrepo.text.words import ENGLISH, bare, language_asked, small_words
from memrepo.text.words import table as language_table

MAX_WORDS = 60
"""Longer texts are not single statements and are not compared."""
MAX_VALUE_WORDS = 15

_WIDE = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = regex(f"[{_WIDE}]|[^\\W_{_WIDE}]+(?:[-._/:@+#&'’][^\\W_{_WIDE}]+)*%?|[$€£¥]|[^\\w\\s]")
_NOT = regex(r"(?<=\w)n['’]t\b|(?<=\bcan)not\b", re.IGNORECASE)
_EITHER = regex(r"(?<![\w/.-])([^\W\d_]{3,})/([^\W\d_]{3,})(?![\w/.-])")
_POSSESSIVE = regex(r"['’]s$")
_MARKUP = regex(r"\*\*|__|~~|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|^\s*(?:[-*+]|\d+[.)])\s+")
_KEYED = regex(r"^[\W_]*([^\W_][^:\n]{0,58}?)\s*:\s+(\S.*)$", re.DOTALL)
_ASIDE = regex(r"\s*\([^()]*\)\s*$")
_BREAK = regex(r"[.;!?。；！？]\s+\S|[。；！？]\S|\n\s*\n")
_PARTS = regex(r" [,;.，；。!?—–] ")
_ASKED = regex(r"[?？]|[\"“„«「]\s*\S+(?:\s+\S+){2,}")
_ELIDED = regex(r"(?<!\w)(\w|qu)['’](?=\w\w)", re.IGNORECASE)
_ENDINGS = ("ing", "ed", "s")


class Table(msgspec.Struct, frozen=True, eq=False):
    """The compiled phrases of one language, from section `change` of the language's table."""

    now: re.Pattern[str]
    ended: re.Pattern[str]
    replaced: tuple[tuple[frozenset[str], re.Pattern[str]], ...]
    """The words of each phrase, and its pattern."""
    open: re.Pattern[str]
    using: frozenset[str]
    """Verbs of what somebody uses, or where somebody is, at present."""
    negation: frozenset[str]
    articles: frozenset[str]
    times: frozenset[str]
    joining: frozenset[str]
    labels: frozenset[str]
    """Words that form a name with a number (`week 9`, `floor 2`)."""
    lists: frozenset[str]
    """Keys that may have several values."""
    small: frozenset[str]


class Replaced(msgspec.Struct, frozen=True, gc=False):
    """A value that a statement says was replaced, its replacement, and what both are about.

    `about` has the content words around: `the blog` and `in May` of `moved the blog from`.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    about: frozenset[str] = frozenset()


class Ended(msgspec.Struct, frozen=True, gc=False):
    """What a clause ends: its content words and its times, without the phrase that ends it."""

    content: frozenset[str]
    times: frozenset[str]
    is_negated: bool


class Reading(msgspec.Struct, frozen=True, gc=False):
    """The features of a statement that are compared with those of another statement.

    `used` has the content words of who uses something, and the words of what: `The team uses Jira.`
    `is_several` is whether it has several clauses or an enumeration, and `is_news` whether it says
    that something is new or over.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    names: frozenset[str]
    times: frozenset[str]
    key: str
    value: tuple[str, ...]
    negations: int
    ended: tuple[Ended, ...]
    replaced: tuple[Replaced, ...]
    used: tuple[frozenset[str], tuple[str, ...]]
    is_several: bool
    is_open: bool
    is_news: bool

    @property
    def numbered(self) -> frozenset[str]:
        """Return the statement's names made of a word and a number (`week 9`, `floor 2`)."""
        return frozenset(time for time in self.times if " " in time)

    @property
    def telling(self) -> list[str]:
        """Return the words with content, the times and the numbers, in order."""
        held = self.content | self.times
        return [w for w in self.words if w in held or stem(w) in held or w[0].isdigit()]


_NONE = Reading(
    words=(), content=frozenset(), names=frozenset(), times=frozenset(), key="", value=(),
    negations=0, ended=(), replaced=(), used=(frozenset(), ()),
    is_several=False, is_open=True, is_news=False,
)  # fmt: skip


@cache
def table(language: str) -> Table:
    """Return the phrases of a language, or the English phrases if the language has none."""
    found = language_table(language, "change")
    if not found:
        return table(ENGLISH)
    phrases: dict[str, Any] = {key: _any_of(found.get(key, ())) for key in _PHRASES}
    words: dict[str, Any] = {key: frozenset(found.get(key, "").split()) for key in _WORDS}
    return Table(
        **phrases,
        **words,
        replaced=tuple((_fixed(one), _any_of([one])) for one in found.get("replaced", ())),
        negation=frozenset(word for phrase in found.get("negation", ()) for word in _cut(phrase)),
        lists=frozenset(plain_words(key) for key in found.get("lists", "").split(",")),
        small=small_words().get(language, frozenset()),
    )


_PHRASES = ("now", "ended", "open")
_WORDS = ("using", "joining", "articles", "times", "labels")


def _any_of(phrases: Collection[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the phrases in tokens joined by blanks."""

    def spell() -> str:
        rows = (map(_part, phrase.split()) for phrase in sorted(phrases, key=len, reverse=True))
        found = "|".join(" ".join(row) for row in rows)
        return rf"(?<!\S)(?:{found or '(?!)'})(?!\S)"

    return spelled(spell)


def _fixed(phrase: str) -> frozenset[str]:
    """Return the tokens of a phrase without its placeholders."""
    parts = (part for part in phrase.split() if part not in ("...", "{old}", "{new}"))
    return frozenset(token for part in parts for token in _cut(part))


def _part(part: str) -> str:
    """Return the pattern for a part of a phrase: a word, a placeholder for a value, or `...`."""
    if part == "...":
        return r"(\S+(?: \S+){0,5}?)"
    if part in ("{old}", "{new}"):
        word = r"(?![,;:()!?—–|.，。；：（）](?!\S))\S+"
        return rf"(?P<{part[1:-1]}>{word}(?: {word}){{0,5}})"
    return re.escape(" ".join(_cut(part))).replace(r"\ ", " ")


def _cut(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(text)]


@lru_cache(maxsize=1 << 15)
def read(text: str) -> Reading:
    """Return the features of a statement. For lists and long paragraphs, all features are empty."""
    plain = _MARKUP.sub("", unicodedata.normalize("NFKC", text.replace("：", ": "))).strip()
    plain = plain[opening_date(plain)[1] :]
    if len(plain) > 12 * MAX_WORDS or plain.count("\n") > 1:
        return _NONE
    plain = _EITHER.sub(r"\1 \2", plain)
    plain = _ELIDED.sub(r"\1 ' ", _NOT.sub(" not", plain))
    raw = [_POSSESSIVE.sub("", token) for token in _TOKEN.findall(plain)]
    tokens = [token.casefold() for token in raw]
    if not tokens or len(tokens) > 2 * MAX_WORDS:
        return _NONE
    of = table(language_asked(map(bare, tokens), plain))
    joined = _without(of.now, " ".join(tokens))
    names = frozenset(
        stem(word) for at, (word, low) in enumerate(zip(raw, tokens, strict=True))
        if _is_name(word, at == 0 or raw[at - 1] in ".!?:") and bare(low) not in of.small
    )  # fmt: skip
    key, value = _key_of(plain, of)
    words = _bare(joined, of)
    times = _times_of(words, of)
    content = _content(words, of)
    ended = tuple(_ended_in(joined, of))
    replaced = tuple(_replaced_in(joined, of))
    return Reading(
        words=words,
        content=content,
        names=names,
        times=times,
        key=key,
        value=value,
        negations=sum(word in of.negation for word in words),
        ended=ended,
        replaced=replaced,
        used=_used_in(words, of),
        is_several=bool(_PARTS.search(joined)) or not of.joining.isdisjoint(tokens),
        is_open=bool(_ASKED.search(plain) or of.open.search(joined)),
        is_news=bool(ended or replaced or of.now.search(" ".join(tokens))),
    )


def _without(phrases: re.Pattern[str], joined: str) -> str:
    return " ".join(phrases.sub(" ", joined).split())


def _is_name(word: str, opens: bool) -> bool:
    """Return whether a token is an identifier or a capitalised word inside a sentence."""
    is_id = any(ch.isdigit() or ch in "_@/#" for ch in word) or any(map(str.isupper, word[1:]))
    return is_id or (word[:1].isupper() and not opens)


def _bare(joined: str, of: Table) -> tuple[str, ...]:
    """Split joined tokens into words, without punctuation and articles."""
    return tuple(w for w in joined.split() if w not in of.articles and any(map(str.isalnum, w)))


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Remove a regular English inflection. Words with non-ASCII letters are unchanged."""
    word = word.casefold()
    if not (word.isascii() and word.isalpha()) or word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        if len(word) > len(ending) + 2 and word.endswith(ending):
            word = word[: -len(ending)]
            break
    return word.removesuffix("e") if len(word) > 3 else word


def plain_words(text: str) -> str:
    """Return the stems of a text's words, joined by blanks."""
    return " ".join(map(stem, (w for w in _cut(text) if any(map(str.isalnum, w)))))


def _is_time(word: str, of: Table) -> bool:
    if word in of.times:
        return True
    return bool(re.fullmatch(r"(?:19|20)\d\d(?:-\d\d){0,2}|\d{1,2}(?:st|nd|rd|th)", word))


def _times_of(words: tuple[str, ...], of: Table) -> frozenset[str]:
    """Return the days, months and years in a statement, and the numbers next to them."""
    found = set()
    for at, word in enumerate(words):
        if _is_time(word, of):
            found.add(word)
            found |= {w for w in words[max(at - 1, 0) : at + 2] if w.isdigit()}
        elif at and word[0].isdigit() and words[at - 1] in of.labels:
            found.add(f"{words[at - 1]} {word}")
    return frozenset(found)


def _content(words: Iterable[str], of: Table) -> frozenset[str]:
    """Return the stems of content words, except words for times."""
    words = tuple(words)
    times = _times_of(words, of)
    return frozenset(stem(w) for w in words if bare(w) not in of.small and w not in times)


def _key_of(plain: str, of: Table) -> tuple[str, tuple[str, ...]]:
    """Return the key and the words of the value of a `Key: value` text, or two empty values."""
    found = _KEYED.match(plain)
    if not found or _BREAK.search(found[2]) or len(found[1].split()) > 6:
        return "", ()
    named = _without(of.now, " ".join(_cut(_ASIDE.sub("", found[1]))))
    key, value = plain_words(named), _bare(_without(of.now, " ".join(_cut(found[2]))), of)
    if not key or key in of.lists or len(value) > MAX_VALUE_WORDS:
        return "", ()
    if all(_is_time(word, of) or word.isdigit() for word in key.split()):
        return "", ()
    return key, value


def _ended_in(joined: str, of: Table) -> Iterator[Ended]:
    for part in _PARTS.split(joined):
        rest, count = of.ended.subn(_kept, part)
        words = _bare(rest, of)
        if count:
            is_negated = sum(word in of.negation for word in words) % 2 == 1
            yield Ended(_content(words, of), _times_of(words, of), is_negated)


def _kept(found: re.Match[str]) -> str:
    return f" {' '.join(filter(None, found.groups()))} "


def _replaced_in(joined: str, of: Table) -> Iterator[Replaced]:
    """Yield the replacements that a statement states.

    If the phrase does not contain the replacement, the word before the phrase is the replacement.
    """
    held = frozenset(joined.split())
    for pattern in (one for fixed, one in of.replaced if fixed <= held):
        for found in pattern.finditer(joined):
            groups, before = found.groupdict(), joined[: found.start()].split()
            old, new = _bare(groups["old"], of), groups.get("new")
            if new is not None:
                given = _bare(new, of)
                at = next((n for n, word in enumerate(given) if bare(word) in of.small), len(given))
                after = re.split(r" [.;!?](?= |$)", joined[found.end() :])[0]
                moved = (part for part in found.groups() if part and part not in groups.values())
                around = " ".join((*before, *moved, *given[at:], after))
                yield Replaced(old, given[:at], _content(_bare(around, of), of))
            elif before:
                last = _bare(before[-1], of)
                yield from (Replaced(old[:size], last) for size in range(len(old), 0, -1))


def _used_in(words: tuple[str, ...], of: Table) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the content words before a verb of present use, and the words of the thing after."""
    at = next((n for n, word in enumerate(words) if word in of.using), 0)
    rest = list(words[at + 1 :])
    if rest and bare(rest[0]) in of.small:
        rest.pop(0)  # the preposition in `works on Atlas`
    end = next((n for n, word in enumerate(rest) if bare(word) in of.small), len(rest))
    return _content(words[:at], of), tuple(rest[:end]) if at else ()


_AMOUNT = regex(r"(\d+(?:[.,]\d+)*)\s?([^\W\d_]+|[%$€£¥])")


def has_other_amount(new: str, old: str) -> bool:
    """Return whether two texts have numbers with one unit, of which they share none."""
    one, two = (
        {stem(unit): {n for n, other in found if stem(other) == stem(unit)} for _, unit in found}
        for found in map(_AMOUNT.findall, (new, old))
    )
    return any(one[unit].isdisjoint(two[unit]) for unit in one.keys() & two)


# -- what a statement stands under --------------------------------------------------------------

_FILES = frozenset(
    map(stem, "memory rtmemory ltmemory tools identity agents claude notes log".split())
)
_USER = stem("user")


def headings_of(under: str) -> tuple[str, ...]:
    """Return the headings above a statement without dates, except common file names.

    The file of the user names a person, to whom the headings below it belong.
    """
    parts = (plain_words(without_dates(part)) for part in re.split(r" [›–] ", under))
    found = tuple(part for part in parts if part and part not in _FILES)
    return () if found == (_USER,) else found


def _are_nested(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return whether the longer sequence of headings ends with the shorter one."""
    size = min(len(one), len(two))
    return one[len(one) - size :] == two[len(two) - size :]


def are_near(under_old: str, under_new: str) -> bool:
    """Return whether the headings above two statements, without dates, name one thing, or none."""
    one, two = headings_of(under_old), headings_of(under_new)
    return _are_nested(one, two) if one and two else one == two


def are_apart(under_old: str, under_new: str) -> bool:
    """Return whether the headings above two statements, without dates, name two things."""
    one, two = headings_of(under_old), headings_of(under_new)
    return bool(one and two) and not _are_nested(one, two)
