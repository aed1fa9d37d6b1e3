"""From two commits to one merged state: the merge engine fed with what git's history tells.

Merges made by hand are settled against what this way gives.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from memrepo.core.state import State
from memrepo.merge.states import MergeResult, merge_states
from memrepo.store.ledger import ledger_of
from memrepo.store.repo import Repository
from memrepo.store.sides import common, side_facts


class United(msgspec.Struct, frozen=True, kw_only=True):
    """Two commits merged: the base (virtual where there are several), both sides, the result.

    `result.effect` is relative to `ours`. `paths` are all files that differ between base and sides.
    """

    bases: tuple[str, ...]
    base: State
    ours: State
    theirs: State
    result: MergeResult
    paths: frozenset[str]


def unite(store: Repository, ours: str, theirs: str, human_authors: Collection[str] = ()) -> United:
    """Merge two commits by memory id and field; writes nothing.

    `human_authors` are the addresses whose commits without trailers are a person's.
    """
    shared = common(store, ours, theirs)
    sides = [store.snapshot(commit).state() for commit in (ours, theirs)]
    recalled = recalled_since(store, shared.bases)
    facts = [side_facts(store, tip, shared, human_authors, recalled) for tip in (ours, theirs)]
    result = merge_states(shared.state, *sides, our_facts=facts[0], their_facts=facts[1])
    return United(
        bases=shared.bases,
        base=shared.state,
        ours=sides[0],
        theirs=sides[1],
        result=result,
        paths=frozenset(path for side in facts for path in side.paths or ()),
    )


def recalled_since(store: Repository, bases: Sequence[str]) -> frozenset[str]:
    """Return what was retrieved since two sides parted: a machine's prune on either gives way."""
    if not bases:
        return frozenset()
    parted = min(store.commit_time(base) for base in bases)
    accounts = ledger_of(store).accesses().by_memory
    return frozenset(i for i, a in accounts.items() if a.last is not None and a.last > parted)
