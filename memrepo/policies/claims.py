"""Rules that apply to every claim: its page, its path, its evidence, and the person behind it.

The pages that suit a type are those of memory-purifier (route affinity).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.memory import HOME_OF_TYPE, HOMES, Memory, Source, Stamp

if TYPE_CHECKING:
    from memrepo.core.judge import Profile
    from memrepo.core.state import State

Affinity = Literal["strong", "acceptable", "suspicious", "impossible"]
AFFINITY_SCORE: Mapping[Affinity, float] = MappingProxyType(
    {"strong": 1.0, "acceptable": 0.5, "suspicious": 0.1, "impossible": 0.0}
)
PERSONAL_HOMES = ("HISTORY.md", "WISHES.md")
_LETTERS: Mapping[str, Affinity] = dict(zip("SA?X", AFFINITY_SCORE, strict=True))
_ROWS = {
    # columns: LTMEMORY PLAYBOOKS EPISODES HISTORY WISHES
    "fact": "SXXXX",
    "preference": "SXXXX",
    "constraint": "SXXXX",
    "commitment": "SXXX?",
    "identity": "SXX?X",
    "relationship": "SXX?X",
    "lesson": "SAXXX",
    "decision": "SAX?X",
    "open_question": "SXXX?",
    "method": "ASXXX",
    "procedure": "XSXXX",
    "episode": "XXS?X",
    "milestone": "XXASX",
    "aspiration": "XXXXS",
}


def affinity(type_: str, home: str) -> Affinity:
    """Return how well a page suits a type of claim. Unknown types and pages are suspicious."""
    row = _ROWS.get(type_)
    return _LETTERS[row[HOMES.index(home)]] if row and home in HOMES else "suspicious"


def is_permitted(home: str, profile: Profile) -> bool:
    """Return whether a profile has a page. HISTORY and WISHES exist only in personal profiles."""
    return home in HOMES and (profile == "personal" or home not in PERSONAL_HOMES)


def type_in_profile(type_: str, profile: Profile) -> str:
    """Return the type that a claim gets in a profile.

    An aspiration only fits WISHES, which the business profile lacks. There it becomes an open
    question, because a wish is undecided. memory-purifier documented this rerouting, but its code
    refused the whole batch.
    """
    return "open_question" if type_ == "aspiration" and profile == "business" else type_


def route(type_: str, profile: Profile) -> str:
    """Return the page that suits a type best among the pages that a profile permits.

    On the business profile, a milestone goes to EPISODES, its acceptable second home. An unknown
    type goes to LTMEMORY.
    """
    type_ = type_in_profile(type_, profile)
    own = HOME_OF_TYPE.get(type_, "LTMEMORY.md")
    if is_permitted(own, profile):
        return own
    homes = [home for home in HOMES if is_permitted(home, profile)]
    return max(homes, key=lambda home: AFFINITY_SCORE[affinity(type_, home)])


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
    stamp: Stamp | None = memory.fields.get("generated")
    return stamp is not None and stamp.by.startswith("human:")


def is_by_person(memory: Memory) -> bool:
    """Return whether a person worded or confirmed a memory."""
    stamp: Stamp | None = memory.fields.get("generated")
    stamps = (*((stamp,) if stamp else ()), *memory.fields.get("verified", ()))
    return any(one.by.startswith("human:") for one in stamps)


def is_held_by_person(memory: Memory) -> bool:
    """Return whether a person worded, confirmed or marked a memory.

    Such a memory is not archived when its source is gone.
    """
    return is_by_person(memory) or memory.pinned or memory.critical


def merge_sources(old: Sequence[Source], new: Sequence[Source]) -> tuple[Source, ...]:
    """Merge two lists of sources, keeping the first entry for each resource and text.

    Its blob stays readable, so a line that only moved needs no new entry.
    """
    found: dict[tuple[str, str], Source] = {}
    for source in (*old, *new):
        found.setdefault((source.resource, source.text_hash), source)
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
    path = state.free_path(memory)
    stem, tail = memory.path[: -len("-000000.md")], memory.path[-len("-000000.md") :]
    turn = 2
    while path in taken or path in state.files:
        path, turn = f"{stem}-{turn}{tail}", turn + 1
    return path


SHORT = 25
"""Length below which a text's meaning depends on its heading."""
