"""Rank statements with a linear model over their words and form, and recognise shipped text.

The weights were trained on labelled statements (`benchmarks/judge`). They are loaded from
`learned.bin`: one line of JSON, then binary numbers. Each feature is the hash of a word, and only
words that occurred in at least three workspaces have a weight. Hashing a guessed word therefore
reveals nothing about the text of one workspace.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.read.thoughts import Unit

WEIGHTS = Path(__file__).with_name("learned.bin")
TEXT_LENGTH, CONTEXT_HEADINGS, WORD_LENGTH = 600, 2, 24
"""Limits of the model's input: characters of the text, innermost headings, characters of a word."""
WIDE_LENGTH = 3
"""Maximum length of the character runs that are read in scripts without blanks."""
SCALES = (1.0, 0.6, 0.7)
"""Relative weights of the words, the words of the context, and the form."""
TEMPLATE_LENGTH = 12
"""Minimum length of a template line. A shorter line is too common to identify a template."""
_WORD = regex(r"\w+")
_DIGIT = regex(r"\d")
_NO_WORD = regex(r"\W+")
_WIDE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Features(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The model's input for a statement: hashes of words in text and context, and the form.

    `sizes` are the numbers of distinct hashes in text and context, including hashes without a
    weight.
    """

    text: frozenset[int]
    context: frozenset[int]
    sizes: tuple[int, int]
    form: tuple[str, ...]


class LearnedWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of the model. `rows` maps each feature's hash to a small integer.

    `step` is the factor that scales the integers. `templates` contains the hashes of lines that
    many workspaces share.
    """

    bias: float
    step: float
    rows: Mapping[int, int]
    templates: frozenset[int]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of the model's file, followed by ids, rows and templates as binary data."""

    bias: float
    step: float
    features: int
    templates: int


def features(unit: Unit, file_kind: str, section_kind: str, signs: Collection[str]) -> Features:
    """Return the model's input for a statement, with kinds and signs as in `read.kinds`."""
    context = " ".join((*unit.headings[-CONTEXT_HEADINGS:], unit.lead))
    size = min(7, max(0, len(unit.text).bit_length() - 3))
    text, around = _hashes("t", unit.text[:TEXT_LENGTH]), _hashes("c", context)
    return Features(
        text=text,
        context=around,
        sizes=(len(text), len(around)),
        form=(
            f"kind {file_kind}",
            f"section {section_kind}",
            f"shape {unit.kind}",
            f"size {size}",
            *(f"sign {sign}" for sign in sorted(signs)),
        ),
    )


def worth(found: Features) -> float:
    """Compute the log odds that an editor with little space would store a statement."""
    return score(found, weights())


def is_template(text: str, known: Collection[int] | None = None) -> bool:
    """Return whether at least half of a text's lines are template lines of many workspaces.

    `known` are the hashes of other lines than those of the model.
    """
    known = weights().templates if known is None else known
    lines = list(filter(None, map(line_hash, text.splitlines())))
    return bool(lines) and 2 * sum(one in known for one in lines) >= len(lines)


def line_hash(line: str) -> int:
    """Return the hash of a line without case and punctuation, or 0 if the line is too short."""
    plain = _NO_WORD.sub(" ", line.lower()).strip()
    return zlib.crc32(plain.encode()) if len(plain) >= TEMPLATE_LENGTH else 0


def form_hash(name: str) -> int:
    """Return the hash of a form feature, such as `shape item`."""
    return _hash("f" + name)


@cache
def weights() -> LearnedWeights:
    """Load the weights of the model."""
    line, _, body = WEIGHTS.read_bytes().partition(b"\n")
    head = msgspec.json.decode(line, type=Head)
    at = 4 * head.features
    ids = struct.unpack_from(f"<{head.features}I", body)
    numbers = struct.unpack_from(f"<{head.features}b", body, at)
    templates = struct.unpack_from(f"<{head.templates}I", body, at + head.features)
    return LearnedWeights(
        bias=head.bias,
        step=head.step,
        rows=dict(zip(ids, numbers, strict=True)),
        templates=frozenset(templates),
    )


def score(found: Features, model: LearnedWeights) -> float:
    """Return the logit of a statement."""
    groups: tuple[tuple[Iterable[int], float], ...] = (
        (found.text, SCALES[0] / max(1, found.sizes[0]) ** 0.5),
        (found.context, SCALES[1] / max(1, found.sizes[1]) ** 0.5),
        (map(form_hash, found.form), SCALES[2]),
    )
    total = sum(scale * sum(model.rows.get(one, 0) for one in group) for group, scale in groups)
    return model.bias + model.step * total


def _hashes(group: str, text: str) -> frozenset[int]:
    found: set[int] = set()
    for word in _WORD.findall(text.lower()):
        found.update(_word_hashes(group, word))
    return frozenset(found)


@lru_cache(maxsize=1 << 14)
def _word_hashes(group: str, word: str) -> tuple[int, ...]:
    """Return the hashes of a word: one hash, or one per short substring in a wide script."""
    word = _DIGIT.sub("0", word)[:WORD_LENGTH]
    if not _WIDE.search(word):
        return (_hash(group + word),)
    spans = range(1, WIDE_LENGTH + 1)
    return tuple(_hash(group + word[i : i + n]) for n in spans for i in range(len(word) - n + 1))


@lru_cache(maxsize=1 << 14)
def _hash(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "surrogatepass"))
