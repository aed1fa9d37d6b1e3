"""`memrepo decay`: what decay classes hold, reclassify after new rules, prune what is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Answer, Work
from memrepo.actions.write.commit import Wrote, write_steps
from memrepo.core.changes import Step, Update
from memrepo.core.memory import Decay
from memrepo.core.messages import counted
from memrepo.core.state import State
from memrepo.policies.archive import archive
from memrepo.policies.classes import AUTOMATIC, automatic, class_of
from memrepo.policies.decay import (
    decays,
    is_over,
    is_stale,
    keeping,
    prunable,
    told_ttl,
)
from memrepo.policies.leaving import Leaving
from memrepo.store.ledger import ledger_of


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `decay`."""

    what: Annotated[
        str,
        option(
            "count by class; classify anew; take out what is over",
            choices=("stats", "backfill", "prune"),
        ),
    ]
    soft: Annotated[
        bool, option("prune low confidence only, leave the expired alone", "--soft")
    ] = False
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Answer:
    """Count, reclassify or prune."""
    match request.what:
        case "stats":
            return _stats(work)
        case "backfill":
            wrote = write_steps(work, request, lambda _, state: _backfill(state))
            return _answer(wrote, "classified anew")
        case _:
            wrote = write_steps(
                work,
                request,
                lambda at, state: _prune(at, state, soft=request.soft),
            )
            return _answer(wrote, "pruned")


def _stats(work: Work) -> Answer:
    rules = work.config.rules.decay
    accesses = ledger_of(work.store).accesses()
    found = [m for m in work.tree.state().memories.values() if decays(m)]
    kept = [(m, keeping(m, accesses.of(m.id), work.call.now, rules)) for m in found]
    classes = Counter(k.cls for _, k in kept)
    over = [k for m, k in kept if is_over(m, k)]
    expired = sum(k.expired for k in over)
    held = sum(k.held is not None and work.call.now < k.held for _, k in kept)
    stale = sum(is_stale(m, k) for m, k in kept)
    names = [*rules.ttl, *sorted(classes.keys() - rules.ttl.keys())]
    data = {
        "classes": {name: classes[name] for name in names},
        "memories": len(kept),
        "expired_pending": expired,
        "low_pending": len(over) - expired,
        "held": held,
        "stale": stale,
    }
    lines = [f"{n:<10}  {classes[n]:>6}  lives {told_ttl(rules.ttl.get(n))}" for n in names]
    lines.append(f"{'expired, pending prune':<22}  {expired}")
    lines.append(f"{'low confidence':<22}  {len(over) - expired}")
    lines.append(f"{'held by a future date':<22}  {held}")
    lines.append(f"{'stale, still recalled':<22}  {stale}")
    return Answer(data=data, text="\n".join(lines))


def _backfill(state: State) -> Sequence[Step]:
    """Classify anew what a program classified: not what a person wrote, nor other classes."""
    changed = [
        (memory, name)
        for memory in state.active
        if decays(memory)
        and "decay" in memory.fields
        and memory.text("origin") != "manual"
        and class_of(memory) in AUTOMATIC
        and (name := automatic(memory)) != class_of(memory)
    ]
    return [
        Step(
            op="decay",
            what=f"{m.label} {class_of(m)} to {name}",
            reason=f"the rules in force say {name}",
            changes=(Update(id=m.id, fields={"decay": Decay(cls=name)}),),
        )
        for m, name in changed
    ]


def _prune(at: Work, state: State, *, soft: bool) -> Sequence[Step]:
    accesses, rules = ledger_of(at.store).accesses(), at.config.rules.decay
    leaving, steps = Leaving(state.memories), []
    for memory, kept in prunable(state.active, accesses, at.call.now, rules, soft=soft):
        if kept.ended:
            steps.append(archive(memory, at.call.now, kept.told()))
        elif changes := leaving.leave(memory.id):
            steps.append(Step(op="prune", what=memory.label, reason=kept.told(), changes=changes))
    return steps


def _answer(wrote: Wrote, did: str) -> Answer:
    rows: list[dict[str, Any]] = [
        {"what": step.what, "reason": step.reason, "memories": list(step.memory_ids)}
        for step in wrote.steps
    ]
    said = counted(len(rows), "memory", "memories")
    head = f"{said} {did}" + (f" ({wrote.commit[:10]})" if wrote.commit else "")
    if rows and not wrote.commit:
        head = f"dry run: {said} would be {did}"
    lines = [head, *(f"  {row['what']}: {row['reason']}" for row in rows)]
    data = {"commit": wrote.commit, "changes": rows}
    return Answer(data=data, text="\n".join(lines), problems=wrote.notices)
