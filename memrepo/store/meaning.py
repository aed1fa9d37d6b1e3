"""Likeness of meaning: the vectors of what is indexed, against that of a question."""

from __future__ import annotations

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
    """What is indexed as vectors, and the files that keep them."""

    wanted: Indexed
    embedder: Embedder
    kept: Kept

    @classmethod
    def of(cls, folder: Path, wanted: Indexed, embedder: Embedder) -> Meanings:
        """Return what a folder keeps of a model's vectors, by the rules that texts are cut by."""
        name = f"{embedder.name}-{text_hash(repr(wanted.chunking))[-8:]}"
        kept = Kept(folder=folder, name=name, dims=embedder.dims)
        return cls(wanted=wanted, embedder=embedder, kept=kept)

    def lacks(self, documents: Sequence[Row]) -> bool:
        """Tell whether a document has no vector yet."""
        known = self.kept.known()
        return any((blob, part) not in known for _, _, blob, part in documents)

    def embed(self, documents: Sequence[Row]) -> None:
        """Make the vectors that are missing; `tick` of what is indexed is told of each.

        Raises OSError or sqlite3.OperationalError where the folder cannot be written.
        """
        paths = {(blob, part): path for _, path, blob, part in documents}
        self.kept.rows(list(paths), _embed(self.wanted, self.embedder, paths))

    def like(self, documents: Sequence[Row], question: str) -> Likeness:
        """Return how like a question the documents are, as ranking asks for it."""
        query = self.embedder.vectors([question])[0]
        rows = self.kept.known()
        places = {n: rows[b, p] for n, _, b, p in documents if (b, p) in rows}

        def nearest(numbers: Sequence[int], count: int) -> list[tuple[int, float]]:
            found = self.kept.nearest(query, [places[n] for n in numbers], count)
            return [(numbers[at], cosine) for at, cosine in found]

        def likeness(scored: Collection[int]) -> Mapping[int, float]:
            of_words = nearest([n for n in scored if n in places], len(scored))
            near = [(n, c) for n, c in nearest(list(places), NEAREST) if c >= LEAST]
            return dict([*of_words, *near])

        return likeness


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
