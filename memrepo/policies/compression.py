"""Many small memories of low importance become few summaries; the originals rest in the archive.

Lineage: openclaw-engram, compression. Deliberate differences: the bound of importance is one that
scores can fall below, a source names the summary that speaks for it, a summary stays in the layer
and scope of its sources, and what a person brought back is never taken again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from memrepo.core.changes import Create, Step, Update
from memrepo.core.ids import claim_id, normalise
from memrepo.core.judge import Summary
from memrepo.core.layout import Layout
from memrepo.core.memory import Link, Memory, Stamp
from memrepo.core.messages import counted
from memrepo.core.state import State
from memrepo.policies.archive import is_kept
from memrepo.policies.entities import mentions
from memrepo.policies.matching import tokens
from memrepo.policies.summaries import body_of, day_of
from memrepo.policies.terms import STOP_WORDS

LEAST = 10
"""Fewer candidates are left alone."""
SMALLEST, LARGEST = 3, 20
"""How many memories one summary speaks for."""
_COMMON = 0.5
"""A word that more than this share of the candidates hold is no topic."""


class CompressionRules(msgspec.Struct, frozen=True, kw_only=True):
    """When memories are compressed: from how many active ones, and which of them never are."""

    enabled: bool = True
    trigger: int = 1000
    keep: int = 300
    below: float = 0.45
    protected: tuple[str, ...] = ("commitment", "preference", "decision")


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Memories about one thing, oldest first; the topic is empty where only time joins them."""

    topic: str
    memories: tuple[Memory, ...]


Score = Callable[[Memory], float]


def candidates(
    state: State, rules: CompressionRules, score: Score, spared: Collection[str] = ()
) -> list[Memory]:
    """Return what may be compressed, oldest first; nothing below the trigger or for too few.

    Notes do not count: tiers govern them. `spared` are ids that a person took back.
    """
    proper = [m for m in state.active if m.type not in ("note", "chunk")]
    if not rules.enabled or len(proper) < rules.trigger:
        return []
    proper.sort(key=_age)
    shown = {normalise(word) for word in rules.protected}
    found = [
        m
        for m in proper[: max(0, len(proper) - rules.keep)]
        if score(m) < rules.below and m.id not in spared and not _is_protected(m, shown)
    ]
    return found if len(found) >= LEAST else []


def _age(memory: Memory) -> tuple[str, str]:
    created = memory.time("created")
    return created.isoformat() if created else "", memory.id


def _is_protected(memory: Memory, words: Collection[str]) -> bool:
    """Tell whether a memory stays as it is: by its kind, its flags, its names, or a person."""
    return (
        is_kept(memory)
        or memory.type == "summary"
        or memory.standing == "contested"  # a person is asked about it
        or memory.flag("user_marked")
        or bool(memory.texts("entities"))
        or bool(memory.text("compressed_into"))  # it was brought back
        or any(normalise(word) in words for word in (memory.type, *memory.texts("tags")))
    )


def groups(found: Sequence[Memory]) -> list[Group]:
    """Part candidates by scope and layer, then by what they are about, then by time.

    Names go before tags, and tags before words; the most frequent first. What shares nothing is
    joined by its time alone. Those with the oldest memories come first.
    """
    parts: dict[tuple[str, str], list[Memory]] = {}
    for memory in found:
        parts.setdefault((memory.text("scope"), memory.layer), []).append(memory)
    made = [group for part in parts.values() for group in _grouped(part)]
    return sorted(made, key=lambda group: (_age(group.memories[0]), group.topic))


def _grouped(part: Sequence[Memory]) -> Iterator[Group]:
    rest = {memory.id: memory for memory in part}
    for features, share in ((_names, 1.0), (_tags, 1.0), (_words, _COMMON)):
        most = max(LARGEST, int(len(rest) * share))
        for topic, ids in _topics(rest.values(), features, most):
            shared = [rest[id_] for id_ in ids if id_ in rest]
            for cut in _cuts(shared):
                yield Group(topic=topic, memories=tuple(cut))
                for memory in cut:
                    del rest[memory.id]
    for cut in _cuts(list(rest.values())):
        yield Group(topic="", memories=tuple(cut))


def _topics(
    memories: Iterable[Memory], features: Callable[[Memory], Iterable[str]], most: int
) -> list[tuple[str, list[str]]]:
    """Return what several memories share, `most` at most, with their ids: most frequent first."""
    holding: dict[str, list[str]] = {}
    spelled: dict[str, Counter[str]] = {}
    for memory in memories:
        told = {normalise(word): word for word in features(memory)}
        for key, word in told.items():
            holding.setdefault(key, []).append(memory.id)
            spelled.setdefault(key, Counter())[word] += 1
    shared = (key for key, ids in holding.items() if SMALLEST <= len(ids) <= most)
    ranked = sorted(shared, key=lambda key: (-len(holding[key]), key))
    return [(min(spelled[k], key=lambda w: (-spelled[k][w], w)), holding[k]) for k in ranked]


def _names(memory: Memory) -> Iterator[str]:
    if subject := memory.text("subject"):
        yield subject
    yield from mentions(memory.body)[0]


def _tags(memory: Memory) -> Iterable[str]:
    return memory.texts("tags")


def _words(memory: Memory) -> list[str]:
    return sorted(w for w in tokens(memory.body) - STOP_WORDS if len(w) > 3 or not w.isascii())


def _cuts(memories: list[Memory]) -> Iterator[list[Memory]]:
    """Cut memories, in the order of their days, into parts of SMALLEST to LARGEST."""
    ordered = sorted(memories, key=lambda m: (day_of(m), m.id))
    count = -(-len(ordered) // LARGEST)
    for turn in range(count):
        cut = ordered[turn * len(ordered) // count : (turn + 1) * len(ordered) // count]
        if len(cut) >= SMALLEST:
            yield cut


def compressed(
    group: Group, said: Summary, layout: Layout, now: datetime, *, by: str, why: str
) -> Step:
    """Return the commit that puts a summary in the place of a group."""
    summary = _summary(group, said, layout, now, by)
    rests: dict[str, object] = {
        "status": "archived",
        "archived_at": now,
        "compressed_into": summary.id,
    }
    what = f"{counted(len(group.memories), 'memory', 'memories')} into {summary.label}"
    return Step(
        op="compress",
        what=what,
        reason=why,
        changes=(Create(memory=summary), *(Update(id=m.id, fields=rests) for m in group.memories)),
    )


def summary_id(group: Group) -> str:
    """Return the id of a group's summary: of its sources, however they are worded."""
    ids = " ".join(sorted(m.id for m in group.memories))
    scope = group.memories[0].text("scope")
    return claim_id(scope=scope, subject="summary", predicate="", object_="", text=ids)


def _summary(group: Group, said: Summary, layout: Layout, now: datetime, by: str) -> Memory:
    first, id_ = group.memories[0], summary_id(group)
    path = layout.memory(
        id_=id_,
        type_="summary",
        text=said.title,
        layer=first.layer,
        captured=max(map(day_of, group.memories)),
    )
    fields: dict[str, object] = {
        "id": id_,
        "type": "summary",
        "title": said.title,
        "created": now,
        "generated": Stamp(by=by, at=now),
        "origin": "compression",
        "links": tuple(Link(target=m.id, type="references") for m in group.memories),
    }
    if scope := first.text("scope"):
        fields["scope"] = scope
    return Memory(path=path, fields=fields, body=body_of(said, group.memories))
