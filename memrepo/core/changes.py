"""What runs and commands propose: changes, gathered into steps (a commit each) and a plan."""

from __future__ import annotations

from collections.abc import Mapping
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
    """Return an operation by its word; what memrepo did not write is an `edit`."""
    return cast("Op", word) if word in OPS else "edit"


class Create(msgspec.Struct, frozen=True, kw_only=True):
    """Add a memory file at `memory.path`.

    `file` is one that says the same, where there is one: a person's comments and keys in it stay.
    """

    memory: Memory
    file: bytes = b""


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """Set fields of a memory (None removes one) and, where given, its body."""

    id: str
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    body: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "fields", MappingProxyType(dict(self.fields)))


class Remove(msgspec.Struct, frozen=True, kw_only=True):
    """Take a memory file out of the tree; history keeps it."""

    id: str


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """Write a file that is not a memory: a view, a manifest, a candidate, a source snapshot."""

    path: str
    data: bytes


class Delete(msgspec.Struct, frozen=True, kw_only=True):
    """Take a file that is not a memory out of the tree."""

    path: str


Change: TypeAlias = Create | Update | Remove | Write | Delete


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One commit: changes of one kind that stand or fall together, and why.

    `what` is the commit's subject where its memories do not tell it (`core.messages`).
    `memories` names the memories concerned where the changes do not (files only).
    """

    op: Op
    what: str = ""
    reason: str = ""
    changes: tuple[Change, ...] = ()
    memories: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """Return the ids of all memories concerned, each once, in order of mention."""
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
"""Operations whose commits gather changes that stand or fall one by one."""


def prints_of(op: str, change: Change) -> frozenset[str]:
    """Return the fingerprint of one change of a bulk step: equal proposals have equal ones.

    A creation is known by its id, a hash of what it says; links by their two ends; another update
    by what it would say. Times and runs are left out, for they differ each time. A move between
    tiers has none: it follows from age and use, and is owed again for as long as it does.
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
            said = digest([body or "", fields.get("standing", ""), sources, *many])
            return frozenset({f"{op}:{id_}:{said[:12]}"})
        case Remove(id=id_):
            return frozenset({f"{op}:{id_}"})
        case Write() | Delete():
            return frozenset()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to happen on top of one commit: steps in order."""

    base: str
    steps: tuple[Step, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Return the changes of all steps in order."""
        return tuple(change for step in self.steps for change in step.changes)
