"""What a session begins with: who one is, for whom, by which rules, and what is under way.

The hot cache holds what was of use; what nobody asked for of late stands here all the same, where
it is of a kind that every session needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory, Source
from memrepo.core.times import EARLIEST
from memrepo.policies.hotcache import FEW, SEEDED, hot_of, is_exempt, matters, may_be_hot
from memrepo.policies.matching import tokens
from memrepo.policies.rules import DecayRules

ALWAYS = {"identity": 3, "relationship": 4, "preference": 4, "constraint": 4}
"""Types of which the surest are told, and how many: the agent, the person, the rules."""
LATEST = {"decision": 3, "milestone": 2, "commitment": 4}
"""Types of which the newest are told: what is under way, and what was promised."""
PROFILES = {"identity": "IDENTITY.md", "relationship": "USER.md"}
"""Files that are about the agent, or about the person, from the name on."""
_ABOUT = ("identity", "relationship", "fact")
"""Types of what such a file says of whom it is about; the rest are wishes, rules and plans."""
_KEPT = frozenset(
    "memory rtmemory user identity tools procedures decisions preferences rules patterns lessons"
    " standinginstructions goals projects people tasks task todo todos".split()
)
"""Pages of these names are kept up to date; any other may be a report or a plan of long ago."""


def opening(
    memories: Iterable[Memory], accesses: Accesses, now: datetime, decay: DecayRules
) -> list[Memory]:
    """Return what a session is told, what matters most first: of each kind the hot, then others.

    What a person marked critical or pinned stands before all, what is hot of other kinds behind.
    """
    claims = [m for m in memories if may_be_hot(m, accesses, now, decay)]
    hot = [m for m in claims if hot_of(m) is not None]
    rest = claims if len(claims) >= FEW else []
    found = [m for m in hot if is_exempt(m)]
    for type_, most in {**ALWAYS, **LATEST}.items():
        mine = [m for m in hot if _is_of(m, type_)]
        used = [m for m in mine if _in_use(m)]
        others = [m for m in (rest or mine) if not _in_use(m) and _is_of(m, type_)]
        if type_ in ALWAYS:
            others.sort(key=matters)
        else:
            others.sort(key=_said, reverse=True)
        others.sort(key=_depth)
        ordered = sorted([*used, *others], key=lambda m: _line(m, type_))
        found += islice(_new(ordered, found), most)
    return [*found, *(m for m in hot if m not in found)]


def _in_use(memory: Memory) -> bool:
    hot = hot_of(memory)
    return hot is not None and hot.reason != SEEDED


def _is_of(memory: Memory, type_: str) -> bool:
    """Tell whether a memory is of a kind: by the profile that it stands in, or by its type."""
    names = {_name(source) for source in memory.sources} if memory.type in _ABOUT else set()
    about = {kind for kind, file in PROFILES.items() if file in names}
    return type_ in about if about else memory.type == type_


def _line(memory: Memory, type_: str) -> tuple[bool, int]:
    """Sort a profile first, from its top: the name stands there, and what else matters most."""
    file = PROFILES.get(type_)
    lines = [source.lines[0] for source in memory.sources if _name(source) == file]
    return (not lines, min(lines, default=0))


def _name(source: Source) -> str:
    return source.resource.rsplit("/", 1)[-1]


def _new(memories: Iterable[Memory], told: Iterable[Memory]) -> Iterator[Memory]:
    """Yield memories that hold a word which those before them do not."""
    known = [tokens(m.body) for m in told]
    for memory in memories:
        words = tokens(memory.body)
        if not any(words <= other for other in known):
            known.append(words)
            yield memory


def _depth(memory: Memory) -> tuple[bool, int]:
    """Sort first what a kept page says, then by how deep the file lies: what is old lies deep."""
    kept = (_name(s).removesuffix(".md").casefold() in _KEPT for s in memory.sources)
    return (not any(kept), min((s.resource.count("/") for s in memory.sources), default=0))


def _said(memory: Memory) -> tuple[str, datetime, str]:
    """Return when a memory was said: the day its sources tell of, else when it came."""
    day = max((s.captured for s in memory.sources), default="")
    return (day, memory.time("created") or EARLIEST, memory.path)
