"""Compose the first page: what an agent needs to know when its day begins.

The person, the agent, hard rules, preferences, decisions in force, a line for each active project
and open promises. The page depends on the memories, their use and the moment only: each run
composes it again, and `session start` shows the same. What people and use put on the page is not
the composition's to choose (`policies.hotcache`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory, of_types
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.times import EARLIEST, format_time
from memrepo.read.dates import date_of_path, find_date
from memrepo.read.kinds import PLACEHOLDER, path_kind, section_kind, signs_of
from memrepo.read.owners import AGENTS, PERSONS
from memrepo.read.thoughts import Unit
from memrepo.read.words import words

Part: TypeAlias = Literal[
    "person", "agent", "rule", "preference", "decision", "project", "promise", "fact", ""
]
ROOM: Mapping[Part, int] = {
    "person": 5,
    "agent": 2,
    "rule": 8,
    "preference": 5,
    "decision": 4,
    "project": 5,
    "promise": 3,
    "fact": 8,
}
"""Parts of the page in order, and how many lines each may have."""
FILLED_FROM = 20
"""From so many claims on, plain facts fill the page: of fewer a search misses none."""
PARTS = tuple(ROOM)
MAX_PER_HEADING = 2
"""So many lines of one file come from below one heading."""
FRESH_SESSIONS = 3
"""A memory that was read since so many sessions is preferred among equals."""
BEST, GOOD, LOW, UNSURE = range(4)
"""How surely a memory belongs to its part by its file, section and sentence.

An unsure one is on the page only if it names a person or an agent of the house.
"""
_TYPES = (
    *("identity", "relationship", "fact", "constraint"),
    *("preference", "decision", "commitment", "aspiration", "lesson"),
)
_PAGES = frozenset(("memory", "rules", "decisions", "profile", "instruction", "tools"))
"""Kinds of files that are kept up to date; others report of a day, or are papers."""
_NEVER = frozenset(("archive", "template", "article", "catalogue", "transcript", "machine log"))
_EMPTY = frozenset(
    "placeholder template meta dangling question link path code ticked italic row".split()
)
_OVER = ("closed", "option", "example")
_PASSED = ("log", "status")
"""Kinds of sections that nothing on the page comes from, and that tell of a day."""
_LAST_WORDS = regex(r"(?:\([^()\n]*\)|[—–-]+ [^—–\n]{1,20})\W*\Z")
_WORD = regex(r"\w{3,}")
SEPARATOR = " › "
"""What is between the parts of a memory's context."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that the composition chooses; a critical one is needed in every session."""

    memory: Memory
    part: Part
    critical: bool = False


class _Candidate(msgspec.Struct, frozen=True, kw_only=True):
    line: Line
    place: tuple[str, str]
    most: int
    rank: tuple[object, ...]


def compose(
    memories: Sequence[Memory], accesses: Accesses, now: datetime, budget: int
) -> list[Line]:
    """Return the lines of the first page in order, at most `budget`.

    The memories are active, hold, and are not past their time. At most two lines come from one
    heading of a file, and a memory whose words another line has is left out.
    """
    claims = of_types(memories, _TYPES)
    names = _names(claims)
    found = [one for memory in claims if (one := _candidate(memory, names, accesses, now))]
    if len(claims) < FILLED_FROM:
        found = [one for one in found if one.line.part != "fact"]
    found.sort(key=lambda one: one.rank)
    chosen: list[Line] = []
    places: Counter[tuple[str, str]] = Counter()
    taken: Counter[Part] = Counter()
    texts: list[frozenset[str]] = []
    for one in found:
        line, text = one.line, frozenset(_WORD.findall(one.line.memory.body.lower()))
        is_full = taken[line.part] >= ROOM[line.part] or len(chosen) >= budget
        if is_full or places[one.place] >= one.most:
            continue
        if text and any(text <= other for other in texts):
            continue  # another line has all its words
        places[one.place] += 1
        taken[line.part] += 1
        texts.append(text)
        chosen.append(line)
    return chosen


def part_of(memory: Memory) -> Part:
    """Return the part of the first page to which a memory belongs, or an empty string."""
    return memory.made(_seen).part


