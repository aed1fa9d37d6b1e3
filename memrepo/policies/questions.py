"""What a question says: its terms, its words, and the days it means, relative ones by the clock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache

import msgspec

from memrepo.core.patterns import regex
from memrepo.text.cues import asks_assistant, wanted
from memrepo.text.dates import month_names
from memrepo.text.languages import (
    compounds,
    fold,
    language_asked,
    small_words,
)
from memrepo.text.tables import ENGLISH, table, tables
from memrepo.text.terms import (
    STOP_WORDS,
    asked_terms,
    faint_pairs,
    joined_terms,
    query_terms,
    stems,
)
from memrepo.text.timespans import ISO, Span, timespans, written_days
from memrepo.text.tokens import is_spaceless, words

_YEAR = regex(r"\b(?:19|20)\d\d\b")
_DAY = regex(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_MATTER = 2
"""Terms that must be left of a question for what asks for any event to be left out."""
_NEAREST = 2.0
"""How near the very day is."""
_EVENTS = frozenset(
    "happen happens happened happening change changes changed new passiert geschehen geschah"
    " geandert verandert neu neues passe change nouveau ocurrio sucedio paso cambio cambiado nuevo"
    " aconteceu mudou novo novidades successo cambiato nuovo gebeurd gebeurde veranderd nieuw"
    " hant hande andrats nytt sket skjedd skjedde endret zmienilo zmieniło wydarzylo wydarzyło"
    " nowego изменилось произошло случилось нового oldu degisti".split()
)
"""Words that ask for no more than what there was, next to the days of which it is asked."""
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


class Idea(msgspec.Struct, frozen=True):
    """One idea that a question names, and every word for it in any language.

    `asked` are the question's terms that name it. A word of a text is a set of terms.
    """

    asked: frozenset[str]
    words: frozenset[frozenset[str]]


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
    ideas: tuple[Idea, ...] = ()
    """What other words say for its own: WhatsApp for mobile."""
    wanted: str = ""
    """Which kinds of answer it asks for (`cues`)."""
    of_assistant: bool = False
    """Whether it asks for what an assistant said."""


def question_of(text: str, today: date | None = None) -> Question:
    """Return what a question says; `may` is a month only next to a day or a year, or after `in`."""
    parted = _parted(text)
    found, asked = words(parted), dict(asked_terms(parted))
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
        faint=faint_pairs(found) | _light(found, terms, language),
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
        ideas=_ideas_of(text, found, language, frozenset(terms)),
        wanted=wanted(found),
        of_assistant=asks_assistant(found),
    )


def kind_asked(text: str) -> str:
    """Return the kind (`KINDS`) that a question asks for and nothing next to it; else nothing."""
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
    for _, found in tables("asking"):
        frame.update(map(fold, found["frame"]))
        for kind, entries in found.get("kinds", {}).items():
            kinds |= {" ".join(re.findall(r"\w+", fold(entry))): kind for entry in entries}
    return kinds, frozenset(frame)


@cache
def _small() -> frozenset[str]:
    return frozenset().union(*small_words().values())


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


def _light(found: Sequence[str], terms: Sequence[str], language: str) -> frozenset[str]:
    """Return the terms that only frame a question, unless it has no others."""
    _, frame = _asking()
    light = [word for word in found if word in frame]
    faint = frozenset((*stems(light), *stems(light, language)))
    return faint if any(term not in faint for term in terms) else frozenset()


def _parted(text: str) -> str:
    """Return a question with blanks around the words of scripts without blanks that are known.

    Without its small words, unless nothing else is left: pairs of characters that straddle two
    words say nothing.
    """
    if text.isascii():
        return text
    pattern, small = _spaceless_words()
    parted = pattern.sub(lambda found: "  " if found[0] in small else f" {found[0]} ", text)
    left = " ".join(run for run in parted.split() if len(run) > 1 or not is_spaceless(run))
    return left if words(left) else text


@cache
def _spaceless_words() -> tuple[re.Pattern[str], frozenset[str]]:
    """Return what finds the known words of scripts without blanks, and those that are small."""
    small = frozenset(w for _, found in tables("asking") for w in found.get("small", ()))
    every = sorted(
        {w for w in small.union(_spaceless_ideas()) if len(w) > 1}, key=lambda w: (-len(w), w)
    )
    return re.compile("|".join(map(re.escape, every))), small


def _ideas_of(
    text: str, found: Sequence[str], language: str, terms: frozenset[str]
) -> tuple[Idea, ...]:
    """Return the ideas that a question names by a word of its language, or of English."""
    named: set[str] = set()
    for one in {language, ENGLISH}:
        asked = f" {' '.join(stems([*found], one))} "
        for spelled, ideas in _spelled_ideas(one).items():
            if f" {spelled} " in asked:
                named.update(ideas)
    if not text.isascii():
        folded = fold(text)
        named.update(idea for word, idea in _spaceless_ideas().items() if word in folded)
    found_ideas = []
    for idea in sorted(named):
        forms = _forms(idea)
        own = terms.intersection(frozenset().union(*forms))
        found_ideas.append(Idea(own, frozenset(form for form in forms if form.isdisjoint(own))))
    return tuple(found_ideas)


@cache
def _spelled_ideas(language: str) -> Mapping[str, list[str]]:
    """Return by each entry of a language, as stems with blanks between, the ideas that it names."""
    found: dict[str, list[str]] = {}
    for idea, entries in table(language, "asking").get("words", {}).items():
        for entry in entries:
            if not is_spaceless(entry[0]):
                found.setdefault(" ".join(stems(words(entry), language)), []).append(idea)
    return found


@cache
def _spaceless_ideas() -> Mapping[str, str]:
    """Return by each entry of a script without blanks the idea that it names."""
    return {
        fold(entry): idea
        for _, found in tables("asking")
        for idea, entries in found.get("words", {}).items()
        for entry in entries
        if is_spaceless(entry[0])
    }


@cache
def _forms(idea: str) -> frozenset[frozenset[str]]:
    """Return the words for an idea in all languages, each as the terms that a text has it by.

    What holds a small word is only said in questions: in a text its other words say less.
    """
    forms: set[frozenset[str]] = set()
    for language, found in tables("asking"):
        for entry in found.get("words", {}).get(idea, ()):
            cut = words(entry)
            if len(entry) > 1 and (len(cut) == 1 or _small().isdisjoint(cut)):
                forms |= {frozenset(stems(cut, language)), frozenset(stems(cut))}
    return frozenset(forms)


def _latest(months: frozenset[int], today: date) -> str:
    """Return the year in which the month that is named was last, where it is but one."""
    if len(months) != 1:
        return ""
    (month,) = months
    return f"{today.year - (month > today.month):04}"
