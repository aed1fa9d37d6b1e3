"""How a memory is to be taken: trust, doubts, when it was true, its line, its contradictions.

All of it is derived on reading. A span of validity is half open: from `since` on, until just
before `until`; None is open (docs/recall.md). A contradiction is a case under `corrections/`, or a
`contradicts` link that has none yet; its id is a hash of both memories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import visible
from memrepo.core.memory import Link, Memory, Stamp
from memrepo.core.messages import fold
from memrepo.core.patterns import regex
from memrepo.core.times import EARLIEST, extent, format_time

if TYPE_CHECKING:
    from memrepo.core.corrections import Correction, Corrections
    from memrepo.core.state import State


def trust_of(memory: Memory) -> str:
    """Return `human-reviewed`, `machine-confirmed` or `unverified`.

    A confirmation counts for the wording that it was given to: one from before the last change by
    another actor is none. Trust is never above that of the evidence: where all of it is inferred,
    only a person's confirmation counts, since the person is evidence too.
    """
    written: Stamp | None = memory.fields.get("generated")
    stamps: tuple[Stamp, ...] = memory.fields.get("verified", ())
    since = written.at if written else None
    held = [s for s in stamps if since is None or s.at is None or s.at >= since]
    if any(s.by.startswith("human:") for s in held):
        return "human-reviewed"
    if memory.sources and all(source.kind == "inferred" for source in memory.sources):
        return "unverified"
    if written and written.by.startswith("human:"):
        return "human-reviewed"
    return "machine-confirmed" if held else "unverified"


SOURCES = "/sources/"
RETIRED = "retire_candidate"
QUOTED = 160
"""Characters of a memory that contests another."""
_WORDS = {
    "stale": "a text says that it is no longer current",
    "unresolved": "nobody has settled whether it holds",
}


def is_retired(memory: Memory) -> bool:
    """Return whether a run found the last line gone that an active memory rested on."""
    return memory.status == "active" and memory.standing == RETIRED


def counted_as(memory: Memory) -> str:
    """Return what a memory is counted as in figures: its status, or that it is retired."""
    return "retired" if is_retired(memory) else memory.status


def doubts(
    memory: Memory,
    find: Callable[[str], Memory | None],
    stale_at: datetime | None = None,
    is_there: Callable[[str], object] = bool,
) -> tuple[str, ...]:
    """Return what is to be told of a memory, a sentence each; nothing of one in good standing.

    `find` returns a memory by its id; `stale_at` is when its class says that its time was over.
    `is_there` tells whether a source is in the tree.
    """
    found: list[str] = []
    match memory.standing:
        case "contested":
            others = _active(memory, find)
            found += [_against(memory, other) for other in others] or ["it is contested"]
        case "retire_candidate":
            found.append(_retired(memory))
        case "probable_duplicate":
            found.append(f"it probably says the same as {memory.text('duplicate_of') or 'another'}")
        case standing if standing in _WORDS:
            found.append(_WORDS[standing])
    if stale_at is not None:
        found.append(stale(format_time(stale_at)))
    names = [source.resource for source in memory.sources]
    if memory.is_note or is_retired(memory) or memory.status != "active" or not names:
        return tuple(found)
    # Logs of a day are rotated: that they are gone says nothing.
    ours = all(SOURCES in f"/{name}" and not _DAY.search(name) for name in names)
    if ours and not any(map(is_there, names)):
        found.append(f"its source is gone: {visible(names[0])}")
    return tuple(found)


_DAY = regex(r"\d{4}-?\d\d-?\d\d")


def disputed(memories: Iterable[Memory], find: Callable[[str], Memory | None]) -> list[str]:
    """Return what contests each of some memories, each pair once, what came up last first."""
    pairs: dict[tuple[str, ...], tuple[datetime, str]] = {}
    for memory in memories:
        for other in _active(memory, find):
            pair = tuple(sorted((memory.id, other.id)))
            times = [m.time("created") or EARLIEST for m in (memory, other)]
            said = fold(visible(memory.body), QUOTED)
            pairs.setdefault(
                pair, (max(times), f'{memory.id} "{said}" is {_against(memory, other)}')
            )
    return [said for _, said in sorted(pairs.values(), key=lambda p: (p[0], p[1]), reverse=True)]


def stale(when: str) -> str:
    """Return since when a memory is stale."""
    return f"it is stale since {when}: nothing has borne it out for longer than its class lives"


def contesting(memory: Memory) -> tuple[str, ...]:
    """Return the ids of what is on record as contradicting a contested memory."""
    links = links_of(memory) if memory.standing == "contested" else ()
    return tuple(link.target for link in links if link.type == "contradicts")


def _active(memory: Memory, find: Callable[[str], Memory | None]) -> list[Memory]:
    others = [find(id_) for id_ in contesting(memory)]
    return [other for other in others if other is not None and other.status == "active"]


def _against(memory: Memory, other: Memory) -> str:
    """Return what contests a memory, and since when: since the later of the two was there."""
    times = [at for m in (memory, other) if (at := m.time("created")) is not None]
    since = f" since {max(times):%Y-%m-%d}" if times else ""
    return f'contested by {other.id}{since}: "{fold(visible(other.body), QUOTED)}"'


def _retired(memory: Memory) -> str:
    """Return when and where the line went that a memory rested on."""
    retired = memory.fields.get("retired", ())
    if not retired:
        return "it is about to be retired: the line it rested on is gone"
    last = retired[-1]
    where = last.reason.partition(": ")[2] or "its source"
    day = last.run[:8]
    since = f" since {day[:4]}-{day[4:6]}-{day[6:]}" if day.isdigit() and len(day) == 8 else ""
    return f"retired{since}: the line it rested on is gone from {where}"


Bound = Literal[
    "", "valid_from", "valid_until", "successor", "superseded_at", "predecessor", "unknown"
]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """From when and until when a memory held, and what says so; None and empty where nothing does.

    `successor`: the valid_from of what replaced it; `predecessor`: when it replaced another;
    `unknown`: it was replaced, and when is not on record, so that it counts as never true.
    """

    since: datetime | None = None
    until: datetime | None = None
    since_from: Bound = ""
    until_from: Bound = ""

    def holds(self, moment: datetime) -> bool:
        """Return whether the memory was true at a moment."""
        return (self.since is None or self.since <= moment) and (
            self.until is None or moment < self.until
        )

    def as_json(self) -> dict[str, str | None]:
        """Return the JSON form; `until` is the first moment at which it no longer held."""
        unknown = self.until_from == "unknown"
        return {
            "since": format_time(self.since) if self.since else None,
            "since_from": self.since_from,
            "until": format_time(self.until) if self.until and not unknown else None,
            "until_from": self.until_from,
        }


def span_of(memory: Memory, memories: Mapping[str, Memory], zone: tzinfo) -> Span:
    """Return when a memory held; dates in its fields are days of the zone.

    It ends with valid_until (a date: with that day) or with its supersession, whichever is first:
    at the valid_from of its successor, else when it was superseded. It begins with valid_from,
    else when it replaced another. An archived or forgotten memory was true all the same.
    """
    since, since_from = _start(memory, memories, zone)
    span = Span(since=since, since_from=since_from)
    text = memory.text("valid_until")
    if text:
        span = replace(span, until=extent(text, zone)[1], until_from="valid_until")
    for end, why in _ends(memory, memories, zone):
        if span.until is None or end < span.until:
            span = replace(span, until=end, until_from=why)
    return span


def true_at(memories: Mapping[str, Memory], moment: datetime, zone: tzinfo) -> dict[str, Memory]:
    """Return the memories that held at a moment, whatever their status."""
    return {
        id_: memory
        for id_, memory in memories.items()
        if span_of(memory, memories, zone).holds(moment)
    }


def _start(
    memory: Memory, memories: Mapping[str, Memory], zone: tzinfo
) -> tuple[datetime | None, Bound]:
    if text := memory.text("valid_from"):
        return extent(text, zone)[0], "valid_from"
    replaced = (memories[id_] for id_ in memory.texts("supersedes") if id_ in memories)
    moments = [
        when
        for old in replaced
        if memory.id in old.texts("superseded_by") and (when := old.time("superseded_at"))
    ]
    return (min(moments), "predecessor") if moments else (None, "")


def _ends(
    memory: Memory, memories: Mapping[str, Memory], zone: tzinfo
) -> Iterator[tuple[datetime, Bound]]:
    """Yield when each successor took over; a memory that is active again was not replaced."""
    successors = memory.texts("superseded_by")
    if memory.status == "active" or not (successors or memory.status == "superseded"):
        return
    dated = [
        extent(text, zone)[0]
        for id_ in successors
        if id_ in memories and (text := memories[id_].text("valid_from"))
    ]
    yield from ((moment, "successor") for moment in dated)
    if len(dated) == len(successors) > 0:
        return
    when = memory.time("superseded_at")
    yield (when, "superseded_at") if when else (EARLIEST, "unknown")


def before(memory: Memory, memories: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """Return what a memory replaced, and what that had replaced; each once, nearest first.

    A memory that is not there any more comes as one with nothing but its id.
    """
    return _line(memory, memories, "supersedes")


def after(memory: Memory, memories: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """Return what replaced a memory, and what replaced that; each once, nearest first."""
    return _line(memory, memories, "superseded_by")


def _line(memory: Memory, memories: Mapping[str, Memory], key: str) -> tuple[Memory, ...]:
    seen = {memory.id}
    found: list[Memory] = []
    near = [memory]
    while near:
        ids = dict.fromkeys(id_ for m in near for id_ in m.texts(key) if id_ not in seen)
        seen.update(ids)
        near = [memories.get(id_) or Memory(path="", fields={"id": id_}) for id_ in ids]
        found += near
    return tuple(found)


ConflictStatus = Literal["open", "resolved", "moot"]
STATUSES: tuple[ConflictStatus, ...] = ("open", "resolved", "moot")
"""In the order in which they are listed. Moot: one of the two left recall in another way."""


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories that contradict each other; `case` is None where nobody wrote one down."""

    id: str
    status: ConflictStatus
    first: Memory
    second: Memory
    case: Correction | None = None

    @property
    def sides(self) -> tuple[Memory, Memory]:
        """Return both memories, the newer statement first where a case says which it is."""
        return self.first, self.second

    @property
    def needs_a_person(self) -> bool:
        """Return whether it is open, and nobody said that more must be known first."""
        return self.status == "open" and not (self.case and self.case.verdict == "context")


