"""Proposed changes. Changes are grouped into steps (one commit each), and steps into a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast, get_args

import msgspec
from msgspec.structs import force_setattr

from memrepo.core.ids import digest
from memrepo.core.memory import Memory

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


def prints_of(op: str, change: Change) -> frozenset[str]:
    """Return the fingerprints of one change in a bulk step.

    Equal proposals have equal fingerprints.

    The fingerprint of a creation is the memory id, a hash of its content. Links are identified by
    source and target. Any other update is identified by its new body, standing and sources. Times
    and runs are excluded because they differ every time. A tier change has no fingerprint: it
    follows from age and use, and is proposed again while it is due.
    """
    if op == "tier":
        return frozenset()
    match change:
        case Create(memory=memory):
            return frozenset({f"{op}:{memory.id}"})
        case Update(id=id_, fields=fields) if op == "link":
            return frozenset(f"{op}:{id_}:{link.target}" for link in fields.get("links") or ())
        case Update(id=id_, fields=fields, body=body):
            sources = [[s.resource, s.text_hash] for s in fields.get("sources") or ()]
            many = [fields["source_count"]] if fields.get("source_count") else []
            content = digest([body or "", fields.get("standing", ""), sources, *many])
            return frozenset({f"{op}:{id_}:{content[:12]}"})
        case Remove(id=id_):
            return frozenset({f"{op}:{id_}"})
        case Write() | Delete():
            return frozenset()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """An ordered list of steps to apply on top of the commit `base`."""

    base: str
    steps: tuple[Step, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Return the changes of all steps in order."""
        return tuple(change for step in self.steps for change in step.changes)


def fingerprints(op: str, memories: Iterable[str], prints: Iterable[str] = ()) -> frozenset[str]:
    """Return the fingerprints of a commit: one per change in bulk steps, otherwise only one.

    `prints` are the fingerprints listed in the commit's trailers, which take precedence.
    """
    if found := frozenset(prints):
        return found
    if op == "create":
        return frozenset(f"{op}:{id_}" for id_ in memories)
    return frozenset({f"{op}:{'+'.join(sorted(memories))}"})
