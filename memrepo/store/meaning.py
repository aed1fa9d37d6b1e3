"""Likeness of meaning: the vectors of what is indexed, against that of a question."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core import codec
from memrepo.core.ids import text_hash
from memrepo.core.memory import Memory
from memrepo.policies.ranking import Likeness
from memrepo.store.embedding import Embedder
from memrepo.store.indexing import Indexed, texts
from memrepo.store.vectors import Kept, Key

NEAREST = 200
"""So many documents are hits by their meaning alone, where it is near enough."""
LEAST = 0.25
"""The cosine from which on a meaning is near."""
Row = tuple[int, str, str, int]
"""Number, path, blob and part of a document."""


class Meanings(msgspec.Struct, frozen=True, kw_only=True):
    """What is indexed as vectors: the files that keep them, and the row of each document there."""

    embedder: Embedder
    kept: Kept
    rows: Mapping[Key, int]

    def like(self, documents: Sequence[Row], question: str) -> Likeness:
        """Return how like a question the documents are, as ranking asks for it."""
        query = self.embedder.vectors([question])[0]
        places = {n: self.rows[b, p] for n, _, b, p in documents if (b, p) in self.rows}

        def nearest(numbers: Sequence[int], count: int) -> list[tuple[int, float]]:
            found = self.kept.nearest(query, [places[n] for n in numbers], count)
            return [(numbers[at], cosine) for at, cosine in found]

        def likeness(scored: Collection[int]) -> Mapping[int, float]:
            of_words = nearest([n for n in scored if n in places], len(scored))
            near = [(n, c) for n, c in nearest(list(places), NEAREST) if c >= LEAST]
            return dict([*of_words, *near])

        return likeness


def meanings(
    folder: Path, wanted: Indexed, embedder: Embedder, documents: Sequence[Row]
) -> Meanings | None:
    """Return the vectors of documents, made where they are not kept; None where none can be kept.

    `tick` of what is indexed is told of each that is made.
    """
    name = f"{embedder.name}-{text_hash(repr(wanted.chunking))[-8:]}"
    kept = Kept(folder=folder, name=name, dims=embedder.dims)
    paths = {(blob, part): path for _, path, blob, part in documents}
    try:
        return Meanings(
            embedder=embedder,
            kept=kept,
            rows=kept.rows(list(paths), _embed(wanted, embedder, paths)),
        )
    except (OSError, sqlite3.OperationalError):
        return None


def _embed(
    wanted: Indexed, embedder: Embedder, paths: Mapping[Key, str]
) -> Callable[[Sequence[Key]], Any]:
    def embed(batch: Sequence[Key]) -> Any:
        found = []
        for blob, part in batch:
            wanted.tick("memories embedded")
            memory, _ = codec.decode(paths[blob, part], wanted.read(paths[blob, part], blob))
            found.append(_said(memory, texts(memory, wanted.chunking)[part]) if memory else "")
        return embedder.vectors(found)

    return embed


def _said(memory: Memory, part: str) -> str:
    """Return what is embedded: a text says more beside its title and subject."""
    return "\n".join(filter(None, (memory.text("title"), memory.text("subject"), part)))
