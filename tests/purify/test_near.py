"""Statements that a run holds against each other: one index follows what becomes of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.judge import PriorClaim
from memrepo.purify.decisions import Near

TEXTS = (
    "Ana prefers tea",
    "Ana no longer prefers tea",
    "The depot opens at 8:00",
    "The depot opens at 9:00",
    "The depot closes on Sundays",
    "The meeting on Friday was cancelled",
    "The meeting is on Friday",
    "Ben plays the violin",
)
SAID = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(TEXTS), max_size=6)


def said(id_: str, text: str) -> PriorClaim:
    return PriorClaim(
        memory_id=id_,
        type="fact",
        standing="resolved",
        subject="",
        predicate="",
        object="",
        text=text,
        home="",
        sources=(),
    )


@given(st.lists(SAID, min_size=1, max_size=4))
def test_an_index_that_follows_finds_what_a_new_one_does(turns: list[dict[str, str]]) -> None:
    near = Near()
    for turn in turns:
        priors = {id_: said(id_, text) for id_, text in turn.items()}
        near.follow(priors)
        fresh = Near(priors.values())
        for one in priors.values():
            assert near.changed(one) == fresh.changed(one)
            assert near.changed(one) == fresh.changed(one), "what is known is the same"
        assert near.around(priors) == fresh.around(priors)


@given(SAID, st.sampled_from("abcdef"))
def test_asked_of_some_it_is_all_or_nothing(turn: dict[str, str], asked: str) -> None:
    priors = {id_: said(id_, text) for id_, text in turn.items()}
    for one in priors.values():
        whole, some = (
            Near(priors.values()).changed(one),
            Near(priors.values()).changed(one, {asked}),
        )
        assert some in (whole, {})
        assert some or asked not in whole


def test_one_that_says_something_else_is_known_anew() -> None:
    near = Near([said("a", TEXTS[2]), said("b", TEXTS[3])])
    assert [*near.changed(said("a", TEXTS[2]))] == ["b"]
    near.follow({"a": said("a", TEXTS[2]), "b": said("b", TEXTS[7])})
    assert not near.changed(said("a", TEXTS[2]))
