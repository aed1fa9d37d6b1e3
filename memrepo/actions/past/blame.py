"""`memrepo why --show blame`: who set each field of a memory and wrote each line of its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

import msgspec

from memrepo.actions import result
from memrepo.actions.past.history import value_of
from memrepo.actions.past.timeline import find_present, merges_of, who
from memrepo.actions.recall.when import heading, work_at
from memrepo.actions.work import Work
from memrepo.core.memory import Memory
from memrepo.policies.authorship import Authors, Point, Setter, authors
from memrepo.store.history import Entry
from memrepo.store.trace import Version, trace

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
