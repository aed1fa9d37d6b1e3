"""Find statements that overtake or contradict each other by their words and dates, by rules.

Lineage: engram, contradiction detection. Which of two statements changes the other is decided in
`policies.change`. A statement that a later dated one ends is replaced; a doubtful pair is flagged
for a person. Existing memories are compared once per change, whoever wrote them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from memrepo.core.corrections import corrections_of
from memrepo.core.memory import CLAIM_TYPES, Memory, Source
from memrepo.core.state import State
from memrepo.policies.change import MAX_VALUES, StatementChange, change_of, stated_in
from memrepo.policies.claims import INACTIVE_STANDINGS
from memrepo.policies.phrases import read
from memrepo.policies.standing import Newer, contradicts, is_dated, newer_of, same_place
from memrepo.text.words import content_words


def find_change(first: Memory, second: Memory) -> StatementChange | None:
    """Return how one of two statements changes the other, or None if both may be true.

    A statement that declares the other over is certain if a date or git shows that it is newer. A
    statement that only gives another value is certain if a date shows it. One that only continues
    the other counts with a date only.
    """
    if same_place(first.sources, second.sources):
        return None
    newer, basis = newer_of(first.sources, second.sources)
    together = _are_together(first.sources, second.sources)
    pairs: list[tuple[Memory, Memory, Newer]] = [
        (second, first, "first"),
        (first, second, "second"),
    ]
    for old, new, side in sorted(pairs, key=lambda pair: pair[2] != newer):
        # An undated statement may have existed long before it was first seen.
        may_be_newer = not (basis == "dated" or is_dated(old.sources)) and is_dated(new.sources)
        if newer not in (side, "unknown") and not may_be_newer:
            continue
        change = change_of(old, new, together=together)
        if change is None or (change.is_event and all(map(_is_of_a_day, (old, new)))):
            continue  # each event describes its own day
        is_certain = change.is_certain or (
            not change.is_open
            and newer == side
            and (basis == "dated" or (change.stated and _is_later_line(old.sources, new.sources)))
        )
        if is_certain or not change.is_next:
            return replace(change, newer=side if is_certain else newer, is_certain=is_certain)
    return None


def _is_of_a_day(memory: Memory) -> bool:
    """Return whether the date of a statement comes from a daily log or a heading."""
    return any(s.captured_from in ("heading", "file") for s in memory.sources)


def _are_together(first: Sequence[Source], second: Sequence[Source]) -> bool:
    """Return whether two statements are different lines of one file, written on the same day."""
    return any(
        (one.resource, one.captured[:10]) == (other.resource, other.captured[:10])
        and one.lines != other.lines
        for one in first
        for other in second
        if one.captured
    )


def _is_later_line(old: Sequence[Source], new: Sequence[Source]) -> bool:
    """Return whether, according to git, a new statement was added later to the same file."""
    seen = {s.resource: s.captured[:10] for s in old if s.captured}
    return any(s.captured[:10] > seen[s.resource] for s in new if s.resource in seen)


def _is_undecided(state: State, one: Memory, other: Memory) -> bool:
    """Return whether a pair is still to be decided, so that rules may compare it.

    Statements of different users or projects cannot conflict.
    """
    if one.scope != other.scope or contradicts(one, other) or contradicts(other, one):
        return False
    case = corrections_of(state).between(one.id, other.id)
    return case is None or not case.about({one.id: one.body, other.id: other.body})


def changed_pairs(
    state: State, memories: Mapping[str, Memory], ids: Collection[str]
) -> Iterator[tuple[str, str, StatementChange]]:
    """Yield (memory, other memory, change) for each open pair with one side in `ids`.

    `memories` are all that are compared. The change is that of the first memory against the second.
    """
    wanted = sorted(set(ids) & memories.keys())
    statements = StatementIndex(memories if wanted else {})
    seen: set[frozenset[str]] = set()
    for id_ in wanted:
        for other in sorted(statements.changed(memories[id_])):
            second, first = sorted((memories[id_], memories[other]), key=_age)
            pair = frozenset((id_, other))
            if pair not in seen and _is_undecided(state, first, second):
                seen.add(pair)
                if change := find_change(first, second):
                    yield first.id, second.id, change


def _age(memory: Memory) -> tuple[str, str, str]:
    dated = (s.captured for s in memory.sources if s.captured_from not in ("", "commit"))
    created = memory.created
    return max(dated, default=""), created.isoformat() if created else "", memory.id


MAX_COMPARED = 12
"""Maximum number of statements to compare a statement with, chosen by its rarest words."""
MAX_HOLDERS = 500
"""Number of statements from which a word that they have is too common to select one."""


def is_compared(memory: Memory) -> bool:
    """Return whether a memory is compared with new statements."""
    is_claim = memory.status == "active" and memory.type in CLAIM_TYPES
    return is_claim and memory.standing not in INACTIVE_STANDINGS


def compared_in(state: State) -> Mapping[str, Memory]:
    """Return by id the memories that are compared with new statements."""
    return state.once(_compared_in)


def _compared_in(state: State) -> Mapping[str, Memory]:
    return {memory.id: memory for memory in state.active if is_compared(memory)}


class StatementIndex:
    """An index by words of the memories that are compared with new statements."""

    def __init__(self, memories: Mapping[str, Memory]) -> None:
        self._held = memories
        self._holders: dict[str, list[str]] = {}
        for id_, memory in memories.items():
            for word in content_words(memory.body):
                self._holders.setdefault(word, []).append(id_)

    def changed(self, claim: Memory) -> dict[str, StatementChange]:
        """Map neighbours of a statement to how the statement and the neighbour change each other.

        Several undated values of one key form a list, so one more value changes nothing. A
        statement that may end several others ends none.
        """
        if not self._held or read(stated_in(claim)).is_open:
            return {}
        found = {}
        for id_ in self.neighbours(claim):
            if one := find_change(claim, self._held[id_]):
                found[id_] = one
        given = [id_ for id_, one in found.items() if not one.stated]
        known = [
            id_ for id_ in given if found[id_].is_certain or self._held[id_].standing == "contested"
        ]
        if len(given) > MAX_VALUES or (len(given) > 1 and len(known) < len(given)):
            found = {id_: one for id_, one in found.items() if id_ not in given}
        ended = [id_ for id_, one in found.items() if one.stated]
        return {i: one for i, one in found.items() if len(ended) < 2 or i not in ended}

    def neighbours(self, claim: Memory) -> list[str]:
        """Return the ids of statements that share rare words with a claim, most relevant first."""
        scores: dict[str, float] = {}
        for word in content_words(claim.body):
            ids = self._holders.get(word, ())
            for id_ in ids if len(ids) <= MAX_HOLDERS else ():
                scores[id_] = scores.get(id_, 0) + math.log(1 + len(self._held) / len(ids))
        scores.pop(claim.id, None)
        return heapq.nsmallest(MAX_COMPARED, scores, key=lambda id_: (-scores[id_], id_))
