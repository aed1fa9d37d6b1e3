"""`memrepo accept` and `discard`: merge a pending run or delete its branch; decide about removals.

A run that waits is a branch. `accept` merges it into HEAD as one commit, field by field. What is in
conflict with later work is left out, and like the changes of a discarded run not proposed again.

Runs mark memories whose lines are gone. The word `removals` names all of them: `accept` archives
them, `discard` confirms them, so that no later run marks them for the same reason.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

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
from memrepo.actions.request import DryRun, Reason, VerbResult, option
from memrepo.actions.run.maintain import first_page_steps
from memrepo.actions.work import Work
from memrepo.actions.write.commit import refuse_taking
from memrepo.core.changes import Change, Plan, Remove, Step, Update
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Memory, Stamp
from memrepo.core.messages import Context, counted, message
from memrepo.core.state import apply, play
from memrepo.merge import closure
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.versions import MergeConflict, Side
from memrepo.store import history
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


class AcceptResult(VerbResult, frozen=True, kw_only=True):
    """The merge commit, the memories in effect, and those that were left out."""

    run: str
    commits: tuple[str, ...] = ()
    memories: tuple[str, ...]
    """The memories that changed as the run proposed."""
    left_out: tuple[str, ...]
    """Memories whose changes are not in effect and are not proposed again."""
    conflicts: tuple[MergeConflict, ...] = ()
    """Why they are not: later work changed the same."""


class DecidedRemovals(VerbResult, frozen=True, kw_only=True):
    """The memories marked for removal that were archived, or confirmed and thereby kept."""

    archived: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()


def accept(work: Work, request: AcceptRequest) -> AcceptResult | DecidedRemovals:
    """Merge a pending run, or archive the memories that are marked for removal."""
    work.require_writable()
    work.store.refuse_unfit()
    refuse_on_waiting(work)
    if not request.dry_run:
        put_decided_away(work)
    if _means_removals(work, request.run):
        return _decide_removals(work, request, is_kept=False)
    waits = the_waiting(work, request.run)
    return _Merge(work, waits, request).land()


class _Merge:
    """The merge of a pending run into HEAD, without the memories that are left out."""

    def __init__(self, work: Work, waits: Waiting, request: AcceptRequest) -> None:
        self.work, self.waits, self.request = work, waits, request
        self.base = work.store.snapshot(waits.base).state()
        self.tip = work.store.snapshot(waits.tip).state()
        self.ours = work.tree.state()
        self.changed = frozenset(
            i
            for i in self.base.memories.keys() | self.tip.memories.keys()
            if self.base.memories.get(i) != self.tip.memories.get(i)
        )
        self.left = frozenset[str]()
        self.conflicts: tuple[MergeConflict, ...] = ()

    def merged(self) -> MergeResult:
        """Return HEAD with the run's changes. A memory in conflict is left out."""
        work, waits = self.work, self.waits
        changed = frozenset(work.store.work.changed(waits.base, waits.tip))
        found: list[MergeConflict] = []

        def settle(conflict: MergeConflict) -> Side:
            sides = (s.memories.get(conflict.id) for s in (self.base, self.ours))
            paths = [memory.path for memory in sides if memory is not None]
            span = (work.tree.commit, [waits.base], paths)
            is_by_person = history.is_changed_by_person(work.store.repo, *span)
            if conflict.kind == "removed-and-edited" and not is_by_person:
                return ""
            found.append(conflict)
            return "ours"

        result = merge_states(self.base, self.ours, self.tip, changed=changed, settle=settle)
        self.conflicts = tuple(found)
        # What was rejected meanwhile is forgotten by the merge. If it is new, it does not come.
        known, theirs = result.state.memories, self.tip.memories
        shared = self.changed & known.keys() & theirs.keys()
        barred = {i for i in shared if known[i].status == "forgotten" != theirs[i].status}
        self.left = frozenset({*barred, *(one.id for one in found)})
        new = barred - self.ours.memories.keys()
        return self._without(result, new) if new else result

    def _without(self, result: MergeResult, gone: Collection[str]) -> MergeResult:
        """Return the merge without some new memories, and without references to them."""
        state = apply(result.state, (Remove(id=id_) for id_ in sorted(gone)))
        updates, _ = closure.close(state, closure.known_in(self.ours, self.tip))
        state = apply(state, updates)
        paths = {m.path for m in (*result.state.every, *state.every, *self.ours.every)}
        files = {p: state.files.get(p) for p in sorted({*result.effect, *paths})}
        effect = {p: data for p, data in files.items() if data != self.ours.files.get(p)}
        return replace(result, state=state, effect=effect)

    def land(self) -> AcceptResult:
        """Commit the merge and delete the branch. Return what took effect."""
        work, waits, result = self.work, self.waits, self.merged()
        refuse_taking(work, self.ours, result.state)
        taken = sorted(self.changed - self.left)
        found = AcceptResult(
            run=waits.run,
            memories=tuple(taken),
            left_out=tuple(sorted(self.left & self.changed)),
            conflicts=self.conflicts,
            exit=Exit.DECIDE if self.conflicts else Exit.DONE,
        )
        if self.request.dry_run:
            return found
        commit = self._commit(result)
        put_away(work, waits)
        return replace(found, commits=(commit,))

    def _subject(self) -> str:
        """Return the subject of the waiting run. Its counts are wrong if a part is left out."""
        if not self.left & self.changed:
            return self.waits.entry.subject
        taken = len(self.changed - self.left)
        memories = counted(len(self.changed), "memory", "memories")
        return f"Run {self.waits.run}: {taken} of {memories} changed as proposed"

    def _commit(self, result: MergeResult) -> str:
        work, waits, base = self.work, self.waits, self.work.tree.commit
        page = first_page_steps(work, result.state)
        refused = waits.traits(work, self.left) if self.left else frozenset()
        changes = [change for step in page for change in step.changes]
        merge = Step(
            op="run",
            what=self._subject(),
            reason=self.request.reason or "accepted after review",
            changes=(*changes, *left_behind(work, waits, refused, "conflicts with later work")),
        )
        effects, after = play(result.state, Plan(base=base, steps=(merge,)))
        pages = Step(op="view", what="", changes=tuple(derived_files(work, after)))
        more, after = play(after, Plan(base=base, steps=(pages,)))
        lines = listed_steps([e.subject for e in waits.chain(work)])
        context = Context(actor=work.actor, run=waits.run, lines=lines)
        text = message(merge, context, self.ours, after)
        effect = {**result.effect, **effects[0], **more[0]}
        made = chain(
            work.store,
            self.ours,
            after,
            [NewCommit(message=text, effect=effect)],
            base=base,
            now=work.call.now,
            author=work.author,
        )
        second = waits.entry.parents[1] if waits.tip == waits.entry.commit else waits.tip
        return work.store.land(replace(made, second=second), f"accept-{waits.run}")


