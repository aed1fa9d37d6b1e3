"""Find secrets in a text by their published format, or after a label such as `password:`.

The tables are in `secret_rules/`. `gitleaks.tsv` and `forms.tsv` contain formats. A format is
searched only in lines that contain one of its words. `labels.txt` contains the words that name a
secret, in several languages, and `patterns.tsv` the shapes of values and of the sentences around
them. The value after a label is classified by its shape and by how it is stated. Values stated
elsewhere are found by weights that were learned from examples.
Every pattern runs in linear time: repetitions are bounded, or possessive over single
characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, takewhile
from math import log2
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from memrepo.core.ids import digest
from memrepo.core.patterns import compiled, kept, regex

Span = tuple[int, int]
Find = tuple[int, int, str]
"""(start, end, kind) of a secret."""
FOLDER = Path(__file__).parent / "secret_rules"
SWITCHED = ("card", "iban", "pin", "seed-phrase", "totp")
"""Kinds that an owner may want to remember, and can disable (`secrets.off`)."""

# -- forms -----------------------------------------------------------------------------------

_WHOLE = ("card", "iban")
"""Kinds whose formats match the whole value."""
_MIN_ENTROPY = 3.2
"""The minimum entropy of a key in bits per character. Words and names have less."""
_MIN_CARD_DIGITS = 4
"""The minimum number of different digits. Card numbers with fewer are from tests or forms."""


@cache
def tables() -> tuple[str, ...]:
    """Return the text of all rule tables. If it changes, files must be checked again."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir()))


class Form(NamedTuple):
    """A published format of a secret: its kind, its pattern, and words in each matching line."""

    kind: str
    words: tuple[str, ...]
    entropy: float
    spelled: str
    lines: bool
    """Whether the format spans several lines."""

    def search(self) -> Callable[[str, int, int], Iterator[re.Match[str]]]:
        """Return a cached function that searches a part of a text for this format."""
        return _compiled(self.spelled)


@cache
def _compiled(spelled: str) -> Callable[[str, int, int], Iterator[re.Match[str]]]:
    if spelled.startswith("{TOKEN}"):
        spelled = "{START}(?:" + spelled.removeprefix("{TOKEN}") + "){STOP}"
    return compiled(_spelled_out(spelled), re.ASCII).finditer


