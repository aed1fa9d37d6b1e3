"""Compression by a run: the policy says what is put together, the judge words the summaries.

Bounded by the pace of what leaves recall, and counted by the interlock. What a person took back,
a whole summary or one memory of it, is not compressed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import msgspec

from memrepo.actions.run.offering import Clerk, Offered
from memrepo.core.judging import Judge, Summary, SummaryRequest, Usage
from memrepo.core.state import State
from memrepo.judges.grounding import fault_in_summary
from memrepo.policies.compression import (
    CompressionRules,
    Group,
    Score,
    candidates,
    compressed,
    groups,
    summary_id,
)
from memrepo.policies.summaries import summary_of
from memrepo.purify.known import ACTOR

MOST = 20
"""Summaries that one run asks a judge for; the others are worded offline."""
_PRINT = "compress:"


class Pressing(msgspec.Struct, frozen=True, kw_only=True):
    """What decides on compression beside the state.

    Without a judge summaries are worded offline. `never` holds the fingerprints of what a person
    took back; `room` bounds how many memories may leave recall in this run.
    """

    rules: CompressionRules
    score: Score
    now: datetime
    judge: Judge | None
    never: Collection[str]
    room: int


def compression(state: State, how: Pressing) -> Offered:
    """Return the commits that compress the oldest groups which there is room for."""
    if how.room <= 0:
        return Offered()
    found = candidates(state, how.rules, how.score, _taken_back(how.never))
    before = how.judge.usage if how.judge else Usage()
    clerk = Clerk(name="summary", rule="summary-offline", what="a summary was made without a model")
    steps = tuple(
        compressed(
            group,
            _worded(group, how.judge, clerk),
            state.layout,
            how.now,
            by=ACTOR,
            why=_why(how.rules, group),
        )
        for group in _fitting(groups(found), state, how.room)
    )
    return Offered(
        steps=steps,
        problems=tuple(clerk.problems),
        failures=tuple(clerk.failures),
        usage=how.judge.usage.since(before) if how.judge else Usage(),
    )


def _taken_back(never: Collection[str]) -> frozenset[str]:
    """Return the ids of all memories of compressions that a person took back."""
    prints = (p.removeprefix(_PRINT) for p in never if p.startswith(_PRINT))
    return frozenset(id_ for ids in prints for id_ in ids.split("+"))


def _fitting(ranked: Sequence[Group], state: State, room: int) -> Iterator[Group]:
    """Yield the first groups that leave the pace; one that was compressed before waits for none."""
    for group in ranked:
        if summary_id(group) in state.memories:
            continue
        room -= len(group.memories)
        if room < 0:
            return
        yield group


def _worded(group: Group, judge: Judge | None, clerk: Clerk) -> Summary:
    topic, memories = group.topic, group.memories
    said = None
    if judge is not None and clerk.asked < MOST:
        said = clerk.word(
            memories[0].path,
            lambda fault: judge.summarise(
                SummaryRequest(topic=topic, memories=memories, fault=fault)
            ),
            lambda given: fault_in_summary(given, SummaryRequest(topic=topic, memories=memories)),
        )
    return said or summary_of(topic, memories)


def _why(rules: CompressionRules, group: Group) -> str:
    """Say why a group is compressed; a topic is memory text, and stays out."""
    return (
        f"more than {rules.trigger - 1} memories are active; {len(group.memories)} of importance"
        f" below {rules.below:g}, older than the {rules.keep} newest, "
        + ("share a topic" if group.topic else "are near in time")
    )
