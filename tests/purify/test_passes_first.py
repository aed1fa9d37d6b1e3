"""What check_verdicts accepts of a judge's answer, and how it names the rest."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.core.judge import Candidate, PromotionRequest, PromotionScores, Verdict
from memrepo.judges.passes import check_verdicts

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SCORES = PromotionScores(
    durability=0.8,
    future_judgment_value=0.7,
    action_value=0.5,
    identity_relationship_weight=0.2,
    cross_time_persistence=0.6,
    noise_risk=0.1,
)


def request(*ids):
    candidates = tuple(Candidate(candidate_id=i, text=f"text of {i}") for i in ids)
    return PromotionRequest(profile="personal", now=NOW, candidates=candidates)


def verdict(candidate_id, word="promote", **changes):
    made = Verdict(candidate_id=candidate_id, scores=SCORES, strength=SCORES.strength, verdict=word)
    return replace(made, **changes)


def reasons(result):
    return dict(result.refused)


def test_sound_verdicts_come_back_in_the_order_of_the_request():
    result = check_verdicts(request("a", "b"), [verdict("b", "defer"), verdict("a")])
    assert [v.candidate_id for v in result.answers] == ["a", "b"]
    assert result.refused == {}


def test_a_verdict_whose_reason_holds_a_secret_is_rejected():
    (found,) = check_verdicts(
        request("a"), [verdict("a", rationale="password: hunter2x")]
    ).refused.values()
    assert found == "a text holds a secret (password)"


def test_unknown_missing_and_repeated_answers_are_named_and_cost_no_other():
    answers = [verdict("a"), verdict("b"), verdict("b"), verdict("x")]
    result = check_verdicts(request("a", "b", "c"), answers)
    assert [v.candidate_id for v in result.answers] == ["a"]
    assert result.refused == {
        "x": "unknown candidate",
        "b": "answered 2 times",
        "c": "no verdict",
    }


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (verdict("a", "keep"), "verdict is none of"),
        (verdict("a", "merge"), "merge names no candidate"),
        (verdict("a", "merge", merge_with=("a",)), "merge names itself"),
        (verdict("a", "merge", merge_with=("b", "x")), "merge names an unknown candidate"),
        (verdict("a", "promote", merge_with=("b",)), "promote must not name merge candidates"),
        (verdict("a", "compress"), "compress names no target"),
        (verdict("a", "compress", compress_into="a"), "compress names itself"),
        (verdict("a", "compress", compress_into="x"), "compress names an unknown target"),
        (verdict("a", "defer", compress_into="b"), "defer must not name a compress target"),
        (verdict("a", "compress", compress_into="d"), "compress target does not survive"),
    ],
)
def test_links_that_cannot_be(bad, reason):
    result = check_verdicts(request("a", "b", "d"), [bad, verdict("b"), verdict("d", "defer")])
    assert [v.candidate_id for v in result.answers] == ["b", "d"]
    assert reasons(result)["a"].startswith(reason)


def test_compress_targets_in_a_cycle_are_all_rejected_with_what_leads_there():
    answers = [
        verdict("a", "compress", compress_into="b"),
        verdict("b", "compress", compress_into="c"),
        verdict("c", "compress", compress_into="b"),
        verdict("d"),
    ]
    result = check_verdicts(request("a", "b", "c", "d"), answers)
    assert [v.candidate_id for v in result.answers] == ["d"]
    assert set(reasons(result).values()) == {"compress targets form a cycle"}


def test_a_merge_with_what_does_not_survive_stands_alone_and_says_so():
    answers = [verdict("a", "merge", merge_with=("b",), rationale="same"), verdict("b", "reject")]
    first, second = check_verdicts(request("a", "b"), answers).answers
    assert (first.verdict, first.merge_with, first.rationale) == (
        "promote",
        (),
        "same,merge_dropped",
    )
    assert second.verdict == "reject"


IDS = ("a", "b", "c", "d")


@given(
    st.lists(
        st.builds(
            verdict,
            st.sampled_from((*IDS, "x")),
            st.sampled_from(("reject", "defer", "compress", "merge", "promote", "keep")),
            merge_with=st.lists(st.sampled_from((*IDS, "x")), max_size=2).map(tuple),
            compress_into=st.sampled_from((*IDS, "x", "", "")),
        ),
        max_size=6,
    )
)
def test_every_candidate_is_either_accepted_or_named(answers):
    result = check_verdicts(request(*IDS), answers)
    accepted = [v.candidate_id for v in result.answers]
    named = [id_ for id_ in result.refused if id_ in IDS]
    assert sorted(accepted + named) == list(IDS)
    links = {(v.candidate_id, other) for v in result.answers for other in v.merge_with}
    assert links == {(other, one) for one, other in links}
