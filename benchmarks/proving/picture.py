"""Draw docs/benchmarks.svg from the kept tables: recall of each set, a bar for each way to ask."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from benchmarks.measure import ROOT
from benchmarks.proving.tables import Table, kept

PICTURE = ROOT / "docs" / "benchmarks.svg"
COLOURS = ("#0969da", "#8c959f", "#bc4c00", "#1a7f37", "#8250df", "#cf222e")
BAR, GAP, LEFT, RIGHT, TOP = 12, 16, 130, 640, 56
_STYLE = """<style>
text { font: 13px sans-serif; fill: #1f2328 }
.grid { stroke: #8c959f; stroke-opacity: 0.35 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } g { filter: brightness(1.5) } }
</style>"""
_TITLE = "Recall at 10 by set: the share of what answers a question that is among ten hits"

Bars = Mapping[str, Sequence[tuple[str, float]]]
"""By set, the ways to ask and the recall of each."""


def bars(tables: Mapping[str, Table]) -> Bars:
    """Return what is drawn: the table with peers, whose ways all got the same questions."""
    table = tables["peers"]
    ways = table.head[3:]
    return {
        str(row[0]): [
            (way, float(cell))
            for way, cell in zip(ways, row[3:], strict=True)
            if isinstance(cell, (int, float))
        ]
        for row in table.rows
    }


def svg(drawn: Bars) -> str:
    """Draw bars from 0 to 1, a group for each set."""
    ways = list(dict.fromkeys(way for rows in drawn.values() for way, _ in rows))
    colour = dict(zip(ways, COLOURS, strict=False))
    parts: list[str] = []
    x = LEFT
    for way in ways:
        parts.append(f'<g><rect x="{x}" y="14" width="12" height="12" fill="{colour[way]}"/></g>')
        parts.append(f'<text x="{x + 17}" y="25">{escape(way)}</text>')
        x += 40 + 8 * len(way)
    y = TOP
    for name, rows in drawn.items():
        middle = y + BAR * len(rows) / 2 + 5
        parts.append(f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">{escape(name)}</text>')
        for way, share in rows:
            wide = round(share * (RIGHT - LEFT), 1)
            parts.append(
                f'<g><rect x="{LEFT}" y="{y}" width="{wide}" height="{BAR - 2}"'
                f' fill="{colour[way]}"><title>{escape(way)}: {share:.3f}</title></rect></g>'
            )
            y += BAR
        y += GAP
    grid = []
    for tenth in range(0, 11, 2):
        at = LEFT + (RIGHT - LEFT) * tenth / 10
        grid.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP - 8}" y2="{y - 8}"/>')
        grid.append(f'<text x="{at}" y="{y + 8}" text-anchor="middle">{tenth / 10:g}</text>')
    size = f'viewBox="0 0 {max(RIGHT + 30, x)} {y + 20}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join([head, f"<title>{_TITLE}</title>", _STYLE, *grid, *parts, "</svg>", ""])


def main() -> int:
    """Draw what is kept."""
    PICTURE.write_text(svg(bars(kept())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
