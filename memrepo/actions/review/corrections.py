"""`memrepo corrections`: what was contradicted, and what became of it; open cases first."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import asdict

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.review.disputes import Dispute, Party, decided, dispute_of, disputes
from memrepo.actions.work import Work
from memrepo.core.corrections import Correction
from memrepo.policies.conflicts import STATUSES, ConflictStatus


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `corrections`."""

    status: Annotated[
        ConflictStatus | None,
        option(
            "only these; moot: one of the two left recall in another way",
            "--status",
            choices=STATUSES,
        ),
    ] = None


class Row(Dispute, frozen=True, kw_only=True):
    """A contradiction or a wording, and the file that records what became of it."""

    path: str


class Result(result.Result, frozen=True, kw_only=True):
    """What was contradicted, open cases first."""

    corrections: tuple[Row, ...]


def do(work: Work, request: Request) -> Result:
    """List contradictions by status, then wordings that a merge put aside."""
    found, cases = disputes(work.tree.state())
    rows = [dispute_of(work, conflict) for conflict in found]
    known = {row.id for row in rows}
    others = sorted((c for i, c in cases.cases.items() if i not in known), key=lambda c: c.id)
    rows += [_from_case(case) for case in others]
    rows.sort(key=lambda row: STATUSES.index(row.status))
    return Result(
        corrections=tuple(
            Row(**asdict(row), path=cases.paths.get(row.id, ""))
            for row in rows
            if request.status in (None, row.status)
        ),
        notices=cases.problems,
    )


def _from_case(case: Correction) -> Dispute:
    """Return a case of which not both memories are there to be asked, or a wording."""
    found = Dispute(
        id=case.id,
        status="moot" if case.status == "open" else "resolved",
        kind=case.kind,
        memories=tuple(Party(id=side.memory, text=side.text) for side in case.sides),
    )
    return decided(found, case)
