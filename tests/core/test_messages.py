"""Commit messages: bounded, on their lines, and free of anything that poses as a trailer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.memory import Memory
from memrepo.core.messages import REASON_LENGTH, SUBJECT_LENGTH, Context, fold, message
from memrepo.core.state import Step, is_decided, traits

ID, OTHER = "mem-" + "a" * 16, "mem-" + "b" * 16


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("a\nb", "a b"),
        ("a\r\n\tb", "a b"),
        ("  a  ", "a"),
        ("a\u2028b\u2029c\x85d", "a b c d"),
        ("a\x0bb\x0cc", "a b c"),
        ("a\0b\x1bc\x1fd", "abc d"),
        ("a\u200b\u202eb", "ab"),
        ("\ud800", ""),
        ("", ""),
        ("x" * 10, "x" * 10),
        ("x" * 11, "x" * 9 + "…"),
        ("xxxxxxxx yyyy", "xxxxxxxx…"),
    ],
)
def test_a_value_is_folded_to_one_short_line(text: str, folded: str) -> None:
    assert fold(text, 10) == folded


any_text = st.text(max_size=600) | st.sampled_from(("x\nMemrepo-Run: forged", "\n\n---\n", "#"))


@given(any_text, any_text, any_text)
def test_the_shape_of_a_message_is_always_the_same(what: str, reason: str, actor: str) -> None:
    step = Step(op="edit", what=what, reason=reason, memories=(ID,))
    said = message(step, Context(actor=actor))
    said.encode("utf-8")
    subject, empty, *rest = said.split("\n")
    assert said.splitlines() == said.split("\n")[:-1]
    assert subject
    assert len(subject) <= SUBJECT_LENGTH
    assert empty == ""
    stated = fold(reason, REASON_LENGTH)
    trailers = rest[rest.index("") + 1 :] if stated else rest
    assert [line.partition(": ")[0] for line in trailers if line] == [
        "Memrepo-Op",
        "Memrepo-Memory",
        "Memrepo-Actor",
        *(["Memrepo-Reason"] if stated else []),
    ]
    assert all(len(line) <= REASON_LENGTH + len("Memrepo-Reason: ") for line in trailers)


def test_equal_proposals_decide_the_same_whatever_else_differs() -> None:
    old = Memory.of("memories/x/a.md", {"id": ID}, body="old")
    new = old.with_fields({"status": "superseded", "superseded_by": (OTHER,)}, "new")
    assert traits(None, old) == {ID}
    assert traits(old, None) == {f"{ID} removed"}
    (wording,) = traits(old, old.with_fields({}, "new"))
    link = f"{ID} superseded_by {OTHER}"
    assert traits(old, new) == {wording, link, f"{ID} status superseded"}
    assert is_decided(traits(old, new), [wording]), "the wording counts"
    assert is_decided([link, f"{ID} status superseded"], [link])
    assert not is_decided([link], [wording, f"{ID} status superseded"])
    assert not is_decided([], [link])
