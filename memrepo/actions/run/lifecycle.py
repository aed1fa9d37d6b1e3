"""The lifecycle stage of a run: what time and use ask for, and what a late retrieval undoes.

A reconciliation has none: it is reviewed, and what is owed to age is not a matter of opinion.

What was decided without knowing of a retrieval: undone by the next run that does.

A ledger may reach this clone after the history that was decided without it. What is looked at is
what the ledger learnt since the last run that decided from it, of memories that were pruned,
archived or demoted since. (A note's tier needs no undoing: its moves follow every retrieval.)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.offer import Offered, gisted
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.access import Access, Accesses, seconds
from memrepo.core.changes import Change, Create, Op, Step, Update
from memrepo.core.judge import Judge
from memrepo.core.manifest import Recorded
from memrepo.core.memory import Hot, Memory, of_types
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.archive import archive_due, unarchive
from memrepo.policies.decay import is_over, keeping, prunable
from memrepo.policies.hotcache import Candidate, compose_hot, may_be_hot, nominated, unused
from memrepo.policies.rules import Rules
from memrepo.policies.tiers import moves
from memrepo.policies.upkeep import Allowed, Upkeep, upkeep
from memrepo.purify.candidates import Nominee
from memrepo.purify.holds import fingerprints
from memrepo.store import history
from memrepo.store.history import Entry
from memrepo.store.ledger import Ledger, ledger_of, unite
from memrepo.store.trace import Lost, lost_files, removed_by
from memrepo.store.tree import file_at


class Owed(msgspec.Struct, frozen=True, kw_only=True):
    """What the stage proposes, findings, and the ledger's commit that it decided from.

    `gists` tells of the gists that the run's judge was asked for; `room` is how many more memories
    may leave recall in this run.
    """

    steps: tuple[Step, ...] = ()
    problems: tuple[Problem, ...] = ()
    gists: Offered = msgspec.field(default_factory=Offered)
    ledger: str = ""
    room: int = 0


def owed(
    work: Work,
    state: State,
    now: datetime,
    kept: Sequence[Step],
    manifests: Iterable[Recorded],
    never: frozenset[str],
    judge: Judge | None = None,
) -> Owed:
    """Return what is owed on the state that the steps kept so far lead to.

    `never` holds the fingerprints of what a person took back or refused. Without a judge the gists
    of notes are the offline ones.
    """
    ledger = ledger_of(work.store)
    accesses, after = ledger.accesses(), played(state, kept)
    back, behind = corrected(work, after, accesses, now, lambda step: _is_allowed(step, never))
    after = played(after, back)
    found = owed_upkeep(work, after, accesses, now, manifests, never)
    gists = Offered(steps=found.steps) if judge is None else gisted(after, found.steps, judge, now)
    return Owed(
        steps=(*back, *gists.steps),
        problems=(*behind, *found.problems, *gists.problems),
        ledger=ledger.tip(),
        gists=gists,
        room=found.room,
    )


def played(state: State, steps: Iterable[Step]) -> State:
    """Return the state after some steps."""
    return apply(state, (change for step in steps for change in step.changes))


def nominees_of(
    work: Work, state: State, now: datetime, never: frozenset[str]
) -> tuple[Nominee, ...]:
    """Return the notes that earned promotion, but for those whose nomination was taken back."""
    accesses = ledger_of(work.store).accesses()
    # Marked notes aside, only what was retrieved can have earned anything.
    active = of_types(state.active, ("note",))
    notes = [m for m in active if m.flag("user_marked") or accesses.of(m.id).total]
    over = {part for one in never if one.startswith("nominate:") for part in one[9:].split("+")}
    found = nominated(notes, accesses, now, work.config.rules.tiers)
    return tuple(_nominee(work, one) for one in found if one.note.id not in over)


def _nominee(work: Work, found: Candidate) -> Nominee:
    path = found.note.path
    last = work.tree.files[path].rstrip(b"\n").count(b"\n") + 1
    first = last - found.note.body.strip().count("\n")
    return Nominee(nomination=found, blob=work.tree.blobs[path], lines=(first, last))


def owed_upkeep(
    work: Work,
    state: State,
    accesses: Accesses,
    now: datetime,
    manifests: Iterable[Recorded],
    never: frozenset[str],
) -> Upkeep:
    """Return the upkeep of a state by the there's rules."""
    counts = _counts(work, state, now, manifests)
    spent = sum(int(c.get(name, 0)) for c in counts for name in PACED)
    found = upkeep(
        state,
        accesses,
        now,
        work.config.rules,
        spent=spent,
        allowed=lambda step: _is_allowed(step, never),
    )
    # What is compressed together depends on all that is left: once a moment is enough.
    return replace(found, room=0) if any(c.get("summaries") for c in counts) else found


