"""Compose the first page, which an agent reads at the beginning of a session.

First come memories that a person or an agent stored or pinned, then rules and due promises, the
person and the agent, current projects with their newest state, and the rest. The page depends only
on the memories, their use and the time. Each run composes it again, and `session start` shows the
same page. `policies.hotcache` turns the page into steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from memrepo.core.layout import home_of, in_workspace
from memrepo.core.manifest import Accesses
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.policies.links import find_directives
from memrepo.policies.phrases import has_other_amount, read
from memrepo.read.kinds import (
    AGENT_FOLDER,
    AGENTS,
    PERSONS,
    PLACEHOLDER,
    is_below,
    is_marked,
    is_of_note,
    is_of_owner,
    is_profile,
    kinds,
    named_kind,
    other_agents,
    path_kind,
    section_kind,
    signs_of,
    state_of,
    title_of,
    without_day,
)
from memrepo.read.learned import features, worth
from memrepo.read.thoughts import Unit, are_of_two_things, field_of, function_words
from memrepo.text.dates import (
    date_of_path,
    days_of,
    due_day,
    find_clock,
    find_date,
    is_date_heading,
)
from memrepo.text.words import content_words, patterns, stems

Part: TypeAlias = Literal[
    "stored",
    "rule",
    "promise",
    "person",
    "agent",
    "project",
    "contact",
    "preference",
    "decision",
    "fact",
    "",
]
ROOM: Mapping[Part, int] = {
    "rule": 8,
    "promise": 3,
    "person": 5,
    "agent": 2,
    "project": 4,
    "preference": 4,
    "decision": 3,
    "contact": 4,
    "fact": 6,
}
"""The parts of the page in order, with the lines of each that are chosen before any rest."""
PARTS: tuple[Part, ...] = ("stored", *ROOM)
MAX_STORED = 0.5
"""The share of the budget that memories stored or pinned have before all others."""
MOST = 2
"""How many times its room a part may have. Facts may have the rest."""
MAX_PER_SUBJECT, MAX_PER_FILE, MAX_READ_AT_START = 2, 2, 4
"""Maximum lines about one thing, from one file (a profile, MEMORY.md and TOOLS.md: any), and from
one that an agent reads at each start anyway."""
FEW = 10
"""A page with fewer lines takes any line that belongs to a part."""
MIN_SCORE, MIN_FILL = 2.0, {"fact": 3.0, "agent": 5.0}
"""Minimum scores of a line of a part, and of lines that only fill the page: a fact, and what an
agent is like beyond its name."""
FRESH_SESSIONS = 3
"""Memories read in this many most recent sessions have a higher score."""
DUE_DAYS, FRESH_DAYS = 45, 90
"""Days before its day in which something is due, and days in which a state counts as new."""
BEST, GOOD, LOW, UNSURE = range(4)
"""How certainly a memory belongs to its part, judged by its file, section and sentence."""
_TYPES = (
    *("identity", "relationship", "fact", "constraint"),
    *("preference", "decision", "commitment", "aspiration", "lesson"),
)
_PAGES = frozenset(("memory", "rules", "decisions", "profile", "instruction", "tools"))
"""Kinds of files that are kept up to date. Other files are logs of a day or documents."""
_NEVER = frozenset(("archive", "template", "article", "catalogue", "transcript", "machine log"))
_EMPTY = frozenset(
    "over placeholder template dangling refers question path code italic row".split()
)
_OVER = ("closed", "option", "example")
_PASSED = ("log", "status")
_LASTING = ("stored", "rule", "preference", "decision")
"""`_OVER` has kinds of sections that are never listed, `_PASSED` kinds that describe a day. What is
of a lasting part is in force until something else is decided."""
TOPIC_KINDS, MIN_NAME_WORDS = ("reference", "project", "person"), 3
"""Kinds of headings that name a thing, if they have at least this many words."""
MIN_NEW_SHARED, MIN_OLD_SHARED = 0.6, 0.8
"""Shares of the words of a line, and of a line already listed, from which one repeats the other."""
LEARNED = 0.4
"""The weight of the model's logit."""
WHOLE_LENGTH = 640
"""Maximum characters of a list or rule on the page, which shows only what it can show whole."""
_SURE = (2.0, 1.2, 0.4, -0.6)
"""The score for each value from `BEST` to `UNSURE`."""
_DAY_FIRST = regex(r"\W*\d{4}-\d\d-\d\d")
"""A heading that begins with a day: what is below it is an entry of a log."""
_READ_AT_START = frozenset("SOUL.md AGENTS.md CLAUDE.md".split())
"""Files that an agent reads at each start anyway."""
_CURATED = frozenset("USER.md human.md MEMORY.md".split())
"""Files in which the person and the agent keep what they want remembered."""
HOME_FILES = _READ_AT_START | frozenset(
    "USER.md IDENTITY.md human.md persona.md MEMORY.md TOOLS.md".split()
)
SEPARATOR = " › "
"""The separator of the headings in a memory's context."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A memory chosen for the first page. Critical memories are needed in every session."""

    memory: Memory
    part: Part
    critical: bool = False


