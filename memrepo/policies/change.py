"""Decide whether a newer statement replaces or contradicts an older one.

Four structures are recognised:

- one key with two values;
- one sentence with two values in the same position;
- a statement that names what has ended;
- a statement that names the value it replaces.

Both statements must name the same subject and be valid for the same time. Statements with different
names are about different subjects. Any less certain case changes nothing.

The phrases of each language are in the section `change` of its table (docs/languages.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from memrepo.core.memory import Memory, Source
from memrepo.core.patterns import regex
from memrepo.policies.standing import contradicts
from memrepo.text.languages import ENGLISH, bare, language_asked, small_words, tables
from memrepo.text.languages import table as language_table
from memrepo.text.words import terms

if TYPE_CHECKING:
    from memrepo.core.judge import Newer, PriorClaim

MAX_WORDS = 60
"""Longer texts are not single statements and are not compared."""
MAX_VALUE_WORDS = 15
ONE_NAME = "is"
"""The predicate of sentences like `The owner of billing is Lin`: a definite subject and a name."""
MIN_COVER = 0.5
"""A statement that ends another must repeat at least this share of its words."""
MIN_SHARED_CONTENT = 0.6
"""Statements without a common key are about one subject if they share this part of their words."""
MAX_VALUES = 5
"""If more statements than this share a key or a sentence, they are items of a list."""

_WIDE = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = regex(f"[{_WIDE}]|[^\\W_{_WIDE}]+(?:[-._/:@+#&'’][^\\W_{_WIDE}]+)*%?|[$€£¥]|[^\\w\\s]")
_NOT = regex(r"(?<=\w)n['’]t\b|(?<=\bcan)not\b", re.IGNORECASE)
_EITHER = regex(r"(?<![\w/.-])([^\W\d_]{3,})/([^\W\d_]{3,})(?![\w/.-])")
_POSSESSIVE = regex(r"['’]s$")
_MARKUP = regex(r"\*\*|__|~~|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|^\s*(?:[-*+]|\d+[.)])\s+")
_KEYED = regex(r"^[\W_]*([^\W_][^:：\n]{0,58}?)\s*[:：](?!//)(?:\s+|(?<=：))(\S.*)$", re.DOTALL)
_BREAK = regex(r"[.;!?。；！？]\s+\S|[。；！？]\S|\n\s*\n")
_QUOTED = regex(r"[\"“„«「]\s*\S+(?:\s+\S+){2,}")
_ELIDED = regex(r"(?<!\w)(\w|qu)['’](?=\w\w)", re.IGNORECASE)
_SCRIPTS = (
    (regex("[\u3040-\u30ff]"), "japanese"),
    (regex("[\uac00-\ud7af]"), "korean"),
    (regex("[\u3400-\u9fff]"), "chinese"),
)
_ENDINGS = ("ing", "ed", "s")
_PAUSE = frozenset(",;.:()!?，。；：（）！？、")


class StatementChange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The effect of a newer statement on an older one.

    `stated` is true if the newer statement names what has ended. Otherwise it only has another
    value. `cover` is the share of the older statement's words that it repeats. `is_event` is true
    if both statements may report events that were true on their days.
    """

    reason: str
    stated: bool = False
    is_event: bool = False
    cover: float = 1.0


class Table(msgspec.Struct, frozen=True, eq=False):
    """The compiled phrases of one language, from section `change` of the language's table."""

    now: re.Pattern[str]
    ended: re.Pattern[str]
    corrected: re.Pattern[str]
    replaced: tuple[re.Pattern[str], ...]
    excepted: re.Pattern[str]
    open: re.Pattern[str]
    negation: frozenset[str]
    bounds: frozenset[str]
    """Words that introduce a limit on a value: a time, a place, a purpose."""
    opposites: Mapping[str, tuple[str, int]]
    """Map each word to its pair of opposites and its side in that pair."""
    definite: frozenset[str]
    """Words that introduce a unique thing (`the`, `our`)."""
    copula: frozenset[str]
    articles: frozenset[str]
    auxiliary: frozenset[str]
    """Auxiliary words that accompany a negation."""
    times: frozenset[str]
    labels: frozenset[str]
    """Words that form a name with a number (`week 9`, `floor 2`)."""
    lists: frozenset[str]
    """Keys that may have several values."""
    small: frozenset[str]


