"""Find what a wording states that its grounds do not: figures, dates, times, names, identifiers.

Code only compares exact things. Whether the evidence states the wording, with its units, days of
the week, negations and limits, is a second question to the judge (`judge.questions`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.patterns import read_table, regex
from memrepo.text.dates import month_names
from memrepo.text.words import bare, language_of, stems

TABLES = Path(__file__).resolve().parents[1] / "languages" / "figures.toml"
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = regex(rf"[{_WIDE}]+|[^\W_{_WIDE}]+")
_CHUNK = regex(
    rf"[^\s()\[\]{{}}<>\"'`“”„«»‘’「」『』《》〈〉【】（）,;!?。、，；：！？|…*—～·{_WIDE}]+"
)
_EDGES = ".:-_&+=°–€$£¥₹"
_TOKEN = regex(
    rf"[^\W_{_WIDE}](?:[^\s()\[\]{{}}<>\"'`“”„«»‘’「」『』（）、。，；！？|*{_WIDE}]*[^\W_{_WIDE}])?"
)
"""What a person would read as one piece, with the signs in it: `R$39,90/mês`, `MA10/20`."""
_QUOTED = regex(
    r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»|„([^„“”\n]+)[“”]|「([^「」]+)」"
)
_SENTENCE_END = frozenset(".!?:;\n。！？：•·→")
_NUMBER = regex(rf"(?<![^\W_{_WIDE}])[€$£¥₹]?[ ]?\d+(?:[.,'’\u00a0\u202f]\d+)*")
_AFTER = regex(rf"[ \t\u00a0\u202f-]?(?:([^\W\d_{_WIDE}]+|[{_WIDE}]+|°[cCfF]|%|[€$£¥₹]))?")
_ISO = regex(r"(?<![A-Za-z\d])(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?!\d|(?!T\d)[A-Za-z])")
_DOTTED = regex(r"(?<![\d./-])(\d{1,2})([./-])(\d{1,2})(?:\2(\d{4}|\d\d))?(?![\d/]|\.\d)")
_SHORT = regex(r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})(\.?)(?![\w/-]|\.\d)")
"""A date without a year, or a version, ratio or range. Its day may come first or last."""
_EAST = regex(r"(?:(\d{4})\s?年\s?)?(\d{1,2})\s?月(?:\s?(\d{1,2})\s?[日号])?")
_CLOCK = regex(
    r"(?<![\d:.])(\d{1,2})(?:[:.h](\d{2}))?(?::\d{2})?[ ]?([ap])\.?m\b(?! (?-i:[A-ZÄÖÜ]))", 2
)
"""A time with `am` or `pm`. Before a capital, `am` may be German."""
_CLOCK_24 = regex(r"(?<![\d:.])(\d{1,2})[:h](\d{2})(?::\d{2})?(?!\d|:\d)")
_ORDINAL = regex(rf"(?<![^\W_{_WIDE}])(\d+)(?:st|nd|rd|th|er|e|º|ª|\.|[日号])(?![^\W\d_])", 2)
_UUID = regex(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", 2)
_RUN = regex(r"(?<![\d.,])\d{1,15}(?![\d]|[.,]\d)")
_EMPHASIS = regex(r"(?<![^\W_])_+|_+(?![^\W_])")
_BRANCH = regex(r"[├└]")
_MONTH_DAYS = 31
"""Days from that of a log within which its words for days, such as `Friday`, may mean a date."""
_SHOWN = 60
_STEM = 5
"""Minimum letters of the part that two forms of a word share."""
_INFLECTING = frozenset(("russian", "polish", "czech", "finnish", "hungarian", "turkish"))
_ALL_NOUNS = frozenset(("german",))
Day = tuple[int, int, int]
"""Year, month and day. An unknown part is 0."""


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """The texts on which a wording may be based.

    `evidence` contains the statements to word. `context` contains their headings, keys and file
    names. `others` are other lines of their files, which may only spell a name such as YouTube.
    `days` are the dates of the evidence by heading or file. Commit dates are excluded, since they
    only show when the evidence was stored. `has_near_days` is whether words such as "last week" may
    mean a date near them, which code does not read.
    """

    evidence: tuple[str, ...]
    context: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    has_near_days: bool = True

    @property
    def texts(self) -> tuple[str, ...]:
        """Return all texts of the grounds in one tuple."""
        return (*self.evidence, *self.context)


class UnsupportedPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a field that does not occur in the grounds, and the kind of the piece."""

    field: str
    piece: str
    kind: str

    def __str__(self) -> str:
        return f"{self.field}: {self.kind} that is not in the evidence: {self.piece[:_SHOWN]}"


