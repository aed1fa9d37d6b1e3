"""What needs a person: what waits, failed, was missed, is contested or costs too much.

They are told by a command, a webhook, or both, when it is not what was told last. A ping says that
a run ended well, for a service that raises the alarm where none comes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from memrepo.actions.pending import Waiting
from memrepo.actions.run.timetable import Timetable
from memrepo.actions.work import Setting, Work, outside
from memrepo.core.ids import digest
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.secrets import without_secrets

NEARLY = 0.8
"""The share of a month's budget from which on its spend is told."""
_TOLD = "notified"


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that needs a person."""

    kind: Literal["waits", "failed", "missed", "contested", "spend"]
    text: str


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What of a month's budget is spent, in its own unit."""

    used: float
    limit: float
    unit: str


def needs(
    waits: Sequence[Waiting],
    times: Timetable,
    undecided: int,
    spent: Sequence[Spent],
) -> tuple[Need, ...]:
    """Return what needs a person, worst first; empty where all is well."""
    found = []
    if times.failed:
        found.append(Need(kind="failed", text=times.complaints[0]))
    for one in waits:
        reason = one.entry.trailer("Reason")
        found.append(Need(kind="waits", text=f"{one.run} waits for review: {reason}"))
    if times.missed > 1:
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
    """Tell of what needs a person where it is not what was told last; return what failed.

    Where nobody set a way to be told, nobody is told.
    """
    ways = {n: s for n, s in outside(work).items() if n in ("notify.command", "notify.url")}
    path = work.store.folder / _TOLD
    mark = digest([[need.kind, need.text] for need in found]) if found else ""
    if not ways or mark == (path.read_text("ascii") if path.is_file() else ""):
        return False, ()
    problems = _sent(work, ways, found) if found else ()
    if len(problems) < len(ways):  # where every way failed, the next time tries again
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(mark, encoding="ascii")
    return bool(found), problems


def _sent(work: Work, ways: Mapping[str, Setting], found: Sequence[Need]) -> tuple[Problem, ...]:
    from memrepo.store.handoff import hand_off, send

    root = work.store.root
    said = without_secrets(f"{root.name}: " + "; ".join(need.text for need in found))
    record = {
        "schema_version": 1,
        "repository": str(root),
        "text": said,
        "needs": [{"kind": n.kind, "text": without_secrets(n.text)} for n in found],
    }
    data = json.dumps(record, ensure_ascii=False).encode()
    problems = []
    for name, setting in ways.items():
        value = str(setting.value)
        if name == "notify.command":
            failed = hand_off(value, f"memrepo {said}", root, told=data)
        else:
            failed = send(value, data)
        if failed:
            problems.append(_problem(setting.origin, name, failed))
    return tuple(problems)


def ping(work: Work, *, well: bool) -> tuple[Problem, ...]:
    """Say that a run ended, and whether well, where an address for that is set."""
    from memrepo.store.handoff import send

    setting = outside(work).get("notify.ping")
    if setting is None:
        return ()
    url = str(setting.value).rstrip("/")
    failed = send(url if well else f"{url}/fail")
    return (_problem(setting.origin, "notify.ping", failed),) if failed else ()


def _problem(path: str, key: str, failed: str) -> Problem:
    return Problem(
        path=path,
        rule="notify-failed",
        key=key,
        message=f"{key}: {failed}",
        severity="warning",
        fix=f"`memrepo config explain {key}` says where it is set",
    )
