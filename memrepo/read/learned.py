"""Rank statements and predict their types with a linear model over their words and form.

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
FACT, TWICE = "fact", 1.0
"""The default type, and the bonus for a type that both sentence and heading state."""
STATED: Mapping[str, frozenset[str]] = {
    "preference": frozenset(("sign preference",)),
    "constraint": frozenset(("sign ban", "sign rule")),
    "decision": frozenset(("sign decision", "section decision")),
    "lesson": frozenset(("sign lesson", "section lesson")),
    "procedure": frozenset(
        {"shape steps", "shape section", "shape code", "shape card"}
        | {"sign rule", "section rule", "kind tools"}
    ),
    "identity": frozenset(("sign identity", "section person", "kind profile")),
}
"""The features that state each type. A statement with none of a type's features cannot have it."""
HEADED = {kind: f"section {kind}" for kind in ("preference", "decision", "lesson")} | {
    "identity": "section person"
}
PASSING = frozenset(("sign done", "sign ticked", "section plan", "section status"))
"""Features of done work, plans and status. They state no preference, rule or decision."""
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
    """The weights of the model. `rows` maps each feature's hash to one small integer per output.

    The first output is the worth, and the others are the logits of `types`. `steps` is the factor
    that scales the integers of each output. `templates` contains the hashes of lines that many
    workspaces share.
    """

    types: tuple[str, ...]
    bias: tuple[float, ...]
    steps: tuple[float, ...]
    rows: Mapping[int, tuple[int, ...]]
    templates: frozenset[int]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of the model's file, followed by ids, rows and templates as binary data."""

    types: tuple[str, ...]
    bias: tuple[float, ...]
    steps: tuple[float, ...]
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
    return scores(found, weights(), outputs=1)[0]


def type_scores(found: Features) -> dict[str, float]:
    """Map each type that the model knows to its logit."""
    model = weights()
    return dict(zip(model.types, scores(found, model)[1:], strict=True))


def stated_type(found: Features, logits: Mapping[str, float]) -> str:
    """Return the likeliest type among the types that a statement expresses."""
    form = frozenset(found.form)
    if "sign open_box" in form:
        return "commitment"
    best, most = FACT, logits.get(FACT, 0.0)
    for kind, signs in STATED.items():
        passing = kind in ("preference", "constraint", "decision") and form & PASSING
        if passing or not form & signs or kind not in logits:
            continue
        twice = HEADED.get(kind) in form and f"sign {kind}" in form
        logit = logits[kind] + TWICE * twice
        if logit > most:
            best, most = kind, logit
    return best


def is_template(text: str, templates: Collection[int] | None = None) -> bool:
    """Return whether at least half of a text's lines are template lines of many workspaces."""
    known = weights().templates if templates is None else templates
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
    width, at = len(head.steps), 4 * head.features
    ids = struct.unpack_from(f"<{head.features}I", body)
    end = at + width * head.features
    rows = struct.iter_unpack(f"<{width}b", body[at:end])
    templates = struct.unpack_from(f"<{head.templates}I", body, end)
    return LearnedWeights(
        types=head.types,
        bias=head.bias,
        steps=head.steps,
        rows=dict(zip(ids, rows, strict=True)),
        templates=frozenset(templates),
    )


def scores(found: Features, model: LearnedWeights, outputs: int | None = None) -> list[float]:
    """Return the logits of a model's outputs. If `outputs` is given, return only the first ones."""
    total = list(model.bias[:outputs])
    groups: tuple[tuple[Iterable[int], float], ...] = (
        (found.text, SCALES[0] / max(1, found.sizes[0]) ** 0.5),
        (found.context, SCALES[1] / max(1, found.sizes[1]) ** 0.5),
        (map(form_hash, found.form), SCALES[2]),
    )
    for hashes, scale in groups:
        known = [row for one in hashes if (row := model.rows.get(one)) is not None]
        for at in range(len(total)):
            total[at] += scale * model.steps[at] * sum([row[at] for row in known])
    return total


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
