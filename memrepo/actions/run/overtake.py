"""Find statements that overtake or contradict each other by their words and dates, by rules.

Lineage: engram, contradiction detection. Which of two statements changes the other is decided in
`policies.change`. A statement that a later dated one ends is replaced; a doubtful pair is flagged
for a person. Existing memories are compared once per change, whoever wrote them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from memrepo.core.corrections import corrections_of
from memrepo.core.judge import Newer
from memrepo.core.memory import CLAIM_TYPES, Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.state import State
from memrepo.judge.grounding import unit_of
from memrepo.policies.change import MAX_VALUES, StatementChange, change_of, stated_in
from memrepo.policies.claims import INACTIVE_STANDINGS
from memrepo.policies.phrases import read
from memrepo.policies.phrases import table as phrases_of
from memrepo.policies.standing import contradicts, is_dated, newer_of, same_place
from memrepo.text.words import content_words, language_of

SURE, UNSURE = 0.95, 0.5
"""Confidence in a change that nobody needs to check, and in one that somebody should."""


class FoundChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two statements, which of them is newer, and whether that is certain."""

    change: StatementChange
    newer: Newer
    is_certain: bool

    @property
    def confidence(self) -> float:
        """Return the confidence: high if no person needs to check."""
        return SURE if self.is_certain else UNSURE


def find_change(first: Memory, second: Memory) -> FoundChange | None:
    """Return how one of two statements changes the other, or None if both may be true.

    A statement that declares the other over is certain if a date or git shows that it is newer. A
    statement that only gives another value is certain if a date shows it. One that only continues
    the other counts with a date only, unless the two differ in a value in numbers and are of two
    files.
    """
    if same_place(first.sources, second.sources):
        return None
    newer, basis = newer_of(first.sources, second.sources)
    pairs: list[tuple[Memory, Memory, Newer]] = [
        (second, first, "first"),
        (first, second, "second"),
    ]
    if newer != "unknown":
        pairs.sort(key=lambda pair: pair[2] != newer)
    is_of_two_files = {s.resource for s in first.sources}.isdisjoint(
        s.resource for s in second.sources
    )
    together = _are_together(first.sources, second.sources)
    for old, new, side in pairs:
        is_order_known = newer in (side, "unknown")
        # An undated statement may have existed long before it was first seen.
        if not is_order_known and (
            basis == "dated" or is_dated(old.sources) or not is_dated(new.sources)
        ):
            continue
        change = change_of(old, new, together=together)
        if change is None:
            continue
        if change.is_event and is_of_a_day(old.sources) and is_of_a_day(new.sources):
            continue  # each describes its own day
        certain = change.is_named or (
            not change.is_open
            and newer == side
            and (basis == "dated" or (change.stated and _is_later_line(old.sources, new.sources)))
        )
        if (
            change.is_next
            and not certain
            and not (change.is_measure and is_of_two_files and _differ_in_value(old.body, new.body))
        ):
            continue
        return FoundChange(change=change, newer=side if certain else newer, is_certain=certain)
    return None


_NUMBER = regex(
    r"(?:(?P<before>[^\W\d_]+|[=:$€£¥₹])\s*)?(?<![\w.,/#-])(?P<number>\d+(?:[.,]\d+)*)(?![\w/-]*\d)"
    r"(?:\s?(?P<unit>[^\W\d_]+|[%€$£¥₹]|°\w)(?=\s*(?:[.,;!?)]|$)))?"
)


def _differ_in_value(one: str, other: str) -> bool:
    """Return whether the numbers in which two texts differ are values, not parts of names.

    A value has a unit and ends its clause, or is behind a currency, `=`, or a verb such as is.
    """
    numbers, values = [], []
    for text in (one, other):
        using = phrases_of(language_of(text.casefold().split(), text)).using
        before = {*using, *"=:$€£¥₹"}
        found = [*_NUMBER.finditer(text)]
        numbers.append({m["number"] for m in found})
        values.append(
            {
                m["number"]
                for m in found
                if unit_of(m["unit"] or "") or (m["before"] or "").casefold() in before
            }
        )
    (old, new), (known, given) = numbers, values
    return bool(old - new) and old - new <= known and bool(new - old) and new - old <= given