def conflicts(state: State, corrections: Corrections) -> tuple[Conflict, ...]:
    """Return all contradictions between memories that exist: open ones first, then by id."""
    from memrepo.core.corrections import contradiction_id

    linked = (
        (id_, link.target)
        for id_, memory in sorted(state.memories.items())
        for link in links_of(memory)
        if link.type == "contradicts" and link.target != id_
    )
    pairs = {tuple(sorted(pair)): pair for pair in linked}
    for case in corrections.cases.values():
        if case.kind == "contradiction":
            pair = (case.sides[0].memory, case.sides[1].memory)
            pairs[tuple(sorted(pair))] = pair
    found = []
    for one, other in pairs.values():
        first, second = state.memories.get(one), state.memories.get(other)
        if first is not None and second is not None:
            case_ = corrections.between(one, other)
            if status := _status(first, second, case_):
                found.append(
                    Conflict(
                        id=contradiction_id(one, other),
                        status=status,
                        first=first,
                        second=second,
                        case=case_,
                    )
                )
    return tuple(sorted(found, key=lambda c: (STATUSES.index(c.status), c.id)))


def _status(first: Memory, second: Memory, case: Correction | None) -> ConflictStatus | None:
    """Return how a pair stands; None for a link to what left recall before anybody looked."""
    if first.status == second.status == "active":
        linked = contradicts(first, second) or contradicts(second, first)
        if case is None or case.status == "open":
            return "open"
        return "open" if linked and not resolved(case, first, second) else "resolved"
    if case is None:
        return None
    if case.status == "resolved":
        return "resolved"
    # What lost against the other was stated again: that is what waits for a decision.
    return "open" if replaced(first, second) or replaced(second, first) else "moot"


