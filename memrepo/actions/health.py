"""`memrepo health`: figures of ageing and use, and what is due; pruning and reclassification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, ClassVar

import msgspec

from memrepo.actions.landing import StepsWritten, write_steps
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.core.errors import Exit, UsageError
from memrepo.core.manifest import Accesses
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.state import State, Step, Update
from memrepo.core.times import format_time
from memrepo.policies.ageing import (
    AUTOMATIC,
    TIERS,
    Nomination,
    Retention,
    automatic,
    class_of,
    decays,
    effective,
    format_ttl,
    is_over,
    is_stale,
    nominated,
    prunable,
    retention_of,
)
from memrepo.policies.claims import is_by_person
from memrepo.policies.hotcache import COLD_AFTER, RETENTION, heat, hot_of, synced_at, unused
from memrepo.policies.rules import DecayRules, Rules
from memrepo.policies.standing import is_retired
from memrepo.policies.upkeep import Leaving, archive, due_tier_moves, for_review
from memrepo.store import history
from memrepo.store.run_files import Ledger

LABELS = ("critical", "pinned", "recent", "stale", "cold")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `health`."""

    prune: Annotated[
        bool,
        option(
            "remove all memories that are expired or of low confidence, without the limit of a run",
            "--prune",
            group="way",
        ),
    ] = False
    soft: Annotated[
        bool, option("prune only memories of low confidence, not expired ones", "--soft")
    ] = False
    reclassify: Annotated[
        bool,
        option("give memories the decay class of the current rules", "--reclassify", group="way"),
    ] = False
    dry_run: DryRun = False
    reason: Reason = ""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change, with its reason and the memories that it concerns."""

    what: str
    reason: str
    memories: tuple[str, ...]


class Changed(VerbResult, frozen=True, kw_only=True):
    """The changes that were made. `commit` is empty if nothing was written."""

    commit: str
    changes: tuple[Change, ...]


class DueMove(msgspec.Struct, frozen=True, kw_only=True):
    """A tier move that a note is due for, and the reason."""

    id: str
    path: str
    from_: str = msgspec.field(name="from")
    to: str
    since: str
    why: str
    label: str
    retrievals: int


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """A memory in the hot cache, and the number of sessions since its last retrieval."""

    key: str
    sessions: int


class DecayFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of memories per decay class, of those to prune, and of protected ones."""

    classes: Mapping[str, int]
    lives: Mapping[str, str]
    """The lifetime of each class, as text."""
    expired_pending: int
    low_pending: int
    held: int
    """Number of memories protected by a future date in their text."""
    stale: int


class Health(VerbResult, frozen=True, kw_only=True):
    """The figures of memories and notes, and what is due. The exit code is 1 if anything ails."""

    is_report: ClassVar[bool] = True

    healthy: bool
    ailments: tuple[str, ...]
    hot: int
    budget: int
    pinned: int
    files: int
    tracked: int
    promotions: int
    demotions: int
    archived: int
    priority: dict[str, int]
    cold_candidates: int
    synced: int
    over: int
    """Number of memories past their expiry that are not pruned yet."""
    review: tuple[str, ...]
    """Ids of archived memories that are due for review."""
    stalest: tuple[Stale, ...]
    log_items_pruned: int
    decay: DecayFigures
    tiers: Mapping[str, int]
    """The number of active notes per effective tier."""
    due: tuple[DueMove, ...]
    candidates: tuple[Nomination, ...]
    """The nominated notes, most often retrieved first."""


def do(work: Work, request: Request) -> Health | Changed:
    """Return the figures at HEAD, or prune or reclassify memories, depending on the request."""
    _refuse_pointless(request)
    if request.prune or request.soft:
        prune = partial(_prune, soft=request.soft)
        return _changed(write_steps(work, request, prune))
    if request.reclassify:
        return _changed(write_steps(work, request, lambda _, state: _backfill(state)))
    return figures(work)


def _refuse_pointless(request: Request) -> None:
    """Raise UsageError for options that need another action than the one that is asked for."""
    if request.soft and request.reclassify:
        raise UsageError(
            "memrepo: health: --soft is about pruning, --reclassify prunes nothing",
            fix="give one of them, then the other in a second call",
        )
    if (request.dry_run or request.reason) and not (
        request.prune or request.soft or request.reclassify
    ):
        option_ = "--dry-run" if request.dry_run else "--reason"
        raise UsageError(
            f"memrepo: health: {option_} without an action",
            fix="add --prune, --soft or --reclassify",
        )