class _Candidate(msgspec.Struct, frozen=True, kw_only=True):
    line: Line
    subject: tuple[str, str]
    place: tuple[str, str]
    score: float
    order: tuple[object, ...]

    @property
    def file(self) -> str:
        """Return the file of the statement if its lines on the page are limited, or nothing."""
        file = self.place[0]
        is_home = file.rpartition("/")[2] in HOME_FILES - _READ_AT_START
        return "" if is_home or is_of_owner(file) else file

    @property
    def day(self) -> str:
        """Return the day of the statement."""
        return self.line.memory.captured[:10]


def compose(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    budget: int,
    lately: Sequence[Memory] = (),
) -> list[Line]:
    """Return the lines of the first page in order, at most `budget`.

    `memories` must be active and currently valid, `lately` are the lines of logs that the page will
    have in addition. Each part gets its best lines, then the best remaining lines fill the budget.
    Only a short page has more lines about a subject. Of two lines that state the same, or another
    value of the same, the newer one is listed.
    """
    claims = [memory for memory in memories if memory.is_wanted or memory.type in _TYPES]
    over = _of_replaced_sections(claims)
    claims = [memory for memory in claims if memory.id not in over or part_of(memory) in _LASTING]
    owners = {owner_of(memory).lower() for memory in claims} - {""}
    names = owners | {owner.split()[0] for owner in owners}
    house = _house(claims)
    candidates = (_candidate(memory, names, house, accesses, now) for memory in claims)
    found = list(filter(None, candidates))
    found.sort(key=lambda one: (-one.score, one.order))
    page = _Page(news=[(line, _words_of(line)) for line in lately])
    stored = [one for one in found if one.line.part == "stored"]
    page.add(stored, max(FEW, int(MAX_STORED * budget)), least=-1.0)
    for part, room in ROOM.items():
        mine = [one for one in found if one.line.part == part]
        page.add(mine, min(budget, len(page.lines) + room), least=MIN_SCORE)
    page.add(found, min(budget, FEW), least=-9.0)
    rest = [one for one in found if one.score >= MIN_FILL.get(one.line.part, one.score)]
    page.add(rest, budget, least=MIN_SCORE)
    page.has_room = True
    page.add(found, min(budget, FEW), least=-9.0)
    order = sorted(page.lines, key=lambda o: (PARTS.index(o.line.part), -o.score, o.order))
    return [one.line for one in order]


def _of_replaced_sections(memories: Iterable[Memory]) -> set[str]:
    """Return the memories below a heading that their file has again with a later day."""
    days: dict[tuple[str, str], str] = {}
    found: list[tuple[str, tuple[str, str], str]] = []
    for memory in memories:
        for heading in memory.context.split(SEPARATOR):
            if (day := find_date(heading)) and (title := without_day(heading)):
                key = memory.first[0], title
                days[key] = max(day, days.get(key, ""))
                found.append((memory.id, key, day))
    return {id_ for id_, key, day in found if day < days[key]}


