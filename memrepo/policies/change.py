"""Decide whether a newer statement replaces, contradicts or continues an older one.

A newer statement replaces an older one if it names what has ended or the value it replaces, or if
it has another value for the same key under the same heading. It continues an older one if the two
differ in one value only. An older statement that is continued is history, but no error. In all
other cases both hold.

The phrases of each language are in the section `change` of its table (docs/languages.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import Any

import msgspec

from memrepo.core.memory import Memory
from memrepo.core.patterns import regex, spelled
from memrepo.text.dates import opening_date, without_dates
from memrepo.text.languages import ENGLISH, bare, language_asked, patterns, small_words, tables
from memrepo.text.languages import table as language_table

MAX_WORDS = 60
"""Longer texts are not single statements and are not compared."""
MAX_VALUE_WORDS = 15
MIN_COVER = 0.5
"""A statement that changes another must repeat at least this share of its words."""
MAX_VALUES = 5
"""If more statements than this share a key or a sentence, they are items of a list."""

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
_QUOTED = regex(r"[\"“„«「]\s*\S+(?:\s+\S+){2,}")
_ELIDED = regex(r"(?<!\w)(\w|qu)['’](?=\w\w)", re.IGNORECASE)
_SCRIPTS = (
    (regex("[\u3040-\u30ff]"), "japanese"),
    (regex("[\uac00-\ud7af]"), "korean"),
    (regex("[\u3400-\u9fff]"), "chinese"),
)
_ENDINGS = ("ing", "ed", "s")


class StatementChange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The effect of a newer statement on an older one.

    `stated` is true if the newer statement names what has ended, and `is_next` if it only continues
    the older one. Otherwise it has another value for the same key. `is_event` is true if both
    statements may report events that were true on their days. `is_rule` is true if one forbids what
    the other demands, which only a person can decide.
    """

    reason: str
    stated: bool = False
    is_next: bool = False
    is_event: bool = False
    is_rule: bool = False


class Table(msgspec.Struct, frozen=True, eq=False):
    """The compiled phrases of one language, from section `change` of the language's table."""

    now: re.Pattern[str]
    ended: re.Pattern[str]
    replaced: tuple[tuple[frozenset[str], re.Pattern[str]], ...]
    """The words of each phrase, and its pattern."""
    open: re.Pattern[str]
    always: frozenset[str]
    negation: frozenset[str]
    bounds: frozenset[str]
    """Words that introduce a limit on a value: a time, a place, a purpose."""
    articles: frozenset[str]
    times: frozenset[str]
    labels: frozenset[str]
    """Words that form a name with a number (`week 9`, `floor 2`)."""
    lists: frozenset[str]
    """Keys that may have several values."""
    small: frozenset[str]


class Replaced(msgspec.Struct, frozen=True, gc=False):
    """A value that a statement says was replaced, and its replacement."""

    old: tuple[str, ...]
    new: tuple[str, ...]


class Reading(msgspec.Struct, frozen=True, gc=False):
    """The features of a statement that are compared with those of another statement.

    `demanded` has the content words of a statement with a word such as always, without that word,
    and `forbidden` those of one with a negation. `ended` has the content words of a statement that
    ends something, without the ending phrase, and `over` the stems of each clause with such a
    phrase. `is_news` is whether it says that something is new or over.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    names: frozenset[str]
    times: frozenset[str]
    key: str
    value: tuple[str, ...]
    negations: int
    demanded: frozenset[str]
    forbidden: frozenset[str]
    ended: frozenset[str] | None
    over: tuple[frozenset[str], ...]
    replaced: tuple[Replaced, ...]
    is_open: bool
    is_news: bool

    @property
    def numbered(self) -> frozenset[str]:
        """Return the statement's names made of a word and a number (`week 9`, `floor 2`)."""
        return frozenset(time for time in self.times if " " in time)

    @property
    def stems(self) -> list[str]:
        """Return the content words in the order of the statement."""
        return [stem for word in self.words if (stem := _stem(word)) in self.content]