def order_of(memory: Memory) -> tuple[object, ...]:
    """Return what orders memories of one part of the page, whatever their use."""
    seen = memory.made(_seen)
    return (seen.part == "rule" and not seen.hard, seen.depth, *memory.first, memory.path)


def is_about_person(memory: Memory) -> bool:
    """Tell whether a memory is from a file about the person."""
    return _is_of(memory, PERSONS)


def owner_of(memory: Memory) -> str:
    """Return the name of whom a memory's file is about, where that is a person's or the agent's."""
    owner, _, file = memory.text("context").partition(SEPARATOR)
    return owner if file and _is_of(memory, (*PERSONS, *AGENTS)) else ""


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a memory is for the page, as far as it follows from the memory itself."""

    part: Part = ""
    sure: int = LOW
    hard: bool = False
    place: tuple[str, str] = ("", "")
    depth: tuple[int, int] = (0, 0)
    doubt: float = 1.0
    """One less the confidence that its judge had in it."""


def _seen(memory: Memory) -> _Seen:
    resource, line = memory.first
    path = resource.removeprefix("sources/")
    headings = memory.text("context").split(SEPARATOR)
    section = section_kind(headings)
    text = "\n".join(filter(is_given, memory.body.split("\n")))
    signs = signs_of(Unit(resource=path, kind="item", text=text, lines=(line, line)))
    if memory.type == "identity":
        signs -= {"template"}  # a form that somebody filled in
    kind = path_kind(path) or ("day log" if date_of_path(path) else "")
    part = _part(memory, kind, section, signs)
    if part in ("person", "agent"):
        sure = BEST if _is_of(memory, (*PERSONS, *AGENTS)) else GOOD
    else:
        sure = GOOD if kind in _PAGES or not memory.sources else LOW
        if _is_stated(part, kind, section, signs):
            sure = BEST if sure == GOOD else LOW
        elif sure == LOW:
            sure = UNSURE
    return _Seen(
        part=part,
        sure=sure,
        hard=part == "rule" and sure < LOW and ("ban" in signs or section == "ban"),
        place=(resource, "" if part == "project" and kind == "project" else headings[-1]),
        depth=_depth(memory),
        doubt=round(1.0 - getattr(memory.fields.get("scores"), "confidence", 0.5), 1),
    )


def _part(memory: Memory, kind: str, section: str, signs: frozenset[str]) -> Part:
    if kind in _NEVER or section in _OVER or _EMPTY & signs or not _says_something(memory):
        return ""
    is_fact = memory.type in ("identity", "relationship", "fact")
    if _is_of(memory, PERSONS) and (is_fact or memory.type == "constraint"):
        if section == "preference":
            return "preference"
        if is_fact:
            return "person"
    if _is_of(memory, AGENTS) and is_fact:
        return "rule" if "ban" in signs and memory.type == "fact" else "agent"
    passing = section in _PASSED or signs & {"done", "now"}
    match memory.type:
        case "identity" | "relationship" if kind in ("memory", "profile", ""):
            return "person"
        case "constraint" if kind != "plan":
            return "rule"
        case "fact" if section in ("ban", "rule") and kind != "day log" and {"ban", "rule"} & signs:
            return "rule"
        case "preference":
            return "preference"
        case "decision" if "done" not in signs or section == "decision":
            return "decision"
        case "commitment" if "done" not in signs and section not in _PASSED:
            return "promise"
        case "fact" | "aspiration" | "lesson" if not passing and "tiny" not in signs:
            is_told = kind == "project" or (section == "project" and kind in ("memory", "profile"))
            is_kept = kind in ("memory", "tools", "decisions", "rules")
            return "project" if is_told else "fact" if is_kept else ""
        case _:
            return ""


def _is_stated(part: Part, kind: str, section: str, signs: Collection[str]) -> bool:
    """Tell whether section, file or sentence agree that a memory is of its part."""
    match part:
        case "rule":
            is_told = "ban" in signs or section in ("ban", "rule") or kind == "rules"
            return is_told and kind != "tools"
        case "preference":
            return section == "preference" or kind in ("profile", "rules")
        case "decision":
            return (section == "decision" or kind == "decisions") and "done" not in signs
        case "promise":
            return section == "plan" or "open_box" in signs
        case _:
            return kind in ("memory", "project")


def _candidate(
    memory: Memory, names: Collection[str], accesses: Accesses, now: datetime
) -> _Candidate | None:
    seen = memory.made(_seen)
    if not seen.part:
        return None
    if seen.part == "promise" and _is_past(memory.body, now):
        return None
    text = f"{memory.body} {memory.text('context')}".lower()
    is_ours = any(name in text for name in names)
    if not is_ours and (seen.sure == UNSURE or (seen.part == "rule" and seen.sure == LOW)):
        return None
    last = accesses.of(memory.id).last
    is_read = last is not None and accesses.sessions_since(last, now) < FRESH_SESSIONS
    is_who = seen.part in ("person", "agent")
    is_newest_first = seen.part in ("decision", "project", "promise")
    return _Candidate(
        line=Line(
            memory=memory,
            part=seen.part,
            critical=seen.hard or (is_who and seen.sure == BEST),
        ),
        place=seen.place,
        most=1 if seen.place[1] == "" else MAX_PER_HEADING,
        rank=(
            PARTS.index(seen.part),
            seen.part == "rule" and not seen.hard,
            seen.sure if is_who else seen.sure * 2 - is_ours,
            not is_read,
            -_day_number(memory) if is_newest_first else 0,
            0 if is_who else seen.doubt,
            seen.depth,
            memory.path,
        ),
    )


def _names(memories: Iterable[Memory]) -> frozenset[str]:
    """Return the names of the person and the agent in lower case, whole and by their first word."""
    owners = {owner_of(memory).lower() for memory in memories} - {""}
    return frozenset(owners) | {owner.split()[0] for owner in owners}


def _is_past(promise: str, now: datetime) -> bool:
    """Tell whether a promise is past its date, or its last words say that it is over."""
    due, last = find_date(promise), _LAST_WORDS.search(promise)
    signs = words().sentences
    is_over = last and any(signs[sign].search(last[0]) for sign in ("done", "decision"))
    return bool(is_over) or ("" < due < f"{now:%Y-%m-%d}")


def _depth(memory: Memory) -> tuple[int, int]:
    """Return how deep the file is and on which line; a profile's own place before others."""
    sources = [s for s in memory.sources if _is_profile(s.resource)] or memory.sources
    places = [(s.resource.count("/"), s.lines[0]) for s in sources]
    return min(places, default=(0, 0))


