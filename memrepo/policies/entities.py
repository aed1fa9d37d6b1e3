"""Find names, projects, hosts and tools in memories, and propose links between memories.

Entities are computed on reading and never stored. A memory's field `entities` only has names that a
person set, or that a model named and the evidence contains. All others are found here by rules. Two
names are one entity only if the configuration states it. A similar spelling is not enough.

Links are proposed from an inverted index of names, without comparing all pairs of memories.

Lineage: openclaw-engram, link expansion at consolidation (co-occurring entities and temporal
proximity), which was planned there but not built. A name in few memories connects them, and a name
in many does not. After the links were added, a second call proposes none.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

import msgspec

from memrepo.core.changes import Step, Update
from memrepo.core.ids import normalise
from memrepo.core.memory import (
    CLAIM_TYPES,
    REFERENCES,
    Link,
    Memory,
    having,
    of_types,
    references,
    without_chunks,
)
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS
from memrepo.text.languages import entries, fold, language_of, table, tables

LONGEST = 60
_CODE = regex(r"`([^`\s]{2,40})`")
_HOST = regex(r"(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,12}(?![\w.]*\w)")
_HANDLE = regex(r"(?<![\w@.])@[A-Za-z][\w-]{1,38}")
_MIXED = regex(r"(?<![\w./-])(?:[A-Za-z][a-z0-9]*[a-z][A-Z]\w*|[A-Z]{2,}[A-Z0-9]*|[a-z]\d+[a-z])\b")
_WORD = r"[^\W\d_a-zß-öø-ÿа-яё][\w'’&-]*"
_NAME = regex(
    rf"(?<![\w.@/`-]){_WORD}(?:[ \t]+(?:(?:de|da|del|der|van|von|la|le)[ \t]+)?{_WORD}){{0,3}}"
)
_FILES = frozenset(
    "md py txt json toml yaml yml sh html csv log js ts css cfg ini pdf png jpg".split()
)
_ENDS = ".!?:;。！？-–—|>\n"


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """A named entity: its main name, its aliases, and the ids of the memories that mention it."""

    name: str
    aliases: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """All entities, most mentioned first, with an index by normalised name."""

    entities: tuple[Entity, ...]
    by_name: Mapping[str, Entity] = msgspec.field(default_factory=dict)

    def find(self, name: str) -> Entity | None:
        """Return the entity with the given name or alias, or None if there is none."""
        return self.by_name.get(normalise(name))


def mentions(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the names in a text. Return the certain names and the possible names.

    Single words at the beginning of a sentence are only possible names. In German texts this
    applies to all single words, because German capitalises every noun.
    """
    sure: dict[str, None] = {}
    maybe: dict[str, None] = {}
    for found in _CODE.finditer(text):
        if not found[1].startswith(("-", "/", ".", "$", "~")) and any(map(str.isalpha, found[1])):
            sure[found[1]] = None
    plain = _CODE.sub(lambda m: " " * len(m[0]), text)
    for form in (_HOST, _HANDLE, _MIXED):
        for found in form.finditer(plain):
            if found[0].rpartition(".")[2] not in _FILES and _may_name(found[0]):
                sure[found[0]] = None
    is_german = language_of(fold(plain).split(), plain) == "german"
    for found in _NAME.finditer(plain):
        name = _trimmed(found[0])
        if not name or name in sure:
            continue
        first = found[0].startswith(name) and _begins(plain, found.start())
        if " " in name or not (first or is_german):
            sure[name] = None
        else:
            maybe[name] = None
    return tuple(sure), tuple(m for m in maybe if m not in sure)


def _begins(text: str, at: int) -> bool:
    """Return whether a sentence, line or list item begins at an offset of a text."""
    before = text[max(0, at - 12) : at].rstrip(" \t\"'*_([«„“‘")
    return not before or before[-1] in _ENDS


