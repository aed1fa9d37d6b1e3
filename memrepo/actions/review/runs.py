"""`memrepo runs`: the runs in effect, from their manifests, and those that wait."""

from __future__ import annotations

import argparse
import json
from typing import Any

from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.actions.review.waiting import all_waiting
from memrepo.purify.manifest import read_manifests


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("-n", type=int, default=30, metavar="N", help="at most N runs (30)")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List runs, newest first: across clones the manifests know them all."""
    with opened(session) as desk:
        waits = all_waiting(desk)
        manifests, problems = read_manifests(desk.tree.files, desk.tree.layout)
        rows = [_row(desk, m.run) for m in reversed(manifests)][: options.n]
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


def _row(desk: Desk, run: str) -> dict[str, Any]:
    record = json.loads(desk.tree.files[desk.tree.layout.manifest(run)])
    keys = ("run", "now", "mode", "judge", "profile", "counts", "tokens", "cost_usd")
    return {key: record.get(key) for key in keys}


def _said(counts: dict[str, int] | None) -> str:
    told = [f"{n} {key.replace('_', ' ')}" for key, n in sorted((counts or {}).items()) if n]
    return ", ".join(told) or "nothing kept"
