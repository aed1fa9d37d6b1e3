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
from memrepo.text.tables import entries, pattern

ASKS = "?"
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


@cache
def _phrases(section: str, key: str, *, start: bool = False) -> re.Pattern[str]:
    return pattern(entries(section, key), start=start)


def cues_of(text: str) -> str:
    """Return the kinds of answer that a text may give, and `?` where it asks."""
    words = _WORD.findall(text.lower())
    shown = {
        ASKS: _ASKS.search(text),
        "t": not _TIMES.isdisjoint(words) or (":" in text and _CLOCK.search(text)),
        "n": _NUMBER.search(text),
        "p": _NAME.search(text),
        "q": _TITLE.search(text),
    }
    return "".join(kind for kind, found in shown.items() if found)


def wanted(words: Sequence[str]) -> str:
    """Return the kinds of answer that a question asks for, from its folded words."""
    text = " ".join(words)
    return "".join(kind for kind, sign in _IN_QUESTIONS.items() if sign.search(text))


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
    """Return whether a text of some terms says anything of who speaks."""
    return not _SELF.isdisjoint(terms)


def of_another(terms: frozenset[str]) -> bool:
    """Return whether a text of some terms speaks to another, and of who speaks says nothing."""
    return not _OTHER.isdisjoint(terms) and not of_self(terms)


def asks_assistant(words: Sequence[str]) -> bool:
    """Return whether a question, as folded words, asks for what an assistant said."""
    # A pattern that is not needed is not compiled: that takes longer than to answer.
    said = " ".join(words)
    return not _ADDRESSED.isdisjoint(words) and bool(_phrases("speakers", "asked").search(said))
