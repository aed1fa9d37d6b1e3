"""What kinds of answer a text may give, what kind a question asks for, and who speaks.

Kinds are one letter each. A text with a day, a number, a name or a title in it may answer when, how
many, who or which book; a text that asks answers seldom, and what is said after it does so instead.
Phrases are the sections `cues` and `speakers` of the tables (docs/languages.md).

An assistant answers at length and in markup, opens as one who serves, and never names itself. Of
people who talk in turn, whoever says "you" and nowhere "I" speaks of the other (English).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS
from memrepo.text.dates import WEEKDAYS
from memrepo.text.languages import bare
from memrepo.text.tables import ENGLISH, entries, pattern, table

ASKS, RULE = "?", "r"
_ASKS = regex("[?\uff1f\u061f]")
_CLOCK = regex(r"\b\d\d?:\d\d\b")
_NUMBER = regex(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|couple|once|twice|several|first"
    r"|second|third)\b"
)
_NAME = regex(r"(?<=[^\W\d_A-Z] |[,;:\"] )[\"(]?[A-Z\u00c0-\u00de][^\W\d_]{2}")
_TITLE = regex('"[^"]|[\u201c\u00ab]')
_WORD = regex(r"\w+")
_TIMES = frozenset(
    "yesterday today tomorrow tonight recently last next ago day days week weeks weekend month"
    " months year years morning afternoon evening night noon midnight".split()
) | {*WEEKDAYS, *MONTHS} - {"may"}
_IN_QUESTIONS = {
    "t": regex(r"^when\b|\bwhat (?:day|date|month|year|time)\b|^how long ago\b"),
    "n": regex(r"^how (?:many|much|long|often|old)\b|\bwhat (?:number|age)\b|\bhow many\b"),
    "p": regex(
        r"^(?:who|where|which)\b"
        r"|\bwhat (?:country|city|state|town|place|company|brand|name|college|restaurant)\b"
    ),
    "q": regex(r"\b(?:book|movie|film|song|series|show|game|title|band|author|called|named?)s?\b"),
}
_AUXILIARY = r"(?:ha[sd]|have|did|do|does|is|are|was|were|can|could|will|would)"
_PLURAL = r"(?:(?!(?:does|this|his)\b)\w{2,}[^\Ws]s|people|children)"
_SEVERAL = regex(
    rf"\b(?:what|which) (?:(?!{_AUXILIARY}\b)\w+ ){{0,3}}?{_PLURAL} (?:\w+ ){{0,3}}?{_AUXILIARY}\b"
    r"|\b(?:what|who) are\b|\bhow many\b|\bin (?:what|which) ways\b|\bwhich of\b"
    r"|\b(?:what|which) (?:kind|type|sort)s? of\b"
)
"""A plural after what or which and before its verb, and other ways to ask for a list."""


@cache
def _first_words(key: str) -> frozenset[str]:
    """Return how the phrases of a list begin, in at most five letters.

    Few texts have such a word, and to look for all of the phrases takes longer than for these.
    """
    heads: list[str] = []
    for entry in entries("cues", key):
        for part in entry.split():
            heads += part.split("/")
            if not part.endswith("?"):
                break
    return frozenset(re.split(r"\W", bare(head))[0][:5] for head in heads)


@cache
def _phrases(section: str, key: str, *, start: bool = False) -> re.Pattern[str]:
    return pattern(entries(section, key), start=start)


@cache
def _english(key: str) -> re.Pattern[str]:
    return pattern(table(ENGLISH, "cues")[key])


def _may_hold(key: str, words: Sequence[str], text: str) -> bool:
    """Tell whether a text may hold a phrase of a list, by the first words of the phrases."""
    if not text.isascii():
        return True
    return not _first_words(key).isdisjoint([word[:5] for word in words])


def cues_of(text: str) -> str:
    """Return the kinds of answer that a text may give, and `?` where it asks."""
    words = _WORD.findall(text.lower())
    is_rule = _may_hold("rules", words, text) and _phrases("cues", "rules").search(text)
    shown = {
        ASKS: _ASKS.search(text),
        "t": not _TIMES.isdisjoint(words) or (":" in text and _CLOCK.search(text)),
        "n": _NUMBER.search(text),
        "p": _NAME.search(text),
        "q": _TITLE.search(text),
        RULE: is_rule,
    }
    return "".join(kind for kind, found in shown.items() if found)


def wanted(words: Sequence[str]) -> str:
    """Return the kinds of answer that a question asks for, from its folded words."""
    text = " ".join(words)
    kinds = [kind for kind, sign in _IN_QUESTIONS.items() if sign.search(text)]
    asks_help = _may_hold("asks_help", words, text) and _phrases("cues", "asks_help").search(text)
    return "".join([*kinds, RULE] if asks_help else kinds)


def matter_of(text: str) -> str:
    """Return a question without what it says of the talk and of the form of the answer."""
    low = text.lower()
    return _english("frame").sub(" ", low) if _may_hold("frame", low.split(), "") else low


def asks_several(words: Sequence[str]) -> bool:
    """Tell whether a question asks for several things, or counts them, from its folded words."""
    return bool(_SEVERAL.search(" ".join(words)))


# -- who speaks ------------------------------------------------------------------------------------

USER, ASSISTANT = "u", "a"
_LABEL = regex(r"\s*[*_>#]*\s*([^\W\d_]{2,20})[*_]*\s*[:：]")
"""A name before a colon, where a text begins with who says it."""
_MARKUP = regex(r"(?m)^[^\S\n]*(?:#{1,6} |\d{1,3}\. \*\*|[-*] \*\*|```)")
ANSWER_LENGTH = 400
"""Characters from which on markup under such an opening is an answer."""
OPENING_LENGTH = 80
"""Characters of a text in whose first words it names what it is about."""
_ADDRESSED = frozenset(("you", "your"))
_SELF = frozenset("i im ive my me mine myself we our us".split())
_OTHER = frozenset("you your youv u ur".split())
"""Terms, so without endings (`yours`, `you've`), and as people write to each other."""


def role_of(subject: str, text: str) -> str:
    """Return `u` for a user's turn, `a` for an assistant's, empty for all else.

    `subject` is folded. A text that holds its subject is about it, and not said by it.
    """
    label = _LABEL.match(text)
    said_by = label[1].casefold() if label and not subject else subject
    name = said_by.rpartition(" ")[2]
    is_user, is_assistant = (name in entries("speakers", k) for k in ("users", "assistants"))
    is_about = name in text[:OPENING_LENGTH].casefold().split()[:3]
    if (is_user or is_assistant) and (label or not is_about):
        return USER if is_user else ASSISTANT
    is_long = len(text) >= ANSWER_LENGTH and _MARKUP.search(text)
    return ASSISTANT if is_long and _phrases("speakers", "opens", start=True).match(text) else ""


def of_self(terms: frozenset[str]) -> bool:
    """Tell whether a text of some terms says anything of who speaks."""
    return not _SELF.isdisjoint(terms)


def of_another(terms: frozenset[str]) -> bool:
    """Tell whether a text of some terms speaks to another, and of who speaks says nothing."""
    return not _OTHER.isdisjoint(terms) and not of_self(terms)


def asks_assistant(words: Sequence[str]) -> bool:
    """Tell whether a question, as folded words, asks for what an assistant said."""
    # A pattern that is not needed is not compiled: that takes longer than to answer.
    said = " ".join(words)
    return not _ADDRESSED.isdisjoint(words) and bool(_phrases("speakers", "asked").search(said))
