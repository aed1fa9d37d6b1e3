"""Correction files: what is written can be read, no text poses as a line, merges agree."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memrepo.core import corrections
from memrepo.core.codec import normal_body
from memrepo.core.corrections import Correction, Side, decode, encode, read_corrections
from memrepo.core.layout import Layout
from memrepo.merge.states import join_file

A, B = "mem-aaaaaaaaaaaaaaaa", "mem-bbbbbbbbbbbbbbbb"
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
OPEN = Correction(
    id=corrections.contradiction_id(A, B),
    verdict="flagged",
    sides=(Side(memory=B, text="tea"), Side(memory=A, text="coffee")),
    by="memrepo/0.1.0",
    at=NOW,
    confidence=0.5,
    reason="another value",
    run="r1",
)
KEPT = replace(OPEN, verdict="superseded", kept=B, decided=NOW, by="human:me@example.org")
PATH = corrections.path_of(Layout(), OPEN)


@pytest.mark.parametrize("case", [OPEN, KEPT, replace(OPEN, at=None, confidence=None, run="")])
def test_what_is_written_is_read_back(case: Correction) -> None:
    path = corrections.path_of(Layout(), case)
    assert decode(path, encode(case)) == case


def test_the_id_is_the_same_from_both_sides() -> None:
    assert corrections.contradiction_id(A, B) == corrections.contradiction_id(B, A)
    assert f"corrections/2026-03-01-{OPEN.id}.md" == PATH


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_text_poses_as_a_line_of_the_file(one: str, other: str, reason: str) -> None:
    case = replace(
        OPEN,
        reason=reason,
        sides=(Side(memory=B, text=f"{one}\n## {A}\n\n> x\n---"), Side(memory=A, text=other)),
    )
    found = decode(PATH, encode(case))
    assert isinstance(found, Correction)
    clean = [normal_body(s.text.encode("utf-8", "replace").decode()) for s in case.sides]
    assert [s.text for s in found.sides] == clean
    assert (found.id, found.verdict, found.memories) == (case.id, case.verdict, case.memories)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("---\ntype", "type"),
        ("verdict: flagged", "verdict: superseded"),
        ("confidence: 0.5", "confidence: 5"),
        ("by: memrepo/0.1.0\n", ""),
        ("\n> coffee", "\ncoffee"),
    ],
)
def test_a_damaged_file_is_named(old: str, new: str) -> None:
    text = encode(OPEN).decode()
    assert old in text
    found = decode(PATH, text.replace(old, new, 1).encode())
    assert not isinstance(found, Correction)
    assert [p.rule for p in found] == ["correction-unreadable"]


def test_of_two_files_about_one_case_the_decided_one_counts() -> None:
    other = PATH.replace("03-01", "03-02")
    for first, second in ((OPEN, KEPT), (KEPT, OPEN)):
        files = {PATH: encode(first), other: encode(second), "corrections/x.md": b"x"}
        found = read_corrections(files, Layout())
        assert found.between(A, B) == found.between(B, A) == KEPT
        assert [p.rule for p in found.problems] == ["correction-unreadable"]


BOTH = replace(KEPT, verdict="both", kept="")


@pytest.mark.parametrize(
    ("ours", "theirs", "stands", "conflict"),
    [
        (OPEN, KEPT, KEPT, False),
        (
            replace(OPEN, reason="older"),
            replace(OPEN, reason="wiser"),
            replace(OPEN, reason="wiser"),
            False,
        ),
        (
            replace(KEPT, reason="older"),
            replace(KEPT, reason="wiser"),
            replace(KEPT, reason="wiser"),
            False,
        ),
        (KEPT, replace(BOTH, by="memrepo/0.1.0"), KEPT, True),
        (KEPT, None, KEPT, True),
    ],
)
def test_a_decision_stands_over_an_open_case(ours, theirs, stands, conflict) -> None:
    base = encode(replace(OPEN, reason="base"))
    one, two = encode(ours), encode(theirs) if theirs else b"garbage"
    for a, b in ((one, two), (two, one)):
        joined = join_file(Layout(), PATH, base, a, b)
        assert (joined.data, joined.is_lost) == (encode(stands), conflict)
