"""Taking back a large run that is not the latest, against `git revert` of its merge."""

from __future__ import annotations

import itertools
import shutil
from datetime import timedelta
from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import START, memories
from memrepo.actions.landing import prepare
from memrepo.core.messages import Context
from memrepo.core.state import Create, Step, Write
from memrepo.store.repo import Repository, open_repository

RUN, NEXT = "20260101T000000Z-00000000", "20260101T010000Z-00000001"


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Revert a run of many memories below a smaller one, by turns with git."""
    machine = Machine(folder)
    base = folder / "base"
    machine.memrepo("init", str(base), where=folder)
    found = memories(sizes.commits + 1)
    with open_repository(base) as store:
        _land(store, RUN, 0, *(Create(memory=m) for m in found[:-1]))
        merge = store.head()
        _land(store, NEXT, 1, Create(memory=found[-1]))
    numbers = itertools.count()

    def taken(*argv: str) -> float:
        where = Path(shutil.copytree(base, folder / f"copy-{next(numbers)}"))
        if argv[0] == "git":
            seconds = timed(lambda: machine.run(*argv, where=where))
        else:
            seconds = timed(lambda: machine.memrepo(*argv, where=where))
        shutil.rmtree(where)
        return seconds

    medians = medians_s(
        sizes.turns,
        ours=lambda: taken("revert", RUN),
        git=lambda: taken(
            "git", "-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "-m", "1", merge
        ),
    )
    return [
        Ratio(
            name="run of many memories taken back / git revert",
            ratio=medians["ours"] / medians["git"],
            bound=15,
            count=sizes.commits,
            turns=sizes.turns,
        ),
    ]


def _land(store: Repository, run: str, hours: int, *changes: Create) -> None:
    head = store.head()
    steps = (
        Step(op="create", what=f"{len(changes)} memories", changes=changes),
        Step(
            op="run",
            what="manifest",
            changes=(
                Write(
                    path=store.layout.manifest(run),
                    data=b'{"run": "%s", "consumed": []}\n' % run.encode(),
                ),
            ),
        ),
    )
    landing = prepare(
        store,
        store.snapshot(head).state(),
        head,
        steps,
        Context(actor="memrepo/0", run=run),
        START + timedelta(hours=hours),
        merge=Step(op="run", what=f"{run}: {len(changes)} new"),
    )
    store.land(landing.chain, run)
