"""`memrepo resolve`: decide a contradiction between two memories, or list contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core import corrections
from memrepo.core.corrections import Correction, CorrectionVerdict, Side, corrections_of
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.memory import Memory
from memrepo.core.state import Change, State, Step, Update, Write
from memrepo.core.times import format_time
from memrepo.policies.standing import (
    STATUSES,
    Conflict,
    conflicts,
    reconciled,
    superseded,
    uncontested,
)

HOW = "--keep MEMORY or --both"


class DecidedBefore(MemrepoError):
    """Raised when a contradiction is already decided and the losing memory is no longer active."""

    exit_code = Exit.DECIDE

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(
            f"{conflict.id} is {conflict.status}: {conflict.first.id} is"
            f" {conflict.first.status}, {conflict.second.id} {conflict.second.status}",
            fix="`memrepo log` shows the commit of that decision, `memrepo revert` undoes it",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo resolve`."""

    id: Annotated[
        str,
        option(
            "the contradiction, or a memory that is in one; default: all open ones",
            metavar="ID",
        ),
    ] = ""
    keep: Annotated[
        str | None,
        option("this one is true, and replaces the other", "--keep", metavar="MEMORY", group="how"),
    ] = None
    both: Annotated[bool, option("no contradiction: both remain", "--both", group="how")] = False
    list: Annotated[
        bool, option("list all contradictions and other corrections, open ones first", "--list")
    ] = False
    dry_run: DryRun = False
    reason: Reason = ""


