"""`memrepo simulate`: the policies played forward over a copy in memory; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.keys import PROFILES
from memrepo.policies.simulation import Day, Simulation, simulate
from memrepo.policies.tiers import TIERS
from memrepo.store.ledger import ledger_of

DAYS, MOST = 90, 3650
_WIDTH = 60
_HEIGHTS = "▁▂▃▄▅▆▇█"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `simulate`."""

    days: Annotated[
        int,
        option(f"how far to play, a run each day ({DAYS})", "--days", metavar="N", ge=1, le=MOST),
    ] = DAYS
    sessions: Annotated[
        int | None,
        option(
            "sessions in all, spread evenly (one a day); each retrieves three memories",
            "--sessions",
            metavar="N",
            ge=0,
            le=100 * MOST,
        ),
    ] = None
    seed: Annotated[
        int,
        option(
            "which memories the sessions look for most (0)", "--seed", metavar="N", ge=0, le=2**63
        ),
    ] = 0


def do(work: Work, request: Request) -> Answer:
    """Play from now on by each lifecycle profile, and plot the counts of each tier and class."""
    state, config = work.tree.state(), work.config
    accesses = ledger_of(work.store).accesses()
    sessions = request.days if request.sessions is None else request.sessions
    played = {
        profile: simulate(
            state,
            accesses,
            work.call.now,
            config.aged_by(profile).rules,
            days=request.days,
            sessions=sessions,
            seed=request.seed,
        )
        for profile in PROFILES
    }
    found = played[config.lifecycle]
    retrieved = sum(bool(event.memory) for event in found.events)
    data = {
        "seed": request.seed,
        "sessions": sessions,
        "retrievals": retrieved,
        "lost": found.lost,
        "days": [_row(day) for day in found.days],
        "active": sorted(m.id for m in found.memories.values() if m.status == "active"),
        "profile": config.lifecycle,
        "profiles": {name: [day.recalled for day in one.days] for name, one in played.items()},
    }
    head = (
        f"{counted(request.days, 'day', 'days')} from {format_time(work.call.now)},"
        f" {counted(sessions, 'session', 'sessions')},"
        f" {counted(retrieved, 'retrieval', 'retrievals')}"
        f" ({found.lost} looked for in vain), seed {request.seed}, profile {config.lifecycle}"
    )
    return Answer(data=data, text="\n".join([head, *chart(found, played)]))


def _row(day: Day) -> dict[str, Any]:
    return {
        "day": day.day,
        "at": format_time(day.at),
        "tiers": dict(day.tiers),
        "classes": dict(day.classes),
        "archived": day.archived,
        "hot": day.hot,
        "gone": day.gone,
    }


def chart(found: Simulation, profiles: Mapping[str, Simulation]) -> list[str]:
    """Draw one line a count: at the start, over time (all to one scale), at the end.

    The last ones compare how many memories but notes each of some profiles leaves in recall.
    """
    days = found.days
    rows: list[tuple[str, str, list[int]]] = [
        ("note", tier, [day.tiers.get(tier, 0) for day in days]) for tier in TIERS
    ]
    rows += [
        ("class", name, [day.classes.get(name, 0) for day in days])
        for name in sorted({name for day in days for name in day.classes})
    ]
    rows += [
        ("", "hot cache", [day.hot for day in days]),
        ("", "archived", [day.archived for day in days]),
        ("", "gone", [day.gone for day in days]),
    ]
    rows += [("kept", name, [day.recalled for day in one.days]) for name, one in profiles.items()]
    most = max(max(counts) for _, _, counts in rows)
    wide = len(str(most))
    lines = [
        f"{kind:<5}  {name:<10}  {counts[0]:>{wide}}  {_curve(counts, most)}  {counts[-1]:>{wide}}"
        for kind, name, counts in rows
    ]
    return [*lines, f"{'':<5}  {'day':<10}  {'':>{wide}}  {_axis(days[-1].day)}"]


def _axis(last: int) -> str:
    """Write the days below the curves: the first, the last, and the middle one where it fits."""
    width = min(_WIDTH, last + 1)
    middle, end = str(last // 2), str(last)
    if width < 3 * (len(end) + 2):
        return "0" + end.rjust(width - 1)
    place = width // 2 - len(middle)
    return "0" + middle.rjust(place + len(middle) - 1) + end.rjust(width - place - len(middle))


def _curve(counts: Sequence[int], most: int) -> str:
    """Draw counts as a curve; what is not nothing shows, what is nothing is blank."""
    width = min(_WIDTH, len(counts))
    shown = [counts[at * (len(counts) - 1) // max(1, width - 1)] for at in range(width)]
    return "".join(_HEIGHTS[-(-n * 8 // most) - 1] if n else " " for n in shown)
