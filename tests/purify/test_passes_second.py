"""What check_claims accepts of a judge's answer, and how it names the rest."""

import math
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from memrepo.core.judge import (
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
    Contradiction,
    PriorClaim,
    Scores,
    Wording,
)
from memrepo.judges.passes import (
    check_claims,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PRIOR = "mem-0123456789abcdef"


def request(*ids, profile="personal"):
    made = tuple(
        Cluster(
            cluster_id=i, candidates=(), strength=2.0, type_hint="fact", home_hint="LTMEMORY.md"
        )
        for i in ids
    )
    prior = PriorClaim(
        memory_id=PRIOR,
        type="fact",
        standing="resolved",
        subject="Anna",
        predicate="lives in",
        object="Berlin",
        text="Anna lives in Berlin",
        home="LTMEMORY.md",
    )
    return CanonicalRequest(profile=profile, now=NOW, clusters=made, priors=(prior,))


def claim(cluster_id="c", **changes):
    made = CanonicalClaim(
        cluster_id=cluster_id,
        type="fact",
        standing="resolved",
        wording=Wording(text="Anna lives in Paris"),
        home="LTMEMORY.md",
        scores=Scores(freshness=0.8, confidence=0.3),
    )
    return replace(made, **changes)


def test_one_bad_claim_is_set_aside_alone():
    result = check_claims(request("b", "c"), [claim("c"), claim("b", type="rumour")])
    assert [c.cluster_id for c in result.answers] == ["c"]
    assert [*result.refused] == ["b"]


@pytest.mark.parametrize(
    "changes",
    [
        {"wording": Wording(text="Anna says password: hunter2x")},
        {"wording": Wording(text="Anna lives in Paris", object="ghp_" + "Fake1234" * 5)},
        {"rationale": "password: hunter2x"},
        {"tags": ("password: hunter2x",)},
    ],
)
def test_a_claim_with_a_secret_is_set_aside_and_its_value_not_told(changes):
    (found,) = check_claims(request("c"), [claim("c", **changes)]).refused.values()
    assert found.startswith("a text holds a secret (")
    assert "hunter2x" not in found


def test_unknown_missing_and_repeated_answers_are_named():
    answers = [claim("a"), claim("b"), claim("b"), claim("x")]
    result = check_claims(request("a", "b", "c"), answers)
    assert [c.cluster_id for c in result.answers] == ["a"]
    assert [*result.refused.items()] == [
        ("x", "unknown cluster"),
        ("b", "answered 2 times, and not every answer has a quote"),
        ("c", "no claim"),
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"type": "note"}, "type is none of"),
        ({"standing": "retire_candidate"}, "standing is none of"),
        ({"standing": "certain"}, "standing is none of"),
        ({"home": "ELSEWHERE.md"}, "home is none of"),
        ({"home": "WISHES.md"}, "type fact cannot be in WISHES.md"),
        ({"type": "procedure"}, "type procedure cannot be in LTMEMORY.md"),
        ({"wording": Wording(text=" \n")}, "text is empty"),
        ({"wording": Wording(text="x", subject="two\nlines")}, "subject is not one line"),
        ({"wording": Wording(text="x", object="y" * 2001)}, "object is not one line"),
        ({"scores": Scores(confidence=1.2)}, "score confidence"),
        ({"scores": Scores(freshness=math.nan)}, "score freshness"),
        ({"supersedes": ("mem-ffffffffffffffff",)}, "supersedes names a memory"),
        (
            {"contradictions": (Contradiction(memory_id="mem-f", relation="contested"),)},
            "contradictions name a memory",
        ),
        (
            {"contradictions": (Contradiction(memory_id=PRIOR, relation="odd"),)},
            "relation is none of",
        ),
    ],
)
def test_a_claim_that_cannot_be(changes, reason):
    result = check_claims(request("c"), [claim(**changes)])
    assert result.answers == ()
    assert result.refused["c"].startswith(reason)


@pytest.mark.parametrize(
    ("score", "fresh", "sure"),
    [
        (1.0, "fresh", "high"),
        (0.8, "fresh", "high"),
        (0.79, "recent", "medium"),
        (0.5, "recent", "medium"),
        (0.49, "aging", "low"),
        (0.3, "aging", "low"),
        (0.29, "stale", "tentative"),
        (0.0, "stale", "tentative"),
    ],
)
def test_posture_cuts(score, fresh, sure):
    assert Scores(freshness=score).freshness_posture == fresh
    assert Scores(confidence=score).confidence_posture == sure
