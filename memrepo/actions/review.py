"""`memrepo diff`, `accept`, `discard` and `resolve`: read what changes, and decide.

A run that waits is a branch. `accept` merges it into HEAD as one commit, field by field. What is in
conflict with later work is left out, and like the changes of a discarded run not proposed again.

Runs mark memories whose lines are gone. The word `removals` names all of them: `accept` archives
them, `discard` confirms them, so that no later run marks them for the same reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
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
    write,
)
from memrepo.actions.past import NoSuchRun, landing_of
from memrepo.actions.pending import (
    REMOVALS,
    NothingWaits,
    Waiting,
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
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.memory import Memory, Stamp, differing
from memrepo.core.messages import PREFIX, REASON_LENGTH, Context, counted, fold, message
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
from memrepo.core.times import EARLIEST
from memrepo.merge import states
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.tombstones import (
    path_of,
    tombstone_bytes,
    tombstone_of_changes,
    tombstones_in,
)
from memrepo.merge.versions import MergeConflict
from memrepo.policies.hotcache import back_on_page
from memrepo.policies.standing import (
    Contradiction,
    as_settled,
    changed_at,
    open_contradictions,
    reconciled,
    replaced,
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


_RUN = f"the pending run, or `{REMOVALS}` for all memories marked for removal; default: the run"


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
    if request.run == REMOVALS:
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

    What was removed or rejected since the run was made does not come back. If another clone made
    the run, the sources that it read come too: its commits since the histories parted.
    """
    common = work.store.common_ancestors([work.tree.commit, waits.base])
    fork = common[0] if common else waits.base
    base, ours = work.store.snapshot(fork).state(), work.tree.state()
    rejected = tombstones_in(ours)
    gone = [
        Remove(id=m.id)
        for m in tip.every
        if m.id not in ours.memories
        and (m.id in base.memories or rejected.find_barring(m) is not None)
    ]
    tip = apply(tip, gone)
    updates, _ = states.close(tip, states.known_in(base))  # what they replaced is active again
    changed = frozenset(work.store.work.changed(fork, waits.tip))
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
    if request.run == REMOVALS:
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
    """Return the change that keeps a marked memory: a person confirms it, as it was before."""
    stamp = Stamp(by=work.actor, at=work.call.now)
    fields = {"standing": None, "verified": (*memory.verified, stamp)}
    run = memory.retired[-1].run if memory.retired else ""
    marked = datetime.strptime(run[:8], "%Y%m%d").replace(tzinfo=UTC) if run else EARLIEST
    return Update(id=memory.id, fields={**fields, **back_on_page(memory, marked, work.call.now)})


HOW = "--keep MEMORY or --both"
Fields: TypeAlias = dict[str, object]


class ResolveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo resolve`."""

    id: Annotated[
        str,
        option("the contradiction, or a memory that is in one; default: all", metavar="ID"),
    ] = ""
    keep: Annotated[
        str | None,
        option("this one is true, and replaces the other", "--keep", metavar="MEMORY", group="how"),
    ] = None
    both: Annotated[bool, option("no contradiction: both remain", "--both", group="how")] = False
    dry_run: DryRun = False
    reason: Reason = ""


class Party(msgspec.Struct, frozen=True, kw_only=True):
    """One of two contradicting memories, with its evidence."""

    id: str
    text: str
    path: str
    status: str
    standing: str
    evidence: tuple[Quote, ...] = ()


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """A contradiction with both texts, the newer one first, and why a run found it."""

    id: str
    memories: tuple[Party, ...]
    reason: str = ""


class Disputes(VerbResult, frozen=True, kw_only=True):
    """The contradictions that were asked for."""

    contradictions: tuple[Dispute, ...]


def resolve(work: Work, request: ResolveRequest) -> Disputes | Written | Unchanged:
    """List, show or decide contradictions. Exit with status 3 after showing one."""
    state = work.tree.state()
    if not request.id:
        if request.keep or request.both:
            raise UsageError("no contradiction was given", fix="`memrepo resolve` lists them")
        return Disputes(contradictions=_disputes(work, open_contradictions(state)))
    if not (request.keep or request.both):
        shown = _disputes(work, [the_contradiction(state, request.id)])
        return Disputes(contradictions=shown, exit=Exit.DECIDE)

    def draft(state: State) -> Step:
        found = the_contradiction(state, request.id)
        if request.keep:
            return _settled(work, state, request, _keep_one(work, found, request.keep))
        return _settled(work, state, request, _keep_both(work, state, found))

    return write(work, request, draft)


def _settled(work: Work, state: State, request: ResolveRequest, step: Step) -> Step:
    """Return a step with its record, so that no run asks again until one memory is reworded."""
    one, other = (state.memories[id_] for id_ in step.memories)
    stone = tombstone_of_changes(
        f"Settled: {one.id} and {other.id}",
        (as_settled(one, other),),
        (one, other),
        reason=fold(request.reason, REASON_LENGTH) or step.reason,
        by=work.actor,
        at=work.call.now,
    )
    stone = replace(stone, statement=f"{stone.statement}\n\n{step.reason}")
    record = Write(path=path_of(state.layout, stone.key), data=tombstone_bytes(stone))
    return replace(step, changes=(*step.changes, record))


def the_contradiction(state: State, word: str) -> Contradiction:
    """Return the contradiction that a word identifies: its own id or one of its memories."""
    found = open_contradictions(state)
    digits = word.removeprefix("con-")
    fits = [one for one in found if digits and one.id.startswith(f"con-{digits}")]
    fits = fits or [one for one in found if any(_is_named(m, word) for m in one.sides)]
    if not fits:
        raise UsageError(
            f"no open contradiction is called {word!r}",
            fix="`memrepo resolve` lists them, `memrepo log --op resolve` what was decided",
        )
    if len(fits) > 1:
        more = f" and {len(fits) - 5} more" if len(fits) > 5 else ""
        raise MemrepoError(
            f"{word!r} fits {len(fits)} contradictions: {', '.join(c.id for c in fits[:5])}{more}",
            fix="name one of them",
            exit_code=Exit.DECIDE,
        )
    return fits[0]


def _is_named(memory: Memory, word: str) -> bool:
    start = word.removeprefix("mem-")
    is_start = bool(start) and memory.id.startswith(f"mem-{start}")
    return is_start or word in (*memory.names, memory.path)


def _disputes(work: Work, found: Sequence[Contradiction]) -> tuple[Dispute, ...]:
    """Return contradictions with both texts, their evidence and the reason of the last run."""
    why: dict[frozenset[str], str] = {}
    words = ("--no-merges", "--grep", f"^{PREFIX}Op: flag$", work.tree.commit)
    for entry in history.entries(work.store.repo, *words) if found else ():
        why.setdefault(frozenset(entry.trailers.get("Memory", ())), entry.trailer("Reason"))
    return tuple(
        Dispute(
            id=one.id,
            memories=tuple(_party(work, memory) for memory in one.sides),
            reason=why.get(frozenset(memory.id for memory in one.sides), ""),
        )
        for one in found
    )


def _party(work: Work, memory: Memory) -> Party:
    return Party(
        id=memory.id,
        path=memory.path,
        status=memory.status,
        standing=memory.standing,
        text=memory.body,
        evidence=evidence(work, memory),
    )


def _keep_one(work: Work, found: Contradiction, word: str) -> Step:
    """Return the step after which one memory of a contradiction supersedes the other."""
    first, second = found.sides
    fits = [pair for pair in ((first, second), (second, first)) if _is_named(pair[0], word)]
    if len(fits) != 1:
        raise UsageError(
            f"{word!r} is neither {first.id} nor {second.id}",
            fix="name one of the two, or another contradiction",
        )
    (pair,) = fits
    winner, lost = pair
    is_active = _active_in(work.tree.state())
    free, ended = (uncontested(one, rival.id, is_active) for one, rival in (pair, pair[::-1]))
    supersedes = tuple(dict.fromkeys((*winner.supersedes, lost.id)))
    if not replaced(lost, winner):  # or it was made again
        ended |= {**_without(lost, winner), **superseded(lost, winner.id, work.call.now)}
    fields = {**free, **_without(winner, lost), **_back(work, found, winner)}
    fields["supersedes"] = supersedes
    fields["tags"] = tuple(dict.fromkeys((*winner.tags, *lost.tags))) or None
    return _decided(found, {winner.id: fields, lost.id: ended}, f"{winner.id} is true")


def _keep_both(work: Work, state: State, found: Contradiction) -> Step:
    """Return the step after which both memories of a contradiction are valid."""
    one, other = found.sides
    fields = {
        m.id: {
            **reconciled(m, rival.id, _active_in(state)),
            **_without(m, rival),
            **_back(work, found, m),
        }
        for m, rival in ((one, other), (other, one))
    }
    return _decided(found, fields, "they do not contradict each other")


def _back(work: Work, found: Contradiction, memory: Memory) -> Fields:
    """Return the fields that put a side back on the page which it left for the contradiction."""
    return {**back_on_page(memory, max(map(changed_at, found.sides)), work.call.now)}


def _decided(found: Contradiction, fields: Mapping[str, Fields], reason: str) -> Step:
    changes = tuple(Update(id=id_, fields=one) for id_, one in fields.items() if one)
    ids = tuple(m.id for m in found.sides)
    return Step(op="resolve", reason=reason, changes=changes, memories=ids)


def _active_in(state: State) -> Callable[[str], bool]:
    return lambda id_: id_ in state.memories and state.memories[id_].status == "active"


def _without(memory: Memory, other: Memory) -> Fields:
    """Return the fields of a memory that neither supersedes another one nor is superseded by it."""
    fields: Fields = {}
    if other.id in memory.supersedes:
        fields["supersedes"] = tuple(i for i in memory.supersedes if i != other.id) or None
    if other.id in memory.superseded_by:
        heirs = tuple(i for i in memory.superseded_by if i != other.id)
        fields["superseded_by"] = heirs or None
        if not heirs:
            fields |= {"status": None, "superseded_at": None}
    return fields
