"""Merging of a clone's history with the hub's, field by field, in one commit.

The hub's tip is the first parent, so that the first-parent line is the same in every clone. This
module neither writes to the branch nor accesses the network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import hot_rules
from memrepo.actions.work import OtherFormat, Work
from memrepo.config import Config, parse_config
from memrepo.core.changes import Plan, Step, Update
from memrepo.core.ids import visible
from memrepo.core.layout import Layout
from memrepo.core.messages import counted, message
from memrepo.core.problems import Problem
from memrepo.core.state import Effect, State, apply, play
from memrepo.keys import FORMAT
from memrepo.merge import closure
from memrepo.merge.files import keep
from memrepo.merge.states import MergeResult, SideFacts, merge_states
from memrepo.merge.versions import MergeConflict
from memrepo.store.errors import CannotWork, StoreError, problem
from memrepo.store.ledger import ledger_of
from memrepo.store.remote import (
    ForeignMerge,
    Side,
    collisions,
    common,
    count,
    last_commit,
    merge_foreign,
    side_facts,
)
from memrepo.store.repo import Repository
from memrepo.store.stream import SYNC, Chain, NewCommit
from memrepo.views.hot import hot_changes
from memrepo.views.pages import render_views


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that both sides changed, and its current path, which is empty if it was removed."""

    id: str
    path: str


