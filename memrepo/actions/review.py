"""`memrepo diff`, `accept`, `discard` and `resolve`: read what changes, and decide.

A run that waits is a branch. `accept` merges it into HEAD as one commit, field by field. What is in
conflict with later work is left out, and like the changes of a discarded run not proposed again.

Runs mark memories whose lines are gone. The word `removals` names all of them: `accept` archives
them, `discard` confirms them, so that no later run marks them for the same reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import (
    Unchanged,
    Written,
    chain,
    derived_files,
    listed_steps,
    prepare,
    refuse_taking,
    unchanged,
    write,
)
from memrepo.actions.past import NoSuchRun, landing_of
from memrepo.actions.pending import (
    REMOVALS,
    NothingWaits,
    Waiting,
    all_waiting,
    left_behind,
    marked_memories,
    put_away,
    put_decided_away,
    refuse_on_waiting,
    the_waiting,
)
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.run.decide import first_page_steps
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.core import corrections
from memrepo.core.corrections import Correction, CorrectionVerdict, Side, corrections_of
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.memory import Memory, Stamp, differing
from memrepo.core.messages import Context, counted, message
from memrepo.core.state import (
    EMPTY,
    Change,
    ChangeKind,
    Remove,
    State,
    Step,
    Update,
    Write,
    apply,
    differences,
    play,
    traits,
)
from memrepo.core.times import format_time
from memrepo.merge import states
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.tombstones import tombstones_in
from memrepo.merge.versions import MergeConflict
from memrepo.policies.standing import (
    STATUSES,
    Conflict,
    conflicts,
    reconciled,
    superseded,
    uncontested,
)
from memrepo.store import history
from memrepo.store.history import DISCARDS, newest_in_effect
from memrepo.store.objects import NewCommit
from memrepo.views import report
from memrepo.views.report import Review, Stage


class DiffRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo diff`."""

    word: Annotated[
        str,
        option(
            "a waiting or landed run, a commit or REV..REV; default: the pending run, else the last"
            " one",
            metavar="RUN|REV",
        ),
    ] = ""
    stat: Annotated[bool, option("only the totals of each kind", "--stat", group="form")] = False
    markdown: Annotated[
        bool,
        option("a section of markdown, as a pull request shows it", "--markdown", group="form"),
    ] = False


class DiffResult(VerbResult, frozen=True, kw_only=True):
    """The changes, grouped by memory."""

    unlisted: ClassVar = ("review",)

    run: str
    state: Stage
    base: str
    head: str
    reason: str
    totals: Mapping[ChangeKind, int]
    """The number of memories by main kind of change. Each memory is counted once."""
    memories: int
    files: Mapping[str, int]
    """The number of other changed files, by folder."""
    changes: tuple[Mapping[str, Any], ...] | msgspec.UnsetType = msgspec.UNSET
    """Unset if only the totals were requested."""
    review: Review
    """The review from which the text output is rendered."""


def diff(work: Work, request: DiffRequest) -> DiffResult:
    """Compare the trees before and after a run, a commit or a range of commits."""
    review = review_of(work, request.word)
    changes = tuple(change.record() for change in review.changes)
    return DiffResult(
        run=review.run,
        state=review.state,
        base=review.base,
        head=review.tip,
        reason=review.reason,
        totals=review.totals,
        memories=len(review.changes),
        files=dict(review.files),
        changes=msgspec.UNSET if request.stat else changes,
        review=review,
    )


def review_of(work: Work, word: str = "") -> Review:
    """Return the changes that a word names: those of a run, of a commit or of `A..B`.

    Without a word, return those of the pending run, or else of the last landed run.
    """
    repo = work.store.repo
    if "..." in word:
        raise UsageError(f"found {word!r}, expected two dots", fix="A..B compares the two commits")
    if ".." in word:
        first, _, second = word.partition("..")
        base, tip = _commit_of(work, first or "HEAD"), _commit_of(work, second or "HEAD")
        chain = history.entries(repo, "--reverse", f"{base}..{tip}")
        return _review(work, "range", word, base, tip, chain)
    try:
        waits = the_waiting(work, word)
    except NothingWaits:
        last = None if word else newest_in_effect(work.landed())
        if not (word or last):
            raise
        word = last.run if last else word
    else:
        steps = waits.chain(work)
        return _review(work, "waits", waits.run, waits.base, waits.tip, steps, waits.entry)
    try:
        found = landing_of(work, word)
    except NoSuchRun:
        found = next(history.entries(repo, "-1", _commit_of(work, word)))
    state: Stage = "landed" if found.landed else "commit"
    title = found.landed or f"{found.commit[:10]} {found.subject}"
    if found.landed and (who := work.other_person(found)):
        title += f", at the clone of {who}"
    steps = history.chain_of(repo, found.commit)
    return _review(work, state, title, found.before, found.commit, steps, found)


