"""Shorten notes, and compress small memories into summaries, by rules or with a model's words.

Recall shows the gist of an old note: its title, tags and most important sentences. Compression
archives the memories of a group and adds their summary. Lineage: openclaw-engram, compression.
Deliberate differences:

- Scores can fall below the importance limit.
- A source names the summary that replaces it.
- A summary has the layer and scope of its sources.
- A memory that a person restored is never compressed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from memrepo.core.ids import claim_id, normalise, visible
from memrepo.core.layout import Layout
from memrepo.core.memory import Gist, Link, Memory, Stamp
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.state import Create, State, Step, Update
from memrepo.policies.hotcache import is_archive_exempt
from memrepo.policies.links import mentions
from memrepo.policies.rules import CompressionRules
from memrepo.text.words import content_words, entries

SENTENCES, LENGTH, TAGS, TITLE = 3, 400, 5, 120
"""Limits of a gist: sentences and characters of the summary, tags, and characters of the title."""
_CUT = regex(r"(?<=[.!?。！？])\s+|\n+")
_MARKS = regex(r"^[\s>#*+\-|]+|[\s|]+$")
_NUMBER = regex(r"\d+")
_OFTEN, _SALIENT = 3, 4
"""The maximum count of a word, and the bonus for each distinctive word of an outcome."""


def gist_of(note: Memory) -> Gist:
    """Return the gist of a note, computed from the note only."""
    parts = _distinct(sentences(without_secrets(note.body)))
    counts = word_counts(parts)
    title = without_secrets(note.title) or (parts[0] if parts else note.slug)
    title = " ".join(visible(title).split())
    common = [w for w, n in sorted(counts.items(), key=lambda p: (-p[1], p[0])) if n > 1]
    tags = tuple(dict.fromkeys((*note.tags, *common)))[:TAGS]
    return Gist(
        title=title[:TITLE].rstrip(),
        tags=tags,
        summary=" ".join(telling(parts, counts, SENTENCES, LENGTH)),
    )


def sentences(text: str) -> list[str]:
    """Split a text into sentences and list items, and remove list and heading markers."""
    found = (" ".join(_MARKS.sub("", visible(part)).split()) for part in _CUT.split(text))
    return [part for part in found if part]


def _distinct(texts: Iterable[str]) -> list[str]:
    """Drop the sentences that repeat an earlier one, also with other numbers: a log's routine."""
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(_NUMBER.sub("0", text), text)
    return list(found.values())


def word_counts(texts: Iterable[str]) -> Counter[str]:
    """Count, for each word of more than three letters, the sentences that contain it."""
    return Counter(word for one in texts for word in content_words(one) if len(word) > 3)


def telling(texts: Sequence[str], counts: Counter[str], most: int, length: int) -> list[str]:
    """Return the most important sentences in text order."""

    def weight(sentence: str) -> float:
        words = content_words(sentence)
        common = sum(min(counts[word], _OFTEN) for word in words) / max(1, len(words))
        return common + _SALIENT * len(words & outcomes)

    outcomes = frozenset(entries("language", "outcome"))
    ranked = sorted(range(len(texts)), key=lambda n: (-weight(texts[n]), n))
    chosen: list[int] = []
    for number in ranked[:most]:
        if len(" ".join(texts[n] for n in (*chosen, number))) <= length:
            chosen.append(number)
    if not chosen and ranked:
        return [clipped(texts[ranked[0]], length)]
    return [texts[n] for n in sorted(chosen)]


def clipped(sentence: str, length: int) -> str:
    """Truncate a sentence to `length` characters."""
    return sentence if len(sentence) <= length else sentence[: length - 1].rstrip() + "…"


SUMMARY_SENTENCES, SUMMARY_LENGTH = 4, 600
FACTS, FACT, ENTITIES = 10, 240, 10
"""Limits of a summary: facts, characters per fact, and names."""
_WORDS = 3


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary that replaces several memories: title, text, individual facts, and names."""

    title: str
    text: str
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


def summary_of(memories: Sequence[Memory]) -> Summary:
    """Summarise memories by selecting their most important sentences."""
    texts = list(dict.fromkeys(s for m in memories for s in sentences(without_secrets(m.body))))
    counts = word_counts(texts)
    text = telling(texts, counts, SUMMARY_SENTENCES, SUMMARY_LENGTH)
    rest = [clipped(s, FACT) for s in texts if s not in text]
    names = Counter(name for m in memories for name in mentions(m.body)[0])
    common = sorted(counts, key=lambda word: (-counts[word], word))[:_WORDS]
    return Summary(
        title=clipped(" ".join((", ".join(common) or memories[0].slug).split()), TITLE),
        text=" ".join(text),
        facts=tuple(telling(rest, counts, FACTS, FACTS * FACT)),
        entities=tuple(sorted(names, key=lambda name: (-names[name], name))[:ENTITIES]),
    )


def body_of(summary: Summary, memories: Sequence[Memory]) -> str:
    """Format a summary as the body of a memory, with text, facts, names and the period covered."""
    days = sorted(filter(None, map(day_of, memories)))
    parts = [summary.text]
    if summary.facts:
        parts += ["## Key facts", "\n".join(f"- {fact}" for fact in summary.facts)]
    if summary.entities:
        parts += ["## Entities", ", ".join(summary.entities)]
    span = f", from {days[0]} to {days[-1]}" if days else ""
    parts += ["## Sources", f"{counted(len(memories), 'memory', 'memories')}{span}."]
    return "\n\n".join(parts)


def day_of(memory: Memory) -> str:
    """Return the ISO date of a memory's newest evidence, or else of its creation."""
    created = memory.created
    return memory.captured[:10] or (created.date().isoformat() if created else "")


