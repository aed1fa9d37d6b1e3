"""Who is alike: the index finds what a look at all pairs would find; lists are let be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.policies.matching import ALIKE, MOST, Similar, WordIndex, cosine, tokens

TEXTS = st.lists(
    st.lists(st.sampled_from("red green blue cat dog sun moon tree".split()), max_size=7).map(
        " ".join
    ),
    min_size=1,
    max_size=9,
)


@given(TEXTS)
def test_the_index_finds_what_a_look_at_all_finds(texts: list[str]) -> None:
    named = {f"m{n}": text for n, text in enumerate(texts)}
    for id_, text in named.items():
        every = {
            other: score
            for other, said in named.items()
            if other != id_ and (score := cosine(tokens(text), tokens(said))) > ALIKE
        }
        ranked = sorted(every.values(), reverse=True)
        least = ranked[MOST] if len(ranked) > MOST else 0.0
        found = dict(Similar(named.items()).nearest(id_))
        assert found == {other: score for other, score in every.items() if score > least}


def test_of_a_list_of_many_equally_alike_none_is_taken() -> None:
    rows = [(f"m{n}", f"Vera planted tree number {n} in the orchard") for n in range(MOST + 2)]
    assert Similar(rows).nearest("m0") == []
    assert len(Similar(rows[:-1]).nearest("m0")) == MOST
    nearer = ("m9", "Vera planted tree number 0 in the old orchard")
    assert [id_ for id_, _ in Similar([*rows, nearer]).nearest("m0")] == ["m9"]


def test_words_of_scripts_without_blanks_are_compared_too() -> None:
    rows = [("a", "彼女は暗いテーマが好きです"), ("b", "彼女は暗いテーマが嫌いです")]
    assert [id_ for id_, _ in Similar(rows).nearest("a")] == ["b"]


@given(TEXTS, st.integers(0, 8), st.sampled_from([1 / 8, 1 / 3, 1 / 2]))
def test_who_shares_enough_is_among_those_that_share(
    texts: list[str], at: int, least: float
) -> None:
    index = WordIndex((f"m{n}", text) for n, text in enumerate(texts))
    mine = frozenset(index.words[f"m{at % len(texts)}"])
    found = {id_ for ids in index.sharing(mine, least) for id_ in ids}
    for id_, other in index.words.items():
        common = len(mine.intersection(other))
        assert id_ in found or not common or common < least * min(len(mine), len(other))


@given(TEXTS, TEXTS)
def test_what_was_dropped_is_as_if_it_had_never_been_put(kept: list[str], gone: list[str]) -> None:
    rows = [(f"m{n}", text) for n, text in enumerate(kept)]
    index = WordIndex([*((f"x{n}", text) for n, text in enumerate(gone)), *rows])
    for n in range(len(gone)):
        index.drop(f"x{n}")
    fresh = WordIndex(rows)
    assert index.words == fresh.words
    assert {w: ids for w, ids in index.holders.items() if ids} == fresh.holders


def test_of_a_word_that_stands_everywhere_only_short_statements_are_looked_at() -> None:
    rows = [(f"m{n}", f"one{n} two{n} three{n} four{n} five{n} six{n} all") for n in range(50)]
    index = WordIndex([*rows, ("short", "all")])
    mine = index.words["m0"]
    found = [id_ for ids in index.sharing(mine, 1 / 3) for id_ in ids]
    assert set(found) == {"m0", "short"}
