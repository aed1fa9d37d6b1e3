"""Joining many memories field by field, against git's own line merge of the same files.

Each memory was changed on both sides, in fields and lines that do not touch, so that git's line
merge succeeds too. Both make a merge commit and write the work tree.
"""

from __future__ import annotations

import itertools
import shutil
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import START, memories
from memrepo.actions.landing import prepare
from memrepo.actions.sync.join import sides_of
from memrepo.core.changes import Create, Plan, Step, Update
from memrepo.core.messages import Context
from memrepo.store.repo import Repository, open_repository
from memrepo.store.stream import Chain, NewCommit

THEIRS = "refs/heads/theirs"


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Merge two branches that changed the same memories, by turns with `git merge`."""
    machine = Machine(folder)
    base = folder / "base"
    machine.memrepo("init", str(base), where=folder)
    with open_repository(base) as store:
        _branches(store, sizes.commits)
    # In the copies git's own line merge is asked for: no driver, and no `-merge`.
    (base / ".git/info/attributes").write_text("*.md merge=text\n", encoding="utf-8")
    numbers = itertools.count()

    def fresh() -> Path:
        return Path(shutil.copytree(base, folder / f"copy-{next(numbers)}"))

    def ours() -> float:
        where = fresh()
        with open_repository(where) as store:
            taken = timed(lambda: _merge(store))
        shutil.rmtree(where)
        return taken

    def lines() -> float:
        where = fresh()
        # Our hooks are no part of git's own time.
        git = ("git", "-c", "core.hooksPath=/dev/null", "-c", "pull.twohead=ort")
        words = (*git, "merge", "--quiet", "--no-edit", "theirs")
        taken = timed(lambda: machine.run(*words, where=where))
        shutil.rmtree(where)
        return taken

    found = medians_s(sizes.turns, ours=ours, lines=lines)
    return [
        Ratio(
            name="memories joined by field / git merge by line",
            ratio=found["ours"] / found["lines"],
            bound=4,
            count=sizes.commits,
            turns=sizes.turns,
        ),
    ]


def _branches(store: Repository, count: int) -> None:
    """Make the memories, then change each on `theirs` and on the branch."""
    made = memories(count)
    body = "\n\n".join(f"Paragraph {n} of what is known." for n in range(4))
    first = Step(
        op="create",
        what="memories",
        changes=tuple(Create(memory=replace(m, body=f"{m.body}\n\n{body}")) for m in made),
    )
    base = _land(store, first, 0)
    _land(store, _step("theirs", [Update(id=m.id, fields={"confidence": 0.5}) for m in made]), 1)
    store.repo.git.update_ref(THEIRS, "HEAD")
    store.repo.git.reset(base, hard=True, quiet=True)
    _land(
        store,
        _step("ours", [Update(id=m.id, body=f"{m.body}\n\n{body}\n\nA last one.") for m in made]),
        2,
    )


def _step(what: str, changes: list[Update]) -> Step:
    return Step(op="edit", what=what, changes=tuple(changes))


def _land(store: Repository, step: Step, hours: int) -> str:
    head = store.head()
    plan = Plan(base=head, steps=(step,))
    state = store.snapshot(head).state()
    when = START + timedelta(hours=hours)
    landing = prepare(store, state, plan, Context(actor="memrepo/0"), when)
    return store.land(landing.chain, f"benchmark-{hours}")


def _merge(store: Repository) -> None:
    head = store.head()
    merged = sides_of(store, head, store.resolve(THEIRS), ()).merged()
    chain = Chain(
        base=head,
        commits=[NewCommit(message="sync: joined\n", effect=merged.effect)],
        merge="sync: joined\n",
        when=START + timedelta(hours=3),
    )
    store.land(chain, "benchmark")