class MergeClash(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict that a person must decide: one side removed or rewrote what the other changed.

    `ours` and `theirs` are the last commits of each side that changed it.
    """

    kind: str
    memory: str
    path: str
    ours: str
    theirs: str


class PreparedMerge(msgspec.Struct, frozen=True, kw_only=True):
    """A merge that is ready to be written, or the conflicts that prevent it.

    `kept` has the files in `corrections/` with the replaced versions.
    """

    chain: Chain | None
    merged: tuple[Merged, ...] = ()
    kept: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    clashes: tuple[MergeClash, ...] = ()


class MergeSides(msgspec.Struct, frozen=True, kw_only=True):
    """Two commits to merge, with their states, their merge base and facts from their history.

    The base is virtual if there are several merge bases. For a sync, the first commit is the hub's.
    """

    bases: Sequence[str]
    base: State
    tips: tuple[str, str]
    states: tuple[State, State]
    facts: tuple[SideFacts, SideFacts]

    def merged(self, states: tuple[State, State] | None = None) -> MergeResult:
        """Merge both sides by memory id and field. The effect is relative to the first side."""
        return merge_states(
            self.base,
            *(states or self.states),
            our_facts=self.facts[0],
            their_facts=self.facts[1],
        )


def sides_of(
    store: Repository, first: str, second: str, human_authors: Collection[str]
) -> MergeSides:
    """Read the two commits to merge.

    Commits without trailers by `human_authors` count as written by a person. A memory retrieved
    since the merge base is not pruned by a machine's decision on either side.
    """
    shared, tips = common(store, first, second), (first, second)
    recalled = frozenset[str]()
    if shared.bases:
        diverged_at = min(store.commit_time(base) for base in shared.bases)
        accounts = ledger_of(store).accesses().by_memory
        recalled = frozenset(i for i, a in accounts.items() if a.last and a.last > diverged_at)
    facts = [side_facts(store, tip, shared, human_authors, recalled) for tip in tips]
    states = [store.snapshot(tip).state() for tip in tips]
    return MergeSides(
        bases=shared.bases,
        base=shared.state,
        tips=tips,
        states=(states[0], states[1]),
        facts=(facts[0], facts[1]),
    )


def join(work: Work, hub: str, name: str, *, taken: Side = "", reason: str = "") -> PreparedMerge:
    """Merge this clone's HEAD onto the hub's tip. The side `taken` wins all conflicts.

    Raises CannotWork or OtherFormat.
    """
    sides = _sides(work, hub, name)
    result, clashing = _merged(sides, taken)
    owns = sides.states[0].layout.owns
    foreign = merge_foreign(work.store.repo, sides.bases, *sides.tips, owns, taken=taken)
    clashes = [*clashing, *(MergeConflict(kind="both-changed", path=p) for p in foreign.clashes)]
    if clashes:
        return PreparedMerge(chain=None, clashes=tuple(_clash(work, sides, c) for c in clashes))
    repairs = _reactivations(result.state)
    # The merge itself stores replaced wordings.
    known = result.state.memories
    unstored = [lost for lost in result.kept if lost.key != "body" or lost.id not in known]
    joined = apply(result.state, repairs)
    config = _config(joined)
    writes = (
        *(w for w in keep(work.tree.layout, unstored, work.call.now) if w.path not in joined.files),
        *render_views(joined, config.pages),
        *hot_changes(joined, hot_rules(work)),
    )
    step = Step(op="sync", what="", changes=(*repairs, *writes))
    effects, after = play(result.state, Plan(base=hub, steps=(step,)))
    effect = _effect(sides, {*result.effect.files, *effects[0].files}, after, foreign)
    _refuse_collisions(work, hub, effect, foreign)
    merged = _merged_memories(sides, after)
    chain = _chain(work, sides, effect, foreign, [m.id for m in merged], reason)
    area = work.tree.layout.area("corrections")
    kept = tuple(
        path
        for path in effect.files
        if path.startswith(area) and not any(path in side.files for side in sides.states)
    )
    decided = (problem("sync-gave-way", c.path) for c in result.conflicts if not taken)
    return PreparedMerge(
        chain=chain,
        merged=merged,
        kept=kept,
        problems=(*result.problems, *decided),
    )


def _reactivations(state: State) -> tuple[Update, ...]:
    """Return updates that reactivate memories whose successors were removed by hand."""
    found = closure.findings(state)
    remaining = {f.name for f in found if f.name[:2] != ("reference-lost", "superseded_by")}
    return closure.close(state, remaining)[0] if len(remaining) < len(found) else ()


def _sides(work: Work, hub: str, name: str) -> MergeSides:
    store, config = work.store, work.tree.layout.config
    if not store.common_ancestors([work.tree.commit, hub]):
        raise StoreError("history-unrelated", hub=name)
    if config not in store.snapshot(hub).files:
        raise CannotWork("no-config", name=name, config=config)
    return sides_of(store, hub, work.tree.commit, work.config.human_authors)


def _merged(sides: MergeSides, taken: Side) -> tuple[MergeResult, list[MergeConflict]]:
    """Merge the memories and the other files of memrepo.

    Return the conflicts that a person must decide.
    """
    layout = sides.states[0].layout
    result = sides.merged()
    deciding = [c for c in result.conflicts if _decides(layout, c)]
    if not (deciding and taken):
        return result, deciding
    first, second = sides.states
    if taken == "ours":
        first = _untouched(sides.base, first, deciding)
    else:
        second = _untouched(sides.base, second, deciding)
    again = sides.merged((first, second))
    return again, [c for c in again.conflicts if _decides(layout, c)]


def _decides(layout: Layout, conflict: MergeConflict) -> bool:
    """Return whether a person must decide a conflict, rather than the newer version being used."""
    match conflict.kind:
        case "removed-and-edited":
            machines = ("sources", "candidates", "runs")
            return not conflict.path.startswith(tuple(layout.area(a) for a in machines))
        case "manifest-differs":
            return True
        case "both-changed":
            return conflict.path == layout.config
        case _:
            return False


def _untouched(base: State, side: State, conflicts: Iterable[MergeConflict]) -> State:
    """Return a side, undoing its changes to the files and memories in conflict."""
    memories, edits = dict(side.memories), dict[str, bytes | None]()
    for conflict in conflicts:
        new, old = memories.pop(conflict.id, None), base.memories.get(conflict.id)
        for path in (conflict.path, *(m.path for m in (new, old) if m is not None)):
            edits[path] = base.files.get(path)
        if old is not None:
            memories[conflict.id] = old
    return replace(side, memories=memories, files=side.files.edited(edits))


def _effect(sides: MergeSides, paths: Iterable[str], after: State, foreign: ForeignMerge) -> Effect:
    """Return the changes that turn the hub's tree into the merged tree."""
    before = sides.states[0].files
    touched = {*paths, *(p for f in sides.facts for p in f.paths or () if after.layout.owns(p))}
    files = {
        path: after.files.get(path)
        for path in sorted(touched - foreign.paths)
        if after.files.get(path) != before.get(path)
    }
    return Effect(files={**files, **foreign.texts})


def _refuse_collisions(work: Work, hub: str, effect: Effect, foreign: ForeignMerge) -> None:
    written = {p for p, data in effect.files.items() if data is not None}
    written |= {p for p, pick in foreign.picks.items() if pick is not None}
    removed = {*effect.files, *foreign.picks} - written
    if found := collisions((work.store.paths(hub) | written) - removed, written):
        raise CannotWork("file-and-folder", path=visible(found[0]))


def _config(state: State) -> Config:
    config = parse_config(state.files[state.layout.config].decode("utf-8", "replace"))
    if config.read_only:
        raise OtherFormat(config.get("format"), FORMAT)
    return config


def _merged_memories(sides: MergeSides, after: State) -> tuple[Merged, ...]:
    """Return the memories that both sides changed since their merge base."""
    changed = [
        {
            i
            for i in {*sides.base.memories, *side.memories}
            if side.memories.get(i) != sides.base.memories.get(i)
        }
        for side in sides.states
    ]
    both = sorted(changed[0] & changed[1])
    there = after.memories
    return tuple(Merged(id=i, path=there[i].path if i in there else "") for i in both)


def _chain(
    work: Work,
    sides: MergeSides,
    effect: Effect,
    foreign: ForeignMerge,
    ids: Sequence[str],
    reason: str,
) -> Chain:
    store, (hub, head) = work.store, sides.tips
    here, there = count(store.repo, head, hub), count(store.repo, hub, head)
    step = Step(
        op="sync",
        what=f"Merge {counted(here, 'commit', 'commits')} of this clone and {there} of the hub",
        reason=reason,
        memories=tuple(ids),
    )
    when = store.not_before(store.not_before(work.call.now, hub), head)
    text = message(step, work.context())
    return Chain(
        base=head,
        first=hub,
        author=SYNC,
        when=when,
        commits=[NewCommit(message=text, effect=effect, picks=foreign.picks)],
    )


def _clash(work: Work, sides: MergeSides, conflict: MergeConflict) -> MergeClash:
    known = (sides.base, *sides.states)
    paths = [s.memories[conflict.id].path for s in known if conflict.id in s.memories]
    hub, here = (
        last_commit(work.store.repo, tip, sides.bases, conflict.path, *paths) for tip in sides.tips
    )
    return MergeClash(
        kind=conflict.kind, memory=conflict.id, path=conflict.path, ours=here, theirs=hub
    )
