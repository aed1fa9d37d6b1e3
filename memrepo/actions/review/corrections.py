"""`memrepo corrections`: what was contradicted, and what became of it; open cases first."""

from __future__ import annotations

import argparse
from typing import Any

from memrepo.actions.review.disputes import as_json, case_json, disputes, verdict_said
from memrepo.actions.work import Answer, Session, opened
from memrepo.core.corrections import Correction
from memrepo.core.messages import counted, fold
from memrepo.policies.conflicts import STATUSES


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--status",
        choices=STATUSES,
        help="only these; moot: one of the two left recall in another way",
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List contradictions by status, then wordings that a merge put aside."""
    with opened(session) as desk:
        found, cases = disputes(desk.tree.state())
        rows = [as_json(desk, conflict) for conflict in found]
        known = {row["id"] for row in rows}
        others = sorted((c for i, c in cases.cases.items() if i not in known), key=lambda c: c.id)
        rows += [_from_case(case) for case in others]
        rows.sort(key=lambda row: STATUSES.index(row["status"]))
        rows = [row for row in rows if options.status in (None, row["status"])]
        for row in rows:
            row["path"] = cases.paths.get(row["id"], "")
    lines = [counted(len(rows), "correction", "corrections")]
    for row in rows:
        said = f", {verdict_said(row)}" if row["status"] == "resolved" else ""
        lines.append(f"\n{row['id']}  {row['status']}{said}")
        lines += [f"  {m['id']}  {fold(m['text'], 80)}" for m in row["memories"]]
    return Answer(data={"corrections": rows}, text="\n".join(lines), problems=cases.problems)


def _from_case(case: Correction) -> dict[str, Any]:
    """Return a case of which not both memories are there to be asked, or a wording."""
    status = "moot" if case.status == "open" else "resolved"
    return {
        "id": case.id,
        "status": status,
        "kind": case.kind,
        "memories": [{"id": side.memory, "text": side.text} for side in case.sides],
        **case_json(case),
    }