def resolved(case: Correction, first: Memory, second: Memory) -> bool:
    """Return whether it was decided that these two, as they are worded now, may both stand."""
    texts = {memory.id: memory.body for memory in (first, second)}
    return case.verdict == "both" and case.about(texts)


def replaced(old: Memory, new: Memory) -> bool:
    """Return whether an active memory replaced another, as both are marked."""
    marked = old.status == "superseded" and new.id in old.texts("superseded_by")
    return marked and new.status == "active"


def contradicts(one: Memory, other: Memory) -> bool:
    """Return whether a memory names another as contradicting it."""
    return any(x.type == "contradicts" and x.target == other.id for x in links_of(one))


def links_of(memory: Memory) -> tuple[Link, ...]:
    """Return a memory's links."""
    links: tuple[Link, ...] = memory.fields.get("links", ())
    return links


def still_contested(memory: Memory, active: Callable[[str], bool], but: str) -> bool:
    """Return whether a memory contradicts an active one next to `but`."""
    return any(
        x.type == "contradicts" and x.target != but and active(x.target) for x in links_of(memory)
    )


WEIGHTS: Mapping[str, int] = {"contested": 3, "unresolved": 2, "retire_candidate": 1}
MOST_DAYS, MOST_SOURCES, MOST_RECURRENCE = 14, 5, 10
TEXT_LIMIT = 240


