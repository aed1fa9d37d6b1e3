"""By what a memory may be recognised: prints of its texts and lines, its subject, its bare words.

A run asks for the few that bear a mark. Where an earlier run kept the marks of all, those of the
others are not made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from functools import cached_property

from memrepo.core.ids import normal_claim
from memrepo.core.memory import Memory, differing
from memrepo.policies.kept_words import KeptPostings, Postings
from memrepo.policies.matching import normal_subject


def bare(text: str) -> str:
    """Return a text without case, marker and the stops at its end."""
    return normal_claim(text).rstrip(" .!。！")


def of_hash(hash_: str) -> str:
    """Return the mark of a text, or of a unit that a memory rests on."""
    return f"h {hash_}"


def of_subject(subject: str) -> str:
    """Return the mark of a folded subject."""
    return f"s {subject}"


def of_bare(text: str) -> str:
    """Return the mark of a bare text."""
    return f"b {text}"


def marks_of(memory: Memory) -> frozenset[str]:
    """Return the marks of a memory; a note bears none."""
    if memory.is_note:
        return frozenset()
    hashes = {memory.own_hash, *memory.texts("aliases"), *(s.text_hash for s in memory.sources)}
    found = {*map(of_hash, hashes), of_bare(bare(memory.body))}
    if memory.status == "active":
        found.add(of_subject(normal_subject(memory.text("subject"))))
    return frozenset(found)


class Marks:
    """Memories by their marks."""

    def __init__(
        self, memories: Mapping[str, Memory], kept: Callable[[], KeptPostings | None] | None = None
    ) -> None:
        """Take memories by id; nothing is made before a mark is asked for."""
        self._memories, self._kept_of = memories, kept

    @cached_property
    def _kept(self) -> KeptPostings:
        kept = self._kept_of() if self._kept_of is not None else None
        return kept or KeptPostings(postings=Postings(), ids=(), of={})

    @cached_property
    def _apart(self) -> Set[str]:
        return differing(self._memories, self._kept.of)

    @cached_property
    def _beside(self) -> Mapping[str, list[Memory]]:
        """Return what is kept of no memory, by mark."""
        known, apart = {*self._kept.ids}, self._apart
        found: dict[str, list[Memory]] = {}
        for id_ in self._memories:
            if id_ not in known or id_ in apart:
                memory = self._memories[id_]
                for mark in marks_of(memory):
                    found.setdefault(mark, []).append(memory)
        return found

    def resting(self, hashes: Iterable[str]) -> list[Memory]:
        """Return the memories that rest on, or say, one of some texts, ordered by path."""
        found = {m.id: m for hash_ in hashes for m in self.holding(of_hash(hash_))}
        return sorted(found.values(), key=lambda memory: memory.path)

    def holding(self, mark: str) -> list[Memory]:
        """Return the memories that bear a mark, ordered by path."""
        kept, found = self._kept, [*self._beside.get(mark, ())]
        for number in kept.postings.of(mark):
            id_ = kept.ids[number]
            if id_ is not None and id_ not in self._apart:
                found.append(self._memories[id_])
        return sorted(found, key=lambda memory: memory.path)
