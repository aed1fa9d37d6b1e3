"""Decide whether a newer statement replaces, contradicts or continues an older one.

A newer statement replaces an older one if it names what has ended or the value it replaces, or if
it has another value for the same key under the same heading. It continues an older one if the two
differ in one value only. An older statement that is continued is history, but no error. In all
other cases both hold.

Lineage: engram, contradiction detection. Memories are compared once per change, whoever wrote them.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.core.memory import CLAIM_TYPES, Memory, Source
from memrepo.policies.claims import INACTIVE_STANDINGS
from memrepo.policies.phrases import (
    Reading,
    Replaced,
    are_near,
    headings_of,
    plain_words,
    read,
    stem,
)
from memrepo.policies.standing import Newer, contradicts, is_dated, is_settled, newer_of, same_place
from memrepo.text.words import content_words, patterns

if TYPE_CHECKING:
    from memrepo.core.state import State

MIN_COVER = 0.5
"""A statement that changes another must repeat at least this share of its words."""
MIN_SENTENCE, MIN_COMMON = 3, 0.2
"""Words with content from which the texts behind a key may be sentences of their own, and the share
of them that both have if they are about one thing."""
MAX_VALUES = 5
"""If more statements than this share a key or a sentence, they are items of a list."""


class StatementChange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The effect of a newer statement on an older one.

    `stated` is true if the newer statement names what has ended, and `is_next` if it only continues
    the older one. Otherwise it has another value for the same key. `is_event` is true if both
    statements may report events that were true on their days. `newer` and `is_certain` say which
    one is newer, and whether nobody needs to check that.
    """

    reason: str
    stated: bool = False
    is_next: bool = False
    is_event: bool = False
    newer: Newer = "unknown"
    is_certain: bool = False


def change_of(old: Memory, new: Memory, *, together: bool = False) -> StatementChange | None:
    """Return how a newer statement changes an older one, or None if both may be true.

    `together` is true if both are lines of one version of a file. Such lines only change each other
    if one states that the other has ended.
    """
    one, two = read(stated_in(old)), read(stated_in(new))
    if one.is_open or two.is_open or one.words == two.words:
        return None
    if found := _change_that_ends(one, two, is_near=are_near(old.context, new.context)):
        return found
    if together or one.ended:
        return None
    is_event = not all(map(patterns().sentences["decision"].search, (old.body, new.body)))
    is_same = not (old.subject and new.subject) or old.subject == new.subject
    if is_same and _has_other_value(one, two, old.context, new.context):
        return StatementChange(reason="the same key has another value", is_event=is_event)
    if _differ_in_one_value(one, two, frozenset(plain_words(new.subject).split())):
        reason = "a newer line says what came after it"
        return StatementChange(reason=reason, is_next=True, is_event=is_event)
    return None


def stated_in(memory: Memory) -> str:
    """Return what is compared with other statements: of a whole file, only its description."""
    return memory.body.partition("\n\n")[0] if memory.first[1] == 1 else memory.body


def _change_that_ends(one: Reading, two: Reading, *, is_near: bool) -> StatementChange | None:
    """Return the change if the newer statement ends or replaces what the older one states.

    What ends a part of it ends nothing: who reads both sees what is left.
    """
    known, fewest = one.content, MIN_COVER * len(one.content)
    for over in () if one.ended else two.ended:
        is_whole = over.content == known or (fewest <= len(over.content) and not one.is_several)
        is_whole &= over.content <= known and (over.times <= one.times or not one.times)
        is_named = is_near or len(over.content) > 2 or over.content & (one.names | two.names)
        # Who states that it is not so agrees with who states that it is over.
        is_alike = is_named and over.is_negated == (one.negations % 2 == 1)
        if is_whole and is_alike and len(over.content | over.times & one.times) > 1:
            return StatementChange(reason="a newer line says that it is over", stated=True)
    if any(_replaces_value(one, two, part) for part in two.replaced):
        reason = "a newer line says that the old value was replaced"
        return StatementChange(reason=reason, stated=True)
    return None