@cache
def _spellings() -> Mapping[str, tuple[str, str]]:
    """Return {name: (flags, pattern)} of `patterns.tsv`."""
    rows = (FOLDER / "patterns.tsv").read_text(encoding="utf-8").splitlines()
    found = (row.split("\t") for row in rows if not row.startswith("#"))
    return {name: (flags, spelled) for name, flags, spelled in found}


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `patterns.tsv`, compiled when it is first used."""
    flags, spelled = _spellings()[name]
    chosen = (re.IGNORECASE if "i" in flags else 0) | (re.MULTILINE if "m" in flags else 0)
    return compiled(_spelled_out(spelled), chosen)


def _spelled_out(spelled: str) -> str:
    return kept((spelled, _digest_of_tables()), lambda: _expanded(spelled))


@cache
def _digest_of_tables() -> str:
    return digest(tables())


def _expanded(spelled: str) -> str:
    """Return a pattern with what its `{name}` stand for: words, or patterns (see the tables)."""

    def expand(match: re.Match[str]) -> str:
        name = match[1]
        if name.isupper():
            return _expanded(_spellings()[name.lower()][1])
        return "|".join(_section(name[:-1])) if name[-1] == "*" else _any(_section(name))

    return re.sub(r"\{([A-Z]+|[a-z]+(?:-[a-z]+|\*)?)\}", expand, spelled)


@cache
def forms() -> tuple[Form, ...]:
    """Return all formats of the tables. If several match a value, the first one applies."""
    found: list[Form] = []
    for name in ("forms.tsv", "gitleaks.tsv"):
        for row in (FOLDER / name).read_text(encoding="utf-8").splitlines():
            if row.startswith("#"):
                continue
            kind, words, entropy, spelled = row.split("\t")
            pattern = spelled.removeprefix("{LINES}")
            listed = tuple(filter(None, words.split(",")))
            found.append(Form(kind, listed, float(entropy or 0), pattern, pattern != spelled))
    return tuple(found)


@cache
def _forms_by_word() -> Mapping[str, Sequence[Form]]:
    """Return the formats by each word of theirs. Those without words are under an empty one."""
    found: dict[str, list[Form]] = {}
    for form in forms():
        for word in form.words or ("",):
            found.setdefault(word, []).append(form)
    return found


def formed(text: str, folded: str) -> Iterator[Find]:
    """Yield values that have the format of a secret. `folded` is the text in lower case."""
    once = _each_word_once(folded)
    for word, some in _forms_by_word().items():
        if word not in once and not (" " in word and word in folded):
            continue
        lines = [*_lines_with(folded, word)] if word else ()
        for form in some:
            search = form.search()
            for start, end in [(0, len(text))] if form.lines or not word else lines:
                for match in search(text, start, end):
                    yield from _value_of(form, text, match)


def _each_word_once(folded: str) -> str:
    """Return the words of a text without repeats: what is in none of them is looked for faster."""
    return "\n".join({*folded.split()})


def _value_of(form: Form, text: str, match: re.Match[str]) -> Iterator[Find]:
    number = next((n for n in range(1, len(match.groups()) + 1) if match[n] is not None), 0)
    value, at = match[number], match.start(number)
    if form.kind in ("password", "token") and not (match.lastgroup or "").startswith("words"):
        value = value.rstrip("`'\").,;")
    elif not (form.lines or match.lastgroup or form.kind in _WHOLE) and (
        rest := pattern("rest").match(text, at + len(value))
    ):
        value += rest[0]  # some formats match fewer characters than a key has
    if _has_form(form, value, match.lastgroup):
        yield at, at + len(value), form.kind


def _has_form(form: Form, value: str, group: str | None) -> bool:
    match form.kind:
        case "private-key":
            return True
        case "card":
            return is_card(value)
        case "iban":
            return _is_iban(value)
        case "seed-phrase":
            found = regex(r"[^\W\d_]+").findall(value)
            is_prose = group == "alone" and not entries("prose").isdisjoint(found)
            return len(found) in (12, 15, 18, 21, 24) and not is_prose
        case _ if group == "piece":
            return is_key(value, 10)
        case _ if group == "bytes":
            numbers = [int(one) for one in value.split(",")]
            return max(numbers) > 99 and numbers != sorted(numbers)
        case _ if group == "groups":
            return _are_random_groups(value)
        case _ if group and group.startswith("odd"):
            return len(value) >= 6 and _is_secret_word(value)
        case _ if group == "paired":  # the user's name before it says that this is the password
            return not is_placeholder(value)
        case "password" | "token" if pattern("pointer").fullmatch(value):
            return False
        case _:
            pass
    if is_placeholder(value):
        return False
    return (
        is_random(value, max(form.entropy, 3))
        if "{SEP}" in form.spelled
        else (group != "long" or is_random(value))
    )


# -- named values ----------------------------------------------------------------------------

_QUOTES = dict(zip("\"'`“„«「『‘", "\"'`”“»」』’", strict=True))
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<"}

_DIGITS = ("pin", "enter", "lockbox")
"""The sorts whose values are a few digits."""
_SPOKEN = ("password", "pass", "secret")
_MAX_APART = 60
"""The maximum number of characters between a label and a value that no sign or verb connects."""
_KINDS = {"cvv": "card", "card": "card"} | dict.fromkeys(_DIGITS, "pin")
_KINDS |= dict.fromkeys(("credentials", "password", "pass", "login", "reset", "unlock"), "password")
_SORTS = (
    *("password", "pass", "unlock", "key", "token", "secret", "weak", "pin", "enter", "lockbox"),
    *("cvv", "card", "login", "reset", "credentials"),
)


@cache
def _sections() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    name = ""
    for line in (FOLDER / "labels.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            name = line[1:-1]
        elif line and not line.startswith("# "):
            items = [line] if name.endswith("*") else line.removesuffix(",").split(", ")
            found.setdefault(name.removesuffix("*"), []).extend(items)
    return found


@cache
def _section(name: str) -> tuple[str, ...]:
    """Return the entries of a section of `labels.txt`, or those of a kind: `is-wide`."""
    name, _, kind = name.partition("-")
    if name == "label":
        every = tuple(word for sort in _SORTS for word in _section(sort))
        plain = (word for word in every if word[0] != "*")
        found: Iterable[str] = every if kind == "wide" else plain
        found = (word for word in every if word[0] == "*") if kind == "ending" else found
    else:
        found = _sections()[name]
    keep: Callable[[str], bool] = {
        "plain": lambda word: not _is_wide(word),
        "ending": lambda word: not _is_wide(word),
        "inflected": lambda word: len(word) > 4 and not _is_wide(word) and "pass" not in word,
        "wide": _is_wide,
        "long": lambda word: len(word) > 4 and not _is_wide(word),
    }.get(kind, bool)
    return tuple(word.lstrip("*") if kind else word for word in found if keep(word))


def _any(words: Iterable[str]) -> str:
    """Return a pattern that matches any of the words, trying longer words first.

    Blanks in words are optional. The pattern is a tree, as most words differ in the first letters.
    """
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for char in " ".join(word.split()):
            node = node.setdefault("[ _-]?" if char == " " else re.escape(char), {})
        node[""] = {}

    def spelled(node: dict[str, Any]) -> str:
        parts = [char + spelled(rest) for char, rest in node.items() if char]
        if len(parts) == 1 and "" not in node:
            return parts[0]
        return f"(?:{'|'.join(parts)}){'?' * ('' in node)}" if parts else ""

    return f"(?:{spelled(tree)})"


def _is_wide(word: str) -> bool:
    """Return whether a word is written in a script without blanks between words."""
    return word.lstrip("*")[0] >= "\u3001"


@cache
def entries(*names: str) -> frozenset[str]:
    """Return the entries of sections of `labels.txt` as a set."""
    return frozenset(word for name in names for word in _section(name))


@cache
def _sort_by_label() -> Mapping[str, str]:
    return {_bare(word.lstrip("*")): sort for sort in _SORTS for word in _section(sort)}


def _bare(word: str) -> str:
    return re.sub(r"[ _-]", "", word)


def _sort_of(label: str) -> str:
    """Return the kind of value named by a label. A word for a code with one for a lock is a pin."""
    known = _sort_by_label()
    if label in entries("code"):
        return "code"
    label = _bare(label).rstrip("0123456789")
    tries = (label[: len(label) - n] for n in range(5))
    sort = next((known[word] for word in tries if word in known), "pin")
    return "pin" if sort == "lockbox" and label.endswith(_section("code")) else sort


@lru_cache(maxsize=1)
def labels_by_line(folded: str) -> Sequence[tuple[int, int, Sequence[tuple[int, int, str]]]]:
    """Return the lines that have labels: start, end, and the span and sort of each label."""
    return [
        (start, end, [(*label.span(), _sort_of(label[0])) for label in found])
        for start, end in _labelled_lines(folded)
        if (found := [*pattern("label").finditer(folded, start, end)])
    ]


def labelled(text: str, folded: str) -> Iterator[Find]:
    """Yield the values that follow a label. `folded` is the text in lower case."""
    for start, end, labels in labels_by_line(folded):
        for begin, at, _ in labels:
            sort = _sort_in_line(folded, start, begin, at, end)
            is_code, sort = sort == "code", sort.replace("code", "pin")
            before = folded[max(start, begin - 24) : begin]
            if sort in ("token", "secret", "weak", "pin") and pattern("harmless").search(before):
                continue
            if sort in _SPOKEN and pattern("misnamed").match(folded, at, end):
                continue
            for spot in _after(text, folded, begin, at, end, sort, is_code=is_code):
                yield (*spot, _KINDS.get(sort, "token"))


@cache
def _stems() -> tuple[Mapping[str, tuple[str, ...]], frozenset[str], frozenset[str]]:
    """Return the starts of words that labels have, by two letters, whole words, and other parts."""
    labels = [word for sort in _SORTS for word in _section(sort)]
    labels += [f"*{word}" for word in _section("code")]
    known, heads = frozenset(labels), dict[str, tuple[str, ...]]()
    whole, inner = set(), set()
    for label in labels:
        *parts, last = label.lstrip("*").split()
        joined = "".join((*parts, last))
        if label[0] == "*" or _is_wide(label) or not joined.isalnum():
            inner.add(max((*parts, last), key=len))
            continue
        *others, longest = sorted((*parts, last), key=len)
        for head in {joined, longest if longest == last else joined}:  # of a short word before
            heads[head[:2]] = (*heads.get(head[:2], ()), head)
        if others and last != longest and last not in known:
            whole.add(longest)
    return heads, frozenset(whole), frozenset(inner)


def _labelled_lines(folded: str) -> Sequence[Span]:
    """Return the sorted spans of lines that may have a label."""
    heads, whole, inner = _stems()
    words = set(regex(r"[^\W_]{2,}").findall(folded))
    once = _each_word_once(folded)
    starts = (w for w in words if w in whole or w.startswith(heads.get(w[:2], ())))
    found = {line for word in starts for line in _lines_with(folded, word, begins=True)}
    return sorted(found.union(*(_lines_with(folded, part) for part in inner if part in once)))


def _sort_in_line(folded: str, line: int, begin: int, at: int, end: int) -> str:
    """Return the kind of value that a label names where it is, or "" if it names none."""
    sort = _sort_of(folded[begin:at])
    before = pattern("word_before").search(folded, max(line, begin - 24), begin)
    near = max(line, begin - 2 * _MAX_APART), min(end, at + 2 * _MAX_APART)
    if sort == "weak":
        is_network = pattern("network").search(folded, *near)
        is_access = folded[begin:at] == "clave" and pattern("access").search(folded, *near)
        return "password" if is_network or is_access else sort
    if not folded[begin:at].startswith(_section("code")):
        return sort
    other = pattern("other_code").match(folded, at, end)
    if other and (sort == "code" or not other[1]):
        return ""
    # A code is for a lock on the same line, and is none of another noun: a zip code.
    if before is not None and before[1] in entries("other"):
        return ""
    if sort == "code":
        is_for_lock = pattern("for_lock").search(folded, *near) or pattern("code_of").match(
            folded, at, end
        )
        return sort if is_for_lock else ""
    other = pattern("compound").match(folded, at, end)  # `code of the building plan:`
    if other is None or not folded.startswith(("code of", "code for"), begin):
        return sort
    return sort if other[1] in entries("prose", "with", "of") else ""


def _lines_with(folded: str, word: str, *, begins: bool = False) -> Iterator[Span]:
    """Yield the spans of lines that contain a text, or in which a word begins with it."""
    at = folded.find(word)
    while at >= 0:
        end = at + 1
        if not (begins and at and folded[at - 1].isalnum()):
            end = _line_end(folded, at)
            yield folded.rfind("\n", 0, at) + 1, end
        at = folded.find(word, end)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _after(
    text: str, folded: str, begin: int, at: int, end: int, sort: str, *, is_code: bool = False
) -> Iterator[Span]:
    """Yield the value that follows a label on the same line."""
    if sort in ("", "login", "reset", "credentials", "lockbox", "enter"):
        return
    sort = "pass" if sort == "unlock" else sort
    if sort == "card":
        number = pattern("card").search(text, at, min(end, at + 60))
        if number and is_card(number[0]):
            yield number.span()
        return
    stated = pattern("stated").match(folded, at, end)
    how = "bare" if stated is None else "sign" if stated["sign"] else "word"
    begins = stated or pattern("bare").match(folded, at, end)
    row = stated and "|" in stated[0]
    if begins is None or (
        row and (not _is_row(text, at) or "/" in text[max(0, at - 60) : at].rpartition(" ")[2])
    ):
        return
    near = max(0, begin - _MAX_APART), min(end, at + _MAX_APART)
    if how == "bare" and (
        is_code
        or pattern("before").search(folded, max(0, begin - 20), begin)
        or (sort == "pin" and pattern("for_lock").search(folded, *near))
    ):
        how = "with"
    label = "phrase" if begins[0] == "=" else folded[max(0, at - 12) : at]
    if (
        sort == "password"
        and how != "bare"
        and (phrase := _phrase_at(text, begins.end(), end, label))
    ):
        yield phrase
        return
    value = _value_at(text, begins.end(), end, equals=how == "sign" and begins[0] == "=")
    if sort == "pin" and how == "bare" and folded[at - 1] == "s":
        return  # several pins are those of a plug
    opening = pattern("open").match(text, begins.end(), end) if sort == "pin" else None
    if opening and (pin := pattern("pin").match(text, opening.end(), end)):
        value = _Value(*pin.span(), quoted=False)  # blanks may stand between groups of digits
    if value and _is_value(text, value, end, sort, how):
        yield value.start, value.end


def _is_row(text: str, at: int) -> bool:
    return text[max(0, at - 200) : at].rpartition("\n")[2].lstrip().startswith("|")


class _Value(NamedTuple):
    start: int
    end: int
    quoted: bool


def _phrase_at(text: str, at: int, end: int, label: str) -> Span | None:
    """Return the span of a pass phrase of several words, in quotes or after such a label."""
    named = "phrase" in label or "frase" in label or "фраз" in label
    opening = pattern("open").match(text, at, end)
    start = opening.end() if opening else at
    close = _QUOTES.get(text[start - 1 : start]) if start > at else None
    stop = text.find(close, start, min(end, start + 200)) if close else -1
    if stop < 0:
        match = pattern("phrase").match(text, start, end) if named and not close else None
        if match is None:
            return None
        stop = match.end()
    phrase = text[start:stop]
    words = regex(r"[\W_]+").split(phrase.lower())
    several = len(phrase.split()) >= (3 if named or not _is_mixed(phrase) else 2)
    if not several or is_placeholder(phrase) or phrase[:1] in "[({" or set(phrase) & set("<>$\\/"):
        return None  # a command, or what stands for a value
    stated = _is_mixed(phrase) or (named and close)
    if named and close and not entries("telling").isdisjoint(words):
        return None
    prose = entries("rules") if stated else entries("prose", "rules")
    return (start, stop) if prose.isdisjoint(words) else None


def _value_at(text: str, at: int, end: int, *, equals: bool = False) -> _Value | None:
    """Return the value at an offset, without quotes and without the punctuation after it."""
    opening = pattern("open").match(text, at, end)
    start = opening.end() if opening else at
    close = _QUOTES.get(opening[0].rstrip()[-1:]) if opening else None
    if close:
        stop = text.find(close, start, min(end, start + 200))
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if stop > start and not any(map(str.isspace, text[start:stop])):
            return _Value(start, stop - (text[stop - 1] == "\\"), quoted=True)
    match = pattern("value").match(text, start, end)
    if match is None:
        return None
    value, before = match[0], text[max(0, start - 200) : start].rpartition("\n")[2]
    if "|" in value and (_is_row(text, start) or text[start - 1 : start] == "|"):
        value = value.partition("|")[0]
    if equals:
        value = regex(r"[;&](?=\w)|;$").split(value)[0]
    if tag := pattern("tag").search(value):
        value = value[: tag.start()]
    while value and (
        value[-1] in ".,;:\"'`”’»…|\\"
        or (value[-1] in "*_" and value[-1] in before)
        or (value[-1] in _CLOSERS and value.count(value[-1]) > value.count(_CLOSERS[value[-1]]))
    ):
        value = value[:-1]
    return _Value(start, start + len(value), quoted=False) if value else None


def _is_value(text: str, at: _Value, end: int, sort: str, how: str) -> bool:
    """Return whether a word is a value rather than prose, judged by its label and context."""
    value = text[at.start : at.end]
    match sort:
        case "pin":
            pin = pattern("pin").match(text, at.start, end)
            ends = how != "bare" or pattern("ends").match(text, at.end, end)
            is_year = how in ("bare", "with") and pattern("year").match(text, at.start)
            return bool(pin and ends and not is_year and pin.end() == at.end)
        case "secret" if how != "sign" or not _is_odd(value):
            return is_key(value, 0 if how == "sign" else 20) or (
                len(value) >= 8
                and bool(pattern("woven").search(value))
                and not (_stands_for_one(text, at, end) or pattern("pointer").fullmatch(value))
            )
        case "cvv":
            return bool(
                pattern("cvv").fullmatch(text, at.start, at.end)
                and pattern("cvv").match(text, at.start, end)
            )
        case "token" | "weak":
            least = 20 if how == "bare" else 12 if sort == "weak" else 0
            if pattern("suffix").search(value):
                return is_key(pattern("suffix").sub("", value), 12)
            if (
                sort == "weak"
                and how == "sign"
                and len(value) >= 8
                and pattern("signed").search(value)
            ):
                is_whole = at.quoted or pattern("remark").match(text, at.end, end)
                return bool(is_whole and _is_secret_word(value))
            return is_key(value, least) and not (
                sort == "weak" and pattern("uuid").fullmatch(value)
            )
        case _:
            return _is_chosen(text, at, end, sort, how)


def _is_chosen(text: str, at: _Value, end: int, sort: str, how: str) -> bool:
    """Return whether a word is a key or a password, for which there is no form of its own."""
    value = text[at.start : at.end]
    if len(value) < 6 or _stands_for_one(text, at, end) or pattern("pointer").fullmatch(value):
        return False
    if pattern("email").fullmatch(value) or value.lower().strip("0123456789") in entries(
        "ordinary", "rules"
    ):
        return False
    inner = pattern("label").match(value.lower())
    if inner and value[inner.end() : inner.end() + 1] in (":", "="):
        return False  # a nested label, which has its own value
    made_up = _is_made_up(value)
    alone = how == "sign" and bool(
        pattern("remark").match(text, at.end, end) or text[at.start - 1] == "="
    )
    if sort == "key":
        plain = "@*|\\".find(value[0]) < 0 and "*" not in value and "|" not in value
        short = how != "bare" and (alone or at.quoted) and _is_mixed(value) and plain
        woven = len(value) >= 10 and bool(pattern("woven").search(value)) and _is_secret_word(value)
        return short or woven or is_key(value, 16 if how == "bare" else 0)
    if how in ("bare", "with") and sort == "password" and pattern("number").fullmatch(value):
        return True
    if how in ("bare", "with") and sort == "password" and pattern("segments").fullmatch(value):
        ends = text[at.end : at.end + 1] in ".,;" or pattern("remark").match(text, at.end, end)
        is_cased = any(map(str.isupper, value[1:]))
        has_digit = any(map(str.isdigit, value))
        if (is_cased and (ends or has_digit)) or (ends and has_digit):
            return True
        if how == "bare" or ends:
            return how == "with"
    long = sort == "password" and bool(pattern("long_word").fullmatch(value))
    if how == "with":
        alone = bool(pattern("remark").match(text, at.end, end))
        is_speech = at.quoted and value.isalnum() and text[at.start - 1] != "`"
        return is_speech or (made_up and (at.quoted or alone or long or _is_odd(value)))
    if how == "bare" or sort in ("pass", "secret"):
        fits = at.quoted or long or _is_odd(value)
        return made_up and fits and (how != "sign" or alone or at.quoted)
    if made_up or (at.quoted and value.isascii()):
        return True
    named = pattern("plain_word").fullmatch(value) or pattern("day").fullmatch(value)
    return alone and not named


# -- values ----------------------------------------------------------------------------------


def is_key(value: str, piece: int = 0) -> bool:
    """Return whether a value is a key, and not words or a path.

    `piece` is the minimum length of a random part. If 0, the whole value must be random.
    """
    if (
        not pattern("key").fullmatch(value)
        or pattern("address").fullmatch(value)
        or pattern("pointer").fullmatch(value)
        or is_placeholder(value)
    ):
        return False
    if not piece:
        return is_random(value)
    return any(len(p) >= piece and is_random(p, 3.0) for p in regex(r"[-_./~+=]").split(value))


def is_random(value: str, least: float = _MIN_ENTROPY) -> bool:
    """Return whether a value looks random: letters and digits with sufficient entropy."""
    return _is_mixed(value) and not pattern("day").fullmatch(value) and _entropy(value) >= least


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n * log2(n / len(value)) for n in counts) / max(len(value), 1)


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder such as `<your-password>`, `${VAR}` or `changeme`."""
    low = value.lower()
    return bool(
        low in entries("nothing")
        or any(word in low for word in _section("placeholder"))
        or pattern("mask").search(value)
        or sum(map(str.isalnum, pattern("part").sub("", value))) < min(3, len(value))
        or (
            (whole := pattern("shape").match(value))
            and sum(map(str.isalnum, value[whole.end() :])) < 4
        )
    )


