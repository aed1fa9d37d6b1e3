"""`memrepo accept` and `discard`: merge a pending run or delete its branch; decide about removals.

A run that waits is a branch. `accept` merges it into HEAD as one commit, field by field. What is in
conflict with later work is left out, and like the changes of a discarded run not proposed again.

Runs mark memories whose lines are gone. The word `removals` names all of them: `accept` archives
them, `discard` confirms them, so that no later run marks them for the same reason.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import chain, derived_files, listed_steps, prepare
from memrepo.actions.pending import (
    REMOVALS,
    Waiting,
    all_waiting,
    left_behind,
    marked_memories,
    put_away,
    put_decided_away,
    refuse_on_waiting,
    the_waiting,
)
from memrepo.actions.run.maintain import first_page_steps
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.actions.write.commit import refuse_taking
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Memory, Stamp, differing
from memrepo.core.messages import Context, counted, message
from memrepo.core.state import Change, Remove, State, Step, Update, apply, play, traits
from memrepo.merge import closure
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.tombstones import tombstones_in
from memrepo.merge.versions import MergeConflict
from memrepo.store.history import DISCARDS
from memrepo.store.objects import NewCommit

_RUN = (
    f"the pending run, or `{REMOVALS}` for all memories marked for removal; default: the pending"
    " run, else the marked memories"
)


class AcceptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo accept`."""

    run: Annotated[str, option(_RUN, metavar="RUN")] = ""
    dry_run: DryRun = False
    reason: Reason = ""


class Decided(VerbResult, frozen=True, kw_only=True):
    """What was decided about a waiting run, or about the memories marked for removal."""

    verdict: Literal["accepted", "discarded", "archived", "kept"]
    run: str = ""
    """The waiting run; empty for marked memories."""
    memories: tuple[str, ...]
    """The memories that were decided about; of an accepted run, those that changed as proposed."""
    left_out: tuple[str, ...] = ()
    """Memories whose changes are not in effect and are not proposed again."""
    conflicts: tuple[MergeConflict, ...] = ()
    """Why they are not: later work changed the same."""
    commits: tuple[str, ...] = ()


def accept(work: Work, request: AcceptRequest) -> Decided:
    """Merge a pending run, or archive the memories that are marked for removal."""
    work.require_writable()
    work.store.refuse_unfit()
    refuse_on_waiting(work)
    if not request.dry_run:
        put_decided_away(work)
    if _means_removals(work, request.run):
        return _decide_removals(work, request, is_kept=False)
    waits, ours = the_waiting(work, request.run), work.tree.state()
    tip = work.store.snapshot(waits.tip).state()
    result = _merge(work, waits, tip)
    refuse_taking(work, ours, result.state)
    before = work.store.snapshot(waits.base).state().memories
    proposed = {
        id_: (before.get(id_), tip.memories.get(id_), result.state.memories.get(id_))
        for id_ in differing(before, tip.memories)
        if before.get(id_) != tip.memories.get(id_)
    }
    changed = proposed.keys()
    left = {id_ for id_, states in proposed.items() if not _is_in_effect(*states)}
    left |= changed & {one.id for one in result.conflicts}
    found = Decided(
        verdict="accepted",
        run=waits.run,
        memories=tuple(sorted(changed - left)),
        left_out=tuple(sorted(left)),
        conflicts=result.conflicts,
        exit=Exit.DECIDE if result.conflicts else Exit.DONE,
    )
    if request.dry_run:
        return found
    subject = waits.entry.subject
    if left:  # the counts of the waiting run would be wrong
        memories = counted(len(changed), "memory", "memories")
        subject = f"Run {waits.run}: {len(changed - left)} of {memories} changed as proposed"
    commit = _commit(work, waits, result, subject, request.reason, left)
    put_away(work, waits)
    return replace(found, commits=(commit,))


def _is_in_effect(before: Memory | None, tip: Memory | None, after: Memory | None) -> bool:
    """Return whether a merge did what a run proposed for a memory.

    What was rejected since is forgotten or does not come, and what it would have replaced stays
    active.
    """
    statuses = [memory.status if memory is not None else "forgotten" for memory in (tip, after)]
    if statuses[1] == "forgotten" != statuses[0]:
        return False
    return traits(before, tip) <= traits(before, after)


def _merge(work: Work, waits: Waiting, tip: State) -> MergeResult:
    """Return HEAD with the changes of a run.

    What was removed or rejected since the run was made does not come back.
    """
    base, ours = work.store.snapshot(waits.base).state(), work.tree.state()
    rejected = tombstones_in(ours)
    gone = [
        Remove(id=m.id)
        for m in tip.every
        if m.id not in ours.memories
        and (m.id in base.memories or rejected.find_barring(m) is not None)
    ]
    tip = apply(tip, gone)
    updates, _ = closure.close(tip, closure.known_in(base))  # what they replaced is active again
    changed = frozenset(work.store.work.changed(waits.base, waits.tip))
    return merge_states(base, ours, apply(tip, updates), changed=changed)