def find_unsupported(
    fields: Iterable[tuple[str, str]], grounds: Grounds
) -> Iterator[UnsupportedPiece]:
    """Yield each piece of the given (name, text) fields that does not occur in the grounds."""
    known = _ParsedGrounds(grounds)
    for field, text in fields:
        for kind, piece in _foreign(text, known):
            yield UnsupportedPiece(field=field, piece=piece, kind=kind)


class _ParsedGrounds:
    """Parsed grounds, shared by all checks."""

    def __init__(self, grounds: Grounds) -> None:
        whole = "\n".join(grounds.texts)
        self.grounds, self.whole = grounds, whole
        self.folded = normalise(whole)
        self.loose = loose(whole)
        self.words = frozenset(bare(word) for word in _WORD.findall(self.folded))
        self.values = {value for figure in _figures(whole) for value in figure.values}
        self.values |= {value for figure in _worded(whole) for value in figure.values}
        self.values |= {float(run) for run in _RUN.findall(whole)}
        self.clocks = set(_clocks(whole))
        self.days = read_dates(whole)[0]
        short = [*_short_dates(whole)]
        pairs = (*short, *((two, one) for one, two in short))
        self.days |= {(0, month, day) for month, day in pairs if 0 < month <= 12 and 0 < day < 32}
        self.stated = {d for day in grounds.days for d in read_dates(day[:10])[0]}
        self.years = {year for year, _, _ in (*self.days, *self.stated) if year}
        self.values |= {year + more for year, _, _ in self.stated for more in (0, 1)}  # next year
        self.tongues = {_by_word("tongues").get(word) for word in self.words} - {None}

    @cached_property
    def spelled(self) -> frozenset[str]:
        """Return the words of the other lines, with their capitals."""
        return frozenset(_WORD.findall("\n".join(self.grounds.others)))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of the words, by which `Googling` names Google."""
        return frozenset(stems(sorted(self.words)))

    def allows_day(self, day: Day) -> bool:
        """Return whether the evidence supports a date.

        A date is supported if the grounds contain it, or if it is near the day of their file.
        """
        if any(is_same_day(day, other, self.years) for other in self.days) or day in self.stated:
            return True
        undated = any(
            is_same_day((0, *day[1:]), other, set()) for other in self.days if not other[0]
        )
        if undated and any(_is_nearest(day, stated) for stated in self.stated):
            return True
        has_near = self.grounds.has_near_days
        return has_near and any(_is_near(day, stated) for stated in self.stated)

    def language(self, text: str) -> str:
        """Return the language of a text, determined from the text and its evidence."""
        whole = "\n".join((text, *self.grounds.evidence))
        return language_of([word.casefold() for word in _WORD.findall(whole)], whole, 1)

    def holds(self, literal: str) -> bool:
        """Return whether the grounds contain an identifier verbatim, ignoring case."""
        found = normalise(literal)
        before = rf"(?<![^\W_{_WIDE}])" if found[0].isalnum() else ""
        after = rf"(?![^\W_{_WIDE}])" if found[-1].isalnum() else ""
        if re.search(f"{before}{re.escape(found)}{after}", self.folded):
            return True
        parts = literal.split("/") if _BRANCH.search(self.whole) else ()  # a tree
        return len(parts) > 1 and all(map(self.holds, filter(None, parts)))

    def quotes(self, token: str) -> bool:
        """Return whether the grounds contain a token of letters and digits, unchanged."""
        if token.isalpha() or not any(map(str.isalpha, token)) or not regex(r"\d").search(token):
            return False
        around = rf"(?<![^\W_{_WIDE}])(?<!\w[.,/:$-]){re.escape(token)}(?![^\W_{_WIDE}]|[.,/:-]\d)"
        return re.search(around, self.whole) is not None

    def inflects(self, literal: str) -> bool:
        """Return whether the grounds have the names in a literal, of which each may end otherwise.

        It is a word in capitals, or a compound that ends in lower case: no name of a machine does.
        Words in lower case are left to the second question (`SSH-Schlüssel` for an SSH key).
        """
        words = literal.split("-")
        is_compound = len(words) > 1 and words[-1].islower()
        if not "".join(words).isalpha() or not (is_compound or literal.removesuffix("s").isupper()):
            return False
        return all(self._has_form(word) for word in words if not word.islower())

    def _has_form(self, word: str) -> bool:
        stem = bare(normalise(word))[:-2]
        is_longer = len(stem) >= _STEM and any(known.startswith(stem) for known in self.words)
        return is_longer or self.names(word, "")

    def names(self, word: str, language: str) -> bool:
        """Return whether a word is a name that occurs in the grounds.

        Its ending may differ as that of other words does, and more in inflected languages.
        """
        folded = bare(normalise(word))
        forms = (folded, folded.removesuffix("s"), f"{folded}s")
        if any(form in self.words for form in forms):
            return True
        if not self.stems.isdisjoint(stems([folded])):
            return True
        stem = folded[: max(3, len(folded) - 3)]
        return language in _INFLECTING and any(known.startswith(stem) for known in self.words)


def languages_of(*texts: str) -> frozenset[str]:
    """Return the languages of some texts. A text of which little is sure may be English too."""
    found: set[str] = set()
    for text in texts:
        folded = [bare(word) for word in _WORD.findall(normalise(text))]
        found |= {language_of(folded, text), language_of(folded, text, 1)}
    return frozenset(found)


def literals_of(text: str) -> list[str]:
    """Return the paths, addresses, identifiers and quoted code of a text."""
    quoted = regex(r"`([^`\n]+)`").findall(text)
    return [*dict.fromkeys((*quoted, *_literals(text)))]


def _foreign(text: str, known: _ParsedGrounds) -> Iterator[tuple[str, str]]:
    for match in _QUOTED.finditer(text):
        quoted = next(filter(None, match.groups()))
        parts = [f" {loose(part)} " in f" {known.loose} " for part in quoted.split("/")]
        if loose(quoted) not in known.loose and not (len(parts) > 1 and all(parts)):
            yield "a quotation", match[0]
    for match in _UUID.finditer(text):
        if not known.holds(match[0]):
            yield "a name or identifier", match[0]
    text = _UUID.sub(" ", text)
    rest = _TOKEN.sub(lambda match: " " if known.quotes(match[0]) else match[0], text)
    for literal in _literals(rest):
        rest = rest.replace(literal, " ", 1)
        if not (known.holds(literal) or f" {loose(literal)} " in f" {known.loose} "):
            if known.inflects(literal) or literal in known.spelled:
                continue  # REQUIRED as REQUIRES, AI-assistent as AI-assistenten, YouTube for YT
            yield "a name or identifier", literal
    days, undated = read_dates(rest)
    is_listed = languages_of(text) <= frozenset(_table("languages")["listed"].split())
    for day in sorted(days):
        if not known.allows_day(day):
            yield "a date", "-".join(f"{part:02}" for part in day if part)
    for clock in _clocks(rest):
        if clock not in known.clocks and not _whole_hour(clock, known):
            yield "a time", clock
    figures = _without_times(undated)
    worded = _worded(figures) if is_listed else ()
    for figure in (*_figures(figures), *worded):
        is_word = any(map(str.isalpha, figure.raw)) and min(figure.values) <= 2  # a pronoun
        if not (is_word or figure.values & (known.values | known.years)):
            yield "a number", figure.raw
    yield from _foreign_names(text, known)


# -- identifiers and names -----------------------------------------------------------------------


def _literals(text: str) -> Iterator[str]:
    """Yield a text's literals: paths, addresses, identifiers and unusually capitalised words."""
    for match in _CHUNK.finditer(_without_times(read_dates(text)[1])):
        chunk = match[0] if match[0].startswith("--") else match[0].strip(_EDGES)
        chunk = chunk.removesuffix("/")
        if len(chunk) > 1 and _is_literal(chunk):
            yield chunk


