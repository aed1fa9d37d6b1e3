"""Gists by a run's judge: the policy says which notes need one, this stage has them worded.

The policy's own gist stands wherever the judge gives none that the note supports, so a run never
waits for a gist. What was worded stands in the note's file: no later run asks for it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from memrepo.actions.run.offering import Clerk, Offered
from memrepo.core.changes import Step, Update
from memrepo.core.judging import GistRequest, Judge
from memrepo.core.memory import Gist, Memory
from memrepo.core.state import State
from memrepo.judges.grounding import fault_in

MOST = 20
"""Notes that one run asks for; the others get the offline gist."""
LONGEST = 40_000
"""Characters of a note that is asked for; what is longer gets the offline gist."""


def gisted(state: State, steps: Sequence[Step], judge: Judge) -> Offered:
    """Have the judge word the gists of the notes that end a run at gist tier, at most MOST.

    A judge that fails, or a budget that is reached, is not asked again; the rest stay offline.
    """
    before = judge.usage
    clerk = Clerk(name="gist", rule="gist-offline", what="its gist was made without a model")
    worded = {
        note.id: gist
        for note in _notes(state, steps)[:MOST]
        if (gist := _gist(note, judge, clerk)) is not None
    }
    return Offered(
        steps=tuple(_filled(step, worded) for step in steps),
        problems=tuple(clerk.problems),
        usage=judge.usage.since(before),
        failures=tuple(clerk.failures),
    )


def _gist(note: Memory, judge: Judge, clerk: Clerk) -> Gist | None:
    return clerk.word(
        note.path,
        lambda fault: judge.gist(GistRequest(note=note, fault=fault)),
        lambda gist: fault_in(gist, note),
    )


def _notes(state: State, steps: Sequence[Step]) -> list[Memory]:
    """Return the notes whose last move is to gist tier, in the order of the steps."""
    last: dict[str, object] = {}
    for step in steps:
        for change in step.changes:
            if step.op == "tier" and isinstance(change, Update):
                last[change.id] = change.fields.get("tier")
    found = [state.memories[id_] for id_, tier in last.items() if tier == "gist"]
    return [note for note in found if len(note.body) <= LONGEST]


def _filled(step: Step, worded: Mapping[str, Gist]) -> Step:
    if step.op != "tier":
        return step
    changes = tuple(
        replace(change, fields={**change.fields, "gist": worded[change.id]})
        if isinstance(change, Update) and "gist" in change.fields and change.id in worded
        else change
        for change in step.changes
    )
    return replace(step, changes=changes)
