"""What a run takes away is told apart from what it adds: additions land, removals may have to wait.

A removal that waits is on record in the manifest of the run that found it, and so survives a clone,
a lost branch and every later night. It is proposed again, on what the memories have become, until a
manifest says that it was decided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from memrepo.core.changes import BULK_OPS, Step, prints_of
from memrepo.core.memory import Memory
from memrepo.core.state import State
from memrepo.policies.interlock import losses
from memrepo.purify.decisions import replaced_pair
from memrepo.purify.holding import fingerprints
from memrepo.purify.known import Former, Known
from memrepo.purify.manifest import CARRIED, Removal
from memrepo.purify.retire import TextHashes, retire


def told_apart(state: State, steps: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps that may land, and those that take active memories of a state away."""
    takes = [can_wait(step) and bool(losses(state, step.changes)) for step in steps]
    adding = tuple(s for s, taking in zip(steps, takes, strict=True) if not taking)
    return adding, tuple(s for s, taking in zip(steps, takes, strict=True) if taking)


def can_wait(step: Step) -> bool:
    """Tell whether a step can be carried on from run to run; another kind is not held back."""
    return step.op in CARRIED and (step.op == "retire" or len(step.memory_ids) == 2)


def on_record(steps: Iterable[Step], why: str) -> tuple[Removal, ...]:
    """Return what a manifest keeps of steps that wait: one removal a decision."""
    found: list[Removal] = []
    for step in filter(can_wait, steps):
        if step.op == "supersede":
            found.append(Removal(op=step.op, memories=step.memory_ids, reason=step.reason, why=why))
        else:
            found += [
                Removal(op=step.op, memories=(id_,), reason=step.reason, why=why)
                for id_ in step.memory_ids
            ]
    return tuple(found)


def prints_in(steps: Iterable[Step]) -> frozenset[str]:
    """Return the fingerprints of the decisions of some steps."""
    found: set[str] = set()
    for step in steps:
        prints = [p for change in step.changes for p in prints_of(step.op, change)]
        found |= fingerprints(step.op, step.memory_ids, prints if step.op in BULK_OPS else ())
    return frozenset(found)


def carried(
    state: State,
    removals: Sequence[Removal],
    standing: TextHashes,
    now: datetime,
    run: str,
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps by which removals that still hold good would be made, and why they wait.

    A memory whose line is back, which a person confirmed, or which left recall in another way is
    none of their business any more.
    """
    retiring = {r.memories[0] for r in removals if r.op == "retire"}
    steps = [*retire(state, None, standing, (), run, among=_unconfirmed(state, retiring))]
    pairs = [r for r in removals if r.op == "supersede" and _stand(state, r.memories)]
    if pairs:
        known = Known(state=state, former=Former(standing=standing), now=now)
        made = (replaced_pair(known, r.memories[1], r.memories[0], r.reason) for r in pairs)
        steps += [step for step in made if step is not None]
    due = {(step.op, id_) for step in steps for id_ in step.memory_ids}
    why = (r.why for r in removals if (r.op, r.memories[0]) in due)
    return tuple(steps), tuple(dict.fromkeys(filter(None, why)))


def _unconfirmed(state: State, ids: Collection[str]) -> frozenset[str]:
    return frozenset(i for i in ids if i in state.memories and not _confirmed(state.memories[i]))


def _confirmed(memory: Memory) -> bool:
    return any(stamp.by.startswith("human:") for stamp in memory.fields.get("verified", ()))


def _stand(state: State, ids: Sequence[str]) -> bool:
    return all(i in state.memories and state.memories[i].status == "active" for i in ids)
