"""Part a text that says several things: by rules that never cut inside a statement.

1. The value of a bold key that is a list with semicolons: one part an entry, under the same key.
2. Sentences of which each next one opens with another name and a listed verb.
3. A text of more than 400 characters: as few parts as hold it, cut at the ends of sentences.
4. A procedure of more than 400 characters: the same, cut at the ends of lines, so of steps.

Parts are the text's own words in their order, and nothing of it is left out but blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import normalise
from memrepo.core.judging import Candidate
from memrepo.core.patterns import regex
from memrepo.judges import wordlists
from memrepo.judges.headings import is_date
from memrepo.judges.successions import SINGLE
from memrepo.judges.triples import lead_of, read_triple
from memrepo.judges.wording import EXTRACT_LENGTH, sentence_ends, split_title, tidy
from memrepo.policies.matching import normal_predicate, normal_subject

_ENTRIES = regex(r"\s*[;；]\s*")
_CLOSED = regex(r"`[^`]*`|\([^()]*\)|https?://\S+")


class Part(msgspec.Struct, frozen=True):
    """One statement of a candidate, as a candidate of its own, and its words in the whole."""

    candidate: Candidate
    quote: str


def parts_of(candidate: Candidate) -> list[Part]:
    """Return the parts of a candidate; none where it says one thing."""
    return _distinct(_entries(candidate) or _subjects(candidate) or _sentences(candidate))


def steps_of(candidate: Candidate) -> list[Part]:
    """Return a procedure in parts; none where it is short."""
    title, body = split_title(tidy(candidate.text))
    if len(body) <= EXTRACT_LENGTH:
        return []
    found = packed(body, [m.end() for m in re.finditer("\n", body)])
    head = f"## {title}\n" if title else ""
    return _distinct([Part(replace(candidate, text=head + part), part) for part in found])


def _distinct(parts: list[Part]) -> list[Part]:
    """Leave out what is said twice; what then is one statement is none of several."""
    found = list({normalise(part.quote): part for part in reversed(parts)}.values())[::-1]
    return found if len(parts) > 1 else []


def packed(text: str, ends: Sequence[int], limit: int = EXTRACT_LENGTH) -> list[str]:
    """Cut a text at some of these ends, so that few parts hold it; at a blank where none helps."""
    parts, start = [], 0
    while len(text[start:].strip()) > limit:
        start += len(text[start:]) - len(text[start:].lstrip())
        fit = [e for e in ends if start < e and len(text[start:e].strip()) <= limit]
        if fit and text[start : max(fit)].strip():
            end = max(fit)
        else:
            blank = max(text.rfind(ch, start, start + limit) for ch in " \n\t")
            end = blank if blank > start else start + limit
        parts.append(text[start:end].strip())
        start = end
    return [part for part in (*parts, text[start:].strip()) if part]


def _entries(candidate: Candidate) -> list[Part]:
    key, value = lead_of(candidate)
    if not (key and value) or is_date(key) or normal_predicate(key) in SINGLE:
        return []
    if normalise(key) in wordlists.GENERIC_KEYS or _CLOSED.search(value):
        return []
    found = [part for part in _ENTRIES.split(value) if part]
    if len(found) < 2 or not all(any(ch.isalnum() for ch in part) for part in found):
        return []
    return [_valued(candidate, key, part) for part in found]


def _subjects(candidate: Candidate) -> list[Part]:
    text = tidy(candidate.text)
    if lead_of(candidate)[0] or candidate.task:
        return []
    cuts, names = [0], [_name(candidate, text)]
    for end in sentence_ends(text):
        name = _name(candidate, text[end:])
        if name and name != names[-1]:
            cuts.append(end)
            names.append(name)
    if len(cuts) < 2 or not names[0]:
        return []
    rows = [text[a:b].strip() for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]
    made = [Part(replace(candidate, text=row, key="", value=""), row) for row in rows]
    return [part for one in made for part in _sentences(one.candidate) or [one]]


def _name(candidate: Candidate, text: str) -> str:
    """Return the name that a text opens with before a verb, or an empty string."""
    triple = read_triple(replace(candidate, text=text.strip(), key="", value=""))
    return normal_subject(triple.subject) if triple.shape == 2 else ""


def _sentences(candidate: Candidate) -> list[Part]:
    text = tidy(candidate.text)
    if len(text) <= EXTRACT_LENGTH:
        return []
    key, value = lead_of(candidate)
    if key and value:
        room = EXTRACT_LENGTH - len(f"{key}: ")
        found = packed(value, sentence_ends(value), room) if room > len(key) else []
        return [_valued(candidate, key, part) for part in found]
    found = packed(text, sentence_ends(text))
    return [Part(replace(candidate, text=part, key="", value=""), part) for part in found]


def _valued(candidate: Candidate, key: str, value: str) -> Part:
    return Part(replace(candidate, text=f"**{key}:** {value}", key=key, value=value), value)