def _stands_for_one(text: str, at: _Value, end: int) -> bool:
    """Return whether a value with blanks is a placeholder, such as `{{ vault.password }}`."""
    shape = pattern("shape").match(text, at.start, end)
    rest = text[shape.end() : at.end] if shape else ""
    if regex(r"(?:\.\.\.|…)(?![ \t]\w)").match(text, at.end, end):
        return True  # the truncated start of a key
    return is_placeholder(text[at.start : at.end]) or bool(
        shape and sum(map(str.isalnum, rest)) < 4
    )


def _is_made_up(value: str) -> bool:
    """Return whether a value looks like a password: letters with digits, or special characters."""
    value = value.rstrip("!?")
    if pattern("day").fullmatch(value):
        return bool(pattern("digits").fullmatch(value))
    words = entries("technical")
    if value.lower() in words or words.issuperset(regex(r"[-/+_,()]").split(value.lower())):
        return False
    if pattern("email").fullmatch(value):
        return False
    signs = sum(not char.isalnum() and char not in "-'’./,:()_\"`" for char in value)
    return signs > 0 or _is_mixed(value)


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_odd(value: str) -> bool:
    """Return whether a value looks like a password, and not like another word with digits."""
    signs = any(char in "!@#$%^&*?=~" for char in value[1:-1] + value[-1:].strip("*?~="))
    cased = any(map(str.isupper, value[1:])) and any(map(str.islower, value))
    return (_is_mixed(value) or (signs and cased)) and not pattern("numbered").fullmatch(value)


