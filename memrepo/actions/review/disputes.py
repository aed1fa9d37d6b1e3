"""Contradictions as verbs tell of them: found by id, and both texts with their evidence."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.work import Work
from memrepo.core.corrections import Correction, Corrections
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.memory import Memory
from memrepo.core.places import COUNT
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.policies.standing import Conflict, conflicts


class SeveralContradictions(MemrepoError):
    """A word fits several contradictions."""

    exit_code = Exit.DECIDE

    def __init__(self, word: str, found: list[str]) -> None:
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        super().__init__(
            f"{word!r} fits {len(found)} contradictions: {', '.join(found[:5])}{more}",
            fix="name one of them",
        )


def disputes(state: State) -> tuple[tuple[Conflict, ...], Corrections]:
    """Return the contradictions of a state, open ones first, and all its corrections."""
    found = state.corrections
    return conflicts(state, found), found


def the_dispute(state: State, word: str) -> Conflict:
    """Return the contradiction that a word names: its id, or that of a memory in only one."""
    found, _ = disputes(state)
    digits = word.removeprefix("con-")
    fits = [c for c in found if digits and c.id.startswith(f"con-{digits}")]
    if not fits:
        start = word.removeprefix("mem-")
        names = [c for c in found if start and any(_called(m, start, word) for m in c.sides)]
        fits = [c for c in names if c.status == "open"] or names
    if not fits:
        raise UsageError(
            f"no contradiction is called {word!r}",
            fix="`memrepo resolve --list` lists them",
        )
    if len(fits) > 1:
        raise SeveralContradictions(word, [c.id for c in fits])
    return fits[0]


def _called(memory: Memory, start: str, word: str) -> bool:
    return memory.id.startswith(f"mem-{start}") or word in (memory.slug, memory.path)


class Party(msgspec.Struct, frozen=True, kw_only=True):
    """One of two memories that contradict each other, with what it rests on.

    Of a case whose memories are not both there to be asked, and of a wording that a merge put
    aside, only the text is known that the correction keeps.
    """

    id: str
    text: str
    path: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    standing: str | UnsetType = UNSET
    evidence: tuple[Quote, ...] | UnsetType = UNSET
    source_count: int | UnsetType = UNSET


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """A contradiction with both texts, and what was decided of it."""

    id: str
    status: str
    kind: str
    memories: tuple[Party, ...]
    verdict: str = "flagged"
    kept: str = ""
    confidence: float | None = None
    reason: str = ""
    by: str = ""
    at: str = ""
    decided: str = ""
    run: str = ""


def dispute_of(work: Work, conflict: Conflict) -> Dispute:
    """Return a contradiction with both texts and what they rest on."""
    found = Dispute(
        id=conflict.id,
        status=conflict.status,
        kind="contradiction",
        memories=tuple(
            Party(
                id=m.id,
                path=m.path,
                status=m.status,
                standing=m.standing,
                text=m.body,
                evidence=evidence(work, m),
                source_count=m.fields.get(COUNT, UNSET),
            )
            for m in conflict.sides
        ),
    )
    return decided(found, conflict.case) if conflict.case else found


def decided(found: Dispute, case: Correction) -> Dispute:
    """Return a dispute with what a correction says of a decision."""
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
    )
