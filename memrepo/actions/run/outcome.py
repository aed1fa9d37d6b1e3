"""What one run came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memrepo.actions import result
from memrepo.actions.review.waiting import PREFIX
from memrepo.actions.run.chain import Proposal
from memrepo.actions.run.ingest import Ingested
from memrepo.actions.run.proposal import Proposed
from memrepo.actions.run.report import Report
from memrepo.actions.run.telemetry import Downstream
from memrepo.core.errors import Exit
from memrepo.core.judge import Usage
from memrepo.core.problems import Problem
from memrepo.purify.manifest import Receipt, Removal
from memrepo.purify.pipeline import Mode
from memrepo.store import history


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to: at most one chain landed and one waits."""

    status: str
    base: str
    head: str
    mode: Mode
    ingested: Ingested
    proposed: Proposed
    landed: Proposal | None = None
    branch: str = ""
    why: str = ""
    """Why it waits, for a run that is held."""
    commits: tuple[history.Entry, ...] = ()
    used: Usage = msgspec.field(default_factory=Usage)
    resume: str = ""
    """What to name to go on with it, where it broke off."""
    reused: int = 0
    """Answers taken from a run that broke off."""

    @property
    def held(self) -> tuple[Removal, ...]:
        """Return what waits because it would take memories away, where a branch was left for it."""
        return self.proposed.removals if self.branch or self.status == "dry-run" else ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return every finding on the way."""
        return self.ingested.problems + self.proposed.problems


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the run, with the memories that it concerns."""

    id: str
    op: str
    subject: str
    memories: tuple[str, ...]


class Result(result.Result, frozen=True, kw_only=True):
    """What one run came to: at most one chain landed and one waits."""

    run: str
    """The run that landed or waits."""
    mode: Mode
    status: str
    base: str
    head: str
    branch: str
    """Where something waits for review."""
    why: str
    """Why it waits, or was skipped."""
    held: tuple[Removal, ...]
    """What waits because it would take memories away."""
    ingest: Ingested
    commits: tuple[Landed, ...]
    counts: Mapping[str, int]
    tokens: Mapping[str, Any]
    cost_usd: float | None
    partial: str
    """Why not all of it was judged."""
    resume: str
    reused: int
    warnings: tuple[Problem, ...]
    quarantined: tuple[Mapping[str, str], ...]
    landed: bool
    """Whether a chain of decisions took effect."""
    said: str
    """What the run decided, in words."""
    unsaid: bool
    """Whether those words tell of nothing while there is news that was not judged."""
    spent: str
    """What judging cost, in words; empty for nothing."""
    report: Report
    """How much of it is printed."""
    taken_over: str = ""
    """What became of the clone that ran before."""
    views: tuple[str, ...] = ()
    """The pages that changed."""
    downstream: Downstream | msgspec.UnsetType = msgspec.UNSET
    """Of a run that landed."""
    context: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Of a run that was skipped: what its report says beside it."""
    duration_s: float | None = None


def result_of(outcome: Outcome, report: Report, notices: tuple[Problem, ...]) -> Result:
    """Return what is told of a run; `report` says how much of it is printed."""
    proposal = _shown(outcome)
    run = proposal.run if proposal else outcome.branch.removeprefix(PREFIX)
    waits = outcome.ingested.is_pending
    return Result(
        run=run if outcome.status != "skipped" else "",
        mode=outcome.mode,
        status=outcome.status,
        base=outcome.base,
        head=outcome.head,
        branch=outcome.branch,
        why=outcome.why,
        held=outcome.held,
        ingest=outcome.ingested,
        commits=tuple(
            Landed(
                id=e.commit,
                op=e.op,
                subject=e.subject,
                memories=tuple(e.trailers.get("Memory", ())),
            )
            for e in outcome.commits
        ),
        counts=dict(proposal.counts) if proposal else {},
        tokens=outcome.used.tokens(),
        cost_usd=outcome.used.cost_usd,
        partial=outcome.proposed.partial,
        resume=outcome.resume,
        reused=outcome.reused,
        warnings=outcome.problems,
        quarantined=outcome.proposed.quarantined,
        landed=outcome.landed is not None,
        said=proposal.merge.what.partition(": ")[2] if proposal else "nothing",
        unsaid=waits and not (proposal and proposal.told),
        spent=Receipt(usage=outcome.used).trailer,
        report=report,
        exit=_EXITS.get(outcome.status, Exit.DONE),
        notices=(*outcome.problems, *notices),
    )


_EXITS = {"held": Exit.DECIDE, "partial": Exit.MODEL, "failed": Exit.MODEL}


def _shown(outcome: Outcome) -> Proposal | None:
    return outcome.landed or outcome.proposed.main or outcome.proposed.waiting
