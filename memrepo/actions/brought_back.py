"""What a hand brought back that a person had rejected: out of recall, and named until it is gone.

Whatever way a file came in (by hand, by a commit without hooks, by a fast-forward), it is held
against the tombstones where it is read (`store.tree`, `store.held_back`).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from memrepo.actions.landing import prepare
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.changes import Plan, Step, Write
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import apply
from memrepo.merge.states import sweep
from memrepo.merge.tombstones import (
    REJECTED,
    Tombstone,
    brought_back,
    changed_by_hand,
    has_seal,
    is_tombstone,
    read_tombstone,
    tombstone_bytes,
)
from memrepo.store.light import changes


def back_by_hand(work: Work, since: str) -> tuple[Problem, ...]:
    """Return the files, committed or not, that say what a person rejected, and the way out.

    `since` is the commit up to which this clone looked at everything.
    """
    state = work.tree.state()
    committed = [p for p in state.problems if p.rule == REJECTED]
    found = (*committed, *uncommitted(work), *taken_away(work, since))
    return tuple({p.path: p for p in found}.values())


def taken_away(work: Work, since: str) -> Iterator[Problem]:
    """Yield the tombstones that commits by hand took away or changed, until they are put back."""
    for path, _ in _lost(work, since) if since not in ("", work.tree.commit) else ():
        yield Problem(
            path=path,
            rule="tombstone-edited",
            severity="warning",
            message="was taken away or changed by a commit by hand: the next write or sync puts it"
            " back",
            fix=f"`memrepo reject {_key_of(path)} --undo` after that, if it holds after all",
        )


def _key_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def uncommitted(work: Work) -> Iterator[Problem]:
    """Yield those of the work tree that are not committed."""
    stones = work.tree.stones
    if not stones:
        return
    layout = work.tree.layout
    yield from _changed_stones(work)
    for path, data in work.store.work.edits(layout.area("memories")).items():
        if data is None or not layout.is_memory(path):
            continue
        memory = codec.decode(path, data)[0]
        if memory is None or memory.status == "forgotten":
            continue
        if (stone := stones.bar(memory)) is not None:
            yield brought_back(memory, stone)


def _changed_stones(work: Work) -> Iterator[Problem]:
    """Yield the tombstones that a hand changed or took away and did not commit: they hold."""
    area = work.tree.layout.area("tombstones")
    for path, data in work.store.work.edits(area).items():
        if not is_tombstone(work.tree.layout, path):
            continue
        if data is None and path in work.tree.blobs:
            yield Problem(
                path=path,
                rule="tombstone-edited",
                severity="warning",
                message="was taken away by hand: what it rejects is kept out as before",
                fix=f"`git restore {path}`",
            )
        elif data is not None:
            before = work.tree.files.get(path, b"")
            problem = read_tombstone(path, data)
            if isinstance(problem, Problem):
                yield replace(problem, severity="warning")
            elif has_seal(before) and not has_seal(data):
                yield replace(changed_by_hand(path), severity="warning")


def put_back(work: Work, since: str) -> tuple[Problem, ...]:
    """Put the tombstones back that commits by hand took away or changed since a commit; tell them.

    A tombstone is lifted by `reject --undo` alone: else a removal without a hook, pulled, would
    bring what was rejected back on every machine.
    """
    at = work.refreshed()
    lost = dict(_lost(at, since)) if since not in ("", at.tree.commit) else {}
    if not lost:
        return ()
    before = at.tree.state()
    writes = tuple(Write(path=path, data=data) for path, data in lost.items())
    step = Step(
        op="reject",
        what=f"Put back {counted(len(lost), 'rejection', 'rejections')}",
        reason="a commit by hand removed or changed them; only `memrepo reject --undo` lifts one",
        changes=(*writes, *sweep(apply(before, writes))),
    )
    plan = Plan(base=at.tree.commit, steps=(step,))
    landing = prepare(at.store, before, plan, at.context(), work.call.now)
    commit = at.store.land(landing.chain, f"stones-{at.tree.commit[:10]}")
    return tuple(
        Problem(
            path=path,
            rule=REJECTED,
            severity="warning",
            message="a commit by hand took this tombstone away or changed it; put back in"
            f" {commit[:10]}",
            fix=f"`memrepo reject {_key_of(path)} --undo` lifts it, if it holds after all",
        )
        for path in lost
    )


def _lost(at: Work, since: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of the tombstones that are not what they were then, or have been since.

    Of several versions the highest under a seal stands: only a hand takes one back behind that, or
    takes it out, be it by a merge that keeps one side whole.
    """
    layout, git = at.tree.layout, at.store.repo.light
    area = layout.area("tombstones")
    words = ("rev-list", "--full-history", "--no-merges", f"{since}..{at.tree.commit}")
    seen = {
        (path, blob)
        for _, path, old, new in changes(git, git.ask(*words, "--", area).split())
        for blob in filter(None, (old, new))
    }
    # What lay there before counts where the merge alone, or a link in its place, took it out.
    for base in at.store.common_ancestors([since, at.tree.commit]):
        before = at.store.snapshot(base).files.below(area)
        seen |= before.items() - at.tree.files.below(area).items()
    found: dict[str, tuple[bool, Tombstone]] = {}
    for path, blob in sorted(seen):
        if is_tombstone(layout, path):
            data = git.read(blob)
            stone = read_tombstone(path, data)
            if isinstance(stone, Tombstone):
                one = (has_seal(data), stone)
                found[path] = max(one, found.get(path, one), key=_weight)
    for path, (sealed, stone) in found.items():
        here = at.tree.files.get(path, b"")
        now = read_tombstone(path, here)
        if not isinstance(now, Tombstone) or _weight((has_seal(here), now)) < _weight(
            (sealed, stone)
        ):
            yield path, tombstone_bytes(stone)


def _weight(found: tuple[bool, Tombstone]) -> tuple[bool, tuple[int, bool, str]]:
    sealed, stone = found
    return sealed, stone.rank
