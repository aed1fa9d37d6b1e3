"""Check a judge's Pass 1 answer, verdict by verdict (memory-purifier, Pass 1).

A judge is never trusted with arithmetic or with ids, and one bad verdict never costs the others:
it is named in `Pass1.rejected` and its candidate stays where it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.judging import VERDICTS, PromotionRequest, PromotionScores, Verdict
from memrepo.core.secrets import secret_fault

STRENGTH_TOLERANCE = 0.01
_SLACK = 1e-9  # the tolerance is inclusive, and 2.01 - 2.0 is not 0.01 in binary
_SURVIVING = ("promote", "merge")
_DIMENSIONS = PromotionScores.__struct_fields__


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that was not accepted: for which candidate (or unknown id) and why."""

    candidate_id: str
    reason: str


class Pass1(msgspec.Struct, frozen=True, kw_only=True):
    """Accepted verdicts in the request's order, and what was not accepted."""

    verdicts: tuple[Verdict, ...]
    rejected: tuple[Rejection, ...] = ()


def check_verdicts(request: PromotionRequest, verdicts: Sequence[Verdict]) -> Pass1:
    """Accept each valid verdict and name every other, missing candidates included.

    A candidate that is answered twice has no verdict, because nothing says which one is meant.
    Merge links come back in both directions; a link to a candidate that does not survive is
    dropped (`merge_dropped` in the rationale), and a merge without any link left is a promotion.
    """
    known = frozenset(c.candidate_id for c in request.candidates)
    answers: dict[str, list[Verdict]] = {c.candidate_id: [] for c in request.candidates}
    bad: list[Rejection] = []
    for verdict in verdicts:
        if verdict.candidate_id in known:
            answers[verdict.candidate_id].append(verdict)
        else:
            bad.append(Rejection(candidate_id=verdict.candidate_id, reason="unknown candidate"))
    sound: dict[str, Verdict] = {}
    for candidate_id, given in answers.items():
        reason = _count_fault(len(given)) or _fault(given[0], known)
        if reason:
            bad.append(Rejection(candidate_id=candidate_id, reason=reason))
        else:
            sound[candidate_id] = given[0]
    for candidate_id, reason in _compress_faults(sound).items():
        bad.append(Rejection(candidate_id=candidate_id, reason=reason))
        del sound[candidate_id]
    return Pass1(verdicts=_join_merges(sound), rejected=tuple(bad))


def _count_fault(count: int) -> str:
    if count == 1:
        return ""
    return "no verdict" if count == 0 else f"answered {count} times"


def _fault(verdict: Verdict, known: frozenset[str]) -> str:
    """Return why one verdict is invalid by itself, or an empty string."""
    if verdict.fault:
        return verdict.fault
    for name in _DIMENSIONS:
        if not in_unit_range(getattr(verdict.scores, name)):
            return f"score {name} is not a number from 0 to 1"
    derived = verdict.scores.strength
    if not _is_number(verdict.strength):
        return "strength is not a number"
    if abs(verdict.strength - derived) > STRENGTH_TOLERANCE + _SLACK:
        return f"strength {verdict.strength:g} but its scores give {derived:g}"
    if verdict.verdict not in VERDICTS:
        return "verdict is none of " + ", ".join(VERDICTS)
    return secret_fault(verdict.rationale) or _link_fault(verdict, known)


def _link_fault(verdict: Verdict, known: frozenset[str]) -> str:
    if verdict.verdict == "merge":
        if not verdict.merge_with:
            return "merge names no candidate"
        if verdict.candidate_id in verdict.merge_with:
            return "merge names itself"
        if not known.issuperset(verdict.merge_with):
            return "merge names an unknown candidate"
    elif verdict.merge_with:
        return f"{verdict.verdict} must not name merge candidates"
    if verdict.verdict == "compress":
        if not verdict.compress_into:
            return "compress names no target"
        if verdict.compress_into == verdict.candidate_id:
            return "compress names itself"
        if verdict.compress_into not in known:
            return "compress names an unknown target"
    elif verdict.compress_into:
        return f"{verdict.verdict} must not name a compress target"
    return ""


def in_unit_range(value: object) -> bool:
    """Tell whether a value is a finite number from 0 to 1; a bool is no number."""
    return _is_number(value) and 0.0 <= float(value) <= 1.0  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _compress_faults(sound: Mapping[str, Verdict]) -> dict[str, str]:
    """Follow each chain of compress targets; its end must survive."""
    faults: dict[str, str] = {}
    ends: dict[str, str] = {}
    for start in sound:
        trail: dict[str, None] = {}
        at = start
        while at not in ends and at in sound and sound[at].verdict == "compress":
            if at in trail:
                break
            trail[at] = None
            at = sound[at].compress_into
        end = ends.get(at, "compress targets form a cycle" if at in trail else _end(sound.get(at)))
        for passed in trail:
            ends[passed] = end
            if end:
                faults[passed] = end
    return faults


def _end(verdict: Verdict | None) -> str:
    if verdict is not None and verdict.verdict in _SURVIVING:
        return ""
    return "compress target does not survive"


def _join_merges(sound: Mapping[str, Verdict]) -> tuple[Verdict, ...]:
    """Make merge links bidirectional among survivors."""
    links: dict[str, set[str]] = {key: set() for key in sound}
    for key, verdict in sound.items():
        for other in verdict.merge_with:
            if other in sound and sound[other].verdict in _SURVIVING:
                links[key].add(other)
                links[other].add(key)
    return tuple(_linked(verdict, links[key]) for key, verdict in sound.items())


def _linked(verdict: Verdict, links: set[str]) -> Verdict:
    if verdict.verdict not in _SURVIVING:
        return verdict
    dropped = not links.issuperset(verdict.merge_with)
    notes = [verdict.rationale] if verdict.rationale else []
    rationale = ",".join([*notes, "merge_dropped"]) if dropped else verdict.rationale
    return replace(
        verdict,
        verdict="merge" if links else "promote",
        merge_with=tuple(sorted(links)),
        rationale=rationale,
    )