class _Page(msgspec.Struct):
    """The lines chosen so far, with their words."""

    lines: list[_Candidate] = msgspec.field(default_factory=list)
    words: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    passed: set[str] = msgspec.field(default_factory=set)
    """Memories that were compared, and are on the page or never will be."""
    subjects: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    files: Counter[str] = msgspec.field(default_factory=Counter)
    parts: Counter[Part] = msgspec.field(default_factory=Counter)
    news: Sequence[tuple[Memory, frozenset[str]]] = ()
    """The lines of logs that the page will have, with their words."""
    has_room: bool = False
    """Whether all subjects and files had their lines, so that more about one takes no place."""

    def add(self, found: Iterable[_Candidate], limit: int, *, least: float) -> None:
        """Add candidates in order, best first, up to a number of lines."""
        for one in found:
            id_ = one.line.memory.id
            if len(self.lines) >= limit:
                return
            if id_ in self.passed or one.score < least or self._is_full(one):
                continue
            self.passed.add(id_)
            words = _words_of(one.line.memory)
            if one.line.part != "stored" and any(
                overtakes(line, own, one.line.memory, words) for line, own in self.news
            ):
                continue
            known = self._repeated(one, words)
            if not all(self._replaces(one, words, other) for other in known):
                continue
            for other in known:
                self._count(other, -1)
                self.lines.remove(other)
                del self.words[other.line.memory.id]
            self._count(one, 1)
            self.lines.append(one)
            self.words[id_] = words

    def _count(self, one: _Candidate, number: int) -> None:
        self.files[one.file] += number
        self.parts[one.line.part] += number
        self.subjects[one.subject] += number * bool(one.subject[1])

    def _replaces(self, one: _Candidate, own: frozenset[str], known: _Candidate) -> bool:
        """Return whether a candidate is newer than a line that it repeats, or contains it."""
        body, item = one.line.memory.body, known.line.memory.body
        is_whole = ("\n" in body and "\n" not in item) or self.words[known.line.memory.id] < own
        is_more = one.day == known.day and one.line.part == known.line.part and is_whole
        is_newer = one.day > known.day or overtakes(
            one.line.memory, own, known.line.memory, self.words[known.line.memory.id]
        )
        return known.line.part != "stored" and (is_newer or is_more)

    def _is_full(self, one: _Candidate) -> bool:
        if one.line.part == "stored":
            return False
        is_read = one.file.rpartition("/")[2] in _READ_AT_START
        if one.line.part != "fact" and self.parts[one.line.part] >= MOST * ROOM[one.line.part]:
            return True
        if (self.has_room and not is_read) or (one.line.critical and not one.file):
            return False
        if one.file and self.files[one.file] >= (MAX_READ_AT_START if is_read else MAX_PER_FILE):
            return True
        return not one.line.critical and self.subjects[one.subject] >= MAX_PER_SUBJECT

    def _repeated(self, one: _Candidate, own: frozenset[str]) -> list[_Candidate]:
        """Return the lines that state the same as a candidate, or a part of it."""
        if one.line.part == "stored":
            return []
        return [
            other
            for other in self.lines
            if (
                not are_of_two_things(one.line.memory.body, other.line.memory.body)
                and not _are_of_two_pages(one, other)
                and not _are_of_two_homes(one, own, other, self.words[other.line.memory.id])
                and not (one.day == other.day and differ(own, self.words[other.line.memory.id]))
                and repeats(own, self.words[other.line.memory.id])
            )
        ]


def _are_of_two_pages(one: _Candidate, other: _Candidate) -> bool:
    """Return whether two lines are of two notes, each about its own person or project.

    What is equal there is still said of two: `Allergic to peanuts.` of Ana and of Ines.
    """
    found = [c.line.memory for c in (one, other)]
    return all(map(is_of_note, found)) and found[0].subject != found[1].subject


