"""`python -m benchmarks.plot`: draw what recall costs, from results.json, as docs/recall.svg."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from benchmarks.recalling import ASKED, BUILT, CAUGHT_UP, SCANNED, STARTED

RESULTS = Path(__file__).with_name("results.json")
PLOT = ROOT / "docs" / "recall.svg"
LINES = {
    BUILT: ("build / read and hash the files", "#8250df"),
    STARTED: ("memrepo search / bare start", "#0969da"),
    ASKED: ("warm question / FTS5 query", "#1a7f37"),
    SCANNED: ("warm question / scan of texts", "#bc4c00"),
    CAUGHT_UP: ("nothing changed / bare start", "#cf222e"),
}
"""The label and the colour of each ratio that is drawn; the colours can be read on dark too."""
WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 500, 48, 352
_LABEL = 17
"""The least distance between two labels."""
_HEAD = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
<title>What recall costs, as ratios to bare work, by number of memories</title>
<style>
text {{ font: 13px sans-serif; fill: #1f2328 }}
.grid {{ stroke: #8c959f; stroke-opacity: 0.35 }}
.one {{ stroke: #8c959f; stroke-dasharray: 4 4 }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} g {{ filter: brightness(1.5) }} }}
</style>
<text x="{LEFT}" y="24">times the bare work (both axes logarithmic; below 1 is faster)</text>"""

Curve = Sequence[tuple[int, float]]
"""Ratios by number of memories, the fewest first."""


def curves(ratios: Sequence[Mapping[str, Any]]) -> dict[str, Curve]:
    """Return the curve of each ratio that is drawn, of those that a record holds."""
    found = {
        name: sorted((one["count"], one["ratio"]) for one in ratios if one["name"] == name)
        for name in LINES
    }
    return {name: points for name, points in found.items() if points}


def apart(wanted: Sequence[float], least: float = _LABEL) -> list[float]:
    """Return heights in the order given that are `least` apart, none above where it was wanted."""
    placed = [0.0] * len(wanted)
    last = -math.inf
    for at in sorted(range(len(wanted)), key=lambda i: wanted[i]):
        last = placed[at] = max(wanted[at], last + least)
    return placed


def svg(drawn: Mapping[str, Curve]) -> str:
    """Draw curves, with the label of each at its end."""
    sizes = sorted({count for points in drawn.values() for count, _ in points})
    ratios = [ratio for points in drawn.values() for _, ratio in points]
    low, high = math.floor(math.log10(min(ratios))), math.ceil(math.log10(max(ratios)))

    def across(count: int) -> float:
        share = math.log(count / sizes[0]) / (math.log(sizes[-1] / sizes[0]) or 1)
        return round(LEFT + 24 + share * (RIGHT - LEFT - 48), 1)

    def up(ratio: float) -> float:
        return round(BOTTOM - (math.log10(ratio) - low) / (high - low or 1) * (BOTTOM - TOP), 1)

    parts = [_HEAD]
    for power in range(low, high + 1):
        y, kind = up(10.0**power), "grid" if power else "one"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{10.0**power:g}</text>')
    for count in sizes:
        x = across(count)
        parts.append(f'<text x="{x}" y="{BOTTOM + 20}" text-anchor="middle">{count:,}</text>')
    middle = (LEFT + RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{BOTTOM + 40}" text-anchor="middle">memories</text>')
    heights = apart([up(points[-1][1]) for points in drawn.values()])
    for (name, points), height in zip(drawn.items(), heights, strict=True):
        label, colour = LINES[name]
        row = [(across(count), up(ratio)) for count, ratio in points]
        way = " ".join(f"{x},{y}" for x, y in row)
        dots = "".join(f'<circle cx="{x}" cy="{y}" r="3.5"/>' for x, y in row)
        parts.append(
            f'<g fill="{colour}" stroke="{colour}">'
            f'<polyline points="{way}" fill="none" stroke-width="2"/>{dots}'
            f'<line x1="{row[-1][0]}" y1="{row[-1][1]}" x2="{RIGHT + 8}" y2="{height}"'
            f' stroke-opacity="0.5"/></g>'
        )
        told = f"{label}: {points[-1][1]:g}"
        parts.append(f'<text x="{RIGHT + 14}" y="{height + 4}">{told}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    """Draw what the record holds."""
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    PLOT.write_text(svg(curves(record["ratios"])), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
