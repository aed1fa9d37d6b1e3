"""Compression at its edges: who is spared, how groups are cut, and what a summary carries on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memrepo.core.codec import encode
from memrepo.core.judge import Summary
from memrepo.core.layout import Layout
from memrepo.core.memory import Decay, Memory, Source
from memrepo.core.state import State, read_state
from memrepo.policies.gists import (
    LARGEST,
    MIN_CANDIDATES,
    SMALLEST,
    body_of,
    candidates,
    compressed,
    groups,
    summary_id,
)
from memrepo.policies.rules import CompressionRules

T0 = datetime(2026, 1, 1, tzinfo=UTC)
D = timedelta(days=1)
RULES = CompressionRules(trigger=MIN_CANDIDATES, keep=0, below=0.5)


def memory(number: int, body: str = "", **fields: Any) -> Memory:
    base = {
        "id": f"mem-{number:016x}",
        "type": "fact",
        "created": T0 + number * D,
        "decay": Decay(cls="stable"),
        **fields,
    }
    path = f"memories/knowledge/2026-01/m-{number:06x}.md"
    made = {k: v for k, v in base.items() if v is not None}
    return Memory(path=path, fields=made, body=body or f"zz{number}.")


def state(*memories: Memory) -> State:
    return read_state({m.path: encode(m) for m in memories}, Layout())


def chosen(memories: list[Memory], **changes: Any) -> list[str]:
    rules = CompressionRules(**{"trigger": MIN_CANDIDATES, "keep": 0, "below": 0.5, **changes})
    return [m.id for m in candidates(state(*memories), rules, lambda m: 0.4)]


MANY = [memory(n) for n in range(1, MIN_CANDIDATES + 2)]


def test_from_the_trigger_on_and_the_newest_stay() -> None:
    ids = [m.id for m in MANY]
    assert chosen(MANY) == ids
    assert chosen(MANY, trigger=len(MANY)) == ids
    assert chosen(MANY, trigger=len(MANY) + 1) == []
    assert chosen(MANY, keep=1) == ids[:-1]
    assert chosen(MANY, keep=2) == [], "too few are left"
    assert chosen(MANY, below=0.4) == []


def test_one_without_a_date_is_the_oldest() -> None:
    undated = memory(99, created=None)
    assert chosen([*MANY, undated], keep=2)[0] == undated.id


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "summary"},
        {"standing": "contested"},
        {"user_marked": True},
        {"entities": ("Ana",)},
        {"compressed_into": "mem-" + "f" * 16},
        {"tags": ("Preference",)},
        {"pinned": True},
    ],
)
def test_who_is_spared(fields: dict[str, Any]) -> None:
    spared = memory(1, **fields)
    assert chosen([spared, *MANY[1:], memory(90)]) == [m.id for m in (*MANY[1:], memory(90))]


def texts(found: list[Memory]) -> list[tuple[str, int]]:
    return [(g.topic, len(g.memories)) for g in groups(found)]


def test_a_group_has_a_least_and_a_most() -> None:
    assert texts([memory(n, subject="Gate") for n in range(SMALLEST - 1)]) == []
    assert texts([memory(n, subject="Gate") for n in range(SMALLEST)]) == [("Gate", SMALLEST)]
    assert texts([memory(n, subject="Gate") for n in range(LARGEST)]) == [("Gate", LARGEST)]
    halves = [count for _, count in texts([memory(n, subject="Gate") for n in range(LARGEST + 1)])]
    assert sum(halves) == LARGEST + 1
    assert len(halves) == 2
    assert max(halves) - min(halves) <= 1


def test_names_go_before_tags_and_the_more_frequent_first() -> None:
    shared = [memory(n, subject="Gate", tags=("wood",)) for n in range(SMALLEST)]
    tagged = [memory(n, tags=("wood",)) for n in range(10, 10 + SMALLEST + 1)]
    assert texts([*shared, *tagged]) == [("Gate", SMALLEST), ("wood", SMALLEST + 1)]


def test_the_commonest_spelling_names_the_topic() -> None:
    found = [memory(n, subject="gate") for n in range(SMALLEST)]
    found.append(memory(50, subject="Gate"))
    assert texts(found) == [("gate", SMALLEST + 1)]


def test_what_shares_nothing_is_joined_by_time() -> None:
    assert texts([memory(n, f"q{n}x.") for n in range(SMALLEST)]) == [("", SMALLEST)]


def test_a_summary_carries_the_scope_and_names_its_sources() -> None:
    source = (Source(resource="sources/a.md", captured="2026-01-09"),)
    found = [memory(n, scope="work", sources=source) for n in range(SMALLEST)]
    (group,) = groups(found)
    said = Summary(title="The gate", text="It is green.", facts=("It creaks.",), entities=("Ana",))
    step = compressed(group, said, Layout(), T0 + 99 * D, by="process:run", why="old")
    summary = step.changes[0].memory
    assert summary.text("scope") == "work"
    assert summary.id == summary_id(group)
    assert {link.target for link in summary.fields["links"]} == {m.id for m in found}
    assert (step.op, step.reason) == ("compress", "old")
    assert all(
        c.fields["compressed_into"] == summary.id and c.fields["status"] == "archived"
        for c in step.changes[1:]
    )
    (bare,) = groups([memory(n) for n in range(SMALLEST)])
    plain = compressed(bare, said, Layout(), T0, by="process:run", why="old").changes[0].memory
    assert "scope" not in plain.fields


@pytest.mark.parametrize(
    ("facts", "entities", "days", "expected"),
    [
        (("f",), ("Ana", "Bo"), True, ["t", "## Key facts", "- f", "## Entities", "Ana, Bo"]),
        ((), (), False, ["t", "## Sources", "1 memory."]),
    ],
)
def test_a_body_has_a_part_for_what_there_is(
    facts: tuple[str, ...], entities: tuple[str, ...], days: bool, expected: list[str]
) -> None:
    of = memory(1, created=T0 if days else None)
    body = body_of(Summary(title="x", text="t", facts=facts, entities=entities), [of])
    assert [part for part in body.split("\n\n") if part in expected] == expected
    assert ("from 2026-01-01 to 2026-01-01" in body) is days
