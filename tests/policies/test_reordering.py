"""What speaks for a memory whatever is asked: its boundaries, and the law of successors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.policies.ranking import behind, with_replaced


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