def is_of_a_day(sources: Sequence[Source]) -> bool:
    """Return whether the date of a statement comes from a daily log or a heading."""
    return any(s.captured_from in ("heading", "file") for s in sources)


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


def is_open(state: State, one: Memory, other: Memory) -> bool:
    """Return whether a pair is still to be decided, so that rules may compare it."""
    if one.scope != other.scope:
        return False  # statements about different users or projects cannot conflict
    if same_place(one.sources, other.sources):
        return False  # consecutive words of one line belong together
    case = corrections_of(state).between(one.id, other.id)
    return case is None or not case.about({one.id: one.body, other.id: other.body})


def changed_pairs(
    state: State,
    memories: Mapping[str, Memory],
    ids: Collection[str],
    never: Collection[str] = (),
) -> Iterator[tuple[str, str, FoundChange]]:
    """Yield (memory, other memory, change) for each open pair with one side in `ids`.

    `memories` are all that are compared. `never` has what a person reverted
    (`core.changes.traits`). The change is that of the first memory against the second.
    """
    wanted = sorted(set(ids) & memories.keys())
    statements = StatementIndex(memories if wanted else {})
    seen: set[frozenset[str]] = set()
    for id_ in wanted:
        for other in sorted(statements.changed(memories[id_])):
            pair = frozenset((id_, other))
            if pair in seen or not is_open(state, memories[id_], memories[other]):
                continue
            seen.add(pair)
            second, first = sorted((memories[id_], memories[other]), key=_age)
            if contradicts(first, second) or contradicts(second, first):
                continue
            both = ((first.id, second.id), (second.id, first.id))
            relations = (f"{a} {key} {b}" for a, b in both for key in ("superseded_by", "links"))
            if never and not {*relations}.isdisjoint(never):
                continue
            if change := find_change(first, second):
                yield first.id, second.id, change


def _age(memory: Memory) -> tuple[str, str, str]:
    dated = (s.captured for s in memory.sources if s.captured_from not in ("", "commit"))
    created = memory.created
    return max(dated, default=""), created.isoformat() if created else "", memory.id


MAX_COMPARED = 12
"""Maximum number of statements to compare a statement with, chosen by its rarest words."""
MAX_RARE_WORDS, MAX_HOLDERS = 12, 2000
"""Maximum rare words that select neighbours, and maximum statements read for these words."""


def is_compared(memory: Memory) -> bool:
    """Return whether a memory is compared with new statements."""
    return (
        memory.status == "active"
        and memory.type in CLAIM_TYPES
        and memory.standing not in INACTIVE_STANDINGS
    )


def compared_in(state: State) -> Mapping[str, Memory]:
    """Return by id the memories that are compared with new statements.

    The result is cached in the state.
    """
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

    def changed(self, claim: Memory) -> dict[str, FoundChange]:
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
        given = [id_ for id_, one in found.items() if not one.change.stated]
        known = [
            id_ for id_ in given if found[id_].is_certain or self._held[id_].standing == "contested"
        ]
        if len(given) > MAX_VALUES or (len(given) > 1 and len(known) < len(given)):
            found = {id_: one for id_, one in found.items() if id_ not in given}
        ended = [id_ for id_, one in found.items() if one.change.stated]
        return {i: one for i, one in found.items() if len(ended) < 2 or i not in ended}

    def neighbours(self, claim: Memory) -> list[str]:
        """Return the ids of statements that share rare words with a claim, most relevant first."""
        held = {word: self._holders.get(word, []) for word in content_words(claim.body)}
        shared = ((len(ids), word) for word, ids in held.items() if {*ids} - {claim.id})
        rare = sorted(shared)[:MAX_RARE_WORDS]
        scores: dict[str, float] = {}
        room = MAX_HOLDERS
        for count, word in rare:
            if scores and count > room:
                break
            room -= count
            weight = math.log(1 + len(self._held) / count)
            for id_ in held[word]:
                scores[id_] = scores.get(id_, 0) + weight
        scores.pop(claim.id, None)
        best = heapq.nsmallest(MAX_COMPARED, ((-score, id_) for id_, score in scores.items()))
        return [id_ for _, id_ in best]
