"""Changes of memories and files in steps (one commit each), and the state that they lead to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, assert_never, cast, get_args

import msgspec
from msgspec.structs import force_setattr

from memrepo.core import codec
from memrepo.core.codec import changed_keys
from memrepo.core.errors import Exit, MemrepoError, Problem, problem
from memrepo.core.ids import digest
from memrepo.core.layout import Layout, below, folders_of
from memrepo.core.memory import BY_NAME, Memory, differing, targets

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


# -- states ----------------------------------------------------------------------------------

_SAME_ID = "memory-same-id"
_T = TypeVar("_T")
_NO_NAMES = ("", ".", "..", ".git")


class ChangeRefused(MemrepoError):
    """Raised when a change cannot be applied to a state, or when the result would be invalid."""

    exit_code = Exit.BUG

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")


class Files(Mapping[str, bytes]):
    """File contents by path, stored as a base, which may be read lazily, and edits on top of it."""

    def __init__(self, base: Mapping[str, bytes], edits: Mapping[str, bytes | None]) -> None:
        self._base = base
        self._edits = dict(edits)

    def __getitem__(self, path: str) -> bytes:
        if path in self._edits:
            data = self._edits[path]
            if data is None:
                raise KeyError(path)
            return data
        return self._base[path]

    def __contains__(self, path: object) -> bool:
        if path in self._edits:
            return self._edits[path] is not None
        return path in self._base

    def __iter__(self) -> Iterator[str]:
        yield from (p for p in self._base if p not in self._edits)
        yield from (p for p, data in self._edits.items() if data is not None)

    def below(self, folder: str) -> list[str]:
        """Return the sorted paths of the files under a folder such as `x/`."""
        paths = below(self._base, folder)
        edits = (p for p, data in self._edits.items() if data is not None and p.startswith(folder))
        return sorted({*(p for p in paths if p not in self._edits), *edits})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def edits(self) -> Mapping[str, bytes | None]:
        """Return the edits relative to the base. The value of a removed file is None."""
        return MappingProxyType(self._edits)

    def edited(self, edits: Mapping[str, bytes | None]) -> Files:
        """Return a copy with additional edits."""
        return Files(self._base, {**self._edits, **edits})


class State(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """All files of memrepo at one commit, and the memories decoded from the files.

    A file that cannot be decoded remains in `files` and is listed in `problems`.
    """

    layout: Layout = msgspec.field(default_factory=Layout)
    files: Files
    memories: Mapping[str, Memory]
    problems: tuple[Problem, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return (dict(self.files), dict(self.memories)) == (dict(other.files), dict(other.memories))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def every(self) -> Sequence[Memory]:
        """Return all memories in the order of the state's mapping."""
        return tuple(self.memories.values())

    @cached_property
    def active(self) -> Sequence[Memory]:
        """Return the active memories, sorted by path."""
        found = (m for m in self.memories.values() if m.status == "active")
        return tuple(sorted(found, key=lambda m: m.path))

    def once(self, read: Callable[[State], _T]) -> _T:
        """Return the result of a function of this state, cached for later calls."""
        if read not in self._read:
            self._read[read] = read(self)
        found: _T = self._read[read]
        return found

    @cached_property
    def _read(self) -> dict[Callable[[State], Any], Any]:
        return {}

    def free_path(self, memory: Memory, taken: Collection[str] = ()) -> str:
        """Return the path of a memory, or the next one that is neither used nor in `taken`."""
        path, turn = memory.path, 2
        stem, tail = path[: -len("-000000.md")], path[-len("-000000.md") :]
        while path in taken or path in self.files:
            path, turn = f"{stem}-{turn}{tail}", turn + 1
        return path


EMPTY = State(files=Files({}, {}), memories={})
"""A state without files."""

Decoded: TypeAlias = tuple[Memory | None, tuple[Problem, ...]]


