"""Writes of several steps: a commit each on the branch, and the hot cache's page that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.actions.lifecycle.lifecycle import hot_rules
from memrepo.actions.request import Writes
from memrepo.actions.run.landing import TRIES, prepare
from memrepo.actions.work import Work
from memrepo.core.changes import Plan, Step
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.store.identity import author
from memrepo.store.repo import BranchMoved
from memrepo.views.hot import hot_changes


class Wrote(msgspec.Struct, frozen=True, kw_only=True):
    """What was written: the steps, the last commit (empty: none), the state, what was noticed."""

    steps: tuple[Step, ...]
    commit: str
    state: State
    problems: tuple[Problem, ...] = ()


def write_steps(
    first: Work,
    request: Writes,
    draft: Callable[[Work, State], Sequence[Step]],
) -> Wrote:
    """Write the steps that `draft` finds on the state at HEAD, one commit each.

    With `--dry-run` nothing is written; `--reason` comes before each step's own reason.
    """
    first.require_writable()
    first.store.refuse_unfit()
    if not request.dry_run:
        first.store.recover()
    for turn in range(1, TRIES + 1):
        at = first.refreshed()
        state = at.tree.state()
        steps = [_reasoned(step, request.reason) for step in draft(at, state)]
        if not steps:
            return Wrote(steps=(), commit="", state=state)
        after = apply(state, (change for step in steps for change in step.changes))
        pages = hot_changes(after, hot_rules(at))
        follow = Step(
            op="view", what="hot cache", reason="it follows the memories", changes=tuple(pages)
        )
        plan = Plan(base=at.tree.commit, steps=(*steps, *((follow,) if pages else ())))
        landing = prepare(
            at.store, state, plan, at.context(), first.call.now, author=author(at.store.repo)
        )
        wrote = Wrote(steps=tuple(steps), commit="", state=landing.state)
        if request.dry_run:
            return wrote
        try:
            commit = at.store.land(landing.chain, f"{steps[0].op}-{at.tree.commit[:10]}")
        except BranchMoved:
            if turn == TRIES:
                raise
            continue
        return replace(wrote, commit=commit, problems=tuple(at.store.notices))
    raise AssertionError("unreachable")


def _reasoned(step: Step, reason: str) -> Step:
    return replace(step, reason=f"{reason}; {step.reason}") if reason else step
