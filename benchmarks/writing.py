"""Many commits of one plan through the one writer, against the bare import of the same stream."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import START, memories
from memrepo.actions.landing import prepare
from memrepo.core.messages import Context
from memrepo.core.state import Create, Step
from memrepo.store.objects import Chain, write_stream
from memrepo.store.repo import Repository, open_repository


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Land a chain of one-file commits, played and checked out, by turns with the bare import."""
    machine = Machine(folder)
    base = folder / "base"
    machine.memrepo("init", str(base), where=folder)
    stream = folder / "stream"
    numbers = itertools.count()
    steps = tuple(
        Step(op="create", what=memory.slug, reason="to measure", changes=(Create(memory=memory),))
        for memory in memories(sizes.commits)
    )

    def fresh() -> Path:
        copy = folder / f"copy-{next(numbers)}"
        shutil.copytree(base, copy)
        return copy

    def chain(store: Repository) -> Chain:
        commit = store.head()
        state = store.snapshot(commit).state()
        return prepare(store, state, commit, steps, Context(actor="memrepo/0"), START).chain

    def ours() -> float:
        where = fresh()
        with open_repository(where) as store:
            taken = timed(lambda: store.land(chain(store), "benchmark"))
        shutil.rmtree(where)
        return taken

    def theirs() -> float:
        where = fresh()
        argv = ("git", "fast-import", "--quiet", "--done")
        taken = timed(lambda: machine.run(*argv, where=where, stdin=stream))
        shutil.rmtree(where)
        return taken

    with open_repository(base) as store, stream.open("wb") as out:
        write_stream(out, chain(store))
    found = medians_s(sizes.turns, ours=ours, theirs=theirs)
    return [
        Ratio(
            name="commits of one plan, landed / bare git fast-import",
            ratio=found["ours"] / found["theirs"],
            bound=3,
            count=sizes.commits,
            turns=sizes.turns,
        ),
    ]
