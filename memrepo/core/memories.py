"""Many memories at once: all of a state by their ids, and one property of each at a time.

A rule of a run looks at all memories, but at little of each. What a store knows of them it hands
out by the column (store/outlines); a memory of it is made when somebody asks for that one.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from functools import cached_property, partial
from itertools import compress
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from memrepo.core.memory import Memory

K = TypeVar("K")
T = TypeVar("T")
Cells: TypeAlias = list[Any]
"""A property of many memories, in their order."""
_ATTRIBUTES = frozenset(
    ("path", "id", "type", "status", "standing", "keys", "captured", "files", "first", "said")
)
ONCE = "once "
"""Before the name of a rule: the column of what `Memory.once` worked out by it."""


class Columns(Protocol):
    """What is known of many memories, in the order of their paths."""

    ids: list[str]
    paths: list[str]

    def memory(self, at: int) -> Memory:
        """Return one memory, the same each time."""
        ...

    def column(self, name: str) -> Cells | None:
        """Return a property of all of them, None where none is known; a cell may be None too."""
        ...


class Memories(MutableMapping[str, Memory]):
    """The memories of a state by id, most of them known by columns alone."""

    def __init__(self, columns: Columns, at: dict[str, int], others: Sequence[Memory]) -> None:
        """Take by id the number of a row, or below zero that of another memory (-1 the first)."""
        self.columns, self._at, self._others = columns, at, [*others]

    @classmethod
    def of(cls, columns: Columns, others: Sequence[Memory]) -> Memories | None:
        """Return the memories of columns and others; None where two have one id, or one none."""
        at = dict(zip(columns.ids, range(len(columns.ids)), strict=True))
        at |= {memory.id: -number for number, memory in enumerate(others, start=1)}
        if "" in at or len(at) < len(columns.ids) + len(others):
            return None
        return cls(columns, at, others).by_path()

    def __getitem__(self, id_: str) -> Memory:
        return self.numbered(self._at[id_])

    def __setitem__(self, id_: str, memory: Memory) -> None:
        self._others.append(memory)
        self._at[id_] = -len(self._others)

    def __delitem__(self, id_: str) -> None:
        del self._at[id_]

    def __contains__(self, id_: object) -> bool:
        return id_ in self._at

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def copy(self) -> Memories:
        """Return the same memories, to be changed."""
        return Memories(self.columns, dict(self._at), self._others)

    def subset(self, at: Iterable[int]) -> Memories:
        """Return the memories of some numbers."""
        at = [*at]
        ids = map(self._cells("id").__getitem__, at)
        return Memories(self.columns, dict(zip(ids, at, strict=True)), self._others)

    def every(self) -> Listed:
        """Return all memories in order."""
        return Listed(self, [*self._at.values()])

    def active(self) -> Listed:
        """Return the active memories, in the order of their paths."""
        status = self._cells("status")
        found = [at for at in self._at.values() if status[at] == "active"]
        return Listed(self, sorted(found, key=self._cells("path").__getitem__))

    def changed(self, gone: Collection[str], new: Iterable[Memory]) -> Memories | None:
        """Return them without the files at some paths and with others; None as `of` does."""
        found, paths = self.copy(), self._cells("path")
        for id_ in [i for i, at in self._at.items() if paths[at] in gone]:
            del found[id_]
        for memory in new:
            if not memory.id or memory.id in found:
                return None
            found[memory.id] = memory
        return found.by_path()

    def differing(self, other: Memories) -> set[str]:
        """Return the ids of memories that are not the same one in both, or not there in both."""
        there, same = other._at.get, self.columns is other.columns
        may = [i for i, at in self._at.items() if at < 0 or not same or there(i) != at]
        found = {i for i in may if i not in other or self[i] is not other[i]}
        return found | (other._at.keys() - self._at.keys())

    def by_path(self) -> Memories:
        """Return itself, in the order of paths."""
        paths, ids = self._cells("path"), self._cells("id")
        order = sorted(self._at.values(), key=paths.__getitem__)
        self._at = dict(zip(map(ids.__getitem__, order), order, strict=True))
        return self

    def _cells(self, name: str) -> Cells:
        """Return a property that is known of all, to be asked by the numbers of memories."""
        of = attrgetter(name)
        return [*(self.columns.column(name) or ()), *map(of, reversed(self._others))]

    @property
    def others(self) -> int:
        """Return how many memories there may be that are in no row."""
        return len(self._others)

    def numbered(self, at: int) -> Memory:
        """Return a memory by the number of its row, or below zero of another."""
        return self.columns.memory(at) if at >= 0 else self._others[-1 - at]


def editable(memories: Mapping[str, Memory]) -> MutableMapping[str, Memory]:
    """Return memories by id to be changed; those that were given stay as they are."""
    return memories.copy() if isinstance(memories, Memories) else dict(memories)


def listed(memories: Mapping[str, Memory]) -> Sequence[Memory]:
    """Return all memories of a mapping, in its order."""
    return memories.every() if isinstance(memories, Memories) else tuple(memories.values())


def differing(one: Mapping[str, Memory], other: Mapping[str, Memory]) -> set[str]:
    """Return the ids of memories that are not the same one in both, or not there in both."""
    if isinstance(one, Memories) and isinstance(other, Memories):
        return one.differing(other)
    return {i for i in {*one, *other} if one.get(i) is not other.get(i)}


def replaced(
    memories: Mapping[str, Memory], gone: Collection[str], new: Iterable[Memory]
) -> Mapping[str, Memory] | None:
    """Return memories in the order of their paths, without the files at some paths, with others.

    None where two have one id then, or one has none.
    """
    if isinstance(memories, Memories):
        return memories.changed(gone, new)
    found = {id_: m for id_, m in memories.items() if m.path not in gone}
    for memory in new:
        if not memory.id or memory.id in found:
            return None
        found[memory.id] = memory
    return MappingProxyType(dict(sorted(found.items(), key=lambda item: item[1].path)))


class Listed(Sequence[Memory]):
    """Some of the memories of a state, in an order."""

    def __init__(self, of: Memories, at: Sequence[int]) -> None:
        self._of, self._at = of, at
        self._told: dict[str, Cells] = {}

    def __len__(self) -> int:
        return len(self._at)

    def __iter__(self) -> Iterator[Memory]:
        return map(self._of.numbered, self._at)

    @overload
    def __getitem__(self, at: int) -> Memory: ...
    @overload
    def __getitem__(self, at: slice) -> Listed: ...
    def __getitem__(self, at: int | slice) -> Memory | Listed:
        if isinstance(at, slice):
            return Listed(self._of, self._at[at])
        return self._of.numbered(self._at[at])

    def only(self, wanted: Iterable[object]) -> Listed:
        """Return those for which a value of another sequence is true."""
        return Listed(self._of, [*compress(self._at, wanted)])

    def picked(self, places: Iterable[int]) -> Listed:
        """Return those at some places, in that order."""
        return Listed(self._of, [*map(self._at.__getitem__, places)])

    def by_id(self) -> Memories:
        """Return them by their ids."""
        return self._of.subset(self._at)

    def each(self, name: str, of: Callable[[Memory], T]) -> list[T]:
        """Return a column of them, which nobody changes; `of` tells it where it is not known."""
        if (known := self._told.get(name)) is not None:
            return known
        memory = self._of.numbered
        cells = self._of.columns.column(name)
        if cells is None:
            return [of(memory(at)) for at in self._at]
        found = self._told[name] = self._taken(cells)
        for place, at in self._others:
            found[place] = of(memory(at))
        if None in found:
            for place, cell in enumerate(found):
                if cell is None:
                    found[place] = of(memory(self._at[place]))
        return found

    @cached_property
    def _taken(self) -> Callable[[Cells], Cells]:
        """Return what takes from a column the cells of these: of those in no row any."""
        if self._of.others <= len(self._of.columns.ids):  # then each has a cell, from the end
            return taking(self._at)
        return taking([max(0, at) for at in self._at])

    @cached_property
    def _others(self) -> Sequence[tuple[int, int]]:
        """Return place and number of those that are in no row."""
        if not self._of.others:
            return ()
        return [(place, at) for place, at in enumerate(self._at) if at < 0]


def taking(places: Sequence[int]) -> Callable[[Cells], Cells]:
    """Return what takes the cells at some places; a column of no cells has none."""
    if len(places) < 2:
        return lambda cells: [cells[at] for at in places if cells]
    take = itemgetter(*places)
    return lambda cells: [*take(cells)] if cells else []


def each(memories: Iterable[Memory], name: str) -> Cells:
    """Return a property of each memory: an attribute, or a text field."""
    return _each(memories, name, _getter(name))


def each_once(memories: Iterable[Memory], rule: str, work_out: Callable[[Memory], T]) -> list[T]:
    """Return what follows from each memory alone, as `Memory.once` does of one."""
    return _each(memories, ONCE + rule, lambda m: m.once(rule, partial(work_out, m)))


def _getter(name: str) -> Callable[[Memory], Any]:
    return attrgetter(name) if name in _ATTRIBUTES else lambda memory: memory.text(name)


def _each(memories: Iterable[Memory], name: str, of: Callable[[Memory], T]) -> list[T]:
    return memories.each(name, of) if isinstance(memories, Listed) else [of(m) for m in memories]


def only(memories: Iterable[Memory], wanted: Iterable[object]) -> Sequence[Memory]:
    """Return the memories for which a value of another sequence is true."""
    if isinstance(memories, Listed):
        return memories.only(wanted)
    return [*compress(memories, wanted)]


def by_id(memories: Iterable[Memory]) -> Mapping[str, Memory]:
    """Return memories by their ids, in their order."""
    return memories.by_id() if isinstance(memories, Listed) else {m.id: m for m in memories}


def of_types(memories: Iterable[Memory], types: Collection[str]) -> Sequence[Memory]:
    """Return the memories of some types."""
    memories = memories if isinstance(memories, Sequence) else [*memories]
    return only(memories, [type_ in types for type_ in each(memories, "type")])


def grouped(memories: Iterable[Memory], keys: Iterable[K]) -> dict[K, Sequence[Memory]]:
    """Return the memories of each key, in their order."""
    memories = memories if isinstance(memories, Sequence) else [*memories]
    places: dict[K, list[int]] = {}
    for at, key in enumerate(keys):
        places.setdefault(key, []).append(at)
    return {key: picked(memories, found) for key, found in places.items()}


def picked(memories: Sequence[Memory], places: Iterable[int]) -> Sequence[Memory]:
    """Return the memories at some places, in that order."""
    if isinstance(memories, Listed):
        return memories.picked(places)
    return [memories[at] for at in places]


def having(memories: Iterable[Memory], keys: Iterable[str]) -> Sequence[Memory]:
    """Return the memories that have one of some fields."""
    memories = memories if isinstance(memories, Sequence) else [*memories]
    wanted = frozenset(keys)
    return only(memories, [not wanted.isdisjoint(mine) for mine in each(memories, "keys")])
