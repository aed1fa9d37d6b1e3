"""What differs between two states, in terms of memories: the substance of a review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from memrepo.core.codec import changed_keys
from memrepo.core.memory import Memory, differing
from memrepo.core.schema import BY_NAME
from memrepo.core.state import State

Kind = Literal[
    "superseded",
    "retired",
    "removed",
    "forgotten",
    "archived",
    "restored",
    "reworded",
    "standing",
    "added",
    "evidence",
    "confirmed",
    "promoted",
    "demoted",
    "tier",
    "confidence",
    "flags",
    "links",
    "moved",
    "fields",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order in which a person reviews: first what leaves recall, last what is bookkeeping."""
_BOOKKEEPING = ("generated", "tier_written", "aliases")
_KIND_OF_FIELD: Mapping[str, Kind] = MappingProxyType(
    {
        "standing": "standing",
        "sources": "evidence",
        "source_count": "evidence",
        "verified": "confirmed",
        "tier": "tier",
        "confidence": "confidence",
        "promoted": "promoted",
        "pinned": "flags",
        "critical": "flags",
        "user_marked": "flags",
        "links": "links",
    }
)
_KIND_OF_STATUS: Mapping[str, Kind] = MappingProxyType(
    {
        "superseded": "superseded",
        "forgotten": "forgotten",
        "archived": "archived",
        "active": "restored",
    }
)
_FOLLOWS: Mapping[str, str] = MappingProxyType(
    {
        "status_epoch": "status",
        "superseded_by": "status",
        "superseded_at": "status",
        "archived_at": "status",
        "retired": "standing",
        "duplicate_of": "standing",
        "tier_since": "tier",
        "gist": "tier",
    }
)
"""Fields that tell nothing of their own while the field they follow changed too."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One memory before and after.

    `kinds` holds every kind of change, in the order of KINDS; the first gives it its place.
    `fields` names what changed, bookkeeping left out where anything else did.
    """

    kinds: tuple[Kind, ...]
    before: Memory | None
    after: Memory | None
    fields: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Return the kind it is counted as."""
        return self.kinds[0]

    @property
    def memory(self) -> Memory:
        """Return the memory as it is after, or before where it goes."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a difference has at least one side")
        return found

    def value(self, name: str) -> tuple[object, object]:
        """Return a field's value before and after; an absent one is its default."""
        default = BY_NAME[name].default
        old, new = (m.fields.get(name, default) if m else None for m in (self.before, self.after))
        return old, new


def differences(before: State, after: State) -> tuple[Difference, ...]:
    """Return every memory that differs, once, ordered by kind and then by path."""
    found = _found(before.memories, after.memories)
    return tuple(sorted(found, key=lambda d: (KINDS.index(d.kind), d.memory.path, d.memory.id)))


def _found(before: Mapping[str, Memory], after: Mapping[str, Memory]) -> Iterator[Difference]:
    for id_ in differing(before, after):
        old, new = before.get(id_), after.get(id_)
        if old is None or new is None:
            yield Difference(kinds=("removed" if new is None else "added",), before=old, after=new)
        elif old != new:
            yield _changed(old, new)


def _changed(old: Memory, new: Memory) -> Difference:
    names = changed_keys(old.fields, new.fields)
    told = tuple(name for name in names if name not in _BOOKKEEPING)
    kinds = {kind for name in told for kind in _kinds(name, old, new, told)}
    if old.body != new.body:
        kinds.add("reworded")
    if old.path != new.path:
        kinds.add("moved")
    return Difference(
        kinds=tuple(kind for kind in KINDS if kind in kinds) or ("fields",),
        before=old,
        after=new,
        fields=told or (() if kinds else tuple(names)),
    )


def _kinds(name: str, old: Memory, new: Memory, told: tuple[str, ...]) -> tuple[Kind, ...]:
    if name == "status":
        retired = new.status == "archived" and new.standing == "retire_candidate"
        return () if retired and "standing" in told else (_KIND_OF_STATUS[new.status],)
    if name == "standing" and new.standing == "retire_candidate":
        return ("retired",)
    if name == "hot":
        return (_heat(old, new),)
    if name == "promoted" and not new.flag("promoted"):
        return ("fields",)
    if _FOLLOWS.get(name) in told:
        return ()
    return (_KIND_OF_FIELD.get(name, "fields"),)


def _heat(old: Memory, new: Memory) -> Kind:
    """Tell whether a memory comes onto the hot cache, or leaves it."""
    was, now = (m.fields.get("hot") for m in (old, new))
    if now is None or now.until is not None:
        return "demoted"
    return "fields" if was is not None and was.since == now.since else "promoted"
