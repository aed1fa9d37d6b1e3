"""Who is alike: the index finds what a look at all pairs would find; lists are let be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.policies.matching import ALIKE, MOST, Similar, cosine, tokens

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