def composed(work: Work, state: State, never: frozenset[str]) -> tuple[Step, ...]:
    """Return the steps by which the first page of a state is composed now."""
    rules, accesses = work.config.rules, ledger_of(work.store).accesses()
    page = compose_hot(
        state.active,
        accesses,
        work.call.now,
        rules.hot,
        rules.decay,
        allowed=lambda step: _is_allowed(step, never),
    )
    return page.steps


def _is_allowed(step: Step, never: frozenset[str]) -> bool:
    """Tell whether a step may be proposed: not what a person reverted or refused.

    A commit that promoted several memories and was reverted binds each of them.
    """
    if step.op == "tier":
        return True
    if step.op in ("promote", "demote"):
        ids = {id_ for one in never if one.startswith(f"{step.op}:") for id_ in _ids(one)}
        return not ids >= set(step.memory_ids)
    return not fingerprints(step.op, step.memory_ids) & never


def _ids(fingerprint: str) -> list[str]:
    return fingerprint.partition(":")[2].split("+")


PACED = ("pruned", "archived", "summarised")
"""Counts of a manifest that use up the pace, which is one a moment."""


def _counts(
    work: Work, state: State, now: datetime, manifests: Iterable[Recorded]
) -> list[dict[str, Any]]:
    """Return the counts of the runs at this very moment."""
    paths = [work.tree.layout.manifest(m.run) for m in manifests if m.now == format_time(now)]
    return [json.loads(state.files[path]).get("counts", {}) for path in paths]


def corrected(
    work: Work, state: State, accesses: Accesses, now: datetime, allowed: Allowed
) -> tuple[tuple[Step, ...], tuple[Problem, ...]]:
    """Return a step for each memory that would have stayed, had the ledger been known.

    The finding says that the ledger lacks what the newest run decided from.
    """
    ledger = ledger_of(work.store)
    before = history.decided_from(work.store.repo, work.tree.commit)
    if before and before == ledger.tip():
        return (), ()
    known = not before or ledger.reaches(before)
    learnt = _Learnt(ledger, before if known else "")
    made: list[Step] = []
    for id_ in sorted(learnt.told):
        step = _corrected(work, state, accesses, now, learnt, id_)
        if step is not None and allowed(step):
            made.append(step)
            state = apply(state, step.changes)
    return tuple(made), () if known else (_behind(before),)


def _behind(before: str) -> Problem:
    return Problem(
        path=f"refs/memrepo/access@{before[:10]}",
        rule="ledger-behind",
        severity="warning",
        message="the newest run decided from retrievals that are not known here: what was used"
        " elsewhere may age",
        fix="`memrepo sync` brings them; `memrepo doctor --fix`, where the ref was lost here",
    )


class _Learnt:
    """What the ledger tells now that it did not at a commit of its own (empty: at none)."""

    def __init__(self, ledger: Ledger, before: str) -> None:
        self._ledger = ledger
        self._old = ledger.blobs(before)
        found = [
            ledger.segment(blob).accesses
            for name, blob in ledger.blobs(ledger.tip()).items()
            if name not in self._old
        ]
        self.told = frozenset(id_ for one in found for id_ in one.by_memory)
        self._found = found

    @cached_property
    def known(self) -> Accesses:
        """Return the accounts as they were."""
        blobs = self._old.items()
        return unite({name: self._ledger.segment(blob) for name, blob in blobs})

    def before(self, id_: str, when: datetime) -> bool:
        """Tell whether a retrieval of a memory, up to a moment, was not known."""
        until = seconds(when)
        late = {pair for one in self._found for pair in one.of(id_).recent if pair[0] <= until}
        # A segment that unites others tells of theirs again.
        return bool(late) and bool(late - set(self.known.of(id_).recent))


def _corrected(
    work: Work, state: State, accesses: Accesses, now: datetime, learnt: _Learnt, id_: str
) -> Step | None:
    memory, access = state.memories.get(id_), accesses.of(id_)
    if memory is None:
        more = access.total > learnt.known.of(id_).total
        return _restored(work, state, id_, access, now) if more else None
    rested, hot = memory.time("archived_at"), memory.fields.get("hot")
    if memory.status == "archived" and rested is not None and learnt.before(id_, rested):
        return _unarchived(work, memory, access, now)
    until = hot.until if hot is not None else None
    if memory.status == "active" and until is not None and learnt.before(id_, until):
        return _hot_again(work, memory, accesses, learnt.known, now)
    return None


