"""From a plan to commits: play it on a state, spell its messages, hand it to the one writer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memrepo.core.changes import Plan, Step
from memrepo.core.messages import Context, message
from memrepo.core.state import State, play
from memrepo.store.repo import Repository
from memrepo.store.stream import COMMITTER, Chain, Commit

TRIES = 3
"""How often a plan is computed on the new HEAD when a person's commit came in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A chain ready to be written, and the state that it leads to."""

    chain: Chain
    state: State


def prepare(
    store: Repository,
    state: State,
    plan: Plan,
    context: Context,
    now: datetime,
    *,
    merge: Step | None = None,
    cost: str = "",
    author: str = "",
) -> Landing:
    """Validate every new content in process and build the chain; `merge` joins it if given.

    `cost` is the receipt of the judge, a trailer of the merge alone.
    """
    effects, after = play(state, plan)
    commits = [
        Commit(message=message(step, context), effect=effect)
        for step, effect in zip(plan.steps, effects, strict=True)
    ]
    chain = Chain(
        base=plan.base, commits=commits,
        merge=message(merge, _with_cost(context, cost)) if merge else "",
        author=author or COMMITTER, when=store.not_before(now, plan.base),
    )  # fmt: skip
    return Landing(chain=chain, state=after)


def _with_cost(context: Context, cost: str) -> Context:
    return replace(context, extra={**(context.extra or {}), "Cost": cost}) if cost else context
