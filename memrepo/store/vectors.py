"""Vectors of memories, stored by blob, and their similarity to a question.

Vectors are stored in a memory-mapped array in the git directory. A text is embedded once. Vectors
are only appended, and a row is valid once its key is recorded, so a process that dies leaves no
invalid rows.
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
from memrepo.policies.ranking import Likeness
from memrepo.store.embedder import Embedder
from memrepo.store.tables import Indexed, texts

Key = tuple[str, int]
"""The blob of a memory, and the number of the text chunk."""
BATCH = 64
EXACT = 100_000
"""Number of rows above which only signs are compared first.

The best rows are then compared exactly.
"""
RESCORED = 1_000
_TABLE = (
    "CREATE TABLE IF NOT EXISTS row (blob TEXT, part INTEGER, at INTEGER, PRIMARY KEY (blob, part))"
)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The stored vectors of one model. `name` identifies the model and the rules for chunking."""

    folder: Path
    name: str
    dims: int

    @property
    def array(self) -> Path:
        """Return the path of the vector file, which contains one float32 row per vector."""
        return self.folder / f"vectors-{self.name}.f32"

    @property
    def signs(self) -> Path:
        """Return the path of the sign file, which contains one bit per vector component."""
        return self.folder / f"vectors-{self.name}.bits"

    @property
    def keys(self) -> Path:
        """Return the path of the database that maps the keys of texts to rows of vectors."""
        return self.folder / f"vectors-{self.name}.sqlite3"

    def rows(
        self, wanted: Sequence[Key], embed: Callable[[Sequence[Key]], object]
    ) -> Mapping[Key, int]:
        """Return the row of each key. Embed and append missing texts in batches.

        Damaged files are deleted and rebuilt. Raises OSError or sqlite3.OperationalError if the
        folder is not writable.
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
                # Rows from here on were lost with a truncated file. Their keys must not point to
                # new rows.
                base.execute("DELETE FROM row WHERE at >= ?", (first,))
                base.executemany(
                    "REPLACE INTO row VALUES (?, ?, ?)",
                    [(*key, first + i) for i, key in enumerate(batch)],
                )
                base.execute("COMMIT")
            return self._known(base) if missing else known

    def known(self) -> Mapping[Key, int]:
        """Return {key: row} of the stored keys, or an empty dict if the database is damaged."""
        try:
            with closing(sqlite3.connect(self.keys, timeout=10.0)) as base:
                return self._known(base)
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            return {}

    def _known(self, base: sqlite3.Connection) -> dict[Key, int]:
        """Return {key: row} of the recorded rows that exist in both vector files."""
        whole = min(self._whole(self.array, self.dims * 4), self._whole(self.signs, self._bytes))
        found = base.execute("SELECT blob, part, at FROM row WHERE at < ?", (whole,))
        return {(blob, part): at for blob, part, at in found}

    @property
    def _bytes(self) -> int:
        return -(-self.dims // 8)

    def _whole(self, path: Path, width: int) -> int:
        return path.stat().st_size // width if path.exists() else 0

    def _append(self, vectors: Any) -> int:
        """Append vectors after the last row complete in both files. Return the first new row."""
        import numpy as np

        first = min(self._whole(self.array, self.dims * 4), self._whole(self.signs, self._bytes))
        signs = np.packbits(vectors > 0, axis=1)
        for path, data in ((self.array, vectors.astype(np.float32)), (self.signs, signs)):
            with path.open("ab") as handle:
                handle.truncate(first * data[0].nbytes)
                handle.write(data.tobytes())
        return first

    def nearest(self, query: Any, rows: Sequence[int], count: int) -> list[tuple[int, float]]:
        """Return (position in `rows`, cosine) pairs of the vectors most similar to the query."""
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
"""Maximum number of documents found by meaning only."""
LEAST = 0.25
"""Minimum cosine for a document found by meaning."""
Row = tuple[int, str, str, int]
"""The number, path, blob and part of a document."""


class Meanings(msgspec.Struct, frozen=True, kw_only=True):
    """An embedding model and the stored vectors of the indexed content."""

    wanted: Indexed
    embedder: Embedder
    kept: Kept

    @classmethod
    def of(cls, folder: Path, wanted: Indexed, embedder: Embedder) -> Meanings:
        """Return the vectors stored in a folder for a model and the current rules for chunking."""
        name = f"{embedder.name}-{text_hash(repr(wanted.chunking))[-8:]}"
        kept = Kept(folder=folder, name=name, dims=embedder.dims)
        return cls(wanted=wanted, embedder=embedder, kept=kept)

    def lacks(self, documents: Sequence[Row]) -> bool:
        """Return whether any indexed document lacks a vector."""
        known = self.kept.known()
        return any((blob, part) not in known for _, _, blob, part in documents)

    def embed(self, documents: Sequence[Row]) -> None:
        """Compute any missing vectors. Call the indexed content's `tick` for each one.

        Raises OSError or sqlite3.OperationalError if the folder is not writable.
        """
        paths = {(blob, part): path for _, path, blob, part in documents}
        self.kept.rows(list(paths), _embed(self.wanted, self.embedder, paths))

    def like(self, documents: Sequence[Row], question: str) -> Likeness:
        """Return a function that scores how similar documents are to a question, for ranking."""
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
    """Return the text to embed for a chunk, with the memory's title and subject as context."""
    return "\n".join(filter(None, (memory.text("title"), memory.text("subject"), part)))
