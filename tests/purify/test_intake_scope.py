"""The cursor: what manifests consumed is what a naive replay of their differences says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.manifest import Consumed, Manifest
from memrepo.read.intake import Cursor, advance, cursors

UNITS = {"": frozenset(), "b1": frozenset("ab"), "b2": frozenset("abc"), "b3": frozenset("bcd")}


def recorded(run: str, *entries: Consumed) -> Manifest:
    return Manifest(run=run, consumed=entries)


def span(from_: str, to: str) -> Consumed:
    return Consumed(resource="s", from_=from_, to=to)


def taken(*entries: Consumed) -> frozenset[str]:
    runs = [recorded(str(n), entry) for n, entry in enumerate(entries)]
    return cursors(runs)["s"].taken(UNITS.__getitem__)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([span("", "b1")], "ab"),
        ([span("", "b1"), span("b1", "b2")], "abc"),
        ([span("", "b1"), span("b1", "b2"), span("b2", "b3")], "bcd"),
        ([span("b1", "b2")], "c"),
        ([span("b1", "b2"), span("", "b2")], "abc"),
        ([span("", "b2"), span("b2", "")], ""),
    ],
)
def test_what_is_taken_is_the_fold_of_the_differences(
    entries: list[Consumed], expected: str
) -> None:
    assert taken(*entries) == frozenset(expected)


blobs = st.sampled_from(["b1", "b2", "b3"])


@given(st.lists(st.tuples(blobs, st.booleans()), min_size=1, max_size=6))
def test_the_cursor_knows_exactly_what_runs_took_in(steps: list[tuple[str, bool]]) -> None:
    """Each step reads a version. The flag reverts that run, which removes its manifest."""
    runs: list[Manifest] = []
    expected: frozenset[str] = frozenset()
    for number, (blob, is_reverted) in enumerate(steps):
        cursor = cursors(runs).get("s", Cursor())
        assert cursor.taken(UNITS.__getitem__) == expected
        step = advance(cursor, "s", blob, UNITS[blob], UNITS.__getitem__)
        assert (step is None) == (UNITS[blob] <= expected and cursor.last == blob)
        if step is None or is_reverted:
            continue
        assert step[0] == UNITS[blob] - expected
        expected = expected & (UNITS[blob] | (expected - UNITS[cursor.last])) | step[0]
        runs.append(recorded(str(number), step[1]))
