"""Pairs of statements, written by hand: what the rules replace, flag, and let stand.

The older statement is known when the newer one is read, then both are compared among what stands.
`replaces` is the only answer that takes a statement out of recall without a person.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from pathlib import Path
from typing import Literal

import pytest
from test_assemble import NOW, empty, taken
from test_contradictions import asking

from memrepo.actions.run.contradictions import compare_memories, verify_claims
from memrepo.actions.run.known import Former, prior_of
from memrepo.core.changes import Step
from memrepo.core.ids import text_hash
from memrepo.core.judge import Candidate, CanonicalRequest, Cluster, Judge
from memrepo.core.memory import Source
from memrepo.core.state import State, apply
from memrepo.judges.offline import OfflineJudge

Outcome = Literal["replaces", "flags", "stands"]
OLD, NEW = "2026-01-10", "2026-02-10"
PAIRS = tomllib.loads((Path(__file__).parents[1] / "data/pairs.toml").read_text("utf-8"))
ALL = [
    (kind, *pair, expected)
    for kind, outcomes in PAIRS.items()
    for expected, pairs in outcomes.items()
    for pair in pairs
]


def cluster(text: str, day: str, context: tuple[str, ...]) -> Cluster:
    source = Source(
        resource="sources/MEMORY.md",
        blob=hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(),
        lines=(3, 3),
        text_hash=text_hash(text),
        captured=day,
        captured_from="unit",
    )
    candidate = Candidate(
        candidate_id=f"cand-{text_hash(text)}", text=text, context=context, sources=(source,)
    )
    return Cluster(
        cluster_id=f"clust-{text_hash(text)}",
        candidates=(candidate,),
        strength=2.5,
        type_hint="fact",
        home_hint="LTMEMORY.md",
    )


def read(
    state: State, text: str, day: str, judge: Judge, context: tuple[str, ...] = ("Mara",)
) -> tuple[State, tuple[Step, ...]]:
    """Take in one statement as a run does: worded by the rules, its pairs verified by the judge."""
    groups = (cluster(text, day, context),)
    request = CanonicalRequest(
        profile="personal",
        now=NOW,
        clusters=groups,
        priors=tuple(prior_of(m) for m in state.active),
    )
    claims = tuple(OfflineJudge().canonicalise(request))
    made = verify_claims(state, groups, claims, Former(), asking(judge)).made
    return taken(state, made), made.singles


def compared(older: str, newer: str, judge: Judge, days: tuple[str, str] = (OLD, NEW)) -> State:
    """Read two statements, in the order of the days or against it, and compare what stands."""
    state = empty()
    for text, day in sorted(zip((older, newer), days, strict=True), key=lambda said: said[1]):
        state, _ = read(state, text, day, judge)
    return settled(state, judge)


def settled(state: State, judge: Judge) -> State:
    steps = compare_memories(state, judge, NOW, (), ()).steps
    return apply(state, [change for step in steps for change in step.changes])


def outcome(state: State) -> Outcome:
    if any(m.status == "superseded" for m in state.memories.values()):
        return "replaces"
    return "flags" if any(m.standing == "contested" for m in state.active) else "stands"


def test_there_are_enough_pairs_of_every_kind() -> None:
    assert len(ALL) >= 60
    assert min(Counter(kind for kind, *_ in ALL).values()) >= 7


@pytest.mark.parametrize(("kind", "older", "newer", "expected"), ALL)
def test_the_rules_replace_nothing_that_is_not_plainly_replaced(
    kind: str, older: str, newer: str, expected: Outcome
) -> None:
    state = compared(older, newer, OfflineJudge())
    assert outcome(state) == expected, kind
    if expected == "replaces":
        (lost,) = (m for m in state.memories.values() if m.status == "superseded")
        (kept,) = state.active
        assert lost.sources[0].captured == OLD
        assert kept.texts("supersedes") == (lost.id,)
    assert settled(state, OfflineJudge()) == state
