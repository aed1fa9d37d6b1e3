"""`python -m benchmarks.judge [--measure]`: train the model of `memrepo.read.learned`, or test it.

Logistic regression with an L2 penalty, in plain Python:
the same rows give the same bytes. `--measure` trains with each workspace left out in turn and
prints how well the others' model orders the thoughts of that one.
"""

from __future__ import annotations

import argparse
import math
import struct
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks.judge.rows import MIN_WORKSPACES, Row, Rows, load
from memrepo.read import learned
from memrepo.read.kinds import kinds

COST = 3.0
"""How much an error costs against the size of the weights (the inverse of the penalty)."""
EPOCHS = 40
NEWTON_STEPS = 40

Vector = tuple[tuple[tuple[int, ...], float], ...]
"""Features that have one value each group."""


def vector(row: Row) -> Vector:
    """Return the features of a row with the values that `learned` gives them; 0 is the bias."""
    found, (text, context, form) = row.features, learned.SCALES
    return (
        (tuple(sorted(found.text)), text / math.sqrt(max(1, found.sizes[0]))),
        (tuple(sorted(found.context)), context / math.sqrt(max(1, found.sizes[1]))),
        (tuple(map(learned.form_hash, found.form)), form),
        ((0,), 1.0),
    )


def dot(weights: dict[int, float], of: Vector) -> float:
    """Return the sum of a row's weights; its order never varies."""
    total = 0.0
    for group, value in of:
        part = 0.0
        for one in group:
            part += weights.get(one, 0.0)
        total += value * part
    return total


def fit(
    vectors: Sequence[Vector], is_one: Sequence[bool], costs: Sequence[float]
) -> dict[int, float]:
    """Return the weights of a logistic regression, by coordinate ascent on its dual.

    Each row has a multiplier, which at the optimum is its cost times the probability of an error;
    the weights are the sum of the rows, each times its multiplier.
    """
    weights: dict[int, float] = {}
    multipliers = [0.0] * len(vectors)
    squares = [sum(len(group) * value * value for group, value in of) for of in vectors]
    for epoch in range(EPOCHS):
        for at in sorted(range(len(vectors)), key=lambda at: zlib.crc32(b"%d %d" % (epoch, at))):
            sign, cost = (1.0 if is_one[at] else -1.0), costs[at]
            margin, old = sign * dot(weights, vectors[at]), multipliers[at]
            new, low, high = old, 0.0, cost
            for _ in range(NEWTON_STEPS):
                chance = 1.0 / (1.0 + math.exp(margin + squares[at] * (new - old)))
                error = new - cost * chance
                if abs(error) < 1e-9:
                    break
                low, high = (low, new) if error > 0 else (new, high)
                new -= error / (1.0 + cost * squares[at] * chance * (1.0 - chance))
                if not low < new < high:
                    new = (low + high) / 2
            multipliers[at] = new
            for group, value in vectors[at]:
                change = sign * (new - old) * value
                for one in group:
                    weights[one] = weights.get(one, 0.0) + change
    return weights


def common(rows: Sequence[Row]) -> set[int]:
    """Return the features of at least three workspaces."""
    places: dict[int, set[int]] = {}
    for row in rows:
        for one in (
            *row.features.text,
            *row.features.context,
            *map(learned.form_hash, row.features.form),
        ):
            places.setdefault(one, set()).add(row.workspace)
    return {one for one, where in places.items() if len(where) >= MIN_WORKSPACES}


def train(data: Rows, left_out: int | None = None) -> learned.LearnedWeights:
    """Return the model, of all workspaces or of all but one."""
    rows = [row for row in data.rows if row.workspace != left_out]
    known = common(rows)
    vectors = [
        tuple(
            (tuple(one for one in group if one in known or not one), value) for group, value in of
        )
        for of in map(vector, rows)
    ]
    output = fit(vectors, [row.keep for row in rows], [COST * row.weight for row in rows])
    return quantised(output, frozenset(data.templates))


