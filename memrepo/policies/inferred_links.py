"""Links that follow from what memories name and when: found by inverted index, no all-pairs.

Lineage: openclaw-engram, link expansion at consolidation (co-occurring entities and temporal
proximity), which was planned there and never built. A name that few memories mention ties them; a
name of many says nothing. On the state that the links lead to there are none to add.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from itertools import combinations

import msgspec

from memrepo.core.changes import Step, Update
from memrepo.core.memory import CLAIM_TYPES, Link, Memory
from memrepo.core.messages import counted
from memrepo.core.references import references
from memrepo.policies.entities import Catalogue, catalogue

RARE = 12
"""A name that more memories mention ties none of them."""
LEAST = 0.5
"""The strength from which on a link is made."""
_NAME = 0.6
_DAY = 0.3
_NEAR = 7


class LinkRules(msgspec.Struct, frozen=True, kw_only=True):
    """Whether runs make links, and how many a memory may have before they make it no more."""

    expand: bool = True
    most: int = 5


class Tie(msgspec.Struct, frozen=True, kw_only=True):
    """Why two memories belong together: names that both mention, and days between them."""

    names: tuple[tuple[str, int], ...]
    """Each with the number of memories that mention it."""
    days: int | None

    @property
    def strength(self) -> float:
        """Return how strong it is, 0 to 1: each reason leaves less of the doubt."""
        doubt = 1.0
        for _, count in self.names:
            doubt *= 1 - _NAME / math.sqrt(count - 1)
        if self.days is not None and self.days <= _NEAR:
            doubt *= 1 - _DAY * (1 - self.days / (_NEAR + 1))
        return round(1 - doubt, 2)

    @property
    def told(self) -> str:
        """Return the reason in words."""
        names = ", ".join(name for name, _ in self.names)
        when = "" if self.days is None else f"; {counted(self.days, 'day', 'days')} apart"
        return f"both mention {names}{when}"


def ties(memories: Mapping[str, Memory], known: Catalogue) -> dict[tuple[str, str], Tie]:
    """Return the pairs of memories that share a rare name, by ids in order; scopes never mix."""
    shared: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for entity in known.entities:
        holders = [id_ for id_ in entity.memories if id_ in memories]
        if len(holders) >= 2 and len(entity.memories) <= RARE:
            for pair in combinations(sorted(holders), 2):
                if memories[pair[0]].text("scope") == memories[pair[1]].text("scope"):
                    shared[pair].append((entity.name, len(entity.memories)))
    return {
        pair: Tie(names=tuple(names), days=_days(*(memories[id_] for id_ in pair)))
        for pair, names in shared.items()
    }


def _days(one: Memory, other: Memory) -> int | None:
    days = [_day(memory) for memory in (one, other)]
    return None if None in days else abs((days[0] - days[1]).days)  # type: ignore[operator]


def _day(memory: Memory) -> date | None:
    try:
        return date.fromisoformat(memory.captured[:10])
    except ValueError:
        return None


def link_step(
    memories: Sequence[Memory],
    aliases: Mapping[str, Sequence[str]],
    rules: LinkRules,
    never: Collection[str] = (),
) -> Step | None:
    """Return the links that active memories lack, as one commit; None where they lack none.

    Claims alone are linked: notes leave. Pairs that know of each other already are left alone,
    and so are links of which `never` holds the fingerprint: a person took them back.
    """
    claims = {m.id: m for m in memories if m.type in CLAIM_TYPES}
    tied = {frozenset((m.id, id_)) for m in memories for id_ in references(m)}
    has: Counter[str] = Counter(id_ for pair in tied for id_ in pair)
    found = ties(claims, catalogue(memories, aliases))
    new: dict[str, list[Link]] = defaultdict(list)
    count = 0
    for pair, tie in sorted(found.items(), key=lambda item: (-item[1].strength, item[0])):
        if tie.strength < LEAST:
            break
        source, target = _directed(claims[pair[0]], claims[pair[1]])
        if frozenset(pair) in tied or f"link:{source.id}:{target.id}" in never:
            continue
        if all(has[id_] < rules.most for id_ in pair):
            has.update(pair)
            follows = tie.days is not None and 0 < tie.days <= _NEAR
            kind = "follows" if follows else "related"
            new[source.id].append(Link(target=target.id, type=kind, strength=tie.strength))
            count += 1
    if not new:
        return None
    return Step(
        op="link",
        what=f"{counted(len(new), 'memory', 'memories')} to others that name the same",
        reason=f"{counted(count, 'pair mentions', 'pairs mention')} names that few others do, "
        "or stand close in time as well",
        changes=tuple(_update(claims[id_], links) for id_, links in sorted(new.items())),
    )


def _directed(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return the later memory first: it points back at what was there before."""
    early, late = sorted((one, other), key=lambda m: (m.captured, m.id))
    return late, early


def _update(memory: Memory, links: Iterable[Link]) -> Update:
    return Update(id=memory.id, fields={"links": (*memory.fields.get("links", ()), *links)})