MIN_CANDIDATES = 10
"""Compress only if there are at least this many candidates."""
SMALLEST, LARGEST = 3, 20
"""The minimum and maximum number of memories per summary."""

Score = Callable[[Memory], float]


def candidates(
    state: State, rules: CompressionRules, score: Score, spared: Collection[str] = ()
) -> list[Memory]:
    """Return the memories that may be compressed, oldest first.

    Return nothing if the active memories are fewer than the trigger, or the candidates fewer than
    `MIN_CANDIDATES`. Notes are not counted, because tiers govern them. `spared` has the ids of
    memories for which a person reverted the compression.
    """
    if not rules.enabled:
        return []
    active = [memory for memory in state.active if memory.type not in ("note", "chunk")]
    if len(active) < rules.trigger:
        return []
    proper = sorted(active, key=_age)
    shown = {normalise(word) for word in rules.protected_tags}
    found = [
        m
        for m in proper[: max(0, len(proper) - rules.keep)]
        if score(m) < rules.below and m.id not in spared and not _is_protected(m, shown)
    ]
    return found if len(found) >= MIN_CANDIDATES else []


def _age(memory: Memory) -> tuple[str, str]:
    created = memory.created
    return created.isoformat() if created else "", memory.id


def _is_protected(memory: Memory, words: Collection[str]) -> bool:
    """Return whether a memory is exempt from compression."""
    return (
        is_archive_exempt(memory)
        or memory.type == "summary"
        or memory.standing == "contested"  # a person has yet to decide
        or memory.user_marked
        or bool(memory.entities)
        or bool(memory.compressed_into)  # restored from a summary
        or any(normalise(word) in words for word in (memory.type, *memory.tags))
    )


def groups(found: Sequence[Memory]) -> list[tuple[Memory, ...]]:
    """Split candidates for compression by scope and layer, then by time, oldest group first."""
    parts: dict[tuple[str, str], list[Memory]] = {}
    for memory in found:
        parts.setdefault((memory.scope, memory.layer), []).append(memory)
    return sorted((cut for part in parts.values() for cut in _cuts(part)), key=lambda g: _age(g[0]))


def _cuts(memories: Sequence[Memory]) -> Iterator[tuple[Memory, ...]]:
    """Sort memories by day and split them into groups of SMALLEST to LARGEST memories."""
    ordered = sorted(memories, key=lambda m: (day_of(m), m.id))
    count = -(-len(ordered) // LARGEST)
    for turn in range(count):
        cut = ordered[turn * len(ordered) // count : (turn + 1) * len(ordered) // count]
        if len(cut) >= SMALLEST:
            yield tuple(cut)


def compressed(
    group: Sequence[Memory], words: Summary, layout: Layout, now: datetime, *, by: str, why: str
) -> Step:
    """Return a step that adds a summary of a group and archives the memories of the group."""
    summary = _summary(group, words, layout, now, by)
    rests: dict[str, object] = {
        "status": "archived",
        "archived_at": now,
        "compressed_into": summary.id,
    }
    return Step(
        op="compress",
        reason=why,
        changes=(Create(memory=summary), *(Update(id=m.id, fields=rests) for m in group)),
    )


def summary_id(group: Sequence[Memory]) -> str:
    """Compute the id of a group's summary from the scope and the ids of the group's memories."""
    ids = " ".join(sorted(m.id for m in group))
    scope = group[0].scope
    return claim_id(scope=scope, subject="summary", predicate="", object_="", text=ids)


def _summary(
    group: Sequence[Memory], words: Summary, layout: Layout, now: datetime, by: str
) -> Memory:
    first, id_ = group[0], summary_id(group)
    path = layout.memory(
        id_=id_,
        type_="summary",
        text=words.title,
        layer=first.layer,
        captured=max(map(day_of, group)),
    )
    fields: dict[str, object] = {
        "id": id_,
        "type": "summary",
        "title": words.title,
        "created": now,
        "generated": Stamp(by=by, at=now),
        "origin": "compression",
        "links": tuple(Link(target=m.id, type="references") for m in group),
    }
    if scope := first.scope:
        fields["scope"] = scope
    return Memory.of(path, fields, body=body_of(words, group))
