"""What a question says: its terms, its words, and the days it means, relative ones by the clock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache, lru_cache

import msgspec

from memrepo.core.patterns import regex
from memrepo.text.cues import asks_assistant, asks_several, matter_of, wanted
from memrepo.text.dates import month_names
from memrepo.text.languages import (
    compounds,
    fold,
    language_asked,
    small_words,
)
from memrepo.text.tables import ENGLISH, tables
from memrepo.text.terms import (
    STOP_WORDS,
    asked_terms,
    english_rows,
    faint_pairs,
    joined_terms,
    query_terms,
    stems,
)
from memrepo.text.timespans import ISO, Span, timespans, written_days
from memrepo.text.tokens import words

_YEAR = regex(r"\b(?:19|20)\d\d\b")
_DAY = regex(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_MATTER = 2
"""Terms that must be left of a question for its frame to be left out."""
_NEAREST = 2.0
"""How near the very day is."""
_EVENTS = frozenset(
    "happen happens happened happening change changes changed new passiert geschehen geschah"
    " geandert verandert neu neues passe change nouveau ocurrio sucedio paso cambio cambiado nuevo"
    " aconteceu mudou novo novidades successo cambiato nuovo gebeurd gebeurde veranderd nieuw"
    " hant hande andrats nytt sket skjedd skjedde endret zmienilo zmieniło wydarzylo wydarzyło"
    " nowego изменилось произошло случилось нового oldu degisti".split()
)
"""Words that ask for no more than what there was, beside the days of which it is asked."""
_AWAY = 15
"""Days from which on a day in the same month is as good as none."""

_LONGEST = 60
"""Characters from which on a question asks for more than a kind."""
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
"""By what is asked for: the types that are of it, and the kind of heading under which all is."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a question says: its terms, its words as they stand, and the days it names.

    `spans` are days that stand fast: dates written out, and such as `last week` once it is known
    when the question was asked.
    """

    terms: tuple[str, ...]
    words: tuple[str, ...] = ()
    forms: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """What a term may be in texts of another language, by term."""
    faint: frozenset[str] = frozenset()
    """Its terms that are a pair of characters of which one only joins, asks or points."""
    compounds: bool = False
    """Whether its language writes what belongs together as one word."""
    joined: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """The words of a name that a program joins, by its term: they stand in for it."""
    inflects: bool = False
    """Whether its words may have more forms than English ones: nothing says that it is English."""
    months: frozenset[int] = frozenset()
    years: frozenset[str] = frozenset()
    days: frozenset[int] = frozenset()
    spans: tuple[Span, ...] = ()
    written: tuple[Span, ...] = ()
    """Days that it spells: what is told near them is likelier, and no hit by that alone."""
    timed: frozenset[str] = frozenset()
    """The terms that say no more than one of the spans, such as `week` of `last week`."""
    latest: str = ""
    """The year of the month that a question without a year means, where today is known."""
    kinds: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Terms that are of the kind which a term of the question names: dog, cat of pet."""
    wanted: str = ""
    """Which kinds of answer it asks for (`cues`)."""
    several: bool = False
    """Whether it asks for several things, which may be of several days."""
    of_assistant: bool = False
    """Whether it asks for what an assistant said."""


def question_of(text: str, today: date | None = None) -> Question:
    """Return what a question says; `may` is a month only beside a day or a year, or after `in`."""
    found, asked = words(text), dict(_asked(text))
    language, named = language_asked(found, text), timespans(text, today)
    bare = ISO.sub(" ", text)
    years = frozenset(_YEAR.findall(bare))
    days = frozenset(int(n) for n in _DAY.findall(bare) if 1 <= int(n) <= 31)
    names = month_names()
    may = years or days or "in may" in " ".join(found)
    months = frozenset(names[w] for w in found if w in names and (w != "may" or may))
    if months and days:
        asked = _without(asked, _EVENTS) if len(_without(asked, _EVENTS)) >= _MATTER else asked
    terms = tuple(asked)
    told = {t for span in named for t in query_terms(span.told)}
    said = (
        frozenset[str]().union(*(span.said for span in named)) | _EVENTS if named else frozenset()
    )
    return Question(
        terms=terms,
        words=tuple(found),
        forms=asked,
        faint=faint_pairs(found),
        compounds=compounds(language),
        joined=joined_terms(text),
        inflects=language != ENGLISH or STOP_WORDS.isdisjoint(found),
        months=months,
        years=years,
        days=days if months else frozenset(),
        spans=tuple(sorted({span.days for span in named})),
        written=tuple(sorted({(str(day), str(day)) for day in written_days(text)})),
        timed=frozenset(told | (asked.keys() - _without(asked, said))),
        latest=_latest(months, today) if today and not years else "",
        kinds={t: frozenset(stems(_kinds()[t])) for t in terms if t in _kinds()},
        wanted=wanted(found),
        several=asks_several(found),
        of_assistant=asks_assistant(found),
    )


def kind_asked(text: str) -> str:
    """Return the kind (`KINDS`) that a question asks for and nothing beside it; else nothing."""
    if len(text) > _LONGEST:
        return ""
    kinds, frame = _asking()
    said = re.findall(r"\w+", fold(text))
    left = [word for word in said if word not in frame and word not in _small()]
    run = "".join(said)  # scripts without blanks
    for part in sorted((f for f in frame if not f.isascii()), key=len, reverse=True):
        run = run.replace(part, "")
    forms = (" ".join(said), " ".join(left), run)
    return next((kinds[form] for form in forms if form in kinds), "")


@cache
def _asking() -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the kind that each word or phrase names, and the words that frame a question."""
    kinds, frame = dict[str, str](), set[str]()
    for _, table in tables("asking"):
        frame.update(map(fold, table["frame"]))
        for kind, entries in table["kinds"].items():
            kinds |= {" ".join(re.findall(r"\w+", fold(entry))): kind for entry in entries}
    return kinds, frozenset(frame)


@cache
def _small() -> frozenset[str]:
    return frozenset().union(*small_words().values())


def _asked(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the terms that a question asks for with their forms, without the frame around them."""
    every, matter = asked_terms(text), matter_of(text)
    kept = {term for term, _ in asked_terms(matter)} if matter != text.lower() else set()
    left = [pair for pair in every if pair[0] in kept]
    return left if len(left) >= _MATTER else every


def _without(
    asked: Mapping[str, tuple[str, ...]], said: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Return the terms of a question but those of some words."""
    return {t: forms for t, forms in asked.items() if said.isdisjoint((t, *forms))}


def nearness(question: Question, day: str) -> float:
    """Return how near a day is to those that a question names: 2 the very day, 0 where none is."""
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


@lru_cache(maxsize=1)
def _kinds() -> Mapping[str, list[str]]:
    """Return the words of each kind by the term that names it."""
    named = dict(english_rows("kinds"))
    return dict(zip(stems(list(named)), named.values(), strict=True))


def _latest(months: frozenset[int], today: date) -> str:
    """Return the year in which the month that is named was last, where it is but one."""
    if len(months) != 1:
        return ""
    (month,) = months
    return f"{today.year - (month > today.month):04}"
