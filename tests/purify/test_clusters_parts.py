"""Several claims of one cluster: what is accepted, and what each of them rests on."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from memrepo.core.judge import Candidate, CanonicalClaim, CanonicalRequest, Cluster, Scores, Wording
from memrepo.core.memory import Source
from memrepo.judges.passes import check_claims
from memrepo.purify.clusters import divide

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEXT = "Anna likes tea.\nBen hates\ncoffee in the morning."


def candidate(id_: str, text: str, first: int, last: int, name: str = "MEMORY.md") -> Candidate:
    source = Source(resource=f"sources/{name}", blob="b" * 40, lines=(first, last))
    return Candidate(candidate_id=id_, text=text, sources=(source,))


def group(*members: Candidate) -> Cluster:
    return Cluster(
        cluster_id="clust-a",
        candidates=members,
        strength=2.5,
        type_hint="fact",
        home_hint="LTMEMORY.md",
    )


def claim(text: str, quote: str = "", **more: object) -> CanonicalClaim:
    made = CanonicalClaim(
        cluster_id="clust-a",
        type="fact",
        standing="resolved",
        wording=Wording(text=text),
        home="LTMEMORY.md",
        scores=Scores(confidence=0.8),
        quote=quote,
    )
    return replace(made, **more)


ANNA, BEN = (
    claim("Anna likes tea", "Anna likes tea."),
    claim("Ben hates coffee", "Ben hates coffee"),
)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([ANNA, BEN], ""),
        ([ANNA], ""),
        ([ANNA, replace(BEN, quote=" ")], "answered 2 times, and not every answer has a quote"),
        (
            [ANNA, replace(BEN, quote="Ben hates tea")],
            "quote: not in the evidence word by word: Ben hates tea",
        ),
        (
            [ANNA, replace(BEN, wording=Wording(text="anna  likes TEA"))],
            "two answers have the same text",
        ),
        ([ANNA, replace(BEN, type="rumour")], "type is none of "),
        ([claim("x" * 401)], "text has 401 characters, at most 400 are allowed"),
        ([claim("x" * 400)], ""),
    ],
)
def test_what_stands_side_by_side(answers: list[CanonicalClaim], reason: str) -> None:
    request = CanonicalRequest(
        profile="personal", now=NOW, clusters=(group(candidate("a", TEXT, 3, 5)),)
    )
    found = check_claims(request, answers)
    assert [r.reason[: len(reason)] for r in found.rejected] == ([reason] if reason else [])
    assert len(found.claims) == (0 if reason else len(answers))


def test_each_part_rests_on_its_own_lines() -> None:
    groups, claims = divide([group(candidate("a", TEXT, 3, 5))], [ANNA, BEN])
    assert [c.cluster_id for c in claims] == ["clust-a.1", "clust-a.2"]
    lines = [[s.lines for c in g.candidates for s in c.sources] for g in groups]
    assert lines == [[(3, 3)], [(4, 5)]]


def test_lines_that_do_not_fit_the_text_stay_whole() -> None:
    groups, _ = divide([group(candidate("a", TEXT, 3, 9))], [ANNA, BEN])
    assert [g.candidates[0].sources[0].lines for g in groups] == [(3, 9), (3, 9)]


def test_a_member_supports_the_parts_that_it_says() -> None:
    tea = candidate("b", "Anna is fond of tea.", 1, 1, "x.md")
    both = candidate("c", "Ben hates coffee and Anna likes tea.", 2, 2, "y.md")
    other = candidate("d", "Somebody drinks tea there.", 3, 3, "z.md")
    groups, _ = divide([group(candidate("a", TEXT, 3, 5), tea, both, other)], [ANNA, BEN])
    ids = [[c.candidate_id for c in g.candidates] for g in groups]
    assert ids == [["a", "c", "b", "d"], ["a", "c"]]  # those that hold the quote come first


def test_one_claim_leaves_its_cluster_as_it_is() -> None:
    whole = group(candidate("a", TEXT, 3, 5))
    assert divide([whole], [ANNA]) == ((whole,), (ANNA,))
