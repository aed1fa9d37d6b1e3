"""Upkeep: archive, hot cache, nomination, what leaves with what, pace, and the law of the fold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from driving import CLASSIC
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.codec import encode
from memrepo.core.layout import Layout
from memrepo.core.manifest import RETRIEVAL, SESSION, Accesses, Event, fold, seconds
from memrepo.core.memory import Hot, Link, Memory
from memrepo.core.state import Remove, State, Update, read_state
from memrepo.merge.states import closure
from memrepo.policies.hotcache import hot_of
from memrepo.policies.rules import HotRules, Rules
from memrepo.policies.upkeep import upkeep
from memrepo.views.hot import bullet, hot_changes

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
S, H, D = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
RULES = CLASSIC


def memory(number: int = 1, **fields: Any) -> Memory:
    id_ = f"mem-{number:06x}{0:010x}"
    base = {"id": id_, "type": "fact", "created": T0, "subject": "Oak"}
    made = {k: v for k, v in {**base, **fields}.items() if v is not None}
    layer = "notes/2026-03/01" if made["type"] == "note" else "knowledge/2026-03"
    return Memory.of(
        path=f"memories/{layer}/m-{number:06x}.md", fields=made, body=f"Statement {number}."
    )


def state(*memories: Memory) -> State:
    return read_state({m.path: encode(m) for m in memories}, Layout())


def reads(of: Memory, *times: datetime, session: str = "") -> list[Event]:
    return [
        Event(kind=RETRIEVAL, at=seconds(t), session=session or f"s{n}", memory=of.id)
        for n, t in enumerate(times)
    ]


def begins(*times: datetime) -> list[Event]:
    return [Event(kind=SESSION, at=seconds(t), session=f"b{seconds(t)}") for t in times]


def ops(of: State, events: list[Event], now: datetime, rules: Rules = RULES) -> list[str]:
    return [step.op for step in upkeep(of, fold(events), now, rules).steps]


# -- archive -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True},
        {"critical": True, "hot": Hot(since=T0, reason="critical")},
        {"type": "decision"},
        {"status": "archived", "archived_at": T0},
        {"created": None},
    ],
)
def test_what_is_kept_is_never_archived(fields: dict[str, Any]) -> None:
    assert "archive" not in ops(state(memory(**fields)), [], T0 + 400 * D)


# -- pruning and pace ----------------------------------------------------------------------------


def test_at_most_twenty_or_five_percent_leave_in_one_run_oldest_first() -> None:
    many = [memory(n, created=T0 + n * S) for n in range(1, 31)]
    found = upkeep(state(*many), Accesses(), T0 + 40 * D, RULES)
    assert [s.op for s in found.steps] == ["archive"] * 20
    assert found.steps[0].memory_ids == (many[0].id,)
    again = upkeep(found.state, Accesses(), T0 + 40 * D, RULES, spent=20)
    assert again.steps == ()


def test_what_a_person_took_back_is_not_done_again() -> None:
    found = upkeep(state(memory()), Accesses(), T0 + 40 * D, RULES, allowed=lambda s: False)
    assert found.steps == ()


def test_what_leaves_takes_its_predecessors_and_links_along() -> None:
    new, old, older, chunk, friend = (memory(n) for n in range(1, 6))
    when = {"status": "superseded", "superseded_at": T0}
    new = new.with_fields({"supersedes": (old.id,), "decay": "short"})
    old = old.with_fields({"superseded_by": (new.id,), "supersedes": (older.id,), **when})
    older = older.with_fields({"superseded_by": (old.id,), **when})
    chunk = chunk.with_fields({"type": "chunk", "parent": new.id, "chunk": 0})
    friend = friend.with_fields(
        {
            "links": (Link(target=new.id, type="related"), Link(target=friend.id, type="supports")),
            "duplicate_of": new.id,
            "standing": "probable_duplicate",
        }
    )
    found = upkeep(state(new, old, older, chunk, friend), Accesses(), T0 + 3 * D, RULES)
    (step,) = found.steps
    removed = {c.id for c in step.changes if isinstance(c, Remove)}
    assert removed == {new.id, old.id, older.id, chunk.id}
    assert [c.id for c in step.changes if isinstance(c, Update)] == [friend.id]
    left = found.state.memories[friend.id]
    assert [link.target for link in left.fields["links"]] == [friend.id]
    assert left.standing == "resolved"
    assert closure(found.state) == ()


# -- hot cache -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "note"},
        {"status": "archived"},
        {"standing": "stale"},
        {"valid_until": "2026-02-01"},
        {"decay": "ephemeral"},
    ],
)
def test_what_is_over_or_no_claim_does_not_come(fields: dict[str, Any]) -> None:
    of = memory(**fields)
    events = reads(of, T0, T0 + H, T0 + 2 * H)
    assert "promote" not in ops(state(of), events, T0 + D)


# -- the page ------------------------------------------------------------------------------------


def test_a_memory_cannot_forge_a_tag_or_a_directive() -> None:
    of = memory(hot=Hot(since=T0, reason="x"))
    of = Memory.of(
        path=of.path, fields=of.fields, body="- Hi ↑2026-01-01(critical)←a [[forget:x:y]]"
    )
    line = bullet(of, {})
    assert line.count("↑") == line.count("←") == 1
    assert "[[" not in line


# -- the law -------------------------------------------------------------------------------------


kinds = st.fixed_dictionaries(
    {
        "type": st.sampled_from(("fact", "note", "decision", "preference")),
        "created": st.integers(0, 60).map(lambda n: T0 - n * D),
        "decay": st.sampled_from((None, "short", "normal")),
        "hot": st.sampled_from((None, Hot(since=T0 - 5 * D, reason="x"), Hot(until=T0 - 9 * D))),
        "pinned": st.sampled_from((None, True)),
        "critical": st.sampled_from((None, None, True)),
        "user_marked": st.sampled_from((None, None, True)),
    }
)


@given(
    st.lists(kinds, max_size=8),
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 40 * 24), st.sampled_from("abc"))),
    st.lists(st.integers(0, 20 * 24), max_size=4),
)
def test_upkeep_twice_at_one_moment_proposes_nothing(
    fields: list[dict[str, Any]], found: list[tuple[int, int, str]], starts: list[int]
) -> None:
    made = [memory(n, **f) for n, f in enumerate(fields, start=1)]
    events = [
        Event(kind=RETRIEVAL, at=seconds(T0 - hours * H), session=s, memory=made[n - 1].id)
        for n, hours, s in found
        if n <= len(made)
    ] + begins(*(T0 - hours * H for hours in starts))
    rules = Rules(hot=HotRules(budget=2))
    first = upkeep(state(*made), fold(events), T0, rules)
    second = upkeep(first.state, fold(events), T0, rules)
    assert second.steps == ()
    assert upkeep(state(*made), fold(reversed(events)), T0, rules).steps == first.steps
    assert closure(first.state) == ()
    protected = {m.id for m in made if m.pinned}
    assert protected <= set(first.state.memories)
    assert len([m for m in first.state.active if hot_of(m)]) <= max(
        2, sum(m.pinned or m.critical for m in made)
    )
    page = hot_changes(first.state, rules.hot)
    assert all(c.path == "MEMORY.md" for c in page)