def _are_of_two_homes(
    one: _Candidate, own: frozenset[str], other: _Candidate, words: frozenset[str]
) -> bool:
    """Return whether two people say something, each of themselves or in other words."""
    files = [c.line.memory.first[0] for c in (one, other)]
    is_own = all(map(is_profile, files)) or one.line.part in ("rule", "preference")
    is_apart = is_own or bool(own - words and words - own)
    return home_of(files[0]) != home_of(files[1]) and is_apart


def _words_of(memory: Memory) -> frozenset[str]:
    return frozenset(stems(sorted(content_words(memory.body))))


def overtakes(newer: Memory, own: frozenset[str], older: Memory, words: frozenset[str]) -> bool:
    """Return whether a dated decision or change replaces what an older statement says of a thing.

    The day of an undated line is that of the last edit of its file, which may be of another line.
    """
    if all(s.captured_from == "commit" for s in newer.sources):
        return False
    day = max((s.captured[:10] for s in older.sources if s.captured_from != "commit"), default="")
    if day >= newer.captured[:10] or are_of_two_things(newer.body, older.body):
        return False
    if newer.is_note and due_of(older):
        is_done = not newer.valid_until and _is_done(newer.body)
        is_moved = newer.valid_until not in ("", due_of(older)) and is_same_event(newer, older)
        return is_moved or (is_done and 2 * len(own & words) > len(words))
    is_changed = differ(own, words)
    said, known = (({*w} - _numbers(w)) if is_changed else w for w in (own, words))
    if not repeats(frozenset(said), frozenset(known)) or not (is_changed or known - said):
        return False
    decided = patterns().sentences["decision"].search(newer.body)
    if decided or newer.type == "decision" or read(newer.body).is_news:
        return True
    is_later = not day and newer.captured[:10] > older.captured[:10] > ""
    return is_later and has_other_amount(newer.body, older.body)


def is_same_event(newer: Memory, older: Memory) -> bool:
    """Return whether an older text says when something is due of which a newer one says it too.

    Fewer words are the same if the newer text moves from its day, or if day and clock are equal.
    """
    first, last = due_of(older), due_of(newer)
    if not (first and last):
        return False
    days, own = _event(newer.body, newer.captured[:10])
    words = _event(older.body, older.captured[:10])[1]
    if first == last:
        clock = find_clock(newer.body)
        share = 0.25 if clock and clock == find_clock(older.body) else 0.5
    else:
        share = 0.25 if days.get(first) else 1.0 if first in days else 0.75
    return len(own & words) > share * min(len(own), len(words)) and not differ(own, words)


@lru_cache(maxsize=1 << 10)
def _event(text: str, near: str) -> tuple[Mapping[str, bool], frozenset[str]]:
    """Return the days that a text names and whether it moves from each, and its other words."""
    days, rest = days_of(text, near)
    return days, frozenset(stems(sorted(content_words(rest) - function_words())))


def _numbers(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if word[:1].isdigit())


def differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether each of two texts has a number that the other lacks."""
    first, second = _numbers(one), _numbers(other)
    return bool(first - second and second - first)


def repeats(own: frozenset[str], words: frozenset[str]) -> bool:
    """Return whether one of two texts says most of what the other does, judged by their words."""
    shared = len(own & words)
    if shared >= 3 and shared == len(words):
        return True
    if own and shared >= MIN_NEW_SHARED * len(own) and (shared >= 3 or shared == len(own)):
        return True
    return shared >= 4 and shared >= MIN_OLD_SHARED * len(words)


def part_of(memory: Memory) -> Part:
    """Return the part of the first page to which a memory belongs, or an empty string if none."""
    return _traits(memory).part


def due_of(memory: Memory) -> str:
    """Return the day until which a memory or a line of a log is on the page, or nothing."""
    return memory.valid_until[:10] if memory.is_note else _traits(memory).due


def order_of(memory: Memory) -> tuple[object, ...]:
    """Return a sort key for memories within one part of the first page, independent of use.

    The person's and the agent's own files come first. The lines of one file stay together.
    """
    traits = _traits(memory)
    file = traits.place[0]
    is_side = file.rpartition("/")[2] not in HOME_FILES
    is_soft = traits.part == "rule" and not traits.hard
    return (is_soft, in_workspace(file).count("/"), is_side, file, *memory.first, memory.path)


def is_about_person(memory: Memory) -> bool:
    """Return whether a memory comes from a file about the person."""
    return _is_of(memory, PERSONS) or any(map(is_of_owner, memory.files))


def is_of_contact(memory: Memory) -> bool:
    """Return whether a memory is about somebody who has a note, and not about the owner."""
    return is_of_note(memory) and _kind_of(memory, in_workspace(memory.first[0])) == "profile"


def owner_of(memory: Memory) -> str:
    """Return the person or agent described by a memory's file, or an empty string."""
    owner, _, file = memory.context.partition(SEPARATOR)
    is_file = any(f.rpartition("/")[2] == f"{owner}.md" for f in memory.files)
    return owner if file and not is_file and _is_of(memory, (*PERSONS, *AGENTS)) else ""


# -- traits ----------------------------------------------------------------------------------------


class _Traits(msgspec.Struct, frozen=True, array_like=True):
    """Features of a memory that determine its position on the first page, independent of use."""

    part: Part = ""
    sure: int = LOW
    hard: bool = False
    place: tuple[str, str] = ("", "")
    subject: str = ""
    depth: tuple[int, int] = (0, 0)
    score: float = 0.0
    due: str = ""


def _traits(memory: Memory) -> _Traits:
    return memory.made(_stored_traits)


def _stored_traits(memory: Memory) -> _Traits:
    """Return the traits of a memory, which the cache of memories keeps by its file's content."""
    found = memory.once("traits of page", lambda: msgspec.to_builtins(_traits_of(memory)))
    return msgspec.convert(found, _Traits)


def _traits_of(memory: Memory) -> _Traits:
    places = [(s.resource, s.lines[0]) for s in memory.sources]
    # Use the first source, but prefer a profile.
    resource, line = min(
        places,
        key=lambda p: (not is_profile(p[0]), in_workspace(p[0]).count("/")),
        default=memory.first,
    )
    path = in_workspace(resource)
    headings = memory.context.split(SEPARATOR)
    section = section_kind(headings)
    text = "\n".join(filter(has_content, memory.body.split("\n")))
    unit = Unit(resource=path, kind="item", text=text, lines=(line, line), headings=tuple(headings))
    signs = signs_of(unit)
    if memory.type == "identity":
        signs -= {"template"}  # a completed form
    kind = _kind_of(memory, path) or ("day log" if date_of_path(path) else "")
    part = _part(memory, kind, section, _thing(headings), signs)
    due = due_day(memory.body, memory.captured[:10]) if _may_be_due(memory, kind, signs) else ""
    part = "promise" if due and part in ("", "fact") else part
    if part == "project" and kind == "project" and not _is_of_project(unit):
        part = "fact"
    if part in ("person", "agent"):
        sure = BEST if is_about_person(memory) or _is_of(memory, AGENTS) else GOOD
    else:
        sure = GOOD if kind in _PAGES or not memory.sources else LOW
        if _is_stated(part, kind, section, signs):
            sure = BEST if sure == GOOD else LOW
        elif sure == LOW:
            sure = UNSURE
        if part == "project" and (due or _state_of_note(memory)):
            sure = BEST
    if part == "rule" and sure == GOOD and any(map(find_date, headings)):
        part = ""  # what a report or a proposal of a day says rules nothing
    hard = part == "rule" and sure < LOW and ("ban" in signs or section == "ban")
    is_project = part == "project" and kind == "project"
    return _Traits(
        part=part,
        sure=sure,
        hard=hard,
        place=(resource, "" if is_project else headings[-1]),
        subject=path if is_project else _subject(headings),
        depth=(path.count("/"), line),
        score=_score(memory, unit, kind, section, signs) + _SURE[sure] + 0.8 * hard,
        due=due or (find_date(memory.body) if part == "promise" else ""),
    )


