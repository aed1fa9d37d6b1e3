"""Who shares enough words with a statement: as if each that a word leads to were looked at."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from memrepo.policies.matching import WordIndex, tokens
from memrepo.policies.shared_words import SharedWords

WORDS = ("elm", "fir", "yew", "oak", "tea", "ash", "bay", "box")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=12)


def looked_at(
    index: WordIndex, id_: str, words: Collection[str], least: float, most: int, examined: int
) -> list[str]:
    """Return who is near by a look at one after the other."""
    mine, looked, found = frozenset(words), {id_}, []
    for ids in index.sharing(mine, least):
        for other in ids:
            if other in looked:
                continue
            if len(looked) > examined or len(found) == most:
                return found
            looked.add(other)
            theirs = index.words[other]
            if len(mine.intersection(theirs)) >= least * min(len(mine), len(theirs)):
                found.append(other)
    return found


@given(
    TEXTS,
    st.integers(0, 12),
    st.sampled_from([1 / 8, 0.3, 1 / 3, 1 / 2, 1]),
    st.integers(1, 5),
    st.integers(1, 13),
    st.sets(st.integers(0, 11), max_size=3),
)
def test_it_finds_whom_a_look_at_each_finds(
    texts: list[str], at: int, least: float, most: int, examined: int, gone: set[int]
) -> None:
    index = WordIndex((f"m{n}", text) for n, text in enumerate(texts))
    for number in gone & {*range(len(texts))}:
        index.drop(f"m{number}")
        index.put(f"m{number}", texts[number])
    mine = tokens(texts[at]) if at < len(texts) else tokens("elm oak new")
    asked = (f"m{at}", mine, least, most, examined)
    shared = SharedWords(index)
    assert shared.near(*asked) == looked_at(index, *asked)
    assert shared.near(*asked) == looked_at(index, *asked), "what it kept says the same"


def test_many_are_found_as_if_each_were_looked_at() -> None:
    texts = [f"{WORDS[n % 5]} {WORDS[n % 7]} {WORDS[n % 8]} w{n % 90} n{n}" for n in range(700)]
    index = WordIndex((f"m{n}", text) for n, text in enumerate(texts))
    shared = SharedWords(index)
    for number in range(0, 700, 23):
        for examined in (40, 300, 1000):
            asked = (f"m{number}", tokens(texts[number]), 0.3, 24, examined)
            assert shared.near(*asked) == looked_at(index, *asked)
