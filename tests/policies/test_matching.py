"""Reuse keys and probable duplicates, with the lineage's examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import Memory, Source
from memrepo.policies.claims import (
    claim_keys,
    join_sources,
    normal_predicate,
    normal_subject,
    probable_duplicate,
)


def claim(id_, subject, predicate, object_="", text="", sources=(), standing=None):
    fields = {
        "id": id_,
        "type": "fact",
        "subject": subject or None,
        "predicate": predicate or None,
        "object": object_ or None,
        "standing": standing,
        "sources": sources,
    }
    return Memory.of("", fields, body=text or f"{subject} {predicate} {object_}")


def said(*parts):
    return claim("", *parts)


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
    short = [claim("mem-1", "Web", "port", "8080", "Port: 8080")]
    assert probable_duplicate(said("Web", "port", "9090", "Port: 9090"), short) == ("", "")
    text = "Anna prefers the quiet meeting room on the second floor in {}"
    long = [claim("mem-1", "Anna", "prefers", "May", text.format("May"))]
    found = probable_duplicate(said("Anna", "prefers", "June", text.format("June")), long)
    assert found[0] == "mem-1"


def test_bullets_under_one_heading_are_not_duplicates_of_each_other():
    known = [claim("mem-1", "Atlas", "", "", "The build runs at night")]
    assert probable_duplicate(said("Atlas", "", "", "Deploys need a review"), known) == ("", "")


def test_the_best_duplicate_wins_and_then_the_smallest_id():
    known = [
        claim("mem-3", "Anna", "likes", "tea", "Anna likes tea"),
        claim("mem-2", "Anna", "likes", "tea", "Anna likes tea"),
        claim("mem-1", "Anna", "likes", "tea", "Anna likes tea in the garden on Sunday"),
    ]
    found = probable_duplicate(said("Anna", "likes", "tea", "Anna likes tea"), known)
    assert found == ("mem-2", "composite_1.10_subject")


def test_what_is_inactive_or_without_a_subject_has_no_keys():
    assert claim_keys(claim("mem-1", "Anna", "likes", "tea"))
    assert not claim_keys(claim("mem-1", "Anna", "likes", "gin", standing="retire_candidate"))
    assert not claim_keys(claim("mem-1", "", "likes", "gin"))


WORDS = st.sampled_from(["", "tea", "milk", "the tea"])
TEXTS = st.lists(st.sampled_from(["tea", "milk", "gin", "hot"]), max_size=4).map(" ".join)
PARTS = st.tuples(st.sampled_from(["Anna", "Ben", ""]), WORDS, WORDS, TEXTS)


@given(st.lists(PARTS, max_size=8), PARTS)
def test_claims_that_share_a_key_are_all_that_may_be_duplicates(known, parts):
    claims = [claim(f"mem-{n}", *p) for n, p in enumerate(known)]
    new = said(*parts)
    near = [c for c in claims if claim_keys(c) & claim_keys(new)]
    assert probable_duplicate(new, near) == probable_duplicate(new, claims)


def test_places_in_one_text_become_a_span_unless_they_are_far_apart():
    def at(first, last, hash_="th-" + "1" * 16):
        return Source(resource="sources/boats.md", lines=(first, last), text_hash=hash_)

    found = join_sources([at(4, 4), at(9, 10), at(12, 12), at(90, 90), at(1, 1, "th-" + "2" * 16)])
    assert [one.lines for one in found] == [(4, 12), (1, 1)]