def _may_be_due(memory: Memory, kind: str, signs: frozenset[str]) -> bool:
    """Return whether the page may say of a memory that something is due."""
    is_out = kind in _NEVER or len(memory.body) > WHOLE_LENGTH or memory.is_note
    is_out = is_out or _is_done(_state_of_note(memory))
    return not is_out and not _EMPTY & signs and _can_stand(memory, is_state=False)


def _state_of_note(memory: Memory) -> str:
    """Return the state of a project that the properties of its note name, or nothing."""
    rows = map(field_of, memory.body.split("\n")) if has_only_fields(memory) else ()
    return next((value for key, value in rows if section_kind([key]) in ("status", "plan")), "")


def has_only_fields(memory: Memory) -> bool:
    """Return whether a memory has the properties of a note about its subject."""
    return is_of_note(memory) and all(field_of(line)[0] for line in memory.body.split("\n"))


def is_head(memory: Memory) -> bool:
    """Return whether a memory is the description at the head of a file for one memory."""
    file, line = memory.first
    is_first = line == 1 and file.rpartition("/")[2] not in HOME_FILES
    return is_first and not has_only_fields(memory)


def _kind_of(memory: Memory, path: str) -> str:
    """Return the kind of file. A head says what is worth knowing of a longer document."""
    kind = path_kind(path) or (named_kind(memory.tags) if memory.subject else "")
    is_long = any(source.lines[1] > 1 for source in memory.sources)
    return "memory" if kind in ("", "article") and is_long and is_head(memory) else kind


def _is_of_project(unit: Unit) -> bool:
    """Return whether a statement in a project's file is about the project itself.

    It names the project, or is in a section that is named after it or after projects.
    """
    common = set(_WORD.findall(" ".join(kinds().named("project").words)))
    file = title_of(unit.resource)
    names = {word for word in content_words(file) if _WORD.fullmatch(word)} - common
    if path_kind(f"{file}.md") == "project" and not names:
        return True  # a file such as `PROJECT.md` is about nothing else
    if section_kind(unit.headings[-1:]) == "project":
        return True
    shown = {unit.headings[-1], unit.text.partition("\n")[0]} if unit.headings else set()
    return any(names & {*_WORD.findall(text.lower())} for text in shown)


_WORD = regex(r"[^\W\d_]{3,}")


def _thing(headings: Sequence[str]) -> str:
    """Return the innermost heading if it names a thing, and not a kind of section or a time."""
    last = headings[-1]
    is_kind = section_kind([last]) or is_date_heading(last) or find_clock(last)
    return "" if is_kind or len(headings) < 2 else last


def _subject(headings: Sequence[str]) -> str:
    """Return the innermost heading if it names a thing, also one with a word such as `setup`."""
    is_topic = section_kind(headings[-1:]) in TOPIC_KINDS
    is_named = is_topic and len(_WORD.findall(headings[-1])) >= MIN_NAME_WORDS
    return headings[-1] if is_named else _thing(headings)


def _score(memory: Memory, unit: Unit, kind: str, section: str, signs: Collection[str]) -> float:
    """Score the text of a memory for the first page."""
    logit = worth(features(unit, kind or "page", section, signs))
    score = LEARNED * max(-4.0, min(4.0, logit))
    score -= bool(memory.type == "fact" and any(map(_DAY_FIRST.match, unit.headings)))
    return score + 2.0 * gives_name(memory)


def gives_name(memory: Memory) -> bool:
    """Return whether a memory's first line is a field for a name, such as `Name: Lin`."""
    return field_of(memory.body.partition("\n")[0].lstrip("-*+ "))[0].lower() in patterns().names


