"""What speaks for a memory whatever is asked: its boundaries, and the law of successors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.access import seconds
from memrepo.policies.answers import access, behind, importance, recency, with_replaced

NOW = datetime(2026, 3, 8, tzinfo=UTC)
WEEK = timedelta(days=7)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("age", "wanted"), [(0 * DAY, 1.0), (WEEK, 0.5), (2 * WEEK, 0.25), (-DAY, 1.0)]
)
def test_recency_is_halved_by_each_half_life_and_the_future_is_now(
    age: timedelta, wanted: float
) -> None:
    assert recency(seconds(NOW - age), NOW, WEEK) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("count", "wanted"), [(0, 0), (1, 0.02), (3, 0.04), (31, 0.1), (32, 0.1), (10**9, 0.1)]
)
def test_retrievals_add_up_to_a_bound(count: int, wanted: float) -> None:
    assert access(count, 0.1) == pytest.approx(wanted)


@pytest.mark.parametrize(("score", "wanted"), [(0.4, 0), (1.0, 0.15), (0.1, -0.075)])
def test_what_is_hardly_important_loses(score: float, wanted: float) -> None:
    assert importance(score, 0.25) == pytest.approx(wanted)


@given(
    st.dictionaries(st.sampled_from("abcdefg"), st.floats(0, 2), min_size=1),
    st.dictionaries(st.sampled_from("abcdefg"), st.lists(st.sampled_from("abcdefgx"), max_size=2)),
)
def test_nothing_stands_before_what_superseded_it(
    scores: dict[str, float], successors: dict[str, list[str]]
) -> None:
    places = behind(scores, successors)
    for id_, (score, _) in places.items():
        assert score <= scores[id_]
        for after in set(successors.get(id_, ())) & scores.keys():
            assert score <= places[after][0]
    lone = [i for i in scores if not set(successors.get(i, ())) & scores.keys()]
    assert all(places[i] == (scores[i], 0) for i in lone)


def test_along_a_chain_the_newest_comes_first() -> None:
    scores = {"old": 1.0, "newer": 0.5, "newest": 0.2}
    places = behind(scores, {"old": ["newer"], "newer": ["newest"]})
    assert places == {"newest": (0.2, 0), "newer": (0.2, 1), "old": (0.2, 2)}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3)),
    st.frozensets(st.sampled_from("abcdef")),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1), min_size=2),
)
def test_no_order_with_some_last_puts_what_is_superseded_above_its_successor(
    successors: dict[str, list[str]], forgotten: frozenset[str], scores: dict[str, float]
) -> None:
    successors = {old: [new for new in news if new > old] for old, news in successors.items()}
    places = behind(scores, successors)
    ranked = sorted(scores, key=lambda i: (-places[i][0], places[i][1], i))
    last = with_replaced(forgotten, {old: successors.get(old, []) for old in scores})
    order = sorted(ranked, key=lambda i: i in last)
    assert forgotten <= last
    for old in order:
        for new in set(successors.get(old, ())) & scores.keys():
            assert order.index(new) < order.index(old)