def _is_literal(chunk: str) -> bool:
    if _NUMBER.fullmatch(chunk) or _ORDINAL.fullmatch(chunk):
        return chunk.count(".") > 1 and any(len(part) != 3 for part in chunk.split(".")[1:])
    if regex(r"[A-Z]{1,3}[€$£¥₹]\d").match(chunk):  # `R$39` of `R$39,90` is no whole piece
        return False
    if chunk[0].isdigit() and chunk.lstrip("0123456789.,-").isalpha():  # a figure and its unit
        return False
    if any(sign in chunk for sign in "_@\\=#") or "://" in chunk or chunk.startswith("--"):
        return True
    if "/" in chunk:
        parts = chunk.split("/")
        return not all(part.isdigit() or (part.isalpha() and part.islower()) for part in parts[:2])
    if "." in chunk:
        parts = chunk.split(".")
        return (
            all(parts)
            and any(len(part) > 2 for part in parts)
            and not chunk.replace(".", "").isdigit()
        )
    if any(ch.isdigit() for ch in chunk):
        return any(ch.isalpha() for ch in chunk)
    if chunk in _SORTS:
        return False
    return any(ch.isupper() for ch in chunk[1:].replace("-", " ").split(" ", 1)[0])


_SORTS = frozenset(("ID", "IDs", "IP", "URL", "URLs"))
"""Words in capitals that say of what sort a value is, as in `his Slack ID is U0417`."""


