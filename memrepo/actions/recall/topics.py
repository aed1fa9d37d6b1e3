"""`memrepo topics`: what the memories are about, and what rose or fell within thirty days."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import msgspec

from memrepo.actions.recall.when import NotYetSetUp, work_at
from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.policies.topics import MOST, Topic, Trend, topics_of, trends
from memrepo.store.moments import BeforeHistory

SPAN = timedelta(days=30)
"""How far back the trend looks."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `topics`."""

    n: Annotated[int, option("so many topics (20)", "-n", metavar="N", ge=1)] = 20


def do(work: Work, request: Request) -> Answer:
    """List topics of the active memories, and the trend against those of thirty days before."""
    lexicon = work.config.lexicon
    now = topics_of(work.tree.state().active, lexicon, most=max(MOST, request.n))
    since = format_time(work.call.now - SPAN)
    old = _before(work, since)
    before = topics_of(old.tree.state().active, lexicon) if old else ()
    rising, falling = trends(now[:MOST], before) if old else ((), ())
    data = {
        "topics": [_topic(topic) for topic in now[: request.n]],
        "since": since if old else "",
        "rising": [_trend(t) for t in rising],
        "falling": [_trend(t) for t in falling],
    }
    lines = [counted(len(data["topics"]), "topic", "topics")]
    lines += [f"  {t.score:7.3f}  {t.count:>4}  {visible(t.term)}" for t in now[: request.n]]
    for name, found in (("rising", rising), ("falling", falling)):
        if found:
            lines.append(f"{name} since {since[:10]}:")
            lines += [f"  {t.change:+7.3f}  {visible(t.topic.term)}" for t in found]
    if not old:
        lines.append("no trend: the repository is younger than thirty days")
    elif not rising and not falling:
        lines.append(f"nothing rose or fell much since {since[:10]}")
    return Answer(data=data, text="\n".join(lines))


def _before(work: Work, since: str) -> Work | None:
    """Return the repository as it stood then; None where it did not exist."""
    try:
        return work_at(work, since)
    except (BeforeHistory, NotYetSetUp):
        return None


def _topic(topic: Topic) -> dict[str, Any]:
    return {"term": topic.term, "score": round(topic.score, 4), "count": topic.count}


def _trend(trend: Trend) -> dict[str, Any]:
    return {**_topic(trend.topic), "change": round(trend.change, 4)}
