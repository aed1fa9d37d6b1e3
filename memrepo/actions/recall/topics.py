"""`memrepo topics`: list the topics of the memories, and their trend over thirty days."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import msgspec

from memrepo.actions.recall.when import NotYetSetUp, work_at
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.times import format_time
from memrepo.policies import importance as words
from memrepo.store.trace import BeforeHistory

SPAN = timedelta(days=30)
"""The period of the trend."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `topics`."""

    n: Annotated[int, option("at most N topics (20)", "-n", metavar="N", ge=1)] = 20


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """One word, its score, and the number of times it occurs in all texts."""

    term: str
    score: float
    count: int


class Trend(Topic, frozen=True, kw_only=True):
    """A topic whose score changed, and the amount of the change."""

    change: float


class Result(VerbResult, frozen=True, kw_only=True):
    """The topics by descending score, and the topics whose scores rose or fell."""

    topics: tuple[Topic, ...]
    since: str
    """Start of the trend; empty if the repository is too young."""
    rising: tuple[Trend, ...]
    falling: tuple[Trend, ...]


def do(work: Work, request: Request) -> Result:
    """List topics of the active memories, and their trend over the last thirty days."""
    lexicon, most = work.config.lexicon, max(words.MOST, request.n)
    now = words.topics_of(work.tree.state().active, lexicon, most=most)
    since = format_time(work.call.now - SPAN)
    old = _before(work, since)
    before = words.topics_of(old.tree.state().active, lexicon) if old else ()
    rising, falling = words.trends(now[: words.MOST], before) if old else ((), ())
    return Result(
        topics=tuple(
            Topic(term=t.term, score=round(t.score, 4), count=t.count) for t in now[: request.n]
        ),
        since=since if old else "",
        rising=tuple(map(_trend, rising)),
        falling=tuple(map(_trend, falling)),
    )


def _before(work: Work, since: str) -> Work | None:
    """Return a Work on the commit at a given time, or None if there was none yet."""
    try:
        return work_at(work, since)
    except (BeforeHistory, NotYetSetUp):
        return None


def _trend(trend: words.Trend) -> Trend:
    topic = trend.topic
    return Trend(
        term=topic.term,
        score=round(topic.score, 4),
        count=topic.count,
        change=round(trend.change, 4),
    )