def _foreign_names(text: str, known: _ParsedGrounds) -> Iterator[tuple[str, str]]:
    """Yield (kind, word) pairs for capitalised words of a text that are not in the grounds.

    The first word of a sentence is exempt.
    """
    language = known.language(text)
    if _ALL_NOUNS & {language, known.language("\n".join((text, *known.grounds.texts)))}:
        return
    for match in _WORD.finditer(text):
        word = match[0]
        plain = bare(word.casefold())
        if _by_word("tongues").get(plain) in known.tongues:
            continue
        if plain.removesuffix("s") in _by_word("weekdays"):
            continue
        before = text[: match.start()].rstrip(" \t\"'`“„«‘(*_-[")
        if not word[0].isupper() or not before or before[-1] in _SENTENCE_END:
            continue
        if not word[1:].islower() or text[match.start() - 1 : match.start()] in ("'", "’"):
            continue
        if word in ("I", "OK") or word.casefold() in month_names():
            continue
        if not known.names(word, language):
            yield "a name", word


def read_dates(text: str) -> tuple[set[Day], str]:
    """Return the dates in a text, and the text with these dates removed.

    Without its dates, the remaining numbers can be compared as figures.
    """
    found: set[Day] = set()

    def take(match: re.Match[str], year: str, month: str, day: str) -> str:
        if not 0 < int(month or 0) <= 12 or not int(day or 0) < 32:
            return match[0]
        found.add(
            (int(year or 0) + (2000 if len(year or "") == 2 else 0), int(month), int(day or 0))
        )
        return " "

    def dotted(match: re.Match[str]) -> str:
        one, sign, two, year = match.groups()
        if len(year or "") < 4 if sign == "-" else not year and (sign == "/" or len(two) == 1):
            return match[0]  # 1-2 is a range, 1/2 a half, 1.5 a number
        turned = sign != "/" or int(two) <= 12
        return take(match, year, *((two, one) if turned else (one, two)))

    def named(match: re.Match[str]) -> str:
        first, before, name, after, year = match.groups()
        number = after if after and int(after) < 32 else ""
        month = str(month_names().get(name.casefold(), 0))
        bare_word = name.islower() and not year
        is_other = bare_word and (name in _VERBS or not (before or number))
        if month == "0" or (is_other and len(name) < _LONG_MONTH):
            return match[0]
        if first:
            take(match, year, month, first)
        took = take(match, year, month, before or number)
        return took if number == (after or "") else f" {after}"

    text = _ISO.sub(lambda m: take(m, m[1], m[2], m[3]), _EMPHASIS.sub(" ", text))
    text = _DOTTED.sub(dotted, text)
    text = _EAST.sub(lambda m: take(m, m[1], m[2], m[3]), text)
    return found, _named_date().sub(named, text)


_VERBS = ("may", "mar", "march")
_LONG_MONTH = 6


@cache
def _named_date() -> re.Pattern[str]:
    names = "|".join(sorted(month_names(), key=len, reverse=True))
    first = r"(?:\b(\d{1,2})\s*(?:to|and|-|–|bis|und|au|al|y|e|tot)\s*)?"
    before = r"(?:\b(\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?)?"
    after = r"\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?(?!\d|:\d))?(?:,?\s+(?:de\s+)?(\d{4})\b)?"
    return re.compile(rf"{first}{before}\b({names})\b{after}", re.IGNORECASE)


