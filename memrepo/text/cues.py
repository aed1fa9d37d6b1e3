"""Detect the kind of answer that a text gives or a question asks for, and the speaker of a text.

Each kind is a letter. A text with a day, number, name or title may answer when, how many, who or
which book. A text that asks rarely answers, but the text after it may. The phrases are in the
sections `cues` and `speakers` of the tables (docs/languages.md).

An assistant's turn is long, has markup, begins with a typical phrase, and does not name the
assistant. In an English conversation, a person who uses "you" but not "I" speaks about the other.
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
    """Return the kinds of answer that a text may give, and `?` if the text is a question."""
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
    """Return the kinds of answer that a question, given as folded words, asks for."""
    text = " ".join(words)
    return "".join(kind for kind, sign in _IN_QUESTIONS.items() if sign.search(text))


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
    """Return the speaker of a text: `u` for a user, `a` for an assistant, or an empty string.

    `subject` is folded. A text that begins with its subject is about the subject, not spoken by it.
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
    """Return whether a text with these terms refers to its own speaker, as with `I` or `my`."""
    return not _SELF.isdisjoint(terms)


def asks_assistant(words: Sequence[str]) -> bool:
    """Return whether a question, given as folded words, asks for something an assistant said."""
    # Compile the pattern only if needed, because compiling takes longer than the search.
    said = " ".join(words)
    return not _ADDRESSED.isdisjoint(words) and bool(_phrases("speakers", "asked").search(said))
