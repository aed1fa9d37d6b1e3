"""Which candidates a run asks about: what is new and what comes back, never what was rejected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.state import State
from memrepo.purify.aside import was_rejected
from memrepo.purify.comeback import Comeback, come_back
from memrepo.purify.gather import Gathered, Placed, candidate_id, gather
from memrepo.purify.intake import Intake, Reader, SourceText
from memrepo.purify.nominees import Nominee
from memrepo.purify.overruling import overruling


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates to be judged; `beside` names, for some, the one to be judged with.

    `rejected` counts candidates that were rejected before and are not asked about again.
    """

    gathered: Gathered
    beside: Mapping[str, str] = msgspec.field(default_factory=dict)
    rejected: int = 0
    came_back: int = 0


def in_scope(
    state: State,
    intake: Intake,
    texts: Sequence[SourceText],
    reader: Reader,
    *,
    nominees: Sequence[Nominee] = (),
    afresh: bool,
) -> Scope:
    """Gather what is judged in this run; `afresh` takes what was rejected before as well.

    A nominated note is judged whatever became of its text before: how often it was looked for is
    news.
    """
    placed = tuple(intake.placed) if intake.whole else overruling(state, intake.placed)
    fresh = gather(placed)
    gone: frozenset[str] = frozenset()
    if not afresh:
        gone = frozenset(c.candidate_id for c in fresh.candidates if was_rejected(state, c))
    sought = tuple(nominee.placed() for nominee in nominees)
    gone -= {candidate_id(one.unit) for one in sought}
    news = [c for c in fresh.candidates if c.candidate_id not in gone]
    back = Comeback()
    claims = {t.resource for t in texts if t.kind == "claims"}
    changed = claims.intersection(entry.resource for entry in intake.consumed)
    if changed and not intake.whole:
        back = come_back(state, news, frozenset(changed), texts, reader)
    if not (gone or back.placed or sought):
        return Scope(gathered=fresh)
    return _joined(placed, fresh, gone, back, sought)


def _joined(
    placed: Sequence[Placed],
    fresh: Gathered,
    gone: frozenset[str],
    back: Comeback,
    sought: Sequence[Placed],
) -> Scope:
    """Gather again, with what comes back and what is nominated, without what was rejected.

    Only this run's news is open in its sources: what comes back was consumed when it was deferred,
    and its file keeps it until it is promoted; a nominated note stays nominated.
    """
    open_ = {(p.resource, p.unit.hash, p.unit.lines) for p in placed}
    more = [p for p in back.placed if (p.resource, p.unit.hash, p.unit.lines) not in open_]
    every = gather([*placed, *more, *sought])
    kept = tuple(c for c in every.candidates if c.candidate_id not in gone)
    came = {c.candidate_id for c in gather(more).candidates} & {c.candidate_id for c in kept}
    came -= {c.candidate_id for c in fresh.candidates}
    return Scope(
        gathered=replace(
            every,
            candidates=kept,
            units={id_: pairs for id_, pairs in fresh.units.items() if id_ not in gone},
        ),
        beside=back.beside or {},
        rejected=len(gone),
        came_back=len(came),
    )
