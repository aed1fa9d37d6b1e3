"""Parse a question into search terms, words and dates, and find what kind of answer a text gives.

Phrases such as `last week` are resolved. Each kind of answer is a letter. A text with a day,
number, name or title may answer when, how many, who or which book. A text that asks rarely answers,
but the text after it may. The phrases are in the sections `cues` and `speakers` of the tables
(docs/languages.md).

An assistant's turn is long, has markup, begins with a typical phrase, and does not name the
assistant. In an English conversation, a person who uses "you" but not "I" speaks about the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import cache

import msgspec

from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS
from memrepo.text.dates import ISO, WEEKDAYS, Span, month_names, timespans, written_days
from memrepo.text.languages import (
    ENGLISH,
    compounds,
    entries,
    fold,
    language_asked,
    pattern,
    small_words,
    stop_words,
    tables,
)
from memrepo.text.words import (
    asked_terms,
    faint_pairs,
    is_spaceless,
    joined_terms,
    query_terms,
    stems,
    words,
)

_YEAR = regex(r"\b(?:19|20)\d\d\b")
_DAY = regex(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_MATTER = 2
"""Words for events are only dropped from a question if this many terms remain."""
_NEAREST = 2.0
"""The proximity of the exact day."""
_AWAY = 15
"""From this distance in days, a day in the same month has no proximity."""

_LONGEST = 60
"""Longer questions, in characters, ask for more than a kind."""
KINDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "me": (("identity",), ""),
    "people": (("relationship",), "person"),
    "projects": ((), "project"),
    "rules": (("constraint",), ""),
    "preferences": (("preference",), ""),
    "decisions": (("decision",), ""),
    "promises": (("commitment",), ""),
    "open": (("open_question", "commitment"), ""),
    "lessons": (("lesson",), ""),
    "procedures": (("procedure", "method"), ""),
    "goals": (("aspiration",), ""),
    "milestones": (("milestone",), ""),
}
"""Map each kind that can be asked for to its types and its kind of heading.

Memories of one of the types belong to the kind. So do all memories under such a heading.
"""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed question: its search terms, its words as written, and the dates it names.

    `spans` has fixed time spans: full dates, and phrases such as `last week` if the current date is
    known.
    """

    terms: tuple[str, ...]
    words: tuple[str, ...] = ()
    forms: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Map each term to its forms in texts of other languages."""
    faint: frozenset[str] = frozenset()
    """The terms that are pairs of characters in which one is a function word."""
    compounds: bool = False
    """Whether the language of the question forms compounds."""
    joined: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Map the term of a joined name to its words, which can replace it."""
    inflects: bool = False
    """Whether the words may have more forms than English ones: the question may not be in English.
    """
    months: frozenset[int] = frozenset()
    years: frozenset[str] = frozenset()
    days: frozenset[int] = frozenset()
    spans: tuple[Span, ...] = ()
    written: tuple[Span, ...] = ()
    """Full dates in the question. Texts with a similar date score higher, but need other matches
    too.
    """
    timed: frozenset[str] = frozenset()
    """The terms that only name a time span, such as `week` in `last week`."""
    kinds: frozenset[str] = frozenset()
    """The terms that only name a kind of answer, such as `name` and `number`."""
    phrasings: tuple[tuple[str, ...], ...] = ()
    """The terms of each phrasing: of the question, then of its other phrasings."""
    latest: str = ""
    """The year of the month in a question without a year, if the current date is known."""
    wanted: str = ""
    """The kinds of answer that the question asks for (`cues`)."""
    of_assistant: bool = False
    """Whether the question asks for what an assistant stated."""


def question_of(
    text: str,
    today: date | None = None,
    also: Sequence[str] = (),
    languages: Collection[str] = (),
) -> Question:
    """Parse a question with its other phrasings, for texts of the given languages."""
    question = _parse(text, today, languages)
    for one in (_parse(other, None, languages) for other in also):
        question = msgspec.structs.replace(
            question,
            terms=tuple(dict.fromkeys((*question.terms, *one.terms))),
            words=(*question.words, *one.words),
            forms={**one.forms, **question.forms},
            faint=(question.faint | one.faint) - _plain_terms(question) - _plain_terms(one),
            compounds=question.compounds or one.compounds,
            joined={**one.joined, **question.joined},
            inflects=question.inflects or one.inflects,
            kinds=question.kinds | one.kinds,
            phrasings=(*question.phrasings, *one.phrasings),
        )
    return question


def _plain_terms(question: Question) -> frozenset[str]:
    return frozenset(question.terms) - question.faint