def figures(work: Work) -> Health:
    """Return the health figures at HEAD."""
    now, rules = work.call.now, work.config.rules
    accesses, state = Ledger(work.store).accesses(), work.tree.state()
    found = [m for m in state.memories.values() if m.type not in ("note", "chunk")]
    active = [m for m in found if m.status == "active"]
    hot = [m for m in active if hot_of(m) is not None]
    counts = {m.id: unused(m, accesses, now) for m in hot}
    flags = ((m, next((key for key in LABELS[:2] if getattr(m, key)), "")) for m in hot)
    labels = Counter(flag or heat(counts[m.id], rules.hot) for m, flag in flags)
    retained = [retention_of(m, accesses.of(m.id), now, rules.decay) for m in active]
    over = sum(is_over(r.memory, r) for r in retained)
    notes = [m for m in state.active if m.is_note]
    spread = Counter(effective(n, accesses.of(n.id), now, rules.tiers) for n in notes)
    review = for_review(found, now, rules.archive)
    ailments = tuple(_ailments(len(hot), rules.hot.budget, over, len(review)))
    entries = list(history.entries(work.store.repo, work.tree.commit))
    return Health(
        exit=Exit.NO if ailments else Exit.DONE,
        healthy=not ailments,
        ailments=ailments,
        hot=len(hot),
        budget=rules.hot.budget,
        pinned=sum(m.pinned for m in hot),
        files=sum(not is_retired(m) for m in active),
        tracked=sum(bool(accesses.of(m.id).total) for m in active),
        promotions=sum(e.op == "promote" for e in entries),
        demotions=sum(e.op == "demote" for e in entries),
        archived=sum(m.status == "archived" for m in found),
        priority={name: labels[name] for name in LABELS},
        cold_candidates=sum(_is_cold(m, accesses, now) for m in active),
        synced=sum(synced_at(m) is not None for m in hot),
        over=over,
        review=tuple(m.id for m in review),
        stalest=tuple(
            Stale(key=f"{m.layer}:{m.slug}", sessions=counts[m.id])
            for m in sorted(hot, key=lambda m: (-counts[m.id], m.path))[:5]
        ),
        log_items_pruned=sum(
            e.op in ("promote", "demote") and now - e.when > RETENTION for e in entries
        ),
        decay=_decay(retained, rules.decay, now),
        tiers={tier: spread[tier] for tier in TIERS},
        due=tuple(_due(state, accesses, now, rules)),
        candidates=nominated(notes, accesses, now, rules.tiers),
    )


def _decay(retained: Sequence[Retention], rules: DecayRules, now: datetime) -> DecayFigures:
    """Count memories by decay class, and by what decay does with them."""
    classes = Counter(one.cls for one in retained)
    over = [one for one in retained if is_over(one.memory, one)]
    expired = sum(one.expired for one in over)
    names = [*rules.ttl, *sorted(classes.keys() - rules.ttl.keys())]
    return DecayFigures(
        classes={name: classes[name] for name in names},
        lives={name: format_ttl(rules.ttl.get(name)) for name in names},
        expired_pending=expired,
        low_pending=len(over) - expired,
        held=sum(one.held is not None and now < one.held for one in retained),
        stale=sum(is_stale(one.memory, one) for one in retained),
    )


def _is_cold(memory: Memory, accesses: Accesses, now: datetime) -> bool:
    """Return whether a memory is not on the first page, and was never retrieved for long."""
    if hot_of(memory) is not None or accesses.of(memory.id).total:
        return False
    return now - (memory.created or now) > COLD_AFTER


def _due(state: State, accesses: Accesses, now: datetime, rules: Rules) -> Iterator[DueMove]:
    """Yield the tier moves that the next run makes."""
    for note, move in due_tier_moves(state, accesses, now, rules):
        yield DueMove(
            id=note.id,
            path=note.path,
            from_=move.source,
            to=move.tier,
            since=format_time(move.since),
            why=move.why,
            label=note.label,
            retrievals=accesses.of(note.id).total,
        )


def _ailments(hot: int, budget: int, over: int, review: int) -> Iterator[str]:
    """Describe the problems that the figures show, one sentence per problem."""
    if hot > budget:
        yield f"{counted(hot, 'memory is', 'memories are')} hot, the budget is {budget}"
    if over:
        past = counted(over, "memory is past its", "memories are past their")
        yield f"{past} time and not pruned yet"
    if review:
        waits = counted(review, "archived memory waits", "archived memories wait")
        yield f"{waits} for a person's decision"


def _backfill(state: State) -> Sequence[Step]:
    """Return steps that reclassify memories."""
    changed = [
        (memory, name)
        for memory in state.active
        if decays(memory)
        and "decay" in memory.fields
        and memory.origin != "manual"
        and class_of(memory) in AUTOMATIC
        and (name := automatic(memory)) != class_of(memory)
    ]
    return [
        Step(
            op="decay",
            reason=f"by the current rules its decay class is {name}, was {class_of(m)}",
            changes=(Update(id=m.id, fields={"decay": name}),),
        )
        for m, name in changed
    ]


def _prune(at: Work, state: State, *, soft: bool) -> Sequence[Step]:
    accesses, rules = Ledger(at.store).accesses(), at.config.rules.decay
    leaving, steps = Leaving(state.memories), []
    over = prunable(state.active, accesses, at.call.now, rules, soft=soft)
    if at.call.actor:  # steps that may be deferred for a person must come last
        over.sort(key=lambda pair: is_by_person(pair[0]))
    for memory, found in over:
        if found.ended:
            steps.append(archive(memory, at.call.now, found.reason()))
        elif changes := leaving.leave(memory.id):
            steps.append(Step(op="prune", reason=found.reason(), changes=changes))
    return steps


def _changed(wrote: StepsWritten) -> Changed:
    return Changed(
        exit=wrote.exit,
        commit=wrote.commit,
        changes=_changes_of(wrote.steps),
        notices=wrote.notices,
    )


def _changes_of(steps: Sequence[Step]) -> tuple[Change, ...]:
    return tuple(
        Change(what=step.what, reason=step.reason, memories=tuple(step.memory_ids))
        for step in steps
    )
