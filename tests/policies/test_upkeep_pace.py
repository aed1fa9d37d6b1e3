"""Upkeep at its bounds: the pace, what waits, what may not be proposed, and each stage's view."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.access import Accesses
from memrepo.core.changes import Step
from memrepo.core.codec import encode
from memrepo.core.layout import Layout
from memrepo.core.memory import Decay, Hot, Memory
from memrepo.core.state import State, read_state
from memrepo.policies.rules import HotRules, Rules, TierRules
from memrepo.policies.upkeep import LEAST, Upkeep, owed_tier_moves, upkeep

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
D = timedelta(days=1)
LATE = T0 + 400 * D
RULES = Rules()


def memory(number: int, **fields: Any) -> Memory:
    base = {
        "id": f"mem-{number:06x}{0:010x}",
        "type": "fact",
        "created": T0 + timedelta(seconds=number),
        # Of one that is never pruned and never rests.
        "decay": Decay(cls="permanent"),
    }
    made = {k: v for k, v in {**base, **fields}.items() if v is not None}
    folder = "notes/2026-03/01" if made["type"] == "note" else "knowledge/2026-03"
    return Memory(
        path=f"memories/{folder}/m-{number:06x}.md", fields=made, body=f"Number {number}."
    )


def over(number: int) -> Memory:
    """Return one whose short life is over."""
    return memory(number, decay=Decay(cls="session"))


def state(*memories: Memory) -> State:
    return read_state({m.path: encode(m) for m in memories}, Layout())


def due(count: int, beside: int = 0, **more: Any) -> Upkeep:
    memories = [over(n) for n in range(count)] + [memory(1000 + n) for n in range(beside)]
    return upkeep(state(*memories), Accesses(), LATE, RULES, **more)


@pytest.mark.parametrize(
    ("count", "beside", "more", "left", "waiting", "room"),
    [
        (3, 0, {}, 3, 0, LEAST - 3),
        (LEAST, 0, {}, LEAST, 0, 0),
        (LEAST + 1, 0, {}, LEAST, 1, 0),
        (LEAST + 1, 0, {"spent": 1}, LEAST - 1, 2, 0),
        (3, 0, {"spent": LEAST}, 0, 3, 0),
        (3, 0, {"spent": LEAST + 1}, 0, 3, 0),
        (LEAST + 5, 0, {"total": 480}, 24, 1, 0),
        (LEAST + 5, 455, {}, 24, 1, 0),
        (0, 2, {}, 0, 0, LEAST),
    ],
)
def test_the_pace_bounds_what_leaves_in_one_run(
    count: int, beside: int, more: dict[str, Any], left: int, waiting: int, room: int
) -> None:
    found = due(count, beside, **more)
    assert (len(found.steps), found.waiting, found.room) == (left, waiting, room)
    assert len(found.state.active) == count + beside - left


def test_the_oldest_goes_first() -> None:
    found = due(LEAST + 3)
    assert [i for step in found.steps for i in step.memory_ids] == [
        over(n).id for n in range(LEAST)
    ]


def test_what_a_person_took_back_is_not_proposed_again() -> None:
    spared = over(1).id

    def allowed(step: Step) -> bool:
        return spared not in step.memory_ids

    found = upkeep(state(over(1), over(2)), Accesses(), LATE, RULES, allowed=allowed)
    assert [i for step in found.steps for i in step.memory_ids] == [over(2).id]
    hot = memory(3, critical=True)
    refused = upkeep(state(hot), Accesses(), LATE, RULES, allowed=lambda step: step.op != "promote")
    assert refused.steps == ()
    assert upkeep(state(hot), Accesses(), LATE, RULES).steps[0].op == "promote"


def test_the_cache_sees_what_left_before() -> None:
    short = over(1).with_fields({"hot": Hot(since=T0, reason="x")})
    stays = memory(2, hot=Hot(since=T0, reason="x"))
    rules = Rules(hot=HotRules(budget=1, idle=99))
    found = upkeep(state(short, stays), Accesses(), LATE, rules)
    assert [i for step in found.steps if step.op == "demote" for i in step.memory_ids] == []
    assert [m.id for m in found.state.active] == [stays.id]


def test_notes_owe_their_moves_and_nothing_else_does() -> None:
    note = memory(1, type="note", decay=None)
    of = state(note, memory(2), memory(3, type="note", decay=None, status="archived"))
    owed = owed_tier_moves(of, Accesses(), T0 + 8 * D, RULES)
    assert [(n.id, [move.tier for move in made]) for n, made in owed] == [
        (note.id, ["warm", "gist"])
    ]
    found = upkeep(of, Accesses(), T0 + 8 * D, RULES)
    assert [step.memory_ids for step in found.steps if step.op == "tier"] == [(note.id,)] * 2
    assert found.state.memories[note.id].text("tier") == "gist"


def test_a_note_leaves_after_it_stood_forgotten_and_before_that_it_does_not() -> None:
    written = {"tier": "forgotten", "tier_since": T0 + 20 * D, "tier_written": T0 + 20 * D}
    note = memory(1, type="note", decay=None, **written)
    fresh = memory(2, type="note", decay=None, tier="forgotten", tier_since=T0 + 20 * D)
    rules, now = Rules(tiers=TierRules(clean_after=9 * D)), T0 + 29 * D
    assert upkeep(state(note, fresh), Accesses(), now, rules).steps == ()
    (step,) = upkeep(state(note, fresh), Accesses(), now + timedelta(seconds=1), rules).steps
    assert (step.op, step.memory_ids) == ("prune", (note.id,))


def test_what_was_played_is_what_is_given_back() -> None:
    calls: list[list[Step]] = []

    def play(of: State, steps: Any) -> State:
        calls.append(list(steps))
        return of

    found = upkeep(state(over(1)), Accesses(), LATE, RULES, play=play)
    assert [len(steps) for steps in calls] == [0, 1, 0]
    assert len(found.steps) == 1
