"""`memrepo why --show blame`: who set each field of a memory and wrote each line of its text."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import msgspec

from memrepo.actions import result
from memrepo.actions.past.history import value_of
from memrepo.actions.past.timeline import find_present, merges_of, who
from memrepo.actions.recall.when import heading, work_at
from memrepo.actions.work import Work
from memrepo.core.codec import pairs
from memrepo.core.memory import Memory
from memrepo.core.schema import BY_NAME, FIELDS
from memrepo.store.history import Entry
from memrepo.store.trace import Version, trace


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


BACK = ("revert", "restore", "unreject")
"""Operations that bring back what was there before: whose it was is told too."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Who set a value, when, in which commit and run, and why."""

    by: str
    when: datetime
    op: str
    commit: str
    run: str
    accepted: str
    """The merge by which the run landed; without a run the commit itself."""
    reason: str
    cut: bool
    """Whether it may have been set before: a shallow clone ends here."""


class Set(Act, frozen=True, kw_only=True):
    """Who set a value; `restores` is whose it was, where this only brought it back."""

    restores: Act | None


class Element(Set, frozen=True, kw_only=True):
    """One element of a list, and who put it there."""

    value: Any


class Field(Element, frozen=True, kw_only=True, omit_defaults=True):
    """The value of one field, and who set it; `elements` of a list whose parts are known."""

    elements: tuple[Element, ...] = ()


class Stretch(Set, frozen=True, kw_only=True):
    """Lines of the text that one commit wrote: the first and the last, one-based."""

    lines: tuple[int, int]
    text: str


class Blame(result.Result, frozen=True, kw_only=True):
    """Who set each field of a memory and wrote each line of its text."""

    id: str
    path: str
    commit: str
    fields: Mapping[str, Field]
    lines: tuple[Stretch, ...]
    commits: tuple[str, ...]
    """The commits of the memory, newest first."""
    heading: tuple[str, ...]
    """Of when the answer is, where it is not of now."""
    zone: str
    """The time zone in which a reader is shown its times."""


def blame_of(work: Work, id_: str, *, at: str = "") -> Blame:
    """Tell for each field which commit set it, who decided so, and why."""
    there = work_at(work, at)
    memory = find_present(there, there.tree.state(), id_, work)
    versions = trace(there.store.repo, there.tree.commit, there.tree.layout, memory.id, memory.path)
    merges = merges_of(there, (v.entry.run for v in versions))
    found = authors(
        [
            Point(
                commit=v.entry.commit, parents=v.parents, memory=v.memory, back=v.entry.op in BACK
            )
            for v in versions
        ]
    )
    told = _Told(versions={v.entry.commit: v for v in versions}, merges=merges)
    return Blame(
        id=memory.id,
        path=memory.path,
        commit=there.tree.commit,
        fields=dict(_fields(told, memory, found)),
        lines=tuple(_lines(told, memory, found)),
        commits=tuple(v.entry.commit for v in versions),
        heading=tuple(heading(there, at)),
        zone=there.config.zone.key,
    )


class _Told:
    """What is said of a commit that set something."""

    def __init__(self, versions: Mapping[str, Version], merges: Mapping[str, Entry]) -> None:
        self.versions = versions
        self.merges = merges

    def of(self, setter: Setter) -> dict[str, Any]:
        """Return the fields of `Set` for what set a value."""
        restores = Act(**self._commit(setter.restores)) if setter.restores else None
        return {**self._commit(setter.commit), "restores": restores}

    def _commit(self, commit: str) -> dict[str, Any]:
        version = self.versions[commit]
        entry = version.entry
        merge = self.merges.get(entry.run)
        return {
            "by": who(entry),
            "when": entry.when,
            "op": entry.op,
            "commit": commit,
            "run": entry.run,
            "accepted": merge.commit if merge else commit,
            "reason": entry.trailer("Reason") or entry.subject,
            "cut": version.cut,
        }


def _fields(told: _Told, memory: Memory, found: Authors) -> Iterator[tuple[str, Field]]:
    yield "path", Field(value=memory.path, **told.of(found.path))
    for name, setter in found.fields.items():
        value, elements = value_of(name, memory), found.elements.get(name, ())
        parts = zip(value, elements, strict=True) if elements else ()
        yield (
            name,
            Field(
                value=value,
                **told.of(setter),
                elements=tuple(Element(value=part, **told.of(one)) for part, one in parts),
            ),
        )


def _lines(told: _Told, memory: Memory, found: Authors) -> Iterator[Stretch]:
    """Yield the text in stretches of one author, with their one-based lines."""
    rows = zip(memory.body.split("\n"), found.lines, strict=True)
    numbered = list(enumerate(rows, start=1))
    for setter, group in groupby(numbered, key=lambda item: item[1][1]):
        stretch = list(group)
        yield Stretch(
            lines=(stretch[0][0], stretch[-1][0]),
            text="\n".join(text for _, (text, _) in stretch),
            **told.of(setter),
        )
