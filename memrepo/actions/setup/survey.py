"""What `status` tells of all memories of a commit: counted by rows, or else by reading each.

Both ways give the same (a law plays edits to see to it); a commit that the rows cannot tell whole,
and a caller who is bound to a scope, take the second.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec

from memrepo.actions.review.disputes import disputes
from memrepo.actions.work import Work
from memrepo.core.corrections import read_corrections
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem
from memrepo.core.state import Files, State
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import conflicts, counted_as
from memrepo.store.census import Census, census_of


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories there are of what kind, and what is wrong with them."""

    memories: Mapping[str, int]
    """By status."""
    types: Mapping[str, int]
    """The active memories but notes."""
    tiers: Mapping[str, int]
    """The active notes."""
    hot: int
    """Those on the hot cache."""
    contradictions: int
    """Those that are open."""
    undecided: int
    """Those of them of which no person said that more must be known first."""
    problems: tuple[Problem, ...]
    """What is wrong with files."""
    stones: tuple[Problem, ...]
    """What is wrong with tombstones."""
    cases: tuple[Problem, ...]
    """What is wrong with corrections."""
    broken: tuple[Problem, ...]
    """What does not hold between memories."""


def survey(work: Work) -> Survey:
    """Return what there is to tell of a commit's memories."""
    if not work.call.scope:
        with (
            suppress(sqlite3.Error, UnicodeDecodeError, msgspec.MsgspecError),
            census_of(work.tree, work.store.folder) as census,
        ):
            if census is not None:
                return counted(work, census)
    return read(work.tree.state())


def read(state: State) -> Survey:
    """Return it of a state, whose memories are all looked at."""
    found, cases = disputes(state)
    return Survey(
        memories=_sorted(Counter(map(counted_as, state.memories.values()))),
        types=_sorted(Counter(m.type for m in state.active if not m.is_note)),
        tiers=_sorted(Counter(m.text("tier") or "hot" for m in state.active if m.is_note)),
        hot=sum(hot_of(m) is not None for m in state.active),
        contradictions=sum(c.status == "open" for c in found),
        undecided=sum(c.needs_a_person for c in found),
        problems=state.problems,
        stones=tombstones_in(state).problems,
        cases=cases.problems,
        broken=tuple(p for p in closure.closure(state) if p.rule != "memory-same-id"),
    )


def counted(work: Work, census: Census) -> Survey:
    """Return it by the rows of a commit."""
    kinds = census.kinds()
    active = [kind for kind in kinds if kind.counted in ("active", "retired")]
    files = work.tree.read_below(work.tree.layout.area("corrections"))
    cases = read_corrections(files, work.tree.layout)
    sides = {side.memory for case in cases.cases.values() for side in case.sides}
    disputed = census.disputed()
    known: dict[str, Memory] = {
        id_: memory
        for id_ in sorted({*disputed, *sides, *_targets(disputed.values())})
        if (memory := disputed.get(id_)) is not None
    }
    found = conflicts(State(files=Files(files, {}), memories=known), cases)
    return Survey(
        memories=_summed((kind.counted, kind.count) for kind in kinds),
        types=_summed((kind.type, kind.count) for kind in active if kind.type != "note"),
        tiers=_summed((kind.tier, kind.count) for kind in active if kind.type == "note"),
        hot=sum(kind.count for kind in active if kind.hot),
        contradictions=sum(c.status == "open" for c in found),
        undecided=sum(c.needs_a_person for c in found),
        problems=census.problems(),
        stones=work.tree.stones.problems,
        cases=cases.problems,
        broken=tuple(finding.problem for finding in closure.broken(census.bound)),
    )


def _targets(memories: Iterable[Memory]) -> Sequence[str]:
    links = (link for memory in memories for link in memory.fields.get("links", ()))
    return [link.target for link in links if link.type == "contradicts"]


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for word, count in counts:
        found[word] += count
    return _sorted(found)


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
