"""Which statements last? Fit on all workspaces but one, and test on that one.

The weights of a daily log's signs are fitted, and the strength from which a statement is kept is
chosen, for daily logs and for other files; each is tested on the workspace that was left out. The
last table puts both together and counts every labelled line, as one reads what is kept at all.

    python -m benchmarks.lasting WORKSPACES UNITS LABELS

WORKSPACES holds a folder a workspace, UNITS and LABELS a file `NAME.jsonl` for each: a unit has
`id`, `file` and `lines`, a label `id` and `keep` (durable, dated or noise). What is read stays
where it is.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from memrepo.judges.lasting import DAILY_WEIGHTS, traits

from memrepo.core.judge import Candidate
from memrepo.judges.offline import DEFER_BELOW
from memrepo.judges.scores import score
from memrepo.purify.gather import gather
from memrepo.purify.intake import Reader, SourceText, take_in
from memrepo.purify.sources import SourceRules, kind_of

STEPS, RATE, RIDGE = 800, 0.75, 1.0
CUTS = (0.5, 0.0, -0.25, -0.5, -1.0)
STRENGTHS = tuple(round(0.05 * step, 2) for step in range(10, 51))
"""The strengths that are tried as the least that is kept."""
DATED = 0.7
"""What a dated line weighs in the fit: it is worth keeping, but in its note."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled line: its workspace, the signs it shows, its strength, and its label.

    `judged` is false where no candidate holds the line: nothing then keeps it.
    """

    workspace: str
    keep: str
    judged: bool = False
    signs: frozenset[str] = frozenset()
    daily: bool = False
    strength: float = 0.0


def rows(workspaces: Path, units: Path, labels: Path) -> Iterator[Row]:
    """Yield the labelled lines."""
    for file in sorted(labels.glob("*.jsonl")):
        name = file.stem
        keep = {one["id"]: one["keep"] for one in _records(file)}
        places = _places(workspaces / name)
        for unit in _records(units / file.name):
            if unit["id"] not in keep:
                continue
            first, last = unit["lines"]
            spans = places.get(unit["file"], ())
            found = next((c for (a, b), c in spans if a <= last and first <= b), None)
            if found is None:
                yield Row(workspace=name, keep=keep[unit["id"]])
                continue
            yield Row(
                workspace=name,
                keep=keep[unit["id"]],
                judged=True,
                signs=frozenset(traits(found)) if found.daily else frozenset(),
                daily=found.daily,
                strength=score(found)[0].strength,
            )


def _records(file: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, filter(None, file.read_text("utf-8").split("\n")))


def _places(root: Path) -> dict[str, list[tuple[tuple[int, int], Candidate]]]:
    """Return, by file, the candidates and their lines."""
    rules, texts, blobs = SourceRules(), [], {}
    for path in sorted(p for p in root.rglob("*.md") if p.is_file() and not p.is_symlink()):
        name = path.relative_to(root).as_posix()
        kind = kind_of(name, rules)
        if kind is not None:
            blobs[name] = path.read_bytes()
            texts.append(
                SourceText(name=name, resource=name, blob=name, kind=kind, committed="2026-01-01")
            )
    taken = take_in(texts, {}, Reader(texts, blobs.__getitem__), whole=False)
    found: dict[str, list[tuple[tuple[int, int], Candidate]]] = {}
    for candidate in gather(taken.placed).candidates:
        for source in candidate.sources:
            found.setdefault(source.resource, []).append((source.lines, candidate))
    return found


def fitted(train: Sequence[Row]) -> tuple[float, dict[str, float]]:
    """Return bias and weights of a logistic regression on the signs, by gradient descent."""
    bias, weights = 0.0, dict.fromkeys(sorted(set().union(*(r.signs for r in train))), 0.0)
    for _ in range(STEPS):
        slope, slopes = 0.0, {name: RIDGE * weight for name, weight in weights.items()}
        for row in train:
            error = _likely(row, bias, weights) - (row.keep == "durable")
            error *= DATED if row.keep == "dated" else 1.0
            slope += error
            for name in row.signs:
                slopes[name] += error
        bias -= RATE * slope / max(len(train), 1)
        weights = {n: w - RATE * slopes[n] / len(train) for n, w in weights.items()}
    return bias, weights


def _logit(row: Row, bias: float, weights: dict[str, float]) -> float:
    return bias + sum(weights.get(name, 0.0) for name in row.signs)


def _likely(row: Row, bias: float, weights: dict[str, float]) -> float:
    return 1.0 / (1.0 + math.exp(-_logit(row, bias, weights)))


def f1(kept: Sequence[Row], every: Sequence[Row]) -> float:
    """Return F1 of keeping these rows; a dated one counts half as wrong as noise."""
    counts = Counter(row.keep for row in kept)
    durable = sum(row.keep == "durable" for row in every)
    weighed = counts["durable"] + counts["noise"] + 0.5 * counts["dated"]
    return 2 * counts["durable"] / (weighed + durable) if weighed + durable else 0.0


def chosen(train: Sequence[Row]) -> float:
    """Return the least strength to keep that does best on these rows; of equals the middle one."""
    by = {cut: f1([r for r in train if r.strength >= cut], train) for cut in STRENGTHS}
    best = [cut for cut in STRENGTHS if by[cut] == max(by.values())]
    return best[len(best) // 2]


def print_thresholds(every: Sequence[Row]) -> None:
    """Print the strength chosen without each workspace, and what it and ours keep of that one."""
    kept: list[Row] = []
    for left_out in sorted({row.workspace for row in every}):
        train = [row for row in every if row.workspace != left_out]
        test = [row for row in every if row.workspace == left_out]
        cut = chosen(train)
        own = [row for row in test if row.strength >= cut]
        ours = [row for row in test if row.strength >= DEFER_BELOW]
        kept += own
        print(f"  {left_out:9} {cut:4.2f}  F1 {f1(own, test):.2f}, in use {f1(ours, test):.2f}")
    ours = [row for row in every if row.strength >= DEFER_BELOW]
    print(
        f"  {'all':9} {chosen(every):4.2f}  F1 {f1(kept, every):.2f}, in use {f1(ours, every):.2f}"
    )


def best_cut(train: Sequence[Row], logits: Sequence[float]) -> float:
    """Return the logit from which these rows are best kept; of equals the middle one."""
    cuts = sorted({round(logit, 2) for logit in logits}) or [0.0]
    kept = {c: [r for r, logit in zip(train, logits, strict=True) if logit >= c] for c in cuts}
    by = {cut: f1(kept[cut], train) for cut in cuts}
    best = [cut for cut in cuts if by[cut] == max(by.values())]
    return best[len(best) // 2]


def kept_of(train: Sequence[Row], test: Sequence[Row]) -> list[Row]:
    """Return the rows of `test` that constants found on `train` keep."""
    logs = [row for row in train if row.daily]
    model = fitted(logs)
    cut = best_cut(logs, [_logit(row, *model) for row in logs])
    least = chosen([row for row in train if row.judged and not row.daily])
    return [
        row
        for row in test
        if row.judged and (_logit(row, *model) >= cut if row.daily else row.strength >= least)
    ]


def print_both(every: Sequence[Row]) -> None:
    """Print what is kept of each workspace by constants found on the others, and by ours."""
    print("\nall labelled lines: constants found without the workspace, and those in use")
    print(f"  {'':9} {'left out':>24}   {'in use':>24}")
    print(f"  {'':9} {'F1 recall noise day':>24}   {'F1 recall noise day':>24}")
    totals: list[Row] = []
    for left_out in sorted({row.workspace for row in every}):
        train = [row for row in every if row.workspace != left_out]
        test = [row for row in every if row.workspace == left_out]
        own = kept_of(train, test)
        totals += own
        print(f"  {left_out:9} {_shares(own, test)}   {_shares(_ours(test), test)}")
    print(f"  {'all':9} {_shares(totals, every)}   {_shares(_ours(every), every)}")


def _ours(test: Sequence[Row]) -> list[Row]:
    return [row for row in test if row.judged and row.strength >= DEFER_BELOW]


def _shares(kept: Sequence[Row], every: Sequence[Row]) -> str:
    counts, total = Counter(row.keep for row in kept), Counter(row.keep for row in every)
    shares = (counts[keep] / max(total[keep], 1) for keep in ("durable", "noise", "dated"))
    return f"{f1(kept, every):6.2f}" + "".join(f"{share:6.2f}" for share in shares)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the weights, and what is kept at some cuts when each workspace is left out once."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    for name in ("workspaces", "units", "labels"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args(argv)
    found = list(rows(options.workspaces, options.units, options.labels))
    every = [row for row in found if row.daily]
    bias, weights = fitted(every)
    print(f"{'sign':18} {'fitted':>7} {'in use':>7}   (bias {bias:.2f})")
    for name in DAILY_WEIGHTS:
        print(f"{name:18} {weights.get(name, 0.0):7.2f} {DAILY_WEIGHTS[name]:7.2f}")
    tested: list[tuple[float, str]] = []
    for left_out in sorted({row.workspace for row in every}):
        train = [row for row in every if row.workspace != left_out]
        own = fitted(train)
        tested += [(_logit(r, *own), r.keep) for r in every if r.workspace == left_out]
    total = Counter(keep for _, keep in tested)
    print("\nleft out one workspace at a time:")
    for cut in CUTS:
        kept = Counter(keep for logit, keep in tested if logit >= cut)
        print(f"  {cut:5}  " + "  ".join(f"{k} {kept[k]}/{total[k]}" for k in sorted(total)))
    print(f"\nthe least strength kept, chosen without one workspace (in use {DEFER_BELOW}):")
    others = [row for row in found if row.judged and not row.daily]
    for what, some in (("daily logs", every), ("other files", others)):
        print(f" {what}")
        print_thresholds(some)
    print_both(found)


if __name__ == "__main__":
    main()
