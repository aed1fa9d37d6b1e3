"""Read subject, predicate and object in three shapes, and no others.

1. `**Key:** value`: (nearest heading or parent item, key, value).
2. A leading name or "I", a listed verb, the rest.
3. Anything else: (nearest heading, empty, empty).
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from memrepo.core.ids import normalise, strip_marker
from memrepo.core.judge import Candidate
from memrepo.core.patterns import regex
from memrepo.judges import wordlists
from memrepo.judges.headings import is_date, telling
from memrepo.judges.wording import bare_object, bold_lead, cap, split_title, tidy

SUBJECT_LENGTH = 120
PREDICATE_LENGTH = 80
OBJECT_LENGTH = 300

_VERBS = sorted((v.strip() for v in wordlists.VERBS.replace("\n", " ").split(",")), key=len)[::-1]
_VERB = "|".join(re.escape(v).replace(r"\ ", r"\s+") for v in _VERBS)
_DAY_NAME = regex(r"^\d{4}-?\d{2}-?\d{2}(?:[-_T]?\d{4}\b)?[-_]?")
_UPPER = r"[^\W\d_a-zß-öø-ÿа-яё]"
_NAME = rf"(?:{_UPPER}[\w'’.&-]*)(?:\s+{_UPPER}[\w'’.&-]*){{0,2}}"
_SHAPE_TWO = regex(
    rf"^(?P<subject>I|Ich|The\s+user|{_NAME})\s+"
    r"(?:(?:also|really|still|currently|always|usually|often|auch|immer)\s+)?"
    rf"(?P<verb>{_VERB})\s+(?P<rest>\S.*)$",
    re.DOTALL,
)


class Triple(msgspec.Struct, frozen=True, kw_only=True):
    """A triple with the shape it was read in; parts may be empty."""

    subject: str = ""
    predicate: str = ""
    object: str = ""
    shape: Literal[1, 2, 3] = 3


def read_triple(candidate: Candidate) -> Triple:
    """Read the triple of a candidate; each part is one line within its length."""
    key, value = lead_of(candidate)
    if key and value and not is_date(key) and normalise(key) not in wordlists.GENERIC_KEYS:
        return _capped(subject_of(candidate), key, bare_object(value), 1)
    text = tidy(candidate.text)
    match = _SHAPE_TWO.match(text)
    if match is not None and _is_name(match["subject"]):
        return _capped(match["subject"], match["verb"], bare_object(match["rest"]), 2)
    return _capped(subject_of(candidate) or title_of(candidate), "", "", 3)


def read_document(candidate: Candidate) -> Triple:
    """Read the triple of an episode or procedure: its title, nearest heading, file or date."""
    title = split_title(candidate.text)[0]
    subject = title or nearest_heading(candidate) or title_of(candidate) or candidate.captured
    return _capped(subject, "", "", 3)


def lead_of(candidate: Candidate) -> tuple[str, str]:
    """Return key and value of a bold lead, as the scanner read them or from the text."""
    if candidate.key:
        return candidate.key.strip().rstrip(":：").strip(), candidate.value.strip()
    return bold_lead(strip_marker(candidate.text)) or ("", "")


def nearest_heading(candidate: Candidate) -> str:
    """Return the innermost heading or parent that is neither a date nor generic, or nothing."""
    return next(telling(candidate.context[::-1]), "")


def subject_of(candidate: Candidate) -> str:
    """Return whom a text is about where it does not say so itself, or nothing.

    A profile or a memory file is about one thing whatever its headings; other files have many.
    """
    files = {s.resource.rsplit("/", 1)[-1] for s in candidate.sources}
    if candidate.about and "MEMORY.md" not in files:
        return candidate.about
    return nearest_heading(candidate) or candidate.about


def title_of(candidate: Candidate) -> str:
    """Return the name of the first source file that is neither a date nor generic, or nothing."""
    if candidate.retrieved:
        return ""  # the name of a note's file is made from its text
    names = [s.resource.rsplit("/", 1)[-1].removesuffix(".md") for s in candidate.sources]
    names = [_DAY_NAME.sub("", name) for name in names]
    return next(telling(names), "")


def _is_name(text: str) -> bool:
    first = normalise(text).replace("’", "'").split(" ")[0]
    return first not in wordlists.NOT_NAMES or normalise(text) == "the user"


def _capped(subject: str, predicate: str, object_: str, shape: Literal[1, 2, 3]) -> Triple:
    return Triple(
        subject=cap(subject, SUBJECT_LENGTH),
        predicate=cap(predicate, PREDICATE_LENGTH),
        object=cap(object_, OBJECT_LENGTH),
        shape=shape,
    )
