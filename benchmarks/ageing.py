"""A run in which ten memories come to rest, where many more stand and where few do."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import START, memories
from memrepo.commands.landing import prepare
from memrepo.core.changes import Create, Plan, Step
from memrepo.core.messages import Context
from memrepo.core.times import format_time
from memrepo.policies.archive import ArchiveRules
from memrepo.store.repo import open_repository

MOVED = 10
TIMES = 10
"""So many times more memories stand in the larger repository."""
BOUND = 3


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Time the same ten archivings, a memory an hour old each, in two repositories by turns."""
    machine = Machine(folder)
    few, many = folder / "few", folder / "many"
    _fill(machine, few, max(1, sizes.memories // TIMES))
    _fill(machine, many, sizes.memories)
    turns = {"few": itertools.count(1), "many": itertools.count(1)}

    def run(where: Path) -> float:
        hours = MOVED * next(turns[where.name])
        now = format_time(START + ArchiveRules().after + timedelta(hours=hours))
        return timed(lambda: machine.memrepo("--now", now, "run", where=where))

    run(few), run(many)  # the first one renders every page
    found = medians_s(sizes.turns, few=lambda: run(few), many=lambda: run(many))
    return [
        Ratio(name=f"run that moves {MOVED} / with a {TIMES}th of the memories",
              ratio=found["many"] / found["few"], bound=BOUND, count=sizes.memories,
              turns=sizes.turns),
    ]  # fmt: skip


def _fill(machine: Machine, where: Path, count: int) -> None:
    machine.memrepo("init", str(where), where=where.parent)
    with open_repository(where) as store:
        head = store.head()
        changes = tuple(Create(memory=memory) for memory in memories(count))
        landing = prepare(
            store, store.snapshot(head).state(),
            Plan(base=head, steps=(Step(op="create", what=f"{count} memories", changes=changes),)),
            Context(actor="memrepo/0", run="20260101T000000Z-00000000"), START,
            merge=Step(op="run", what=f"{count} new"),
        )  # fmt: skip
        store.land(landing.chain, "filled")
