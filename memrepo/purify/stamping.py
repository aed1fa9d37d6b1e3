"""A run's id, known only once its plan is, written into what the run decided."""

from __future__ import annotations

from msgspec.structs import replace

from memrepo.core import corrections
from memrepo.core.changes import Change, Step, Update, Write


def with_run(step: Step, run: str) -> Step:
    """Write the run's id into the reasons of a retirement and into corrections."""
    changes: list[Change] = []
    for change in step.changes:
        match change:
            case Update(fields=fields) if step.op == "retire" and fields.get("retired"):
                *rest, last = fields["retired"]
                named = {**fields, "retired": (*rest, replace(last, run=run))}
                changes.append(replace(change, fields=named))
            case Write(path=path, data=data):
                changes.append(Write(path=path, data=corrections.with_run(path, data, run)))
            case _:
                changes.append(change)
    return replace(step, changes=tuple(changes))
