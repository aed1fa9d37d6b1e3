"""What the owner of a repository wants remembered, from what he did with its memories.

A memory that a person confirmed, edited, pinned or marked as critical is one that he keeps; one
that was rejected or forgotten is one that he does not. What both say of a heading, a file, a type
or a word moves the rank of the statements that have it. It is counted anew from the state by each
run, so that taking a decision back takes back what followed from it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from memrepo.core.memory import CLAIM_TYPES, Memory, Stamp, each_once, of_types, only
from memrepo.core.state import State
from memrepo.read.kinds import section_kind
from memrepo.read.learned import features
from memrepo.read.thoughts import Unit

FEWEST = 3
"""Fewer decisions say nothing."""
LIMIT = 1.5
"""The most that a rank moves."""
TOLD = 0.3
"""From here on a rationale names it."""
SLOW = 3
"""With so many decisions half of what they say counts."""
BALANCE = 0.25
"""Neither side counts as rarer than this, for one who only rejects says little of the rest."""
ALIKE = 0.4
"""Statements that share such a part of their words are similar wherever they stand."""
_GROUPS: Mapping[str, tuple[float, float]] = {
    "kind": (0.5, 12.0),
    "file": (0.5, 12.0),
    "section": (0.5, 6.0),
    "type": (0.5, 12.0),
    "shape": (0.5, 12.0),
    "under": (1.0, 3.0),
    "words": (1.0, 3.0),
}
"""How much a group of features counts, and how many decisions of one feature are needed for half
of it: fewer of what few statements share.
"""
Groups = Mapping[str, frozenset[Hashable]]


class Taste:
    """What some decisions say of statements; false where they are too few to say anything."""

    def __init__(self, decided: Sequence[tuple[Groups, bool]]) -> None:
        """Take the features of each statement that was decided on, and whether it was kept."""
        self._decided = decided
        self._counts: tuple[Counter[tuple[str, Hashable]], ...] = (Counter(), Counter())
        for groups, kept in decided:
            self._counts[kept].update(
                (name, one) for name, group in groups.items() for one in group
            )
        share = (sum(kept for _, kept in decided) + 1) / (len(decided) + 2)
        self._share = min(1 - BALANCE, max(BALANCE, share))

    def __bool__(self) -> bool:
        return len(self._decided) >= FEWEST

    def delta(self, groups: Groups) -> float:
        """Return by how much the rank of a statement moves."""
        if not self:
            return 0.0
        total = sum(
            weight
            * sum(sorted(self._odds(name, one, slow) for one in groups[name]))
            / math.sqrt(len(groups[name]))
            for name, (weight, slow) in _GROUPS.items()
            if groups[name]
        )
        total *= len(self._decided) / (len(self._decided) + SLOW)
        return round(max(-LIMIT, min(LIMIT, total)), 3)

    def _odds(self, name: str, one: Hashable, slow: float) -> float:
        """Return how the odds that a statement is kept change with one feature."""
        gone, kept = (counts[name, one] for counts in self._counts)
        odds = (kept / self._share + slow) / (gone / (1 - self._share) + slow)
        return math.log(odds)

    def code(self, delta: float, groups: Groups) -> str:
        """Return why a rank moved, with the number of similar decisions; empty if it hardly did."""
        if abs(delta) < TOLD:
            return ""
        similar = sum(kept == (delta > 0) and _alike(groups, had) for had, kept in self._decided)
        return f"owner_{'prefers' if delta > 0 else 'rejects'}" + (f"_{similar}" if similar else "")


def _alike(one: Groups, other: Groups) -> bool:
    """Tell whether a reader finds two statements similar: by what they stand under, or by words."""
    shared = len(one["words"] & other["words"])
    is_same_file = one["file"] == other["file"] and bool(one["under"] & other["under"])
    return is_same_file or shared >= ALIKE * max(1, len(one["words"]))


def groups_of(unit: Unit, resource: str, file_kind: str, section: str, type_: str) -> Groups:
    """Return the features of a statement by which decisions on others speak for or against it."""
    inner = [*unit.headings, *filter(None, (unit.lead,))][-1:]
    seen = features(replace(unit, headings=(*inner,), lead=""), file_kind, section, ())
    return {
        "kind": frozenset(filter(None, (file_kind,))),
        "file": frozenset((resource,)),
        "section": frozenset(filter(None, (section,))),
        "type": frozenset((type_,)),
        "shape": frozenset(("\n" in unit.text, bool(unit.key))),
        "under": seen.context,
        "words": seen.text,
    }


def taste_of(state: State, kind_of: Callable[[str], str]) -> Taste:
    """Return what the decisions of a state say; `kind_of` tells the kind of a source, or nothing.

    Memories without a decision are not read (`decided`).
    """
    made = of_types(state.every, CLAIM_TYPES)
    of = only(made, decided(made))
    if len(of) < FEWEST:
        return Taste(())
    return Taste([(_groups(m, kind_of(m.first[0])), m.status != "forgotten") for m in of])


def decided(memories: Iterable[Memory]) -> Sequence[bool]:
    """Tell of each memory whether a person decided on it; it is kept with their other columns."""
    return each_once(memories, "decided", _decided)


def _decided(memory: Memory) -> bool:
    """Tell whether a person decided on what was read from a source."""
    if not memory.sources:
        return False
    stamps: list[Stamp | None] = [memory.fields.get("generated")]
    stamps += memory.fields.get("verified", ())
    return (
        memory.status == "forgotten"
        or any(map(memory.flag, ("pinned", "critical", "user_marked")))
        or any(stamp is not None and stamp.by.startswith("human:") for stamp in stamps)
    )


def _groups(memory: Memory, file_kind: str) -> Groups:
    """Return the features of the statement that a memory was made of, by the memory alone."""
    resource, _ = memory.first
    name = resource.rpartition("/")[2].removesuffix(".md")
    parts = memory.text("context").split(" › ")
    under = tuple(parts[parts.index(name) + 1 :] if name in parts else parts)
    key = memory.text("predicate")
    unit = Unit(
        resource=resource, kind="item", text=memory.said, lines=(1, 1), headings=under, key=key
    )
    section = (section_kind([key]) if key else "") or section_kind(("", *under))
    return groups_of(unit, resource, file_kind, section, memory.type)
