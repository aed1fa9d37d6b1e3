"""From two commits to one merged state: the merge engine fed with what git's history tells.

`sync` and the settling of merges made by hand both unite this way. Several merge bases (a
criss-cross) become one virtual base, built by the same merge, recursively.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from memrepo.core.merge import Facts, MergeResult, merge_states, virtual_base
from memrepo.core.state import Files, State
from memrepo.store import history
from memrepo.store.repo import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class United:
    """Two commits merged: the base (virtual where there are several), both sides, the result.

    `result.effect` is relative to `ours`. `paths` are all files that differ between base and sides.
    """

    bases: tuple[str, ...]
    base: State
    ours: State
    theirs: State
    result: MergeResult
    paths: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known beside history: who is a person, what was recalled where, what is rejected.

    `human_authors` are addresses; `our_recalled` and `their_recalled` memory ids; `tombstones` keys
    (`core.mergerecords.tombstone_keys`).
    """

    human_authors: Collection[str] = ()
    our_recalled: frozenset[str] = frozenset()
    their_recalled: frozenset[str] = frozenset()
    tombstones: frozenset[str] = frozenset()


_NOTHING = Known()


def unite(store: Repository, ours: str, theirs: str, known: Known = _NOTHING) -> United:
    """Merge two commits by memory id and field; writes nothing."""
    bases = merge_bases(store, ours, theirs)
    base, virtual = base_state(store, bases)
    sides = [store.snapshot(commit).state() for commit in (ours, theirs)]
    paths = [virtual | _differing(store, bases, commit) for commit in (ours, theirs)]
    facts = [
        _facts(store, bases, tip, side, base, frozenset(differ), recalled, known)
        for tip, side, differ, recalled in zip(
            (ours, theirs), sides, paths, (known.our_recalled, known.their_recalled), strict=True
        )
    ]
    result = merge_states(
        base, *sides, our_facts=facts[0], their_facts=facts[1], tombstones=known.tombstones
    )
    return United(
        bases=bases, base=base, ours=sides[0], theirs=sides[1], result=result,
        paths=frozenset(paths[0] | paths[1]),
    )  # fmt: skip


def merge_bases(store: Repository, *commits: str) -> tuple[str, ...]:
    """Return the best common ancestors of commits, in order of their ids; none where unrelated."""
    return tuple(sorted(store.common_ancestors(commits)))


def base_state(store: Repository, bases: Sequence[str]) -> tuple[State, set[str]]:
    """Return the state of one or several bases, and the files of a virtual one that are merged."""
    if not bases:
        empty = State(layout=store.layout, files=Files({}, {}), memories=MappingProxyType({}))
        return empty, set()
    states = [store.snapshot(commit).state() for commit in bases]
    if len(bases) == 1:
        return states[0], set()
    # An ancestor of all of them lies strictly below each: this comes to an end.
    ancestor, _ = base_state(store, merge_bases(store, *bases))
    merged = virtual_base(states, ancestor)
    return merged, set(merged.files.edits)


def _differing(store: Repository, bases: Sequence[str], tip: str) -> set[str]:
    """Return what differs from any base: a file that is equal in all is so in a virtual one too."""
    return {path for base in bases or ("",) for path in store.work.changed(base, tip)}


def _facts(
    store: Repository,
    bases: Sequence[str],
    tip: str,
    side: State,
    base: State,
    paths: frozenset[str],
    recalled: frozenset[str],
    known: Known,
) -> Facts:
    """Tell who changed what on one side, and when it was last committed."""
    owner = {m.path: id_ for state in (base, side) for id_, m in state.memories.items()}
    dates: dict[str, datetime] = {}
    people: set[str] = set()
    for commit in history.written(store.repo, [tip, *(f"^{b}" for b in bases)]):
        by_hand = not commit.op and commit.email in known.human_authors
        for path in commit.paths:
            name = owner.get(path, path)
            dates.setdefault(name, commit.when)
            if by_hand or commit.actor.startswith("human:"):
                people.add(name)
    return Facts(
        committed=store.commit_time(tip), dates=dates, people=frozenset(people),
        recalled=recalled, paths=paths,
    )  # fmt: skip
