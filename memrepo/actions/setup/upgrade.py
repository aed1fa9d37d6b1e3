"""`memrepo upgrade`: bring a repository of an older format to this program's, in one commit.

A repository says its format in `memrepo.toml`. Every later version reads it; what writes asks for
this first, so that a change of format is a commit of its own, which can be read and taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from memrepo.actions import result
from memrepo.actions.request import DryRun, Reason
from memrepo.actions.run.gate import upgrade_due
from memrepo.actions.run.landing import prepare
from memrepo.actions.setup.toml_edits import with_value
from memrepo.actions.work import NewerFormat, Work
from memrepo.config import FORMAT
from memrepo.core.changes import Change, Plan, Step, Write
from memrepo.core.state import State, apply

Migration: TypeAlias = Callable[[State], Sequence[Change]]
MIGRATIONS: Mapping[int, Migration] = MappingProxyType({})
"""By the format that it leaves: what brings a state to the next one. Format 1 is the first."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `upgrade`."""

    dry_run: DryRun = False
    reason: Reason = ""


class Result(result.Result, frozen=True, kw_only=True):
    """The format before and after, the files that changed, and the commit of it."""

    old: int
    new: int
    files: tuple[str, ...]
    commit: str
    """Empty where nothing was written."""
    judge_again: str
    """Why the next run judges everything again; empty where it goes on as before."""


def do(work: Work, request: Request) -> Result:
    """Migrate from format to format, and say what else a newer memrepo asks for."""
    found = int(work.config.get("format"))
    if found > FORMAT:
        raise NewerFormat(found, FORMAT)
    due = upgrade_due(work)
    told = Result(
        old=found, new=FORMAT, files=(), commit="", judge_again=due.message if due else ""
    )
    if found == FORMAT:
        return told
    state = work.tree.state()
    changes = _changes(state, found)
    files = tuple(sorted(_paths(state, changes)))
    told = msgspec.structs.replace(told, files=files)
    if request.dry_run:
        return told
    step = Step(
        op="edit",
        what=f"Upgrade files from format {found} to format {FORMAT}",
        reason=request.reason or f"this version of memrepo writes format {FORMAT}",
        changes=tuple(changes),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    with work.store.writing():
        work.store.refuse_unfit()
    landing = prepare(work.store, state, plan, work.context(), work.call.now, author=work.author)
    return msgspec.structs.replace(told, commit=work.store.land(landing.chain, "upgrade"))


def _changes(state: State, found: int) -> list[Change]:
    """Return what leads from a format to this program's, the number in the configuration last."""
    every: list[Change] = []
    for number in range(found, FORMAT):
        changes = MIGRATIONS[number](state)
        state = apply(state, changes)
        every += changes
    path = state.layout.config
    text = state.files[path].decode("utf-8")
    every.append(Write(path=path, data=with_value(text, ("format",), FORMAT).encode("utf-8")))
    return every


def _paths(before: State, changes: Sequence[Change]) -> set[str]:
    after = apply(before, changes).files
    return {p for p in {*before.files, *after} if before.files.get(p) != after.get(p)}
