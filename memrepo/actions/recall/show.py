"""`memrepo show`: show one memory with its fields and source lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.past import find_present
from memrepo.actions.recall.around import threads_around
from memrepo.actions.recall.lookup import as_json, heading, moment_of, touch, work_at
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.recall import Derived, facts
from memrepo.actions.work import At, NoTouch, ValidAt, VerbResult, Work, option
from memrepo.core.memory import Memory
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.policies.importance import Scored, importance_of, keywords
from memrepo.policies.standing import after, before, doubts, span_of, trust_of
from memrepo.store.run_files import Ledger
from memrepo.text.sentences import chunks


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `show`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]
    explain: Annotated[
        bool, option("also its importance in detail, and its excerpt in search", "--explain")
    ] = False
    no_touch: NoTouch = False
    at: At = ""
    valid_at: ValidAt = ""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk of the text as search splits it, with character offsets and the number of tokens."""

    start: int
    end: int
    tokens: int


class Validity(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a memory was true at a given time, its period, and the memories true instead."""

    at: str
    holds: bool
    since: str | None
    since_from: str
    until: str | None
    until_from: str
    instead: tuple[str, ...]


class Result(VerbResult, frozen=True, kw_only=True):
    """One memory with everything that is known about it."""

    memory: Mapping[str, Any]
    """Its path, layer, text, and fields as spelled in the file."""
    threads: tuple[str, ...]
    doubts: tuple[str, ...]
    """Reasons to doubt it, as text."""
    trust: str
    """One of human-reviewed, machine-confirmed and unverified."""
    derived: Derived
    importance: Scored
    chunks: tuple[Piece, ...]
    evidence: tuple[Quote, ...]
    commit: str
    validity: Validity | None
    """Validity at the requested date, if any."""
    heading: tuple[str, ...]
    """The date or commit the answer refers to, if not the present."""
    zone: str
    """The time zone for showing times to a reader."""


def do(work: Work, request: Request) -> Result:
    """Show a memory as it is at HEAD or as it was at another time."""
    there = work_at(work, request.at)
    state = there.tree.state()
    memory = find_present(there, state, request.id)
    found = evidence(there, memory)
    held = _validity(there, state, memory, request.valid_at) if request.valid_at else None
    derived = Derived()
    if not request.at:
        accesses = Ledger(there.store).accesses()
        derived = facts(memory, accesses, work.call.now, there.config.rules)
    if not (request.no_touch or request.at):
        touch(work, [memory.id])
    return Result(
        memory=as_json(memory),
        threads=tuple(threads_around(there, state, memory)),
        doubts=tuple(
            map(
                without_secrets, doubts(memory, state.memories.get, is_there=there.tree.files.id_of)
            )
        ),
        trust=trust_of(memory),
        derived=derived,
        importance=_scored(there, memory),
        chunks=tuple(Piece(start=c.start, end=c.end, tokens=c.tokens) for c in chunks(memory.body)),
        evidence=found,
        commit=there.tree.commit,
        validity=held,
        heading=tuple(heading(there, request.at)),
        zone=there.config.zone.key,
    )


def _scored(work: Work, memory: Memory) -> Scored:
    """Return the importance of a memory with its keywords."""
    found = importance_of(memory, work.config.lexicon)
    if found.level == "trivial":
        return found
    return replace(found, keywords=keywords(memory.body.strip(), work.config.lexicon))


def _validity(work: Work, state: State, memory: Memory, word: str) -> Validity:
    """Return whether a memory was true at a date, its period, and the memories true instead."""
    zone = work.config.zone
    moment = moment_of(work, word)
    span = span_of(memory, state.memories, zone)
    line = (*before(memory, state.memories), *after(memory, state.memories))
    instead = [
        other.id
        for other in line
        if other.id in state.memories and span_of(other, state.memories, zone).holds(moment)
    ]
    return Validity(
        at=format_time(moment),
        holds=span.holds(moment),
        **span.as_json(),
        instead=() if span.holds(moment) else tuple(instead),
    )
