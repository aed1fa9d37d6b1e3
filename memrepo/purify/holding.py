"""Decisions that a person took back are not taken again by themselves: they wait for review.

A fingerprint names a decision by operation, memories and what it would say, so the same proposal
has the same fingerprint in every run and another wording has another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import (
    BULK_OPS,
    Change,
    Create,
    Delete,
    Remove,
    Step,
    Update,
    Write,
    prints_of,
)
from memrepo.core.messages import counted
from memrepo.core.state import State


class Parted(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that go on, steps that wait for review, and steps that were refused for good.

    `held_ids` and `refused_ids` name the memories whose creation waits or was refused.
    """

    kept: tuple[Step, ...]
    held: tuple[Step, ...]
    refused: tuple[Step, ...] = ()
    held_ids: frozenset[str] = frozenset()
    refused_ids: frozenset[str] = frozenset()
    why: str = ""
    """Why the held steps wait."""

    @property
    def open_ids(self) -> frozenset[str]:
        """Return every memory that a waiting step concerns: what speaks for it stays open."""
        return self.held_ids | {id_ for step in self.held for id_ in step.memory_ids}


def fingerprints(op: str, memories: Iterable[str], prints: Iterable[str] = ()) -> frozenset[str]:
    """Return the fingerprints of a commit: one a change for bulk steps, else one for the whole.

    `prints` are those that the commit's own trailers name.
    """
    if found := frozenset(prints):
        return found
    if op == "create":
        return frozenset(f"{op}:{id_}" for id_ in memories)
    return frozenset({f"{op}:{'+'.join(sorted(memories))}"})


def prints_between(before: State, after: State) -> dict[str, frozenset[str]]:
    """Return what decisions between two states would be known by, per memory.

    For where nothing says by which decisions one became the other; one more harms nothing.
    """
    found: dict[str, frozenset[str]] = {}
    for id_ in {*before.memories, *after.memories}:
        old, new = before.memories.get(id_), after.memories.get(id_)
        if old is new or old == new:
            continue
        if old is None or new is None:
            found[id_] = fingerprints("create" if old is None else "prune", (id_,))
            continue
        fields = {k: v for k, v in new.fields.items() if old.fields.get(k) != v}
        update = Update(id=id_, fields=fields, body=new.body if new.body != old.body else None)
        prints = {p for op in BULK_OPS for p in prints_of(op, update)}
        prints |= {p for other in fields.get("superseded_by", ()) for p in _pair(id_, other)}
        if fields.get("status") in _RESTING:
            prints |= fingerprints(_RESTING[fields["status"]], (id_,))
        found[id_] = frozenset(prints)
    return found


_RESTING = {"archived": "archive", "forgotten": "forget"}


def _pair(one: str, other: str) -> frozenset[str]:
    return fingerprints("supersede", (one, other))


TAKEN_BACK = "the same changes were taken back before"
SIMILAR = "what it says is close to what was rejected"


def part(
    steps: Sequence[Step],
    taken_back: frozenset[str],
    refused: frozenset[str] = frozenset(),
    *,
    similar: frozenset[str] = frozenset(),
) -> Parted:
    """Part steps by fingerprint: taken back once waits for review, refused is not proposed again.

    What is `similar` to a rejected text waits too. A decision that needs a memory which waits, or
    was refused, shares its fate.
    """
    rest, out = _split(steps, refused)
    # That a note was judged holds, though what it would have become was refused before.
    rest += tuple(replace(s, memories=()) for s in out if s.op == "nominate")
    kept, held = _split(rest, taken_back | similar)
    kept_so, back = _split(held, similar)
    why = [SIMILAR] if back else []
    why += [TAKEN_BACK] if kept_so else []
    held_ids, refused_ids = _created(held), _created(out)
    return Parted(
        kept=_without_twins(kept, held_ids | refused_ids),
        held=_without_twins(held, refused_ids),
        refused=out,
        held_ids=held_ids,
        refused_ids=refused_ids,
        why="; ".join(why),
    )


def _split(
    steps: Sequence[Step], prints: frozenset[str]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Split steps into those that go on and those whose fingerprints, or memories, do not."""
    stay: list[Step] = []
    leave: list[Step] = []
    gone: set[str] = set()
    for step in steps:
        if step.op in BULK_OPS:
            hit = [bool(prints_of(step.op, c) & prints) for c in step.changes]
            out = [c for c, yes in zip(step.changes, hit, strict=True) if yes]
            stay += _some(step, [c for c, yes in zip(step.changes, hit, strict=True) if not yes])
            leave += _some(step, out)
            gone |= {id_ for change in out if isinstance(change, Create) for id_ in _ids(change)}
        elif fingerprints(step.op, step.memory_ids) & prints or gone & set(step.memory_ids):
            leave.append(step)
        else:
            stay.append(step)
    return tuple(stay), tuple(leave)


def _without_twins(steps: tuple[Step, ...], gone: frozenset[str]) -> tuple[Step, ...]:
    """Drop what creations say of a memory that they repeat where that memory is not to be."""
    return tuple(
        replace(step, changes=tuple(_without_twin(change, gone) for change in step.changes))
        for step in steps
    )


def _without_twin(change: Change, gone: frozenset[str]) -> Change:
    if not isinstance(change, Create) or change.memory.text("duplicate_of") not in gone:
        return change
    fields: dict[str, None] = {"duplicate_of": None}
    if change.memory.standing == "probable_duplicate":
        fields["standing"] = None
    return Create(memory=change.memory.with_fields(fields))


def _created(steps: Sequence[Step]) -> frozenset[str]:
    return frozenset(id_ for s in steps if s.op == "create" for id_ in s.memory_ids)


def _some(step: Step, changes: Sequence[Change]) -> list[Step]:
    if not changes:
        return []
    if len(changes) == len(step.changes):
        return [step]
    _, noun, how = (*step.what.split(" ", 2), "", "")[:3]
    one, many = ("memory", "memories") if noun.startswith("memor") else ("note", "notes")
    what = f"{counted(len(changes), one, many)} {how}".strip()
    return [replace(step, what=what, changes=tuple(changes))]


def _ids(change: Change) -> tuple[str, ...]:
    match change:
        case Create(memory=memory):
            return (memory.id,)
        case Update(id=id_) | Remove(id=id_):
            return (id_,)
        case Write() | Delete():
            return ()
