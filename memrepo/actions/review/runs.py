"""`memrepo runs`: the runs in effect, from their manifests, and those that wait."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.pending import all_waiting
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.manifest import read_manifests


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `runs`."""

    n: Annotated[int, option("at most N runs (30)", "-n", metavar="N")] = 30


class WaitingRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that waits for review: its branch, and why it waits."""

    run: str
    branch: str
    why: str


class LandedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in effect, as its manifest tells of it; older manifests tell less."""

    run: str
    now: str | None
    mode: str | None
    judge: str | None
    profile: str | None
    counts: Mapping[str, int] | None
    tokens: Mapping[str, int | str] | None
    cost_usd: float | None


class Result(result.Result, frozen=True, kw_only=True):
    """The runs that wait, and those in effect, newest first."""

    waiting: tuple[WaitingRun, ...]
    runs: tuple[LandedRun, ...]


def do(work: Work, request: Request) -> Result:
    """List runs, newest first: across clones the manifests know them all."""
    manifests, problems = read_manifests(work.tree.files, work.tree.layout)
    return Result(
        waiting=tuple(
            WaitingRun(run=w.run, branch=w.branch, why=w.entry.trailer("Reason"))
            for w in all_waiting(work)
        ),
        runs=tuple(_landed(work, m.run) for m in list(reversed(manifests))[: request.n]),
        notices=problems,
    )


def _landed(work: Work, run: str) -> LandedRun:
    record = json.loads(work.tree.files[work.tree.layout.manifest(run)])
    return LandedRun(**{name: record.get(name) for name in LandedRun.__struct_fields__})