def is_same_day(mine: Day, other: Day, years: set[int]) -> bool:
    """Return whether two dates are equal, or one is a less precise form of the other."""
    year = mine[0] in (other[0], 0) or (other[0] == 0 and mine[0] in years)
    return year and mine[1] == other[1] and mine[2] in (other[2], 0)


def _is_nearest(day: Day, stated: Day) -> bool:
    """Return whether a date is at most six months away, so that its year needs no mention."""
    return day[0] > 0 and abs(12 * (day[0] - stated[0]) + day[1] - stated[1]) <= 6


def _is_near(day: Day, stated: Day) -> bool:
    """Return whether a date, or the first day of a month, is at most a month away from another."""
    try:
        away = date(day[0] or stated[0], day[1], day[2] or 1) - date(*stated)
    except ValueError:
        return False
    return abs(away.days) <= _MONTH_DAYS


def _short_dates(text: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers of `31-12`, `3/12` and `3.12.`, but not of a version or a range."""
    for one, sign, two, end in _SHORT.findall(text):
        is_padded = len(one) == len(two) == 2
        if sign == "/" or (sign == "." and end) or (sign == "-" and (is_padded or int(one) > 12)):
            yield int(one), int(two)


def _clocks(text: str) -> Iterator[str]:
    for hour, minute, half in _CLOCK.findall(text):
        yield f"{int(hour) % 12 + (12 if half in 'pP' else 0)}:{minute or '00'}"
    for hour, minute in _CLOCK_24.findall(_CLOCK.sub(" ", text)):
        yield f"{int(hour)}:{minute}"


def _whole_hour(clock: str, known: _ParsedGrounds) -> bool:
    hour, minute = clock.split(":")
    plain = {float(hour), float(int(hour) % 12 or 12)}
    return minute == "00" and not plain.isdisjoint(known.values) and not known.clocks


def _without_times(text: str) -> str:
    return _CLOCK_24.sub(" ", _CLOCK.sub(" ", text))


class _Figure(msgspec.Struct, frozen=True):
    values: frozenset[float]
    raw: str


def _figures(text: str) -> Iterator[_Figure]:
    for match in _NUMBER.finditer(text):
        raw = match[0].strip()
        values = _values(raw.strip("€$£¥₹ "))
        after = _AFTER.match(text, match.end())
        word = (after[1] or "") if after else ""
        scale = _values_of("scales").get(bare(word.casefold()), 0)
        if scale and not (word == "m" and raw[0].isdigit()):
            values = frozenset(value * scale for value in values)
        yield _Figure(values, raw)


def _values(raw: str) -> frozenset[float]:
    """Return the possible values of a written number, such as 1.5 and 1500 for `1.500`."""
    signs = [sign for sign in raw if not sign.isdigit()]
    whole = float("".join(filter(str.isdigit, raw))[:15])
    if not signs or signs[-1] not in ".," or (len(set(signs)) == 1 and len(signs) > 1):
        return frozenset((whole,))
    head, last = raw.rsplit(signs[-1], 1)
    split = float(f"{''.join(filter(str.isdigit, head))[:15]}.{last[:15]}")
    return frozenset((whole, split) if len(signs) == 1 and len(last) == 3 else (split,))


def _worded(text: str) -> Iterator[_Figure]:
    """Yield the numbers in a text that are written as words."""
    words = [*map(bare, re.findall(rf"[^\W\d_{_WIDE}]+", text.casefold())), ""]
    for word, after in pairwise(words):
        if value := _values_of("numbers").get(word, 0):
            ones = _values_of("numbers").get(after, 0) if value >= 20 else 0
            yield _Figure(frozenset((value, value + ones if ones < 10 else value)), word)


@cache
def _table(section: str) -> Mapping[str, str]:
    found: Mapping[str, Mapping[str, str]] = read_table(TABLES)
    return found[section]


@cache
def _by_word(section: str) -> Mapping[str, str]:
    return {bare(word): name for name, words in _table(section).items() for word in words.split()}


@cache
def _values_of(section: str) -> Mapping[str, float]:
    return {word: float(name) for word, name in _by_word(section).items()}


def loose(text: str) -> str:
    """Return the normalised words of a text, separated by single blanks."""
    return " ".join(_WORD.findall(normalise(text.replace("**", ""))))
