"""What collision zones do to clusters, whatever a judge links."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memrepo.core.judge import Candidate, PromotionScores, Verdict
from memrepo.core.memory import Source
from memrepo.purify.clusters import clusters, defer_dreams, hint_of, only_reflecting
from memrepo.purify.sources import default_type

SCORES = PromotionScores(
    durability=0.6,
    future_judgment_value=0.6,
    action_value=0.6,
    identity_relationship_weight=0.2,
    cross_time_persistence=0.6,
    noise_risk=0.1,
)


def candidate(id_: str, *names: str) -> Candidate:
    sources = tuple(
        Source(resource=f"sources/{name}", lines=(n, n)) for n, name in enumerate(names, start=1)
    )
    return Candidate(
        candidate_id=id_, text=f"Text of {id_}", type_hint=default_type(names[0]), sources=sources
    )


def verdict(id_: str, *merge_with: str, lasting: float = 0.6) -> Verdict:
    scores = replace(SCORES, cross_time_persistence=lasting)
    return Verdict(
        candidate_id=id_,
        scores=scores,
        strength=scores.strength,
        verdict="merge" if merge_with else "promote",
        merge_with=merge_with,
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["RTMEMORY.md", "MEMORY.md"], "fact"),
        (["RTMEMORY.md", "RTMEMORY.md", "MEMORY.md"], "fact"),
        (["MEMORY.md", "PROCEDURES.md"], "method"),
        (["RTMEMORY.md", "PROCEDURES.md"], "method"),
        (["CHRONICLES.md", "DREAMS.md"], "aspiration"),
        (["DREAMS.md", "MEMORY.md"], "aspiration"),
        (["RTMEMORY.md"], "lesson"),
    ],
)
def test_the_kind_of_source_that_says_what_a_group_is(names: list[str], expected: str) -> None:
    assert hint_of(default_type(name) for name in names) == expected


@pytest.mark.parametrize(
    ("names", "homes"),
    [
        (["CHRONICLES.md", "episodes/a.md"], ["EPISODES.md", "HISTORY.md"]),
        (["PROCEDURES.md", "episodes/a.md"], ["EPISODES.md", "PLAYBOOKS.md"]),
    ],
)
def test_what_has_a_role_of_its_own_is_not_joined_but_named(
    names: list[str], homes: list[str]
) -> None:
    made = [candidate("a", names[0]), candidate("b", names[1])]
    found = clusters(made, [verdict("a", "b"), verdict("b", "a")])
    assert [len(c.candidates) for c in found] == [1, 1]
    assert sorted(c.tags[0] for c in found) == homes
    assert all(c.home_hint not in c.tags for c in found)


def test_what_tells_of_a_method_joins_it_and_its_home_is_a_tag() -> None:
    made = [candidate("a", "RTMEMORY.md"), candidate("b", "PROCEDURES.md")]
    (found,) = clusters(made, [verdict("a", "b"), verdict("b", "a")])
    assert (found.type_hint, found.home_hint) == ("method", "PLAYBOOKS.md")
    assert found.tags == ("LTMEMORY.md",)
    method, told = found.candidates[1].sources[0], found.candidates[0].sources[0]
    assert only_reflecting([method, told]) == {told.resource}
    assert only_reflecting([told]) == only_reflecting([method]) == frozenset()


@pytest.mark.parametrize(
    ("names", "lasting", "stays", "why"),
    [
        (["DREAMS.md"], 0.9, False, "one_dream"),
        (["DREAMS.md", "DREAMS.md"], 0.59, False, "passing_dream"),
        (["DREAMS.md", "DREAMS.md"], 0.6, True, ""),
        (["DREAMS.md", "CHRONICLES.md"], 0.1, True, ""),
        (["MEMORY.md"], 0.1, True, ""),
    ],
)
def test_a_wish_needs_a_second_entry_and_persistence(
    names: list[str], lasting: float, stays: bool, why: str
) -> None:
    verdicts = [verdict("a", lasting=lasting)]
    groups, after = defer_dreams(clusters([candidate("a", *names)], verdicts), verdicts)
    assert bool(groups) is stays
    assert after[0].verdict == ("promote" if stays else "defer")
    assert after[0].rationale == why
