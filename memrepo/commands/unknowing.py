"""Prunes that did not know of a retrieval: undone by the next run that does.

A ledger may reach this clone after the history that was decided without it. What is looked at is
what the ledger learnt since the last run that decided from it, of memories that are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from memrepo.commands.session import Desk
from memrepo.core import closure, codec
from memrepo.core.access import Access, Accesses, moment, seconds
from memrepo.core.changes import Change, Create, Step
from memrepo.core.memory import Memory
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.policies.decay import prunable
from memrepo.policies.rules import Rules
from memrepo.policies.tiers import moves
from memrepo.policies.upkeep import Allowed
from memrepo.store import history
from memrepo.store.ledger import Ledger, ledger_of, unite
from memrepo.store.lost import Lost, lost_files, removed_by


def restored(
    desk: Desk, state: State, accesses: Accesses, now: datetime, allowed: Allowed
) -> tuple[Step, ...]:
    """Return a step for each memory that a prune would have spared had it known the ledger."""
    made = []
    for id_ in _learnt(desk, state, accesses):
        step = _restored(desk, state, id_, accesses.of(id_), now)
        if step is not None and allowed(step):
            made.append(step)
            state = apply(state, step.changes)
    return tuple(made)


def _learnt(desk: Desk, state: State, accesses: Accesses) -> list[str]:
    """Return the memories that are gone and of which the ledger tells more than it did."""
    ledger = ledger_of(desk.store)
    before = history.decided_from(desk.store.repo, desk.tree.commit)
    tip = ledger.tip()
    if not tip or tip == before:
        return []
    old = ledger.blobs(before)
    new = {name: blob for name, blob in ledger.blobs(tip).items() if name not in old}
    told = {id_ for blob in new.values() for id_ in ledger.segment(blob).accesses.by_memory}
    gone = sorted(told - state.memories.keys())
    if not gone:
        return []
    known = _known(ledger, old)
    return [id_ for id_ in gone if accesses.of(id_).total > known.of(id_).total]


def _known(ledger: Ledger, blobs: Mapping[str, str]) -> Accesses:
    return unite({name: ledger.segment(blob) for name, blob in blobs.items()})


def _restored(desk: Desk, state: State, id_: str, access: Access, now: datetime) -> Step | None:
    for lost, memory in _removals(desk, id_):
        entry = next(history.entries(desk.store.repo, "-1", lost.commit))
        rules = desk.config.rules
        late = [at for at, _ in access.recent if at <= seconds(entry.when)]
        if entry.op != "prune" or not late or state.tombstones.bar(memory):
            return None
        then = replace(access, recent=tuple(p for p in access.recent if p[0] <= late[0]))
        if _is_due(memory, then, entry.when, rules) or _is_due(memory, access, now, rules):
            return None
        back = _back(desk, state, lost.commit)
        why = (
            f"retrieved at {format_time(moment(late[0]))}, which its prune at"
            f" {format_time(entry.when)} did not know of"
        )
        what = f"{memory.label} from history"
        return Step(op="restore", what=what, reason=why, changes=back, memories=(id_,))
    return None


def _removals(desk: Desk, id_: str) -> Iterator[tuple[Lost, Memory]]:
    """Yield the removals of a memory from the tree, newest first."""
    tail = f"-{id_.removeprefix('mem-')[:6]}"
    for lost in lost_files(desk.store.repo, desk.tree.commit, desk.tree.layout, tail):
        memory, _ = codec.decode(lost.path, lost.data)
        if memory is not None and memory.id == id_:
            yield lost, memory


def _is_due(memory: Memory, access: Access, at: datetime, rules: Rules) -> bool:
    """Tell whether a memory is to be pruned at a moment by what an account says."""
    if memory.is_note:
        return not any(move.marked for move in moves(memory, access, at, rules.tiers))
    return bool(prunable([memory], Accesses(by_memory={memory.id: access}), at, rules.decay))


def _back(desk: Desk, state: State, commit: str) -> tuple[Change, ...]:
    """Return what brings back everything that a prune took along, with no reference dangling."""
    found = removed_by(desk.store.repo, commit, desk.tree.layout)
    memories = [memory for one in found if (memory := codec.decode(one.path, one.data)[0])]
    creates = [
        Create(memory=replace(m, path=state.free_path(m)))
        for m in memories if m.id not in state.memories
    ]  # fmt: skip
    before = {finding.name for finding in closure.findings(state)}
    updates, _ = closure.close(apply(state, creates), before)
    return (*creates, *updates)
