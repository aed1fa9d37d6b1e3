"""Find the known memories that a model must see with the text that it reads."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from memrepo.core.ids import normalise
from memrepo.core.memory import Memory
from memrepo.judge.documents import Batch, blocks_of
from memrepo.judge.grounding import literals_of
from memrepo.text.words import content_words

PER_BLOCK, PER_LINE, PER_NAME = 5, 2, 5
"""Memories shown for the text under each heading, for each of its lines, and for each subject that
a line, a heading or the name of a file has."""
MIN_SHARED, MIN_COVER = 2, 0.25
"""Words, and share of a memory's weight, that a text must have in common with the memory."""
MAX_SHOWN = 120
"""Maximum memories shown with one question."""
SUBJECT_WEIGHT = 2.0
"""How much more a word of a memory's subject counts than another word."""


def related(
    memories: Iterable[Memory],
    batch: Batch,
    citing: Collection[str] = (),
    names: Collection[str] = (),
) -> dict[str, Memory]:
    """Return the memories to show with a question, by short id.

    These are memories that cite removed lines (`citing` has their ids), those that contain a
    removed value, for each block of the text and each of its lines those that share most of their
    rare words with it, and the newest about each subject that the text names. Who owner and agent
    are, by their `names`, is always shown: texts call them "he", "user", "I".
    """
    every = {memory.id: memory for memory in memories}
    wanted: dict[str, float] = {id_: math.inf for id_ in citing if id_ in every}
    removed = [row for d in batch.files.values() for rows in d.removed.values() for row in rows]
    for value in {normalise(v) for row in removed for v in literals_of(row)}:
        wanted |= {i: math.inf for i, m in every.items() if value in normalise(m.body)}
    weights = _weights(every)
    holders: dict[str, list[str]] = defaultdict(list)
    for id_, words in weights.items():
        for word in words:
            holders[word].append(id_)
    blocks = [*blocks_of(batch), *removed]
    lines = {line for block in blocks for line in block.splitlines()[1:]}
    for texts, most in ((blocks, PER_BLOCK), (sorted(lines), PER_LINE)):
        for text in texts:
            found = sorted(
                _alike(text, weights, holders), key=lambda one: (-one[0], every[one[1]].body)
            )
            for score, id_ in found[:most]:
                wanted[id_] = max(score, wanted.get(id_, 0.0))
    for id_ in (*_named(every, batch), *_persons(every, names)):
        wanted.setdefault(id_, 0.0)
    chosen = sorted(wanted, key=lambda id_: (-wanted[id_], every[id_].body))[:MAX_SHOWN]
    return short_ids(every[id_] for id_ in chosen)


def _named(memories: Mapping[str, Memory], batch: Batch) -> Iterator[str]:
    """Yield the newest memories about each subject that a shown line, heading or file name has."""
    lines = {document.name for document in batch.files.values()}
    for document, rows in batch.parts:
        for number in (n for n, _ in rows if n):
            lines.update((document.lines[number - 1], *document.headings(number)))
    named = [content_words(line) for line in lines]
    about: dict[frozenset[str], list[Memory]] = defaultdict(list)
    for memory in memories.values():
        if words := content_words(memory.subject):
            about[words].append(memory)
    for words, some in about.items():
        if any(words <= line for line in named):
            newest = sorted(sorted(some, key=lambda m: m.body), key=lambda m: m.captured)
            yield from (memory.id for memory in newest[-PER_NAME:])


def _persons(memories: Mapping[str, Memory], names: Collection[str]) -> Iterator[str]:
    """Yield the memories that say who the owner or the agent is, at most some of each."""
    for words in filter(None, map(content_words, names)):
        mine = (m for m in memories.values() if m.type == "identity" and m.subject)
        found = sorted((m.body, m.id) for m in mine if content_words(m.subject) <= words)
        yield from (id_ for _, id_ in found[:PER_NAME])


def _weights(memories: Mapping[str, Memory]) -> dict[str, dict[str, float]]:
    """Return the words of each memory with their weights: rare words and subjects count more."""
    subjects = {id_: content_words(m.subject) for id_, m in memories.items()}
    words = {id_: content_words(m.body) | subjects[id_] for id_, m in memories.items()}
    count: dict[str, int] = defaultdict(int)
    for some in words.values():
        for word in some:
            count[word] += 1
    return {
        id_: {
            word: math.log(1 + len(words) / count[word])
            * (SUBJECT_WEIGHT if word in subjects[id_] else 1.0)
            for word in some
        }
        for id_, some in words.items()
    }


def _alike(
    text: str, weights: Mapping[str, Mapping[str, float]], holders: Mapping[str, Collection[str]]
) -> Iterator[tuple[float, str]]:
    """Yield (score, id) for the memories that share enough words with a text.

    The score is the weight of the shared words times their share of the memory's weight, so a
    memory that a text repeats comes before one that has a few words of a long text.
    """
    shared: dict[str, list[float]] = defaultdict(list)
    for word in content_words(text):
        for id_ in holders.get(word, ()):
            shared[id_].append(weights[id_][word])
    for id_, common in shared.items():
        weight, whole = sum(common), sum(weights[id_].values())
        if len(common) >= min(MIN_SHARED, len(weights[id_])) and weight >= MIN_COVER * whole:
            yield weight * weight / whole, id_


def short_ids(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return memories by short ids, in order of subject and day, else of their texts."""
    ordered = sorted(memories, key=lambda m: (m.subject, m.captured[:10], m.body, m.type))
    return {f"m{n}": memory for n, memory in enumerate(ordered, start=1)}