class Reading(msgspec.Struct, frozen=True, gc=False):
    """The features of a statement that are compared with those of another statement.

    Statements that may give the same thing different values have a common entry in `keys`. `ended`
    has the words of a statement that ends something, without the ending phrase. `replaced` has
    pairs of an old and a new value.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    names: frozenset[str]
    times: frozenset[str]
    key: str
    value: tuple[str, ...]
    predicate: str
    subject: tuple[str, ...]
    object: tuple[str, ...]
    polarity: str
    keys: tuple[str, ...]
    ended: frozenset[str] | None
    corrects: bool
    replaced: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    excepts: bool
    is_open: bool

    @property
    def numbered(self) -> frozenset[str]:
        """Return the statement's names made of a word and a number (`week 9`, `floor 2`)."""
        return frozenset(time for time in self.times if " " in time)


_NONE = Reading(
    words=(), content=frozenset(), names=frozenset(), times=frozenset(), key="", value=(),
    predicate="", subject=(), object=(), polarity="", keys=(), ended=None, corrects=False,
    replaced=(), excepts=False, is_open=True,
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
        replaced=tuple(_any_of([phrase]) for phrase in found.get("replaced", ())),
        negation=frozenset(word for phrase in found.get("negation", ()) for word in _cut(phrase)),
        bounds=frozenset(word for phrase in found.get("bounds", ()) for word in _cut(phrase)),
        opposites={
            word: (pair[0], side)
            for pair in found.get("opposites", ())
            for side, words in enumerate(pair)
            for word in words.split()
        },
        lists=frozenset(_plain(key) for key in found.get("lists", "").split(",")),
        small=small_words().get(language, frozenset()),
    )


_PHRASES = ("now", "ended", "corrected", "excepted", "open")
_WORDS = ("definite", "copula", "articles", "auxiliary", "times", "labels")


