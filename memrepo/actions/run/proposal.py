"""What a run would do at one commit: read, purify, part, render. Writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.chain import Drafter, Proposal, waiting_units
from memrepo.actions.run.consolidation import Setting as Consolidating
from memrepo.actions.run.consolidation import consolidated
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.run.judge_choice import Tick, pair_judge, watched
from memrepo.actions.run.lifecycle import Owed, nominees_of, owed, played
from memrepo.actions.run.offer import Offered
from memrepo.actions.work import Work
from memrepo.core.changes import BULK_OPS, Delete, Step, Write
from memrepo.core.judge import Judge
from memrepo.core.manifest import (
    Consumed,
    Recorded,
    Removal,
    open_removals,
)
from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.policies.retrieval import Near, Query
from memrepo.policies.upkeep import interlock, losses
from memrepo.purify.answers import Kept
from memrepo.purify.batches import Failure
from memrepo.purify.candidates import Nominee
from memrepo.purify.decisions import Statements
from memrepo.purify.holds import (
    Parted,
    barred,
    carried,
    fingerprints,
    on_record,
    part,
    prints_between,
    told_apart,
)
from memrepo.purify.intake import Reader, cursors
from memrepo.purify.pipeline import Mode, Purified, Setting, purify
from memrepo.store import history, landings
from memrepo.store.history import Entry
from memrepo.store.tree import read_blob

if TYPE_CHECKING:
    from memrepo.store.index import Index


STAGES = ("ingest", "purify", "lifecycle", "consolidation")
"""What a run goes through, in order; a reconciliation has the first two."""
PROPOSED = 100
"""Priors that the index proposes for one cluster."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is asked to do.

    `manifest` wants one written even when nothing else is: an acknowledged upgrade is on record.
    `kept` holds the answers that a judge was paid for before. `model` lets a model be asked about
    what is old, too; a dry run leaves that. `stages` are those that the run goes through; views
    always follow the memories.
    """

    mode: Mode = "incremental"
    max_change_pct: float = 20.0
    manifest: bool = False
    kept: Kept | None = None
    model: bool = True
    limited: bool = False
    stages: frozenset[str] = frozenset(STAGES)


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """The chain that may land, the chain that waits, and findings on the way."""

    main: Proposal | None
    waiting: Proposal | None
    problems: tuple[Problem, ...]
    quarantined: tuple[Mapping[str, str], ...] = ()
    partial: str = ""
    """Why some of what is new could not be judged."""
    failures: tuple[Failure, ...] = ()
    removals: tuple[Removal, ...] = ()
    """What it would take away and holds back."""
    holds: bool = False
    """Whether anything waits, drafted here or not."""
    comparer: str = ""
    """Who compared all memories that are there then, but for those that are `left`."""
    left: tuple[str, ...] = ()


def propose(
    work: Work, judge: Judge, now: datetime, wish: Wish, tick: Tick = lambda _: None
) -> Proposed:
    """Compute what a run on the there's commit would do."""
    state = work.tree.state()
    manifests, damaged = work.tree.manifests
    refused: frozenset[str] = frozenset().union(*(m.refused for m in manifests))
    gone = taken_back(work)
    left_out = frozenset[str]().union(*(m.offered for m in manifests))
    back = gone | left_out
    purified, statements = Purified(), Statements()
    if "purify" in wish.stages:
        nominees: tuple[Nominee, ...] = ()
        if wish.mode == "incremental":
            nominees = nominees_of(work, state, now, back | refused)
        purified = _purify(work, state, manifests, nominees, judge, now, wish, tick, statements)
    purified, bars = barred(state, purified, whole=wish.mode == "reconciliation")
    problems = (*state.problems, *damaged, *purified.problems)
    never = bars.dropped | refused
    parted = part(purified.steps, gone, never, similar=bars.held, offered=left_out)
    life, offered = Owed(), Offered()
    waits, left = _Waits(stays=parted.kept), tuple[str, ...]()
    if wish.mode == "incremental":
        waits = _told_apart(work, state, parted.kept, purified, manifests, back | never, now, wish)
        # A judge that gave up on what is new is not asked for what is old.
        asks = not purified.receipt.partial and (wish.model or not judge.prompt_hash)
        asked = judge if asks else None
        life = _owed(work, state, now, waits.stays, manifests, back | never, asked, wish)
        if "consolidation" in wish.stages:
            compared = purified.receipt.compared.union(*(m.compared for m in manifests))
            offered = consolidated(
                played(state, (*waits.stays, *life.steps)),
                Consolidating(
                    work=work,
                    now=now,
                    judge=asked,
                    never=back | never,
                    compared=compared,
                    room=life.room,
                    before=state,
                    manifests=manifests,
                    statements=statements,
                ),
            )
        done = (step for step in offered.steps if step.op != "link")  # which states nothing
        left = tuple(sorted({id_ for step in done for id_ in step.memory_ids}))
        offered, waits = _pressed(state, waits, offered, wish)
    problems += (*life.problems, *offered.problems)
    beside = life.gists + offered
    purified = _with(purified, beside, judge)
    if wish.kept is not None:
        # Should the chain not land, the one that is computed anew finds no question to pay for.
        wish.kept.keep({}, beside.usage)
    steps = [*waits.stays, *life.steps, *offered.steps]
    # Their memories are let go of one by one as they are drafted, which nothing here is to prevent.
    purified, parted = replace(purified, steps=()), replace(parted, kept=())
    waits = replace(waits, stays=())
    drafter = Drafter(
        work=work,
        state=state,
        judge=judge,
        now=now,
        mode=wish.mode,
        manifest=wish.manifest,
        runs=tuple(m.run for m in manifests),
    )
    consumed = _without(purified.consumed, waiting_units(parted, purified))
    if not (parted.held or waits.steps):  # else the chain that waits names what speaks for it
        purified = replace(purified, behind={})
    main = drafter.draft(
        steps,
        purified,
        consumed=consumed,
        files=_files(purified, parted),
        held=waits.fresh,
        decided=waits.taken,
    )
    if main is not None:
        why = _why_wait(main, wish, work, state)
        main = replace(main, wait=why, ledger=life.ledger if life.steps else "")
    waiting = None
    # Removals are drafted on what they take away from: on the commit of the chain that lands first.
    taking = waits.steps if main is None else ()
    if parted.held or taking:
        waiting = drafter.draft_held(
            parted, purified, paid=main is not None, removals=taking, why=waits.told
        )
    if main is None and waiting is None and purified.receipt.usage.calls:
        # Nothing came of it, but it was paid for: the receipt is kept.
        main = replace(drafter, manifest=True).draft([], purified, consumed=())
    return Proposed(
        main=main,
        waiting=waiting,
        problems=problems,
        quarantined=purified.quarantined,
        partial=purified.receipt.partial,
        failures=purified.failures,
        removals=on_record(waits.steps, waits.told),
        holds=bool(waiting is not None or waits.steps),
        comparer=offered.comparer,
        left=left,
    )


