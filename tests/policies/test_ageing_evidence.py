"""Standing evidence does not age: what time takes out of recall, and what it only marks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from driving import CLASSIC
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.access import NEVER, Accesses
from memrepo.core.codec import encode
from memrepo.core.layout import Layout
from memrepo.core.memory import Decay, Memory, Source, Stamp
from memrepo.core.state import read_state
from memrepo.policies.ageing import is_over, keeping, stands
from memrepo.policies.rules import LASTING, TTLS, Rules
from memrepo.policies.upkeep import upkeep

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
S, D = timedelta(seconds=1), timedelta(days=1)
RULES = Rules()
LINE = Source(resource="sources/MEMORY.md", lines=(3, 3), text_hash="th-" + "a" * 16)
LOGGED = Source(resource="sources/memory/2026-03-01.md", lines=(3, 3), text_hash="th-" + "a" * 16)
VERA = Stamp(by="human:vera@example.org", at=T0)
AGENT = Stamp(by="process:agent", at=T0)
SHORT = sorted(name for name, ttl in TTLS.items() if ttl is not None and name not in LASTING)


def memory(body: str = "The oak is old.", **fields: Any) -> Memory:
    base = {"id": "mem-000001000000000a", "type": "fact", "created": T0}
    path = "memories/knowledge/2026-03/m-000001.md"
    return Memory(path=path, fields={**base, **fields}, body=body)


def over(of: Memory, age: timedelta, rules: Rules = RULES) -> bool:
    return is_over(of, keeping(of, NEVER, T0 + age, rules.decay))


@pytest.mark.parametrize("cls", LASTING)
@pytest.mark.parametrize("age", [91 * D, 3650 * D])
def test_what_is_meant_to_last_is_stale_and_recalled(cls: str, age: timedelta) -> None:
    of = memory(decay=Decay(cls=cls))
    kept = keeping(of, NEVER, T0 + age, RULES.decay)
    assert (kept.stale, kept.confidence, over(of, age)) == (True, 0.5, False)
    assert over(of, age, CLASSIC)


def test_it_is_stale_past_its_time_and_not_at_it() -> None:
    at = [keeping(memory(), NEVER, T0 + 90 * D + step, RULES.decay) for step in (0 * S, S)]
    assert [(kept.stale, kept.confidence) for kept in at] == [(False, 1.0), (True, 0.5)]


@pytest.mark.parametrize("cls", SHORT)
@pytest.mark.parametrize("sources", [(), (LINE,)])
def test_a_short_class_that_somebody_gave_ends_a_memory(
    cls: str, sources: tuple[Source, ...]
) -> None:
    assert over(memory(decay=Decay(cls=cls), sources=sources), 15 * D)


@pytest.mark.parametrize(
    ("fields", "goes"),
    [
        ({}, True),
        ({"sources": (LINE,)}, False),
        ({"sources": (LINE,), "standing": "retire_candidate"}, True),
        ({"sources": (LOGGED,)}, False),
        ({"sources": (Source(resource="sources/MEMORY.md"),), "origin": "manual"}, True),
        ({"generated": VERA}, False),
        ({"generated": AGENT}, True),
        ({"verified": (AGENT, VERA)}, False),
        ({"verified": (AGENT,)}, True),
    ],
)
def test_a_class_that_was_guessed_ends_only_what_nothing_bears_out(
    fields: dict[str, Any], goes: bool
) -> None:
    of = memory("Currently debugging the gate of the dam.", **fields)
    assert over(of, 2 * D) is goes
    assert stands(of) is not goes


@pytest.mark.parametrize("cls", [None, "permanent"])
def test_a_stated_end_takes_out_what_it_was_said_of(cls: str | None) -> None:
    fields = {"decay": Decay(cls=cls)} if cls else {}
    of = memory(valid_until="2026-03-03", sources=(LINE,), **fields)
    end = datetime(2026, 3, 3, 23, 59, 59, tzinfo=UTC)
    assert [over(of, end - T0 + step) for step in (-S, 0 * S)] == [False, True]
    (step,) = upkeep(read_state({of.path: encode(of)}, Layout()), Accesses(), end, RULES).steps
    assert (step.op, step.reason) == ("archive", "it was true until 2026-03-03T23:59:59Z")
    assert not over(of.with_fields({"pinned": True}), end - T0)


@given(
    st.sampled_from((None, *TTLS)),
    st.sampled_from(("The oak is old.", "Currently debugging.", "TODO: paint the door.")),
    st.integers(0, 4000),
)
def test_no_time_takes_out_what_stands_and_nobody_ended(
    cls: str | None, body: str, days: int
) -> None:
    fields = {"decay": Decay(cls=cls)} if cls in LASTING else {}
    of = memory(body, sources=(LINE,), **fields)
    assert not over(of, days * D)
    state = read_state({of.path: encode(of)}, Layout())
    assert upkeep(state, Accesses(), T0 + days * D, RULES).steps == ()
