"""The ageing of memories: decay classes, tiers of notes, nominations and health figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from memrepo.actions.request import DryRun, Reason, VerbResult, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import StepsWritten, write_steps
from memrepo.core.changes import Step, Update
from memrepo.core.errors import Exit
from memrepo.core.messages import counted
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.policies.ageing import (
    AUTOMATIC,
    TIERS,
    Nomination,
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
from memrepo.policies.hotcache import COLD_AFTER, heat, hot_of, synced_at, unused
from memrepo.policies.standing import is_retired
from memrepo.policies.upkeep import Leaving, archive, due_tier_moves, for_review
from memrepo.store import history
from memrepo.store.ledger import ledger_of
from memrepo.views.bundles import RETENTION

LABELS = ("critical", "pinned", "recent", "stale", "cold")


class DecayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `decay`."""

    what: Annotated[
        Literal["stats", "backfill", "prune"],
        option(
            "count by class, classify again, or remove expired memories",
            choices=("stats", "backfill", "prune"),
        ),
    ]
    soft: Annotated[
        bool, option("prune only memories of low confidence, not expired ones", "--soft")
    ] = False
    dry_run: DryRun = False
    reason: Reason = ""


class Stats(VerbResult, frozen=True, kw_only=True):
    """The number of memories per decay class, and of expired ones."""

    classes: Mapping[str, int]
    memories: int
    expired_pending: int
    low_pending: int
    held: int
    """Number of memories protected by a future date in their text."""
    stale: int
    lives: Mapping[str, str]
    """The lifetime of each class, as text."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change, with its reason and the memories that it concerns."""

    what: str
    reason: str
    memories: tuple[str, ...]


class Changed(VerbResult, frozen=True, kw_only=True):
    """The changes that were made. `commit` is empty if nothing was written."""

    commit: str
    changes: tuple[Change, ...]


def decay(work: Work, request: DecayRequest) -> Stats | Changed:
    """Count, reclassify or prune memories, depending on the request."""
    match request.what:
        case "stats":
            return _stats(work)
        case "backfill":
            return _changed(write_steps(work, request, lambda _, state: _backfill(state)))
        case _:
            return _changed(
                write_steps(work, request, lambda at, state: _prune(at, state, soft=request.soft))
            )


def _stats(work: Work) -> Stats:
    rules = work.config.rules.decay
    accesses = ledger_of(work.store).accesses()
    found = [m for m in work.tree.state().memories.values() if decays(m)]
    kept = [(m, retention_of(m, accesses.of(m.id), work.call.now, rules)) for m in found]
    classes = Counter(k.cls for _, k in kept)
    over = [k for m, k in kept if is_over(m, k)]
    expired = sum(k.expired for k in over)
    held = sum(k.held is not None and work.call.now < k.held for _, k in kept)
    stale = sum(is_stale(m, k) for m, k in kept)
    names = [*rules.ttl, *sorted(classes.keys() - rules.ttl.keys())]
    return Stats(
        classes={name: classes[name] for name in names},
        memories=len(kept),
        expired_pending=expired,
        low_pending=len(over) - expired,
        held=held,
        stale=stale,
        lives={name: format_ttl(rules.ttl.get(name)) for name in names},
    )


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
    accesses, rules = ledger_of(at.store).accesses(), at.config.rules.decay
    leaving, steps = Leaving(state.memories), []
    over = prunable(state.active, accesses, at.call.now, rules, soft=soft)
    if at.call.actor:  # steps that may be deferred for a person must come last
        over.sort(key=lambda found: is_by_person(found[0]))
    for memory, kept in over:
        if kept.ended:
            steps.append(archive(memory, at.call.now, kept.reason()))
        elif changes := leaving.leave(memory.id):
            steps.append(Step(op="prune", reason=kept.reason(), changes=changes))
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


class TiersRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `tiers`."""


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


class Spread(VerbResult, frozen=True, kw_only=True):
    """The number of active notes per effective tier, and the tier moves that are due."""

    tiers: Mapping[str, int]
    notes: int
    due: tuple[DueMove, ...] = msgspec.field(name="owed")


def tiers(work: Work, request: TiersRequest) -> Spread:
    """Count the active notes by effective tier, and list the tier moves that are due."""
    del request
    state, rules, now = work.tree.state(), work.config.rules, work.call.now
    notes = [m for m in state.active if m.is_note]
    accesses = ledger_of(work.store).accesses()
    counts = Counter(effective(n, accesses.of(n.id), now, rules.tiers) for n in notes)
    return Spread(
        tiers={tier: counts[tier] for tier in TIERS},
        notes=len(notes),
        due=tuple(
            DueMove(
                id=note.id,
                path=note.path,
                from_=move.source,
                to=move.tier,
                since=format_time(move.since),
                why=move.why,
                label=note.label,
                retrievals=accesses.of(note.id).total,
            )
            for note, move in due_tier_moves(state, accesses, now, rules)
        ),
    )


class NominateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `nominate`."""

    report: Annotated[
        bool, option("print the report in markdown, with destinations", "--report")
    ] = False


class Nominated(VerbResult, frozen=True, kw_only=True):
    """The nominated notes, most often retrieved first."""

    candidates: tuple[Nomination, ...]


def nominate(work: Work, request: NominateRequest) -> Nominated:
    """List the nominated notes without writing anything."""
    del request
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules.tiers
    found = nominated(work.tree.state().active, accesses, work.call.now, rules)
    return Nominated(candidates=found)


class HealthRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `health`."""


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """A memory in the hot cache, and the number of sessions since its last retrieval."""

    key: str
    sessions: int


class Health(VerbResult, frozen=True, kw_only=True):
    """The health figures. The exit code is 1 if there are any ailments."""

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


def health(work: Work, request: HealthRequest) -> Health:
    """Return the health figures at HEAD."""
    del request
    now, rules = work.call.now, work.config.rules
    accesses = ledger_of(work.store).accesses()
    found = [m for m in work.tree.state().memories.values() if m.type not in ("note", "chunk")]
    active = [m for m in found if m.status == "active"]
    hot = [m for m in active if hot_of(m) is not None]
    counts = {m.id: unused(m, accesses, now) for m in hot}
    flags = ((m, next((key for key in LABELS[:2] if getattr(m, key)), "")) for m in hot)
    labels = Counter(flag or heat(counts[m.id], rules.hot) for m, flag in flags)
    retained = ((m, retention_of(m, accesses.of(m.id), now, rules.decay)) for m in active)
    over = sum(is_over(m, retention) for m, retention in retained)
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
        cold_candidates=sum(
            not accesses.of(m.id).total and now - (m.created or now) > COLD_AFTER
            for m in active
            if hot_of(m) is None
        ),
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