_NONE = Reading(
    words=(), content=frozenset(), names=frozenset(), times=frozenset(), key="", value=(),
    negations=0, demanded=frozenset(), forbidden=frozenset(), ended=None, over=(), replaced=(),
    is_open=True, is_news=False,
)  # fmt: skip


# -- the tables ----------------------------------------------------------------------------------


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
        bounds=frozenset(word for phrase in found.get("bounds", ()) for word in _cut(phrase)),
        lists=frozenset(_plain(key) for key in found.get("lists", "").split(",")),
        small=small_words().get(language, frozenset()),
    )


_PHRASES = ("now", "ended", "open")
_WORDS = ("always", "articles", "times", "labels")


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


def _table_of(text: str, words: list[str]) -> Table:
    for script, language in _SCRIPTS:
        if script.search(text):
            return table(language)
    return table(language_asked(map(bare, words), text))


# -- reading a statement -------------------------------------------------------------------------


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
    of = _table_of(plain, tokens)
    joined = _without(of.now, " ".join(tokens))
    names = frozenset(
        _stem(word) for at, (word, low) in enumerate(zip(raw, tokens, strict=True))
        if _is_name(word, at == 0 or raw[at - 1] in ".!?:") and bare(low) not in of.small
    )  # fmt: skip
    key, value = _key_of(plain, of)
    words = _bare(joined, of)
    times = _times_of(words, of)
    content = _content(words, of)
    ended, over = _ended_in(joined, of)
    replaced = tuple(_replaced_in(joined, of))
    return Reading(
        words=words,
        content=content,
        names=names,
        times=times,
        key=key,
        value=value,
        negations=sum(word in of.negation for word in words),
        demanded=_content((w for w in words if w not in of.always), of)
        if not of.always.isdisjoint(words)
        else frozenset(),
        forbidden=_content((w for w in words if w not in of.negation), of)
        if not of.negation.isdisjoint(words)
        else frozenset(),
        ended=ended,
        over=over,
        replaced=replaced,
        is_open="?" in plain
        or "？" in plain
        or bool(_QUOTED.search(plain) or of.open.search(joined)),
        is_news=bool(ended is not None or replaced or of.now.search(" ".join(tokens))),
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


def _stem(word: str) -> str:
    """Remove a regular English inflection. Words with non-ASCII letters are unchanged."""
    word = word.casefold()
    if not (word.isascii() and word.isalpha()) or word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        if len(word) > len(ending) + 2 and word.endswith(ending):
            word = word[: -len(ending)]
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _plain(text: str) -> str:
    return " ".join(map(_stem, (w for w in _cut(text) if any(map(str.isalnum, w)))))


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
    return frozenset(_stem(w) for w in words if bare(w) not in of.small and w not in times)


def _key_of(plain: str, of: Table) -> tuple[str, tuple[str, ...]]:
    """Return the key and the words of the value of a `Key: value` text, or two empty values."""
    found = _KEYED.match(plain)
    if not found or _BREAK.search(found[2]) or len(found[1].split()) > 6:
        return "", ()
    named = _without(of.now, " ".join(_cut(_ASIDE.sub("", found[1]))))
    key, value = _plain(named), _bare(_without(of.now, " ".join(_cut(found[2]))), of)
    if not key or key in of.lists or len(value) > MAX_VALUE_WORDS:
        return "", ()
    if all(_is_time(word, of) or word.isdigit() for word in key.split()):
        return "", ()
    return key, value


def _ended_in(joined: str, of: Table) -> tuple[frozenset[str] | None, tuple[frozenset[str], ...]]:
    """Return the content words of a statement that ends another, and the words of such clauses."""
    parts = [
        _bare(rest, of)
        for one in _PARTS.split(joined)
        for rest, n in [of.ended.subn(_kept, one)]
        if n
    ]
    if not parts:
        return None, ()
    over = tuple(frozenset(map(_stem, part)) for part in parts if len(part) > 1)
    return _content(_bare(of.ended.sub(_kept, joined), of), of), over


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
                yield Replaced(old, _bare(new, of))
            elif before:
                last = _bare(before[-1], of)
                yield from (Replaced(old[:size], last) for size in range(len(old), 0, -1))


# -- comparing two -------------------------------------------------------------------------------


def change_of(old: Memory, new: Memory, *, together: bool = False) -> StatementChange | None:
    """Return how a newer statement changes an older one, or None if both may be true.

    `together` is true if both are lines of one version of a file. Such lines only change each other
    if one states that the other has ended.
    """
    one, two = read(old.body), read(new.body)
    if one.is_open or two.is_open or one.words == two.words:
        return None
    headings = old.context, new.context
    if found := _change_that_ends(one, two, *headings):
        return found
    if _are_opposed(one, two) and (one.names & two.names or _are_near(*headings)):
        return StatementChange(reason="one forbids what the other demands", is_rule=True)
    if together or one.ended is not None:
        return None
    is_event = not all(map(patterns().sentences["decision"].search, (old.body, new.body)))
    if _has_other_value(one, two, *headings):
        return StatementChange(reason="the same key has another value", is_event=is_event)
    if _differ_in_value(one, two):
        reason = "a newer line says what came after it"
        return StatementChange(reason=reason, is_next=True, is_event=is_event)
    return None


def _are_opposed(one: Reading, two: Reading) -> bool:
    """Return whether one statement demands exactly what the other forbids."""
    ruled = ((one.demanded, two.forbidden), (two.demanded, one.forbidden))
    return one.times == two.times and any(
        len(demanded) > 1 and demanded == forbidden for demanded, forbidden in ruled
    )


def _change_that_ends(
    one: Reading, two: Reading, under_old: str, under_new: str
) -> StatementChange | None:
    if two.over and frozenset(map(_stem, one.words)) in two.over:
        return StatementChange(reason="a newer line says that it is over", stated=True)
    if one.times and two.times and not two.times <= one.times:
        return None
    if two.ended and one.ended is None:
        shared = two.ended & one.content
        is_whole = two.ended <= one.content and len(shared) >= MIN_COVER * len(one.content)
        is_named = len(shared) > 2 or shared & (one.names | two.names)
        if is_whole and len(shared) > 1 and (is_named or _are_near(under_old, under_new)):
            return StatementChange(reason="a newer line says that it is over", stated=True)
    return next(filter(None, (_change_of_value(one, two, part) for part in two.replaced)), None)


def _change_of_value(one: Reading, two: Reading, part: Replaced) -> StatementChange | None:
    """Return the change if the newer statement replaces a value in the older one, else None.

    It replaces the value if it repeats half of what else the older one names, and more than its
    subject: whoever moved from Berlin to Paris may still have studied in Berlin. Numbers are of one
    thing only.
    """
    value, instead = part.old, part.new
    fresh = tuple(word for word in instead if word not in value)[:1]
    if not fresh or not _holds(one.words, value) or _holds(one.words, fresh):
        return None
    left = frozenset(map(_stem, (*value, *instead)))
    if not left & (one.content | one.names):
        return None
    if (one.names - two.names - left) and (two.names - one.names - left):
        return None  # the statements have different subjects
    known = one.content - left
    shared = two.content & known
    is_same = len(shared) > 1 or shared == known or any(map(str.isdigit, "".join(value)))
    if shared and is_same and len(shared) >= MIN_COVER * len(known):
        reason = "a newer line says that the old value was replaced"
        return StatementChange(reason=reason, stated=True)
    return None


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    size = len(part)
    return size > 0 and any(words[at : at + size] == part for at in range(len(words) - size + 1))


def _has_other_value(one: Reading, two: Reading, under_old: str, under_new: str) -> bool:
    """Return whether two statements give the same key under the same heading other values.

    The limits of the values must be equal, and neither value may contain the other.
    """
    if not one.key or one.key != two.key:
        return False
    headings = _headings(under_old), _headings(under_new)
    if not (
        _are_nested(*headings) if all(headings) else headings[0] == headings[1] and " " in one.key
    ):
        return False
    bounds = _bounds_of(one.value), _bounds_of(two.value)
    first, second = (
        frozenset(map(_stem, value[: len(value) - len(limit)]))
        for value, limit in zip((one.value, two.value), bounds, strict=True)
    )
    if bounds[0] != bounds[1] or not (first and second):
        return False
    return not (first <= second or second <= first)


def _differ_in_value(one: Reading, two: Reading) -> bool:
    """Return whether two statements are equal except for one value of the same kind.

    The value is not the subject, with which a statement begins. Of the words before a name there
    are two with content. A key has its own rule.
    """
    shared = one.content & two.content
    if len(shared) < 2 or len(shared) < MIN_COVER * len(one.content):
        return False
    if one.numbered != two.numbered or (one.key and two.key):
        return False
    blocks = SequenceMatcher(None, one.words, two.words, autojunk=False).get_opcodes()
    apart = [(one.words[i:j], two.words[m:n], i) for tag, i, j, m, n in blocks if tag != "equal"]
    if len(apart) != 1:
        return False
    (old, new, at), *_ = apart
    if not (at and old and new):
        return False
    kinds = _kinds_of(old, one) & _kinds_of(new, two)
    before = sum(_stem(word) in shared for word in one.words[:at])
    return bool(kinds - {"name"} or (kinds and before > 1))


def _kinds_of(part: Sequence[str], of: Reading) -> set[str]:
    """Return the kinds of a value: a number with its unit, a time, a name."""
    kinds = {"name"} if any(_stem(word) in of.names for word in part) else set[str]()
    kinds |= {"time"} if any(word in of.times for word in part) else set()
    if any(word[0].isdigit() for word in part):
        kinds.add(" ".join(re.sub(r"\d+(?:[.,]\d+)*", "0", word) for word in part))
    return kinds


@cache
def _every_bound() -> frozenset[str]:
    return frozenset(word for language, _ in tables("change") for word in table(language).bounds)


def _bounds_of(value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the part of a value that starts at the first word for a time, place or purpose."""
    bounds = _every_bound()
    return next((value[at:] for at, word in enumerate(value) if at and word in bounds), ())


_FILES = frozenset("memory rtmemory ltmemory user tools identity agents claude notes log".split())


def _headings(under: str) -> tuple[str, ...]:
    """Return the headings above a statement without dates, except common file names."""
    parts = (_plain(without_dates(part)) for part in re.split(r" [›–] ", under))
    return tuple(part for part in parts if part and part not in _FILES)


def _are_nested(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return whether the longer sequence of headings ends with the shorter one."""
    size = min(len(one), len(two))
    return one[len(one) - size :] == two[len(two) - size :]


def _are_near(under_old: str, under_new: str) -> bool:
    one, two = _headings(under_old), _headings(under_new)
    return _are_nested(one, two) if one and two else one == two


def are_apart(under_old: str, under_new: str) -> bool:
    """Return whether the headings above two statements, without dates, name two things."""
    one, two = _headings(under_old), _headings(under_new)
    return bool(one and two) and not _are_nested(one, two)


def says_the_same(one: str, other: str) -> bool:
    """Return whether two similar texts state the same fact in different words.

    They may have the same words, with the names in the same order. Or they share a number or
    identifier, and the words of one include those of the other. Lists and long texts are not
    compared, and the result for them is true.
    """
    first, second = read(one), read(other)
    if not (first.words and second.words):
        return True
    turns = ((r.negations % 2, r.times, _digits_of(r)) for r in (first, second))
    if len(set(turns)) > 1:
        return False
    if first.content == second.content:
        return [s for s in first.stems if s in first.names] == [
            s for s in second.stems if s in second.names
        ]
    if not (_digits_of(first) and first.names | second.names in (first.names, second.names)):
        return False
    less, more = sorted((first.content, second.content), key=len)
    return less < more and 2 * len(less) >= len(more)


def _digits_of(reading: Reading) -> frozenset[str]:
    return frozenset(word for word in reading.content if any(map(str.isdigit, word)))