def is_card(value: str) -> bool:
    """Return whether digits are a card number, by length, first digit and Luhn check digit."""
    digits = [int(char) for char in value if char.isdigit()]
    lengths = {3: (14, 15, 16), 4: (13, 16, 19), 5: (16,), 6: (16, 19)}
    if len(digits) not in lengths.get(digits[0], ()) or len(set(digits)) < _MIN_CARD_DIGITS:
        return False
    doubled = (n * 2 - 9 * (n > 4) for n in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(value: str) -> bool:
    """Return whether a value is a valid IBAN: length by country, and ISO 13616, modulo 97."""
    plain = "".join(filter(str.isalnum, value)).upper()
    if f"{plain[:2]}{len(plain)}" not in entries("iban"):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _are_random_groups(value: str) -> bool:
    """Return whether groups of letters and digits are random: an app password, and not words."""
    groups = regex(r"[\W_]+").split(value)
    if len(groups) == 1:
        groups = [value[at : at + 4] for at in range(0, len(value), 4)]
    return (
        sum(bool(pattern("unpronounceable").search(group)) or _is_mixed(group) for group in groups)
        >= 2
    )


def _is_secret_word(value: str) -> bool:
    """Return whether a word is a password or a key, when only its context suggests one."""
    return not (
        is_placeholder(value)
        or pattern("pointer").fullmatch(value)
        or pattern("uuid").fullmatch(value)
        or pattern("email").fullmatch(value)
    ) and (_is_made_up(value) and _is_odd(value))


# -- surroundings -----------------------------------------------------------------------------
#
# A word, a quote or a group of digits is a candidate if a word for secrets is on its line, on one
# shortly before it, in its heading or in the header of its table. Its traits are its shape, what
# connects it to that word, and what else its line is about. It is a secret if the weights of its
# traits (`secret_rules/weights.tsv`) and the bias add up to more than zero.

_REACH = 120
"""The number of characters around a candidate in which words for secrets count."""
_LINES_BELOW = 4
_LINES_UNDER_TITLE = 40
_MAX_COLUMNS = 20
_LEAST = 4
_LEAST_OF_CARD = 3  # the digits on the back
_MAX_WORDS = 9
_SIGNS = {
    **dict.fromkeys(("password", "pass"), "P"),
    **dict.fromkeys(("key", "token", "secret"), "K"),
    **dict.fromkeys(("pin", "code"), "N"),
    **dict.fromkeys(("cvv", "card"), "C"),
    **dict.fromkeys(("login", "credentials"), "G"),
    "unlock": "U",
    "weak": "W",
    "enter": "E",
    "lockbox": "L",
    "reset": "R",
}
"""A letter for each sort of label. The patterns of `cue` have more."""
_DIGIT_SHAPES = ("num", "code", "combo", "spelled", "turns")
_KEYS = ("key", "hex", "digest", "pairs")
_NEVER = (
    "small",
    "numish",
    "bignum",
    "date",
    "year",
    "unit",
    "version",
    "pointer",
    "email",
    "uuid",
)
"""Shapes that no secret has without a label before it."""
_PLAIN = ("word", "Word", "slug", "upper", "other")
"""Shapes of ordinary words, which are candidates only where a value would be."""
_OPENING = "\"'`“”„«»「『‘’([{<*_~,;:|>="
_QUOTE_SIGNS = "\"'“„«‘「『"
_CLOSING = "\"'`“”„»」』’‘)]}>*_~,.;:|\\…"
_LINKS = ("by_flag", "by_speaker", "stated_by", "by_sign", "by_word", "at_start")
"""What may connect a candidate with the words before it: the first pattern that matches."""
_FAR = (2, 8, 20, 45, 90)


class _Cue(NamedTuple):
    start: int
    end: int
    sign: str


class _Line(NamedTuple):
    """A line with its words for secrets, and what the lines above it say of it."""

    start: int
    end: int
    cues: Sequence[_Cue]
    above: Sequence[str]
    """Where words for secrets are, and their signs: `V1:P` one line above, `H:K` in the heading."""
    header: Mapping[int, str]
    """The signs of the columns in the header of the table."""


@cache
def _weights() -> Mapping[str, float]:
    rows = (FOLDER / "weights.tsv").read_text(encoding="utf-8").splitlines()
    pairs = (row.split("\t") for row in rows if not row.startswith("# "))
    return {trait: float(weight) for trait, weight in pairs}


def likely(text: str, folded: str) -> Iterator[Find]:
    """Yield what is a secret by its traits. `folded` is the text in lower case."""
    for start, end, shape, traits in candidates(text, folded):
        weights = _weights()
        if weights["bias"] + sum(weights.get(trait, 0.0) for trait in traits) > 0:
            kind = "pin" if shape in _DIGIT_SHAPES else "card" if shape == "cvv" else "password"
            yield start, end, "token" if shape in _KEYS else kind


def candidates(text: str, folded: str) -> Iterator[tuple[int, int, str, Collection[str]]]:
    """Yield the start, end, shape and traits of all that may be a secret."""
    for line in _lines(text, folded):
        for start, end, shape in sorted(_spots(text, folded, line)):
            yield start, end, shape, _traits(text, folded, line, (start, end), shape)


def _lines(text: str, folded: str) -> Iterator[_Line]:
    """Yield the lines that are on, below or under a word for secrets."""
    cues: dict[int, list[_Cue]] = {}
    for start, _, labels in labels_by_line(folded):
        cues[start] = [_Cue(a, b, _SIGNS[sort]) for a, b, sort in labels]
    start = end = 0
    for match in pattern("cue").finditer(folded):
        if match.start() >= end:
            start = folded.rfind("\n", end, match.start()) + 1 or start
            end = (folded.find("\n", match.start()) + 1) or len(folded)
        cues.setdefault(start, []).append(_Cue(*match.span(), str(match.lastgroup)[0]))
    above: list[str] = []
    titles: list[str] = []
    header: Mapping[int, str] = {}
    start = near = title = 0
    was_row = False
    for number, line in enumerate(text.split("\n") if cues else ()):
        own = sorted(cues.get(start, ()))
        is_title, is_row = "#" in line and pattern("heading").match(line), "|" in line[:4]
        if is_title or number - title > _LINES_UNDER_TITLE:
            titles, title = [f"H:{cue.sign}" for cue in own if is_title], number
        columns = header if is_row and was_row else {}
        if is_row and not was_row:
            heads = own[:_MAX_COLUMNS]
            header = {line.count("|", 0, cue.start - start): cue.sign for cue in heads}
        was_row = is_row
        below = [f"V{number - near}:{sign}" for sign in above] * (number - near <= _LINES_BELOW)
        below = [] if is_title else [*below, *titles]
        if (own or below or columns) and not pattern("ruler").fullmatch(line):
            yield _Line(start, start + len(line), own, sorted(set(below)), columns)
        if own:
            asks = pattern("asks").search(line, max(0, len(line) - 4))
            mark = "" if asks is None else "?" if asks[1] else ":"
            above, near = sorted({cue.sign + mark for cue in own}), number
        start += len(line) + 1


def _spots(text: str, folded: str, line: _Line) -> set[tuple[int, int, str]]:
    """Return the start, end and shape of the quotes, groups and words of a line."""
    found: set[tuple[int, int, str]] = set()
    taken: list[Span] = []
    for name in ("quoted", "told", "combo", "spelled", "turns"):
        for match in pattern(name).finditer(folded, line.start, line.end):
            start, end = match.span(match.lastindex or 0)
            if name not in ("quoted", "told"):
                taken.append((start, end))
                found.add((start, end, "groups" if name == "combo" and end - start > 12 else name))
            elif 1 < len(text[start:end].split()) <= _MAX_WORDS and not pattern("coded").search(
                text, start, end
            ):
                found.add((start, end, "phrase"))
    taken.sort()
    least = _LEAST_OF_CARD if any(cue.sign == "C" for cue in line.cues) else _LEAST
    for word in pattern("token").finditer(text, line.start, line.end):
        inner = pattern("named_inside").match(word[0])
        start, end = _trimmed(text, word.start() + (inner.end() if inner else 0), word.end())
        if end - start < least or _is_within(taken, start, end):
            continue
        is_word = text[start + 1 : end].islower() and text[start:end].isalpha()
        if is_word and not _stands_out(text, folded, start, end, line):
            continue  # most words end here
        shape = _shape(text, start, end)
        if shape not in _NEVER and (
            is_word or shape not in _PLAIN or _stands_out(text, folded, start, end, line)
        ):
            found.add((start, end, shape))
    return found


def _is_within(spans: Sequence[Span], start: int, end: int) -> bool:
    """Return whether one of the sorted spans holds a span."""
    at = bisect_right(spans, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= spans[at][1]


def _stands_out(text: str, folded: str, start: int, end: int, line: _Line) -> bool:
    """Return whether an ordinary word is where a value would be: quoted, stated or by itself."""
    first = max(line.start, start - 60)
    is_last = not text[end : min(line.end, end + 20)].strip(_CLOSING + " ")
    return bool(
        pattern("set_off").search(text, first, start)
        or pattern("stated_by").search(folded, first, start)
        or (is_last and start - line.start < 60 and len(text[first:start].split()) <= 3)
        or (is_last and not text[first:start].strip("-*+> "))
    )


def _trimmed(text: str, start: int, end: int) -> Span:
    """Return a span without the quotes, brackets and signs around it."""
    while start < end and text[start] in _OPENING:
        start += 1
    while end > start and (
        text[end - 1] in _CLOSING or (text[end - 1] in "!?" and text[start : end - 1].isalpha())
    ):
        opener = {")": "(", "]": "[", "}": "{"}.get(text[end - 1])
        if opener and text.count(opener, start, end) >= text.count(text[end - 1], start, end):
            break
        end -= 1
    return start, end


def _shape(text: str, start: int, end: int) -> str:
    """Return the name of the shape of a word. It has a capital if the word has one."""
    value = text[start:end]
    if (
        pattern("id_before").search(text, max(0, start - 12), start)
        or (
            pattern("mask").match(text, end)  # the truncated start of a value
        )
        or (
            value.replace("-", "").replace("_", "").isalpha() and pattern("titled").match(text, end)
        )
    ):
        return "pointer"
    if digits := pattern("of_digits").fullmatch(value):
        return str(digits.lastgroup)
    if (
        any(pattern(name).fullmatch(value) for name in ("identity", "pointer", "email"))
        or pattern("shape").match(value)
        or is_placeholder(value)
    ):
        return "pointer"
    if pattern("long").fullmatch(value) and is_random(value, 3.5):
        return "key"
    found = pattern("of_letters").fullmatch(value)
    shape = str(found.lastgroup) if found else "other"
    return shape if value.islower() else shape.capitalize()


def _traits(text: str, folded: str, line: _Line, span: Span, shape: str) -> Collection[str]:
    """Return the names of the traits of a candidate."""
    start, end = span
    first = max(line.start, start - 60)
    before = "…" * (first > line.start) + folded[first:start]
    link = next((name for name in _LINKS if pattern(name).search(before)), "none")
    tail = pattern("tail").match(text, end, line.end)
    ends = str(tail.lastgroup) if tail else "goes"
    value = text[start:end]
    classes = sum(any(map(test, value)) for test in (str.isupper, str.islower, str.isdigit))
    traits = {
        *(f"sh:{shape}", f"sh:{shape}|{min(end - start, 24) // 4}", f"classes:{classes}"),
        *(f"link:{link}", f"link:{link}|{shape}", f"end:{ends}", f"end:{ends}|{link}"),
    }
    near = regex(r"[^\W\d_]{2,}").findall(folded, first, start)[-3:]
    after = regex(r"[^\W\d_]{2,}").findall(folded, end, min(line.end, end + 30))[:2]
    traits.update(f"w:{word[:8]}" for word in near)
    traits.update(f"r:{word[:8]}" for word in after)
    for name, holds in (
        ("quote", text[start - 1 : start] in _QUOTE_SIGNS and start > line.start),
        ("tick", text[start - 1 : start] == "`"),
        ("unit", pattern("unit_after").match(text, end)),
        ("named", not entries("names", "other").isdisjoint(near)),
        ("policy", pattern("policy").search(folded, line.start, min(line.end, line.start + 400))),
        ("command", pattern("command").search(text, first, start)),
    ):
        if holds:
            traits.update((name, f"{name}|{shape}", f"{name}|{link}"))
    if pattern("sentence").search(text, max(first, start - 40), start):
        traits.add("sentence")
    at = bisect_left(line.cues, start - _REACH, key=attrgetter("start"))
    near_by = [*takewhile(lambda cue: cue.start <= end + _REACH, islice(line.cues, at, None))]
    left = [cue for cue in near_by if cue.end <= start]
    right = [cue for cue in near_by if cue.start >= end]
    if len(near_by) > len(left) + len(right):
        traits.add("inside")
    traits.update(part for cue in left for part in (f"L:{cue.sign}", f"L:{cue.sign}|{shape}"))
    if not left:
        traits.add(f"L:0|{shape}")
    last = max(left, key=attrgetter("end"), default=None)
    for side, cue in (("l", last), ("r", min(right, default=None))):
        if cue:
            gap = start - cue.end if side == "l" else cue.start - end
            far, sign = sum(gap > limit for limit in _FAR), f"{side}:{cue.sign}"
            traits.update((sign, f"{sign}|{shape}", f"{sign}|{far}|{link}"))
            traits.update((f"{side}{far}|{link}", f"{sign}|{shape}|{link}"))
    for above in line.above:
        sign = above if above[0] == "H" else f"V{above[2:]}"
        traits.update((above, f"{sign}|{shape}", f"{sign}|{shape}|{link}"))
        traits.add(f"{above}|{link}|{ends}")
    if line.header:
        column = text.count("|", line.start, min(start, line.start + 2000))
        traits.update(f"T:{sign}|{shape}" for at, sign in line.header.items() if at != column)
        if same := line.header.get(column):
            traits.update((f"T={same}", f"T={same}|{shape}"))
    return traits
