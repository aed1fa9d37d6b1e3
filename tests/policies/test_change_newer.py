"""Which of two statements is newer, and what says so."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.core.memory import Link, Memory, Source
from memrepo.policies.change import newer_first, newer_of


def said(
    captured: str = "", by: str = "commit", resource: str = "a.md", line: int = 1
) -> tuple[Source, ...]:
    return (Source(resource=resource, captured=captured, captured_from=by, lines=(line, line)),)


@pytest.mark.parametrize(
    ("first", "second", "newer"),
    [
        (said("2026-03-02", "file"), said("2026-03-01", "file"), ("first", "dated")),
        (said("2026-03-02", "unit"), said("2026-03-01"), ("first", "dated")),
        (said("2026-03-02", "heading"), said("2026-03-01T23:59:59Z"), ("first", "dated")),
        (said("2026-03-02"), said("2026-03-01", "file"), ("first", "later")),
        (said("2026-03-02"), said("2026-03-01"), ("first", "later")),
        (said("2026-03-02", "file"), said("2026-03-02T10:00:00Z", line=2), ("second", "later")),
        (said("2026-03-02", "file"), said("", line=2), ("second", "later")),
        (said(line=1), said(line=2), ("second", "later")),
        (said(line=1), said(line=1), ("unknown", "")),
        (said(resource="a.md"), said(resource="b.md", line=2), ("unknown", "")),
        ((), said("2026-03-02", "file"), ("unknown", "")),
        ((), (), ("unknown", "")),
    ],
)
def test_a_date_in_the_text_says_more_than_the_order_of_writing(
    first: tuple[Source, ...], second: tuple[Source, ...], newer: tuple[str, str]
) -> None:
    turned = {"first": "second", "second": "first"}
    assert newer_of(first, second) == newer
    assert newer_of(second, first) == (turned.get(newer[0], newer[0]), newer[1])


def memory(number: int, day: str, *against: int, **fields: Any) -> Memory:
    links = tuple(Link(target=f"m{n}", type="contradicts") for n in against)
    base = {"id": f"m{number}", "sources": said(day, "file"), "links": links}
    base["standing"] = "contested" if against else "resolved"
    return Memory(path=f"{number}.md", fields={**base, **fields})


def order(*memories: Memory) -> list[str]:
    return [one for one, _ in newer_first([m.id for m in memories], memories)]


def test_of_two_that_contradict_each_other_the_newer_takes_the_better_place() -> None:
    old, new, other = (
        memory(1, "2026-01-01", 2),
        memory(2, "2026-02-01", 1),
        memory(3, "2026-03-01"),
    )
    assert order(old, other, new) == ["m2", "m3", "m1"]
    assert order(new, other, old) == ["m2", "m3", "m1"]


def test_what_does_not_contradict_or_has_no_order_stays() -> None:
    apart = [memory(1, "2026-01-01", 9), memory(2, "2026-02-01", 9)]
    assert order(*apart) == ["m1", "m2"]
    undated = [memory(1, "", 2, sources=()), memory(2, "", 1, sources=())]
    assert order(*undated) == ["m1", "m2"]
    settled = [memory(1, "2026-01-01", 2, standing="resolved"), memory(2, "2026-02-01", 1)]
    assert order(*settled) == ["m1", "m2"]


def test_of_three_each_pair_is_in_order() -> None:
    every = [
        memory(1, "2026-01-01", 2, 3),
        memory(2, "2026-02-01", 1, 3),
        memory(3, "2026-03-01", 1, 2),
    ]
    assert order(*every)[0] == "m3"
    assert sorted(order(*every)) == ["m1", "m2", "m3"]
