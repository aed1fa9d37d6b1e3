"""Find secrets in a text by their published format, or by a label such as `password:`.

The tables are in `secret_rules/`. `gitleaks.tsv` and `forms.tsv` contain formats. A format is
searched only in lines that contain one of its words. `labels.txt` contains the words that name a
secret, in several languages, and `patterns.tsv` the shapes of values and of the sentences around
them. The value after a label is classified by its shape and by how it is stated.
Every pattern runs in linear time: repetitions are bounded, or possessive over single
characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from math import log2
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from memrepo.core.ids import digest
from memrepo.core.patterns import compiled, load_or_make, regex

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
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `patterns.tsv`, compiled when it is first used."""
    flags, spelled = _spellings()[name]
    chosen = (re.IGNORECASE if "i" in flags else 0) | (re.MULTILINE if "m" in flags else 0)
    return compiled(_spelled_out(spelled), chosen)


def _spelled_out(spelled: str) -> str:
    return load_or_make((spelled, _digest_of_tables()), lambda: _expanded(spelled))


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
        rest := _pattern("rest").match(text, at + len(value))
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
            is_prose = group == "alone" and not _set("prose").isdisjoint(found)
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
        case "password" | "token" if _pattern("pointer").fullmatch(value):
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

_MAX_COLUMNS = 8
"""The maximum number of columns of secrets that are read in a table."""
_DIGITS = ("pin", "enter", "lockbox")
"""The sorts whose values are a few digits."""
_SPOKEN = ("password", "pass", "secret")
_MAX_APART = 60
"""The maximum number of characters between a label and a value that no sign or verb connects."""
_LISTED = ("password", "pass", "key", "token", "secret", "weak", "pin", "credentials")
_MAX_LINES = 60
"""The maximum number of lines searched under a heading."""
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
def _set(*names: str) -> frozenset[str]:
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
    if label in _set("code"):
        return "code"
    label = _bare(label).rstrip("0123456789")
    tries = (label[: len(label) - n] for n in range(5))
    sort = next((known[word] for word in tries if word in known), "pin")
    return "pin" if sort == "lockbox" and label.endswith(_section("code")) else sort


def labelled(text: str, folded: str) -> Iterator[Find]:
    """Yield values that are named by a label. `folded` is the text in lower case."""
    read_to = table_to = 0
    below: list[Find] = []
    for start, end in _labelled_lines(folded):
        last, columns, words = ("", 0), 0, None
        if start >= table_to and (rows := _rows_below(text, start, end)):
            columns, table_to = _MAX_COLUMNS, rows[1]
        for label in _pattern("label").finditer(folded, start, end):
            sort = _sort_in_line(folded, start, *label.span(), end)
            is_code, sort = sort == "code", sort.replace("code", "pin")
            if not sort:
                continue
            before = max(start, label.start() - 24), label.start()
            harmless = "once" if sort == "secret" else "harmless"
            if sort in ("token", "secret", "weak", "pin", "login") and _pattern(harmless).search(
                folded, *before
            ):
                continue
            if sort in _SPOKEN and _pattern("misnamed").match(folded, label.end(), end):
                continue
            if sort in _LISTED or last[0] not in _LISTED:
                last = sort, label.end()
            near = max(start, label.start() - _MAX_APART), min(end, label.end() + _MAX_APART)
            words = _words(text, start, end) if words is None else words
            for read in (sort, "pin") if _may_be_pin(folded, *near, label[0], sort) else (sort,):
                is_pin = is_code or read != sort
                spots = [
                    *_after(text, folded, *label.span(), end, read, is_code=is_pin),
                    *_around(text, folded, label.span(), end, read, words),
                ]
                kind = _KINDS.get(read, "token")
                yield from (
                    (*spot, kind) for spot in spots if read == sort or spot[0] > label.end()
                )
            if columns:
                columns -= 1
                spots = [*_column(text, start, end, label.start(), sort, table_to)]
                yield from ((*spot, _KINDS.get(sort, "token")) for spot in spots)
        if last[0] in _LISTED and start >= read_to:
            *spots, (_, read_to) = _below(text, folded, start, end, *last)
            below += ((*spot, _KINDS.get(last[0], "token")) for spot in spots)
    yield from below


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


