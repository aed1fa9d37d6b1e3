"""The pure part of a run: sources in, decisions out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memrepo.actions.run.decide import Decisions, decide
from memrepo.actions.run.gather import Nominee, RunPlan, gather
from memrepo.actions.run.judge import judge
from memrepo.core.state import State
from memrepo.read.intake import Cursor, SourceText


def purified(
    state: State,
    texts: Sequence[SourceText],
    cursor: Mapping[str, Cursor],
    read: Callable[[str], bytes],
    nominees: Sequence[Nominee] = (),
    **asked: Any,
) -> Decisions:
    """Return the decisions of a run over some sources."""
    plan = RunPlan(state=state, **asked)
    given = gather(plan, texts, cursor, read, nominees)
    return decide(plan, given, judge(plan, given))
