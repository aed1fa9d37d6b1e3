"""What Pass 1 set aside is kept, never dropped: a file a text, with verdict, scores, reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
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
    """
    by_id = {c.candidate_id: c for c in candidates}
    changes: dict[str, Write | Delete] = {}
    for verdict in sorted(verdicts, key=lambda v: v.candidate_id):
        candidate = by_id[verdict.candidate_id]
        hash_ = text_hash(candidate.text)
        folder = _FOLDERS.get(verdict.verdict)
        for other in set(_FOLDERS.values()) - {folder}:
            path = state.layout.candidate(other, hash_)
            if path in state.files:
                changes[path] = Delete(path=path)
        if folder is not None:
            path = state.layout.candidate(folder, hash_)
            if path not in state.files:
                changes[path] = Write(path=path, data=_file(candidate, verdict, now))
    return tuple(changes[path] for path in sorted(changes))


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
        "reason": verdict.rationale, "context": list(candidate.context[-3:]),
        "judged": Raw(format_time(now)), "sources": sources,
    }  # fmt: skip
    lines = [line for key, node in header.items() for line in entry_lines(key, node)]
    return "\n".join(["---", *lines, "---", "", candidate.text, ""]).encode("utf-8")
