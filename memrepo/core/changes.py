"""Proposed changes, grouped into steps (one commit each)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast, get_args

import msgspec
from msgspec.structs import force_setattr

from memrepo.core.ids import digest
from memrepo.core.memory import Memory, differing, targets

Op: TypeAlias = Literal[
    "ingest",
    "create",
    "reword",
    "supersede",
    "retire",
    "confirm",
    "tier",
    "decay",
    "prune",
    "nominate",
    "promote",
    "demote",
    "pin",
    "archive",
    "restore",
    "compress",
    "link",
    "flag",
    "resolve",
    "reject",
    "unreject",
    "forget",
    "view",
    "run",
    "revert",
    "edit",
    "import",
    "sync",
    "init",
]
OPS: tuple[str, ...] = get_args(Op)


def op_of(word: str) -> Op:
    """Return the operation named by a word, or `edit` if memrepo defines no such operation."""
    return cast("Op", word) if word in OPS else "edit"


class Create(msgspec.Struct, frozen=True, kw_only=True):
    """Add a memory file at `memory.path`.

    `file` may contain an existing file with the same content. Its comments and foreign keys are
    preserved.
    """

    memory: Memory
    file: bytes = b""


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """Set fields of a memory and, if given, its body. The value None removes a field."""

    id: str
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    body: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "fields", MappingProxyType(dict(self.fields)))


class Remove(msgspec.Struct, frozen=True, kw_only=True):
    """Remove a memory file from the tree. The file remains in history."""

    id: str


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """Write a file other than a memory: a view, a manifest, a candidate or a source snapshot."""

    path: str
    data: bytes


class Delete(msgspec.Struct, frozen=True, kw_only=True):
    """Delete a file other than a memory from the tree."""

    path: str


Change: TypeAlias = Create | Update | Remove | Write | Delete


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """The content of one commit: related changes of one operation, with the reason for the changes.

    `what` is the commit subject if it cannot be derived from the memories (`core.messages`).
    `memories` lists the ids concerned if the changes do not contain them (files only).
    """

    op: Op
    what: str = ""
    reason: str = ""
    changes: tuple[Change, ...] = ()
    memories: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """Return the ids of all memories in the step, without duplicates, in order of mention."""
        ids = list(self.memories)
        for change in self.changes:
            match change:
                case Create(memory=memory):
                    ids.append(memory.id)
                case Update(id=id_) | Remove(id=id_):
                    ids.append(id_)
                case Write() | Delete():
                    pass
        return tuple(dict.fromkeys(ids))


BULK_OPS: tuple[Op, ...] = ("create", "reword", "confirm", "retire", "link", "tier")
"""Operations whose commits group changes that can be reverted one by one."""
PROPOSED: tuple[Op, ...] = (
    *("run", "create", "reword", "supersede", "retire", "confirm", "link"),
    *("flag", "compress", "archive", "prune", "nominate"),
)
"""Operations that runs propose. If they are reverted, that is recorded."""


_RELATIONS = ("superseded_by", "compressed_into", "links")
_VALUES = ("status", "standing")
_MARKS = ("promoted", "nominated")


def traits(old: Memory | None, new: Memory | None) -> frozenset[str]:
    """Return what a change of a memory decides, as texts. Equal proposals have equal ones.

    A creation is identified by the memory's id, which is a hash of its content, and a new wording
    by a hash. Times, tiers and the first page are left out, because every run computes them.
    """
    if old is None or new is None:
        memory = old or new
        gone = "" if old is None else " removed"
        return frozenset({f"{memory.id}{gone}"} if memory is not None else ())
    if old is new:
        return frozenset()
    found = {f"{new.id}:{digest([new.body])[:12]}"} if old.body != new.body else set[str]()
    for key in _RELATIONS:
        before = targets(old.fields.get(key) or ())
        there = targets(new.fields.get(key) or ())
        found |= {f"{new.id} {key} {id_}" for id_ in there if id_ not in before}
    is_marked = new.standing == "retire_candidate" != old.standing
    for key in _VALUES:
        value = new.fields.get(key)
        if value and value != old.fields.get(key) and not (is_marked and key == "status"):
            found.add(f"{new.id} {key} {value}")
    found |= {f"{new.id} {key}" for key in _MARKS if getattr(new, key) and not getattr(old, key)}
    seen = {(s.resource, s.text_hash) for s in old.sources}
    more = {(s.resource, s.text_hash) for s in new.sources} - seen
    return frozenset(found.union(f"{new.id} sources {digest(one)[:12]}" for one in more))


def traits_of(memories: Mapping[str, Memory], changes: Iterable[Change]) -> frozenset[str]:
    """Return what some changes of memories decide, as texts."""
    found: set[str] = set()
    for change in changes:
        match change:
            case Create(memory=memory):
                found |= traits(None, memory)
            case Update(id=id_, fields=fields, body=body) if id_ in memories:
                found |= traits(memories[id_], memories[id_].with_fields(fields, body))
            case Remove(id=id_):
                found |= traits(memories.get(id_), None)
            case _:
                pass
    return frozenset(found)


def traits_between(before: Mapping[str, Memory], after: Mapping[str, Memory]) -> frozenset[str]:
    """Return what the changes between the memories of two states decide."""
    apart = differing(before, after)
    found = (traits(before.get(id_), after.get(id_)) for id_ in apart)
    return frozenset(trait for one in found for trait in one)


def is_decided(proposed: Collection[str], against: Collection[str]) -> bool:
    """Return whether all that counts in a proposed change was decided against.

    Of a creation or a new wording, only these count; else relations to other memories, if any.
    """
    stated = [one for one in proposed if " " not in one]
    related = [one for one in proposed if any(f" {key} " in one for key in _RELATIONS)]
    return bool(proposed) and {*(stated or related or proposed)} <= {*against}