def _commit(
    work: Work,
    waits: Waiting,
    result: MergeResult,
    subject: str,
    reason: str,
    left: Collection[str],
) -> str:
    """Commit a merge with a run, its pages, and a record of what was left out."""
    base, ours = work.tree.commit, work.tree.state()
    refused = waits.traits(work, left) if left else frozenset()
    page = [change for step in first_page_steps(work, result.state) for change in step.changes]
    merge = Step(
        op="run",
        what=subject,
        reason=reason or "accepted after review",
        changes=(*page, *left_behind(work, waits, refused, "conflicts with later work")),
    )
    effects, after = play(result.state, (merge,))
    pages = Step(op="view", what="", changes=tuple(derived_files(work, after)))
    more, after = play(after, (pages,))
    lines = listed_steps([e.subject for e in waits.chain(work)])
    text = message(merge, Context(actor=work.actor, run=waits.run, lines=lines), ours, after)
    made = chain(
        work.store,
        ours,
        after,
        [NewCommit(message=text, effect={**result.effect, **effects[0], **more[0]})],
        base=base,
        now=work.call.now,
        author=work.author,
    )
    second = waits.entry.parents[1] if waits.tip == waits.entry.commit else waits.tip
    return work.store.land(replace(made, second=second), f"accept-{waits.run}")


class DiscardRequest(AcceptRequest, frozen=True, kw_only=True):
    """The arguments of `memrepo discard`."""


def discard(work: Work, request: DiscardRequest) -> Decided:
    """Discard a pending run, or keep the memories that are marked for removal.

    The commit has the manifest, which marks the run's input as read, and a record of its changes.
    """
    work.require_writable()
    refuse_on_waiting(work)
    if _means_removals(work, request.run):
        return _decide_removals(work, request, is_kept=True)
    waits = the_waiting(work, request.run)
    ids = {i for e in waits.chain(work) for i in e.trailers.get("Memory", ())}
    found = Decided(verdict="discarded", run=waits.run, memories=tuple(sorted(ids)))
    if request.dry_run:
        return found
    reason = request.reason or "`memrepo discard`: its changes are not proposed again"
    step = Step(
        op="run",
        what=f"Discard run {waits.run}",
        reason=reason,
        changes=left_behind(work, waits, waits.traits(work), reason),
    )
    context = work.context(run=waits.run, extra={DISCARDS: waits.run})
    commit = _land(work, step, context, f"discard-{waits.run}")
    put_away(work, waits)
    return replace(found, commits=(commit,))


def _land(work: Work, step: Step, context: Context, name: str) -> str:
    tree, now = work.tree, work.call.now
    landing = prepare(
        work.store, tree.state(), tree.commit, (step,), context, now, author=work.author
    )
    return work.store.land(landing.chain, name)


# -- memories marked for removal -------------------------------------------------------------------


def _means_removals(work: Work, word: str) -> bool:
    """Return whether a word names the marked memories. Without a word, if only they wait."""
    if word:
        return word == REMOVALS
    return not all_waiting(work) and bool(marked_memories(work.tree.state()))


def _decide_removals(work: Work, request: AcceptRequest, *, is_kept: bool) -> Decided:
    """Archive or confirm the marked memories, in one commit."""
    state = work.tree.state()
    found = list(marked_memories(state))
    if not found:
        raise MemrepoError(
            "no memory is marked for removal",
            fix="`memrepo status` shows what waits",
            exit_code=Exit.USAGE,
        )
    ids = tuple(m.id for m in found)
    result = Decided(verdict="kept" if is_kept else "archived", memories=ids)
    if request.dry_run:
        return result
    archived = {"status": "archived", "archived_at": work.call.now}
    changes: list[Change] = [
        _keeping(work, m) if is_kept else Update(id=m.id, fields=archived) for m in found
    ]
    reason = (
        f"their lines are gone, and a person decided to {'keep' if is_kept else 'archive'} them"
    )
    step = Step(
        op="confirm" if is_kept else "retire",
        reason=request.reason or reason,
        changes=(*changes, *derived_files(work, apply(state, changes))),
    )
    return replace(result, commits=(_land(work, step, work.context(), "removals"),))


def _keeping(work: Work, memory: Memory) -> Update:
    stamp = Stamp(by=work.actor, at=work.call.now)
    verified = (*memory.verified, stamp)
    return Update(id=memory.id, fields={"standing": None, "verified": verified})
