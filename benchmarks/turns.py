"""Does Pass 1 strength tell turns that a gold observation cites from those that none cites?

A turn is judged as a bare text, and once more as standing under the turn before it. Neither the
log's format nor dialogue ids nor speakers' names are given.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from memrepo.core.judge import Candidate
from memrepo.judges.scores import score, signals

_ID = re.compile(r"D:?(\d+):0*(\d+)")
_SESSION = re.compile(r"session_(\d+)")
NEWTON_STEPS = 8
RIDGE = 1.0


@dataclass(frozen=True, slots=True)
class Turn:
    """What is said, what was said before it, and whether a gold observation cites it."""

    text: str
    before: str
    cited: bool

    def candidate(self, *, under: bool) -> Candidate:
        """Return the turn as Pass 1 sees it."""
        context = (self.before,) if under and self.before else ()
        return Candidate(candidate_id="turn", text=self.text, context=context)


def read(path: Path) -> dict[str, list[Turn]]:
    """Read the turns of each conversation of a LoCoMo file."""
    found = {}
    for sample in json.loads(path.read_bytes()):
        cited = _cited(sample["observation"])
        made: list[Turn] = []
        talk = sample["conversation"]
        for number in sorted(int(m[1]) for key in talk if (m := _SESSION.fullmatch(key))):
            before = ""
            for one in talk[f"session_{number}"] or ():
                made.append(Turn(one["text"], before, one["dia_id"] in cited))
                before = one["text"]
        found[sample["sample_id"]] = made
    return found


def _cited(observation: Any) -> frozenset[str]:
    facts = json.dumps(
        [fact[1] for session in observation.values() for by in session.values() for fact in by]
    )
    return frozenset(f"D{a}:{b}" for a, b in _ID.findall(facts))


def area(values: Sequence[float], wanted: Sequence[bool]) -> float:
    """Return the area under the ROC curve; equal values count half, one class alone gives 0.5."""
    ranked = sorted(zip(values, wanted, strict=True))
    yes, no = sum(wanted), len(wanted) - sum(wanted)
    if not yes or not no:
        return 0.5
    ranks, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        ranks += sum(hit for _, hit in ranked[at:end]) * (at + 1 + end) / 2
        at = end
    return (ranks - yes * (yes + 1) / 2) / (yes * no)


def areas(talks: dict[str, list[Turn]], *, under: bool) -> dict[str, float]:
    """Return the area that the judge's own strength reaches in each conversation."""
    return {
        name: area(
            [score(t.candidate(under=under))[0].strength for t in talk], [t.cited for t in talk]
        )
        for name, talk in talks.items()
    }


def left_out(talks: dict[str, list[Turn]], *, under: bool) -> dict[str, float]:
    """Return the area in each conversation with weights fitted on all the others.

    The features are the judge's signals, each with its own strength as value; a logistic
    regression finds a factor for each. It says what these signals can reach on text that no
    weight has seen, and so how far the written constants may owe to chance.
    """
    rows = {
        name: [
            ({s.code: _strength(s) for s in signals(t.candidate(under=under))}, t.cited)
            for t in talk
        ]
        for name, talk in talks.items()
    }
    codes = sorted({code for talk in rows.values() for found, _ in talk for code in found})
    found = {}
    for name, held in rows.items():
        train = [row for other, talk in rows.items() if other != name for row in talk]
        weights = _fit([[r.get(c, 0.0) for c in codes] for r, _ in train], [y for _, y in train])
        values = [
            sum(w * r.get(c, 0.0) for w, c in zip(weights, codes, strict=False)) for r, _ in held
        ]
        found[name] = area(values, [y for _, y in held])
    return found


def _strength(signal: Any) -> float:
    parts = (signal.durability, signal.judgement, signal.action, signal.identity)
    return float(sum(parts) + signal.persistence - signal.noise)


def _fit(rows: Sequence[Sequence[float]], wanted: Sequence[bool]) -> list[float]:
    """Fit a logistic regression with a ridge by Newton's method; the last weight is the bias."""
    size = len(rows[0]) + 1 if rows else 1
    weights = [0.0] * size
    for _ in range(NEWTON_STEPS if rows else 0):
        slope = [RIDGE * w for w in weights]
        curve = [[RIDGE * (a == b) for b in range(size)] for a in range(size)]
        for row, hit in zip(rows, wanted, strict=True):
            full = [(at, x) for at, x in enumerate((*row, 1.0)) if x]
            chance = 1 / (
                1 + math.exp(-max(-30.0, min(30.0, sum(weights[a] * x for a, x in full))))
            )
            for a, x in full:
                slope[a] += (chance - hit) * x
                for b, y in full:
                    curve[a][b] += chance * (1 - chance) * x * y
        step = _solve(curve, slope)
        weights = [w - s for w, s in zip(weights, step, strict=True)]
    return weights


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve a system of linear equations by elimination with pivots."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for at in range(size):
        best = max(range(at, size), key=lambda r: abs(rows[r][at]))
        rows[at], rows[best] = rows[best], rows[at]
        for other in range(at + 1, size):
            factor = rows[other][at] / rows[at][at]
            rows[other] = [x - factor * y for x, y in zip(rows[other], rows[at], strict=True)]
    found = [0.0] * size
    for at in reversed(range(size)):
        rest = sum(rows[at][b] * found[b] for b in range(at + 1, size))
        found[at] = (rows[at][size] - rest) / rows[at][at]
    return found


def report(talks: dict[str, list[Turn]]) -> str:
    """Render the areas, with text length as the measure to beat."""
    length = {
        n: area([len(t.text) for t in talk], [t.cited for t in talk]) for n, talk in talks.items()
    }
    lines = ["area under the ROC curve: turns cited by a gold observation"]
    for label, found in (
        ("text length", length),
        ("strength, text alone", areas(talks, under=False)),
        ("strength, under the turn before", areas(talks, under=True)),
        ("refitted leave-one-out, alone", left_out(talks, under=False)),
        ("refitted leave-one-out, under", left_out(talks, under=True)),
    ):
        each = " ".join(f"{value:.3f}" for value in found.values())
        lines.append(f"  {label:32} mean {mean(found.values()):.3f}   {each}")
    return "\n".join(lines)