class Surfaced(msgspec.Struct, frozen=True, kw_only=True):
    """One claim that is in doubt, and why it comes up now: the score."""

    memory: Memory
    score: float
    age_days: int

    def as_json(self) -> dict[str, object]:
        """Return what reports and telemetry say of it; the text is one line of at most 240."""
        memory = self.memory
        changed = changed_at(memory)
        return {
            "id": memory.id,
            "type": memory.type,
            "standing": memory.standing,
            "text": " ".join(visible(memory.body).split())[:TEXT_LIMIT],
            "home": memory.text("home"),
            "updated": format_time(changed) if changed else "",
            "age_days": self.age_days,
            "score": self.score,
        }


def changed_at(memory: Memory) -> datetime | None:
    """Return when a memory's text was last written, or when it was first seen."""
    stamp = memory.fields.get("generated")
    return (stamp.at if stamp is not None else None) or memory.time("created")


def recall_surface(memories: Sequence[Memory], now: datetime) -> Surfaced | None:
    """Return the open claim that scores highest, or None where nothing is open.

    memory-purifier's score: age, standing, sources, and the days that its evidence is of. Ties go
    to the oldest change.
    """
    best: tuple[tuple[float, datetime, str], Surfaced] | None = None
    for memory in memories:
        if memory.standing not in WEIGHTS or memory.status != "active":
            continue
        changed = changed_at(memory)
        age = max(0, (now - changed).days) if changed else 0
        score = round(
            min(age, MOST_DAYS) * 0.1
            + WEIGHTS[memory.standing]
            + min(len(memory.sources), MOST_SOURCES) * 0.3
            + min(len({s.captured[:10] for s in memory.sources if s.captured}), MOST_RECURRENCE)
            * 0.2,
            2,
        )
        rank = (-score, changed or EARLIEST, memory.id)
        if best is None or rank < best[0]:
            best = rank, Surfaced(memory=memory, score=score, age_days=age)
    return best[1] if best else None
