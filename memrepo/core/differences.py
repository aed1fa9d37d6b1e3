"""What differs between two states, in terms of memories: the substance of a review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memrepo.core.memory import Memory
from memrepo.core.schema import FIELDS
from memrepo.core.state import State

Kind = Literal[
    "added", "removed", "superseded", "retired", "reworded", "evidence", "status", "standing",
    "fields",
]  # fmt: skip
_BOOKKEEPING = ("run", "generated", "scores", "tier_written")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One memory before and after; `fields` names what changed, bookkeeping left out."""

    kind: Kind
    before: Memory | None
    after: Memory | None
    fields: tuple[str, ...] = ()

    @property
    def memory(self) -> Memory:
        """Return the memory as it is after, or before where it goes."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a difference has at least one side")
        return found


def differences(before: State, after: State) -> tuple[Difference, ...]:
    """Return every memory that differs, ordered by kind and then by path."""
    found = sorted(_found(before, after), key=lambda d: (_ORDER[d.kind], d.memory.path))
    return tuple(found)


_ORDER = {
    kind: n
    for n, kind in enumerate(
        ("superseded", "retired", "removed", "reworded", "status", "standing", "added", "evidence",
         "fields")
    )
}  # fmt: skip


def _found(before: State, after: State) -> Iterator[Difference]:
    for id_ in {*before.memories, *after.memories}:
        old, new = before.memories.get(id_), after.memories.get(id_)
        if old is None or new is None:
            yield Difference(kind="removed" if new is None else "added", before=old, after=new)
        elif old != new:
            yield _changed(old, new)


def _changed(old: Memory, new: Memory) -> Difference:
    names = [f.name for f in FIELDS if old.fields.get(f.name) != new.fields.get(f.name)]
    told = tuple(name for name in names if name not in _BOOKKEEPING)
    return Difference(kind=_kind(old, new, told), before=old, after=new, fields=told)


def _kind(old: Memory, new: Memory, names: tuple[str, ...]) -> Kind:
    if old.status != new.status:
        return "superseded" if new.status == "superseded" else "status"
    if old.body != new.body:
        return "reworded"
    if old.standing != new.standing:
        return "retired" if new.standing == "retire_candidate" else "standing"
    return "evidence" if "sources" in names else "fields"
