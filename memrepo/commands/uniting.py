"""From two commits to one merged state: the merge engine fed with what git's history tells.

The settling of merges made by hand unites this way.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memrepo.core.merge import MergeResult, merge_states
from memrepo.core.state import State
from memrepo.store.repo import Repository
from memrepo.store.sides import common, side_facts


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
    """What is known beside history: who is a person, what was recalled where.

    `human_authors` are addresses; `our_recalled` and `their_recalled` memory ids.
    """

    human_authors: Collection[str] = ()
    our_recalled: frozenset[str] = frozenset()
    their_recalled: frozenset[str] = frozenset()


_NOTHING = Known()


def unite(store: Repository, ours: str, theirs: str, known: Known = _NOTHING) -> United:
    """Merge two commits by memory id and field; writes nothing."""
    shared = common(store, ours, theirs)
    sides = [store.snapshot(commit).state() for commit in (ours, theirs)]
    facts = [
        side_facts(store, tip, shared, known.human_authors, recalled)
        for tip, recalled in ((ours, known.our_recalled), (theirs, known.their_recalled))
    ]
    result = merge_states(shared.state, *sides, our_facts=facts[0], their_facts=facts[1])
    return United(
        bases=shared.bases, base=shared.state, ours=sides[0], theirs=sides[1], result=result,
        paths=frozenset(path for side in facts for path in side.paths or ()),
    )  # fmt: skip