class DiscardRequest(AcceptRequest, frozen=True, kw_only=True):
    """The arguments of `memrepo discard`."""


class DiscardResult(VerbResult, frozen=True, kw_only=True):
    """The discarded run, and the commit that discards it."""

    run: str
    commits: tuple[str, ...] = ()
    memories: int
    """The number of memories whose changes are not proposed again."""


def discard(work: Work, request: DiscardRequest) -> DiscardResult | DecidedRemovals:
    """Discard a pending run, or keep the memories that are marked for removal.

    The commit has the manifest, which marks the run's input as read, and a record of its changes.
    """
    work.require_writable()
    refuse_on_waiting(work)
    if _means_removals(work, request.run):
        return _decide_removals(work, request, is_kept=True)
    waits = the_waiting(work, request.run)
    ids = {i for e in waits.chain(work) for i in e.trailers.get("Memory", ())}
    found = DiscardResult(run=waits.run, memories=len(ids))
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
    plan = Plan(base=work.tree.commit, steps=(step,))
    landing = prepare(
        work.store, work.tree.state(), plan, context, work.call.now, author=work.author
    )
    return work.store.land(landing.chain, name)


# -- memories marked for removal -------------------------------------------------------------------


class NothingMarked(MemrepoError):
    """Raised when no memory is marked for removal."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__("no memory is marked for removal", fix="`memrepo status` shows what waits")


def _means_removals(work: Work, word: str) -> bool:
    """Return whether a word names the marked memories. Without a word, if only they wait."""
    if word:
        return word == REMOVALS
    return not all_waiting(work) and bool(marked_memories(work.tree.state()))


def _decide_removals(work: Work, request: AcceptRequest, *, is_kept: bool) -> DecidedRemovals:
    """Archive or confirm the marked memories, in one commit."""
    state = work.tree.state()
    found = list(marked_memories(state))
    if not found:
        raise NothingMarked
    ids = tuple(m.id for m in found)
    result = DecidedRemovals(kept=ids) if is_kept else DecidedRemovals(archived=ids)
    if request.dry_run:
        return result
    changes: list[Change] = [_keeping(work, m) if is_kept else _archiving(work, m) for m in found]
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
    verified = (*memory.fields.get("verified", ()), stamp)
    return Update(id=memory.id, fields={"standing": None, "verified": verified})


def _archiving(work: Work, memory: Memory) -> Update:
    return Update(id=memory.id, fields={"status": "archived", "archived_at": work.call.now})
