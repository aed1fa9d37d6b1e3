"""Judge by fixed rules, without a model: an operation quotes its lines.

The statements that the shelf chose (`read.shelf`) become operations `add`. Near duplicates of a
chosen statement become more evidence for it. Four pairs of files may state the same (memory-
purifier, collision zones): a reflection, a narrative or a dream only supports what the other file
states, and a milestone and the day's digest are two memories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from memrepo.core.judge import Profile, Statement
from memrepo.core.memory import Source
from memrepo.core.patterns import regex
from memrepo.policies.claims import (
    SHORT,
    find_reflecting,
    have_two_roles,
    type_in_profile,
)
from memrepo.read.choice import Candidate, ShelfChoice
from memrepo.read.kinds import is_profile, section_kind, title_of
from memrepo.read.thoughts import spelled_context
from memrepo.text.dates import date_until, is_time_heading

NAME = "offline/3"
TITLE_LENGTH, EXTRACT_LENGTH, SUBJECT_LENGTH, OBJECT_LENGTH = 120, 400, 80, 300
DOCUMENTS = ("episode", "method")
"""Types whose statement is a document with a title."""
_HASHTAG = regex(
    r"(?<![\w/#&(:\"'`])#(?!(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b)([^\W\d_][\w-]{1,40})"
)
"""A tag as people write it. `#fff` is a colour and not a tag."""
_HEADING = regex(r"^ {0,3}#{1,6}\s+(?P<title>.*?)\s*#*$")
_SENTENCE_END = regex(r"[.!?…](?=\s)|[。！？]|\n")


def read_statements(
    candidates: Sequence[Candidate], choice: ShelfChoice, profile: Profile
) -> tuple[Statement, ...]:
    """Return the operations for the chosen candidates, in the order of their lines."""
    found = (_statement(members, profile) for members in _groups(candidates, choice))
    return tuple(sorted(found, key=lambda one: (place_of(one.sources), one.id)))


def _groups(candidates: Sequence[Candidate], choice: ShelfChoice) -> Iterator[list[Candidate]]:
    """Yield each chosen candidate, and after it those that it states too.

    A duplicate of another role, such as the digest of a milestone, is a memory of its own.
    """
    groups = {c.candidate_id: [c] for c in candidates if c.candidate_id in choice.shelf}
    for one in candidates:
        twins = groups.get(choice.same.get(one.candidate_id, ""))
        if twins is None or one.candidate_id in choice.shelf:
            continue
        if have_two_roles(one.type_hint, twins[0].type_hint):
            groups[one.candidate_id] = [one]
        else:
            twins.append(one)
    yield from groups.values()


def place_of(sources: Sequence[Source]) -> tuple[str, int]:
    """Return the first place of some evidence as (resource, line)."""
    return min(((s.resource, s.lines[0]) for s in sources), default=("", 0))


def _statement(members: Sequence[Candidate], profile: Profile) -> Statement:
    best = members[0]
    kind = type_in_profile(best.type_hint, profile)
    text, title = _text_of(best, kind)
    is_open = "unsure" in best.signs or kind == "open_question"
    placed = [place for c in members for place in c.placed]
    return Statement(
        id=best.candidate_id,
        text=text,
        type=kind,
        title=title,
        subject=subject_of(best),
        predicate=best.placed[0].unit.key,
        object=best.placed[0].unit.value[:OBJECT_LENGTH],
        standing="unresolved" if is_open else "resolved",
        tags=tuple(dict.fromkeys(tag.lower() for tag in _HASHTAG.findall(best.text))),
        sources=evidence_of(members),
        context=_context_of(best),
        until=_end_of(best),
        is_nominated=any(p.retrieved for p in placed),
        rank=best.rank,
        signs=best.signs,
        former=frozenset((p.resource, p.former.text_hash) for p in placed if p.former),
    )


_UNDATED = ("", "commit")
"""What a day is taken from if the text does not name it."""


def _end_of(candidate: Candidate) -> str:
    """Return the day until which a statement says that it is true, if that day is to come.

    An undated line was stated on the day of an edit that changed its end. Elsewhere `until Friday`
    may be every week.
    """
    captured = candidate.captured[:10]
    is_new = any(
        date_until(place.former.text, captured) != date_until(candidate.text, captured)
        for place in candidate.placed
        if place.former
    )
    dated = (
        s.captured[:10] for s in candidate.sources if is_new or s.captured_from not in _UNDATED
    )
    day = date_until(candidate.text, max(dated, default=""), captured)
    return day if day > captured else ""


def evidence_of(members: Sequence[Candidate]) -> tuple[Source, ...]:
    """Return the evidence of a group. Sources with other words are marked `merged`.

    A source that only reflects on another one is marked `inferred`.
    """
    every = [(c.candidate_id, s) for c in members for s in c.sources]
    reflecting = find_reflecting([s for _, s in every])
    first = members[0].candidate_id
    found = (
        replace(s, kind="inferred")
        if s.resource in reflecting
        else s
        if id_ == first
        else replace(s, kind="merged")
        for id_, s in every
    )
    return tuple(dict.fromkeys(found))


def _context_of(candidate: Candidate) -> str:
    """Return the context of a statement in its source: subject, file, headings, lead-in."""
    first = next(iter(candidate.sources), None)
    name = title_of(first.resource) if first else ""
    about = candidate.placed[0].about if first and is_profile(first.resource) else ""
    return spelled_context((about, name, *candidate.context))


def _text_of(candidate: Candidate, kind: str) -> tuple[str, str]:
    """Return the text and title that quote a candidate, or only its beginning for an episode."""
    text, title = candidate.text, ""
    if kind in DOCUMENTS and (match := _HEADING.match(text.partition("\n")[0])):
        title, text = match["title"][:TITLE_LENGTH], text.partition("\n")[2].strip() or text
    return (extract(text) if kind == "episode" else text), title


def extract(text: str) -> str:
    """Return the beginning of a long text, cut after a sentence or between words."""
    if len(text) <= EXTRACT_LENGTH:
        return text
    ends = [m.end() for m in _SENTENCE_END.finditer(text[: EXTRACT_LENGTH + 1])]
    cut = ends[-1] if ends else text.rfind(" ", 0, EXTRACT_LENGTH)
    return text[: cut if cut > 0 else EXTRACT_LENGTH].strip()


def subject_of(candidate: Candidate) -> str:
    """Return the thing named above a statement, the subject of its file, or an empty string.

    A note about a person or a project has one subject. Elsewhere a heading of a known kind
    ("Preferences"), a date and the file's first heading are not subjects. The first heading is used
    only for a short text without another subject.
    """
    about = candidate.placed[0].about
    if about and not is_profile(candidate.placed[0].resource):
        return about
    for heading in reversed(candidate.context[1:]):
        plain = len(heading) <= SUBJECT_LENGTH and not heading.rstrip().endswith((".", "!", "?"))
        if plain and not section_kind([heading]) and not is_time_heading(heading):
            return heading
    title = next(iter(candidate.context), "")
    if about or len(candidate.text) >= SHORT or is_time_heading(title):
        return about
    stems = {PurePosixPath(s.resource).stem.casefold() for s in candidate.sources}
    if title.casefold() in stems:  # "Memory" of MEMORY.md is no subject
        return ""
    return title[:SUBJECT_LENGTH]  # a short text needs its heading