class Party(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of two contradicting memories. Of one that is gone, only the text is known."""

    id: str
    text: str
    path: str = ""
    status: str = ""
    standing: str = ""
    evidence: tuple[Quote, ...] = ()


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """A contradiction with both texts and, if there is one, the decision."""

    id: str
    status: str
    memories: tuple[Party, ...]
    verdict: str = "flagged"
    kept: str = ""
    confidence: float | None = None
    reason: str = ""
    by: str = ""
    at: str = ""
    decided: str = ""
    run: str = ""
    path: str = ""
    """The correction file that records the decision."""


class Disputes(VerbResult, frozen=True, kw_only=True):
    """The contradictions and other corrections that were asked for, open ones first."""

    corrections: tuple[Dispute, ...]


def do(work: Work, request: Request) -> Disputes | Written | Unchanged:
    """List, show or decide contradictions. Exit with status 3 after showing an open one."""
    if request.id and request.list:
        raise UsageError(
            f"resolve: --list names all cases, and {request.id} was given too",
            fix=f"leave out one of them; `memrepo resolve {request.id}` shows that case",
        )
    state = work.tree.state()
    if not request.id:
        if request.keep or request.both:
            raise UsageError("no contradiction was given", fix="`memrepo resolve` lists them")
        return _listed(work, only_open=not request.list)
    conflict = the_dispute(state, request.id)
    if not (request.keep or request.both):
        shown = _dispute(work, conflict)
        exit_ = Exit.DECIDE if shown.status == "open" else Exit.DONE
        return Disputes(corrections=(shown,), exit=exit_)
    actor = work.actor

    def draft(state: State) -> Step | Unchanged:
        return _Decider(
            state=state,
            conflict=the_dispute(state, request.id),
            actor=actor,
            now=work.call.now,
            reason=request.reason,
        ).step(request.keep)

    return write(work, request, draft)


def the_dispute(state: State, word: str) -> Conflict:
    """Return the contradiction that a word identifies: its own id or one of its memories."""
    found = conflicts(state, corrections_of(state))
    digits = word.removeprefix("con-")
    fits = [c for c in found if digits and c.id.startswith(f"con-{digits}")]
    if not fits:
        start = word.removeprefix("mem-")
        names = [c for c in found if start and any(_is_named(m, start, word) for m in c.sides)]
        fits = [c for c in names if c.status == "open"] or names
    if not fits:
        raise UsageError(
            f"no contradiction is called {word!r}",
            fix="`memrepo resolve --list` lists them",
        )
    if len(fits) > 1:
        more = f" and {len(fits) - 5} more" if len(fits) > 5 else ""
        raise MemrepoError(
            f"{word!r} fits {len(fits)} contradictions: {', '.join(c.id for c in fits[:5])}{more}",
            fix="name one of them",
            exit_code=Exit.DECIDE,
        )
    return fits[0]


def _is_named(memory: Memory, start: str, word: str) -> bool:
    return memory.id.startswith(f"mem-{start}") or word in (*memory.names, memory.path)


def _dispute(work: Work, conflict: Conflict) -> Dispute:
    """Return a contradiction with both texts, their evidence and the recorded decision."""
    parties = tuple(
        Party(
            id=m.id,
            path=m.path,
            status=m.status,
            standing=m.standing,
            text=m.body,
            evidence=evidence(work, m),
        )
        for m in conflict.sides
    )
    return _decided(
        work,
        Dispute(id=conflict.id, status=conflict.status, memories=parties),
        conflict.case,
    )


def _decided(work: Work, found: Dispute, case: Correction | None) -> Dispute:
    """Return a dispute completed with the decision that a correction records."""
    if case is None:
        return found
    return replace(
        found,
        verdict=case.verdict,
        kept=case.kept,
        confidence=case.confidence,
        reason=case.reason,
        by=case.by,
        at=format_time(case.at) if case.at else "",
        decided=format_time(case.decided) if case.decided else "",
        run=case.run,
        path=corrections_of(work.tree.state()).paths.get(case.id, ""),
    )


def _listed(work: Work, *, only_open: bool) -> Disputes:
    """List contradictions, and cases of which a memory is gone, open ones first."""
    state = work.tree.state()
    cases = corrections_of(state)
    found = conflicts(state, cases)
    rows = [_dispute(work, c) for c in found if c.status == "open" or not only_open]
    known = {conflict.id for conflict in found}
    for id_, case in sorted(cases.cases.items(), key=lambda item: item[1].id):
        if id_ not in known and not only_open:  # a memory is missing
            one = Dispute(
                id=case.id,
                status="moot" if case.status == "open" else "resolved",
                memories=tuple(Party(id=side.memory, text=side.text) for side in case.sides),
            )
            rows.append(_decided(work, one, case))
    rows.sort(key=lambda row: STATUSES.index(row.status))
    return Disputes(corrections=tuple(rows), notices=cases.problems)


_VERDICTS: Mapping[CorrectionVerdict, str] = {
    "superseded": "one of the two is true",
    "both": "they do not contradict each other",
}
"""The reason for the commit, by verdict."""
Fields: TypeAlias = dict[str, object]


class _Decider(msgspec.Struct, frozen=True, kw_only=True):
    """Computes the step that decides one contradiction."""

    state: State
    conflict: Conflict
    actor: str
    now: datetime
    reason: str

    def step(self, keep: str | None) -> Step | Unchanged:
        """Return the step that decides the contradiction, or Unchanged if nothing changes."""
        conflict, case = self.conflict, self.conflict.case
        first, second = conflict.sides
        winner = self._winner(keep) if keep else None
        verdict: CorrectionVerdict = "superseded" if winner else "both"
        decision = verdict, winner.id if winner else ""
        is_resolved = conflict.status == "resolved"
        if is_resolved and case is not None and (case.verdict, case.kept) == decision:
            return unchanged(winner or conflict.first, f"has this decision already ({conflict.id})")
        if is_resolved and any(m.status != "active" for m in conflict.sides):
            raise DecidedBefore(conflict)
        if winner is not None:
            updates = self._replacement(winner, second if winner is first else first)
        else:
            updates = {m.id: self._independent(m, o) for m, o in self._pairs()}
        changes: list[Change] = [Update(id=i, fields=f) for i, f in updates.items() if f]
        changes.append(self._correction(*decision))
        return Step(
            op="resolve",
            reason=_VERDICTS[verdict],
            changes=tuple(changes),
            memories=(first.id, second.id),
        )

    def _pairs(self) -> tuple[tuple[Memory, Memory], tuple[Memory, Memory]]:
        first, second = self.conflict.sides
        return (first, second), (second, first)

    def _winner(self, word: str) -> Memory:
        first, second = self.conflict.first, self.conflict.second
        start = word.removeprefix("mem-")
        fits = [m for m in (first, second) if _is_named(m, start, word)]
        if len(fits) != 1:
            raise UsageError(
                f"{word!r} is neither {first.id} nor {second.id}",
                fix="name one of the two, or another contradiction",
            )
        return fits[0]

    def _replacement(self, winner: Memory, lost: Memory) -> dict[str, Fields]:
        """Return the updates after one memory supersedes the other, undoing the opposite."""
        fields = {winner.id: uncontested(winner, lost.id, self._is_active)}
        if lost.status == "superseded" and winner.id in lost.superseded_by:
            return {**fields, lost.id: uncontested(lost, winner.id, self._is_active)}
        if lost.status != "active" and winner.status == "active":
            return fields
        fields[winner.id] |= self._revived(winner, lost)
        fields[winner.id]["supersedes"] = tuple(dict.fromkeys((*winner.supersedes, lost.id)))
        fields[lost.id] = {
            **uncontested(lost, winner.id, self._is_active),
            **superseded(lost, winner.id, self.now),
        }
        if winner.id in lost.supersedes:
            fields[lost.id]["supersedes"] = _without(lost.supersedes, winner.id)
        return fields

    def _independent(self, memory: Memory, other: Memory) -> Fields:
        """Return the fields of a memory that does not contradict the other."""
        fields = {**reconciled(memory, other.id, self._is_active), **self._revived(memory, other)}
        if other.id in memory.supersedes:
            fields["supersedes"] = _without(memory.supersedes, other.id)
        return fields

    def _is_active(self, id_: str) -> bool:
        known = self.state.memories.get(id_)
        return known is not None and known.status == "active"

    def _revived(self, memory: Memory, other: Memory) -> Fields:
        """Return the fields that reactivate a memory after the other memory had superseded it."""
        if memory.status == "active":
            return {}
        if memory.superseded_by != (other.id,):
            raise DecidedBefore(self.conflict)
        return {
            "status": None,
            "superseded_by": None,
            "superseded_at": None,
        }

    def _correction(self, verdict: CorrectionVerdict, winner: str) -> Write:
        conflict, before = self.conflict, self.conflict.case
        case = Correction(
            id=conflict.id,
            verdict=verdict,
            kept=winner,
            sides=(
                Side(memory=conflict.first.id, text=conflict.first.body),
                Side(memory=conflict.second.id, text=conflict.second.body),
            ),
            confidence=before.confidence if before else None,
            reason=self.reason or (before.reason if before else ""),
            by=self.actor,
            at=(before.at if before else None) or self.now,
            decided=self.now,
            run=before.run if before else "",
        )
        return corrections.record(self.state, case)


def _without(ids: tuple[str, ...], id_: str) -> tuple[str, ...] | None:
    return tuple(i for i in ids if i != id_) or None
