"""From a plan to commits: play it on a state, spell its messages, hand it to the one writer.

Every chain that can hold memories is made by `chain` here, which refuses what a person rejected and
secrets: a path to the branch that forgot it would have to go round this module (a test sees to
that).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.actions.guard import refuse_new_secrets, refuse_rejected, refuse_secret
from memrepo.core.changes import Plan, Step
from memrepo.core.messages import MAX_STEPS, Context, message
from memrepo.core.secrets import redact
from memrepo.core.state import State, play
from memrepo.store.repo import BranchMoved, Repository
from memrepo.store.stream import RUN, Chain, Commit

TRIES = 3
"""How often a plan is computed on the new HEAD when a person's commit came in between."""

_Done = TypeVar("_Done")


def retried(store: Repository, attempt: Callable[[], _Done]) -> _Done:
    """Do what computes a change and lands it, again where another commit came in between.

    From the second time on other writers wait: else the slowest might never land.
    """
    for turn in range(1, TRIES + 1):
        with store.writing() if turn > 1 else nullcontext():
            try:
                return attempt()
            except BranchMoved:
                if turn == TRIES:
                    raise
    raise AssertionError("unreachable")


class Landing(msgspec.Struct, frozen=True, kw_only=True):
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
    access: str = "",
    author: str = RUN,
) -> Landing:
    """Validate every new content in process and build the chain; `merge` joins it if given.

    `cost` is the receipt of the judge and `access` the ledger's commit that was decided from,
    trailers of the merge alone. Raises Rejected and SecretInText.
    """
    effects, after = play(state, plan)
    commits = [
        Commit(message=redact(message(step, context, state, after))[0], effect=effect)
        for step, effect in zip(plan.steps, effects, strict=True)
    ]
    said = ""
    if merge:
        lines = [commit.message.partition("\n")[0] for commit in commits]
        joined = replace(context, lines=listed_steps(lines))
        said = redact(message(merge, _with(joined, Cost=cost, Access=access)))[0]
    made = chain(store, state, after, commits, base=plan.base, now=now, merge=said, author=author)
    return Landing(chain=made, state=after)


def chain(
    store: Repository,
    before: State,
    after: State,
    commits: Sequence[Commit],
    *,
    base: str,
    now: datetime,
    merge: str = "",
    author: str = RUN,
) -> Chain:
    """Return the chain of commits that leads from one state to another.

    Raises Rejected and SecretInText.
    """
    refuse_rejected(before, after)
    for said in (merge, *(commit.message for commit in commits)):
        refuse_secret(said, "the commit message")
    refuse_new_secrets(store, base, commits)
    return Chain(
        base=base,
        commits=commits,
        merge=merge,
        author=author,
        when=store.not_before(now, base),
    )


def listed_steps(subjects: Sequence[str]) -> tuple[str, ...]:
    """Return the subjects of a run's commits for the message of its merge, the last left out.

    The last is its record, which says nothing that the merge does not.
    """
    rest = len(subjects) - 1 - MAX_STEPS
    return (*subjects[:-1][:MAX_STEPS], *([f"and {rest} more"] if rest > 0 else []))


def _with(context: Context, **more: str) -> Context:
    given = {key: value for key, value in more.items() if value}
    return replace(context, extra={**(context.extra or {}), **given}) if given else context
