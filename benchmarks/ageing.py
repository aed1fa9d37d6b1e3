"""A run in which ten memories come to rest, where many more stand and where few do."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import START, filled, memories
from memrepo.core.times import format_time
from memrepo.policies.rules import ArchiveRules

MOVED = 10
TIMES = 10
"""So many times more memories stand in the larger repository."""
BOUND = 3


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Time the same ten archivings, a memory an hour old each, in two repositories by turns."""
    return [_compared(folder / f"{count}", count, sizes.turns) for count in sizes.aged]


def _compared(folder: Path, count: int, times: int) -> Ratio:
    folder.mkdir()
    machine = Machine(folder)
    few, many = folder / "few", folder / "many"
    filled(machine, few, memories(max(1, count // TIMES)))
    filled(machine, many, memories(count))
    turns = {"few": itertools.count(1), "many": itertools.count(1)}

    def run(where: Path) -> float:
        hours = MOVED * next(turns[where.name])
        now = format_time(START + ArchiveRules().after + timedelta(hours=hours))
        return timed(lambda: machine.memrepo("--now", now, "run", where=where))

    run(few), run(many)  # the first one renders every page
    found = medians_s(times, few=lambda: run(few), many=lambda: run(many))
    return Ratio(
        name=f"run that moves {MOVED} / with a {TIMES}th of the memories",
        ratio=found["many"] / found["few"],
        bound=BOUND,
        count=count,
        turns=times,
    )
