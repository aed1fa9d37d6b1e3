"""Conditions that need a person's attention, such as pending or failed runs.

A configured command is called when they differ from those it last reported.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import msgspec

from memrepo.actions.pending import Waiting
from memrepo.actions.run.timetable import Schedule
from memrepo.actions.work import Work, outside
from memrepo.core.ids import digest
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.secrets import without_secrets

NEARLY = 0.8
"""The share of the monthly budget at which spending is reported."""
_TOLD = "notified"


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One condition that needs a person's attention."""

    kind: Literal["waits", "failed", "missed", "contested", "spend"]
    text: str


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """The used part and the limit of a monthly budget, in the budget's unit."""

    used: float
    limit: float
    unit: str


def needs(
    waits: Sequence[Waiting],
    times: Schedule,
    undecided: int,
    spent: Sequence[Spent],
) -> tuple[Need, ...]:
    """Return the conditions that need a person's attention, most urgent first."""
    found = []
    if times.failed:
        found.append(Need(kind="failed", text=times.complaints[0]))
    for one in waits:
        reason = one.entry.trailer("Reason")
        found.append(Need(kind="waits", text=f"{one.run} waits for review: {reason}"))
    if times.missed:
        missed = counted(times.missed, "scheduled run was", "scheduled runs were")
        found.append(Need(kind="missed", text=f"{missed} missed"))
    if undecided:
        said = counted(undecided, "contradiction is", "contradictions are")
        found.append(Need(kind="contested", text=f"{said} undecided (`memrepo resolve`)"))
    for budget in spent:
        if budget.used >= NEARLY * budget.limit:
            said = f"{budget.used:,.2f}".removesuffix(".00")
            text = f"{said} of {budget.limit:,g} {budget.unit} are spent this month"
            found.append(Need(kind="spend", text=text))
    return tuple(found)


def tell(work: Work, found: Sequence[Need]) -> tuple[bool, tuple[Problem, ...]]:
    """Call the notification command if the conditions changed since they were last sent.

    Return whether the command was called, and its errors. Do nothing if `notify.command` is not
    set.
    """
    setting = outside(work).get("notify.command")
    path = work.store.folder / _TOLD
    mark = digest([[need.kind, need.text] for need in found]) if found else ""
    if setting is None or mark == (path.read_text("ascii") if path.is_file() else ""):
        return False, ()
    if found and (failed := _sent(work, str(setting.value), found)):
        problem = Problem(
            path=setting.origin,
            rule="notify-failed",
            key="notify.command",
            message=f"notify.command: {failed}",
            severity="warning",
            fix="`memrepo config explain notify.command` says where it is set",
        )
        return True, (problem,)  # the next call tries again
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(mark, encoding="ascii")
    return bool(found), ()


def _sent(work: Work, command: str, found: Sequence[Need]) -> str:
    from memrepo.store.telemetry import hand_off

    root = work.store.root
    said = without_secrets(f"{root.name}: " + "; ".join(need.text for need in found))
    record = {
        "schema_version": 1,
        "repository": str(root),
        "text": said,
        "needs": [{"kind": n.kind, "text": without_secrets(n.text)} for n in found],
    }
    data = json.dumps(record, ensure_ascii=False).encode()
    return hand_off(command, f"memrepo {said}", root, told=data)
