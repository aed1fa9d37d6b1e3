"""Decisions that are a commit of their own: supersessions, then contradictions.

Values of one key that a newer claim of the same run replaces.

A judge cannot name the memory of another claim of its own answer, since that memory does not exist
yet. It says that a claim is stale; here the newer one is found and the two are linked.

The corrections that a run writes: one file a contradiction, in the commit of the decision.

Decisions that are a commit of their own: supersessions, then contradictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core import corrections
from memrepo.core.changes import Step, Write
from memrepo.core.corrections import Correction, Side, contradiction_id
from memrepo.core.judge import CanonicalClaim, Contradiction, Finding
from memrepo.core.memory import Link, Memory
from memrepo.policies.conflicts import contradicts, links_of, still_contested
from memrepo.policies.evidence import newer_of
from memrepo.policies.matching import reuse_key
from memrepo.purify.known import ACTOR, Known, by_person


def overtaken(
    claims: Sequence[CanonicalClaim], became: Mapping[str, str], current: Callable[[str], Memory]
) -> Iterator[tuple[str, str]]:
    """Yield (newer, older) memory ids: each stale claim with the next newer one of its key.

    Only a claim that contradicts nothing known counts; without a dated successor it stays as it
    is, stale and active. Older ones come first, so that a chain grows forward.
    """
    keyed: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    stale: list[tuple[str, str, tuple[str, str, str]]] = []
    for claim in claims:
        said = claim.wording
        key = reuse_key(said.subject, said.predicate, claim.home)
        id_ = became.get(claim.cluster_id, "")
        if key is None or not id_:
            continue
        day = max((s.captured[:10] for s in current(id_).sources), default="")
        keyed.setdefault(key, []).append((day, id_))
        if claim.standing == "stale" and not claim.contradictions:
            stale.append((day, id_, key))
    for day, id_, key in sorted(stale):
        newer = [(d, other) for d, other in keyed[key] if d > day and other != id_]
        if newer:
            yield min(newer)[1], id_


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


SURE = 0.9
"""A supersession is taken above this confidence (the engram lineage's revised value)."""

UNNAMED = "contradiction"
"""The reason where nobody gave one."""
Findings = Mapping[tuple[str, str], Finding]
"""What verifying found, by cluster and the id of the memory that its claim was compared with."""


class _Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories of which a person must say which holds, and why a run does not."""

    new: str
    old: str
    why: str
    sure: float | None = None


def single_decisions(
    known: Known,
    claims: Sequence[CanonicalClaim],
    became: Mapping[str, str],
    findings: Findings,
) -> Iterable[Step]:
    """Yield the decisions that are a commit of their own: supersessions, then contradictions."""
    stated = [(became[c.cluster_id], c) for c in claims if c.cluster_id in became]
    doubts: list[_Doubt] = []
    for new, old in overtaken(claims, became, known.current):
        if known.current(old).status == known.current(new).status == "active":
            yield _supersede(known, new, old, "a newer value of the same key in the same run")
    for new, claim in stated:
        yield from _replacing(known, new, claim, doubts)
        yield from _contradicting(known, new, claim, findings, doubts)
    for doubt in doubts:
        if step := _flag(known, doubt):
            yield step


def _replacing(
    known: Known, new: str, claim: CanonicalClaim, doubts: list[_Doubt]
) -> Iterator[Step]:
    """Yield what a claim replaces, by its source's edit or by its judge's word."""
    if disputed := known.disputed.get(claim.cluster_id):
        why = "its source was edited, and a person had worded it"
        doubts.append(_Doubt(new=new, old=disputed, why=why))
    replaced = known.replaced.get(claim.cluster_id, "")
    if replaced and known.current(replaced).status == "active":
        yield _supersede(known, new, replaced, "the line that said it was edited")
    sure = claim.scores.supersession_confidence
    for old in claim.supersedes:
        if old == replaced or is_resolved(known, new, old):
            continue
        if why := _not_sure(known, new, old, sure):
            doubts.append(_Doubt(new=new, old=old, why=why, sure=sure))
        else:
            why = f"a newer statement of the same matter ({claim.rationale}; {sure:.2f} sure)"
            yield _supersede(known, new, old, why, sure)


def _contradicting(
    known: Known, new: str, claim: CanonicalClaim, findings: Findings, doubts: list[_Doubt]
) -> Iterator[Step]:
    """Yield what verifying a contradiction resolved; what it did not is doubted."""
    # That an older value is older than today's is no news once it has been replaced.
    over = known.current(new).status != "active"
    named = {c.memory_id: c for c in claim.contradictions if not (over and c.relation == "stale")}
    for cluster, other in findings:
        if cluster == claim.cluster_id:
            named.setdefault(other, Contradiction(memory_id=other, relation="contested"))
    for other, said in named.items():
        if known.memory(other) is None or is_resolved(known, new, other):
            continue
        found = findings.get((claim.cluster_id, other))
        if found is not None:
            found = replace(found, reasoning=found.reasoning or said.reason)
            decided = _decided(known, new, other, found)
        else:
            sure = claim.scores.supersession_confidence or None
            decided = _Doubt(new=new, old=other, why=said.reason or UNNAMED, sure=sure)
        if isinstance(decided, Step):
            yield decided
        else:
            doubts.append(decided)


def decided_pair(known: Known, first: str, second: str, found: Finding) -> Step | None:
    """Return what a finding about two memories that stand leads to; None where nothing changes."""
    if is_resolved(known, first, second) or not (
        known.is_active(first) and known.is_active(second)
    ):
        return None
    decided = _decided(known, first, second, found)
    return decided if isinstance(decided, Step) else _flag(known, decided)


def replaced_pair(known: Known, new: str, old: str, reason: str) -> Step | None:
    """Return the step by which a memory replaces another, as decided; None where one may not."""
    if is_resolved(known, new, old) or not (known.is_active(new) and known.is_active(old)):
        return None
    return _supersede(known, new, old, reason)


def _decided(known: Known, first: str, second: str, found: Finding) -> Step | _Doubt:
    """Replace the older of two memories that contradict each other where that is sure."""
    sure, why = found.confidence, found.reasoning or UNNAMED
    newer, older = (second, first) if found.newer == "second" else (first, second)
    if found.newer != "unknown" and _is_held(known, newer, older):
        return _Doubt(new=newer, old=older, why=f"{why}; a person said the older one", sure=sure)
    if found.newer == "unknown" or _not_sure(known, newer, older, sure):
        return _Doubt(new=first, old=second, why=why, sure=sure)
    return _supersede(known, newer, older, f"{why} ({sure:.2f} sure)", sure)


def _is_held(known: Known, newer: str, older: str) -> bool:
    """Tell whether a person said or confirmed the older one and no date says that it is over."""
    if not by_person(known.current(older)) or by_person(known.current(newer)):
        return False
    sides = known.current(newer).sources, known.current(older).sources
    return newer_of(*sides) != ("first", "dated")


def _not_sure(known: Known, new: str, old: str, sure: float) -> str:
    """Return why a supersession is only flagged, or an empty string.

    A value that was superseded before and is stated again never comes back by itself: that would
    be a resurrection nobody decided on.
    """
    if known.current(new).status != "active":
        return f"a {known.current(new).status} statement was made again"
    if sure <= SURE:
        return "a newer statement, but not a sure one"
    return "" if known.current(old).status == "active" and old != new else "superseded already"


def _with(ids: tuple[str, ...], id_: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, id_)))


def _supersede(known: Known, new: str, old: str, reason: str, sure: float | None = None) -> Step:
    before, after = known.current(old), known.current(new)
    gains: dict[str, Any] = {"supersedes": _with(after.texts("supersedes"), old)}
    doubted = new in known.fresh or contradicts(after, before)
    if (
        after.standing == "contested"
        and doubted
        and not still_contested(after, known.is_active, old)
    ):
        gains["standing"] = None
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
            known.edit(new, gains),
            *case_of(known, new, old, kept=new, reason=reason, sure=sure),
        ),
    )


def _flag(known: Known, doubt: _Doubt) -> Step | None:
    """Mark two memories as contradicting each other; None where both say so already."""
    new, old = doubt.new, doubt.old
    if new == old or not known.is_active(old) or is_resolved(known, new, old):
        return None
    changes = []
    for id_, other in ((new, old), (old, new)):
        memory = known.current(id_)
        links = links_of(memory)
        linked = any((x.target, x.type) == (other, "contradicts") for x in links)
        if linked and memory.standing == "contested":
            continue
        edge = () if linked else (Link(target=other, type="contradicts"),)
        changes.append(known.edit(id_, {"standing": "contested", "links": (*links, *edge)}))
    if not changes:
        return None
    case = case_of(known, new, old, kept="", reason=doubt.why, sure=doubt.sure)
    return Step(
        op="flag",
        what=f"{known.current(new).label} against {known.current(old).label}",
        reason=doubt.why,
        changes=(*changes, *case),
        memories=(new, old),
    )
