"""`memrepo corrections`: what was contradicted, and what became of it; open cases first."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.review.disputes import as_json, case_json, disputes, verdict_said
from memrepo.actions.work import Answer, Work
from memrepo.core.corrections import Correction
from memrepo.core.messages import counted, fold
from memrepo.policies.conflicts import STATUSES


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `corrections`."""

    status: Annotated[
        str | None,
        option(
            "only these; moot: one of the two left recall in another way",
            "--status",
            choices=STATUSES,
        ),
    ] = None


def do(work: Work, request: Request) -> Answer:
    """List contradictions by status, then wordings that a merge put aside."""
    found, cases = disputes(work.tree.state())
    rows = [as_json(work, conflict) for conflict in found]
    known = {row["id"] for row in rows}
    others = sorted((c for i, c in cases.cases.items() if i not in known), key=lambda c: c.id)
    rows += [_from_case(case) for case in others]
    rows.sort(key=lambda row: STATUSES.index(row["status"]))
    rows = [row for row in rows if request.status in (None, row["status"])]
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
