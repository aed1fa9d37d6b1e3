"""Find secrets that have no published format, by one score.

A *cue* is a word of `labels.txt` that speaks of secrets, locks, accounts or networks. On lines
with cues, and below headings with cues, each word, key, number or phrase that could be a value is
scored: the weights of `weights.tsv` are added for its shape, for the cues around it and how near
they are, and for what is before and after it. A value whose sum is above zero is a secret.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import (
    FOLDER,
    Find,
    Span,
    any_of,
    expanded,
    is_placeholder,
    is_random,
    is_wide,
    line_end,
    pattern,
    section,
    words_of,
)

SORTS = ("word", "key", "digits", "phrase")
"""The sorts of values. Each has its own weights."""
_CUES: Mapping[str, tuple[str, ...]] = {
    "pass": ("password",),
    "phrase": ("phrase",),
    "key": ("key", "token"),
    "weak": ("weak", "secret", "pass"),
    "pin": ("pin",),
    "code": ("code",),
    "lock": ("lock", "lockbox", "purse"),
    "open": ("unlock", "enter"),
    "login": ("login", "credentials"),
    "net": ("network",),
    "new": ("reset", "changed", "renewed"),
}
"""The kinds of cues, and the sections of `labels.txt` with their words."""
_BACK, _AHEAD = 160, 80
"""How many characters before and after a value are searched for cues."""
_QUOTES = dict(zip("\"'`“„«「『‘", "\"'`”“»」』’", strict=True))
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<"}
Context = tuple[Sequence["Cue"], frozenset[str], Sequence[frozenset[str]]]
"""The cues of a line, the kinds of cues in the heading above, and those of each column."""
NOTHING: Context = ((), frozenset(), ())
_SAID = ("pass", "phrase", "key", "weak")
_SPOKEN = {"pass", "phrase"}
_HEADS = {"pass", "phrase", "weak", "key", "pin", "code", "login"}
_STRONG = {"pass", "phrase", "weak", "key", "pin", "code"}
_JOINT = re.compile(r"\w[-_]\w|[\"'`„“«‘「:=](?=\S)|(?<=:|=) |\w\.\w").search
_ODD = re.compile(r"\d|\w[!#$%^&*?=+~@]\w").search
_TOKEN = re.compile(r"[^\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]{4,400}").finditer
_ODD_TOKEN = re.compile(
    r"(?<!\S)(?=\S{0,60}[\d!#$%^&*?+=~@])[^\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]{4,400}"
    r"|(?<=[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef])[^\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]{4,400}"
).finditer
_INNER = re.compile(r"[\w.@+*-]{1,40}(?:[:=/]{1,2}|\)?:)|[(\[{<|,\"'`„“«‘]").finditer
_PLAIN = re.compile(r"[^\W\d_]+(?:[-_.'’][^\W\d_]+)*|[\W_]+").fullmatch
_WORDS = re.compile(r"[^\W_]+").findall
_MARKS = ".,;:!?()[]{}<>*_|\"'`„“”«»‘’「」『』"
_FLOOR = -5.5
"""A candidate whose shape and cues have less than this is no secret, whatever is beside it."""
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+").findall
_HEADING = re.compile(r"[ \t>]{0,8}(#{1,6})[ \t]").match
_MAX_BELOW = 40
"""The maximum number of lines that a heading names."""


class Cue(NamedTuple):
    """A word that speaks of secrets or of what they open, and the kinds of such words."""

    start: int
    end: int
    kinds: frozenset[str]


class Value(NamedTuple):
    """A candidate: a value that may be a secret."""

    start: int
    end: int
    sort: str
    quote: str = ""


class Row(NamedTuple):
    """A feature of `weights.tsv`: where it is tested, its pattern, and its weight for each sort."""

    name: str
    where: str
    pattern: str
    weights: tuple[float, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Return the features with their weights."""
    found = []
    for line in (FOLDER / "weights.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, where, spelled, *weights, _ = line.split("\t")
            found.append(Row(name, where, spelled, tuple(float(one or 0) for one in weights)))
    return tuple(found)


@cache
def _tests(where: str, sort: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the features that are a pattern, with their compiled patterns."""
    weights = _weights(sort)
    return [
        (row.name, re.compile(expanded(row.pattern)))
        for row in rows()
        if row.pattern
        and row.where == where
        and any(weights.get(before + row.name) for before in ("", "at+", "by+"))
    ]


@cache
def _weights(sort: str) -> Mapping[str, float]:
    column = SORTS.index(sort)
    return {row.name: row.weights[column] for row in rows()}


# -- cues ------------------------------------------------------------------------------------


@cache
def _kinds_by_word() -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
    """Return the kinds of cues by word, without blanks, and those by the end of a longer word."""
    plain: dict[str, set[str]] = {}
    ends: dict[str, set[str]] = {}
    for kind, names in _CUES.items():
        for word in (word for name in names for word in section(name)):
            plain.setdefault(_bare(word.lstrip("*")), set()).add(kind)
            if word.startswith("*"):
                ends.setdefault(_bare(word.lstrip("*")), set()).add(kind)
    for word in section("lockend"):
        ends.setdefault(word, set()).add("lock")
    for word in ("code", "kode", "koden", "kod"):
        ends.setdefault(word, set()).update(("code", "pin"))
    return plain, ends


def _bare(word: str) -> str:
    return re.sub(r"[ _-]", "", word)


@cache
def _cue() -> re.Pattern[str]:
    plain, ends = _kinds_by_word()
    every = [w for names in _CUES.values() for n in names for w in section(n)]
    latin = [w.lstrip("*") for w in every if not is_wide(w)]
    wide = [w for w in plain if is_wide(w)]
    long = [w.lstrip("*") for w in section("password") if len(w) > 4 and not is_wide(w)]
    inner = any_of(w.lstrip("*") for w in every if w[0] == "*" and not is_wide(w))
    tail = any_of(word for word in ends if not is_wide(word))
    return re.compile(
        rf"(?<![^\W_])(?:{any_of(latin)}(?:s|en|n)?\d?(?![^\W_])"
        rf"|{any_of(long)}[^\W\d_]{{0,5}}(?![^\W\d_]))"
        rf"|(?:(?<!\b1){inner}|(?<=[^\W\d_][^\W\d_][^\W\d_]){tail})(?:s|en|n)?(?![^\W_])"
        rf"|{any_of(wide)}"
    )


@cache
def _kinds(shown: str) -> frozenset[str]:
    """Return the kinds of a cue as it stands in a text."""
    plain, ends = _kinds_by_word()
    word = _bare(shown).rstrip("0123456789")
    for cut in range(min(6, len(word))):
        if found := plain.get(word[: len(word) - cut]) or ends.get(word[: len(word) - cut]):
            return frozenset(found)
    return frozenset()


def _cues(folded: str, start: int, end: int) -> Sequence[Cue]:
    found = []
    for match in _cue().finditer(folded, start, end):
        kinds = _kinds(match[0])
        # The key of a cache or a session is none to a lock.
        if "pass" in kinds or not pattern("harmless").search(folded[start : match.start()][-20:]):
            found.append(Cue(match.start(), match.end(), kinds))
    return found


@cache
def _heads() -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the words that begin a cue, by their first two letters, and other parts of cues."""
    plain, ends = _kinds_by_word()
    heads: dict[str, tuple[str, ...]] = {}
    inner = {word for word in (*plain, *ends) if is_wide(word) or not word.isalnum()}
    for word in (w.lstrip("*") for names in _CUES.values() for n in names for w in section(n)):
        if not is_wide(word) and (" " in word or word not in words_of("renewed")):
            longest = max(re.split(r"[ '’_-]", word), key=len)
            heads[longest[:2]] = (*heads.get(longest[:2], ()), longest)
            joined = _bare(word)
            heads[joined[:2]] = (*heads.get(joined[:2], ()), joined)
    return heads, tuple(inner)


@cache
def _endings() -> Callable[[str], object]:
    _, ends = _kinds_by_word()
    return re.compile("|".join(re.escape(end) for end in ends if not is_wide(end))).search


@cache
def _is_head(word: str) -> bool:
    """Return whether a word may be one of a cue."""
    return word.startswith(_heads()[0].get(word[:2], ())) or bool(_endings()(word))


def _lines_with_cues(folded: str) -> Sequence[Span]:
    _, inner = _heads()
    words = [word for word in set(regex(r"[^\W_]{2,40}").findall(folded)) if _is_head(word)]
    found: set[Span] = set()
    for word in (*words, *inner):
        at = folded.find(word)
        while at >= 0:
            end = line_end(folded, at)
            found.add((folded.rfind("\n", 0, at) + 1, end))
            at = folded.find(word, end)
    return sorted(found)


# -- lines -----------------------------------------------------------------------------------


def scored(text: str, folded: str) -> Iterator[Find]:
    """Yield the values whose score is above zero. `folded` is the text in lower case.

    Of two values that overlap, the one with the higher score is a secret.
    """
    for line, found in candidates(text, folded):
        taken = bytearray(line[1] - line[0])
        for score, value, names in sorted(found, key=lambda one: -one[0]):
            if score <= 0:
                break
            part = slice(value.start - line[0], value.end - line[0])
            if not any(taken[part]):
                taken[part] = b"1" * (value.end - value.start)
                yield value.start, value.end, _kind(value, names)


def candidates(
    text: str, folded: str
) -> Iterator[tuple[Span, list[tuple[float, Value, dict[str, float]]]]]:
    """Yield each line that may have a secret, with its candidates, their scores and features."""
    lines: dict[Span, Context] = {}
    read_to = table_to = 0
    for start, end in _lines_with_cues(folded):
        if not (cues := _cues(folded, start, end)):
            continue
        _, above, columns = lines.get((start, end), NOTHING)
        lines[start, end] = cues, above, columns
        kinds = frozenset().union(*(cue.kinds for cue in cues)) & _HEADS
        if start >= table_to and (rows := [*_rows_below(text, start, end)]):
            columns, table_to = _columns(text, start, end, cues), rows[-1][1]
            lines |= {row: ((), frozenset(), columns) for row in rows}
        elif start >= read_to and kinds and "public" not in folded[start:end]:
            for span in _below(text, start, end):
                lines[span] = (), kinds, ()
                read_to = read_to if _HEADING(text, start, end) else span[1]
    for (start, end), context in lines.items():
        cues, above, columns = context
        strong = above or columns or any(cue.kinds & _STRONG for cue in cues)
        spoken = strong and (above or any(cue.kinds & _SPOKEN for cue in cues))
        if not (spoken or _ODD(text, start, end) or (strong and _JOINT(text, start, end))):
            continue
        best: list[tuple[float, Value, dict[str, float]]] = []
        for value in _values(text, folded, (start, end), context):
            if found := features(text, folded, (start, end), value, context):
                score = sum(_weights(value.sort).get(name, 0.0) for name in found)
                best.append((score, value, found))
        yield (start, end), best


def _kind(value: Value, found: Mapping[str, float]) -> str:
    """Return the kind of a secret: that of the nearest word for a password or a key."""
    if value.sort == "digits":
        return "pin"
    places = ("at", "cell", "near", "far", "above", "after", "line")
    named = [kind for place in places for kind in _SAID if f"{kind}.{place}" in found]
    token = named[0] in ("key", "weak") if named else value.sort == "key"
    return "token" if token else "password"


def _below(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the lines that a heading, or a line that ends with a colon, is about."""
    line = text[start:end].strip()
    heading = _HEADING(text, start, end)
    titled = line.rstrip("*_").endswith((":", "：")) or len(line) <= 40
    level, seen, at = len(heading[1]) if heading else 7, False, end + 1
    for _ in range(_MAX_BELOW if heading or titled else 1):
        stop = line_end(text, at)
        inner = _HEADING(text, at, stop)
        if at >= len(text) or (inner and len(inner[1]) <= level):
            return
        blank = not text[at:stop].strip("`~=- \t\r")
        if blank and seen and not heading:
            return
        seen = seen or not blank
        if not blank:
            yield at, stop
        at = stop + 1


def _rows_below(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the rows under a line that is the header of a table."""
    at = line_end(text, end + 1)
    if text.find("|", start, end) < 0 or not pattern("ruler").match(text, end + 1, at):
        return
    while text.find("|", at + 1, stop := line_end(text, at + 1)) >= 0:
        yield at + 1, stop
        at = stop


def _columns(text: str, start: int, end: int, cues: Sequence[Cue]) -> Sequence[frozenset[str]]:
    """Return the kinds of cues in each column of the header of a table."""
    found = []
    at = start
    for _ in range(12):
        stop = text.find("|", at, end)
        stop = end if stop < 0 else stop
        inside = (cue.kinds for cue in cues if at <= cue.start < stop)
        found.append(frozenset().union(*inside))
        at = stop + 1
    return found


# -- candidates ------------------------------------------------------------------------------


def _values(text: str, folded: str, line: Span, context: Context) -> Iterator[Value]:
    """Yield the candidates of a line."""
    start, end = line
    cues, above, columns = context
    follows = partial(_follows, folded, context)
    seen: set[Span] = set()
    for match in pattern("numeric").finditer(text, start, end):
        seen.add(match.span())
        yield Value(*match.span(), "digits")
    is_strong = columns or above & _SPOKEN or any(cue.kinds & _PLAINLY for cue in cues)
    for token in (_TOKEN if is_strong else _ODD_TOKEN)(text, start, end):
        if _PLAIN(token[0].strip(_MARKS)) and not follows(token.start()):
            continue
        for at in (token.start(), *(p.end() for p in islice(_INNER(text, *token.span()), 8))):
            value = _value_at(text, at, min(end, token.end() + 1))
            if value is None or value[:2] in seen or not 6 <= value.end - value.start <= 400:
                continue
            seen.add(value[:2])
            shown = text[value.start : value.end]
            if _PLAIN(shown) and not follows(value.start):
                continue
            if not is_benign(shown):
                yield value._replace(sort="key" if _is_key(shown) else "word")
    yield from _phrases(text, start, end, cues)


def _is_key(shown: str) -> bool:
    """Return whether a value is made by a machine: long, random, and not of words and numbers."""
    if len(shown) < 16 or not pattern("key").fullmatch(shown) or not is_random(shown):
        return False
    return len(_RUNS(shown)) * 3.5 > len(shown)


def is_benign(shown: str) -> bool:
    """Return whether a value is a placeholder, says where a secret is, or is a common word."""
    return bool(
        is_placeholder(shown)
        or pattern("pointer").fullmatch(shown)
        or pattern("address").fullmatch(shown)
        or pattern("shape").match(shown)
        or pattern("email").fullmatch(shown)
        or shown.lower() in words_of("ordinary", "rules", "technical")
    )


def _follows(folded: str, context: Context, at: int) -> bool:
    """Return whether few words are between a plain word and a word of secrecy before it."""
    cues, above, columns = context
    if columns or above & _SPOKEN:
        return True
    for cue in reversed(
        cues[max(0, (n := bisect_right(cues, at, key=attrgetter("end"))) - 20) : n]
    ):
        if at - cue.end > 100:
            break
        if cue.kinds & _PLAINLY:
            return sum(word not in _connectors() for word in _WORDS(folded, cue.end, at)) <= 8
    return False


@cache
def _connectors() -> frozenset[str]:
    """Return the words that may stand between a cue and its value."""
    names = ("is", "of", "with", "copula", "into", "from", "article")
    return frozenset(part for w in words_of(*names) for part in re.split(r"[\W_]+", w) if part)


def _phrases(text: str, start: int, end: int, cues: Sequence[Cue]) -> Iterator[Value]:
    """Yield quoted spans of several words, and the words after a cue for a pass phrase."""
    if not any(cue.kinds & {"pass", "open", "net", "weak", "key"} for cue in cues):
        return
    for match in regex(r"(?<!\w)[\"'`“„«‘「][ \u00a0\u202f]?(?=\w)").finditer(text, start, end):
        close = text.find(_QUOTES[match[0][0]], match.end(), min(end, match.end() + 120))
        shown = text[match.end() : close].rstrip()
        if close > 0 and 2 <= len(shown.split()) <= 12:
            if set(shown) & set("<>$\\/=") or is_placeholder(shown):
                continue
            yield Value(match.end(), match.end() + len(shown), "phrase", match[0][0])
    at = start
    for cue in cues:
        if cue.kinds & {"pass", "open", "login", "new"} and cue.start >= at:
            for match in islice(
                pattern("phrase").finditer(text, cue.start, min(end, cue.end + 100)), 4
            ):
                if not is_placeholder(match["phrase"]):
                    yield Value(*match.span("phrase"), "phrase")
                at = match.end()


def _value_at(text: str, at: int, end: int) -> Value | None:
    """Return the value at an offset, without quotes and without the punctuation after it."""
    opening = pattern("open").match(text, at, end)
    start = opening.end() if opening else at
    quote = opening[0].rstrip()[-1:] if opening else ""
    quote = quote or text[start - 1 : start]
    close = _QUOTES.get(quote)
    if close:
        stop = text.find(close, start, start + 200)
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if stop > start and not any(map(str.isspace, text[start:stop])):
            return Value(start, stop - (text[stop - 1] == "\\"), "word", quote)
    match = pattern("value").match(text, start, end)
    if match is None:
        return None
    value, before = match[0], text[max(0, start - 200) : start].rpartition("\n")[2]
    if "|" in value and (before.lstrip().startswith("|") or before.endswith("|")):
        value = value.partition("|")[0]
    value = regex(r"[;&,](?=\w+=)|;$").split(value)[0]
    start += len(value) - len(value.lstrip(":="))
    value = value.lstrip(":=")
    if tag := pattern("tag").search(value):
        value = value[: tag.start()]
    while value and (
        value[-1] in ".,;:\"'`”’»…|\\([{"
        or (value[-1] in "*_" and value[-1] in before)
        or (value[-1] in _CLOSERS and value.count(value[-1]) > value.count(_CLOSERS[value[-1]]))
    ):
        value = value[:-1]
    return Value(start, start + len(value), "word", (close and quote) or "") if value else None


# -- features --------------------------------------------------------------------------------


def features(
    text: str, folded: str, line: Span, value: Value, context: Context
) -> dict[str, float] | None:
    """Return the features of a candidate that are true, by name, or nothing if it is no secret."""
    start, end = line
    cues, above, columns = context
    shown = text[value.start : value.end]
    found = dict.fromkeys(("bias",), 1.0)
    places: dict[str, int] = {}
    first = bisect_left(cues, value.start - _BACK, key=attrgetter("end"))
    for cue in islice(cues, first, None):
        if cue.start > value.end + _AHEAD:
            break
        if cue.end > value.start and cue.start < value.end:
            if value.sort == "phrase" and "key" in cue.kinds:
                return None
            continue
        place = _place(folded, cue, value)
        for kind in cue.kinds:
            places[kind] = min(place, places.get(kind, 9))
    for kind, place in places.items():
        found[f"{kind}.{_PLACES[place]}"] = 1.0
    for kind in above:
        if f"{kind}.above" in _weights(value.sort):
            found[f"{kind}.above"] = 1.0
    if columns and value.start < start + 2000:
        cell = text.count("|", start, value.start)
        for kind in columns[cell] if cell < len(columns) else ():
            if kind in ("pass", "weak", "key", "pin", "code"):
                found[f"{kind}.cell"] = 1.0
        if not any(name.endswith(".cell") for name in found):
            found["other.cell"] = 1.0
    found |= {name: 1.0 for name, test in _tests("value", value.sort) if test.fullmatch(shown)}
    if value.sort == "key" and is_random(shown, 4.0):
        found["dense"] = 1.0
    weights = _weights(value.sort)
    if sum(weights.get(name, 0.0) for name in found) < _FLOOR:
        return None
    if not _is_named(shown, value.sort, text[start : value.start], found):
        return None
    before = text[max(start, value.start - 60) : value.start].lower()
    for where, part in (
        ("before", before.rstrip("\"'`“„«‘「『*_ \t(") if value.quote else before),
        ("mark", text[max(start, value.start - 60) : value.start]),
        ("after", text[value.end : min(end, value.end + 40)].lstrip("\"'`”“»’」』*_")),
        ("sentence", _sentence(folded, start, end, value)),
    ):
        found |= {name: 1.0 for name, test in _tests(where, value.sort) if test.search(part)}
    if value.quote:
        found["tick" if value.quote == "`" else "quoted"] = 1.0
    for near, these in (("at", ("at", "cell")), ("by", ("near", "far", "above"))):
        if any(f"{kind}.{place}" in found for kind in _STRONG for place in these):
            found |= {f"{near}+{name}": 1.0 for name in _JOINED if name in found}
    return found


def _is_named(shown: str, sort: str, before: str, found: Mapping[str, float]) -> bool:
    """Return whether words of secrecy are near enough to a value of its sort.

    Ids that are often public, and random values, need a label: `label: value`, or a heading.
    """
    near = {name.partition(".")[0] for name in found if name.endswith(_NEAR)}
    shapes = (sort, *(name for name in ("capnum", "numbered") if name in found))
    needed = next((_NEEDED[shape] for shape in shapes if shape in _NEEDED), None)
    if needed and near.isdisjoint(needed):
        return False
    is_public = sort != "digits" and pattern("public").fullmatch(shown)
    if not (is_public or sort == "key"):
        return True
    is_short = is_public and len(shown) < 16  # the column of a key has ids, too
    cells = ("pass", "phrase", "weak") if is_short else _SAID
    places = ("at",) if is_public else ("at", "near", "above")
    if any(f"{kind}.{place}" in found for kind in _SAID for place in places):
        return True
    if any(f"{kind}.cell" in found for kind in cells):
        return True
    is_said = any(f"{kind}.{place}" in found for kind in cells for place in ("near", "far"))
    return is_said and pattern("labelling").search(before[-80:]) is not None


_NEAR = (".at", ".near", ".cell", ".above", ".after")
_NEEDED = {
    "digits": {"pass", "phrase", "pin", "code", "open", "lock"},
    "phrase": {"pass", "phrase", "weak", "open", "login"},
    "numbered": {"pass", "phrase", "weak", "open", "key", "new", "login", "net"},
    "capnum": {"pass", "phrase", "weak", "open"},
}
"""The kinds of cues of which one must be near a value, by its sort or shape."""
_PLAINLY = {"pass", "weak", "key", "phrase", "new", "open"}
_JOINED = (
    "colon",
    "is",
    "ends",
    "stop",
    "comma",
    "into",
    "with",
    "paren",
    "segs3",
    "kebab",
    "snake",
    "lowerword",
    "plainword",
    "numbered",
    "year",
    "unit",
    "refer",
    "advice",
    "sign",
    "tail",
    "quoted",
    "tick",
    "next",
    "caps",
    "d4",
    "d5",
    "d6",
    "and",
    "hash",
    "goes",
)
_PLACES = ("at", "near", "far", "after", "line")


def _place(folded: str, cue: Cue, value: Value) -> int:
    """Return how near a cue is: 0 linked, 1 near, 2 in the sentence, 3 right after, 4 elsewhere."""
    gap = (cue.end, value.start) if cue.end <= value.start else (value.end, cue.start)
    words = _WORDS(folded, *gap)
    is_broken = pattern("sentence").search(folded, *gap)
    if cue.start >= value.end:
        return 3 if len(words) <= 4 and not is_broken else 4
    others = sum(word not in _connectors() for word in words)
    if is_broken:
        return 4
    return 0 if not others else 1 if others <= 3 else 2


def _sentence(folded: str, start: int, end: int, value: Value) -> str:
    """Return the sentence around a value, without the value."""
    start, end = max(start, value.start - _BACK), min(end, value.end + 2 * _AHEAD)
    before, after = folded[start : value.start], folded[value.end : end]
    for match in pattern("sentence").finditer(before):
        start = match.end()
    before = folded[start : value.start] if start <= value.start else before
    stop = pattern("sentence").search(after)
    return before + "\0" + (after[: stop.start()] if stop else after)
