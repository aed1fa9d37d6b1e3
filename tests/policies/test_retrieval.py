"""Prior retrieval: the related few are found, and what a full scan would rank first is first."""

from __future__ import annotations

from datetime import date

import pytest

from memrepo.core.judge import Candidate, Cluster, PriorClaim
from memrepo.core.memory import Source
from memrepo.policies.matching import Query, Reach, Retrieval, normal_subject, query_of
from memrepo.text.words import content_words

TODAY = date(2026, 3, 1)


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


def retrieval(*priors: PriorClaim) -> Retrieval:
    """Return a retrieval whose candidates share a word or a subject with the query."""
    known = {prior.memory_id: prior for prior in priors}

    def near(query: Query) -> list[str]:
        return [
            prior.memory_id
            for prior in priors
            if content_words(prior.text) & query.words
            or normal_subject(prior.subject) in query.subjects
        ]

    return Retrieval(known, TODAY, near)


def test_what_shares_words_is_found_and_what_shares_only_the_home_is_not() -> None:
    found = retrieval(CHOIR, BELLS, BREAD).select([cluster("alpha has an archive")], Reach())
    assert ids(found) == [1]


def test_an_equal_subject_is_enough() -> None:
    found = retrieval(CHOIR, BELLS).select([cluster("nothing alike", "Gamma")], Reach())
    assert ids(found) == [2]


def test_recent_evidence_of_the_same_subject_comes_first() -> None:
    old, new = prior(1, "x y", "Gamma"), prior(2, "z w", "Gamma", "2026-02-20")
    assert ids(retrieval(old, new).select([cluster("q", "Gamma")], Reach())) == [2, 1]


@pytest.mark.parametrize(
    ("per_cluster", "per_request", "count"), [(2, 50, 2), (9, 3, 3), (9, 9, 6)]
)
def test_both_bounds_hold(per_cluster: int, per_request: int, count: int) -> None:
    priors = [prior(n, f"alpha number {n}") for n in range(6)]
    reach = Reach(per_cluster=per_cluster, per_request=per_request)
    assert len(retrieval(*priors).select([cluster("alpha")], reach)) == count


def test_without_priors_or_words_nothing_is_found() -> None:
    assert retrieval().select([cluster("alpha")], Reach()) == ()
    assert retrieval(CHOIR).select([cluster("…")], Reach()) == ()


def test_a_bold_key_and_the_nearest_headings_are_subjects() -> None:
    asked = query_of(cluster("Editor: vim", "Title", "People", "Mara", key="Editor"))
    assert asked.subjects == {"people", "mara", "editor"}


def test_what_an_index_proposes_is_ranked_and_nothing_else_is_read() -> None:
    known = {prior.memory_id: prior for prior in (CHOIR, BELLS, BREAD)}
    retrieval = Retrieval(known, TODAY, lambda _: [BREAD.memory_id, "mem-gone"])
    assert ids(retrieval.select([cluster("alpha archive bread")], Reach())) == [3]
    assert set(retrieval._known) == {BREAD.memory_id}
