"""`memrepo simulate`: the policies played forward over a copy in memory; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work, uncollected
from memrepo.core.times import format_time
from memrepo.keys import PROFILES
from memrepo.policies.simulation import Day as Played
from memrepo.policies.simulation import simulate
from memrepo.store.ledger import ledger_of

DAYS, MOST = 90, 3650


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


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """What there is at the end of a day."""

    day: int
    at: str
    tiers: Mapping[str, int]
    classes: Mapping[str, int]
    archived: int
    hot: int
    gone: int


class Result(result.Result, frozen=True, kw_only=True):
    """What would become of the memories, day by day."""

    began: str
    seed: int
    sessions: int
    retrievals: int
    lost: int
    """Retrievals of what was no longer there."""
    days: tuple[Day, ...]
    active: tuple[str, ...]
    """What is active in the end."""
    profile: str
    profiles: Mapping[str, tuple[int, ...]]
    """How many memories but notes each lifecycle profile leaves in recall, day by day."""


def do(work: Work, request: Request) -> Result:
    """Play from now on by each lifecycle profile, and count each tier and class day by day."""
    with uncollected():
        return _played(work, request)


def _played(work: Work, request: Request) -> Result:
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
    return Result(
        began=format_time(work.call.now),
        seed=request.seed,
        sessions=sessions,
        retrievals=retrieved,
        lost=found.lost,
        days=tuple(_day(day) for day in found.days),
        active=tuple(sorted(m.id for m in found.memories.values() if m.status == "active")),
        profile=config.lifecycle,
        profiles={name: tuple(d.recalled for d in one.days) for name, one in played.items()},
    )


def _day(day: Played) -> Day:
    return Day(
        day=day.day,
        at=format_time(day.at),
        tiers=dict(day.tiers),
        classes=dict(day.classes),
        archived=day.archived,
        hot=day.hot,
        gone=day.gone,
    )