def _can_stand(memory: Memory, *, is_state: bool) -> bool:
    """Return whether a memory says something on one line of the page that agents may read."""
    body = memory.body
    is_table = "\n|" in f"\n{body.lstrip()}" and not is_state
    if is_table or body.lstrip().startswith("```") or "[redacted:" in body:
        return False  # tables and accounts are looked up when needed
    text = before_code(body).strip("-*_ \n")
    if not any(map(has_content, text.split("\n"))) or without_secrets(body) != body:
        return False
    if memory.is_wanted:
        return True
    if text.endswith((":", "：")) and "\n" not in text:
        return False  # what it introduces is code, which the page does not show
    return not ("[[" in body and any(find_directives(body)))  # a person decides what it asks for


def _part(memory: Memory, kind: str, section: str, thing: str, signs: frozenset[str]) -> Part:
    is_out = (kind in _NEVER or section in _OVER) and not memory.is_wanted
    if is_out or _EMPTY & signs:
        return ""
    if len(memory.body) > WHOLE_LENGTH and not (memory.is_wanted or is_head(memory)):
        return ""
    heading = memory.context.rpartition(SEPARATOR)[2]
    is_state = kind == "memory" and (
        section == "project" or (section == "status" and (thing or state_of(heading)[1]))
    )
    is_state = is_state and not _is_done(thing) and "done" not in signs
    if not _can_stand(memory, is_state=bool(is_state)):
        return ""
    is_fact = memory.type in ("identity", "relationship", "fact") or gives_name(memory)
    if is_of_contact(memory) and not memory.is_wanted:
        return "contact"
    if is_about_person(memory) and (is_fact or memory.type == "constraint"):
        if section == "preference":
            return "preference"
        if is_fact:
            return "person"
    if _is_of(memory, AGENTS) and is_fact:
        return "agent"
    state = _state_of_note(memory)
    over = _is_done(state) if state else bool(signs & {"done", "now"})  # a state is of now
    passing = section in _PASSED or over
    match memory.type:
        case _ if memory.is_wanted:
            return "stored"
        case "identity" | "relationship" if kind in ("memory", "profile") or not memory.sources:
            return "person"
        case "fact" if kind == "profile" and not passing and "tiny" not in signs:
            return "person"
        case "constraint" if kind != "plan" and section not in _PASSED and "filing" not in signs:
            return "rule"
        case "preference":
            return "preference"
        case "decision" if "done" not in signs:
            return "decision"
        case "commitment" if "done" not in signs and section not in _PASSED:
            return "promise"
        case "fact" if is_state and "tiny" not in signs:
            return "project"
        case "fact" | "aspiration" | "lesson" if not passing and "tiny" not in signs:
            is_project = kind == "project" or (
                section == "project" and kind in ("memory", "profile")
            )
            return "project" if is_project else "fact"
        case _:
            return ""


def _is_stated(part: Part, kind: str, section: str, signs: Collection[str]) -> bool:
    """Return whether section, file or wording shows that a memory belongs in this part."""
    match part:
        case "rule":
            is_rule = "ban" in signs or section in ("ban", "rule") or kind == "rules"
            return is_rule and kind != "tools"
        case "preference":
            return section == "preference" or kind in ("profile", "rules")
        case "decision":
            is_decided = section == "decision" or kind == "decisions" or "decision" in signs
            return is_decided and "done" not in signs
        case "promise":
            return section == "plan" or "open_box" in signs
        case "fact":
            return kind in ("memory", "tools")
        case _:
            return kind in ("memory", "project")


