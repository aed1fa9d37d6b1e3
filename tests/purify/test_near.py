"""Statements that a run holds against each other: one index follows what becomes of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import Memory
from memrepo.policies.kept_words import KeptPostings, Postings
from memrepo.purify.decisions import Near
from memrepo.purify.known import prior_of

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


def said(id_: str, text: str) -> Memory:
    fields = {"id": id_, "type": "fact", "home": "LTMEMORY.md"}
    return Memory(path=f"memories/{id_}.md", fields=fields, body=text)


@given(st.lists(SAID, min_size=1, max_size=4))
def test_an_index_that_follows_finds_what_a_new_one_does(turns: list[dict[str, str]]) -> None:
    near = Near()
    for turn in turns:
        memories = {id_: said(id_, text) for id_, text in turn.items()}
        near.follow(memories)
        fresh = Near(memories.values())
        for one in map(prior_of, memories.values()):
            assert near.changed(one) == fresh.changed(one)
            assert near.changed(one) == fresh.changed(one), "what is known is the same"
        assert near.around(memories) == fresh.around(memories)


@given(SAID, st.sampled_from("abcdef"))
def test_asked_of_some_it_is_all_or_nothing(turn: dict[str, str], asked: str) -> None:
    memories = {id_: said(id_, text) for id_, text in turn.items()}
    for one in map(prior_of, memories.values()):
        whole, some = (
            Near(memories.values()).changed(one),
            Near(memories.values()).changed(one, {asked}),
        )
        assert some in (whole, {})
        assert some or asked not in whole


def test_one_that_says_something_else_is_known_anew() -> None:
    near = Near([said("a", TEXTS[2]), said("b", TEXTS[3])])
    assert [*near.changed(prior_of(said("a", TEXTS[2])))] == ["b"]
    near.follow({"a": said("a", TEXTS[2]), "b": said("b", TEXTS[7])})
    assert not near.changed(prior_of(said("a", TEXTS[2])))


WORDED = st.lists(
    st.lists(st.sampled_from(["elm", "fir", "yew", "oak", "tea", "茶館", "no"]), max_size=8).map(
        " ".join
    ),
    max_size=8,
)


@given(
    st.lists(st.one_of(st.sampled_from(TEXTS), WORDED.map(" ".join)), max_size=9),
    st.lists(st.booleans(), min_size=9, max_size=9),
    st.lists(SAID, max_size=3),
    st.integers(0, 9),
)
def test_words_that_are_kept_find_what_words_cut_anew_do(
    texts: list[str], still: list[bool], turns: list[dict[str, str]], first: int
) -> None:
    stood = [said(id_, text) for id_, text in zip("abcdefghi", texts, strict=False)]
    bytes_ = (
        Postings()
        .with_texts(m.said for m in stood[:first])
        .with_texts(m.said for m in stood[first:])
    )
    postings = Postings.from_bytes(bytes_.to_bytes())
    assert postings is not None
    there = [m if stays else None for m, stays in zip(stood, still, strict=False)]
    now = {m.id: m for m in there if m is not None}
    ids = [m.id if m is not None else None for m in there]
    near = Near(kept=lambda: KeptPostings(postings=postings, ids=ids, of=now))
    fresh = Near()
    for turn in ({}, *turns):
        now = now | {id_: said(id_, text) for id_, text in turn.items()}
        now = dict(sorted(now.items(), reverse=len(now) % 2 == 0))
        near.follow(now)
        fresh.follow(now)
        assert dict(near.index.words) == dict(fresh.index.words)
        for word in {word for words in fresh.index.words.values() for word in words}:
            assert near.index.count(word) == fresh.index.count(word)
            assert [*near.index.within(word, 3)] == [*fresh.index.within(word, 3)]
        for words in fresh.index.words.values():
            asked = [[*map(list, one.index.sharing(words, 1 / 3))] for one in (near, fresh)]
            assert asked[0] == asked[1]
        for one in map(prior_of, now.values()):
            assert [*near.changed(one).items()] == [*fresh.changed(one).items()]
        assert near.around(now) == fresh.around(now)


@given(st.lists(st.sampled_from(TEXTS), max_size=9), st.sets(st.integers(0, 8)))
def test_words_without_those_of_some_texts_are_those_of_the_others(
    texts: list[str], gone: set[int]
) -> None:
    rest = [text for number, text in enumerate(texts) if number not in gone]
    found = Postings().with_texts(texts).without(gone.__contains__)
    assert found.to_bytes() == Postings().with_texts(rest).to_bytes()