def _by_a_run(work: Work, op: Op, id_: str) -> Entry | None:
    """Return the newest commit of an operation on a memory where a run made it, not a person."""
    entry = history.last_of(work.store.repo, work.tree.commit, op, id_)
    return entry if entry is not None and entry.run else None


def _until(access: Access, when: datetime) -> Access:
    """Return an account without what came after a moment, as far as it tells single retrievals."""
    until = seconds(when)
    return replace(access, recent=tuple(pair for pair in access.recent if pair[0] <= until))


def _why(access: Access, what: str, when: datetime) -> str:
    last = _until(access, when).last
    at = format_time(last) if last else ""
    return f"retrieved at {at}; its {what} at {format_time(when)} was decided without that"


def _unarchived(work: Work, memory: Memory, access: Access, now: datetime) -> Step | None:
    when, rules = memory.time("archived_at"), work.config.rules
    if when is None or _by_a_run(work, "archive", memory.id) is None:
        return None
    awake = memory.with_fields({"status": None, "archived_at": None})
    for known, at in ((_until(access, when), when), (access, now)):
        due = archive_due(awake, known, rules.archive)
        if due is not None and due <= at:
            return None
    if is_over(awake, keeping(awake, access, now, rules.decay)):
        return None
    return unarchive(memory, _why(access, "archiving", when))


def _hot_again(
    work: Work, memory: Memory, accesses: Accesses, known: Accesses, now: datetime
) -> Step | None:
    """Return the step that takes a demotion back which was made for want of use alone."""
    entry, rules = _by_a_run(work, "demote", memory.id), work.config.rules
    data = file_at(work.store.repo, f"{entry.commit}^", memory.path) if entry else None
    old = codec.decode(memory.path, data)[0] if data is not None else None
    hot: Hot | None = old.fields.get("hot") if old is not None else None
    until: datetime | None = memory.fields["hot"].until
    if old is None or hot is None or hot.since is None or until is None:
        return None
    then = {old.id: _until(accesses.of(old.id), until)}
    spared = unused(old, replace(accesses, by_memory=then), until) < rules.hot.idle
    idle = unused(old, replace(accesses, by_memory=known.by_memory), until) >= rules.hot.idle
    awake = memory.with_fields({"hot": hot})
    if not (idle and spared) or unused(awake, accesses, now) >= rules.hot.idle:
        return None
    if not may_be_hot(awake, accesses, now, rules.decay):
        return None
    return Step(
        op="promote",
        reason=_why(accesses.of(memory.id), "demotion", until),
        changes=(Update(id=memory.id, fields={"hot": hot}),),
    )


def _restored(work: Work, state: State, id_: str, access: Access, now: datetime) -> Step | None:
    for lost, memory in _removals(work, id_):
        entry = next(history.entries(work.store.repo, "-1", lost.commit))
        rules = work.config.rules
        then = _until(access, entry.when)
        if entry.op != "prune" or not then.recent or tombstones_in(state).bar(memory):
            return None
        if _is_due(memory, then, entry.when, rules) or _is_due(memory, access, now, rules):
            return None
        back = _back(work, state, lost.commit)
        why = _why(access, "prune", entry.when)
        return Step(op="restore", reason=why, changes=back, memories=(id_,))
    return None


def _removals(work: Work, id_: str) -> Iterator[tuple[Lost, Memory]]:
    """Yield the removals of a memory from the tree, newest first."""
    tail = f"-{id_.removeprefix('mem-')[:6]}"
    for lost in lost_files(work.store.repo, work.tree.commit, work.tree.layout, tail):
        memory, _ = codec.decode(lost.path, lost.data)
        if memory is not None and memory.id == id_:
            yield lost, memory


def _is_due(memory: Memory, access: Access, at: datetime, rules: Rules) -> bool:
    """Tell whether a memory is to be pruned at a moment by what an account says."""
    if memory.is_note:
        return not any(m.source == "forgotten" for m in moves(memory, access, at, rules.tiers))
    return bool(prunable([memory], Accesses(by_memory={memory.id: access}), at, rules.decay))


def _back(work: Work, state: State, commit: str) -> tuple[Change, ...]:
    """Return what brings back everything that a prune took along, with no reference dangling."""
    found = removed_by(work.store.repo, commit, work.tree.layout)
    memories = [memory for one in found if (memory := codec.decode(one.path, one.data)[0])]
    creates = [
        Create(memory=replace(m, path=state.free_path(m)))
        for m in memories
        if m.id not in state.memories
    ]
    before = {finding.name for finding in closure.findings(state)}
    updates, _ = closure.close(apply(state, creates), before)
    return (*creates, *updates)