def _is_profile(resource: str) -> bool:
    return resource.rpartition("/")[2] in (*PERSONS, *AGENTS)


def _is_of(memory: Memory, names: Collection[str]) -> bool:
    return any(file.rpartition("/")[2] in names for file in memory.files)


def _day_number(memory: Memory) -> int:
    day = memory.captured or format_time(memory.time("created") or EARLIEST)
    return int("".join(filter(str.isdigit, day[:10])) or 0)


_FIELD = regex(r"^[\W_]*(?P<key>[^:：\n]{1,40})[:：][\s*_]*(?P<value>.*?)[\s*_.]*$")


_ASIDE = regex(r"^\s*_[^_\n]+_\s*$")
"""A line in italics: what a form says of itself, or a motto."""


def _says_something(memory: Memory) -> bool:
    if memory.body.lstrip().startswith("|"):
        return False  # a table is looked up, and not begun a day with
    text = memory.body.strip("-*_ \n")
    is_aside = text.startswith("(") and text.endswith(")")
    is_given_at_all = not is_aside and any(map(is_given, memory.body.split("\n")))
    return is_given_at_all and without_secrets(memory.body) == memory.body


def is_given(line: str) -> bool:
    """Tell whether a line is more than a field that nobody filled in."""
    field = _FIELD.match(line)
    value = field["value"].strip("()[]_ ").lower() if field else line
    is_unset = value in words().unset or PLACEHOLDER.search(line) or _ASIDE.match(line)
    return any(map(str.isalnum, value)) and not is_unset
