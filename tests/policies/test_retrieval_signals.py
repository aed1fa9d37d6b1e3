"""Each signal of prior retrieval adds what its weight says; what is common finds nothing."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from memrepo.core.judge import Candidate, Cluster, PriorClaim
from memrepo.core.memory import Source
from memrepo.policies import retrieval as r
from memrepo.policies.retrieval import Query, Reach, Retrieval, query_of

TODAY = date(2026, 3, 31)


def prior(number: int = 1, text: str = "zebra", **fields: Any) -> PriorClaim:
    base = {"type": "", "standing": "resolved", "subject": "", "predicate": "", "object": ""}
    base |= {"home": "", "sources": (), **fields}
    return PriorClaim(memory_id=f"mem-{number:016x}", text=text, **base)


def asked(**fields: Any) -> Query:
    none = frozenset[str]()
    base = {"subjects": none, "subject_words": none, "words": none, "entities": none}
    base |= {"type": "fact", "home": "H.md", **fields}
    return Query(**base)


def words(*found: str) -> frozenset[str]:
    return frozenset(found)


def score(of: PriorClaim, query: Query) -> float:
    # Everything is proposed, so that only the score decides.
    near = Retrieval([of], TODAY, near=lambda _: [of.memory_id]).nearest(query, 1)
    return near[0][1] if near else 0.0


NEW = (Source(resource="s", captured="2026-03-01"),)
OLD = (Source(resource="s", captured="2026-02-28"),)


@pytest.mark.parametrize(
    ("fields", "query", "wanted"),
    [
        ({"text": "zebra"}, {"words": words("zebra")}, r.TEXT_WORDS),
        ({"text": "zebra lion"}, {"words": words("zebra")}, r.TEXT_WORDS / 2),
        ({"text": "zebra"}, {"words": words("zebra"), "home": ""}, r.TEXT_WORDS + r.SAME_HOME),
        ({"text": "zebra"}, {"words": words("zebra"), "type": ""}, r.TEXT_WORDS + r.SAME_TYPE),
        ({"subject": "Gate"}, {"subjects": words("gate")}, r.SAME_SUBJECT),
        ({"subject": "Gate"}, {"subject_words": words("gate")}, r.SUBJECT_WORDS),
        ({"subject": ""}, {"subjects": words("")}, 0.0),
        ({"text": "ana zebra"}, {"entities": words("ana")}, r.ENTITIES),
        ({"text": "ana zebra"}, {"entities": words("ana", "bo")}, r.ENTITIES / 2),
        (
            {"predicate": "prefers"},
            {"words": words("prefers", "zebra")},
            r.TEXT_WORDS / 2 + r.PREDICATE,
        ),
        (
            {"predicate": "really prefers"},
            {"words": words("prefers", "zebra")},
            r.TEXT_WORDS / 2 + r.PREDICATE_WORDS / 3,
        ),
        (
            {"subject": "Gate", "sources": NEW},
            {"subjects": words("gate")},
            r.SAME_SUBJECT + r.RECENT,
        ),
        ({"subject": "Gate", "sources": OLD}, {"subjects": words("gate")}, r.SAME_SUBJECT),
        ({"text": "zebra", "sources": NEW}, {"words": words("zebra")}, r.TEXT_WORDS),
    ],
)
def test_a_signal_adds_its_weight(
    fields: dict[str, Any], query: dict[str, Any], wanted: float
) -> None:
    assert score(prior(**fields), asked(**query)) == pytest.approx(wanted)


def test_at_the_floor_a_prior_is_shown_and_below_it_is_not() -> None:
    at, below = words("zebra", "oak"), words("zebra", "oak", "elm")
    assert score(prior(), asked(words=at)) == pytest.approx(r.FLOOR)
    assert score(prior(), asked(words=below)) == 0.0


def test_the_best_come_first_newer_evidence_breaks_ties_and_the_count_is_kept() -> None:
    best = prior(3, subject="Gate")
    older, newer = prior(1, sources=OLD), prior(2, sources=NEW)
    found = Retrieval([older, newer, best], TODAY).nearest(
        asked(words=words("zebra"), subjects=words("gate")), 9
    )
    assert [id_ for id_, _ in found] == [p.memory_id for p in (best, newer, older)]
    only = Retrieval([older, newer], TODAY).nearest(asked(words=words("zebra")), 1)
    assert [id_ for id_, _ in only] == [newer.memory_id]


def test_a_word_that_most_priors_hold_finds_nothing_by_itself() -> None:
    few = [prior(n) for n in range(r.FEW)]
    assert len(Retrieval(few, TODAY).nearest(asked(words=words("zebra")), 999)) == r.FEW
    many = [*few, prior(r.FEW)]
    assert Retrieval(many, TODAY).nearest(asked(words=words("zebra")), 999) == []
    crowd = [*few, *(prior(n, "lion") for n in range(100, 100 + 4 * r.FEW))]
    shared = Retrieval(crowd, TODAY).nearest(asked(words=words("zebra")), 999)
    assert len(shared) == r.FEW, "a fifth of many"
    by_subject = Retrieval([*many, prior(999, "fir", subject="Gate")], TODAY)
    assert len(by_subject.nearest(asked(subjects=words("gate")), 9)) == 1


def cluster(text: str, *context: str, **more: Any) -> Cluster:
    candidate = Candidate(candidate_id="c", text=text, context=context, key=more.pop("key", ""))
    return Cluster(
        cluster_id="k",
        candidates=(candidate,),
        strength=1.0,
        type_hint="fact",
        home_hint="",
        **more,
    )


def test_a_cluster_asks_by_its_texts_its_two_nearest_headings_and_its_key() -> None:
    query = query_of(cluster("A zebra.", "Far", "Barns", "Oaks", key="Colour", entities=("Ana B",)))
    assert query.subjects == {"barn", "oak", "colour", "ana b"}
    assert query.subject_words == {"barns", "oaks", "colour"}
    assert query.words == {"zebra"}
    assert query.entities == {"ana", "b"}


def test_a_request_shows_the_best_of_its_clusters_and_each_prior_once() -> None:
    priors = [prior(1, "zebra"), prior(2, "lion"), prior(3, "zebra lion")]
    asking = [cluster("zebra"), cluster("lion")]
    found = Retrieval(priors, TODAY).select(asking, Reach(per_cluster=2, per_request=9))
    assert [p.memory_id[-1] for p in found] == ["1", "2", "3"]
    assert len(Retrieval(priors, TODAY).select(asking, Reach(per_request=2))) == 2
    lone = Retrieval(priors, TODAY).select(asking, Reach(per_cluster=1, per_request=9))
    assert [p.memory_id[-1] for p in lone] == ["1", "2"]
