"""Contradictions as commands tell of them: found by id, and both texts with their evidence."""

from __future__ import annotations

from typing import Any

import msgspec

from memrepo.actions.recall.quotes import Quote, evidence, evidence_lines
from memrepo.actions.work import Work
from memrepo.core.corrections import Correction, Corrections
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.policies.conflicts import Conflict, conflicts


class NoSuchContradiction(MemrepoError):
    """Nothing contradicts anything under this id."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(
            f"no contradiction is called {word!r}", fix="`memrepo corrections` lists them"
        )


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
        raise NoSuchContradiction(word)
    if len(fits) > 1:
        raise SeveralContradictions(word, [c.id for c in fits])
    return fits[0]


def _called(memory: Memory, start: str, word: str) -> bool:
    return memory.id.startswith(f"mem-{start}") or word in (memory.slug, memory.path)


def as_json(work: Work, conflict: Conflict) -> dict[str, Any]:
    """Return a contradiction with both texts and what they rest on."""
    case = conflict.case
    return {
        "id": conflict.id,
        "status": conflict.status,
        "kind": "contradiction",
        "memories": [
            {
                "id": m.id,
                "path": m.path,
                "status": m.status,
                "standing": m.standing,
                "text": m.body,
                "evidence": msgspec.to_builtins(evidence(work, m)),
            }
            for m in conflict.sides
        ],
        **(case_json(case) if case else _NO_CASE),
    }


_NO_CASE: dict[str, Any] = {
    "verdict": "flagged",
    "kept": "",
    "confidence": None,
    "reason": "",
    "by": "",
    "at": "",
    "decided": "",
    "run": "",
}


def case_json(case: Correction) -> dict[str, Any]:
    """Return what a correction says of a decision."""
    return {
        "verdict": case.verdict,
        "kept": case.kept,
        "confidence": case.confidence,
        "reason": case.reason,
        "by": case.by,
        "at": format_time(case.at) if case.at else "",
        "decided": format_time(case.decided) if case.decided else "",
        "run": case.run,
    }


def told(shown: dict[str, Any]) -> list[str]:
    """Return a contradiction in lines: both texts, where each stands, and why they clash."""
    lines = [f"{shown['id']}  {shown['status']}"]
    for memory in shown["memories"]:
        lines += ["", f"{memory['id']}  {memory['status']}, {memory['standing']}"]
        lines += [f"  {visible(line)}" for line in memory["text"].split("\n")]
        lines += evidence_lines(msgspec.convert(memory["evidence"], tuple[Quote, ...]))
    lines.append("")
    if shown["reason"]:
        sure = f" ({shown['confidence']:.2f} sure)" if shown["confidence"] is not None else ""
        lines.append(f"why: {visible(shown['reason'])}{sure}")
    if shown["verdict"] == "context":
        lines.append(f"{verdict_said(shown)}, said by {shown['by']}")
    if shown["status"] == "resolved":
        lines.append(f"{verdict_said(shown)}, decided by {shown['by']}")
    return lines


def verdict_said(shown: dict[str, Any]) -> str:
    """Return a verdict in words."""
    match shown["verdict"]:
        case "superseded":
            return f"{shown['kept']} stands"
        case "merged":
            return "another memory replaced both"
        case "context":
            return "not decided: more must be known"
        case "both":
            return "both stand"
        case "neither":
            return "neither stands"
        case "newer":
            return "the newer wording stands"
        case _:
            return "not decided"