def _owed(
    work: Work,
    state: State,
    now: datetime,
    kept: Sequence[Step],
    manifests: Sequence[Recorded],
    never: frozenset[str],
    judge: Judge | None,
    wish: Wish,
) -> Owed:
    """Return what is owed; without that stage only the room that it leaves to the next one."""
    if "lifecycle" in wish.stages:
        return owed(work, state, now, kept, manifests, never, judge)
    if "consolidation" in wish.stages:
        return Owed(room=owed(work, state, now, kept, manifests, never).room)
    return Owed()


def _with(purified: Purified, beside: Offered, judge: Judge) -> Purified:
    """Return what was purified with what other stages cost, and what there is to tell of them."""
    receipt = purified.receipt
    return replace(
        purified,
        problems=(*purified.problems, *beside.problems),
        failures=(*purified.failures, *beside.failures),
        receipt=replace(
            receipt,
            usage=receipt.usage + beside.usage,
            prompt_hash=judge.prompt_hash if beside.usage.calls else receipt.prompt_hash,
            compared=receipt.compared | beside.compared,
            comparer=beside.comparer,
        ),
    )


def _files(purified: Purified, parted: Parted) -> tuple[Write | Delete, ...]:
    """Return the changes of candidate files; a file stays while the memory it became waits."""
    return tuple(
        change
        for change in purified.files
        if not (
            isinstance(change, Delete)
            and purified.returned.get(change.path, frozenset()) & parted.open_ids
        )
    )


