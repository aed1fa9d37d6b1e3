"""The corrections that a run writes: one file a contradiction, in the commit of the decision."""

from __future__ import annotations

from memrepo.core import corrections
from memrepo.core.changes import Write
from memrepo.core.corrections import Correction, Side, contradiction_id
from memrepo.purify.known import ACTOR, Known

PENDING = "pending"
"""Stands for the id of a run until its plan is made."""


def case_of(
    known: Known, new: str, old: str, *, kept: str, reason: str, sure: float | None
) -> tuple[Write, ...]:
    """Return the file about two memories: `kept` replaced the other, or empty: it is flagged.

    A case that came up before keeps its file and its day.
    """
    id_, before = contradiction_id(new, old), known.state.corrections.between(new, old)
    case = Correction(
        id=id_,
        kind="contradiction",
        verdict="superseded" if kept else "flagged",
        kept=kept,
        sides=(Side(memory=new, text=known.text(new)), Side(memory=old, text=known.text(old))),
        confidence=sure,
        reason=reason,
        by=ACTOR,
        run=PENDING,
        at=(before.at if before else None) or known.now,
        decided=known.now if kept else None,
    )
    path = known.state.corrections.place(known.state.layout, case)
    return (Write(path=path, data=corrections.written(path, case)),)


def is_resolved(known: Known, new: str, old: str) -> bool:
    """Tell whether two memories, as they are worded now, are not to be compared again.

    What a person decided stands until one of the texts changes; what a run decided stands until
    the memory that lost is stated again somewhere: that is news.
    """
    case = known.state.corrections.between(new, old)
    texts = {id_: known.text(id_) for id_ in (new, old)}
    if case is None or case.status == "open" or not case.about(texts):
        return False
    return case.by.startswith(("human:", "process:")) or not known.has_news(new)