def quantised(output: dict[int, float], templates: frozenset[int]) -> learned.LearnedWeights:
    """Return a model whose weights are integers of one byte."""
    step = float(f"{max(abs(w) for one, w in output.items() if one) / 127:.6g}")
    numbers = {one: max(-127, min(127, round(output[one] / step))) for one in sorted(output) if one}
    return learned.LearnedWeights(
        bias=float(f"{output[0]:.4g}"),
        step=step,
        rows={one: number for one, number in numbers.items() if number},
        templates=templates,
    )


# -- measuring ---------------------------------------------------------------------------------


def structure(row: Row) -> float:
    """Return what `kinds.toml` gives a row: the file's prior, the section's and signs' weights."""
    table, total = kinds(), 0.0
    for name in row.features.form:
        group, _, of = name.partition(" ")
        if group == "kind":
            total += table.named(of).prior
        elif group == "section":
            total += table.sections.get(of, 0.0)
        elif group == "sign":
            total += table.signs.get(of, 0.0)
    return total


def average_precision(ranked: Sequence[bool]) -> float:
    """Return the mean precision at each kept one of a ranking."""
    found, total = 0, 0.0
    for at, is_kept in enumerate(ranked, 1):
        if is_kept:
            found += 1
            total += found / at
    return total / max(1, found)


def figures(rows: Sequence[Row], scores: Sequence[float]) -> str:
    """Return average precision, precision of the first 10, 20, 30 %, and the mean by workspace."""
    ranked = [rows[at].keep for at in sorted(range(len(rows)), key=lambda at: -scores[at])]
    first = [sum(ranked[: (n := len(rows) * q // 100)]) / n for q in (10, 20, 30)]
    each = []
    for number in sorted({row.workspace for row in rows}):
        own = [at for at, row in enumerate(rows) if row.workspace == number]
        if sum(rows[at].keep for at in own) >= 3:
            own.sort(key=lambda at: -scores[at])
            each.append(average_precision([rows[at].keep for at in own]))
    numbers = (average_precision(ranked), *first, sum(each) / len(each))
    return "  ".join(f"{number:.3f}" for number in numbers)


def measure(data: Rows) -> None:
    """Print how well the model does on workspaces that it has not seen."""
    rows: list[Row] = []
    scores: list[float] = []
    for number in sorted({row.workspace for row in data.rows}):
        model = train(data, number)
        for row in data.rows:
            if row.workspace != number:
                continue
            rows.append(row)
            scores.append(learned.score(row.features, model))
    worth = [at for at, row in enumerate(rows) if row.weight == 1.0]
    own = [rows[at] for at in worth]
    voices: dict[str, Callable[[int], float]] = {
        "structure": lambda at: structure(rows[at]),
        "model": lambda at: scores[at],
    }
    for share in (0.2, 0.3, 0.4, 0.5, 0.7, 1.0):
        voices[f"model + {share} structure"] = lambda at, share=share: (
            scores[at] + share * structure(rows[at])
        )
    print(f"{len(own)} statements: average precision, precision at 10/20/30 %, mean by workspace")
    for name, voice in voices.items():
        print(f"{name:22} {figures(own, [voice(at) for at in worth])}")


def encode(model: learned.LearnedWeights) -> bytes:
    """Return the bytes of a model's file."""
    head = learned.Head(
        bias=model.bias,
        step=model.step,
        features=len(model.rows),
        templates=len(model.templates),
    )
    ids, lines = sorted(model.rows), sorted(model.templates)
    numbers = [model.rows[one] for one in ids]
    return b"".join(
        (
            msgspec.json.encode(head) + b"\n",
            struct.pack(f"<{len(ids)}I", *ids),
            struct.pack(f"<{len(numbers)}b", *numbers),
            struct.pack(f"<{len(lines)}I", *lines),
        )
    )


def main() -> None:
    """Write the model, or print what it is worth."""
    parser = argparse.ArgumentParser(description="Train the model, or measure it.")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--to", type=Path, default=learned.WEIGHTS)
    given = parser.parse_args()
    data = load()
    if given.measure:
        measure(data)
        return
    written = encode(train(data))
    given.to.write_bytes(written)
    print(f"{given.to.name}: {len(written)} bytes of {len(data.rows)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
