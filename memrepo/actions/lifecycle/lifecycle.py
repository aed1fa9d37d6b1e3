"""The lifecycle stage of a run: what time and use ask for, decided from the ledger at one commit.

A reconciliation has none: it is reviewed, and what is owed to age is not a matter of opinion.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.lifecycle.unknowing import corrected
from memrepo.actions.run.gisting import gisted
from memrepo.actions.run.offering import Offered
from memrepo.actions.work import Work
from memrepo.core.access import Accesses
from memrepo.core.changes import Step
from memrepo.core.judging import Judge
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.policies.nomination import Candidate, nominated
from memrepo.policies.upkeep import Upkeep, upkeep
from memrepo.purify.holding import fingerprints
from memrepo.purify.manifest import Recorded
from memrepo.purify.nominees import Nominee
from memrepo.store.ledger import ledger_of


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
    gists = Offered(steps=found.steps) if judge is None else gisted(after, found.steps, judge)
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
    notes = [
        m for m in state.active if m.is_note and (m.flag("user_marked") or accesses.of(m.id).total)
    ]
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


def _is_allowed(step: Step, never: frozenset[str]) -> bool:
    """Tell whether a step may be proposed: not what a person took back or refused."""
    return step.op == "tier" or not fingerprints(step.op, step.memory_ids) & never


PACED = ("pruned", "archived", "summarised")
"""Counts of a manifest that use up the pace, which is one a moment."""


def _counts(
    work: Work, state: State, now: datetime, manifests: Iterable[Recorded]
) -> list[dict[str, Any]]:
    """Return the counts of the runs at this very moment."""
    paths = [work.tree.layout.manifest(m.run) for m in manifests if m.now == format_time(now)]
    return [json.loads(state.files[path]).get("counts", {}) for path in paths]
