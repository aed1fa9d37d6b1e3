"""`memrepo nominate`: notes that were looked for so often that they earned a place as memories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from memrepo.actions.work import Answer, Session, opened
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.policies.nomination import Candidate, nominated
from memrepo.store.ledger import ledger_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--report", action="store_true", help="print the report in markdown, with destinations"
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List the nominated notes; nothing is written."""
    with opened(session) as desk:
        accesses = ledger_of(desk.store).accesses()
        found = nominated(desk.tree.state().active, accesses, session.now, desk.config.rules.tiers)
    lines = report(found) if options.report else lines_of(found)
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
