"""The places that say one thing: which of many a memory lists, and how many it tells of.

A footer may stand in thousands of files. Each place would be a line's length in the header, and
none of them says more than the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from memrepo.core.memory import Memory, Source

COUNT = "source_count"
"""The field that tells how many places there are, where not all are listed."""
LISTED = 50
"""So many places are listed, and more only where each says it in words of its own."""
_DAYS = 10
_TELLING = frozenset(
    f"{name}.md"
    for name in (
        *("user", "human", "identity", "persona", "tools"),
        *("memory", "rtmemory", "procedures", "chronicles", "dreams"),
    )
)
"""Files whose name says of whom or what they are."""


def places_of(memory: Memory) -> int:
    """Return in how many places a memory was met, listed or not."""
    return max(len(memory.sources), memory.fields.get(COUNT) or 0)


def hashes_of(memory: Memory) -> frozenset[str]:
    """Return the text hashes of the lines that a memory rests on; of each one place is listed."""
    return frozenset(s.text_hash for s in memory.sources if s.text_hash)


def listed(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Return the places that are listed of some, in their order; all where they are few.

    What is asked of evidence is answered by these as by all: the first place, each wording, each
    kind, the newest of each kind of date, the newest days, a file that tells by its name of whom
    it is. The rest are the first ones.
    """
    if len(sources) <= LISTED:
        return tuple(sources)
    kept = dict.fromkeys(_needed(sources))
    for source in sources:
        if len(kept) >= LISTED:
            break
        kept[source] = None
    return tuple(source for source in dict.fromkeys(sources) if source in kept)


def _needed(sources: Sequence[Source]) -> Iterator[Source]:
    yield sources[0]
    seen: set[Hashable] = set()
    for source in sources:
        for mark in (("said", source.text_hash), ("kind", source.kind), _sort(source)):
            if mark and mark not in seen:
                seen.add(mark)
                yield source
    dated: dict[str, Source] = {}
    for source in _newest(sources):
        if source.captured_from not in dated:
            dated[source.captured_from] = source
            yield source
    days = {s.captured[:10]: s for s in reversed(_newest(sources)) if s.captured}
    yield from list(reversed(days.values()))[:_DAYS]


def _newest(sources: Iterable[Source]) -> list[Source]:
    """Return the newest first; of one day they keep their order."""
    return sorted(sources, key=lambda source: source.captured, reverse=True)


def _sort(source: Source) -> Hashable:
    """Return what of a file's path says what it tells of, if anything does."""
    *folders, name = source.resource.split("/")
    if name.casefold() in _TELLING:
        return "file", name.casefold()
    found = {"memories", "episodes"}.intersection(folders)
    return ("folder", min(found)) if found else ""
