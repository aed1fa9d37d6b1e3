"""What a text stands under, as the words that make it readable alone.

"Description: tall, short hair" under the heading "Ana (CTO)" becomes "Ana (CTO) – Description:
tall, short hair". The words are those of the context, in its language; what the text says already
is not said again.
"""

from __future__ import annotations

from memrepo.core.ids import normalise
from memrepo.core.judging import Candidate
from memrepo.core.patterns import regex
from memrepo.judges.headings import telling
from memrepo.judges.triples import lead_of, read_triple, title_of
from memrepo.judges.wording import cap, extract, plain, tidy
from memrepo.policies.matching import tokens
from memrepo.purify.units import TERSE_MOST

SEGMENT_LENGTH = 70
MOST_SEGMENTS = 3
PROFILES = {"MEMORY.md", "USER.md", "IDENTITY.md", "TOOLS.md"}
JOIN = " – "


def whole(candidate: Candidate) -> tuple[str, str]:
    """Return what its context adds to a text, and the text that can be read alone.

    A long text is cut to the length of a claim; a procedure without words of its own is named by
    what it stands under.
    """
    text = _row(candidate, _joined(plain(tidy(candidate.text)))).rstrip(" \t:\uff1a,;")
    lead = lead_words(candidate)
    if not text:
        return lead, lead or title_of(candidate)
    if not lead:
        return "", extract(text)
    join = JOIN if lead_of(candidate)[0] or _KEYED.match(text) else ": "
    return lead, f"{lead}{join}{extract(text)}"


_KEYED = regex(r"[^\s:][^:\n]{0,40}: \S")


def _joined(text: str) -> str:
    """Return a list of a few words an item on one line."""
    rows = [row.strip() for row in text.split("\n")]
    terse = len(rows) > 1 and all(row and len(row) <= TERSE_MOST for row in rows)
    return "; ".join(row.rstrip(" ;,.") for row in rows) if terse else text


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
    context = candidate.context[1:] if is_profile(candidate) else candidate.context
    path = list(telling(context))
    about = candidate.about or (path.pop(0) if len(path) > 1 else "")
    if not (about or path):
        about = title_of(candidate)
    inner = path[-(MOST_SEGMENTS - bool(about)) :]
    return [cap(s, SEGMENT_LENGTH) for s in (about, *inner) if s]


def is_profile(candidate: Candidate) -> bool:
    """Tell whether the title above a text only names the kind of its file."""
    files = {s.resource.rsplit("/", 1)[-1] for s in candidate.sources}
    return (
        bool(files) and files <= PROFILES and len(candidate.context) > 0 and bool(candidate.about)
    )
