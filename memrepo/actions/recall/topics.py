"""`memrepo topics`: the topics of the memories, and which rise or fall."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.lookup import NotYetSetUp, work_at
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.times import format_time
from memrepo.policies.importance import MOST, Topic, Trend, topics_of, trends
from memrepo.store.errors import BeforeHistory

TREND_PERIOD = timedelta(days=30)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `topics`."""

    n: Annotated[int, option("at most N topics (20)", "-n", metavar="N", ge=1)] = 20


class Topics(VerbResult, frozen=True, kw_only=True):
    """The topics by descending score, and the topics whose scores rose or fell."""

    topics: tuple[Topic, ...]
    since: str
    """Start of the trend; empty if the repository is too young."""
    rising: tuple[Trend, ...]
    falling: tuple[Trend, ...]


def do(work: Work, request: Request) -> Topics:
    """List topics of the active memories, and their trend over the last thirty days."""
    lexicon = work.config.lexicon
    now = topics_of(work.tree.state().active, lexicon, max(MOST, request.n))
    since = format_time(work.call.now - TREND_PERIOD)
    rising, falling = tuple[Trend, ...](), tuple[Trend, ...]()
    try:
        old = work_at(work, since)
    except (BeforeHistory, NotYetSetUp):
        since = ""
    else:
        rising, falling = trends(now[:MOST], topics_of(old.tree.state().active, lexicon))
    return Topics(
        topics=tuple(replace(t, score=round(t.score, 4)) for t in now[: request.n]),
        since=since,
        rising=tuple(map(_rounded, rising)),
        falling=tuple(map(_rounded, falling)),
    )


def _rounded(trend: Trend) -> Trend:
    return replace(trend, score=round(trend.score, 4), change=round(trend.change, 4))
