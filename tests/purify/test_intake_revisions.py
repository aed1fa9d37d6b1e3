"""An edit shows as one rewording; what only moved or was reordered is not gone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.purify.intake import revise
from memrepo.read.thoughts import Unit, scan


def units(*lines: str) -> tuple[Unit, ...]:
    return scan("MEMORY.md", "\n".join(f"- {line}" for line in lines).encode()).units


ALPHA = "The staging server is called alpha and runs Debian 12."
BETA = "Alice is the engineer on call for the payments team."
GAMMA = "The release train leaves every second Tuesday."


def test_an_unchanged_source_has_no_revision() -> None:
    found = revise(units(ALPHA, BETA), units(ALPHA, BETA))
    assert (found.edited, found.gone, found.before) == ({}, frozenset(), 2)


def test_an_edited_line_is_paired_with_what_stood_there() -> None:
    old, new = units(ALPHA, BETA), units(ALPHA.replace("12", "13"), BETA)
    found = revise(old, new)
    assert found.edited == {new[0].hash: old[0].text_hash}
    assert found.gone == {old[0].text_hash}


def test_a_line_replaced_by_something_else_is_lost() -> None:
    old, new = units(ALPHA, BETA), units(GAMMA, BETA)
    found = revise(old, new)
    assert found.edited == {}
    assert found.gone == {old[0].text_hash}


def test_reordered_lines_are_not_gone() -> None:
    assert revise(units(ALPHA, BETA, GAMMA), units(GAMMA, ALPHA, BETA)).gone == frozenset()


def test_of_two_edits_in_one_place_each_finds_its_own() -> None:
    old = units(ALPHA, BETA)
    new = units(BETA.replace("Alice", "Bob"), ALPHA.replace("alpha", "omega"))
    found = revise(old, new)
    assert found.edited == {new[0].hash: old[1].text_hash, new[1].hash: old[0].text_hash}


def test_a_deleted_source_loses_everything() -> None:
    found = revise(units(ALPHA, BETA), ())
    assert len(found.gone) == found.before == 2


lines = st.lists(st.sampled_from([ALPHA, BETA, GAMMA, ALPHA.replace("12", "13")]), max_size=6)


@given(lines, lines)
def test_what_is_gone_stands_nowhere_and_every_edit_names_something_gone(
    before: list[str], after: list[str]
) -> None:
    old, new = units(*before), units(*after)
    found = revise(old, new)
    assert not found.gone & {u.text_hash for u in new}
    assert set(found.edited.values()) <= found.gone
    assert set(found.edited) <= {u.hash for u in new}
    assert len(set(found.edited.values())) == len(found.edited)


def test_a_rewritten_file_is_compared_in_bounded_time() -> None:
    old = [
        f"Unit {n} of the old plan speaks of item {n * 7} at length and in detail."
        for n in range(400)
    ]
    new = [
        f"Quite another sentence, number {n}, about matters {n * 3} nobody had named."
        for n in range(400)
    ]
    assert revise(units(*old), units(*new)).edited == {}