def _may_be_pin(folded: str, start: int, end: int, label: str, sort: str) -> bool:
    """Return whether a password near a label may be digits: one of a lock or of a card."""
    if sort == "unlock":
        return True
    name = "for_lock" if sort == "password" or label == "clave" else "for_box"
    return sort in ("password", "secret", "weak") and bool(
        _pattern(name).search(folded, start, end)
    )


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
    before = _pattern("word_before").search(folded, max(line, begin - 24), begin)
    near = max(line, begin - 2 * _MAX_APART), min(end, at + 2 * _MAX_APART)
    if sort == "lockbox" and (
        not _pattern("namesake").match(folded, begin)
        or _pattern("other_before").search(folded, max(line, begin - _MAX_APART), begin)
    ):
        return ""  # `poetry.lock`, or the status code of a lock
    if sort == "enter":
        if regex(r"=|\.[a-z]").match(folded, at):
            return ""  # the name of a setting or file, such as `type=fact` or `types.hpp`
        if _pattern("network").search(folded, *near):
            return "unlock"
        return sort * bool(_pattern("for_lock").search(folded, *near))
    if sort == "reset":
        return sort * bool(_pattern("access").search(folded, *near))
    if sort == "weak":
        is_network = _pattern("network").search(folded, *near)
        is_access = folded[begin:at] == "clave" and _pattern("access").search(folded, *near)
        return "password" if is_network or is_access else sort
    if not folded[begin:at].startswith(_section("code")):
        return sort
    other = _pattern("other_code").match(folded, at, end)
    if other and (sort == "code" or not other[1]):
        return ""
    # A code is for a lock on the same line, and is none of another noun: a zip code.
    if before is not None and before[1] in _set("other"):
        return ""
    if sort == "code":
        is_for_lock = _pattern("for_lock").search(folded, *near) or _pattern("code_of").match(
            folded, at, end
        )
        return sort if is_for_lock else ""
    other = _pattern("compound").match(folded, at, end)  # `code of the building plan:`
    if other is None or not folded.startswith(("code of", "code for"), begin):
        return sort
    return sort if other[1] in _set("prose", "with", "of") else ""


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
    if sort in ("login", "reset", "credentials", "lockbox", "enter"):
        return
    sort = "pass" if sort == "unlock" else sort
    if sort == "card":
        number = _pattern("card").search(text, at, min(end, at + 60))
        if number and is_card(number[0]):
            yield number.span()
        return
    stated = _pattern("stated").match(folded, at, end)
    how = "bare" if stated is None else "sign" if stated["sign"] else "word"
    begins = stated or _pattern("bare").match(folded, at, end)
    row = stated and "|" in stated[0]
    if begins is None or (
        row and (not _is_row(text, at) or "/" in text[max(0, at - 60) : at].rpartition(" ")[2])
    ):
        return
    near = max(0, begin - _MAX_APART), min(end, at + _MAX_APART)
    if how == "bare" and (
        is_code
        or _pattern("before").search(folded, max(0, begin - 20), begin)
        or (sort == "pin" and _pattern("for_lock").search(folded, *near))
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
    opening = _pattern("open").match(text, begins.end(), end) if sort == "pin" else None
    if opening and (pin := _pattern("pin").match(text, opening.end(), end)):
        value = _Value(*pin.span(), quoted=False)  # blanks may stand between groups of digits
    if value and _is_value(text, value, end, sort, how):
        yield value.start, value.end


def _around(
    text: str, folded: str, label: Span, end: int, sort: str, words: Sequence[_Value]
) -> Iterator[Span]:
    """Yield values in the sentence of a label that look like nothing but a secret.

    The looser the connection, the more a value has to look like one: `use 4071 as the PIN`, `the
    password was changed from X to Y`, `the key for the mail came today, X`.
    """
    if sort in ("card", "cvv", "pass"):
        return
    begin, at = label
    sure, maybe = [], []
    first = bisect_left(words, begin - _MAX_APART - 20, key=attrgetter("end"))
    for value in islice(words, first, None):
        if value.start > at + 2 * _MAX_APART:
            break
        if value.start < at and value.end > begin:
            continue
        after = value.start >= at
        gap = (at, value.start) if after else (value.end, begin)
        looks = _looks(text, value, end, sort, beside=not text[slice(*gap)].strip())
        needed = _needed(folded, gap, sort, after=after, looks=looks) if looks else 5
        if needed == 4 and after and _pattern("number_after").fullmatch(text, at, value.end):
            needed = 3
        if looks >= needed:
            sure.append(value[:2])
        elif sort == "password" and looks == 2 and needed == 3 and after:
            maybe.append(value[:2])
    yield from sure + (maybe if sure else [])  # `from X to Y`
    if sort == "password":
        named = "phrase" if _pattern("phrased").search(folded, begin, at) else ""
        for quote in regex(r"[\"'“„«‘](?=\w)").finditer(text, at, min(end, at + 2 * _MAX_APART)):
            if (named or _pattern("linked").search(folded, at, quote.start())) and (
                phrase := _phrase_at(text, quote.start(), end, named)
            ):
                yield phrase


def _looks(text: str, at: _Value, end: int, sort: str, *, beside: bool) -> int:
    """Return how much a word looks like a value of a sort: 0 (not at all) to 4.

    `beside` is true if it is right beside its label.
    """
    value = text[at.start : at.end]
    if sort in _DIGITS:
        groups = _pattern("combination").fullmatch(value)
        before = _pattern("clock").search(text, max(0, at.start - 8), at.start)
        is_time = _pattern("year").match(text, at.start) or (before and not groups)
        if not _pattern("pin_word").fullmatch(value) or is_time:
            return 0
        ends = bool(
            _pattern("ends").match(text, at.end, end)
            or (not beside and _pattern("goes_on").match(text, at.end, end))
        )
        if sort == "lockbox" and not groups:
            return 2 * bool(ends and _pattern("pin").match(text, at.start, end))
        if groups or not value[-1].isdigit() or _pattern("code_apart").match(text, at.start, end):
            return 2 + ends
        return (1 + ends) * bool(_pattern("pin").match(text, at.start, end))
    if (
        len(value) < 6
        or _stands_for_one(text, at, end)
        or _pattern("pointer").fullmatch(value)
        or _pattern("assigned").fullmatch(value)
        or _pattern("in_braces").search(text, max(0, at.start - 40), at.start)
    ):
        return 0
    if sort in ("login", "credentials") and _pattern("handle").fullmatch(value):
        return 0
    classes = sum(any(map(test, value)) for test in (str.isupper, str.islower, str.isdigit))
    if sort in ("key", "token", "secret", "weak"):
        if not is_key(value, 12) or _pattern("uuid").fullmatch(value):
            return 4 * _is_grouped(value)
        if _pattern("identifier").fullmatch(value):
            return 2
        return 3 + (classes == 3 and len(value) >= 20 and is_random(value, 3.5))
    if _is_grouped(value):
        return 4
    if sort == "password" and _pattern("number").fullmatch(value):
        return 3
    if sort == "unlock" and _pattern("spoken").fullmatch(value):
        return 3
    if not _is_secret_word(value):
        return 2 * bool(_is_made_up(value) or _pattern("segments").fullmatch(value))
    is_plain = len(value) >= 8 and _pattern("plainly").fullmatch(value)
    signed = bool(_pattern("signed").search(value))
    is_mixed = classes == 3 or text[at.start - 1 : at.start] != "/"
    is_phrase = sort == "reset" and bool(_pattern("segments").fullmatch(value))
    signed = signed or (classes == 3 and (is_phrase or sort == "password"))
    return 3 + bool(is_plain and is_mixed and signed)


def _needed(folded: str, gap: Span, sort: str, *, after: bool, looks: int) -> int:
    """Return how much a value must look like one, by what is between it and its label."""
    start, stop = gap
    names = _set("sums" if looks == 4 else "names")
    is_new = after and _pattern("renewed").search(folded, max(start, stop - _MAX_APART), stop)
    if is_new and sort in ("password", "pass"):
        return 2
    if _pattern("sentence").search(folded, *gap) or not names.isdisjoint(
        regex(r"[^\W_]+").findall(folded, start, stop)[-4:]
    ):
        return 5
    far, is_pin, joined = stop - start > _MAX_APART, sort in _DIGITS, not folded[start:stop].strip()
    if sort == "enter" and "|" in folded[start:stop]:
        return 5  # in another cell of a table
    if not after:
        if sort == "enter" and joined:
            return 1
        if sort in ("login", "credentials"):
            return 4
        if _pattern("behind").search(folded, start, stop):
            return 1 if is_pin else 3
        return 3 if is_pin and stop - start <= _MAX_APART / 2 else 4
    link = _pattern("linked").search(folded, max(start, stop - _MAX_APART), stop)
    if sort == "enter" and joined and _pattern("opened").search(folded, start - 8, start):
        return 1
    if is_pin:
        if sort == "lockbox":
            stated = _pattern("stated").match(folded, start, stop)
            is_near = (
                stop - start <= _MAX_APART / 2
                if stated
                else link and link["with"] and stop - start <= 8
            )
            return 2 if link and is_near else 3
        named = sort == "pin" and bool(_pattern("for_lock").search(folded, start, stop))
        return 2 - bool(link and named) if link or joined or named else 5 if far else 3
    if sort in ("login", "credentials"):
        is_network = _pattern("network").search(folded, max(0, start - 12), start)
        is_paired = _pattern("paired").search(folded, start, stop)
        return (
            5
            if far
            else 4 - bool(is_paired or (is_new and is_network)) - bool(is_paired and is_network)
        )
    if sort == "reset":
        return 4 if joined else 5
    if link and not link["with"]:
        return 2 if _pattern("changed").search(folded, start, stop) else 3
    if sort in ("password", "pass", "unlock"):
        return 5 if far else 3 if sort == "unlock" and joined else 4
    return 3 if stop - start <= _MAX_APART else 4


def _words(text: str, start: int, end: int) -> Sequence[_Value]:
    """Return the words of a line that may be a value, in order of position."""
    groups = _pattern("grouped").finditer(text, start, end)
    found = {_Value(*match.span(), quoted=False) for match in groups if _is_grouped(match[0])}
    for word in _pattern("odd_word").finditer(text, start, end):
        named = regex(r"(?!env|file|fd)[\w.@+-]{2,40}[:/](?=[^\s:/]+$)").match(word[0])
        opens = word.start() + (word[0][0] in "([{<")
        for at in (opens, word.start() + named.end()) if named else (opens,):
            if value := _value_at(text, at, end):
                found.add(value)
    return sorted(found)


def _is_grouped(value: str) -> bool:
    """Return whether a value consists of random groups of equal length, as keys are shown."""
    groups = regex(r"[ -]").split(value)
    if not _pattern("grouped").fullmatch(value) or is_placeholder(value):
        return False
    if " " in value and regex(r"[0-9A-F ]+").fullmatch(value):
        return False  # a fingerprint, or a number
    random = sum(bool(_pattern("unpronounceable").search(g)) or _is_mixed(g) for g in groups)
    return 2 * random > len(groups) or value.replace("-", "").isdigit()


def _is_row(text: str, at: int) -> bool:
    return text[max(0, at - 200) : at].rpartition("\n")[2].lstrip().startswith("|")


class _Value(NamedTuple):
    start: int
    end: int
    quoted: bool


def _phrase_at(text: str, at: int, end: int, label: str) -> Span | None:
    """Return the span of a pass phrase of several words, in quotes or after such a label."""
    named = "phrase" in label or "frase" in label or "фраз" in label
    opening = _pattern("open").match(text, at, end)
    start = opening.end() if opening else at
    close = _QUOTES.get(text[start - 1 : start]) if start > at else None
    stop = text.find(close, start, min(end, start + 200)) if close else -1
    if stop < 0:
        match = _pattern("phrase").match(text, start, end) if named and not close else None
        if match is None:
            return None
        stop = match.end()
    phrase = text[start:stop]
    words = regex(r"[\W_]+").split(phrase.lower())
    several = len(phrase.split()) >= (3 if named or not _is_mixed(phrase) else 2)
    if not several or is_placeholder(phrase) or phrase[:1] in "[({" or set(phrase) & set("<>$\\/"):
        return None  # a command, or what stands for a value
    if not named and not {_bare(word) for word in words}.isdisjoint(_sort_by_label()):
        return None  # what a password is for
    stated = _is_mixed(phrase) or (named and close)
    if named and close and not _set("telling").isdisjoint(words):
        return None
    prose = _set("rules") if stated else _set("prose", "rules")
    return (start, stop) if prose.isdisjoint(words) else None


def _value_at(text: str, at: int, end: int, *, equals: bool = False) -> _Value | None:
    """Return the value at an offset, without quotes and without the punctuation after it."""
    opening = _pattern("open").match(text, at, end)
    start = opening.end() if opening else at
    close = _QUOTES.get(opening[0].rstrip()[-1:]) if opening else None
    if close:
        stop = text.find(close, start, min(end, start + 200))
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if stop > start and not any(map(str.isspace, text[start:stop])):
            return _Value(start, stop - (text[stop - 1] == "\\"), quoted=True)
    match = _pattern("value").match(text, start, end)
    if match is None:
        return None
    value, before = match[0], text[max(0, start - 200) : start].rpartition("\n")[2]
    if "|" in value and (_is_row(text, start) or text[start - 1 : start] == "|"):
        value = value.partition("|")[0]
    if equals:
        value = regex(r"[;&](?=\w)|;$").split(value)[0]
    if tag := _pattern("tag").search(value):
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
            pin = _pattern("pin").match(text, at.start, end)
            ends = how != "bare" or _pattern("ends").match(text, at.end, end)
            is_year = how in ("bare", "with") and _pattern("year").match(text, at.start)
            return bool(pin and ends and not is_year and pin.end() == at.end)
        case "secret" if how != "sign" or not _is_odd(value):
            return is_key(value, 0 if how == "sign" else 20) or (
                len(value) >= 8
                and bool(_pattern("woven").search(value))
                and not (_stands_for_one(text, at, end) or _pattern("pointer").fullmatch(value))
            )
        case "cvv":
            return bool(
                _pattern("cvv").fullmatch(text, at.start, at.end)
                and _pattern("cvv").match(text, at.start, end)
            )
        case "token" | "weak":
            least = 20 if how == "bare" else 12 if sort == "weak" else 0
            if _pattern("suffix").search(value):
                return is_key(_pattern("suffix").sub("", value), 12)
            if (
                sort == "weak"
                and how == "sign"
                and len(value) >= 8
                and _pattern("signed").search(value)
            ):
                is_whole = at.quoted or _pattern("remark").match(text, at.end, end)
                return bool(is_whole and _is_secret_word(value))
            return is_key(value, least) and not (
                sort == "weak" and _pattern("uuid").fullmatch(value)
            )
        case _:
            return _is_chosen(text, at, end, sort, how)


def _is_chosen(text: str, at: _Value, end: int, sort: str, how: str) -> bool:
    """Return whether a word is a key or a password, for which there is no form of its own."""
    value = text[at.start : at.end]
    if len(value) < 6 or _stands_for_one(text, at, end) or _pattern("pointer").fullmatch(value):
        return False
    if _pattern("email").fullmatch(value) or value.lower().strip("0123456789") in _set(
        "ordinary", "rules"
    ):
        return False
    inner = _pattern("label").match(value.lower())
    if inner and value[inner.end() : inner.end() + 1] in (":", "="):
        return False  # a nested label, which has its own value
    made_up = _is_made_up(value)
    alone = how == "sign" and bool(
        _pattern("remark").match(text, at.end, end) or text[at.start - 1] == "="
    )
    if sort == "key":
        plain = "@*|\\".find(value[0]) < 0 and "*" not in value and "|" not in value
        short = how != "bare" and (alone or at.quoted) and _is_mixed(value) and plain
        woven = (
            len(value) >= 10 and bool(_pattern("woven").search(value)) and _is_secret_word(value)
        )
        return short or woven or is_key(value, 16 if how == "bare" else 0)
    if how in ("bare", "with") and sort == "password" and _pattern("number").fullmatch(value):
        return True
    if how in ("bare", "with") and sort == "password" and _pattern("segments").fullmatch(value):
        ends = text[at.end : at.end + 1] in ".,;" or _pattern("remark").match(text, at.end, end)
        is_cased = any(map(str.isupper, value[1:]))
        has_digit = any(map(str.isdigit, value))
        if (is_cased and (ends or has_digit)) or (ends and has_digit):
            return True
        if how == "bare" or ends:
            return how == "with"
    long = sort == "password" and bool(_pattern("long_word").fullmatch(value))
    if how == "with":
        alone = bool(_pattern("remark").match(text, at.end, end))
        is_speech = at.quoted and value.isalnum() and text[at.start - 1] != "`"
        return is_speech or (made_up and (at.quoted or alone or long or _is_odd(value)))
    if how == "bare" or sort in ("pass", "secret"):
        fits = at.quoted or long or _is_odd(value)
        return made_up and fits and (how != "sign" or alone or at.quoted)
    if made_up or (at.quoted and value.isascii()):
        return True
    named = _pattern("plain_word").fullmatch(value) or _pattern("day").fullmatch(value)
    return alone and not named


def _rows_below(text: str, start: int, end: int) -> Span | None:
    """Return the span of the rows under a line that is the header of a table."""
    at = stop = _line_end(text, end + 1)
    if text.find("|", start, end) < 0 or not _pattern("ruler").match(text, end + 1, at):
        return None
    while text.find("|", stop + 1, further := _line_end(text, stop + 1)) >= 0:
        stop = further
    return at + 1, stop


def _column(
    text: str, start: int, end: int, label_start: int, sort: str, table_to: int
) -> Iterator[Span]:
    """Yield the values in the column of a table whose header row holds the label."""
    if sort not in (*_LISTED[:-1], "cvv", "card") or (
        sort == "pass" and "fail" in text[start:end].lower()
    ):
        return  # names, or a table of tests
    column, at = text.count("|", start, label_start), _line_end(text, end + 1) + 1
    how = "with" if sort == "pass" else "sign"
    sort = "password" if sort in _SPOKEN else sort
    while at < table_to:
        cell, stop = at - 1, _line_end(text, at)
        for _ in range(column):
            cell = text.find("|", cell + 1, stop)
            if cell < 0:
                break
        value = _value_at(text, cell + 1, stop) if cell >= at - 1 else None
        if value and _is_value(text, value, stop, sort, how):
            yield value.start, value.end
        at = stop + 1


def _below(
    text: str, folded: str, start: int, end: int, sort: str, label_end: int
) -> Iterator[Span]:
    """Yield the values under a heading, under a line that ends with a colon or with the label.

    The last item is (0, offset): the offset to which lines were read, or 0 for a heading.
    """
    line, rest = text[start:end].strip(), text[label_end:end].strip("*_:`\"' \t\r：")
    heading = _pattern("heading").match(text, start, end)
    at = end + 1
    colon = line.rstrip("*_").endswith((":", "："))
    plain = regex(r"[^\n:=|.]{1,60}").fullmatch(text, start, end)
    titled = bool(plain) and sort in _SPOKEN and len(line.split()) <= 4
    remark = rest[:1] + rest[-1:] in ("()", "（）")
    if not line.startswith("|") and (
        len(rest) <= 30 or remark
        if heading
        else (colon and remark) or (not rest and (colon or titled))
    ):
        level, seen, quote = len(heading[1]) if heading else 7, False, line.startswith(">")
        for _ in range(_MAX_LINES):
            stop = _line_end(text, at)
            inner, line = _pattern("heading").match(text, at, stop), text[at:stop].strip()
            if at >= len(text) or (inner and len(inner[1]) <= level):
                break
            if (seen and not (line and colon) and not heading) or (
                quote and not line.startswith(">")
            ):
                break  # a quote does not name values after it
            first = not seen and bool(line.strip("`~=-"))
            seen = seen or first
            if sort == "credentials":
                yield from _around(text, folded, (at, at), stop, sort, _words(text, at, stop))
            yield from _in_item(text, folded, at, stop, sort, first=first)
            at = stop + 1
    elif heading and (lone := _pattern("lone").match(text, end)):
        yield from _in_item(text, folded, *lone.span(2), sort, first=True)
    yield 0, 0 if heading else at


def _in_item(
    text: str, folded: str, at: int, end: int, sort: str, *, first: bool
) -> Iterator[Span]:
    """Yield the value of a list item: the text after a name, a code span, or the whole item.

    The only word of the first line under a heading need not look as odd.
    """
    item = _pattern("item").match(text, at, end)
    at = item.end() if item else at
    named = _pattern("name").match(text, at, end)
    if named and not _set("names").isdisjoint(regex(r"[\W_]+").split(folded[at : named.end(1)])):
        return
    value = _value_at(text, named.end() if named else at, end)
    whole = value and (named or not text[value.end : end].strip("`*_ \t\r"))
    only = whole and not named and first and sort in _SPOKEN
    if (
        value
        and whole
        and (
            _looks(text, value, end, sort, beside=True) >= (1 if sort == "pin" else 3)
            or (
                named
                and sort == "key"
                and _pattern("digest").fullmatch(text, value.start, value.end)
            )
            or (only and _is_value(text, value, end, "password", "with"))
        )
    ):
        yield value.start, value.end
    elif sort in ("key", "token", "weak") and not named:
        yield from _keys_in(text, folded, at, end)


def _keys_in(text: str, folded: str, at: int, end: int) -> Iterator[Span]:
    """Yield the keys in an item such as `OpenWeather 3f9a1c...`."""
    before = at
    for word in regex(r"\S{16,400}").finditer(text, at, end):
        value = _value_at(text, word.start(), end)
        named = regex(r"[\W_]+").split(folded[before : word.start()])
        if value and _set("names").isdisjoint(named):
            shown = text[value.start : value.end]
            if is_key(shown, 16) and not _pattern("uuid").fullmatch(shown):
                yield value.start, value.end
        before = word.end()


# -- values ----------------------------------------------------------------------------------


def is_key(value: str, piece: int = 0) -> bool:
    """Return whether a value is a key, and not words or a path.

    `piece` is the minimum length of a random part. If 0, the whole value must be random.
    """
    if (
        not _pattern("key").fullmatch(value)
        or _pattern("address").fullmatch(value)
        or _pattern("pointer").fullmatch(value)
        or is_placeholder(value)
    ):
        return False
    if not piece:
        return is_random(value)
    return any(len(p) >= piece and is_random(p, 3.0) for p in regex(r"[-_./~+=]").split(value))


def is_random(value: str, least: float = _MIN_ENTROPY) -> bool:
    """Return whether a value looks random: letters and digits with sufficient entropy."""
    return _is_mixed(value) and not _pattern("day").fullmatch(value) and _entropy(value) >= least


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n * log2(n / len(value)) for n in counts) / max(len(value), 1)


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder such as `<your-password>`, `${VAR}` or `changeme`."""
    low = value.lower()
    return bool(
        low in _set("nothing")
        or any(word in low for word in _section("placeholder"))
        or _pattern("mask").search(value)
        or sum(map(str.isalnum, _pattern("part").sub("", value))) < min(3, len(value))
        or (
            (whole := _pattern("shape").match(value))
            and sum(map(str.isalnum, value[whole.end() :])) < 4
        )
    )


def _stands_for_one(text: str, at: _Value, end: int) -> bool:
    """Return whether a value with blanks is a placeholder, such as `{{ vault.password }}`."""
    shape = _pattern("shape").match(text, at.start, end)
    rest = text[shape.end() : at.end] if shape else ""
    if regex(r"(?:\.\.\.|…)(?![ \t]\w)").match(text, at.end, end):
        return True  # the truncated start of a key
    return is_placeholder(text[at.start : at.end]) or bool(
        shape and sum(map(str.isalnum, rest)) < 4
    )


def _is_made_up(value: str) -> bool:
    """Return whether a value looks like a password: letters with digits, or special characters."""
    value = value.rstrip("!?")
    if _pattern("day").fullmatch(value):
        return bool(_pattern("digits").fullmatch(value))
    words = _set("technical")
    if value.lower() in words or words.issuperset(regex(r"[-/+_,()]").split(value.lower())):
        return False
    if _pattern("email").fullmatch(value):
        return False
    signs = sum(not char.isalnum() and char not in "-'’./,:()_\"`" for char in value)
    return signs > 0 or _is_mixed(value)


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_odd(value: str) -> bool:
    """Return whether a value looks like a password, and not like another word with digits."""
    signs = any(char in "!@#$%^&*?=~" for char in value[1:-1] + value[-1:].strip("*?~="))
    cased = any(map(str.isupper, value[1:])) and any(map(str.islower, value))
    return (_is_mixed(value) or (signs and cased)) and not _pattern("numbered").fullmatch(value)


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
    if f"{plain[:2]}{len(plain)}" not in _set("iban"):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _are_random_groups(value: str) -> bool:
    """Return whether groups of letters and digits are random: an app password, and not words."""
    groups = regex(r"[\W_]+").split(value)
    if len(groups) == 1:
        groups = [value[at : at + 4] for at in range(0, len(value), 4)]
    return (
        sum(bool(_pattern("unpronounceable").search(group)) or _is_mixed(group) for group in groups)
        >= 2
    )


def _is_secret_word(value: str) -> bool:
    """Return whether a word is a password or a key, when only its context suggests one."""
    return not (
        is_placeholder(value)
        or _pattern("pointer").fullmatch(value)
        or _pattern("uuid").fullmatch(value)
        or _pattern("email").fullmatch(value)
    ) and (_is_made_up(value) and _is_odd(value))
