"""`memrepo runs`: the runs in effect, from their manifests, and those that wait."""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.review.waiting import all_waiting
from memrepo.actions.work import Answer, Work
from memrepo.purify.manifest import read_manifests


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `runs`."""

    n: Annotated[int, option("at most N runs (30)", "-n", metavar="N")] = 30


def do(work: Work, request: Request) -> Answer:
    """List runs, newest first: across clones the manifests know them all."""
    waits = all_waiting(work)
    manifests, problems = read_manifests(work.tree.files, work.tree.layout)
    rows = [_row(work, m.run) for m in reversed(manifests)][: request.n]
    data = {
        "waiting": [
            {"run": w.run, "branch": w.branch, "why": w.entry.trailer("Reason")} for w in waits
        ],
        "runs": rows,
    }
    lines = [f"{w.run}  waits: {w.entry.trailer('Reason')}" for w in waits]
    lines += [
        f"{row['run']}  {row['mode']}, {row['judge']}: {_said(row['counts'])}" for row in rows
    ]
    return Answer(data=data, text="\n".join(lines) or "no run yet", problems=problems)


def _row(work: Work, run: str) -> dict[str, Any]:
    record = json.loads(work.tree.files[work.tree.layout.manifest(run)])
    keys = ("run", "now", "mode", "judge", "profile", "counts", "tokens", "cost_usd")
    return {key: record.get(key) for key in keys}


def _said(counts: dict[str, int] | None) -> str:
    told = [f"{n} {key.replace('_', ' ')}" for key, n in sorted((counts or {}).items()) if n]
    return ", ".join(told) or "nothing kept"
