"""`memrepo accept` and `discard`: apply a pending run, as a whole or in part, or reject it.

The branch of the run is not merged. Instead, each accepted decision is merged field by field onto
HEAD, in a new chain of commits. So only decisions in effect are ancestors of the branch. Decisions
that a person skipped are recorded and proposed again. Decisions that can no longer take effect, and
those of a discarded run, are not proposed again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import chain, derived_files, listed_steps, prepare
from memrepo.actions.past.log import NoSuchRun, landing_of
from memrepo.actions.pending import (
    NothingWaits,
    Part,
    Waiting,
    left_behind,
    put_away,
    put_decided_away,
    refuse_on_waiting,
    the_waiting,
)
from memrepo.actions.recall.lookup import NoSuchMemory, find
from memrepo.actions.request import DryRun, Reason, VerbResult, option
from memrepo.actions.review.diff import review_of, span_of
from memrepo.actions.run.guard import reverted_prints
from memrepo.actions.run.land import count_parts, headline, record
from memrepo.actions.run.telemetry import Downstream, hand_off_run
from memrepo.actions.run.upkeep import first_page_steps
from memrepo.actions.takeback.revert import Result as Reverted
from memrepo.actions.takeback.revert import Wanted, take_back
from memrepo.actions.work import MACHINE, Work
from memrepo.actions.write.commit import ASKS, refuse_taking
from memrepo.core.changes import BULK_OPS, Plan, Step
from memrepo.core.errors import Exit
from memrepo.core.messages import Context, message
from memrepo.core.state import State, play
from memrepo.merge.states import MergeResult, SideFacts, merge_states
from memrepo.merge.takeback import together
from memrepo.merge.tombstones import tombstones_in
from memrepo.merge.versions import MergeConflict
from memrepo.store import history
from memrepo.store.history import DISCARDS, commit_landing
from memrepo.store.stream import Chain, NewCommit

ACCEPTED = "refs/memrepo/accepted/"
_DERIVED = ("view", "run")


class AcceptedPart(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of memories that a person accepts: all, only some, or all except some.

    Changes to `refused` memories are never proposed again. `together` has the memories that were
    not named, but share a decision with a named one.
    """

    only: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    together: frozenset[str] = frozenset()

    def takes(self, id_: str) -> bool:
        """Return whether a memory is accepted."""
        return id_ not in self.without and (not self.only or id_ in self.only)


class _Replay(msgspec.Struct):
    """A chain of commits that is being built on top of HEAD.

    `people` are the memories that a person changed or removed after the run was computed. `barred`
    are the memories that match a tombstone. `taken` and `offered` are the accepted and the skipped
    parts of each step.
    """

    state: State
    people: frozenset[str] = frozenset()
    commits: list[NewCommit] = msgspec.field(default_factory=list)
    edited: set[str] = msgspec.field(default_factory=set)
    dropped: set[str] = msgspec.field(default_factory=set)
    taken: list[Part] = msgspec.field(default_factory=list)
    offered: list[Part] = msgspec.field(default_factory=list)
    barred: set[str] = msgspec.field(default_factory=set)
    conflicts: list[tuple[history.LogEntry, tuple[MergeConflict, ...]]] = msgspec.field(
        default_factory=list
    )


class AcceptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo accept`."""

    run: Annotated[str, option("the pending run", metavar="RUN")] = ""
    only: Annotated[
        tuple[str, ...],
        option("only these memories", "--only", metavar="ID", group="part", several=True),
    ] = ()
    without: Annotated[
        tuple[str, ...],
        option("all except these", "--except", metavar="ID", group="part", several=True),
    ] = ()
    refuse: Annotated[
        tuple[str, ...],
        option("reject these: they are not proposed again", "--refuse", metavar="ID", several=True),
    ] = ()
    dry_run: DryRun = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that was skipped because its memory changed after the run was computed."""

    step: str
    commit: str
    memory: str
    kind: str


class AcceptResult(VerbResult, frozen=True, kw_only=True):
    """The merge commit, the number of decisions in effect, and the skipped decisions."""

    run: str
    commits: tuple[str, ...]
    decisions: int
    """The number of decisions in effect."""
    proposed: int
    """The number of decisions that the run proposed."""
    dropped: int
    """The number of decisions that did not take effect and are not proposed again."""
    conflicts: tuple[LeftOut, ...]
    refused: tuple[str, ...]
    """Fingerprints of changes that can no longer take effect and are not proposed again."""
    offered: tuple[str, ...]
    """Memories of skipped decisions. The next run proposes these decisions again."""
    together: tuple[str, ...]
    """Memories that were accepted or skipped because they share a decision with a named memory."""
    rejected: tuple[str, ...]
    """Memories that match a tombstone written after the run was computed."""
    only: tuple[str, ...]
    without: tuple[str, ...] = msgspec.field(name="except")
    downstream: Downstream | msgspec.UnsetType = msgspec.UNSET


class AlreadyDecided(VerbResult, frozen=True, kw_only=True):
    """Raised when an interrupted command already decided the run."""

    run: str
    commits: tuple[str, ...] = ()
    conflicts: tuple[LeftOut, ...] = ()


def accept(work: Work, request: AcceptRequest) -> AcceptResult | AlreadyDecided | Reverted:
    """Replay the accepted decisions onto HEAD, and join them with one merge commit."""
    work.require_writable()
    work.store.refuse_unfit()
    refuse_on_waiting(work)
    decided = [] if request.dry_run else put_decided_away(work, ACCEPTED)
    if len(decided) == 1 and (not request.run or decided[0].startswith(request.run)):
        return AlreadyDecided(run=decided[0])
    try:
        waits = the_waiting(work, request.run)
    except NothingWaits:
        if (entry := _reverted(work, request.run)) is None:
            raise
        return _restore_reverted(work, entry, request)
    replayed, choice = _replay(work, waits, request)
    refuse_taking(work, work.tree.state(), replayed.state)
    made = _chain(work, waits, replayed, request.reason)
    found = _result(work, waits, replayed, choice)
    if request.dry_run:
        return found
    commit = work.store.land(made, f"accept-{waits.run}")
    put_away(work, waits, ACCEPTED)
    downstream, problems = hand_off_run(work.refreshed(), waits.run)
    return replace(
        found, commits=(commit,), downstream=downstream or msgspec.UNSET, notices=problems
    )


def _reverted(work: Work, run: str) -> history.LogEntry | None:
    """Return the revert that currently reverts a landed run, or None."""
    try:
        target = landing_of(work, run).entry.commit if run else ""
    except NoSuchRun:
        return None
    undone: set[str] = set()
    for entry in history.revert_commits(work.store.repo, work.tree.commit) if target else ():
        if entry.commit not in undone:
            undone.update(entry.trailers.get("Reverts", ()))
            if target in undone:
                return entry
    return None


def _restore_reverted(work: Work, entry: history.LogEntry, request: AcceptRequest) -> Reverted:
    """Revert the revert of a run, so that the run is in effect again."""
    before = work.store.snapshot(entry.parents[0]).state()
    only = frozenset(find(before, word).id for word in request.only)
    without = frozenset(find(before, word).id for word in request.without)
    if without:
        without = together(without, before, work.store.snapshot(entry.commit).state())
        only = only or frozenset(entry.trailers.get("Memory", ())) - without
    wanted = Wanted(
        landing=commit_landing(entry),
        latest=entry.commit == work.tree.commit,
        only=only,
        dry_run=request.dry_run,
        reason=request.reason or "accepted after it was reverted",
    )
    return take_back(work, wanted)


def _replay(work: Work, waits: Waiting, request: AcceptRequest) -> tuple[_Replay, AcceptedPart]:
    tip = work.store.snapshot(waits.tip).state()
    steps = waits.chain(work)
    before = work.store.snapshot(waits.base).state()
    choice = _choice(
        [frozenset(e.trailers.get("Memory", ())) for e in steps if e.op not in BULK_OPS],
        frozenset(find(tip, word).id for word in request.only),
        frozenset(find(tip, word).id for word in request.without),
        frozenset(_named(tip, before, word) for word in request.refuse),
        made=tip.memories.keys() - before.memories.keys(),
    )
    replay = _Replay(state=work.tree.state(), people=_people(work, waits))
    for entry in steps:
        if entry.op not in _DERIVED:
            _step(work, waits, replay, entry, choice)
    return replay, choice


def _named(tip: State, before: State, word: str) -> str:
    """Return the memory that a word identifies, in the run's result or else before the run."""
    try:
        return find(tip, word).id
    except NoSuchMemory:
        return find(before, word).id


def _choice(
    decisions: Sequence[Collection[str]],
    only: frozenset[str],
    without: frozenset[str],
    refused: frozenset[str],
    made: Collection[str],
) -> AcceptedPart:
    """Return a selection that does not split decisions about several memories.

    If a memory is left out, so are all memories that the run created in the same decision. Memories
    that existed before can have other decisions too.
    """
    taken = _closed(decisions, only)
    gone = _closed(decisions, refused, made)
    left = _closed(decisions, without, made) | gone
    return AcceptedPart(
        only=taken,
        without=left,
        refused=gone,
        together=(taken - only) | (left - without - refused),
    )


def _closed(
    decisions: Sequence[Collection[str]], ids: frozenset[str], within: Collection[str] | None = None
) -> frozenset[str]:
    """Return the given memories and all memories connected to them by shared decisions."""
    found = {*ids}
    while (
        more := {i for d in decisions if found & {*d} for i in d if within is None or i in within}
        - found
    ):
        found |= more
    return frozenset(found)


def _people(work: Work, waits: Waiting) -> frozenset[str]:
    """Return the memories that a person changed or removed after the run was computed."""
    states = (work.store.snapshot(waits.base).state(), work.tree.state())
    owner = {m.path: id_ for state in states for id_, m in state.memories.items()}
    span = f"{waits.base}..{work.tree.commit}"
    return frozenset(
        owner[path]
        for entry in history.entries(work.store.repo, "--no-merges", span)
        if entry.parents and (_by_hand(entry) or entry.trailer("Actor").startswith("human:"))
        for path in work.store.work.changed(entry.parents[0], entry.commit)
        if path in owner
    )


def _by_hand(entry: history.LogEntry) -> bool:
    return not entry.trailer("Op")


def _step(
    work: Work, waits: Waiting, replay: _Replay, entry: history.LogEntry, choice: AcceptedPart
) -> None:
    """Merge one decision onto the current state. Skip and record the parts in conflict."""
    base = work.store.snapshot(entry.parents[0]).state()
    theirs = work.store.snapshot(entry.commit).state()
    ids = entry.trailers.get("Memory", ())
    if _by_hand(entry):
        every = sorted({*base.memories, *theirs.memories})
        ids = tuple(i for i in every if base.memories.get(i) != theirs.memories.get(i))
    if not ids and choice.only:
        return
    can_split = entry.op in BULK_OPS or _by_hand(entry)

    def acceptable(wanted: list[str]) -> list[str]:
        return wanted if can_split or len(wanted) == len(ids) else []

    def merged(taken: list[str]) -> MergeResult:
        ours = _differing(work, entry, work.tree.commit) | replay.edited
        return merge_states(
            base,
            replay.state,
            _without(base, theirs, _rest(ids, taken)),
            our_facts=SideFacts(paths=ours, people=replay.people),
            their_facts=SideFacts(paths=_differing(work, entry, entry.commit)),
        )

    barred = _barred(replay.state, base, theirs, ids)
    replay.barred |= barred
    chosen = acceptable([i for i in ids if choice.takes(i)])
    skipped = _rest(ids, chosen)
    if refused := [i for i in skipped if i in choice.refused]:
        refused = refused if can_split else skipped
        replay.dropped |= _prints(entry, refused)
    if offered := _rest(skipped, refused):
        replay.offered.append(Part(entry=entry, memories=tuple(offered)))
    taken = acceptable([i for i in chosen if i not in barred])
    if ids and not taken:
        replay.dropped |= _prints(entry, chosen)
        return
    result = merged(taken)
    if result.conflicts:
        replay.conflicts.append((entry, result.conflicts))
        clashing = {c.id for c in result.conflicts}
        # A conflict in a file that is not a memory affects the whole step.
        taken = acceptable([] if "" in clashing else _rest(taken, [*clashing]))
        result = merged(taken)
        taken = [] if result.conflicts else taken
    if lost := _rest(chosen, taken):
        replay.dropped |= _prints(entry, lost)
    if result.conflicts or (ids and not taken) or not result.effect.files:
        return
    step = Step(
        op=entry.op,
        what=entry.subject if _by_hand(entry) or not taken else "",
        reason=entry.trailer("Reason"),
        memories=tuple(taken),
    )
    context = Context(
        actor=entry.trailer("Actor") or MACHINE,
        run=waits.run,
        prints=tuple(p for p in entry.prints if p.split(":")[1] in taken),
    )
    text = message(step, context, replay.state, result.state)
    replay.state = result.state
    replay.edited |= result.effect.files.keys()
    replay.taken.append(Part(entry=entry, memories=tuple(taken)))
    replay.commits.append(NewCommit(message=text, effect=result.effect))


def _barred(state: State, base: State, theirs: State, ids: Sequence[str]) -> frozenset[str]:
    """Return the memories of a step that would be empty without their rejected statements."""
    stones = tombstones_in(state)
    if not stones:
        return frozenset()
    new = {i: m for i in ids if (m := theirs.memories.get(i)) and m.status != "forgotten"}
    return frozenset(i for i, m in new.items() if m != base.memories.get(i) and stones.bars_all(m))


def _rest(ids: Sequence[str], taken: Sequence[str]) -> list[str]:
    return [id_ for id_ in ids if id_ not in taken]


def _prints(entry: history.LogEntry, ids: Sequence[str]) -> frozenset[str]:
    """Return the fingerprints of a step's changes to some of its memories."""
    return Part(entry=entry, memories=tuple(ids)).prints if ids else frozenset()


def _differing(work: Work, entry: history.LogEntry, commit: str) -> frozenset[str]:
    return frozenset(work.store.work.changed(entry.parents[0], commit))


def _without(base: State, theirs: State, ids: Sequence[str]) -> State:
    """Return the outcome of a step, leaving out its changes to some memories."""
    memories, edits = dict(theirs.memories), {}
    for id_ in ids:
        new, old = theirs.memories.get(id_), base.memories.get(id_)
        if new is not None:
            edits[new.path] = base.files.get(new.path)
            del memories[id_]
        if old is not None:
            memories[id_] = old
            edits[old.path] = base.files[old.path]
    return replace(theirs, memories=memories, files=theirs.files.edited(edits))


def _chain(work: Work, waits: Waiting, replay: _Replay, reason: str) -> Chain:
    machine = Context(actor=MACHINE, run=waits.run)
    never = frozenset[str]().union(*(m.refused for m in work.tree.manifests[0])) | reverted_prints(
        work
    )
    page = first_page_steps(work, replay.state, never)
    effects, state = play(replay.state, Plan(base=work.tree.commit, steps=page))
    files = left_behind(work, waits, replay.dropped, replay.offered)
    last = record(files, derived_files(work, state), "accepted after review")
    (effect,), _ = play(state, Plan(base=work.tree.commit, steps=(last,)))
    added = [
        NewCommit(message=message(step, machine, replay.state, state), effect=effect)
        for step, effect in zip((*page, last), (*effects, effect), strict=True)
    ]
    merge = Step(
        op="run",
        what=_headline(waits, replay, work.store.snapshot(waits.tip).state()),
        reason=reason or "accepted after review",
    )
    commits = [*replay.commits, *added]
    lines = listed_steps([commit.message.partition("\n")[0] for commit in commits])
    return chain(
        work.store,
        work.tree.state(),
        state,
        commits,
        base=work.tree.commit,
        now=work.call.now,
        merge=message(merge, Context(actor=work.actor, run=waits.run, lines=lines)),
        author=work.author,
    )


def _headline(waits: Waiting, replay: _Replay, tip: State) -> str:
    """Return the subject of the merge commit.

    Return the subject of the run if all of the run is in effect. Otherwise return a subject with
    new counts.
    """
    if not (replay.offered or replay.dropped or replay.conflicts):
        return waits.entry.subject.removeprefix(ASKS)
    return headline(waits.run, count_parts(tip, replay.taken))


def _result(work: Work, waits: Waiting, replay: _Replay, choice: AcceptedPart) -> AcceptResult:
    conflicts = tuple(
        LeftOut(step=entry.subject, commit=entry.commit, memory=c.id, kind=c.kind)
        for entry, found in replay.conflicts
        for c in found
    )
    review = review_of(work, span_of(work, (waits.run,)), quote=False)
    taken, offered = (
        {i for part in parts for i in part.memories} for parts in (replay.taken, replay.offered)
    )
    of_each = [{c.difference.memory.id for c in decision.changes} for decision in review.decisions]
    in_effect = sum(bool(ids & taken) for ids in of_each)
    return AcceptResult(
        run=waits.run,
        commits=(),
        decisions=in_effect,
        proposed=len(of_each),
        dropped=sum(not ids & (taken | offered) for ids in of_each),
        conflicts=conflicts,
        refused=tuple(sorted(replay.dropped)),
        offered=tuple(sorted(offered)),
        together=tuple(sorted(choice.together)),
        rejected=tuple(sorted(replay.barred)),
        only=tuple(sorted(choice.only)),
        without=tuple(sorted(choice.without - choice.refused)),
        exit=Exit.DECIDE if conflicts else Exit.DONE,
    )


DISCARDED = "refs/memrepo/discarded/"


class DiscardRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo discard`."""

    run: Annotated[str, option("the pending run", metavar="RUN")] = ""
    dry_run: DryRun = False
    reason: Reason = ""


class DiscardResult(VerbResult, frozen=True, kw_only=True):
    """The discarded run, the commit that discards it, and the fingerprints of its changes."""

    run: str
    commits: tuple[str, ...] = ()
    refused: tuple[str, ...]
    decisions: int
    """The number of decisions that are not proposed again."""


def discard(work: Work, request: DiscardRequest) -> DiscardResult:
    """Commit a manifest that marks the input as read and lists the rejected changes."""
    work.require_writable()
    refuse_on_waiting(work)
    waits = the_waiting(work, request.run)
    refused = tuple(sorted(waits.prints(work)))
    review = review_of(work, span_of(work, (waits.run,)), quote=False)
    found = DiscardResult(run=waits.run, refused=refused, decisions=len(review.decisions))
    if request.dry_run:
        return found
    commit = _commit(work, waits, refused, request.reason)
    put_away(work, waits, DISCARDED)
    return replace(found, commits=(commit,))


def _commit(work: Work, waits: Waiting, refused: tuple[str, ...], reason: str) -> str:
    step = Step(
        op="run",
        what=f"Discard run {waits.run}",
        reason=reason or "`memrepo discard`: its changes are not proposed again",
        changes=left_behind(work, waits, refused),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    context = work.context(run=waits.run, extra={DISCARDS: waits.run})
    landing = prepare(
        work.store,
        work.tree.state(),
        plan,
        context,
        work.call.now,
        author=work.author,
    )
    return work.store.land(landing.chain, f"discard-{waits.run}")