class _Waits(msgspec.Struct, frozen=True, kw_only=True):
    """What lands of a run (`stays`), and what waits because it takes away (`steps`), with why.

    `fresh` goes on record as waiting; `taken` waited before, and lands.
    """

    stays: tuple[Step, ...]
    steps: tuple[Step, ...] = ()
    why: tuple[str, ...] = ()
    fresh: tuple[Removal, ...] = ()
    taken: tuple[Removal, ...] = ()

    @property
    def told(self) -> str:
        """Return why the removals wait."""
        return "; ".join(dict.fromkeys(filter(None, self.why)))


def _told_apart(
    work: Work,
    state: State,
    steps: tuple[Step, ...],
    purified: Purified,
    manifests: Sequence[Recorded],
    never: frozenset[str],
    now: datetime,
    wish: Wish,
) -> _Waits:
    """Hold back what a run would take away where that is too much; what waited before goes on so.

    Only a limit that somebody named for this very run lets what waited land.
    """
    changes = [change for step in steps for change in step.changes]
    reasons = [interlock(state, changes, wish.max_change_pct), *purified.alarms]
    why = "; ".join(filter(None, reasons))
    stays, held = told_apart(state, steps) if why else (steps, ())
    after = played(state, (*stays, *held))
    before, causes = _carried(work, after, manifests, never, now)
    if before and wish.limited and not why:
        more = [change for step in (*stays, *before) for change in step.changes]
        if not interlock(state, more, wish.max_change_pct):
            return _Waits(stays=(*stays, *before), taken=on_record(before, ""))
    return _Waits(
        stays=stays,
        steps=(*before, *held),
        why=(*causes, why),
        fresh=on_record(held, why),
    )


