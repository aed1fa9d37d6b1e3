"""Reuse keys and probable duplicates, with the lineage's examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.judge import PriorClaim
from memrepo.core.memory import Source
from memrepo.policies.matching import (
    DUPLICATE_THRESHOLD,
    ClaimParts,
    PriorIndex,
    duplicate_score,
    normal_predicate,
    normal_subject,
    probable_duplicate,
    statement_of,
)


def prior(id_, subject, predicate, object_="", text="", **changes):
    made = {
        "memory_id": id_,
        "type": "fact",
        "standing": "resolved",
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "home": "LTMEMORY.md",
        "text": text or f"{subject} {predicate} {object_}",
    }
    return PriorClaim(**{**made, **changes})


def said(subject, predicate, object_="", text="", home="LTMEMORY.md"):
    return ClaimParts(
        subject=subject,
        predicate=predicate,
        object=object_,
        home=home,
        text=text or f"{subject} {predicate} {object_}",
    )


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("prefers", "prefer"),
        ("moves", "move"),
        ("needs", "need"),
        ("preferring", "preferr"),
        ("preferred", "preferr"),
        ("running", "runn"),
        ("noted", "not"),
        ("uses", "use" + "s"),
        ("runs", "runs"),
        ("Likes ", "like"),
        ("lives in", "lives in"),
        ("", ""),
    ],
)
def test_predicate_folding(text, folded):
    assert normal_predicate(text) == folded


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("the windows", "window"),
        ("files", "files"),
        ("preferences", "preferences"),
        ("cities", "cities"),
        ("An  Editor", "editor"),
        ("class", "class"),
        ("bus", "bus"),
        ("The", "the"),
        ("时区", "时区"),
        ("Ｗｅｂ", "web"),
    ],
)
def test_subject_folding(text, folded):
    assert normal_subject(text) == folded


def test_different_objects_are_no_duplicate_unless_the_texts_agree_by_half():
    short = PriorIndex([prior("mem-1", "Web", "port", "8080", "Port: 8080")])
    assert probable_duplicate(said("Web", "port", "9090", "Port: 9090"), short) is None
    text = "Anna prefers the quiet meeting room on the second floor in {}"
    long = PriorIndex([prior("mem-1", "Anna", "prefers", "May", text.format("May"))])
    found = probable_duplicate(said("Anna", "prefers", "June", text.format("June")), long)
    assert found is not None
    assert found.memory_id == "mem-1"


def test_bullets_under_one_heading_are_not_duplicates_of_each_other():
    index = PriorIndex([prior("mem-1", "Atlas", "", "", "The build runs at night")])
    assert probable_duplicate(said("Atlas", "", "", "Deploys need a review"), index) is None


def test_the_best_duplicate_wins_and_then_the_smallest_id():
    index = PriorIndex(
        [
            prior("mem-3", "Anna", "likes", "tea", "Anna likes tea"),
            prior("mem-2", "Anna", "likes", "tea", "Anna likes tea"),
            prior("mem-1", "Anna", "likes", "tea", "Anna likes tea in the garden on Sunday"),
        ]
    )
    found = probable_duplicate(said("Anna", "likes", "tea", "Anna likes tea"), index)
    assert found is not None
    assert (found.memory_id, found.score, found.reason) == ("mem-2", 1.1, "composite_1.10_subject")


def test_reuse_takes_the_newest_evidence_and_leaves_out_what_is_inactive():
    old, new = (Source(resource="MEMORY.md", captured=day) for day in ("2026-01-01", "2026-02-01"))
    index = PriorIndex(
        [
            prior("mem-1", "Anna", "likes", "tea", sources=(old,)),
            prior("mem-2", "Anna", "likes", "milk", sources=(new,)),
            prior("mem-0", "Anna", "likes", "gin", sources=(new,), standing="retire_candidate"),
        ]
    )
    assert [p.memory_id for p in index.with_key(said("anna", "like"))] == ["mem-2", "mem-1"]
    assert index.with_key(said("anna", "sells")) == ()


WORDS = st.sampled_from(["", "tea", "milk", "the tea"])
TEXTS = st.lists(st.sampled_from(["tea", "milk", "gin", "hot"]), max_size=4).map(" ".join)
PARTS = st.tuples(st.sampled_from(["Anna", "Ben", ""]), WORDS, WORDS, TEXTS)


@given(st.lists(PARTS, max_size=8), PARTS)
def test_the_index_finds_what_comparing_with_every_prior_finds(known, parts):
    priors = [prior(f"mem-{n}", *p) for n, p in enumerate(known)]
    new = said(*parts)
    scored = [(-duplicate_score(new, statement_of(p)), p.memory_id) for p in priors]
    best = min(scored, default=(0.0, ""))
    found = probable_duplicate(new, PriorIndex(priors))
    if -best[0] < DUPLICATE_THRESHOLD:
        assert found is None
    else:
        assert found is not None
        assert (-found.score, found.memory_id) == best
