"""Split text into words, tokens and search terms, by the tables of words for each language.

Indexed texts and questions are split in the same way. Case, compatibility forms (NFKC) and accents
are folded. Search terms are stems by the rules of the text's language (Snowball). Irregular English
forms are replaced by their base form. Text in scripts without blanks (Han, Kana, Thai, ...) is
split into overlapping pairs of characters. So is Hangul, which appends particles to words.

Each language has one file, `memrepo/languages/NAME.toml`. docs/languages.md describes the sections
and the syntax of entries. Sections are parsed on first use, because a search needs few of them.

A word may be a function word in one language and a content word in another (German and English
`die`). A text has the language with most of its function words, or English if no language has more.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, cast

import msgspec

from memrepo.core.ids import normalise, visible
from memrepo.core.patterns import compiled, load_or_make, parsed, regex
from memrepo.core.times import MONTHS

FOLDER = Path(__file__).parents[1] / "languages"
ENGLISH = "english"
LANGUAGES = (
    *"english german french spanish italian portuguese dutch swedish danish norwegian".split(),
    *"finnish polish czech hungarian romanian turkish indonesian vietnamese russian".split(),
    *"ukrainian greek arabic hindi tamil armenian japanese chinese korean".split(),
)
"""All languages with a file. A text that fits several languages has the first of them."""
_SECTION = regex(r"(?m)^\[(\w+)")
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_WIDE = regex(f"[{_WIDE}]")
_NOTHING = regex(r"(?!)")
MIN_PLAIN_LENGTH = 4
"""Shorter words are not matched without their accents, because they may be other words."""


@cache
def _sections(language: str) -> Mapping[str, str]:
    """Return the text of each section in a language's file, including subsections."""
    text = FOLDER.joinpath(f"{language}.toml").read_text("utf-8")
    found = [*_SECTION.finditer(text)]
    sections: dict[str, str] = {}
    for match, after in zip(found, [*found[1:], None], strict=True):
        part = text[match.start() : after.start() if after else len(text)]
        sections[match[1]] = sections.get(match[1], "") + part
    return sections


@cache
def table(language: str, section: str) -> Mapping[str, Any]:
    """Return a section of a language's file, or an empty mapping if the section is missing."""
    text = _sections(language).get(section, "")
    found: Mapping[str, Any] = parsed(text).get(section, {}) if text else {}
    return found


