"""Vectors of memories in a memory-mapped array, and their likeness to a question.

Vectors of memories, kept by blob in a memory-mapped array in the git directory, and their scan.

A text is embedded once. The array is only ever appended to, and a row counts when its key is on
record, so that a process that dies leaves nothing wrong behind it.

Likeness of meaning: the vectors of what is indexed, against that of a question.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core import codec
from memrepo.core.ids import text_hash
from memrepo.core.memory import Memory
from memrepo.policies.documents import Likeness
from memrepo.store.embedder import Embedder
from memrepo.store.tables import Indexed, texts

Key = tuple[str, int]
"""The blob of a memory, and which chunk of its text."""
BATCH = 64
EXACT = 100_000
"""From more rows on only signs are compared, and the likeliest rows then exactly."""
RESCORED = 1_000
_TABLE = (
    "CREATE TABLE IF NOT EXISTS row (blob TEXT, part INTEGER, at INTEGER, PRIMARY KEY (blob, part))"
)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The vectors of one model in a folder: `name` tells models and rules of cutting apart."""

    folder: Path
    name: str
    dims: int

    @property
    def array(self) -> Path:
        """Return the file of the vectors, float32, a row each."""
        return self.folder / f"vectors-{self.name}.f32"

    @property
    def signs(self) -> Path:
        """Return the file of their signs, a bit a number."""
        return self.folder / f"vectors-{self.name}.bits"

    @property
    def keys(self) -> Path:
        """Return the file that knows the row of each key."""
        return self.folder / f"vectors-{self.name}.sqlite3"

    def rows(
        self, wanted: Sequence[Key], embed: Callable[[Sequence[Key]], object]
    ) -> Mapping[Key, int]:
        """Return the row of each key; what has none is embedded and appended, batch by batch.

        A damaged record is begun again. Raises OSError or sqlite3.OperationalError where the folder
        cannot be written.
        """
        try:
            return self._rows(wanted, embed)
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            for path in (self.keys, self.array, self.signs):
                path.unlink(missing_ok=True)
            return self._rows(wanted, embed)

    def _rows(
        self, wanted: Sequence[Key], embed: Callable[[Sequence[Key]], object]
    ) -> Mapping[Key, int]:
        with closing(sqlite3.connect(self.keys, timeout=10.0, isolation_level=None)) as base:
            base.execute(_TABLE)
            known = self._known(base)
            missing = [key for key in wanted if key not in known]
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                vectors = embed(batch)
                base.execute("BEGIN IMMEDIATE")
                first = self._append(vectors)
                # What a cut file had from here on is gone: no other key may take its place for it.
                base.execute("DELETE FROM row WHERE at >= ?", (first,))
                base.executemany(
                    "REPLACE INTO row VALUES (?, ?, ?)",
                    [(*key, first + i) for i, key in enumerate(batch)],
                )
                base.execute("COMMIT")
            return self._known(base) if missing else known

    def known(self) -> Mapping[Key, int]:
        """Return the row of each key that has one; a damaged record has none."""
        try:
            with closing(sqlite3.connect(self.keys, timeout=10.0)) as base:
                return self._known(base)
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            return {}

    def _known(self, base: sqlite3.Connection) -> dict[Key, int]:
        """Return the rows on record that both files hold."""
        whole = min(self._whole(self.array, self.dims * 4), self._whole(self.signs, self._bytes))
        found = base.execute("SELECT blob, part, at FROM row WHERE at < ?", (whole,))
        return {(blob, part): at for blob, part, at in found}

    @property
    def _bytes(self) -> int:
        return -(-self.dims // 8)

    def _whole(self, path: Path, width: int) -> int:
        return path.stat().st_size // width if path.exists() else 0

    def _append(self, vectors: Any) -> int:
        """Append vectors behind the last whole row of both files; return the first new row."""
        import numpy as np

        first = min(self._whole(self.array, self.dims * 4), self._whole(self.signs, self._bytes))
        signs = np.packbits(vectors > 0, axis=1)
        for path, data in ((self.array, vectors.astype(np.float32)), (self.signs, signs)):
            with path.open("ab") as handle:
                handle.truncate(first * data[0].nbytes)
                handle.write(data.tobytes())
        return first

    def nearest(self, query: Any, rows: Sequence[int], count: int) -> list[tuple[int, float]]:
        """Return the places in `rows` whose vectors are nearest, with their cosines."""
        import numpy as np

        if not rows:
            return []
        vectors = np.memmap(self.array, dtype=np.float32, mode="r").reshape(-1, self.dims)
        at = np.asarray(rows)
        places = np.arange(len(at))
        if len(at) > EXACT:
            signs = np.memmap(self.signs, dtype=np.uint8, mode="r").reshape(-1, self._bytes)
            apart = signs[at] ^ np.packbits(query > 0)
            differing = np.unpackbits(apart, axis=1).sum(axis=1, dtype=np.int32)
            places = np.argpartition(differing, RESCORED)[:RESCORED]
        cosines = vectors[at[places]] @ query
        best = np.argsort(-cosines, kind="stable")[:count]
        return [(int(places[i]), float(cosines[i])) for i in best]


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
        """Return whether a document has no vector yet."""
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
) -> Callable[[Sequence[Key]], object]:
    def embed(batch: Sequence[Key]) -> object:
        found = []
        for blob, part in batch:
            wanted.tick("memories embedded")
            memory, _ = codec.decode(paths[blob, part], wanted.read(paths[blob, part], blob))
            found.append(_said(memory, texts(memory, wanted.chunking)[part]) if memory else "")
        return embedder.vectors(found)

    return embed


def _said(memory: Memory, part: str) -> str:
    """Return what is embedded: a text says more next to its title and subject."""
    return "\n".join(filter(None, (memory.text("title"), memory.text("subject"), part)))