def _carried(
    work: Work,
    state: State,
    manifests: Sequence[Recorded],
    never: frozenset[str],
    now: datetime,
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the removals that earlier runs left waiting, but those that a person refused."""
    removals = open_removals(manifests)
    if not removals:
        return (), ()
    reader = Reader(
        texts_at(work, cursors(manifests)), lambda blob: read_blob(work.store.repo, blob)
    )
    steps, causes = carried(state, removals, reader, now, "pending")
    return part(steps, frozenset(), never).kept, causes


def _pressed(state: State, waits: _Waits, offered: Offered, wish: Wish) -> tuple[Offered, _Waits]:
    """Hold back what consolidation would take away where that is too much."""
    changes = [change for step in (*waits.stays, *offered.steps) for change in step.changes]
    why = interlock(state, changes, wish.max_change_pct)
    held = tuple(step for step in offered.steps if losses(state, step.changes))
    if not why or not held:
        return offered, waits
    waits = replace(
        waits,
        steps=(*waits.steps, *held),
        why=(*waits.why, why),
        fresh=(*waits.fresh, *on_record(held, why)),
    )
    return replace(offered, steps=tuple(s for s in offered.steps if s not in held)), waits


def _why_wait(main: Proposal, wish: Wish, work: Work, state: State) -> str:
    """Say why a chain must not merge itself, or return an empty string."""
    decides = any(step.op not in ("view", "run") for step in main.plan.steps)
    if wish.mode != "reconciliation" or not decides:
        return ""
    if work.config.get("run.reconciliation") == "land":
        changes = (change for step in main.plan.steps for change in step.changes)
        return interlock(state, changes, wish.max_change_pct)
    return "a reconciliation is reviewed before it takes effect"


def _purify(
    work: Work,
    state: State,
    manifests: Sequence[Recorded],
    nominees: tuple[Nominee, ...],
    judge: Judge,
    now: datetime,
    wish: Wish,
    tick: Tick,
    statements: Statements,
) -> Purified:
    cursor = cursors(manifests)
    setting = Setting(
        now=now,
        zone=work.config.zone,
        judge=judge,
        profile=work.config.profile,
        mode=wish.mode,
        near=_near(work),
        afresh=wish.manifest,
        kept=wish.kept,
        nominees=nominees,
        days=work.config.source_rules().days,
        shelf=work.config.get("run.shelf"),
        by_object=work.config.get("reuse.object"),
        learn=work.config.get("run.learn"),
        statements=statements,
        contradictions=work.config.contradictions,
        comparer=pair_judge(work, judge),
        read=watched(partial(read_blob, work.store.repo), tick),
    )
    texts = texts_at(work, cursor)
    return purify(state, texts, cursor, setting)


def _near(work: Work) -> Near:
    """Let the search index propose priors: no memory is cut into words for it again."""

    @cache
    def index() -> Index:
        from memrepo.actions.recall.recall import index_of

        return index_of(work, edits=False)

    def near(query: Query) -> list[str]:
        from memrepo.store.index import Filter

        words = sorted(query.words | query.subject_words | query.entities)
        return index().near(words, Filter(types=CLAIM_TYPES, limit=PROPOSED))

    return near


def _without(
    consumed: Sequence[Consumed], units: frozenset[tuple[str, str]]
) -> tuple[Consumed, ...]:
    found = []
    whole = {resource for resource, hash_ in units if not hash_}
    for entry in consumed:
        if entry.resource in whole:
            # What left this source waits for review: its next version is compared from here again.
            continue
        mine = {hash_ for resource, hash_ in units if resource == entry.resource}
        also = tuple(h for h in entry.also if h not in mine)
        entry = replace(entry, except_=tuple(sorted({*entry.except_, *mine})), also=also)
        # A source of which everything new waits, and that was seen before, is not news again.
        if mine and entry.from_ == entry.to and not also:
            continue
        found.append(entry)
    return tuple(found)


def taken_back(work: Work) -> frozenset[str]:
    """Return fingerprints of decisions that were taken back and are not in effect again.

    A revert of memrepo's names them. One of git's took the manifest of a run out of the tree, and
    what the run had decided with it; where it brought back one that a revert had taken out, that
    revert counts no more.
    """
    found: set[str] = set()
    repo, head, layout = work.store.repo, work.tree.commit, work.tree.layout
    removed = landings.removals(repo, head, layout)
    void = frozenset(e.commit for e, paths in removed if work.tree.blobs.keys() >= {*paths})
    for commit, gone in history.taken_back(repo, head, void).items():
        for entry in history.chain_of(repo, commit):
            found |= _prints(work, entry, gone)
    for entry in _git_took(work, removed, void):
        found |= _prints(work, entry, None)
    return frozenset(found)


def _git_took(
    work: Work, removed: Collection[tuple[Entry, tuple[str, ...]]], void: Collection[str]
) -> Iterator[Entry]:
    """Yield the steps of runs whose manifests another commit than a revert of ours took away."""
    repo, layout = work.store.repo, work.tree.layout
    for entry, paths in removed:
        if entry.op == "revert" or entry.commit in void:
            continue
        before = work.store.snapshot(work.store.parents(entry.commit)[0])
        away = {landings.run_of(path) for path in paths if path not in work.tree.blobs}
        for landing in landings.landings(repo, before.commit, layout, before.blobs):
            if landing.run in away:
                yield from landing.steps(repo)


def _prints(work: Work, entry: Entry, gone: Collection[str] | None) -> frozenset[str]:
    """Return the fingerprints of what one commit decided of some memories; None: of all."""
    ids = entry.trailers.get("Memory", ())
    if not ids and len(entry.parents) == 1 and entry.op in ("edit", "run"):
        return _unsaid(work, entry, gone)
    mine = [id_ for id_ in ids if gone is None or id_ in gone]
    if not mine:
        return frozenset()
    if entry.op not in BULK_OPS:
        return fingerprints(entry.op, ids, entry.prints)
    return fingerprints(entry.op, mine, [p for p in entry.prints if p.split(":")[1] in mine])


def _unsaid(work: Work, entry: Entry, gone: Collection[str] | None) -> frozenset[str]:
    """Return the fingerprints of a whole run in one commit, whose words git lost."""
    changed = work.store.work.changed(entry.parents[0], entry.commit)
    if not work.tree.layout.memory_files(changed):
        return frozenset()
    before, after = (work.store.snapshot(c).state() for c in (entry.parents[0], entry.commit))
    by_id = prints_between(before, after).items()
    return frozenset().union(*(found for id_, found in by_id if gone is None or id_ in gone))
