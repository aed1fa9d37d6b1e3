"""What history tells of two sides that are to be merged: their base, who wrote what and when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.state import Files, State
from memrepo.merge.states import Facts, virtual_base
from memrepo.store import history

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo
    from memrepo.store.repo import Repository


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """What commits have in common: their best common ancestors, and the state these come to.

    Several ancestors (a criss-cross) make one virtual base, built by the same merge; `merged` are
    the files in which it differs from the first of them. Unrelated histories have no `bases` and an
    empty state.
    """

    bases: tuple[str, ...]
    state: State
    merged: frozenset[str] = frozenset()


def common(store: Repository, *commits: str) -> Common:
    """Return what commits have in common."""
    bases = tuple(sorted(store.common_ancestors(commits)))
    if not bases:
        empty = State(layout=store.layout, files=Files({}, {}), memories=MappingProxyType({}))
        return Common(bases=bases, state=empty)
    states = [store.snapshot(base).state() for base in bases]
    if len(bases) == 1:
        return Common(bases=bases, state=states[0])
    # An ancestor of all of them lies strictly below each: this comes to an end.
    virtual = virtual_base(states, common(store, *bases).state)
    return Common(bases=bases, state=virtual, merged=frozenset(virtual.files.edits))


def side_facts(
    store: Repository,
    tip: str,
    shared: Common,
    humans: Collection[str],
    recalled: frozenset[str] = frozenset(),
) -> Facts:
    """Return what history tells of the side that ends in `tip`.

    A memory is a person's when a person wrote it since the base, and its removal when a person
    made the removal. `humans` are the e-mails whose commits without trailers are a person's.
    """
    side = store.snapshot(tip).state()
    both = (shared.state, side)
    owner = {m.path: id_ for state in both for id_, m in state.memories.items()}
    dates: dict[str, datetime] = {}
    people: set[str] = set()
    for commit in history.written(store.repo, [tip, *(f"^{base}" for base in shared.bases)]):
        person = commit.actor.startswith("human:") if commit.op else commit.email in humans
        for path in commit.paths:
            name = owner.get(path, path)
            there = name in side.memories or name in side.files
            if person and (there or name not in dates):
                people.add(name)
            dates.setdefault(name, commit.when)
    return Facts(
        committed=store.commit_time(tip),
        dates=dates,
        people=frozenset(people),
        recalled=recalled,
        paths=shared.merged | _differing(store, shared.bases, tip),
    )


def _differing(store: Repository, bases: Sequence[str], tip: str) -> set[str]:
    """Return what differs from any base: a file that is equal in all is so in a virtual one too."""
    return {path for base in bases or ("",) for path in store.work.changed(base, tip)}


def last_commit(repo: Repo, tip: str, bases: Sequence[str], *paths: str) -> str:
    """Return the newest commit of a side that wrote or removed one of the paths, or its tip."""
    names = [path for path in dict.fromkeys(paths) if path]
    span = (tip, *(f"^{base}" for base in bases))
    found = repo.git.rev_list("-1", "--topo-order", "--no-merges", *span, "--", *names)
    return found or tip


def count(repo: Repo, tip: str, *without: str) -> int:
    """Return how many commits a tip has that others do not."""
    return int(repo.git.rev_list("--count", tip, *(f"^{one}" for one in without if one)))
