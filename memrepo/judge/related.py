"""Find the known memories that a model must see with the text that it reads."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable

from memrepo.core.ids import normalise
from memrepo.core.memory import Memory
from memrepo.judge.documents import Batch, blocks_of
from memrepo.judge.grounding import literals_of
from memrepo.text.words import content_words

PER_BLOCK = 5
"""Memories shown for the text under each heading."""
MAX_SHOWN = 120
"""Maximum memories shown with one question."""
SUBJECT_WEIGHT = 2.0
"""How much more a word of a memory's subject counts than another word."""


def related(
    memories: Iterable[Memory], batch: Batch, citing: Collection[str] = ()
) -> dict[str, Memory]:
    """Return the memories to show with a question, by short id.

    These are memories that cite removed lines (`citing` has their ids), those that contain a
    removed value, and for each block of the text those that share its rarest words.
    """
    every = {memory.id: memory for memory in memories}
    words = {id_: content_words(memory.body) for id_, memory in every.items()}
    subjects = {id_: content_words(memory.text("subject")) for id_, memory in every.items()}
    wanted: dict[str, float] = {id_: math.inf for id_ in citing if id_ in every}
    removed = [row for d in batch.files.values() for rows in d.removed.values() for row in rows]
    for value in {normalise(v) for row in removed for v in literals_of(row)}:
        wanted |= {i: math.inf for i, m in every.items() if value in normalise(m.body)}
    holders: dict[str, set[str]] = defaultdict(set)
    for id_ in every:
        for word in words[id_] | subjects[id_]:
            holders[word].add(id_)
    for block in (*blocks_of(batch), *removed):
        scores: dict[str, float] = defaultdict(float)
        for word in content_words(block):
            ids = holders.get(word, set())
            weight = math.log(1 + len(every) / len(ids)) if ids else 0.0
            for id_ in ids:
                scores[id_] += weight * (SUBJECT_WEIGHT if word in subjects[id_] else 1.0)
        best = sorted(scores.items(), key=lambda one: (-one[1], every[one[0]].body))[:PER_BLOCK]
        for id_, score in best:
            wanted[id_] = max(score, wanted.get(id_, 0.0))
    chosen = sorted(wanted, key=lambda id_: (-wanted[id_], every[id_].body))[:MAX_SHOWN]
    return short_ids(every[id_] for id_ in chosen)


def short_ids(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return memories by short ids, in an order that depends only on their texts."""
    ordered = sorted(memories, key=lambda memory: (memory.body, memory.type))
    return {f"m{n}": memory for n, memory in enumerate(ordered, start=1)}
