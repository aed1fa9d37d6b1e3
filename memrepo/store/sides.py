"""What history tells of two sides that are to be merged: their base, who wrote what and when."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memrepo.core.merge import Facts, virtual_base
from memrepo.core.messages import PREFIX
from memrepo.core.state import State
from memrepo.store.gitenv import call

if TYPE_CHECKING:
    from git import Repo

    from memrepo.store.repo import Repository

_PLAIN = ("-c", "log.showSignature=false", "-c", "trailer.separators=:")
_FORMAT = "%x00%ct%x1f%(trailers:key={0}Op,valueonly)%x1f%(trailers:key={0}Actor,valueonly)%x1f%ae"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One commit of a side: when, whether a person made it, and the paths it writes or removes."""

    when: datetime
    person: bool
    paths: tuple[str, ...]


def merge_bases(repo: Repo, *commits: str) -> list[str]:
    """Return the best common ancestors of commits, in a stable order; none: unrelated histories."""
    found = call(repo, "merge-base", "--octopus", "--all", *commits, forgive=True)
    return sorted(found.split())


def base_state(store: Repository, bases: Sequence[str]) -> State:
    """Return the state that two sides have in common; of several bases their own merge."""
    states = [store.snapshot(base).state() for base in bases]
    if len(states) == 1:
        return states[0]
    above = merge_bases(store.repo, *bases)
    return virtual_base(states, base_state(store, above) if above else None)


def side_facts(
    store: Repository, tip: str, bases: Sequence[str], base: State, humans: Collection[str]
) -> Facts:
    """Return what history tells of the side that ends in `tip`.

    A memory is a person's when a person wrote it since the base, and its removal when a person
    made the removal. `humans` are the e-mails whose commits without trailers are a person's.
    """
    side = store.snapshot(tip).state()
    owner = {m.path: id_ for state in (base, side) for id_, m in state.memories.items()}
    dates: dict[str, datetime] = {}
    people: set[str] = set()
    for touch in _touches(store.repo, tip, bases, humans):
        for path in touch.paths:
            name = owner.get(path, path)
            there = name in side.memories or name in side.files
            if touch.person and (there or name not in dates):
                people.add(name)
            dates.setdefault(name, touch.when)
    return Facts(
        committed=store.commit_time(tip), dates=dates, people=frozenset(people),
        paths=frozenset(path for b in bases for path in store.work.changed(b, tip)),
    )  # fmt: skip


def _touches(
    repo: Repo, tip: str, bases: Sequence[str], humans: Collection[str]
) -> Iterator[Touch]:
    """Yield the commits of a side, newest first; merges repeat what their parents say."""
    raw = call(
        repo, *_PLAIN, "log", "--topo-order", "--no-merges", "--name-only", "-z", "--no-renames",
        f"--format={_FORMAT.format(PREFIX)}", tip, *(f"^{base}" for base in bases), "--",
    )  # fmt: skip
    # A record is NUL, header, NUL, newline, and names that end in NUL each.
    for record in filter(None, raw.removeprefix("\0").split("\0\0")):
        head, _, names = record.partition("\0")
        stamp, op, actor, email = head.split("\x1f", 3)
        person = actor.startswith("human:") if op.strip() else email in humans
        yield Touch(
            when=datetime.fromtimestamp(int(stamp), tz=UTC), person=person,
            paths=tuple(filter(None, names.removeprefix("\n").split("\0"))),
        )  # fmt: skip


def last_commit(repo: Repo, tip: str, bases: Sequence[str], *paths: str) -> str:
    """Return the newest commit of a side that wrote or removed one of the paths, or its tip."""
    names = [path for path in dict.fromkeys(paths) if path]
    walk = ["log", "-1", "--topo-order", "--no-merges", "--no-show-signature", "--format=%H", tip]
    found = call(repo, *walk, *(f"^{base}" for base in bases), "--", *names).strip()
    return found or tip


def count(repo: Repo, tip: str, *without: str) -> int:
    """Return how many commits a tip has that others do not."""
    return int(call(repo, "rev-list", "--count", tip, *(f"^{one}" for one in without if one)))
