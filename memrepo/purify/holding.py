"""Decisions that a person took back are not taken again by themselves: they wait for review.

A fingerprint names a decision by operation and memories; ids are hashes of content, so the same
proposal has the same fingerprint in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memrepo.core.changes import Change, Create, Delete, Remove, Step, Update, Write

BULK_OPS = ("create",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """Steps that may go on, steps that wait, and the ids of memories that wait to be created."""

    kept: tuple[Step, ...]
    held: tuple[Step, ...]
    held_ids: frozenset[str]

    @property
    def open_ids(self) -> frozenset[str]:
        """Return every memory that a waiting step concerns: what speaks for it stays open."""
        return self.held_ids | {id_ for step in self.held for id_ in step.memory_ids}


def fingerprints(op: str, memories: Iterable[str]) -> frozenset[str]:
    """Return the fingerprints of a commit: one a memory for bulk steps, else one for the whole."""
    if op in BULK_OPS:
        return frozenset(f"{op}:{id_}" for id_ in memories)
    return frozenset({f"{op}:{'+'.join(sorted(memories))}"})


def part(steps: Sequence[Step], refused: frozenset[str]) -> Parted:
    """Part steps into those that go on and those that were refused before, or need one that was."""
    kept, held = [], []
    held_ids: set[str] = set()
    for step in steps:
        if step.op in BULK_OPS:
            waits = [c for c in step.changes if fingerprints(step.op, _ids(c)) & refused]
            goes = [c for c in step.changes if c not in waits] if waits else list(step.changes)
            held_ids |= {id_ for change in waits for id_ in _ids(change)}
            kept += _some(step, goes)
            held += _some(step, waits)
        elif fingerprints(step.op, step.memory_ids) & refused or held_ids & set(step.memory_ids):
            held.append(step)
        else:
            kept.append(step)
    return Parted(kept=tuple(kept), held=tuple(held), held_ids=frozenset(held_ids))


def _some(step: Step, changes: Sequence[Change]) -> list[Step]:
    if not changes:
        return []
    if len(changes) == len(step.changes):
        return [step]
    _, _, noun = step.what.partition(" ")
    return [replace(step, what=f"{len(changes)} {noun}", changes=tuple(changes))]


def _ids(change: Change) -> tuple[str, ...]:
    match change:
        case Create(memory=memory):
            return (memory.id,)
        case Update(id=id_) | Remove(id=id_):
            return (id_,)
        case Write() | Delete():
            return ()
