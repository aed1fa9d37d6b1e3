"""What many small runs take on disk, against the same history in one pack."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes
from benchmarks.memories import START, memories
from memrepo.actions.run.landing import prepare
from memrepo.core.changes import Create, Plan, Step, Write
from memrepo.core.messages import Context
from memrepo.store.audit import repack, space
from memrepo.store.repo import Repository, open_repository


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Land runs of one memory each, with a page and a manifest, and maintain after each."""
    machine = Machine(folder)
    machine.memrepo("init", str(folder / "repo"), where=folder)
    found = memories(sizes.commits)
    worst = 0
    with open_repository(folder / "repo") as store:
        for number, memory in enumerate(found):
            _land(store, number, Create(memory=memory))
            store.maintain()
            # The last tenth: while nearly all is there, at its worst moment.
            if number >= len(found) * 9 // 10:
                worst = max(worst, space(store.repo).taken)
    shutil.copytree(folder / "repo", folder / "packed")
    with open_repository(folder / "packed") as store:
        repack(store.repo)
        packed = space(store.repo).taken
    return [
        Ratio(
            name="objects after many small runs / repacked",
            ratio=worst / packed,
            bound=3,
            count=sizes.commits,
            turns=1,
        ),
    ]


def _land(store: Repository, number: int, change: Create) -> None:
    run = f"{START + timedelta(hours=number):%Y%m%dT%H%M%SZ}-{number:08x}"
    page = "\n".join(f"- line {n} of the page" for n in range(number + 1))
    steps = (
        Step(op="create", what="1 memory", changes=(change,)),
        Step(
            op="view",
            what="1 page",
            changes=(Write(path=store.layout.view("LTMEMORY.md"), data=page.encode()),),
        ),
        Step(
            op="run",
            what="manifest",
            changes=(
                Write(path=store.layout.manifest(run), data=b'{"run": "%s"}\n' % run.encode()),
            ),
        ),
    )
    head = store.head()
    landing = prepare(
        store,
        store.snapshot(head).state(),
        Plan(base=head, steps=steps),
        Context(actor="memrepo/0", run=run),
        START + timedelta(hours=number),
        merge=Step(op="run", what=f"{run}: 1 new"),
    )
    store.land(landing.chain, run)
