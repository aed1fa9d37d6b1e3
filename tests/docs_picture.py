"""Draw docs/night.svg: the graph that `git log` prints in docs/first-night.md, as a picture.

`tests/transcripts.py --write` runs it after the transcripts; a test looks that it is fresh.
"""

from __future__ import annotations

import sys
from xml.sax.saxutils import escape

import transcripts
from docs_parts import ROOT

PAGE, PICTURE = ROOT / "docs" / "first-night.md", ROOT / "docs" / "night.svg"
ROW, LANE, LEFT, TOP = 30, 14, 22, 26
COLOURS = {"revert": "#cf222e", "run": "#0969da", "supersede": "#bc4c00", "create": "#1a7f37"}
"""By the operation that a subject begins with; they can be read on dark too."""
OTHER = "#6e7781"
STYLE = """<style>
text { font: 14px ui-monospace, monospace; fill: #1f2328 }
path { fill: none; stroke: #8c959f; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } g { filter: brightness(1.5) } }
</style>"""
TITLE = "One night and its revert as git has them: a run is one merge of its decisions"


def graph() -> tuple[str, ...]:
    """Return what `git log --graph` prints on the page."""
    text = PAGE.read_text(encoding="utf-8")
    (found,) = (e for e in transcripts.exchanges(text) if e.command.startswith("git log --graph"))
    return found.answer


def svg(lines: tuple[str, ...]) -> str:
    """Draw lines of git's graph: a row a commit, lanes as git has them."""
    dots: list[str] = []
    edges: list[str] = []
    row = 0
    last: dict[int, int] = {}
    for line in lines:
        if "*" not in line:
            continue
        lane, y = line.index("*") // 2, TOP + ROW * row
        subject = line.split(" ", line[: line.index("*") + 1].count(" ") + 1)[-1].strip()
        x = LEFT + LANE * lane
        colour = COLOURS.get(subject.partition(":")[0], OTHER)
        dots.append(f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>')
        dots.append(f'<text x="{LEFT + LANE * 2 + 10}" y="{y + 5}">{escape(subject)}</text>')
        edges += _edges(last, lane, x, y)
        last = {lane: y} if lane == 0 else {**last, lane: y}
        row += 1
    width, height = LEFT + 90 + 9 * max(map(len, lines)), TOP + ROW * (row - 1) + 22
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    parts = [head, f"<title>{TITLE}</title>", STYLE, *edges, "<g>", *dots, "</g>", "</svg>"]
    return "\n".join(parts) + "\n"


def _edges(last: dict[int, int], lane: int, x: int, y: int) -> list[str]:
    """Return the lines that lead from a commit up to those that rest on it."""
    found = []
    for other, above in last.items():
        if lane == other or (lane == 0 and other == 1) or (lane == 1 and 1 not in last):
            from_x = LEFT + LANE * other
            half = (above + y) // 2
            bend = f"C {from_x} {half} {x} {half}" if from_x != x else "L"
            found.append(f'<path d="M {from_x} {above} {bend} {x} {y}"/>')
    return found


def main() -> int:
    """Write the picture anew."""
    PICTURE.write_text(svg(graph()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
