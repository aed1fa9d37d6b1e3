"""Record docs/undo.cast and docs/undo.svg: one bad night, seen and taken back by the real program.

The commands are played on the stage of the transcripts, by its clock; only the pace of typing and
reading is ours. `tests/transcripts.py --write` runs it; a test looks that both files are fresh.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import transcripts
from docs_parts import ROOT

CAST, PICTURE = ROOT / "docs" / "undo.cast", ROOT / "docs" / "undo.svg"
BEFORE = (
    "memrepo init memory --from agent",
    "cd memory",
    "memrepo run",
    "cp ../later/MEMORY.md ../agent/MEMORY.md",
)
"""What was before, and is not shown: a first night, and what the agent wrote since."""
SHOWN = (
    "memrepo run --report summary",
    "memrepo search editor Mara --type fact -k 1 --no-touch",
    "memrepo revert",
    "memrepo search editor Mara --type fact -k 1 --no-touch",
    "git log --graph --format=%s -6",
)
WIDTH = 100
KEY_S, ANSWER_S, READ_S = 0.04, 0.4, 2.0
PROMPT = "$ "
LINE, LEFT, TOP = 20, 16, 34
TITLE = "A terminal: a night replaces a memory, one command takes the night back"
STYLE = """<style>
rect { fill: #0d1117 }
text { font: 14px ui-monospace, monospace; fill: #e6edf3; white-space: pre }
.typed { fill: #79c0ff }
.on { opacity: 0; animation: on 0.01s linear forwards }
@keyframes on { to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { .on { opacity: 1; animation: none } }
</style>"""

Moment = tuple[float, str]
"""Seconds since the start, and what appears then on a line of its own."""


def recorded() -> list[tuple[str, tuple[str, ...]]]:
    """Play the night and return each command that is shown with its answer."""
    with tempfile.TemporaryDirectory(prefix="memrepo-recording-") as folder:
        stage = transcripts.Stage(Path(folder).resolve())
        stage.environment["COLUMNS"] = str(WIDTH)
        for command in BEFORE:
            stage.play(command)
        return [(command, stage.play(command)) for command in SHOWN]


def cut(line: str) -> str:
    """Return a line as a terminal of this width shows it."""
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def cast(played: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """Return an asciicast, version 2: a header, then events of time, kind and text."""
    header = {
        "version": 2,
        "width": WIDTH,
        "height": 30,
        "title": TITLE,
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/sh"},
    }
    events: list[tuple[float, str, str]] = []
    now = 0.5
    for command, answer in played:
        events.append((now, "o", PROMPT))
        for key in command:
            now += KEY_S
            events.append((now, "o", key))
        events.append((now, "o", "\r\n"))
        now += ANSWER_S
        events.append((now, "o", "".join(f"{cut(line)}\r\n" for line in answer)))
        now += READ_S
    rows = [header, *([round(at, 2), kind, text] for at, kind, text in events)]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def moments(text: str) -> list[Moment]:
    """Return the lines of a cast with the time at which each was whole."""
    found: list[Moment] = []
    line = ""
    for row in text.splitlines()[1:]:
        at, _, shown = json.loads(row)
        line += shown
        *whole, line = line.split("\r\n")
        found += [(at, one) for one in whole]
    return found


def svg(text: str) -> str:
    """Draw a cast: each line appears at its time; who wants no motion sees all of it."""
    lines = moments(text)
    width, height = 2 * LEFT + WIDTH * 8 + 44, TOP + LINE * len(lines)
    drawn = []
    for row, (at, line) in enumerate(lines):
        kind = "on typed" if line.startswith(PROMPT) else "on"
        y = TOP + LINE * row
        drawn.append(
            f'<text class="{kind}" style="animation-delay:{at:.2f}s" x="{LEFT}" y="{y}">'
            f"{escape(line)}</text>"
        )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    frame = f'<rect width="{width}" height="{height}" rx="8"/>'
    return "\n".join([head, f"<title>{TITLE}</title>", STYLE, frame, *drawn, "</svg>"]) + "\n"


def same(kept: str, found: str) -> bool:
    """Compare two recordings but for hashes, which hang on the versions of git and memrepo."""
    return re.sub(r"\b[0-9a-f]{7,40}\b", "#", kept) == re.sub(r"\b[0-9a-f]{7,40}\b", "#", found)


def main() -> int:
    """Write the recording anew, where something else is seen than before."""
    found = cast(recorded())
    if not CAST.exists() or not same(CAST.read_text(encoding="utf-8"), found):
        CAST.write_text(found, encoding="utf-8")
    PICTURE.write_text(svg(CAST.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
