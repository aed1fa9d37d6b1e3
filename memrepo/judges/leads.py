"""What a text stands under, as the words that make it readable alone.

"Description: tall, short hair" under the heading "Ana (CTO)" becomes "Ana (CTO) – Description:
tall, short hair". The words are those of the context, in its language; what the text says already
is not said again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memrepo.core.ids import normalise, strip_marker
from memrepo.core.judging import Candidate
from memrepo.core.patterns import regex
from memrepo.judges import wordlists
from memrepo.judges.triples import is_date, lead_of, read_triple, title_of
from memrepo.judges.wording import cap, extract, plain, tidy
from memrepo.policies.matching import tokens

SEGMENT_LENGTH = 70
MOST_SEGMENTS = 3
JOIN = " – "
_FILE = regex(r"^[\w./-]+\.md\b[\s:–—-]*|^[\w ./-]+\.md[\s:–—-]+", re.IGNORECASE)
_ASIDE = regex(r"^\W*(?:session|conversation)\b.*\d{4}-\d\d-\d\d.*$", re.IGNORECASE)
_NUMBER = regex(r"^\W*\d{1,3}[.)]\s+")
_OWN_MARK = regex(r"^[^\w\"'“«「(\[@#/.~`]+|[\s:\uff1a]+$")


def whole(candidate: Candidate) -> tuple[str, str]:
    """Return what its context adds to a text, and the text that can be read alone.

    A long text is cut to the length of a claim; a procedure without words of its own is named by
    what it stands under.
    """
    text = _row(candidate, plain(tidy(candidate.text))).rstrip(" \t:\uff1a,;")
    lead = lead_words(candidate)
    if not text:
        return lead, lead or title_of(candidate)
    if not lead:
        return "", extract(text)
    join = JOIN if lead_of(candidate)[0] or _KEYED.match(text) else ": "
    return lead, f"{lead}{join}{extract(text)}"


_KEYED = regex(r"[^\s:][^:\n]{0,40}: \S")


def _row(candidate: Candidate, text: str) -> str:
    """Return a table row with what it is about first, without the header of that column."""
    lead = candidate.context[-1] if candidate.context else ""
    name, colon, rest = text.partition(": ")
    if not (lead and colon and rest.startswith(plain(lead))) or ";" in name:
        return text
    others = rest[len(plain(lead)) :]
    return (
        text
        if others and not others.startswith("; ")
        else plain(lead) + others.replace("; ", JOIN, 1)
    )


def lead_words(candidate: Candidate) -> str:
    """Return the words that a candidate's text needs before it, or an empty string."""
    if _says_who(candidate):
        return candidate_lead(candidate, about_only=True)
    return candidate_lead(candidate)


def candidate_lead(candidate: Candidate, *, about_only: bool = False) -> str:
    """Join what the text stands under and does not say itself, outermost first."""
    said = set(tokens(plain(candidate.text)))
    found: list[str] = []
    for segment in _segments(candidate, about_only=about_only):
        words = tokens(segment)
        if words - said:
            found.append(segment)
            said |= words
    return JOIN.join(found)


def _says_who(candidate: Candidate) -> bool:
    """Tell whether a text names whom it is about before its verb."""
    triple = read_triple(candidate)
    return triple.shape == 2 and normalise(triple.subject) not in ("i", "ich")


def _segments(candidate: Candidate, *, about_only: bool) -> list[str]:
    """Return whom or what it is about first, then the innermost of what it stands under."""
    if about_only:
        return [candidate.about] if candidate.about else []
    path = list(telling(candidate.context))
    about = candidate.about or (path.pop(0) if len(path) > 1 else "")
    if not (about or path):
        about = title_of(candidate)
    inner = path[-(MOST_SEGMENTS - bool(about)) :]
    return [cap(s, SEGMENT_LENGTH) for s in (about, *inner) if s]


def telling(context: tuple[str, ...]) -> Iterator[str]:
    """Yield what headings and list parents say, cleaned, without dates and generic ones."""
    for text in context:
        segment = clean(text)
        generic = normalise(segment).removesuffix(".md") in wordlists.GENERIC_HEADINGS
        if segment and not generic and not is_date(segment) and not _ASIDE.match(segment):
            yield segment


def clean(heading: str) -> str:
    """Return a heading without marks, number, file name and closing colon."""
    first = strip_marker(plain(heading).strip("# \t")).split("\n")[0]
    text = _NUMBER.sub("", _OWN_MARK.sub("", _FILE.sub("", first)))
    return _OWN_MARK.sub("", text).strip()
