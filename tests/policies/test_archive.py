"""The archive: what is due, in which order, what the commit says, and the way back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.access import RETRIEVAL, Accesses, Event, fold, seconds
from memrepo.core.memory import Hot, Memory
from memrepo.policies.hotcache import is_archive_exempt
from memrepo.policies.rules import ArchiveRules
from memrepo.policies.upkeep import (
    archivable,
    archive,
    archive_due,
    archive_reason,
    for_review,
    unarchive,
)

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
S, D = timedelta(seconds=1), timedelta(days=1)
RULES = ArchiveRules(after=10 * D, demoted_after=20 * D, review_after=5 * D)


def memory(number: int = 1, **fields: Any) -> Memory:
    base = {"id": f"mem-{number:016x}", "type": "fact", "created": T0, **fields}
    return Memory(path=f"memories/knowledge/m-{number:06x}.md", fields=base, body="One.")


def reads(of: Memory, *times: datetime) -> Accesses:
    return fold(Event(kind=RETRIEVAL, at=seconds(t), session="s", memory=of.id) for t in times)


def due(of: Memory, *times: datetime) -> datetime | None:
    return archive_due(of, reads(of, *times).of(of.id), RULES)


def test_a_memory_falls_due_by_its_last_retrieval_or_by_its_creation() -> None:
    assert due(memory()) == T0 + 10 * D
    assert due(memory(), T0 + 3 * D) == T0 + 13 * D
    assert due(memory(), T0 - 3 * D) == T0 + 10 * D, "one retrieved before it was written down"
    assert due(memory(created=None)) is None


@pytest.mark.parametrize(
    ("until", "read", "wanted"),
    [
        (T0 + D, None, T0 + 21 * D),
        (T0 + D, T0 + D, T0 + 21 * D),
        (T0 + D, T0 + D + S, T0 + 11 * D + S),
    ],
)
def test_what_was_demoted_has_longer_until_it_is_retrieved_again(
    until: datetime, read: datetime | None, wanted: datetime
) -> None:
    assert due(memory(hot=Hot(until=until)), *filter(None, [read])) == wanted


def test_due_is_at_the_moment_and_the_oldest_comes_first() -> None:
    old, older, same = memory(1), memory(2, created=T0 - D), memory(3, created=T0 - D)
    every = [old, same, older]
    assert archivable(every, Accesses(), T0 + 9 * D - S, RULES) == []
    found = archivable(every, Accesses(), T0 + 10 * D, RULES)
    assert found == [(older, T0 + 9 * D), (same, T0 + 9 * D), (old, T0 + 10 * D)]


def test_what_is_young_or_has_no_date_is_not_looked_at() -> None:
    wide = ArchiveRules(after=2 * D, demoted_after=4 * D)
    undated, young = memory(1, created=None), memory(2)
    assert archivable([undated, young], Accesses(), T0 + 2 * D - S, wide) == []
    assert [m.id for m, _ in archivable([undated, young], Accesses(), T0 + 2 * D, wide)] == [
        young.id
    ]


def test_a_demoted_memory_may_have_less_time_than_the_rest() -> None:
    short = ArchiveRules(after=10 * D, demoted_after=D)
    of = memory(hot=Hot(until=T0 + D))
    assert archivable([of], Accesses(), T0 + 2 * D, short) == [(of, T0 + 2 * D)]


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "superseded"},
        {"type": "note"},
        {"type": "chunk"},
        {"critical": True},
        {"pinned": True},
        {"hot": Hot(since=T0, reason="x")},
        {"type": "decision"},
    ],
)
def test_what_is_kept(fields: dict[str, Any]) -> None:
    assert not is_archive_exempt(memory())
    assert is_archive_exempt(memory(**fields))
    assert due(memory(**fields)) is None


def test_there_and_back_again() -> None:
    of = memory()
    step = archive(of, T0 + D, "idle")
    (change,) = step.changes
    assert (step.op, step.reason) == ("archive", "idle")
    assert change.fields == {"status": "archived", "archived_at": T0 + D}
    rests = of.with_fields({**change.fields, "status_epoch": 4})
    back = unarchive(rests, "asked for")
    (change,) = back.changes
    assert (back.op, back.reason) == ("restore", "asked for")
    assert change.fields == {"status": None, "status_epoch": 5, "archived_at": None}
    assert unarchive(of, "x").changes[0].fields["status_epoch"] == 1


@pytest.mark.parametrize(
    ("hot", "read", "words"),
    [
        (None, None, ["never retrieved", "idle for 10d or more", "2026-03-11"]),
        (None, T0 + D, ["last retrieved 2026-03-02", "idle for 10d or more", "2026-03-12"]),
        (Hot(until=T0 + D), None, ["never retrieved", "no longer hot since 2026-03-02", "20d"]),
        (Hot(until=T0), T0 + D, ["last retrieved 2026-03-02", "idle for 10d or more"]),
        (Hot(reason="x"), None, ["never retrieved", "idle for 10d or more"]),
    ],
)
def test_the_commit_says_why(hot: Hot | None, read: datetime | None, words: list[str]) -> None:
    of = memory(hot=hot)
    access = reads(of, *filter(None, [read])).of(of.id)
    when = archive_due(of, access, RULES)
    assert when is not None
    said = archive_reason(of, access, when, RULES)
    assert [word for word in words if word not in said] == []
    assert ("no longer hot" in said) == ("no longer hot since 2026-03-02" in words)


def test_review_comes_after_its_time_the_oldest_first() -> None:
    one = memory(1, status="archived", archived_at=T0 + D)
    two = memory(2, status="archived", archived_at=T0)
    gone = memory(3, status="forgotten", archived_at=T0)
    undated = memory(4, status="archived")
    every = [one, two, gone, undated]
    assert for_review(every, T0 + 5 * D, RULES) == ()
    assert for_review(every, T0 + 5 * D + S, RULES) == (two,)
    assert for_review(every, T0 + 9 * D, RULES) == (two, one)
