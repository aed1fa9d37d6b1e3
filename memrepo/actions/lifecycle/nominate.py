"""`memrepo nominate`: notes that were looked for so often that they earned a place as memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.policies.nomination import Candidate, nominated
from memrepo.store.ledger import ledger_of


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `nominate`."""

    report: Annotated[
        bool, option("print the report in markdown, with destinations", "--report")
    ] = False


def do(work: Work, request: Request) -> Answer:
    """List the nominated notes; nothing is written."""
    accesses = ledger_of(work.store).accesses()
    found = nominated(work.tree.state().active, accesses, work.call.now, work.config.rules.tiers)
    lines = report(found) if request.report else lines_of(found)
    data = {"candidates": [c.as_json() for c in found]}
    return Answer(data=data, text="\n".join(lines))


def lines_of(found: Sequence[Candidate]) -> list[str]:
    """Return one line a candidate."""
    head = [counted(len(found), "note is", "notes are") + " nominated"]
    return head + [
        f"  {c.note.id}  {_title(c)}: {', '.join(c.why)}; to the {c.destination}" for c in found
    ]


def _title(candidate: Candidate) -> str:
    return " ".join(visible(candidate.note.text("title") or candidate.note.slug).split())


def report(found: Sequence[Candidate]) -> list[str]:
    """Return the report in markdown, with proposed destinations."""
    lines = ["# Promotion report", "", lines_of(found)[0] + "."]
    for candidate in found:
        last = candidate.access.last
        lines += [
            "",
            f"## {_title(candidate)}",
            "",
            f"- file: `{candidate.note.path}`",
            f"- retrievals: {candidate.access.total}"
            + (f", last {format_time(last)}" if last else ""),
            f"- why: {', '.join(candidate.why)}",
            f"- destination: {candidate.destination}",
        ]
    return lines