def _replaces_value(one: Reading, two: Reading, part: Replaced) -> bool:
    """Return whether the newer statement replaces a value in the older one.

    All that it names is in the older one, so nothing else moved, and it repeats what else that
    names, or half of it about a number: whoever moved from Berlin to Paris may still have studied
    in Berlin. Of what somebody uses, or where somebody is, it may repeat less.
    """
    fresh = tuple(word for word in part.new if word not in part.old)[:1]
    if not fresh or not _holds(one.words, part.old) or _holds(one.words, fresh):
        return False
    left = frozenset(map(stem, (*part.old, *part.new)))
    if not (part.about - left <= one.content and left & (one.content | one.names)):
        return False
    known = one.content - left
    shared = two.content & known
    who, used = one.used
    if used == part.old and who <= part.about and one.names - left <= two.names | part.about:
        return True
    is_number = any(map(str.isdigit, "".join(part.old)))
    return bool(shared) and (shared == known or is_number) and len(shared) >= MIN_COVER * len(known)


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    size = len(part)
    return size > 0 and any(words[at : at + size] == part for at in range(len(words) - size + 1))


def _has_other_value(one: Reading, two: Reading, under_old: str, under_new: str) -> bool:
    """Return whether two statements give the same key under the same heading other values.

    The values are of one time, and neither contains the other. Two sentences about a person, each
    behind the name and a colon, are no values of a key: they share no words, or one denies.
    """
    if not one.key or one.key != two.key:
        return False
    is_under = all(map(headings_of, (under_old, under_new))) or " " in one.key
    if not (is_under and are_near(under_old, under_new)):
        return False
    first, second = (frozenset(map(stem, side.value)) for side in (one, two))
    days = (frozenset(t for t in side.times if t.isalpha()) for side in (one, two))
    if len({*days}) > 1 or not (first and second) or one.negations != two.negations:
        return False
    content = first & one.content, second & two.content
    least = min(map(len, content))
    if least >= MIN_SENTENCE and len(content[0] & content[1]) < MIN_COMMON * least:
        return False
    return not (first <= second or second <= first)


def _differ_in_one_value(one: Reading, two: Reading, subject: frozenset[str]) -> bool:
    """Return whether two statements differ in one value only, a number with its unit or a name.

    Words without content may differ too. The value is not the subject, with which a statement
    begins and whose words do not count. Of the words before a name there are two with content. A
    key has its own rule.
    """
    first = one.content - subject
    shared = first & two.content
    if len(shared) < 2 or len(shared) < MIN_COVER * len(first) or one.negations != two.negations:
        return False
    if one.numbered != two.numbered or (one.key and two.key):
        return False
    old, new, at = _one_difference(one, two)
    kinds = _kinds_of(old, one) & _kinds_of(new, two) if at else set[str]()
    before = sum(stem(word) in shared for word in one.telling[:at])
    return bool(kinds - {"name"} or (kinds and before > 1))


def _one_difference(one: Reading, two: Reading) -> tuple[list[str], list[str], int]:
    """Return the words in which two statements differ at one place, and its number, or no words."""
    words, others = one.telling, two.telling
    from difflib import SequenceMatcher  # most pairs of texts need none

    blocks = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    apart = [(words[i:j], others[m:n], i) for tag, i, j, m, n in blocks if tag != "equal"]
    return apart[0] if len(apart) == 1 else ([], [], 0)


def _kinds_of(part: Sequence[str], of: Reading) -> set[str]:
    """Return the kinds of a value: a number with its unit, a name."""
    is_name = any(stem(word) in of.names and not word[0].isdigit() for word in part)
    kinds = {"name"} if is_name else set[str]()
    if any(word[0].isdigit() for word in part):
        kinds.add(" ".join(re.sub(r"\d+(?:[.,]\d+)*", "0", word) for word in part))
    return kinds


# -- which of two memories changes the other -----------------------------------------------------


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
        is_certain = newer == side and (
            basis == "dated" or (change.stated and _is_later_line(old.sources, new.sources))
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
    return not is_settled(state, one, other)


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
