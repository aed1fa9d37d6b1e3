"""When a memory was true: the fields, the successors, and every boundary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memrepo.core.memory import Link, Memory
from memrepo.core.times import parse_time
from memrepo.policies.standing import reconciled, true_at

ZONE = ZoneInfo("Asia/Manila")
OLD, NEW, THIRD = (f"mem-{digit * 16}" for digit in "123")


def memory(id_: str, **fields: Any) -> Memory:
    """Return a fact with some fields."""
    for key in ("superseded_at",):
        if key in fields:
            fields[key] = parse_time(fields[key])
    return Memory.of(
        path=f"memories/knowledge/{id_}.md", fields={"id": id_, "type": "fact", **fields}
    )


def world(*found: Memory) -> Mapping[str, Memory]:
    """Return memories by id."""
    return {m.id: m for m in found}


def holds(found: Mapping[str, Memory], moment: str) -> set[str]:
    """Return what was true at a moment."""
    return set(true_at(found, parse_time(moment), ZONE))


@pytest.mark.parametrize(
    ("fields", "moment", "held"),
    [
        ({}, "1990-01-01T00:00:00Z", True),
        ({}, "9000-01-01T00:00:00Z", True),
        # From the first second of the day of the zone on (UTC+8).
        ({"valid_from": "2026-03-02"}, "2026-03-01T15:59:59Z", False),
        ({"valid_from": "2026-03-02"}, "2026-03-01T16:00:00Z", True),
        ({"valid_from": "2026-03-02T09:00:00Z"}, "2026-03-02T08:59:59Z", False),
        ({"valid_from": "2026-03-02T09:00:00Z"}, "2026-03-02T09:00:00Z", True),
        ({"valid_from": "2026-03-02T09:00:00"}, "2026-03-02T01:00:00Z", True),
        # Until a day is with that day; until a time is without that second.
        ({"valid_until": "2026-03-02"}, "2026-03-02T15:59:59Z", True),
        ({"valid_until": "2026-03-02"}, "2026-03-02T16:00:00Z", False),
        ({"valid_until": "2026-03-02T09:00:00Z"}, "2026-03-02T08:59:59Z", True),
        ({"valid_until": "2026-03-02T09:00:00Z"}, "2026-03-02T09:00:00Z", False),
        ({"valid_until": "9999-12-31"}, "9999-12-31T12:00:00Z", True),
        # One day, and no time at all.
        ({"valid_from": "2026-03-02", "valid_until": "2026-03-02"}, "2026-03-02T00:00:00Z", True),
        ({"valid_from": "2026-03-03", "valid_until": "2026-03-02"}, "2026-03-02T20:00:00Z", False),
        # Whether we still recall it is another matter.
        ({"status": "archived"}, "2026-03-02T00:00:00Z", True),
        ({"status": "forgotten"}, "2026-03-02T00:00:00Z", True),
    ],
)
def test_the_fields_bound_a_half_open_span(fields: dict[str, Any], moment: str, held: bool) -> None:
    assert bool(holds(world(memory(OLD, **fields)), moment)) is held


REPLACED = {
    "status": "superseded",
    "superseded_by": (NEW,),
    "superseded_at": "2026-03-10T09:00:00Z",
}


@pytest.mark.parametrize(
    ("old", "new", "moment", "held"),
    [
        # Without a date of its own the successor takes over when it was written.
        ({}, {}, "2026-03-10T08:59:59Z", {OLD}),
        ({}, {}, "2026-03-10T09:00:00Z", {NEW}),
        # With one the old memory was true until then: before ...
        ({}, {"valid_from": "2026-02-10"}, "2026-02-09T15:59:59Z", {OLD}),
        ({}, {"valid_from": "2026-02-10"}, "2026-02-09T16:00:00Z", {NEW}),
        # ... or after it was replaced: a change that was announced.
        ({}, {"valid_from": "2026-04-01"}, "2026-03-20T00:00:00Z", {OLD}),
        ({}, {"valid_from": "2026-04-01"}, "2026-03-31T16:00:00Z", {NEW}),
        # What ended by itself left a gap.
        ({"valid_until": "2026-03-05"}, {}, "2026-03-07T00:00:00Z", set()),
        ({"valid_until": "2026-03-20"}, {}, "2026-03-15T00:00:00Z", {NEW}),
        # A correction from the beginning: the old one was never true.
        ({"valid_from": "2026-02-10"}, {"valid_from": "2026-02-10"}, "2026-02-20T00:00:00Z", {NEW}),
        # Both end: nothing is true.
        ({}, {"valid_until": "2026-03-20"}, "2026-03-20T16:00:00Z", set()),
    ],
)
def test_one_of_a_superseded_pair_is_true_at_a_time(
    old: dict[str, Any], new: dict[str, Any], moment: str, held: set[str]
) -> None:
    found = world(memory(OLD, **REPLACED, **old), memory(NEW, supersedes=(OLD,), **new))
    assert holds(found, moment) == held


def test_a_chain_has_one_true_memory_at_every_moment() -> None:
    found = world(
        memory(OLD, **REPLACED),
        memory(
            NEW,
            status="superseded",
            supersedes=(OLD,),
            superseded_by=(THIRD,),
            superseded_at="2026-03-20T00:00:00Z",
        ),
        memory(THIRD, supersedes=(NEW,)),
    )
    for day, held in ((1, OLD), (11, NEW), (19, NEW), (20, THIRD), (28, THIRD)):
        assert holds(found, f"2026-03-{day:02d}T12:00:00Z") == {held}


def test_a_memory_stays_contested_by_a_third() -> None:
    links = tuple(Link(target=id_, type="contradicts") for id_ in (NEW, THIRD))
    of = memory(OLD, links=links, standing="contested")
    left = {"links": links[1:]}
    assert reconciled(of, NEW, {NEW, THIRD}.__contains__) == left
    assert reconciled(of, NEW, {NEW}.__contains__) == {**left, "standing": None}
    assert reconciled(of, OLD, {NEW}.__contains__) == {}