def tables(section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (language, section) for each language whose file contains the section."""
    for language in LANGUAGES:
        if found := table(language, section):
            yield language, found


@cache
def entries(section: str, key: str, own: Sequence[str] = LANGUAGES) -> tuple[str, ...]:
    """Return the entries of a key for some languages. A text value is split into words."""
    values = (table(language, section).get(key, ()) for language in own)
    lists = (value.split() if isinstance(value, str) else value for value in values)
    return tuple(entry for one in lists for entry in one)


class WordPattern:
    """A pattern of many entries, which searches a text only if it has the longest word of one.

    Looking up the words of a text takes a fraction of the time of a search, and the pattern is
    compiled when a text has one of them.
    """

    def __init__(self, found: Sequence[str], *, start: bool = False, end: bool = False) -> None:
        wide = "|".join(re.escape(entry) for entry in found if _IS_WIDE.search(entry))
        self._wide = regex(wide) if wide else _NOTHING
        self._starts = load_or_make(
            ("\n".join(found), "telling"),
            lambda: _telling_words(entry for entry in found if not _IS_WIDE.search(entry)),
        )
        self._given = found, start, end

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        found, start, end = self._given
        return pattern(found, start=start, end=end)

    def pattern_for(self, text: str) -> re.Pattern[str]:
        """Return the pattern, or one that matches nothing if no part of a text can match it."""
        is_wide = not text.isascii() and self._wide.search(text)
        if is_wide or self._starts is None or not self._starts.isdisjoint(_starts_of(text)):
            return self._pattern
        return _NOTHING

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a text, or None."""
        return self.pattern_for(text).search(text)

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match at the beginning of a text, or None."""
        return self.pattern_for(text).match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text, or None."""
        return self.pattern_for(text).fullmatch(text)


def _telling_words(found: Iterable[str]) -> frozenset[str] | None:
    """Return how a word begins in every text with one of the entries, or None if unknown.

    A whole word ends in a blank.
    """
    starts: set[str] = set()
    for one in {form.lower() for entry in found for form in (entry, _without_accents(entry))}:
        needed = (part.split("/") for part in one.split(" ") if part[-1:] != "?")
        cut = ([_FIRST_OF.findall(word)[0] for word in part] for part in needed)
        firsts = max(cut, key=lambda part: min(len(first) for first, _ in part), default=())
        if not (firsts and all(first for first, _ in firsts)):
            return None
        starts |= {first if after else f"{first} " for first, after in firsts}
    return frozenset(starts)


_FIRST = regex(r"\w+")
_FIRST_OF = regex(r"^(\w*)([*…]?)")


@lru_cache(maxsize=1 << 10)
def _starts_of(text: str) -> frozenset[str]:
    """Return the whole words of a text, each with a blank, and all their beginnings."""
    return frozenset().union(*map(_starts_of_word, {*_FIRST.findall(text.lower())}))


@lru_cache(maxsize=1 << 14)
def _starts_of_word(word: str) -> tuple[str, ...]:
    return (f"{word} ", *(word[:length] for length in range(1, len(word) + 1)))


class PatternsByKind(dict[str, WordPattern]):
    """The patterns of a section by kind. Each is compiled when it is first used."""

    def __init__(self, section: str) -> None:
        super().__init__()
        self._section = section

    def __missing__(self, kind: str) -> WordPattern:
        found = self[kind] = WordPattern(
            entries(self._section, kind),
            start=kind in ("done", "explains", "refers"),
            end=kind == "done_end",
        )
        return found


class Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """Patterns of headings and sentences by kind, and the words for profile fields."""

    headings: PatternsByKind
    sentences: PatternsByKind
    names: frozenset[str]
    """Keys of fields for a name."""
    unset: frozenset[str]
    """Values of fields that are not filled in."""


@cache
def patterns() -> Patterns:
    """Return the patterns that recognise kinds of headings and sentences, for all languages."""
    return Patterns(
        headings=PatternsByKind("headings"),
        sentences=PatternsByKind("sentences"),
        names=frozenset(entries("profile", "name")),
        unset=frozenset(entries("profile", "unset")),
    )


def pattern(found: Iterable[str], *, start: bool = False, end: bool = False) -> re.Pattern[str]:
    """Return a pattern that matches any of the entries, optionally only at the start or end."""
    found = tuple(found)
    wide = sorted({re.escape(entry) for entry in found if _IS_WIDE.search(entry)})
    spelled = {*found, *map(_without_accents, found)}  # often written without accents
    narrow = sorted({_entry_pattern(entry) for entry in spelled if not _IS_WIDE.search(entry)})
    any_of = "|".join(filter(None, (f"(?<!\\w)(?:{'|'.join(narrow)})" if narrow else "", *wide)))
    if start:
        any_of = rf"\A\W*(?:{any_of})"
    if end:
        any_of = rf"(?:{any_of})\W*\Z"
    return compiled(any_of, re.IGNORECASE)


def _without_accents(entry: str) -> str:
    """Return an entry without accents if it is Latin and long enough, else the entry unchanged."""
    plain = "".join(c for c in unicodedata.normalize("NFD", entry) if not unicodedata.combining(c))
    return plain if plain.isascii() and len(plain) >= MIN_PLAIN_LENGTH else entry


def _entry_pattern(entry: str) -> str:
    """Return the pattern for an entry in a script with blanks between words."""
    spelled, blank = "", ""
    for part in entry.split(" "):
        optional = part.endswith("?")
        choice = "|".join(map(_word_pattern, part.removesuffix("?").split("/")))
        piece = f"{blank}(?:{choice})"
        if optional:
            spelled += f"(?:{piece})?" if blank else rf"(?:{piece}\s+)?"
        else:
            spelled += piece
            blank = r"\s+"
    return spelled if entry.endswith("*") else rf"{spelled}(?!\w)"


def _word_pattern(word: str) -> str:
    if word == "…":
        return r"\S+(?:\s+\S+)?"
    return re.escape(word).replace("'", "['’]").replace("…", r"\w*").replace(r"\*", r"\w*")


SURE = 2
"""The minimum number of function words for a language. A single one may be a name."""
_ACCENT = 200
"""Combining classes from here on are accents. Lower ones are viramas and voicing marks."""


def fold(text: str) -> str:
    """Fold a text to case-folded NFKC without accents or invisible characters."""
    return visible(text).lower() if text.isascii() else bare(normalise(text))


def bare(text: str) -> str:
    """Return a text with all accents removed."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", parts.translate(_KEPT))


class _Kept(dict[int, int | None]):
    """Map the code of each character to itself, and that of an accent to None."""

    def __missing__(self, code: int) -> int | None:
        kept = self[code] = code if unicodedata.combining(chr(code)) < _ACCENT else None
        return kept


_KEPT = _Kept()


def language_asked(found: Iterable[str], text: str) -> str:
    """Return the language of a question. If no word is English, one function word is sufficient."""
    return language_of(found, text, sure=1)


def language_of(found: Iterable[str], text: str, sure: int = SURE) -> str:
    """Return the language of a text, given as folded words and as the original `text`."""
    votes = _votes(found, text)
    best = max(votes.values(), default=0)
    if best < sure or votes[ENGLISH] == best:
        return ENGLISH
    return next(language for language in LANGUAGES if votes[language] == best)


def languages_in(text: str) -> frozenset[str]:
    """Return the languages of which a text has the most function words, or none."""
    votes = _votes(words(text), text)
    most = max(votes.values(), default=0)
    return frozenset(language for language, count in votes.items() if count == most > 0)


def _votes(found: Iterable[str], text: str) -> Counter[str]:
    """Count the function words of each language in a text. A rare letter counts as two words."""
    known = _by_word()
    small = [word for word in found if word in known]
    votes = Counter([language for word in small for language in known[word]])
    if not text.isascii():
        low = frozenset(text.casefold())
        letters, scripts = _by_letter()
        for language, own in letters.items():
            if not low.isdisjoint(own):
                votes[language] += SURE
        present = "".join({*text})
        for language, script in scripts.items():
            if script.search(present) and (
                2 * len(script.findall(text)) > sum(map(str.isalpha, text))
            ):
                votes[language] += SURE
                votes[ENGLISH] = 0
                break
    return votes


@lru_cache(maxsize=1)
def small_words() -> Mapping[str, frozenset[str]]:
    """Return the folded function words by language."""
    small = {language: found.get("small", "") for language, found in tables("language")}
    return {language: frozenset(fold(text).split()) for language, text in small.items() if text}


def stop_words() -> frozenset[str]:
    """Return the English function words. Questions that have other words are searched without."""
    return small_words()[ENGLISH]


@lru_cache(maxsize=1)
def _by_word() -> Mapping[str, tuple[str, ...]]:
    """Map each function word to the languages that use it. Single ASCII letters are excluded."""
    known: dict[str, tuple[str, ...]] = {}
    for language, found in small_words().items():
        for word in found:
            if len(word) > 1 or not word.isascii():
                known[word] = (*known.get(word, ()), language)
    return known


@lru_cache(maxsize=1)
def _by_letter() -> tuple[Mapping[str, str], Mapping[str, re.Pattern[str]]]:
    """Return the rare letters of each language, and the pattern of each language's script."""
    found = dict(tables("language"))
    scripts = {one: compiled(f"[{t['script']}]") for one, t in found.items() if "script" in t}
    return {one: t["letters"] for one, t in found.items() if "letters" in t}, scripts


# -- words -----------------------------------------------------------------------------------------

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Signs of Indic and Semitic scripts are part of words, but `\w` does not match them.
_SIGNS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd"
    "\u0b82\u0bbe-\u0bcd"
)
RUN = regex(f"[{SPACELESS}]+|(?:(?![{SPACELESS}])[^\\W_]|[{_SIGNS}])+")
IS_SPACELESS = regex(f"[{SPACELESS}]")
_ASCII_RUN = regex(r"[^\W_]+", re.ASCII)
"""Equals `RUN` for ASCII texts, but compiles much faster."""
_POSSESSIVE = regex(r"(?<=\w)['\u2019]s\b")
_APOSTROPHE = regex(r"(?<=\w)['\u2019](?=\w)")
LONGEST = 64
"""Words are truncated to this many characters. Longer ones are keys, hashes or attacks."""
_JOINING = frozenset(
    "a an and are as at be been by for from in is it of on or that the this to was were"
    " with".split()
)
"""Words that two statements may share by chance."""
_TOKEN = regex(rf"[{SPACELESS}]|(?:(?![{SPACELESS}])\w)+")
_ASCII_TOKEN = regex(r"\w+", re.ASCII)