def _parse(text: str, today: date | None, languages: Collection[str]) -> Question:
    """Parse one phrasing. The word `may` is a month only next to a day or a year, or after `in`."""
    separated = _without_small_words(text)
    found, asked = words(separated), dict(asked_terms(separated, languages))
    language, named = language_asked(found, text), timespans(text, today)
    bare = ISO.sub(" ", text)
    years = frozenset(_YEAR.findall(bare))
    days = frozenset(int(n) for n in _DAY.findall(bare) if 1 <= int(n) <= 31)
    names = month_names()
    may = years or days or "in may" in " ".join(found)
    months = frozenset(names[w] for w in found if w in names and (w != "may" or may))
    if months and days:
        asked = _without(asked, _events()) if len(_without(asked, _events())) >= _MATTER else asked
    terms = tuple(asked)
    only_time = {t for span in named for t in query_terms(span.english)}
    translated = _events().union(*(span.translated for span in named)) if named else frozenset()
    return Question(
        terms=terms,
        phrasings=(terms,) if terms else (),
        words=tuple(found),
        forms=asked,
        faint=faint_pairs(found) | _light(found, terms, language),
        compounds=compounds(language),
        joined=joined_terms(text),
        inflects=language != ENGLISH or stop_words().isdisjoint(found),
        months=months,
        years=years,
        days=days if months else frozenset(),
        spans=tuple(sorted({span.days for span in named})),
        written=tuple(sorted({(str(day), str(day)) for day in written_days(text)})),
        timed=frozenset(only_time | (asked.keys() - _without(asked, translated))),
        latest=_latest(months, today) if today and not years else "",
        wanted=wanted(found),
        kinds=frozenset(stems([word for word in found if word in _kind_words()])),
        of_assistant=asks_assistant(found),
    )


def kind_asked(text: str) -> str:
    """Return the kind of memory (`KINDS`) that a question asks for, or an empty string."""
    if len(text) > _LONGEST:
        return ""
    kinds, frame = _asking()
    written = re.findall(r"\w+", fold(text))
    left = [word for word in written if word not in frame and word not in _small()]
    run = "".join(written)  # for scripts without blanks
    for part in sorted((f for f in frame if not f.isascii()), key=len, reverse=True):
        run = run.replace(part, "")
    forms = (" ".join(written), " ".join(left), run)
    return next((kinds[form] for form in forms if form in kinds), "")


@cache
def _asking() -> tuple[Mapping[str, str], frozenset[str]]:
    """Return a map of words and phrases to kinds of memory, and the words that frame a question."""
    kinds, frame = dict[str, str](), set[str]()
    for _, found in tables("asking"):
        frame.update(map(fold, found["frame"]))
        for kind, phrases in found.get("kinds", {}).items():
            kinds |= {" ".join(re.findall(r"\w+", fold(entry))): kind for entry in phrases}
    return kinds, frozenset(frame)


@cache
def _small() -> frozenset[str]:
    return frozenset().union(*small_words().values())