@cache
def _predicates() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern for the predicates of all languages, and a map of predicates to meanings."""
    meanings: dict[str, str] = {}
    for _, found in tables("change"):
        for mark, key in (("", "single"), ("~", "choice")):
            rows = found.get(key, ())
            meanings |= {" ".join(_cut(p)): f"{mark}{row[0]}" for row in rows for p in row}
    return _any_of(meanings), meanings


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the phrases in tokens joined by blanks."""
    rows = (map(_part, phrase.split()) for phrase in sorted(phrases, key=len, reverse=True))
    found = "|".join(" ".join(row) for row in rows)
    return re.compile(rf"(?<!\S)(?:{found or '(?!)'})(?!\S)")


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
    plain = _MARKUP.sub("", unicodedata.normalize("NFKC", text)).strip()
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
    predicate, subject, object_ = _predicate_of(joined, names, of)
    polarity, frame = _frame_of(words, of)
    times = _times_of(words, of)
    ended, corrects = _ended_in(joined, of)
    return Reading(
        words=words,
        content=_content(words, of),
        names=names,
        times=times,
        key=key,
        value=value,
        predicate=predicate,
        subject=subject,
        object=object_,
        polarity=polarity,
        keys=_keys(key, predicate, subject, frame),
        ended=ended,
        corrects=corrects,
        replaced=tuple(_replaced_in(joined, of)),
        excepts=bool(of.excepted.search(joined)),
        is_open="?" in plain
        or "？" in plain
        or bool(_QUOTED.search(plain) or of.open.search(joined)),
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
    key, value = _plain(found[1]), _bare(_without(of.now, " ".join(_cut(found[2]))), of)
    if not key or key in of.lists or len(value) > MAX_VALUE_WORDS:
        return "", ()
    if all(_is_time(word, of) or word.isdigit() for word in key.split()):
        return "", ()
    return key, value


def _predicate_of(
    joined: str, names: frozenset[str], of: Table
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Find a predicate that allows one value only. Return its meaning, subject and value."""
    pattern, meanings = _predicates()
    found = pattern.search(joined)
    if found and not _PAUSE.intersection(joined[: found.start()].split()):
        subject = _bare(joined[: found.start()], of)
        value = _bare(re.split(r" ?[.;。；](?: |$)", joined[found.end() :])[0], of)
        if value and len(subject) <= 6 and len(value) <= MAX_VALUE_WORDS:
            return meanings[found[0]], subject, value
    words = joined.split()
    if words[0] in of.definite and not of.copula.isdisjoint(words):
        at = next(n for n, word in enumerate(words) if word in of.copula)
        subject, value = (_bare(" ".join(side), of) for side in (words[:at], words[at + 1 :]))
        if len(value) == 1 and _stem(value[0]) in names and len(_content(subject, of)) > 1:
            return ONE_NAME, subject, value
    return "", (), ()


def _frame_of(words: tuple[str, ...], of: Table) -> tuple[str, tuple[str, ...]]:
    """Return the polarity of a sentence, and its words without negations and numbers."""
    negated = sum(word in of.negation for word in words)
    turns, frame = [], []
    for word in words:
        if word in of.negation or word in of.auxiliary:
            continue
        if pair := of.opposites.get(word):
            turns.append(f"{pair[1]}")
            frame.append(pair[0])
        else:
            frame.append("0" if word[0].isdigit() else _stem(word))
    return f"{negated % 2} {' '.join(turns)}", tuple(frame)


def _keys(
    key: str, predicate: str, subject: tuple[str, ...], frame: tuple[str, ...]
) -> tuple[str, ...]:
    found = [f"k {key}"] if key else []
    found += [f"p {predicate} {' '.join(map(_stem, subject))}"] if predicate else []
    if 2 < len(frame) <= MAX_WORDS // 2:
        found.append(f"f {' '.join(frame)}")
    return tuple(found)


def _ended_in(joined: str, of: Table) -> tuple[frozenset[str] | None, bool]:
    """Return the content words of a statement that ends another, and whether it is a correction."""
    corrects = bool(of.corrected.search(joined))
    rest = _without(of.corrected, joined)
    rest, count = of.ended.subn(lambda m: f" {' '.join(filter(None, m.groups()))} ", rest)
    if not (count or corrects):
        return None, False
    return _content(_bare(rest, of), of), corrects


def _replaced_in(joined: str, of: Table) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield (replaced value, replacement) pairs from a statement.

    If the phrase does not contain the replacement, the word before the phrase is the replacement.
    """
    for pattern in of.replaced:
        for found in pattern.finditer(joined):
            groups, before = found.groupdict(), joined[: found.start()].split()
            old, new = _bare(groups["old"], of), groups.get("new")
            if new is not None:
                yield old, _bare(new, of)
            elif before:
                yield from ((old[:size], _bare(before[-1], of)) for size in range(len(old), 0, -1))


# -- comparing two -------------------------------------------------------------------------------


def change_of(
    old: PriorClaim, new: PriorClaim, *, together: bool = False
) -> StatementChange | None:
    """Return how a newer statement changes an older one, or None if both may be true.

    `together` is true if both are lines of one version of a file. Such lines only change each other
    if one states that the other has ended.
    """
    one, two = read(old.text), read(new.text)
    if one.is_open or two.is_open or one.words == two.words:
        return None
    if found := _change_that_ends(one, two, old, new):
        return found
    if together or one.ended is not None:
        return None
    return _another_value(one, two, old, new)


def _change_that_ends(
    one: Reading, two: Reading, old: PriorClaim, new: PriorClaim
) -> StatementChange | None:
    if one.times and two.times and not two.times <= one.times:
        return None
    if two.ended and one.ended is None:
        shared = two.ended & one.content
        cover = len(shared) / max(len(one.content), 1)
        is_whole = two.ended <= one.content and (len(shared) > 1 or two.corrects)
        is_named = len(shared) > 2 or _is_same_context(old, new, shared & (one.names | two.names))
        if is_whole and is_named and cover >= MIN_COVER:
            is_sure = not two.corrects or cover == 1
            return StatementChange(
                reason="a newer line says that it is over", stated=is_sure, cover=cover
            )
    for value, instead in two.replaced:
        if found := _change_of_value(one, two, value, instead):
            return found
    return None


def _change_of_value(
    one: Reading, two: Reading, value: tuple[str, ...], instead: tuple[str, ...]
) -> StatementChange | None:
    """Return the change if the newer statement replaces a value in the older one, else None."""
    if not instead or not _holds(one.words, value) or _holds(one.words, instead[:1]):
        return None
    left = frozenset(map(_stem, (*value, *instead)))
    if not left & (one.content | one.names):
        return None
    if (one.names - two.names - left) and (two.names - one.names - left):
        return None  # the statements have different subjects
    rest, known = two.content - left, one.content - left
    shared = rest & known
    if not shared:
        return None
    cover = len(shared) / len(known)
    if cover < MIN_COVER:
        return None
    return StatementChange(
        reason="a newer line says that the old value was replaced", stated=True, cover=cover
    )


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    size = len(part)
    return size > 0 and any(words[at : at + size] == part for at in range(len(words) - size + 1))


def _another_value(
    one: Reading, two: Reading, old: PriorClaim, new: PriorClaim
) -> StatementChange | None:
    shared = set(one.keys) & set(two.keys)
    if one.key and f"k {one.key}" in shared:
        if _is_same_heading(old, new, one.key) and _excludes(one.value, two.value):
            return StatementChange(reason="the same key has another value", is_event=True)
        return None
    if any(key.startswith("p ") for key in shared):
        named = one.subject and set(map(_stem, one.subject)) & (one.names | two.names)
        is_choice = one.predicate.startswith("~")
        same = _is_same_context(old, new, named or len(one.subject) > 1)
        if same and _excludes(one.object, two.object, is_choice=is_choice):
            is_event = one.predicate == ONE_NAME
            reason = f"another value of “{one.predicate.removeprefix('~')}”"
            return StatementChange(reason=reason, is_event=is_event)
        return None
    if any(key.startswith("f ") for key in shared):
        return _turned(one, two) if _is_same_context(old, new, len(one.content) > 1) else None
    return None


def _turned(one: Reading, two: Reading) -> StatementChange | None:
    """Return the change if two sentences differ only in polarity or in one number, else None."""
    if one.polarity != two.polarity:
        return (
            StatementChange(reason="another line states the opposite", is_event=True)
            if one.times == two.times
            else None
        )
    if one.times != two.times or len(one.words) != len(two.words):
        return None
    apart = [(a, b) for a, b in zip(one.words, two.words, strict=True) if _stem(a) != _stem(b)]
    if len(apart) != 1 or not all(word[0].isdigit() for word in apart[0]):
        return None
    if _unit(apart[0][0]) != _unit(apart[0][1]):
        return None
    return StatementChange(reason="another line gives another number for it", is_event=True)


def _unit(number: str) -> str:
    """Return a number with each group of digits replaced by 0, to compare units and signs."""
    return re.sub(r"\d+(?:[.,]\d+)*", "0", number)


def _excludes(one: tuple[str, ...], two: tuple[str, ...], *, is_choice: bool = False) -> bool:
    """Return whether two values cannot both be true.

    Their limits must be equal, and neither value may contain the other. Two choices must also share
    a word: tea and trains are separate choices.
    """
    bounds = _bounds_of(one), _bounds_of(two)
    first, second = one[: len(one) - len(bounds[0])], two[: len(two) - len(bounds[1])]
    heads = frozenset(map(_stem, first)), frozenset(map(_stem, second))
    if bounds[0] != bounds[1] or not all(heads):
        return False
    if is_choice:
        return first != second and not heads[0].isdisjoint(heads[1])
    return not (heads[0] <= heads[1] or heads[1] <= heads[0])


@cache
def _every_bound() -> frozenset[str]:
    return frozenset(word for language, _ in tables("change") for word in table(language).bounds)


def _bounds_of(value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the part of a value that starts at the first word for a time, place or purpose."""
    bounds = _every_bound()
    return next((value[at:] for at, word in enumerate(value) if at and word in bounds), ())


_FILES = frozenset("memory rtmemory ltmemory user tools identity agents claude notes log".split())
_DAY = regex(r"\d{4}-\d\d.*")


def _headings(under: str) -> tuple[str, ...]:
    """Return the headings above a statement, except days and common file names."""
    written = (part.strip() for part in re.split(r" [›–] ", under))
    parts = (_plain(part) for part in written if not _DAY.fullmatch(part))
    return tuple(part for part in parts if part and part not in _FILES)


def _are_nested(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return whether the longer sequence of headings ends with the shorter one."""
    size = min(len(one), len(two))
    return one[len(one) - size :] == two[len(two) - size :]


def _is_same_heading(old: PriorClaim, new: PriorClaim, key: str) -> bool:
    """Return whether two statements with the same key are below the same heading."""
    one, two = _headings(old.under), _headings(new.under)
    if not (one and two):
        return one == two and " " in key
    return _are_nested(one, two)


def _is_same_context(old: PriorClaim, new: PriorClaim, is_named: object) -> bool:
    """Return whether two statements have the same headings, or name their subject in the text."""
    one, two = _headings(old.under), _headings(new.under)
    return _are_nested(one, two) if one and two else one == two or bool(is_named)


def is_same_thing(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether two (statement, headings) pairs have the same subject.

    They must share a key, a predicate with its subject, or all words except numbers. Otherwise they
    must share most of their words, and at most one of them may have names that the other lacks.
    """
    first, second = read(one[0]), read(other[0])
    if first.times != second.times or first.words == second.words:
        return False
    if set(first.keys) & set(second.keys):
        return _are_nested(_headings(one[1]), _headings(other[1]))
    if (first.names - second.names) and (second.names - first.names):
        return False
    shared, every = first.content & second.content, first.content | second.content
    return len(shared) > 1 and len(shared) >= MIN_SHARED_CONTENT * len(every)


def says_the_same(one: str, other: str) -> bool:
    """Return whether two similar texts state the same fact in different words.

    They may have the same words, with the names in the same order. Or they share a number or
    identifier, and the words of one include those of the other. Lists and long texts are not
    compared, and the result for them is true.
    """
    first, second = read(one), read(other)
    if not (first.words and second.words):
        return True
    turns = ((r.polarity, r.times, r.excepts, _digits_of(r)) for r in (first, second))
    if len(set(turns)) > 1:
        return False
    if first.content == second.content:
        return _names_in_order(first) == _names_in_order(second)
    if not (_digits_of(first) and first.names | second.names in (first.names, second.names)):
        return False
    less, more = sorted((first.content, second.content), key=len)
    return less < more and 2 * len(less) >= len(more)


def _digits_of(reading: Reading) -> frozenset[str]:
    return frozenset(word for word in reading.content if any(map(str.isdigit, word)))


def _names_in_order(reading: Reading) -> list[str]:
    return [stem for word in reading.words if (stem := _stem(word)) in reading.names]


Basis = Literal["dated", "later", ""]
"""How the newer statement was found: by a day in a text, heading or file name, by order, or not."""
_EXPLICIT = ("unit", "heading", "file")
_T = TypeVar("_T")


def newer_of(first: Iterable[Source], second: Iterable[Source]) -> tuple[Newer, Basis]:
    """Return which of two statements is newer, and whether a date or only the order shows it."""
    one, two = tuple(first), tuple(second)
    days = _day(one), _day(two)
    seen = _seen(one), _seen(two)
    if days[0] and seen[1] and days[0] > seen[1]:
        return "first", "dated"
    if days[1] and seen[0] and days[1] > seen[0]:
        return "second", "dated"
    if all(seen) and seen[0] != seen[1]:
        return ("first" if seen[0] > seen[1] else "second"), "later"
    places = {s.resource: s.lines for s in one}, {s.resource: s.lines for s in two}
    for resource in places[0].keys() & places[1].keys():
        lines = places[0][resource], places[1][resource]
        if lines[0] != lines[1]:
            return ("first" if lines[0] > lines[1] else "second"), "later"
    return "unknown", ""


def is_dated(sources: Iterable[Source]) -> bool:
    """Return whether the date of any source comes from its text, a heading or its file name."""
    return bool(_day(sources))


def same_place(first: Iterable[Source], second: Iterable[Source]) -> bool:
    """Return whether two statements share a source: the same file, text and lines."""
    places = {(s.resource, s.text_hash, s.lines) for s in first if s.text_hash}
    return any((s.resource, s.text_hash, s.lines) in places for s in second)


def _day(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources if s.captured_from in _EXPLICIT), default="")


def _seen(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources), default="")


MIN_SHARED = 0.4
"""Two memories about one subject share at least this part of the shorter one's words."""


def newer_first(
    hits: Sequence[_T], memories: Sequence[Memory], asked: frozenset[str] = frozenset()
) -> list[tuple[_T, tuple[Memory, ...]]]:
    """Reorder search hits: of two hits with the same subject, the newer one comes first.

    The two hits swap positions. Each hit is returned with the older memories about its subject. An
    older memory stays first if it has a query word that the newer one lacks, unless the two
    contradict each other.
    """
    order = list(range(len(hits)))
    older: dict[int, list[Memory]] = {}
    for at, one in enumerate(memories):
        for other in range(at + 1, len(memories)):
            both = one.standing == memories[other].standing == "contested"
            is_contested = both and contradicts(one, memories[other])
            if not (is_contested or _are_alike(one, memories[other])):
                continue
            newer = newer_of(one.sources, memories[other].sources)[0]
            if newer == "unknown":
                continue
            new, old = (at, other) if newer == "first" else (other, at)
            older.setdefault(new, []).append(memories[old])
            first, second = order.index(at), order.index(other)
            only_old = asked.intersection(terms(memories[old].body)).difference(
                terms(memories[new].body)
            )
            if first < second and new == other and (is_contested or not only_old):
                order[first], order[second] = other, at
    return [(hits[n], tuple(older.get(n, ()))) for n in order]


def _are_alike(one: Memory, other: Memory) -> bool:
    """Return whether two memories have the same subject and enough common words."""
    if one.is_note or other.is_note:
        return False
    words = frozenset(terms(one.body)), frozenset(terms(other.body))
    if len(words[0] & words[1]) < MIN_SHARED * min(map(len, words)):
        return False
    under = [memory.text("context") for memory in (one, other)]
    return is_same_thing((one.body, under[0]), (other.body, under[1]))
