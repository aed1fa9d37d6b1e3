"""The pure part of a run: sources in, a plan with steps out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memrepo.actions.run.candidates import Nominee
from memrepo.actions.run.decide import decide
from memrepo.actions.run.gather import gather
from memrepo.actions.run.judge import judge
from memrepo.actions.run.plan import RunPlan
from memrepo.core.state import State
from memrepo.read.intake import Cursor, SourceText


def purified(
    state: State,
    texts: Sequence[SourceText],
    cursor: Mapping[str, Cursor],
    read: Callable[[str], bytes],
    nominees: Sequence[Nominee] = (),
    **asked: Any,
) -> RunPlan:
    """Return the plan of a run over some sources, as far as its steps."""
    plan = RunPlan(state=state, **asked)
    gather(plan, texts, cursor, read, nominees)
    judge(plan)
    decide(plan)
    return plan