def _candidate(
    memory: Memory,
    names: Collection[str],
    house: _House,
    accesses: Accesses,
    now: datetime,
) -> _Candidate | None:
    traits = _traits(memory)
    home = house.holds(traits.place[0])
    due = traits.due
    is_past = traits.part == "promise" and "" < due < f"{now:%Y-%m-%d}"
    if not traits.part or home is None or is_past:
        return None
    text = f"{memory.body} {memory.context}".lower()
    is_ours = any(name in text for name in names)
    last = accesses.of(memory.id).last
    is_read = last is not None and accesses.sessions_since(last, now) < FRESH_SESSIONS
    score = traits.score + home + 0.6 * is_ours + 0.5 * is_read
    if traits.part in ("stored", "decision", "project", "promise"):
        age = (now.date() - (memory.created or now).date()).days
        score += (1 + (traits.part == "project")) * max(0.0, 1.0 - age / FRESH_DAYS)
    if traits.part == "project" and traits.sure == BEST:
        score = max(score, MIN_SCORE)  # how a project stands, however its note says it
    if due:
        is_soon = 0 <= (date.fromisoformat(due) - now.date()).days <= DUE_DAYS
        score = max(score, MIN_SCORE) + 1 if is_soon else score
    is_who = traits.part in ("person", "agent")
    is_critical = (traits.hard and home > 0) or (is_who and traits.sure == BEST)
    return _Candidate(
        line=Line(memory=memory, part=traits.part, critical=is_critical),
        subject=(traits.place[0].rpartition("/")[0], traits.subject),
        place=traits.place,
        score=score,
        order=(PARTS.index(traits.part), traits.depth, memory.path),
    )


class _House(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of the person and the agent (`own`), and the folders of other agents."""

    own: frozenset[str]
    others: frozenset[str]

    def holds(self, resource: str) -> float | None:
        """Return the bonus for a file's location, or None if the file is another agent's."""
        folder, _, name = resource.rpartition("/")
        if not resource or folder.removesuffix("/memory") in self.own or folder in self.own:
            if name in _CURATED or not resource:
                return 1.5
            return 1.0 if name in HOME_FILES or is_of_owner(name) else 0.5
        return None if is_below(resource, self.others) else 0.0


def _house(memories: Iterable[Memory]) -> _House:
    files = {file for memory in memories for file in memory.files}
    homes = {(name, folder) for folder, _, name in (f.rpartition("/") for f in files)}
    least: dict[tuple[str, str], int] = {}
    for name, folder in homes:
        key = name, home_of(f"{folder}/")
        least[key] = min(least.get(key, folder.count("/")), folder.count("/"))
    own = {
        folder
        for name, folder in homes
        if name in HOME_FILES
        and (folder.count("/") == least[name, home_of(f"{folder}/")] or "/." in f"/{folder}")
    }
    roots = {"sources", *(home.rstrip("/") for _, home in least)}
    return _House(own=frozenset(own | roots), others=other_agents(files) - own)


def agent_of(folder: str) -> str:
    """Return the agent whose folder this is (`agents/NAME/...`), or an empty string."""
    found = AGENT_FOLDER.search(folder)
    return (found["name"] or "") if found else ""


def _is_done(text: str) -> bool:
    return patterns().sentences["done"].search(text) is not None


def _is_of(memory: Memory, names: Collection[str]) -> bool:
    return any(file.rpartition("/")[2] in names for file in memory.files)


_FIELD = regex(r"^[\W_]*(?P<key>[^:：\n]{1,40})[:：][\s*_]*(?P<value>.*?)[\s*_.]*$")


_TAGS = regex(r"^\s*(?:#[^\s#]+\s*)+$")
"""A line of tags."""
_ASIDE = regex(r"^\s*_[^_\n]+_\s*$")
"""A line in italics: a comment on a form, or a motto."""


def before_code(text: str) -> str:
    """Return the part of a text before its first code block."""
    return _FENCE.split(text, maxsplit=1)[0]


_FENCE = regex(r"\n[ \t]*(?:[-*+][ \t]+)?```")


def has_content(line: str) -> bool:
    """Return whether a line has content. An empty field of a form has none."""
    field = _FIELD.match(line)
    value = field["value"].strip("()[]_ ").lower() if field else line
    is_unset = value in patterns().unset or PLACEHOLDER.search(line) or _ASIDE.match(line)
    is_unset = is_unset or _TAGS.match(line)
    return any(map(str.isalnum, value)) and not is_unset and not is_marked(line)
