"""Decisions that are a commit of their own: supersessions, then contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memrepo.core.changes import Step
from memrepo.core.judging import CanonicalClaim
from memrepo.core.memory import Link
from memrepo.purify.known import Known
from memrepo.purify.overtaken import overtaken

SURE = 0.9
"""A supersession is taken above this confidence (the engram lineage's revised value)."""


def single_decisions(
    known: Known, claims: Sequence[CanonicalClaim], became: Mapping[str, str]
) -> Iterable[Step]:
    """Yield the decisions that are a commit of their own: supersessions, then contradictions."""
    stated = [(became[c.cluster_id], c) for c in claims if c.cluster_id in became]
    rest: list[tuple[str, str, str]] = []
    for new, old in overtaken(claims, became, known.current):
        if known.current(old).status == known.current(new).status == "active":
            yield _supersede(known, new, old, "a newer value of the same key in the same run")
    for new, claim in stated:
        if disputed := known.disputed.get(claim.cluster_id):
            rest.append((new, disputed, "its source was edited, and a person had worded it"))
        replaced = known.replaced.get(claim.cluster_id, "")
        if replaced and known.current(replaced).status == "active":
            yield _supersede(known, new, replaced, "the line that said it was edited")
        for old in claim.supersedes:
            if old == replaced:
                continue
            if why := _not_sure(known, new, old, claim):
                rest.append((new, old, why))
            else:
                sure = claim.scores.supersession_confidence
                why = f"a newer statement of the same matter ({claim.rationale}; {sure:.2f} sure)"
                yield _supersede(known, new, old, why)
        # That an older value is older than today's is no news once it has been replaced.
        over = known.current(new).status != "active"
        rest += [
            (new, other.memory_id, other.reason)
            for other in claim.contradictions
            if not (over and other.relation == "stale")
        ]
    for new, old, why in rest:
        if new == old or known.current(old).status != "active":
            continue
        if step := _flag(known, new, old, why):
            yield step


def _not_sure(known: Known, new: str, old: str, claim: CanonicalClaim) -> str:
    """Return why a supersession is only flagged, or an empty string.

    A value that was superseded before and is stated again never comes back by itself: that would
    be a resurrection nobody decided on.
    """
    if known.current(new).status != "active":
        return f"a {known.current(new).status} statement was made again"
    if claim.scores.supersession_confidence <= SURE:
        return "a newer statement, but not a sure one"
    return "" if known.current(old).status == "active" and old != new else "superseded already"


def _with(ids: tuple[str, ...], id_: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, id_)))


def _supersede(known: Known, new: str, old: str, reason: str) -> Step:
    before, after = known.current(old), known.current(new)
    return Step(
        op="supersede",
        what=f"{before.label} by {after.label}",
        reason=reason,
        changes=(
            known.edit(
                old,
                {
                    "status": "superseded",
                    "superseded_by": _with(before.texts("superseded_by"), new),
                    "superseded_at": known.now,
                },
            ),
            known.edit(new, {"supersedes": _with(after.texts("supersedes"), old)}),
        ),
    )


def _flag(known: Known, new: str, old: str, reason: str) -> Step | None:
    """Mark two memories as contradicting each other; None where both say so already."""
    changes = []
    for id_, other in ((new, old), (old, new)):
        memory = known.current(id_)
        links: tuple[Link, ...] = memory.fields.get("links", ())
        linked = any((x.target, x.type) == (other, "contradicts") for x in links)
        if linked and memory.standing == "contested":
            continue
        edge = () if linked else (Link(target=other, type="contradicts"),)
        changes.append(known.edit(id_, {"standing": "contested", "links": (*links, *edge)}))
    if not changes:
        return None
    return Step(
        op="flag",
        what=f"{known.current(new).label} against {known.current(old).label}",
        reason=reason or "contradiction",
        changes=tuple(changes),
        memories=(new, old),
    )
