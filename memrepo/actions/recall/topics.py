"""`memrepo topics`: what the memories are about, and what rose or fell within thirty days."""

from __future__ import annotations

import argparse
from datetime import timedelta
from typing import Any

from memrepo.actions.run.amounts import whole
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.actions.recall.when import NotYetSetUp, desk_at
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.policies.topics import MOST, Topic, Trend, topics_of, trends
from memrepo.store.moments import BeforeHistory

SPAN = timedelta(days=30)
"""How far back the trend looks."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("-n", type=whole, default=20, metavar="N", help="so many topics (20)")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List topics of the active memories, and the trend against those of thirty days before."""
    with opened(session) as desk:
        lexicon = desk.config.lexicon
        now = topics_of(desk.tree.state().active, lexicon, most=max(MOST, options.n))
        since = format_time(session.now - SPAN)
        old = _before(desk, since)
        before = topics_of(old.tree.state().active, lexicon) if old else ()
    rising, falling = trends(now[:MOST], before) if old else ((), ())
    data = {
        "topics": [_topic(topic) for topic in now[: options.n]],
        "since": since if old else "",
        "rising": [_trend(t) for t in rising],
        "falling": [_trend(t) for t in falling],
    }
    lines = [counted(len(data["topics"]), "topic", "topics")]
    lines += [f"  {t.score:7.3f}  {t.count:>4}  {visible(t.term)}" for t in now[: options.n]]
    for name, found in (("rising", rising), ("falling", falling)):
        if found:
            lines.append(f"{name} since {since[:10]}:")
            lines += [f"  {t.change:+7.3f}  {visible(t.topic.term)}" for t in found]
    if not old:
        lines.append("no trend: the repository is younger than thirty days")
    elif not rising and not falling:
        lines.append(f"nothing rose or fell much since {since[:10]}")
    return Answer(data=data, text="\n".join(lines))


def _before(desk: Desk, since: str) -> Desk | None:
    """Return the repository as it stood then; None where it did not exist."""
    try:
        return desk_at(desk, since)
    except (BeforeHistory, NotYetSetUp):
        return None


def _topic(topic: Topic) -> dict[str, Any]:
    return {"term": topic.term, "score": round(topic.score, 4), "count": topic.count}


def _trend(trend: Trend) -> dict[str, Any]:
    return {**_topic(trend.topic), "change": round(trend.change, 4)}
