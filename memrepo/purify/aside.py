"""What Pass 1 set aside is kept, never dropped: a file a text, with verdict, scores, reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime

from memrepo.core.changes import Delete, Write
from memrepo.core.fields import Node, Raw
from memrepo.core.ids import text_hash
from memrepo.core.judging import Candidate, PromotionScores, Verdict
from memrepo.core.spelling import entry_lines
from memrepo.core.state import State
from memrepo.core.times import format_time

_FOLDERS = {"defer": "deferred", "reject": "rejected"}


def set_aside(
    state: State, candidates: Sequence[Candidate], verdicts: Sequence[Verdict], now: datetime
) -> tuple[Write | Delete, ...]:
    """Write a file for each candidate deferred or rejected; drop it once the text is promoted.

    A text that was set aside before keeps its file as it is: the first judgement stands in the
    tree, later ones in the manifests.
    Equal texts share a file, with the places of all of them; what one of them wants kept stays
    even where another is promoted.
    """
    by_id = {c.candidate_id: c for c in candidates}
    groups: dict[str, dict[str, list[tuple[Candidate, Verdict]]]] = {}
    for verdict in sorted(verdicts, key=lambda v: v.candidate_id):
        candidate = by_id[verdict.candidate_id]
        folders = groups.setdefault(text_hash(candidate.text), {})
        if folder := _FOLDERS.get(verdict.verdict):
            folders.setdefault(folder, []).append((candidate, verdict))
    changes: dict[str, Write | Delete] = {}
    for hash_, folders in groups.items():
        for folder in _FOLDERS.values():
            path = state.layout.candidate(folder, hash_)
            there, wanted = path in state.files, folders.get(folder)
            if there and not wanted:
                changes[path] = Delete(path=path)
            elif wanted and not there:
                united = _united([candidate for candidate, _ in wanted])
                changes[path] = Write(path=path, data=_file(united, wanted[0][1], now))
    return tuple(changes[path] for path in sorted(changes))


def _united(candidates: Sequence[Candidate]) -> Candidate:
    """Return the first of some candidates of equal text, with what all of them rest on."""
    return replace(
        candidates[0],
        context=tuple(dict.fromkeys(word for c in candidates for word in c.context[-3:])),
        sources=tuple(dict.fromkeys(source for c in candidates for source in c.sources)),
    )


def _file(candidate: Candidate, verdict: Verdict, now: datetime) -> bytes:
    scores: dict[str, Node] = {
        f.name: Raw(f"{getattr(verdict.scores, f.name):.2f}") for f in fields(PromotionScores)
    }
    sources: list[Node] = [
        {
            "resource": s.resource, "blob": s.blob,
            "lines": [Raw(s.lines[0]), Raw(s.lines[1])], "captured": Raw(s.captured),
        }
        for s in candidate.sources
    ]  # fmt: skip
    header: dict[str, Node] = {
        "type": "candidate", "verdict": verdict.verdict,
        "strength": Raw(f"{verdict.strength:.2f}"), "scores": scores,
        "reason": verdict.rationale, "context": list(candidate.context),
        "judged": Raw(format_time(now)), "sources": sources,
    }  # fmt: skip
    lines = [line for key, node in header.items() for line in entry_lines(key, node)]
    return "\n".join(["---", *lines, "---", "", candidate.text, ""]).encode("utf-8")
