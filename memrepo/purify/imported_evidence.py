"""Where an imported claim stands in the sources as they are now: unit by unit, never guessed.

A claim that rests on a unit's very text is met again by the next run and grows no twin; a wrong
match would hide an edit. So a reworded claim is matched by its lines only in a file that is byte
for byte the one the purifier read last, and only where its lines hold one unit with its words.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from memrepo.core.ids import text_hash
from memrepo.policies.matching import tokens
from memrepo.purify.imported_claims import Place
from memrepo.purify.lineage import content_hash
from memrepo.purify.units import Unit, scan

SHARED_WORDS = 0.5
"""Of the shorter text's words, this share must stand in the other."""


class Evidence(msgspec.Struct):
    """Sources by name with their blob ids, and the content hashes the purifier recorded."""

    sources: Mapping[str, bytes]
    blobs: Mapping[str, str]
    inventory: Mapping[str, str]
    _units: dict[str, tuple[Unit, ...]] = msgspec.field(default_factory=dict)

    def locate(self, name: str, lines: tuple[int, int], text: str, in_force: bool) -> Place:
        """Return the unit that a claim rests on, or only the lines that were recorded."""
        units, hash_ = self._read(name), text_hash(text)
        within = [u for u in units if u.lines[0] <= lines[1] and lines[0] <= u.lines[1]]
        for unit in (*within, *units):
            if unit.text_hash == hash_:
                at = lines if unit in within else unit.lines
                return Place(lines=at, blob=self.blobs.get(name, ""), text_hash=hash_)
        if in_force and len(within) == 1 and self._unchanged(name):
            (unit,) = within
            if _share_words(unit.text, text):
                return Place(lines=lines, blob=self.blobs.get(name, ""), text_hash=unit.text_hash)
        return Place(lines=lines)

    def _read(self, name: str) -> tuple[Unit, ...]:
        if name not in self._units:
            self._units[name] = scan(name, self.sources[name]).units if name in self.sources else ()
        return self._units[name]

    def _unchanged(self, name: str) -> bool:
        return name in self.sources and self.inventory.get(name) == content_hash(self.sources[name])


def _share_words(one: str, other: str) -> bool:
    left, right = tokens(one), tokens(other)
    shorter = min(len(left), len(right))
    return bool(shorter) and len(left & right) >= SHARED_WORDS * shorter