def _trimmed(name: str) -> str:
    """Remove a possessive ending, and words at both ends that cannot be part of a name."""
    words = re.sub(r"['’]s?$", "", name).split()
    while words and not _may_name(words[0]):
        words.pop(0)
    while words and not _may_name(words[-1]):
        words.pop()
    return " ".join(words)


@cache
def _no_names() -> frozenset[str]:
    """Return capitalised words that are not names: common words, days and months."""
    own = [table(language, "dates") for language, _ in tables("names")]
    days = " ".join(
        row for one in own for key in ("weekdays", "months") for row in one.get(key, ())
    )
    return frozenset(map(normalise, (*entries("names", "common"), *MONTHS, *days.split())))


def _may_name(word: str) -> bool:
    return 2 <= len(word) <= LONGEST and normalise(word) not in _no_names()


def held(names: Iterable[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names that occur in the evidence as whole words."""
    evidence = normalise(" \n ".join(texts))
    return tuple(
        name
        for name in dict.fromkeys(n.strip() for n in names)
        if 0 < len(name) <= LONGEST
        and len(name.splitlines()) == 1
        and re.search(rf"(?<!\w){re.escape(normalise(name))}(?!\w)", evidence)
    )


_fold = lru_cache(maxsize=1 << 15)(normalise)
"""Cached, because each run folds the same names of many memories."""


def catalogue(
    memories: Iterable[Memory], configured: Mapping[str, Sequence[str]] | None = None
) -> Catalogue:
    """Collect the entities that memories mention. `configured` maps names to aliases."""
    named = ((memory, _named(memory)) for memory in without_chunks([*memories]))
    read = [(memory, sure, maybe) for memory, (sure, maybe) in named]
    main, listed = dict[str, str](), dict[str, str]()
    for name, aliases in (configured or {}).items():
        listed[_fold(name)] = name
        main |= {_fold(alias): _fold(name) for alias in aliases}
    spelled: Counter[str] = Counter(name for _, sure, _ in read for name in sure)
    spelled.update(name for memory, _, _ in read for name in memory.texts("entities"))
    for name, aliases in (configured or {}).items():
        spelled.update(dict.fromkeys((name, *aliases), 0))
    known = {_fold(name) for name in spelled}
    groups: dict[str, set[str]] = defaultdict(set)
    for name in spelled:
        groups[_main_of(name, main)].add(name)
    ids: dict[str, list[str]] = defaultdict(list)
    confirmed: dict[str, list[str]] = defaultdict(list)
    for memory, sure, maybe in read:
        given = memory.texts("entities")
        likely = (name for name in (*maybe, memory.text("subject")) if _fold(name) in known)
        for key in dict.fromkeys(_main_of(name, main) for name in (*sure, *given, *likely)):
            ids[key].append(memory.id)
        for key in dict.fromkeys(_main_of(name, main) for name in given):
            confirmed[key].append(memory.id)
    made = []
    for key, names in groups.items():
        if key in ids:
            own = [n for n in names if _fold(n) == key] or sorted(names)
            name = listed.get(key) or min(own, key=lambda n: (-spelled[n], n))
            others = {_fold(n): n for n in sorted(names, reverse=True) if _fold(n) != _fold(name)}
            made.append(
                Entity(
                    name=name,
                    aliases=tuple(sorted(others.values(), key=_fold)),
                    memories=tuple(sorted(ids[key])),
                    confirmed=tuple(sorted(confirmed[key])),
                )
            )
    made.sort(key=lambda e: (-len(e.memories), _fold(e.name), e.name))
    by_name = {_fold(n): e for e in reversed(made) for n in (e.name, *e.aliases)}
    return Catalogue(entities=tuple(made), by_name=by_name)


def _main_of(name: str, main: Mapping[str, str]) -> str:
    """Resolve an alias to its normalised main name."""
    key, seen = _fold(name), set[str]()
    while key in main and key not in seen:
        seen.add(key)
        key = main[key]
    return min(seen) if key in seen else key


def _named(memory: Memory) -> list[list[Any]]:
    """Return the certain names and the possible names in a memory's title and body."""

    def work_out() -> list[list[Any]]:
        text = f"{memory.text('title')}\n{memory.body}".strip()
        return [list(found) for found in mentions(text)]

    return memory.once("names", work_out)


RARE = 12
"""A name in more memories than this connects none of them."""
LEAST = 0.5
"""The minimum strength of a link."""
_LINKED_NAME = 0.6
_DAY = 0.3
_NEAR = 7


class Tie(msgspec.Struct, frozen=True, kw_only=True):
    """The reasons to link two memories: common names, and the number of days between them."""

    names: tuple[tuple[str, int], ...]
    """Each name with the number of memories that mention it."""
    days: int | None

    @property
    def strength(self) -> float:
        """Return the strength of the link, 0 to 1. Each reason reduces the remaining doubt."""
        doubt = 1.0
        for _, count in self.names:
            doubt *= 1 - _LINKED_NAME / math.sqrt(count - 1)
        if self.days is not None and self.days <= _NEAR:
            doubt *= 1 - _DAY * (1 - self.days / (_NEAR + 1))
        return round(1 - doubt, 2)

    @property
    def reason(self) -> str:
        """Describe the reasons for the link."""
        names = ", ".join(name for name, _ in self.names)
        when = "" if self.days is None else f"; {counted(self.days, 'day', 'days')} apart"
        return f"both mention {names}{when}"


def ties(memories: Mapping[str, Memory], known: Catalogue) -> dict[tuple[str, str], Tie]:
    """Map pairs of memory ids to the reasons for linking the two memories.

    Only pairs that share a rare name are included. The ids of a pair are sorted.

    Memories of different scopes are never tied.
    """
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
    """Return the number of days between the evidence of two memories, or None if one is undated."""
    try:
        first, second = (date.fromisoformat(memory.captured[:10]) for memory in (one, other))
    except ValueError:
        return None
    return abs((first - second).days)


_MOST_LINKS = 5
"""A memory with this many links gets no more by a run."""


def link_step(
    memories: Sequence[Memory],
    aliases: Mapping[str, Sequence[str]],
    never: Collection[str] = (),
) -> Step | None:
    """Return a step that adds missing links between active memories, or None if no link is missing.

    Only claims are linked, because notes leave the work tree. Pairs that are already linked are
    skipped. Links whose fingerprint is in `never` are skipped too, because a person reverted them.
    """
    claims = {memory.id: memory for memory in of_types(memories, CLAIM_TYPES)}
    holding = having(memories, REFERENCES)
    tied = {frozenset((m.id, id_)) for m in holding for id_ in references(m)}
    has: Counter[str] = Counter(id_ for pair in tied for id_ in pair)
    found = ties(claims, catalogue(memories, aliases))
    new: dict[str, list[Link]] = defaultdict(list)
    for pair, tie in sorted(found.items(), key=lambda item: (-item[1].strength, item[0])):
        if tie.strength < LEAST:
            break
        # The later memory links to the earlier one.
        target, source = sorted((claims[id_] for id_ in pair), key=lambda m: (m.captured, m.id))
        if frozenset(pair) in tied or f"link:{source.id}:{target.id}" in never:
            continue
        if all(has[id_] < _MOST_LINKS for id_ in pair):
            has.update(pair)
            follows = tie.days is not None and 0 < tie.days <= _NEAR
            kind = "follows" if follows else "related"
            new[source.id].append(Link(target=target.id, type=kind, strength=tie.strength))
    if not new:
        return None
    return Step(
        op="link",
        reason="the linked memories mention the same rare names",
        changes=tuple(
            Update(id=id_, fields={"links": (*claims[id_].fields.get("links", ()), *links)})
            for id_, links in sorted(new.items())
        ),
    )