def _commit_of(work: Work, word: str) -> str:
    """Return the commit that a revision or run id identifies."""
    if found := work.store.resolve(word):
        return found
    with suppress(NothingWaits):
        return the_waiting(work, word).tip
    try:
        return landing_of(work, word).commit
    except NoSuchRun:
        raise UsageError(
            f"no run and no commit is called {word!r}", fix="`memrepo log` lists runs and commits"
        ) from None


def _review(
    work: Work,
    state: Stage,
    title: str,
    base: str,
    tip: str,
    chain: Iterable[history.LogEntry],
    entry: history.LogEntry | None = None,
) -> Review:
    """Return the changes between two commits, and why the commits between them made them.

    `base` is empty if there is no earlier commit. `entry` is the merge or commit that is shown.
    """
    before = work.store.snapshot(base).state() if base else EMPTY
    after = work.store.snapshot(tip).state()
    decisions = _decisions(chain)
    changes = []
    for one in differences(before, after):
        id_, new = one.memory.id, one.after
        heirs: list[str] = []
        replaced: list[str] = []
        if new is not None and one.kind == "superseded":
            heirs = [i for i in new.superseded_by if i in after.memories]
        if new is not None and one.kind == "added":
            old = [i for i in new.supersedes if i in before.memories]
            replaced = [i for i in old if before.memories[i].status != "superseded"]
        against = sorted(_contradicted(new) - _contradicted(one.before))
        changes.append(
            report.Change(
                difference=one,
                decisions=decisions.get(id_, ()),
                successors=tuple(after.memories[i] for i in heirs),
                replaces=tuple(replaced),
                against=tuple(after.memories[i] for i in against if i in after.memories),
            )
        )
    return Review(
        title=title,
        state=state,
        base=base,
        tip=tip,
        run=entry.run if entry and state in ("waits", "landed") else "",
        reason=entry.trailer("Reason") if entry else "",
        when=f"{entry.when.astimezone(work.config.zone):%Y-%m-%d %H:%M %Z}" if entry else "",
        files=_files(work, base, tip),
        changes=tuple(changes),
    )


def _contradicted(memory: Memory | None) -> set[str]:
    links = memory.links if memory else ()
    return {link.target for link in links if link.type == "contradicts"}


def _decisions(chain: Iterable[history.LogEntry]) -> Mapping[str, tuple[report.Reason, ...]]:
    """Return the decisions about each memory."""
    found: dict[str, tuple[report.Reason, ...]] = {}
    for entry in chain:
        one = report.Reason(
            op=entry.op,
            reason=entry.trailer("Reason"),
            actor=entry.trailer("Actor"),
            commit=entry.commit,
        )
        for id_ in entry.trailers.get("Memory", ()):
            found[id_] = (*found.get(id_, ()), one)
    return found


def _files(work: Work, base: str, tip: str) -> dict[str, int]:
    """Return the number of changed files per folder, not counting memories."""
    layout = work.tree.layout
    changed = work.store.work.changed(base, tip)
    names = (
        path.removeprefix(layout.prefix).partition("/")[0]
        if layout.owns(path)
        else "files that are not memrepo's"
        for path in changed
        if not layout.is_memory(path)
    )
    return dict(sorted(Counter(names).items()))


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
    refuse_taking(work, ours, result.state, "accept a run without", dry_run=request.dry_run)
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
    updates, _ = states.close(tip, states.known_in(base))  # what they replaced is active again
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


HOW = "--keep MEMORY or --both"


class DecidedBefore(MemrepoError):
    """Raised when a contradiction is already decided and the losing memory is no longer active."""

    exit_code = Exit.DECIDE

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(
            f"{conflict.id} is {conflict.status}: {conflict.first.id} is"
            f" {conflict.first.status}, {conflict.second.id} {conflict.second.status}",
            fix="`memrepo log` shows the commit of that decision, `memrepo revert` undoes it",
        )


class ResolveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo resolve`."""

    id: Annotated[
        str,
        option(
            "the contradiction, or a memory that is in one; default: all open ones",
            metavar="ID",
        ),
    ] = ""
    keep: Annotated[
        str | None,
        option("this one is true, and replaces the other", "--keep", metavar="MEMORY", group="how"),
    ] = None
    both: Annotated[bool, option("no contradiction: both remain", "--both", group="how")] = False
    list: Annotated[
        bool, option("list all contradictions and other corrections, open ones first", "--list")
    ] = False
    dry_run: DryRun = False
    reason: Reason = ""


class Party(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of two contradicting memories. Of one that is gone, only the text is known."""

    id: str
    text: str
    path: str = ""
    status: str = ""
    standing: str = ""
    evidence: tuple[Quote, ...] = ()


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """A contradiction with both texts and, if there is one, the decision."""

    id: str
    status: str
    memories: tuple[Party, ...]
    verdict: str = "flagged"
    kept: str = ""
    confidence: float | None = None
    reason: str = ""
    by: str = ""
    at: str = ""
    decided: str = ""
    run: str = ""
    path: str = ""
    """The correction file that records the decision."""


class Disputes(VerbResult, frozen=True, kw_only=True):
    """The contradictions and other corrections that were asked for, open ones first."""

    corrections: tuple[Dispute, ...]


def resolve(work: Work, request: ResolveRequest) -> Disputes | Written | Unchanged:
    """List, show or decide contradictions. Exit with status 3 after showing an open one."""
    if request.id and request.list:
        raise UsageError(
            f"resolve: --list names all cases, and {request.id} was given too",
            fix=f"leave out one of them; `memrepo resolve {request.id}` shows that case",
        )
    state = work.tree.state()
    if not request.id:
        if request.keep or request.both:
            raise UsageError("no contradiction was given", fix="`memrepo resolve` lists them")
        return _listed(work, only_open=not request.list)
    conflict = the_dispute(state, request.id)
    if not (request.keep or request.both):
        shown = _dispute(work, conflict)
        exit_ = Exit.DECIDE if shown.status == "open" else Exit.DONE
        return Disputes(corrections=(shown,), exit=exit_)
    actor = work.actor

    def draft(state: State) -> Step | Unchanged:
        return _Decider(
            state=state,
            conflict=the_dispute(state, request.id),
            actor=actor,
            now=work.call.now,
            reason=request.reason,
        ).step(request.keep)

    return write(work, request, draft)


def the_dispute(state: State, word: str) -> Conflict:
    """Return the contradiction that a word identifies: its own id or one of its memories."""
    found = conflicts(state, corrections_of(state))
    digits = word.removeprefix("con-")
    fits = [c for c in found if digits and c.id.startswith(f"con-{digits}")]
    if not fits:
        start = word.removeprefix("mem-")
        names = [c for c in found if start and any(_is_named(m, start, word) for m in c.sides)]
        fits = [c for c in names if c.status == "open"] or names
    if not fits:
        raise UsageError(
            f"no contradiction is called {word!r}",
            fix="`memrepo resolve --list` lists them",
        )
    if len(fits) > 1:
        more = f" and {len(fits) - 5} more" if len(fits) > 5 else ""
        raise MemrepoError(
            f"{word!r} fits {len(fits)} contradictions: {', '.join(c.id for c in fits[:5])}{more}",
            fix="name one of them",
            exit_code=Exit.DECIDE,
        )
    return fits[0]


def _is_named(memory: Memory, start: str, word: str) -> bool:
    return memory.id.startswith(f"mem-{start}") or word in (*memory.names, memory.path)


def _dispute(work: Work, conflict: Conflict) -> Dispute:
    """Return a contradiction with both texts, their evidence and the recorded decision."""
    parties = tuple(
        Party(
            id=m.id,
            path=m.path,
            status=m.status,
            standing=m.standing,
            text=m.body,
            evidence=evidence(work, m),
        )
        for m in conflict.sides
    )
    return _decided(
        work,
        Dispute(id=conflict.id, status=conflict.status, memories=parties),
        conflict.case,
    )


def _decided(work: Work, found: Dispute, case: Correction | None) -> Dispute:
    """Return a dispute completed with the decision that a correction records."""
    if case is None:
        return found
    return replace(
        found,
        verdict=case.verdict,
        kept=case.kept,
        confidence=case.confidence,
        reason=case.reason,
        by=case.by,
        at=format_time(case.at) if case.at else "",
        decided=format_time(case.decided) if case.decided else "",
        run=case.run,
        path=corrections_of(work.tree.state()).paths.get(case.id, ""),
    )


def _listed(work: Work, *, only_open: bool) -> Disputes:
    """List contradictions, and cases of which a memory is gone, open ones first."""
    state = work.tree.state()
    cases = corrections_of(state)
    found = conflicts(state, cases)
    rows = [_dispute(work, c) for c in found if c.status == "open" or not only_open]
    known = {conflict.id for conflict in found}
    for id_, case in sorted(cases.cases.items(), key=lambda item: item[1].id):
        if id_ not in known and not only_open:  # a memory is missing
            one = Dispute(
                id=case.id,
                status="moot" if case.status == "open" else "resolved",
                memories=tuple(Party(id=side.memory, text=side.text) for side in case.sides),
            )
            rows.append(_decided(work, one, case))
    rows.sort(key=lambda row: STATUSES.index(row.status))
    return Disputes(corrections=tuple(rows), notices=cases.problems)


_VERDICTS: Mapping[CorrectionVerdict, str] = {
    "superseded": "one of the two is true",
    "both": "they do not contradict each other",
}
"""The reason for the commit, by verdict."""
Fields: TypeAlias = dict[str, object]


class _Decider(msgspec.Struct, frozen=True, kw_only=True):
    """Computes the step that decides one contradiction."""

    state: State
    conflict: Conflict
    actor: str
    now: datetime
    reason: str

    def step(self, keep: str | None) -> Step | Unchanged:
        """Return the step that decides the contradiction, or Unchanged if nothing changes."""
        conflict, case = self.conflict, self.conflict.case
        first, second = conflict.sides
        winner = self._winner(keep) if keep else None
        verdict: CorrectionVerdict = "superseded" if winner else "both"
        decision = verdict, winner.id if winner else ""
        is_resolved = conflict.status == "resolved"
        if is_resolved and case is not None and (case.verdict, case.kept) == decision:
            return unchanged(winner or conflict.first, f"has this decision already ({conflict.id})")
        if is_resolved and any(m.status != "active" for m in conflict.sides):
            raise DecidedBefore(conflict)
        if winner is not None:
            updates = self._replacement(winner, second if winner is first else first)
        else:
            updates = {m.id: self._independent(m, o) for m, o in self._pairs()}
        changes: list[Change] = [Update(id=i, fields=f) for i, f in updates.items() if f]
        changes.append(self._correction(*decision))
        return Step(
            op="resolve",
            reason=_VERDICTS[verdict],
            changes=tuple(changes),
            memories=(first.id, second.id),
        )

    def _pairs(self) -> tuple[tuple[Memory, Memory], tuple[Memory, Memory]]:
        first, second = self.conflict.sides
        return (first, second), (second, first)

    def _winner(self, word: str) -> Memory:
        first, second = self.conflict.first, self.conflict.second
        start = word.removeprefix("mem-")
        fits = [m for m in (first, second) if _is_named(m, start, word)]
        if len(fits) != 1:
            raise UsageError(
                f"{word!r} is neither {first.id} nor {second.id}",
                fix="name one of the two, or another contradiction",
            )
        return fits[0]

    def _replacement(self, winner: Memory, lost: Memory) -> dict[str, Fields]:
        """Return the updates after one memory supersedes the other, undoing the opposite."""
        fields = {winner.id: uncontested(winner, lost.id, self._is_active)}
        if lost.status == "superseded" and winner.id in lost.superseded_by:
            return {**fields, lost.id: uncontested(lost, winner.id, self._is_active)}
        if lost.status != "active" and winner.status == "active":
            return fields
        fields[winner.id] |= self._revived(winner, lost)
        fields[winner.id]["supersedes"] = tuple(dict.fromkeys((*winner.supersedes, lost.id)))
        fields[lost.id] = {
            **uncontested(lost, winner.id, self._is_active),
            **superseded(lost, winner.id, self.now),
        }
        if winner.id in lost.supersedes:
            fields[lost.id]["supersedes"] = _without(lost.supersedes, winner.id)
        return fields

    def _independent(self, memory: Memory, other: Memory) -> Fields:
        """Return the fields of a memory that does not contradict the other."""
        fields = {**reconciled(memory, other.id, self._is_active), **self._revived(memory, other)}
        if other.id in memory.supersedes:
            fields["supersedes"] = _without(memory.supersedes, other.id)
        return fields

    def _is_active(self, id_: str) -> bool:
        known = self.state.memories.get(id_)
        return known is not None and known.status == "active"

    def _revived(self, memory: Memory, other: Memory) -> Fields:
        """Return the fields that reactivate a memory after the other memory had superseded it."""
        if memory.status == "active":
            return {}
        if memory.superseded_by != (other.id,):
            raise DecidedBefore(self.conflict)
        return {
            "status": None,
            "superseded_by": None,
            "superseded_at": None,
        }

    def _correction(self, verdict: CorrectionVerdict, winner: str) -> Write:
        conflict, before = self.conflict, self.conflict.case
        case = Correction(
            id=conflict.id,
            verdict=verdict,
            kept=winner,
            sides=(
                Side(memory=conflict.first.id, text=conflict.first.body),
                Side(memory=conflict.second.id, text=conflict.second.body),
            ),
            confidence=before.confidence if before else None,
            reason=self.reason or (before.reason if before else ""),
            by=self.actor,
            at=(before.at if before else None) or self.now,
            decided=self.now,
            run=before.run if before else "",
        )
        return corrections.record(self.state, case)


def _without(ids: tuple[str, ...], id_: str) -> tuple[str, ...] | None:
    return tuple(i for i in ids if i != id_) or None
