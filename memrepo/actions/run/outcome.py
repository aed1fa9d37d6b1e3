"""What one run came to, for a person and as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from memrepo.actions.review.waiting import PREFIX
from memrepo.actions.run.counting import FULL
from memrepo.actions.run.drafting import Proposal
from memrepo.actions.run.ingest import Ingested
from memrepo.actions.run.proposal import Proposed
from memrepo.actions.work import Answer
from memrepo.core.errors import Exit
from memrepo.core.judging import Usage
from memrepo.core.messages import counted
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


def answer_of(outcome: Outcome, report: str, notices: tuple[Problem, ...]) -> Answer:
    """Return what the command prints, by how much of it is asked for."""
    return Answer(
        data=_json(outcome),
        text=_text(outcome, report),
        exit=_EXITS.get(outcome.status, Exit.DONE),
        problems=(*outcome.problems, *notices),
    )


SHOWN = 5
"""So many removals that wait are named one by one."""
_EXITS = {"held": Exit.DECIDE, "partial": Exit.MODEL, "failed": Exit.MODEL}


def _shown(outcome: Outcome) -> Proposal | None:
    return outcome.landed or outcome.proposed.main or outcome.proposed.waiting


def _json(outcome: Outcome) -> dict[str, Any]:
    proposal = _shown(outcome)
    run = proposal.run if proposal else outcome.branch.removeprefix(PREFIX)
    return {
        "run": run if outcome.status != "skipped" else "",
        "mode": outcome.mode,
        "status": outcome.status,
        "base": outcome.base,
        "head": outcome.head,
        "branch": outcome.branch,
        "why": outcome.why,
        "held": [r.as_json() for r in outcome.held],
        "ingest": msgspec.to_builtins(outcome.ingested),
        "commits": [
            {
                "id": e.commit,
                "op": e.op,
                "subject": e.subject,
                "memories": list(e.trailers.get("Memory", ())),
            }
            for e in outcome.commits
        ],
        "counts": dict(proposal.counts) if proposal else {},
        "tokens": outcome.used.tokens(),
        "cost_usd": outcome.used.cost_usd,
        "partial": outcome.proposed.partial,
        "resume": outcome.resume,
        "reused": outcome.reused,
        "warnings": [p.as_json() for p in outcome.problems],
        "quarantined": [dict(q) for q in outcome.proposed.quarantined],
    }


def _text(outcome: Outcome, report: str) -> str:
    if report == "silent":
        return ""
    lines = [_headline(outcome)]
    if report == "full":
        lines += _details(outcome)
    return "\n".join(lines)


def _headline(outcome: Outcome) -> str:
    proposal, pending = _shown(outcome), _pending(outcome)
    match outcome.status:
        case "skipped":
            return "nothing new: no commit was made"
        case "skipped_superseded":
            return f"skipped: {outcome.why}"
        case "dry-run" if proposal is None and not pending:
            return "dry run: nothing new"
        case "dry-run":
            # With news that was not judged, that no memory is new cannot be said.
            told = [_said(proposal)] if proposal and (proposal.told or not pending) else []
            return f"dry run: {'; '.join(told + pending)}; nothing was written"
        case "held":
            landed = (
                f"run {outcome.landed.run}: {_said(outcome.landed)}\n" if outcome.landed else ""
            )
            count = len(outcome.held)
            what = counted(count, "removal waits", "removals wait") if count else "the changes wait"
            return (
                f"{landed}held: {outcome.why}; {what} on {outcome.branch}"
                " (`memrepo diff` shows them, `memrepo accept` or `memrepo discard` decides)"
                + "".join(f"; {one}" for one in pending)
            )
        case "partial":
            return f"partial: {outcome.proposed.partial}; {_said(proposal)} landed, the rest waits"
        case "failed":
            return f"failed: {outcome.proposed.partial}; what is new waits for the next run"
        case _ if proposal is None:
            return f"sources taken in ({outcome.ingested.summary}), nothing to distil"
        case _:
            return f"run {proposal.run}: {_said(proposal)}"


def _taken(removal: Removal) -> str:
    """Say what a removal would do."""
    match removal.op, removal.memories:
        case "supersede", (old, new):
            return f"{old} would be replaced by {new}: {removal.reason}"
        case op, ids:
            return f"{', '.join(ids)} would {op}: {removal.reason}"


def _pending(outcome: Outcome) -> list[str]:
    """Say what the workspace has for a real run: a dry one takes nothing in, nor judges it."""
    taken = outcome.ingested
    count = len(taken.added) + len(taken.changed) + len(taken.removed)
    if taken.commit or not count:
        return []
    one, many = "source file changed and is", "source files changed and are"
    return [f"{counted(count, one, many)} judged only by a real run ({taken.summary})"]


def _said(proposal: Proposal | None) -> str:
    return proposal.merge.what.partition(": ")[2] if proposal else "nothing"


def _details(outcome: Outcome) -> list[str]:
    proposal = _shown(outcome)
    lines = []
    if outcome.ingested.summary:
        lines.append(f"  ingest: {outcome.ingested.summary}")
    if proposal is not None and outcome.status != "skipped":
        lines += [f"  {proposal.counts[k]:>6}  {w}" for k, w in FULL if proposal.counts.get(k)]
    lines += [f"  waits: {_taken(r)}" for r in outcome.held[:SHOWN]]
    if len(outcome.held) > SHOWN:
        lines.append(f"  and {len(outcome.held) - SHOWN} more wait")
    if outcome.proposed.quarantined:
        lines.append(f"  {len(outcome.proposed.quarantined):>6}  quarantined (see the manifest)")
    if outcome.reused:
        lines.append(f"  {outcome.reused:>6}  answers of a run that broke off, not asked again")
    if outcome.used.calls:
        lines.append(f"  judge: {Receipt(usage=outcome.used).trailer}")
    return lines
