"""What speaks against a memory, in words that whoever reads it can act on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.memory import Link, Memory, Retired
from memrepo.policies.standing import contesting, counted_as, disputed, doubts, is_retired, stale

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
D = timedelta(days=1)


def memory(number: int, **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", "created": T0 + number * D, **fields}
    made = {k: v for k, v in base.items() if v is not None}
    return Memory(path=f"memories/m-{number}.md", fields=made, body=f"Statement {number}.")


def against(*numbers: int, kind: str = "contradicts") -> tuple[Link, ...]:
    return tuple(Link(target=f"mem-{n:016x}", type=kind) for n in numbers)


def told(of: Memory, *others: Memory, stale_at: datetime | None = None) -> tuple[str, ...]:
    return doubts(of, {m.id: m for m in others}.get, stale_at)


def test_in_good_standing_nothing_is_told() -> None:
    assert told(memory(1)) == told(memory(1, standing="resolved")) == ()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"standing": "stale"}, "no longer current"),
        ({"standing": "unresolved"}, "whether it is true"),
        ({"standing": "probable_duplicate"}, "the same as another"),
        ({"standing": "probable_duplicate", "duplicate_of": "mem-9"}, "the same as mem-9"),
        ({"standing": "contested"}, "it is contested"),
        ({"standing": "retire_candidate"}, "about to be retired"),
    ],
)
def test_a_standing_is_told_in_one_sentence(fields: dict[str, Any], said: str) -> None:
    (only,) = told(memory(1, **fields))
    assert said in only


def test_what_contests_it_is_quoted_with_the_day_from_which_both_stood() -> None:
    one, other = memory(1, standing="contested", links=against(2, 3)), memory(2)
    gone = memory(3, status="archived")
    assert told(one, other, gone) == (f'contested by {other.id} since 2026-03-03: "Statement 2."',)
    assert told(one, gone) == ("it is contested",)
    undated = memory(2, created=None)
    assert "since 2026-03-02" in told(one, undated)[0]
    assert "since" not in told(one.with_fields({"created": None}), undated)[0]
    related = memory(1, standing="contested", links=against(2, kind="related"))
    assert told(related, other) == ("it is contested",)


def test_only_a_contested_memory_is_contested_by_its_links() -> None:
    links = against(2)
    assert contesting(memory(1, standing="contested", links=links)) == (memory(2).id,)
    assert contesting(memory(1, links=links)) == ()


def test_staleness_is_told_beside_the_standing() -> None:
    (only,) = told(memory(1), stale_at=T0)
    assert only == stale("2026-03-01T09:00:00Z")
    assert len(told(memory(1, standing="stale"), stale_at=T0)) == 2


@pytest.mark.parametrize(
    ("retired", "said"),
    [
        (("20260305T101500Z-abc", "line gone: sources/a.md"), "since 2026-03-05"),
        (("20260305T101500Z-abc", "line gone: sources/a.md"), "gone from sources/a.md"),
        (("someday", "line gone"), "gone from its source"),
    ],
)
def test_when_and_where_the_last_line_went(retired: tuple[str, str], said: str) -> None:
    runs = (
        Retired(run="20250101T000000Z", reason="x: old.md"),
        Retired(run=retired[0], reason=retired[1]),
    )
    (only,) = told(memory(1, standing="retire_candidate", retired=runs))
    assert said in only
    assert "old.md" not in only
    assert ("since" in only) is retired[0][:8].isdigit()


def test_in_figures_a_retired_memory_is_counted_apart_while_it_is_active() -> None:
    retired = memory(1, standing="retire_candidate")
    assert is_retired(retired)
    assert counted_as(retired) == "retired"
    gone = retired.with_fields({"status": "archived"})
    assert not is_retired(gone)
    assert counted_as(gone) == "archived"
    assert counted_as(memory(1)) == "active"


def test_each_dispute_is_told_once_what_came_up_last_first() -> None:
    one = memory(1, standing="contested", links=against(2))
    two = memory(2, standing="contested", links=against(1))
    three = memory(3, standing="contested", links=against(1))
    every = {m.id: m for m in (one, two, three)}
    rows = disputed(every.values(), every.get)
    assert [row[:20] for row in rows] == [three.id, one.id]
    assert (
        rows[1]
        == f'{one.id} "Statement 1." is contested by {two.id} since 2026-03-03: "Statement 2."'
    )
    assert disputed([memory(1)], every.get) == []
