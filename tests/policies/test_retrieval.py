"""Prior retrieval: the related few are found, and what a full scan would rank first is first."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.judge import Candidate, Cluster, PriorClaim
from memrepo.core.memory import Source
from memrepo.policies.retrieval import Query, Reach, Retrieval, query_of

TODAY = date(2026, 3, 1)
WORDS = "alpha beta gamma delta bells choir archive parish telephone noon server".split()


def prior(n: int, text: str, subject: str = "", day: str = "2025-01-01", **more: str) -> PriorClaim:
    return PriorClaim(
        memory_id=f"mem-{n:016x}",
        type=more.get("type", "fact"),
        standing="resolved",
        subject=subject,
        predicate=more.get("predicate", ""),
        object="",
        text=text,
        home=more.get("home", "LTMEMORY.md"),
        sources=(Source(resource="s", captured=day),),
    )


def cluster(text: str, *context: str, key: str = "") -> Cluster:
    candidate = Candidate(candidate_id="cand-1", text=text, context=context, key=key)
    return Cluster(
        cluster_id="clust-1",
        candidates=(candidate,),
        strength=2.0,
        type_hint="fact",
        home_hint="LTMEMORY.md",
    )


def ids(found: tuple[PriorClaim, ...]) -> list[int]:
    return [int(p.memory_id[4:], 16) for p in found]


CHOIR = prior(1, "The server alpha keeps the archive of the choir.", "Alpha")
BELLS = prior(2, "Gamma rings the bells at noon.", "Gamma")
BREAD = prior(3, "Bread is baked on Tuesdays.", "Kitchen")


def test_what_shares_words_is_found_and_what_shares_only_the_home_is_not() -> None:
    found = Retrieval([CHOIR, BELLS, BREAD], TODAY).select(
        [cluster("alpha has an archive")], Reach()
    )
    assert ids(found) == [1]


def test_an_equal_subject_is_enough() -> None:
    found = Retrieval([CHOIR, BELLS], TODAY).select([cluster("nothing alike", "Gamma")], Reach())
    assert ids(found) == [2]


def test_recent_evidence_of_the_same_subject_comes_first() -> None:
    old, new = prior(1, "x y", "Gamma"), prior(2, "z w", "Gamma", "2026-02-20")
    assert ids(Retrieval([old, new], TODAY).select([cluster("q", "Gamma")], Reach())) == [2, 1]


@pytest.mark.parametrize(
    ("per_cluster", "per_request", "count"), [(2, 50, 2), (9, 3, 3), (9, 9, 6)]
)
def test_both_bounds_hold(per_cluster: int, per_request: int, count: int) -> None:
    priors = [prior(n, f"alpha number {n}") for n in range(6)]
    reach = Reach(per_cluster=per_cluster, per_request=per_request)
    assert len(Retrieval(priors, TODAY).select([cluster("alpha")], reach)) == count


def test_a_word_that_all_priors_hold_finds_nothing_by_itself() -> None:
    priors = [prior(n, f"user likes thing {n}") for n in range(100)]
    assert Retrieval(priors, TODAY).select([cluster("user")], Reach()) == ()


def test_without_priors_or_words_nothing_is_found() -> None:
    assert Retrieval([], TODAY).select([cluster("alpha")], Reach()) == ()
    assert Retrieval([CHOIR], TODAY).select([cluster("…")], Reach()) == ()


def test_a_bold_key_and_the_nearest_headings_are_subjects() -> None:
    asked = query_of(cluster("Editor: vim", "Title", "People", "Mara", key="Editor"))
    assert asked.subjects == {"people", "mara", "editor"}


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


@given(st.lists(texts, max_size=20), texts)
def test_the_index_ranks_as_a_full_scan_would(bodies: list[str], wanted: str) -> None:
    priors = [prior(n, body, body.split()[0]) for n, body in enumerate(bodies)]
    retrieval = Retrieval(priors, TODAY)
    query: Query = query_of(cluster(wanted, wanted.split()[0]))
    seen = {p.memory_id: retrieval._seen(p.memory_id) for p in priors}
    scan = sorted(
        (-retrieval._score(query, known), id_)
        for id_, known in seen.items()
        if known.words & query.words or known.subject in query.subjects
    )
    assert [id_ for id_, _ in retrieval.nearest(query, 5)] == [id_ for _, id_ in scan[:5]]


def test_what_an_index_proposes_is_ranked_and_nothing_else_is_read() -> None:
    retrieval = Retrieval([CHOIR, BELLS, BREAD], TODAY, lambda _: [BREAD.memory_id, "mem-gone"])
    assert ids(retrieval.select([cluster("alpha archive bread")], Reach())) == [3]
    assert set(retrieval._known) == {BREAD.memory_id}
