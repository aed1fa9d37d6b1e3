"""Gists by a run's judge: the policy says which notes need one, this stage has them worded.

The policy's own gist stands wherever the judge gives none that the note supports, so a run never
waits for a gist. What was worded stands in the note's file: no later run asks for it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memrepo.commands.offering import Offered
from memrepo.core.changes import Step, Update
from memrepo.core.errors import MemrepoError
from memrepo.core.judging import BadReply, BudgetReached, GistRequest, Judge, JudgeFailed
from memrepo.core.memory import Gist, Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.judges.claude import NoCredentials
from memrepo.judges.grounding import fault_in
from memrepo.purify.asking import Failure

MOST = 20
"""Notes that one run asks for; the others get the offline gist."""
LONGEST = 40_000
"""Characters of a note that is asked for; what is longer gets the offline gist."""
_TWICE = 2


def gisted(state: State, steps: Sequence[Step], judge: Judge) -> Offered:
    """Have the judge word the gists of the notes that end a run at gist tier, at most MOST.

    A judge that fails, or a budget that is reached, is not asked again; the rest stay offline.
    """
    before = judge.usage
    clerk = _Clerk(judge=judge)
    worded = {
        note.id: gist for note in _notes(state, steps)[:MOST]
        if (gist := clerk.gist(note)) is not None
    }  # fmt: skip
    return Offered(
        steps=tuple(_filled(step, worded) for step in steps), problems=tuple(clerk.problems),
        usage=judge.usage.since(before), failures=tuple(clerk.failures),
    )  # fmt: skip


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
    )  # fmt: skip
    return replace(step, changes=changes)


@dataclass(slots=True, kw_only=True)
class _Clerk:
    """Asks for one gist after the other, and keeps what went wrong."""

    judge: Judge
    stopped: bool = False
    asked: int = 0
    problems: list[Problem] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def gist(self, note: Memory) -> Gist | None:
        """Return a gist that the note supports, or None."""
        if self.stopped:
            return None
        self.asked += 1
        try:
            return self._twice(note)
        except BadReply as failed:
            self._tell(note, failed)
        except (JudgeFailed, BudgetReached, NoCredentials) as failed:
            self.stopped = True
            self._tell(note, failed)
            if isinstance(failed, JudgeFailed):
                self._keep(failed)
        return None

    def _twice(self, note: Memory) -> Gist:
        fault = ""
        for turn in range(1, _TWICE + 1):
            try:
                gist = self.judge.gist(GistRequest(note=note, fault=fault))
                if not (fault := fault_in(gist, note)):
                    return gist
                raise BadReply(fault, raw=repr(gist))
            except BadReply as failed:
                self._keep(failed)
                if turn == _TWICE:
                    raise
                fault = failed.message
        raise AssertionError("unreachable")

    def _keep(self, failed: JudgeFailed) -> None:
        self.failures.append(
            Failure(name="gist", batch=self.asked, reason=failed.message, raw=failed.raw)
        )

    def _tell(self, note: Memory, failed: MemrepoError) -> None:
        rest = ", as those after it" if self.stopped else ""
        self.problems.append(
            Problem(
                path=note.path, rule="gist-offline", severity="warning", fix=failed.fix,
                message=f"its gist was made without a model{rest}: {failed.message}",
            )
        )  # fmt: skip