def _without(
    asked: Mapping[str, tuple[str, ...]], dropped: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Return the terms of a question, except the terms of the given words."""
    return {t: forms for t, forms in asked.items() if dropped.isdisjoint((t, *forms))}


def nearness(question: Question, day: str) -> float:
    """Return how close a day is to the days in a question, from 0 to 2. The exact day scores 2."""
    if not day or not (question.spans or question.months or question.written):
        return 0.0
    at = date.fromisoformat(day)
    spans, days = (_to_spans(asked, at) for asked in (question.spans, question.written))
    return max(spans, days + (0 < days < _NEAREST), _to_months(question, at))


def _to_spans(asked: Sequence[Span], at: date) -> float:
    if any(first <= at.isoformat() <= last for first, last in asked):
        return _NEAREST
    edges = (date.fromisoformat(edge) for span in asked for edge in span)
    return _share(min((abs((at - edge).days) for edge in edges), default=_AWAY))


def _to_months(question: Question, at: date) -> float:
    if at.month not in question.months:
        return 0.0
    if question.years and str(at.year) not in question.years:
        return 0.0
    if question.days:
        return 1 + _share(min(abs(at.day - asked) for asked in question.days))
    return 1.0 + (question.latest == f"{at.year:04}")


def _share(away: int) -> float:
    return max(0.0, 1 - away / _AWAY)


def _light(found: Sequence[str], terms: Sequence[str], language: str) -> frozenset[str]:
    """Return the terms that only frame a question. If it has no other terms, return none."""
    _, frame = _asking()
    light = [word for word in found if word in frame]
    faint = frozenset((*stems(light), *stems(light, language)))
    return faint if any(term not in faint for term in terms) else frozenset()


def _without_small_words(text: str) -> str:
    """Replace the function words of languages without blanks between words, such as Chinese."""
    if text.isascii():
        return text
    separated = _spaceless_words().sub("  ", text)
    left = " ".join(run for run in separated.split() if len(run) > 1 or not is_spaceless(run))
    return left if words(left) else text


@cache
def _spaceless_words() -> re.Pattern[str]:
    every = {w for _, found in tables("asking") for w in found.get("small", ()) if len(w) > 1}
    return re.compile("|".join(map(re.escape, sorted(every, key=lambda w: (-len(w), w)))))


def _latest(months: frozenset[int], today: date) -> str:
    """Return the year in which the month last occurred, or an empty string if several are named."""
    if len(months) != 1:
        return ""
    (month,) = months
    return f"{today.year - (month > today.month):04}"


ASKS = "?"
_ASKS = regex("[?\uff1f\u061f]")
_DIGIT = regex(r"\d")
_CLOCK = regex(r"\b\d\d?:\d\d\b")
_PROPER_NAME = regex(r"(?<=[^\W\d_A-Z] |[,;:\"] )[\"(]?[A-Z\u00c0-\u00de][^\W\d_]{2}")
_TITLE = regex('"[^"]|[\u201c\u00ab]')
_WORD = regex(r"\w+")
KINDS_OF_ANSWER = "tnpq"
"""Times, numbers, proper names and quoted titles."""


@cache
def _phrases(section: str, key: str, *, start: bool = False) -> re.Pattern[str]:
    return pattern(entries(section, key), start=start)


@cache
def _times() -> frozenset[str]:
    return frozenset((*entries("cues", "times"), *WEEKDAYS, *MONTHS)) - {"may"}


@cache
def _events() -> frozenset[str]:
    """Return words that ask for any event. Next to days, they add nothing to a question."""
    return frozenset(entries("dates", "events"))


@cache
def _kind_words() -> frozenset[str]:
    found = (entries("cues", kind) for kind in KINDS_OF_ANSWER)
    return frozenset(fold(w) for one in found for e in one for w in e.replace("/", " ").split())


def cues_of(text: str) -> str:
    """Return the kinds of answer that a text may give, and `?` if the text is a question."""
    words = _WORD.findall(text.lower())
    shown = {
        ASKS: _ASKS.search(text),
        "t": not _times().isdisjoint(words) or (":" in text and _CLOCK.search(text)),
        "n": _DIGIT.search(text) or _phrases("cues", "numbers").search(text),
        "p": _PROPER_NAME.search(text),
        "q": _TITLE.search(text),
    }
    return "".join(kind for kind, found in shown.items() if found)


def wanted(words: Sequence[str]) -> str:
    """Return the kinds of answer that a question, given as folded words, asks for."""
    text = " ".join(words)
    found = ""
    for kind in KINDS_OF_ANSWER:
        opens = entries("cues", f"{kind}_start") and _phrases("cues", f"{kind}_start", start=True)
        if (opens and opens.match(text)) or _phrases("cues", kind).search(text):
            found += kind
    return found


# -- who speaks ------------------------------------------------------------------------------------

USER, ASSISTANT = "u", "a"
_LABEL = regex(r"\s*[*_>#]*\s*([^\W\d_]{2,20})[*_]*\s*[:：]")
"""The speaker's name and a colon at the beginning of a text."""
_MARKUP = regex(r"(?m)^[^\S\n]*(?:#{1,6} |\d{1,3}\. \*\*|[-*] \*\*|```)")
ANSWER_LENGTH = 400
"""The minimum length in characters of a text that its markup and opening identify as an answer."""
OPENING_LENGTH = 80
"""The length in characters of the opening, where a text may name its subject."""
_ADDRESSED = frozenset(("you", "your"))
_SELF = frozenset("i im ive my me mine myself we our us".split())
"""Words by which speakers refer to themselves, with informal spellings."""


def role_of(subject: str, text: str) -> str:
    """Return the speaker of a text: `u` for a user, `a` for an assistant, or an empty string."""
    label = _LABEL.match(text)
    speaker = label[1].casefold() if label and not subject else subject
    name = speaker.rpartition(" ")[2]
    is_user, is_assistant = (name in entries("speakers", k) for k in ("users", "assistants"))
    is_about = name in text[:OPENING_LENGTH].casefold().split()[:3]
    if (is_user or is_assistant) and (label or not is_about):
        return USER if is_user else ASSISTANT
    is_long = len(text) >= ANSWER_LENGTH and _MARKUP.search(text)
    return ASSISTANT if is_long and _phrases("speakers", "opens", start=True).match(text) else ""


def of_self(terms: frozenset[str]) -> bool:
    """Return whether a text with these terms refers to its own speaker, as with `I` or `my`."""
    return not _SELF.isdisjoint(terms)


def asks_assistant(words: Sequence[str]) -> bool:
    """Return whether a question, given as folded words, asks for something an assistant stated."""
    # Compile the pattern only if needed, because compiling takes longer than the search.
    question = " ".join(words)
    return not _ADDRESSED.isdisjoint(words) and bool(_phrases("speakers", "asked").search(question))
