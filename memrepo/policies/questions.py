"""Parse a question: its search terms, the days it names, and the kinds of answer it asks for.

A question asks for a kind of answer, such as a time or a name, and a text that contains the kind is
a likelier answer. A question about what an assistant stated asks for its turns. Questions are texts
too: they rarely answer, but the text after them may. The phrases are in the sections `cues` and
`speakers` of the tables (docs/languages.md), of which a search reads those of the languages of the
indexed texts.

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
from memrepo.text.words import (
    ENGLISH,
    LANGUAGES,
    asked_terms,
    entries,
    faint_pairs,
    fold,
    is_spaceless,
    pattern,
    small_words,
    stems,
    table,
    words,
)

Span = tuple[str, str]
"""The first and the last day of a time span, as ISO dates."""
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
    """A parsed question with its other phrasings."""

    terms: Mapping[str, tuple[str, ...]]
    """Map each search term to its forms in texts of other languages."""
    words: tuple[str, ...] = ()
    faint: frozenset[str] = frozenset()
    """The terms that only frame the question or name a kind of answer, such as `number`."""
    phrasings: tuple[tuple[str, ...], ...] = ()
    """The terms of each phrasing: of the question, then of its other phrasings."""
    spans: tuple[Span, ...] = ()
    """The days that it names, as in `last week`, if the current date is known."""
    timed: frozenset[str] = frozenset()
    """The terms that only name such days."""
    wanted: str = ""
    """The kinds of answer that the question asks for (`cues_of`)."""
    of_assistant: bool = False
    """Whether the question asks for what an assistant stated."""


def question_of(
    text: str,
    today: date | None = None,
    also: Sequence[str] = (),
    languages: Collection[str] = (),
) -> Question:
    """Parse a question with its other phrasings, for texts of the given languages."""
    own = tuple(sorted({*languages, ENGLISH}))
    terms: dict[str, tuple[str, ...]] = {}
    faint, phrasings = set[str](), list[tuple[str, ...]]()
    for one in (text, *also):
        separated = _without_small_words(one, own)
        asked = dict(asked_terms(separated, languages))
        light = faint_pairs(words(separated)) | _light(words(separated), own)
        faint |= light & asked.keys() if asked.keys() - light else set()
        terms = {**asked, **terms}
        phrasings.append(tuple(asked))
    found = words(_without_small_words(text, own))
    spans, timed = _days(text, today, terms) if today else ((), frozenset[str]())
    return Question(
        terms=terms,
        words=tuple(found),
        faint=frozenset(faint),
        phrasings=tuple(filter(None, phrasings)),
        spans=spans,
        timed=timed,
        wanted=wanted(found, own),
        of_assistant=asks_assistant(found, own),
    )


def _days(
    text: str, today: date, terms: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Span, ...], frozenset[str]]:
    """Return the days that a question names, and the terms that do no more than name them."""
    from memrepo.text.dates import timespans  # has the tables of all languages

    named = timespans(text, today)
    if not named:
        return (), frozenset()
    spelled = {word for span in named for word in span.words}
    only = {term for term, _ in asked_terms(" ".join(sorted(spelled)))}
    other = {*entries("dates", "events"), *spelled}
    only |= {term for term, forms in terms.items() if not other.isdisjoint((term, *forms))}
    return tuple(sorted({span.days for span in named})), frozenset(only)


def _light(found: Sequence[str], own: Sequence[str]) -> frozenset[str]:
    """Return the terms of the words that only frame a question, or name a kind of answer."""
    frame, kinds = _frames(own), _kind_words(own)
    light = [word for word in found if word in frame or word in kinds]
    return frozenset(stem for language in own for stem in stems(light, language))


@cache
def _frames(own: Sequence[str]) -> frozenset[str]:
    return frozenset(map(fold, entries("asking", "frame", own)))


@cache
def _kind_words(own: Sequence[str]) -> frozenset[str]:
    found = (entries("cues", kind, own) for kind in KINDS_OF_ANSWER)
    return frozenset(fold(w) for one in found for e in one for w in e.replace("/", " ").split())


def _without_small_words(text: str, own: Sequence[str]) -> str:
    """Replace the function words of languages without blanks between words, such as Chinese."""
    if text.isascii():
        return text
    small = {word for word in entries("asking", "small", own) if len(word) > 1}
    if not small:
        return text
    longest = sorted(small, key=lambda word: (-len(word), word))
    separated = re.sub("|".join(map(re.escape, longest)), "  ", text)
    left = " ".join(run for run in separated.split() if len(run) > 1 or not is_spaceless(run))
    return left if words(left) else text


def kind_asked(text: str, languages: Collection[str] = LANGUAGES) -> str:
    """Return the kind of memory (`KINDS`) that a question asks for, or an empty string."""
    if len(text) > _LONGEST:
        return ""
    own = tuple(sorted({*languages, ENGLISH}))
    kinds, frame, small = _asking(own), _frames(own), _small(own)
    written = re.findall(r"\w+", fold(text))
    left = [word for word in written if word not in frame and word not in small]
    run = "".join(written)  # for scripts without blanks
    for part in sorted((f for f in frame if not f.isascii()), key=len, reverse=True):
        run = run.replace(part, "")
    forms = (" ".join(written), " ".join(left), run)
    return next((kinds[form] for form in forms if form in kinds), "")


@cache
def _asking(own: Sequence[str]) -> Mapping[str, str]:
    """Map the words and phrases that ask for a kind of memory to the kind."""
    kinds: dict[str, str] = {}
    for language in own:
        for kind, phrases in table(language, "asking").get("kinds", {}).items():
            kinds |= {" ".join(re.findall(r"\w+", fold(entry))): kind for entry in phrases}
    return kinds


@cache
def _small(own: Sequence[str]) -> frozenset[str]:
    small = small_words()  # folded by language: word by word takes a tenth of a search
    return frozenset[str]().union(*(small[one] for one in own if one in small))


ASKS, SELF = "?", "i"
"""The text is a question, or says something about its speaker."""
_ASKS = regex("[?\uff1f\u061f]")
_DIGIT = regex(r"\d")
_CLOCK = regex(r"\b\d\d?:\d\d\b")
_PROPER_NAME = regex(r"(?<=[^\W\d_A-Z] |[,;:\"] )[\"(]?[A-Z\u00c0-\u00de][^\W\d_]{2}")
_TITLE = regex('"[^"]|[\u201c\u00ab]')
_WORD = regex(r"\w+")
KINDS_OF_ANSWER = "tnpq"
"""Times, numbers, proper names and quoted titles."""


@cache
def _phrases(
    section: str, key: str, own: Sequence[str] = LANGUAGES, *, start: bool = False
) -> re.Pattern[str]:
    return pattern(entries(section, key, own), start=start)


@cache
def _times() -> frozenset[str]:
    from memrepo.text.dates import WEEKDAYS

    return frozenset((*entries("cues", "times"), *WEEKDAYS, *MONTHS)) - {"may"}


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


def wanted(words: Sequence[str], own: Sequence[str] = LANGUAGES) -> str:
    """Return the kinds of answer that a question, given as folded words, asks for."""
    text, found = " ".join(words), ""
    for kind in KINDS_OF_ANSWER:
        opens = entries("cues", f"{kind}_start", own)
        if (opens and _phrases("cues", f"{kind}_start", own, start=True).match(text)) or (
            entries("cues", kind, own) and _phrases("cues", kind, own).search(text)
        ):
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


def of_self(terms: Collection[str]) -> bool:
    """Return whether a text with these terms refers to its own speaker, as with `I` or `my`."""
    return not _SELF.isdisjoint(terms)


def asks_assistant(words: Sequence[str], own: Sequence[str] = LANGUAGES) -> bool:
    """Return whether a question, given as folded words, asks for something an assistant stated."""
    # Compile the pattern only if needed, because compiling takes longer than the search.
    question = " ".join(words)
    return not _ADDRESSED.isdisjoint(words) and bool(
        _phrases("speakers", "asked", own).search(question)
    )