def read_state(
    files: Mapping[str, bytes],
    layout: Layout,
    decoded: Mapping[str, Decoded] | None = None,
) -> State:
    """Decode all memory files of a repository into a state.

    If two files have the same id, use the one whose name ends with digits of the id, else the
    first: copies are often renamed. Report a Problem for the other.

    `decoded` has the memory files in order, if they are decoded already.
    """
    memories: dict[str, Memory] = {}
    problems: list[Problem] = []
    if decoded is None:
        paths = sorted(filter(layout.is_memory, files))
        decoded = {path: codec.decode(path, files[path]) for path in paths}
    for path, (memory, found) in decoded.items():
        problems += found
        if memory is None:
            continue
        id_ = memory.id
        if not id_:
            problems.append(problem("memory-no-id", path, line=1, key="id"))
        elif id_ in memories and _is_named_for(path, id_) > _is_named_for(memories[id_].path, id_):
            problems.append(_same_id(memories[id_].path, id_, path))
            memories[id_] = memory
        elif id_ in memories:
            problems.append(_same_id(path, id_, memories[id_].path))
        else:
            memories[id_] = memory
    return State(
        layout=layout,
        files=Files(files, {}),
        memories=MappingProxyType(memories),
        problems=tuple(problems),
    )


def _is_named_for(path: str, id_: str) -> bool:
    return path.endswith(f"-{id_[4:10]}.md")


def _same_id(path: str, id_: str, other: str) -> Problem:
    return problem(_SAME_ID, path, line=1, key="id", id=id_, other=other)


Effect: TypeAlias = Mapping[str, bytes | None]
"""The new contents, by path, of the files changed by a step. None means a removed file."""