def words(text: str) -> list[str]:
    """Return the words of a text in order, folded."""
    return cut_folded(fold(text))


def cut_folded(folded: str) -> list[str]:
    """Return the words of a folded text without possessive endings and apostrophes."""
    if "'" in folded or "\u2019" in folded:
        folded = _APOSTROPHE.sub("", _POSSESSIVE.sub("", folded))
    if folded.isascii():
        return [run[:LONGEST] for run in _ASCII_RUN.findall(folded)]
    return list(_cut(folded))


def _cut(text: str) -> Iterator[str]:
    for run in RUN.findall(text):
        if not IS_SPACELESS.match(run):
            yield run[:LONGEST]
        elif len(run) == 1:
            yield run
        else:
            yield from (run[i : i + 2] for i in range(len(run) - 1))


def is_spaceless(term: str) -> bool:
    """Return whether a term consists of characters from a script without blanks between words."""
    return not term.isascii() and bool(IS_SPACELESS.match(term))


def tokens(text: str) -> list[str]:
    """Split a text into tokens for phrases: at apostrophes, and in scripts without blanks."""
    folded = normalise(text)
    return (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)


@lru_cache(maxsize=1 << 13)
def content_words(text: str) -> frozenset[str]:
    """Return the words for comparing statements, with accents but without function words."""
    folded = normalise(text)
    # Intern the words, because many statements contain the same ones.
    found = _ASCII_RUN.findall(folded) if folded.isascii() else _cut(folded)
    return frozenset(set(map(intern, found)) - _JOINING)


