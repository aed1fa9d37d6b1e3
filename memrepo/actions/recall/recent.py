"""`memrepo recent` and `topics`: what changed since a date, a run or a commit, and what rises."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.lookup import NotYetSetUp, work_at
from memrepo.actions.recall.recall import Hit, Recall, index_of
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.memory import Memory, Stamp
from memrepo.core.state import EMPTY, ChangeKind, Difference, State, differences
from memrepo.core.times import EARLIEST, extent, format_time
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.importance import MOST, Topic, Trend, topics_of, trends
from memrepo.store.errors import BeforeHistory

DEFAULT_PERIOD = timedelta(days=7)
"""The period of `recent` if none is given."""
TREND_PERIOD = timedelta(days=30)
CHANGE_WORDS: dict[ChangeKind, str] = {
    "added": "new",
    "reworded": "reworded",
    "standing": "standing changed",
    "confirmed": "confirmed",
    "restored": "restored",
    "superseded": "superseded",
    "retired": "retired",
    "forgotten": "forgotten",
    "archived": "archived",
    "removed": "removed",
}
"""The kinds of change that matter to a reader, and the words to show for them."""
_SECOND = timedelta(seconds=1)


class RecentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `recent`."""

    since: Annotated[
        str, option("since this day, after this run or commit (7 days ago)", metavar="DATE|RUN|REV")
    ] = ""
    limit: Annotated[int, option("at most N memories (10)", "-k", metavar="N", ge=1)] = 10


class ChangedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One changed memory. `before` is its previous text, if the text changed."""

    change: str
    hit: Hit
    before: str = ""
    replaces: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()


class Recent(VerbResult, frozen=True, kw_only=True):
    """The changes between two commits, newest first."""

    since: str
    commit: str
    changes: tuple[ChangedMemory, ...]
    left_out: int


def recent(work: Work, request: RecentRequest) -> Recent:
    """List new and changed memories, omitting those that only maintenance changed."""
    since, before = _starting_point(work, request.since)
    after = work.tree.state()
    stones = tombstones_in(after)
    found = [
        one
        for one in differences(before, after)
        if one.kind in CHANGE_WORDS
        and not (one.kind == "added" and one.memory.status == "forgotten")
        and stones.bar(one.memory) is None
    ]
    found.sort(key=lambda one: (_touched(one.memory), one.memory.id), reverse=True)
    recall = Recall(work, work.call.now, index_of(work, edits=False))

    def change_of(one: Difference) -> ChangedMemory:
        return ChangedMemory(
            change=CHANGE_WORDS[one.kind],
            hit=recall.hit(one.memory, after.memories.get),
            before=one.before.body
            if one.before and "reworded" in one.kinds and stones.bar(one.before) is None
            else "",
            replaces=one.memory.supersedes if one.kind == "added" else (),
            replaced_by=one.memory.superseded_by if one.kind == "superseded" else (),
        )

    return Recent(
        since=since,
        commit=work.tree.commit,
        changes=tuple(map(change_of, found[: request.limit])),
        left_out=max(0, len(found) - request.limit),
    )


def _starting_point(work: Work, word: str) -> tuple[str, State]:
    """Return the commit that a word identifies, and the state at that commit."""
    word = word or format_time(work.call.now - DEFAULT_PERIOD)
    before: Work | None
    try:
        start, _ = extent(word, work.config.zone)
    except ValueError:
        before = work_at(work, word)
    else:
        before = _work_before(work, format_time(start - _SECOND))
    if before is None:
        return "", EMPTY
    return before.tree.commit, before.tree.state()


def _work_before(work: Work, moment: str) -> Work | None:
    """Return a Work on the commit at a given time, or None if there was none yet."""
    try:
        return work_at(work, moment)
    except (BeforeHistory, NotYetSetUp):
        return None


def _touched(memory: Memory) -> datetime:
    """Return the time of the memory's last change, according to its file."""
    stamps = (memory.fields.get("generated"), *(memory.fields.get("verified") or ()))
    times = [getattr(memory, key) for key in ("created", "superseded_at", "archived_at")]
    times += [stamp.at for stamp in stamps if isinstance(stamp, Stamp)]
    return max(filter(None, times), default=EARLIEST)


# -- topics ----------------------------------------------------------------------------------------


class TopicsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `topics`."""

    n: Annotated[int, option("at most N topics (20)", "-n", metavar="N", ge=1)] = 20


class Topics(VerbResult, frozen=True, kw_only=True):
    """The topics by descending score, and the topics whose scores rose or fell."""

    topics: tuple[Topic, ...]
    since: str
    """Start of the trend; empty if the repository is too young."""
    rising: tuple[Trend, ...]
    falling: tuple[Trend, ...]


def topics(work: Work, request: TopicsRequest) -> Topics:
    """List topics of the active memories, and their trend over the last thirty days."""
    lexicon = work.config.lexicon
    now = topics_of(work.tree.state().active, lexicon, max(MOST, request.n))
    since = format_time(work.call.now - TREND_PERIOD)
    rising, falling = tuple[Trend, ...](), tuple[Trend, ...]()
    if old := _work_before(work, since):
        rising, falling = trends(now[:MOST], topics_of(old.tree.state().active, lexicon))
    return Topics(
        topics=tuple(replace(t, score=round(t.score, 4)) for t in now[: request.n]),
        since=since if old else "",
        rising=tuple(map(_rounded, rising)),
        falling=tuple(map(_rounded, falling)),
    )


def _rounded(trend: Trend) -> Trend:
    return replace(trend, score=round(trend.score, 4), change=round(trend.change, 4))
