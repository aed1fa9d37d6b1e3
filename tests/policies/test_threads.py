"""Threads: the original's parts, but for keys that it forgets; titles; notes in order."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.actions.recall.around import Turn, assign, threads_of, title_of
from memrepo.core.memory import Memory
from memrepo.policies.importance import lexicon

FOLDER = Path(__file__).resolve().parents[1] / "golden"
WORDS = lexicon()
ZONE = ZoneInfo("Asia/Manila")
T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)


def rows(function: str) -> list[dict[str, Any]]:
    lines = (FOLDER / "threading.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [row for row in found if row["fn"] == function]


def named(found: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in found]


def turns(row: dict[str, Any]) -> list[Turn]:
    return [
        Turn(id=str(n), at=datetime.fromisoformat(t["timestamp"]), key=t.get("sessionKey", ""))
        for n, t in enumerate(row["args"][0])
    ]


def forgets(row: dict[str, Any]) -> bool:
    """Tell whether a turn without a key stands before a change of key, in one thread."""
    keys = [t.get("sessionKey", "") for t in row["args"][0]]
    return (
        any(not keys[n] and any(keys[:n]) and any(keys[n + 1 :]) for n in range(len(keys)))
        and len({k for k in keys if k}) > 1
    )


PARTS = rows("threadTurns")


def parts_of(row: dict[str, Any]) -> list[int]:
    gap = timedelta(minutes=row["args"][1])
    found = assign(turns(row), gap)
    return [number for number, part in enumerate(found) for _ in part]


@pytest.mark.parametrize("row", named([r for r in PARTS if not forgets(r)]))
def test_turns_are_parted_as_in_the_original(row: dict[str, Any]) -> None:
    assert parts_of(row) == row["expect"]["assign"]


@pytest.mark.parametrize("row", named([r for r in PARTS if forgets(r)]))
def test_where_the_original_forgets_a_key_we_part_at_least_as_often(row: dict[str, Any]) -> None:
    ours, theirs = parts_of(row), row["expect"]["assign"]
    assert all(a >= b for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("row", named(rows("threadTitle")))
def test_titles_of_a_single_thread_are_those_of_the_original(row: dict[str, Any]) -> None:
    words = WORDS.content(row["args"][0])
    assert title_of(words, Counter(set(words)), 1) == row["expect"]


def found(*notes: Memory) -> list[tuple[list[int], str]]:
    threads = threads_of({n.id: n for n in notes}, WORDS, ZONE)
    return [([int(id_[4:], 16) for id_ in t.members], t.key) for t in threads]


@given(st.lists(st.tuples(st.integers(0, 600), st.sampled_from(["", "a", "b"])), max_size=30))
def test_every_turn_is_in_one_thread_and_none_mixes_keys(found: list[tuple[int, str]]) -> None:
    given_ = [
        Turn(id=str(n), at=T0 + timedelta(minutes=m), key=k) for n, (m, k) in enumerate(found)
    ]
    parts = assign(given_)
    assert [turn for part in parts for turn in part] == given_
    assert all(len({turn.key for turn in part} - {""}) <= 1 for part in parts)