class _Draft:
    """A mutable state, used only while changes are applied."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.edits: dict[str, bytes | None] = {}
        self.memories = dict(state.memories)

    def data(self, path: str) -> bytes | None:
        if path in self.edits:
            return self.edits[path]
        return self.state.files.get(path)

    def memory(self, id_: str) -> Memory:
        if id_ not in self.memories:
            raise ChangeRefused(id_, "no such memory")
        return self.memories[id_]

    def put(self, path: str, written: tuple[bytes, Memory], id_: str) -> None:
        """Write a memory file that the codec has already decoded and validated."""
        data, memory = written
        if memory.id != id_ or not id_:
            raise ChangeRefused(path, "the id of a memory never changes")
        self.edits[path] = data
        self.memories[memory.id] = memory

    def change(self, change: Change) -> str:
        """Apply one change. Return the path of the file that was changed."""
        match change:
            case Create(memory=memory, file=file):
                if memory.id in self.memories or self.data(memory.path) is not None:
                    raise ChangeRefused(memory.path, "found a memory there already")
                if not self.state.layout.is_memory(memory.path):
                    raise ChangeRefused(memory.path, "a memory is markdown in a layer's folder")
                written = codec.rewritten(file, memory) if file else codec.written(memory)
                self.put(memory.path, written, memory.id)
                return memory.path
            case Update(id=id_, fields=fields, body=body):
                old = self.memory(id_)
                data = self.data(old.path)
                if data is None:
                    raise ChangeRefused(old.path, "found no file, expected the memory's")
                self.put(old.path, codec.rewritten(data, old.with_fields(fields, body)), id_)
                return old.path
            case Remove(id=id_):
                path = self.memories.pop(self.memory(id_).id).path
                self.edits[path] = None
                self.uncover(id_)
                return path
            case Write(path=path, data=data):
                if self.state.layout.is_memory(path):
                    raise ChangeRefused(path, "a memory is written by Create or Update")
                self.edits[path] = data
                return path
            case Delete(path=path):
                if self.data(path) is None:
                    raise ChangeRefused(path, "found no file, expected one to delete")
                if self.state.layout.is_memory(path) and any(
                    m.path == path for m in self.memories.values()
                ):
                    raise ChangeRefused(path, "a memory is taken out by Remove")
                self.edits[path] = None
                return path
            case _:
                assert_never(change)

    def uncover(self, id_: str) -> None:
        """Use another file with the id of a removed memory, if any, as `read_state` would."""
        paths = [p.path for p in self.state.problems if p.rule == _SAME_ID]
        for path in sorted(paths, key=lambda p: (not _is_named_for(p, id_), p)):
            data = self.data(path)
            memory = codec.decode(path, data)[0] if data is not None else None
            if memory is not None and memory.id == id_:
                self.memories[id_] = memory
                return

    def check(self) -> None:
        """Reject paths that git cannot store, and a file with the same name as a folder."""
        new = [
            p for p, data in self.edits.items() if data is not None and p not in self.state.files
        ]
        if not new:
            return
        for path in new:
            if any(part in _NO_NAMES for part in path.casefold().split("/")):
                raise ChangeRefused(path, "is not a path that a repository can hold")
        files = self.state.files.edited(self.edits)
        inside = {folder for path in files for folder in folders_of(path)}.intersection(new)
        for path in new:
            if path in inside or any(folder in files for folder in folders_of(path)):
                raise ChangeRefused(path, "found a folder and a file of the same name")

    def finish(self) -> State:
        memories, problems = self.memories, self.state.problems
        if problems:
            shown = {memory.path for memory in memories.values()}
            problems = tuple(
                p
                for p in problems
                if p.path not in self.edits and not (p.rule == _SAME_ID and p.path in shown)
            )
        return State(
            layout=self.state.layout,
            files=self.state.files.edited(self.edits),
            memories=MappingProxyType(memories),
            problems=problems,
        )


def apply(state: State, changes: Iterable[Change]) -> State:
    """Return the state after the given changes. Raise ChangeRefused if one cannot be applied."""
    changes = list(changes)
    if not changes:
        return state
    draft = _Draft(state)
    for change in changes:
        draft.change(change)
    return draft.finish()


def apply_steps(state: State, steps: Iterable[Step]) -> State:
    """Return the state after the changes of the given steps."""
    return apply(state, (change for step in steps for change in step.changes))


def play(state: State, steps: Iterable[Step]) -> tuple[tuple[Effect, ...], State]:
    """Apply steps in order. Return one effect per commit, and the final state."""
    draft = _Draft(state)
    effects = []
    for step in steps:
        touched = dict.fromkeys(draft.change(change) for change in step.changes)
        effects.append({path: draft.data(path) for path in touched})
    draft.check()
    return tuple(effects), draft.finish()


ChangeKind = Literal[
    "superseded",
    "retired",
    "marked",
    "removed",
    "forgotten",
    "archived",
    "restored",
    "reworded",
    "standing",
    "added",
    "evidence",
    "confirmed",
    "page",
    "tier",
    "flags",
    "fields",
]
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
"""Ordered for review: changes that leave recall first, bookkeeping last."""
_BOOKKEEPING = ("generated", "former")
_KIND_OF_FIELD: Mapping[str, ChangeKind] = MappingProxyType(
    {
        "standing": "standing",
        "sources": "evidence",
        "verified": "confirmed",
        "hot": "page",
        "tier": "tier",
        "pinned": "flags",
        "critical": "flags",
        "user_marked": "flags",
    }
)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A memory before and after a change, the kind of change, and the changed fields.

    Bookkeeping fields are omitted if any other field changed.
    """

    kind: ChangeKind
    before: Memory | None
    after: Memory | None
    fields: tuple[str, ...] = ()

    @property
    def memory(self) -> Memory:
        """Return the memory after the change. If it was removed, return the memory before."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a difference has at least one side")
        return found

    def value(self, name: str) -> tuple[object, object]:
        """Return the values of a field before and after. A missing field has its default value."""
        default = BY_NAME[name].default
        old, new = (m.fields.get(name, default) if m else None for m in (self.before, self.after))
        return old, new


def differences(before: State, after: State) -> tuple[Difference, ...]:
    """Return the difference of each memory that changed, ordered by kind, then by path."""
    pairs = (
        (before.memories.get(id_), after.memories.get(id_))
        for id_ in differing(before.memories, after.memories)
    )
    found = [_difference(old, new) for old, new in pairs if old != new]
    return tuple(sorted(found, key=lambda d: (KINDS.index(d.kind), d.memory.path, d.memory.id)))


def _difference(old: Memory | None, new: Memory | None) -> Difference:
    if old is None or new is None:
        return Difference(kind="removed" if new is None else "added", before=old, after=new)
    names = changed_keys(old.fields, new.fields)
    told = tuple(name for name in names if name not in _BOOKKEEPING)
    is_gone = new.standing == "retire_candidate" != old.standing
    if new.status != old.status and not (is_gone and new.status == "archived"):
        kind = "restored" if new.status == "active" else cast("ChangeKind", new.status)
    elif is_gone:
        kind = "marked" if new.status == "active" else "retired"
    elif new.body != old.body:
        kind = "reworded"
    else:
        kinds = [_KIND_OF_FIELD[name] for name in told if name in _KIND_OF_FIELD]
        kind = min(kinds, key=KINDS.index, default="fields")
    is_quiet = not told and (old.body, old.path) == (new.body, new.path)
    return Difference(kind=kind, before=old, after=new, fields=tuple(names) if is_quiet else told)


# -- what a change decides --------------------------------------------------------------------

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
