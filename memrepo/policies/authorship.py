"""Who set what of a memory: its versions walked back to the commit that first held a value.

A value is passed on to the first parent that holds the same; where none does, the commit set it. Of
a merge that therefore is the decision in the chain, never the merge, unless the merge itself made
the value. A list is asked element by element, a body line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import msgspec

from memrepo.core.codec import pairs
from memrepo.core.memory import Memory
from memrepo.core.schema import BY_NAME, FIELDS


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A memory at one commit; `back` says that the commit brought back what was there before."""

    commit: str
    parents: tuple[str, ...]
    memory: Memory | None
    back: bool = False


class Setter(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that set a value, and whose value it brought back, where it brought one back."""

    commit: str
    restores: str = ""


class Authors(msgspec.Struct, frozen=True, kw_only=True):
    """Who set each field (a field that was cleared too), each element of a list, each body line."""

    path: Setter
    fields: Mapping[str, Setter]
    elements: Mapping[str, tuple[Setter, ...]]
    lines: tuple[Setter, ...]


def authors(points: Sequence[Point]) -> Authors:
    """Return who set what of the memory at the first point; points run children before parents.

    Raises ValueError where the memory is not there.
    """
    walk = _Walk(points)
    tip = points[0].memory
    if tip is None:
        raise ValueError("nobody set a field of a memory that is not there")
    ever = {name for p in points if p.memory is not None for name in p.memory.fields}
    names = [f.name for f in FIELDS if f.name in ever]
    path = tip.path
    return Authors(
        path=walk.setter(lambda m: m.path == path),
        fields={name: walk.setter(_same(name, _value(tip, name))) for name in names},
        elements={
            name: tuple(walk.setter(walk.holding(name, part)) for part in tip.fields[name])
            for name in names
            if isinstance(tip.fields.get(name), tuple)
        },
        lines=walk.lines(),
    )


def _value(memory: Memory, name: str) -> object:
    return memory.fields.get(name, BY_NAME[name].default)


def _same(name: str, value: object) -> Callable[[Memory], bool]:
    return lambda memory: _value(memory, name) == value


class _Walk:
    """The versions as a graph, and the questions put to it."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.order = [point.commit for point in points]
        self.points = {point.commit: point for point in points}
        self._sets: dict[tuple[str, str], frozenset[Hashable]] = {}

    def holding(self, name: str, part: Hashable) -> Callable[[Memory], bool]:
        """Return the test whether a list holds an element."""

        def holds(memory: Memory) -> bool:
            key = (name, str(id(memory)))
            if key not in self._sets:
                self._sets[key] = frozenset(memory.fields.get(name, ()))
            return part in self._sets[key]

        return holds

    def setter(self, same: Callable[[Memory], bool]) -> Setter:
        """Return who set a value that the memory at the tip has; `same` knows it again."""
        commit = self._origin(self.order[0], same)
        if not self.points[commit].back:
            return Setter(commit=commit)
        before = next((c for c in self._before(commit) if self._has(c, same)), "")
        return Setter(commit=commit, restores=self._origin(before, same) if before else "")

    def _origin(self, commit: str, same: Callable[[Memory], bool]) -> str:
        while True:
            found = next((p for p in self.points[commit].parents if self._has(p, same)), "")
            if not found:
                return commit
            commit = found

    def _has(self, commit: str, same: Callable[[Memory], bool]) -> bool:
        memory = self.points[commit].memory
        return memory is not None and same(memory)

    def _before(self, commit: str) -> Iterable[str]:
        """Yield every version before one, newest first."""
        reached = set(self.points[commit].parents)
        for other in self.order[self.order.index(commit) + 1 :]:
            if other in reached:
                yield other
                reached.update(self.points[other].parents)

    def lines(self) -> tuple[Setter, ...]:
        """Return who wrote each line of the body at the tip."""
        found = []
        for commit, number in self._line_origins(self.order[0]):
            restores = ""
            if self.points[commit].back:
                body = self._body(commit)
                before = next((c for c in self._before(commit) if self._body(c) == body), "")
                restores = self._line_origins(before)[number][0] if before else ""
            found.append(Setter(commit=commit, restores=restores))
        return tuple(found)

    def _body(self, commit: str) -> str | None:
        memory = self.points[commit].memory
        return None if memory is None else memory.body

    def _line_origins(self, start: str) -> list[tuple[str, int]]:
        """Return, for each line at one version, the commit that wrote it and its number there."""
        count = len((self._body(start) or "").split("\n"))
        origin = [(start, number) for number in range(count)]
        # Line numbers that are still on their way, by commit: (at the start, here).
        moving = {start: [(number, number) for number in range(count)]}
        for commit in self.order[self.order.index(start) :]:
            left = moving.pop(commit, [])
            lines = (self._body(commit) or "").split("\n") if left else []
            for parent in self.points[commit].parents if left else ():
                body = self._body(parent)
                if body is None:
                    continue
                back = {new: old for old, new in pairs(body.split("\n"), lines)}
                moving.setdefault(parent, []).extend((n, back[at]) for n, at in left if at in back)
                left = [(n, at) for n, at in left if at not in back]
            for number, at in left:
                origin[number] = (commit, at)
        return origin
