"""What is compressed, what never is, what goes together, and what stands in its place."""

from __future__ import annotations

from datetime import UTC, datetime

from hoards import hoard, memory
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.state import Create, Files, State, apply
from memrepo.merge import states
from memrepo.policies.gists import (
    LARGEST,
    SMALLEST,
    candidates,
    compressed,
    day_of,
    groups,
    summary_of,
)
from memrepo.policies.importance import importance_of, lexicon
from memrepo.policies.rules import CompressionRules

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
RULES = CompressionRules(enabled=True, trigger=20, keep=5)
WORDS = lexicon()


def score(found: Memory) -> float:
    return importance_of(found, WORDS).score


def state(memories: list[Memory]) -> State:
    start = State(layout=Layout(), files=Files({}, {}), memories={})
    return apply(start, [Create(memory=m) for m in memories])


def test_scopes_and_layers_are_never_mixed_and_groups_are_near_in_time() -> None:
    memories = hoard(80)
    for n, m in enumerate(memories):
        fields = {"scope": "user:vera"} if n % 3 else {}
        memories[n] = memory(n, m.body, type="identity" if n % 4 else "fact", **fields)
    made = groups(memories)
    ids = [m.id for group in made for m in group]
    assert len(ids) == len(set(ids))
    for group in made:
        assert len({(m.scope, m.layer) for m in group}) == 1
        assert SMALLEST <= len(group) <= LARGEST
        kind = {(m.scope, m.layer) for m in group}
        days = [day_of(m) for m in memories if (m.scope, m.layer) in kind]
        own = sorted(map(day_of, group))
        assert sum(own[0] < day < own[-1] for day in days) <= len(group)


@settings(max_examples=25)
@given(st.integers(0, 90), st.integers(0, 30), st.integers(0, 30))
def test_every_source_leads_to_its_summary_and_back(count: int, keep: int, skip: int) -> None:
    memories = hoard(count)[skip:]
    rules = replace(RULES, keep=keep)
    at = state(memories)
    found = candidates(at, rules, score)
    for group in groups(found):
        said = summary_of(group)
        step = compressed(group, said, at.layout, NOW, by="memrepo/1", why="many")
        at = apply(at, step.changes)
    summaries = {m.id: m for m in at.memories.values() if m.type == "summary"}
    told = {link.target: m.id for m in summaries.values() for link in m.fields["links"]}
    assert told == {m.id: m.compressed_into for m in at.memories.values() if m.compressed_into}
    assert set(told) <= {m.id for m in found}
    assert {m.id for m in at.memories.values() if m.status == "archived"} == set(told)
    assert states.closure(at) == ()
    assert not {m.id for m in candidates(at, replace(rules, trigger=1), score)} & set(told)
