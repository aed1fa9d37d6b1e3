"""Rules that apply to every claim: its page, its path, its evidence, and the person behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.memory import HOMES, Memory, Source

if TYPE_CHECKING:
    from memrepo.core.judge import Profile
    from memrepo.core.state import State

PERSONAL_HOMES = ("HISTORY.md", "WISHES.md")


def is_permitted(home: str, profile: Profile) -> bool:
    """Return whether a profile has a page. HISTORY and WISHES exist only in personal profiles."""
    return home in HOMES and (profile == "personal" or home not in PERSONAL_HOMES)


_IN_BUSINESS = {"aspiration": "open_question", "milestone": "episode"}


def type_in_profile(type_: str, profile: Profile) -> str:
    """Return the type that a claim gets in a profile.

    The business profile has no pages for aspirations and milestones. An undecided wish is an open
    question there, and what was reached is an episode.
    """
    return _IN_BUSINESS.get(type_, type_) if profile == "business" else type_


_METHODS = ("method", "procedure")
WORDED_BY = {"lesson": ("fact", *_METHODS), "fact": _METHODS, "milestone": ("aspiration",)}
_OWN_ROLE = frozenset(
    (frozenset(("milestone", "episode")), *(frozenset((kind, "episode")) for kind in _METHODS))
)


def have_two_roles(one: str, other: str) -> bool:
    """Return whether statements of two types are never merged, even if they state the same."""
    return frozenset((one, other)) in _OWN_ROLE


def find_reflecting(sources: Iterable[Source]) -> frozenset[str]:
    """Return the source files that only reflect on a statement in another of the sources."""
    from memrepo.read.sources import default_type  # a hook needs no table of sources

    kinds = {resource: default_type(resource) for resource in {s.resource for s in sources}}
    stated = frozenset(kinds.values())
    return frozenset(
        r for r, kind in kinds.items() if not stated.isdisjoint(WORDED_BY.get(kind, ()))
    )


def is_worded_by_person(memory: Memory) -> bool:
    """Return whether a person wrote the current text of a memory."""
    stamp = memory.stamp
    return stamp is not None and stamp.by.startswith("human:")


def is_by_person(memory: Memory) -> bool:
    """Return whether a person worded or confirmed a memory."""
    stamp = memory.stamp
    stamps = (*((stamp,) if stamp else ()), *memory.verified)
    return any(one.by.startswith("human:") for one in stamps)


def is_held_by_person(memory: Memory) -> bool:
    """Return whether a person worded, confirmed or marked a memory.

    Such a memory is not archived when its source is gone.
    """
    return is_by_person(memory) or memory.pinned or memory.critical


def merge_sources(old: Sequence[Source], new: Sequence[Source]) -> tuple[Source, ...]:
    """Merge two lists of sources, keeping the first entry for each resource and text."""
    found: dict[tuple[str, str], Source] = {}
    for source in (*old, *new):
        found.setdefault((source.resource, source.text_hash), source)
    return tuple(found.values())


MAX_SPAN = 26
"""Maximum number of lines in one span of evidence."""


def join_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Merge sources of one time. Places in one text become a span from the first to the last."""
    found: dict[tuple[str, str], Source] = {}
    for source in sources:
        first = found.setdefault((source.resource, source.text_hash), source)
        span = min(first.lines[0], source.lines[0]), max(first.lines[1], source.lines[1])
        if span[1] - span[0] < MAX_SPAN:
            found[source.resource, source.text_hash] = replace(first, lines=span)
    return tuple(found.values())


def storage_fault(memory: Memory) -> str:
    """Return why a memory could not be read back after writing, or an empty string if it could."""
    try:
        codec.encode(memory)
    except codec.CodecError as error:
        return error.problem.message
    return ""


CROWD = 2000
"""Number of files in a folder from which new files go to subfolders."""


def _in_folders(state: State) -> Counter[str]:
    return Counter(path.rpartition("/")[0] for path in (memory.path for memory in state.every))


def free_path(state: State, taken: set[str], memory: Memory) -> str:
    """Return a path for a memory that neither the tree nor this run's new memories use.

    Folders are limited to a size that people and forges can display.
    """
    folder = memory.path.rpartition("/")[0]
    if state.once(_in_folders)[folder] + len(taken) >= CROWD:
        memory = replace(memory, path=state.layout.spread(memory.path))
    return state.free_path(memory, taken)


SHORT = 25
"""Length below which a text's meaning depends on its heading."""