_NAMES = regex(r"\b(?!(?:The|An|Our|My|In|On|At|When|If) )[A-Z][a-z]+(?: [A-Z][a-z]+){2,5}\b")
_CAMEL = regex(r"\b[A-Za-z]?[a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
"""A name that joins several words, as in programs: `getUserProfile`."""
_HUMP = regex(r"[A-Z]?[a-z0-9]+")
_KANA = regex("[\u3040-\u30ff]")


def _accented(text: str) -> list[str]:
    """Return the words of a text with their accents, as needed for stemming."""
    return [word for word in cut_folded(normalise(text)) if bare(word)]


MAX_PER_FUNCTION_WORD = 8
"""A text of a language has a function word of it among this many distinct words."""


class IndexTerms(NamedTuple):
    """The terms under which to index a text, and the language whose rules made them."""

    terms: list[str]
    language: str


def index_terms(text: str) -> IndexTerms:
    """Return the terms under which to index a text, including alternative search terms.

    These are single characters of scripts without blanks, initials of names of several words, and
    the words of joined names.
    """
    found = words(text)
    distinct = {*found}
    spaced = sum(not is_spaceless(word) for word in distinct)
    language = language_of(distinct, text, max(SURE, spaced // MAX_PER_FUNCTION_WORD))
    rules = language if 2 * spaced > len(distinct) else ENGLISH  # only names are left to stem
    written = found if rules == ENGLISH else _accented(text)
    return IndexTerms([*stems(written, rules), *_alternatives(text)], language)


def _alternatives(text: str) -> list[str]:
    joined = _joined(text)
    initials = ["".join(w[0] for w in run.split()).lower() for run in _NAMES.findall(text)]
    initials += stems(joined) if joined else []
    if text.isascii():
        return initials
    runs = (run for run in RUN.findall(fold(text)) if IS_SPACELESS.match(run) and len(run) > 1)
    return [*initials, *(character for run in runs for character in run)]


def _joined(text: str) -> list[str]:
    """Return the individual words within camel-case names."""
    return [w.lower() for run in _CAMEL.findall(text) for w in _HUMP.findall(run)]


def faint_pairs(found: Sequence[str]) -> frozenset[str]:
    """Return the pairs of characters in a question that include a Chinese particle."""
    if any(_KANA.search(word) for word in found):
        return frozenset()
    particles = frozenset(table("chinese", "language")["particles"])
    pairs = (word for word in found if is_spaceless(word) and len(word) > 1)
    return frozenset(pair for pair in pairs if not particles.isdisjoint(pair))


def english_rows(key: str) -> list[tuple[str, list[str]]]:
    """Return the rows of a table of English words: text before the colon, and words after it.

    `forms` lists irregular forms of a word. `abbreviations` lists the words of each abbreviation,
    without function words.
    """
    rows = re.split(r"\n(?! )", table(ENGLISH, "terms")[key].strip())
    return [(base, words.split()) for base, _, words in (row.partition(":") for row in rows)]


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Callable[[list[str]], list[str]] | None:
    """Return the Snowball stemmer of a language, or None if the language has no stemmer."""
    import Stemmer

    if language not in Stemmer.algorithms():
        return None
    return cast("Callable[[list[str]], list[str]]", Stemmer.Stemmer(language).stemWords)


@lru_cache(maxsize=1)
def _bases() -> dict[str, str]:
    """Map the stem of each irregular form (`went`) to the stem of the base form (`go`)."""
    known = {form: base for base, found in english_rows("forms") for form in found}
    return dict(zip(_english(list(known)), _english(list(known.values())), strict=True))


def _english(found: list[str]) -> list[str]:
    stem = _stemmer(ENGLISH)
    return stem(found) if stem else found


def stems(found: list[str], language: str = ENGLISH) -> list[str]:
    """Return the stems of words by the rules of a language. Accents are removed."""
    if language == ENGLISH:
        bases = _bases()
        return [bases.get(stem, stem) for stem in _english(_all_bare(found))]
    stem = _stemmer(language)
    return _all_bare(stem(found) if stem else found)


def _all_bare(found: list[str]) -> list[str]:
    """Return words without accents. A word of accents only is returned unchanged."""
    joined = "\n".join(found)  # one call for all: most texts are ASCII
    if joined.isascii():
        return found
    plain = bare(joined).split("\n")
    return [one or word for one, word in zip(plain, found, strict=True)]


def terms(text: str) -> list[str]:
    """Return the search terms of a text by the rules of its language, in order, with repeats."""
    found = words(text)
    language = language_of(found, text)
    return stems(found if language == ENGLISH else _accented(text), language)


@cache
def function_words() -> frozenset[str]:
    """Return the function words of all languages, without those that negate."""
    small = frozenset[str]().union(stop_words(), *small_words().values())
    return small.difference(entries("marks", "negation"))


@cache
def private_phrases() -> re.Pattern[str]:
    """Return the pattern of requests not to remember something, and of labels that ask for it."""
    phrases, labels = (pattern(entries("private", key)).pattern for key in ("phrases", "labels"))
    return compiled(rf"{phrases}|(?<!\w )(?:{labels})(?=[ \t]*[*_]*[:：)\]])", re.IGNORECASE)


@cache
def turning_words(language: str) -> frozenset[str]:
    """Return the function words without which a statement may say the opposite."""
    keys = ("negation", "turn")
    return frozenset(fold(word) for key in keys for word in entries("marks", key, (language,)))


@lru_cache(maxsize=4096)
def roots(text: str) -> frozenset[str]:
    """Return the stems of a statement's words, in whatever order, without words that only join.

    Only languages with a list of turning words tell which of their function words do.
    """
    language = index_terms(text).language
    is_listed = "turn" in table(language, "marks")
    joining = small_words()[language] - turning_words(language) if is_listed else frozenset()
    return frozenset(stems([word for word in words(text) if word not in joining], language))


def query_terms(text: str) -> tuple[str, ...]:
    """Return the search terms of a question without duplicates."""
    return tuple(term for term, _ in asked_terms(text))


def asked_terms(text: str, languages: Collection[str] = ()) -> list[tuple[str, tuple[str, ...]]]:
    """Return the terms of a question without duplicates, each with alternative terms in texts.

    Alternatives are abbreviations or their words, the unstemmed word (`Anne`), and the stems by the
    rules of English, which apply to texts of unknown language, and of all `languages` of the texts.
    """
    written = words(text)
    language = language_asked(written, text)
    if language != ENGLISH:
        written = _accented(text)
    sure = language_of(words(text), text)  # one function word may be a content word elsewhere
    small = small_words().get(sure, stop_words())
    content = [word for word in written if bare(word) not in small] or written
    rivals = [stems(content, rival) for rival in sorted({*languages} - {language, ENGLISH})]
    found: dict[str, tuple[str, ...]] = {}
    for n, (word, term) in enumerate(zip(content, stems(content, language), strict=True)):
        others = _abbreviated().get(term, ())
        others += () if language == ENGLISH else tuple(stems([word]))
        others += (bare(word), *(rival[n] for rival in rivals))
        others += () if language not in _UMLAUTS else tuple(stems(_respelled(word), language))
        found.setdefault(
            term,
            tuple(dict.fromkeys(o for o in others if o and o != term and o not in stop_words())),
        )
    for word in stems(_joined(text)):
        found.setdefault(word, ())
    for short, long in _abbreviated().items():
        if found.keys() >= set(long):
            found[long[0]] += (short,)
    return [pair for pair in found.items() if pair[0]]


_UMLAUTS = frozenset((ENGLISH, "german", "swedish", "finnish"))
_SPELLED = {"ä": "ae", "ö": "oe", "ü": "ue"}


def _respelled(word: str) -> list[str]:
    """Return other spellings of a word in which umlauts are written as one or two letters."""
    two, one = word, word
    for umlaut, letters in _SPELLED.items():
        two, one = two.replace(umlaut, letters), one.replace(letters, umlaut)
    return [other for other in (two, one) if other != word]


@lru_cache(maxsize=1)
def _abbreviated() -> dict[str, tuple[str, ...]]:
    """Map the term of each abbreviation to the terms of the words it stands for."""
    found = english_rows("abbreviations")
    longs = iter(stems([word for _, long in found for word in long]))
    shorts = stems([short for short, _ in found])
    return {
        short: tuple(islice(longs, len(long)))
        for short, (_, long) in zip(shorts, found, strict=True)
    }


def telling_words(text: str) -> list[str]:
    """Return those words of a question, as written, that produce search terms."""
    asked = set(query_terms(text))
    language = language_asked(words(text), text)
    return [
        word
        for word in text.split()
        if not asked.isdisjoint(stems(cut_folded(normalise(word)), language))
    ]


def date_words(captured: str) -> str:
    """Format the day of an RFC 3339 date as written in questions, such as `8 may 2023`."""
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", captured)
    if not match or not 1 <= int(match[2]) <= len(MONTHS):
        return ""
    return f"{int(match[3])} {MONTHS[int(match[2]) - 1]} {match[1]}"
