"""A whole run in one process, against a pipeline that starts an interpreter for each stage.

The stub stages import what any stage needs and do nothing. memory-purifier, whose two passes
memrepo's purifier follows, starts 5 processes for a run with nothing new, and 12 for a published
one.
"""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed

STAGE = "import argparse, json, hashlib, zoneinfo"
IDLE, PUBLISHED = 5, 12


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Run with nothing new and with many new units, by turns with the stub pipelines."""
    machine = Machine(folder)
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "RTMEMORY.md").write_text("# Lessons\n", encoding="utf-8")
    machine.memrepo("init", str(folder / "empty"), "--from", str(workspace), where=folder)
    lines = [
        f"- Depot {n} of the harbour line opens at {n % 24:02}:15." for n in range(sizes.units)
    ]
    text = "# Memory\n\n## Depots (2026-01-10)\n\n" + "\n".join(lines) + "\n"
    (workspace / "MEMORY.md").write_text(text, encoding="utf-8")
    settled = folder / "settled"
    shutil.copytree(folder / "empty", settled)
    machine.memrepo("run", where=settled)
    numbers = itertools.count()

    def stages(count: int) -> float:
        return timed(lambda: [machine.python(STAGE, where=folder) for _ in range(count)])

    def run() -> float:
        where = folder / f"copy-{next(numbers)}"
        shutil.copytree(folder / "empty", where)
        taken = timed(lambda: machine.memrepo("run", where=where))
        shutil.rmtree(where)
        return taken

    found = medians_s(
        sizes.turns,
        idle=lambda: timed(lambda: machine.memrepo("run", where=settled)),
        five=lambda: stages(IDLE),
        run=run,
        twelve=lambda: stages(PUBLISHED),
    )
    return [
        Ratio(
            name=f"run with nothing new / {IDLE} bare stages",
            ratio=found["idle"] / found["five"],
            bound=1 / 3,
            count=0,
            turns=sizes.turns,
        ),
        Ratio(
            name=f"run with new units / {PUBLISHED} bare stages",
            ratio=found["run"] / found["twelve"],
            bound=1 / 2,
            count=sizes.units,
            turns=sizes.turns,
        ),
    ]
