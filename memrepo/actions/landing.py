"""Turn a plan into commits: apply it to a state, write the messages, build the chain.

Every chain that can contain memories is built by `chain`, which refuses secrets and statements that
a person rejected. A test ensures that no code path bypasses this module.
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
"""How often a change is computed again because another commit landed meanwhile."""

_Done = TypeVar("_Done")


def retried(store: Repository, attempt: Callable[[], _Done]) -> _Done:
    """Call a function that computes and commits a change. Retry if another commit landed first.

    From the second attempt on, other writers are locked out. Otherwise a slow writer might never
    succeed.
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
    """A chain of commits ready to be written, and the resulting state."""

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
    """Validate all new contents and build a plan's chain of commits, ending in `merge` if given.

    `cost` is the judge's receipt, and `access` is the ledger commit used for the decisions. Both
    are trailers of the merge commit only. Raises Rejected and SecretInText.
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
    """Return the commit subjects to list in a run's merge message, omitting the last commit.

    The last commit is the run's record. It adds nothing to the merge message.
    """
    rest = len(subjects) - 1 - MAX_STEPS
    return (*subjects[:-1][:MAX_STEPS], *([f"and {rest} more"] if rest > 0 else []))


def _with(context: Context, **more: str) -> Context:
    given = {key: value for key, value in more.items() if value}
    return replace(context, extra={**(context.extra or {}), **given}) if given else context
