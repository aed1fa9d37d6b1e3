"""What the original program answers, pair by pair, and where memrepo differs on purpose."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memrepo.policies.ageing import classify, segments
from memrepo.policies.rules import TTLS
from memrepo.text.dates import future_date

FOLDER = Path(__file__).resolve().parents[1] / "golden"
SUBSTRINGS = {
    *("username", "filename", "headphones", "allocation", "temperature", "template", "multitask"),
}
"""Keys in which the original finds a word that is only part of another."""
PERMANENT = {"name", "location"}
"""Entities that are keys of permanent statements, which the original looks for in keys only."""


def rows(name: str, function: str = "") -> list[dict[str, Any]]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [row for row in found if row["fn"] == function or not function]


def named(found: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in found]


def our_class(row: dict[str, Any]) -> str:
    entity, key, _, text = row["args"]
    return classify(entity or "", key or "", text or "")


def differs(row: dict[str, Any]) -> str:
    """Name the deliberate difference that a row falls under, or return an empty string."""
    entity, key, _, text = row["args"]
    if key in SUBSTRINGS:
        return "substring"
    if "checkpoint" in (text or "") or "preflight" in (text or ""):
        return "checkpoint in text"
    if (entity or "").lower() in PERMANENT:
        return "entity"
    return ""


CLASSES = rows("decay", "classifyDecay") + rows("upstream_test_facts", "classifyDecay")


@pytest.mark.parametrize("row", named([r for r in CLASSES if not differs(r)]))
def test_a_class_is_the_one_the_original_gives(row: dict[str, Any]) -> None:
    assert our_class(row) == row["expect"]


@pytest.mark.parametrize("row", named([r for r in CLASSES if differs(r)]))
def test_a_class_that_differs_does_so_for_a_reason(row: dict[str, Any]) -> None:
    entity, key, _, text = row["args"]
    ours = our_class(row)
    match differs(row):
        case "substring":
            # Without the key that only looks like one, both give the same or differ elsewhere.
            assert segments(key) == (key,)
            assert ours == classify(entity or "", "colour", text or "")
        case "checkpoint in text":
            assert ours in (row["expect"], "checkpoint")
        case "entity":
            assert ours == "permanent"


def test_the_differences_are_really_there() -> None:
    found = {differs(r) for r in CLASSES if differs(r) and our_class(r) != r["expect"]}
    assert found == {"substring", "checkpoint in text", "entity"}


@pytest.mark.parametrize("row", named(rows("decay", "calculateExpiry")))
def test_a_time_to_live_is_that_of_the_original(row: dict[str, Any]) -> None:
    name, since = row["args"]
    ttl = TTLS[name]
    assert (None if ttl is None else since + ttl.total_seconds()) == row["expect"]


@pytest.mark.parametrize("row", named(rows("future_dates")))
def test_a_future_date_is_the_one_the_original_finds(row: dict[str, Any]) -> None:
    assert found_date(row) == row["expect"]


@pytest.mark.parametrize("row", named(rows("upstream_test_facts", "detectFutureDate")))
def test_a_future_date_is_as_the_original_s_tests_say(row: dict[str, Any]) -> None:
    found, now = found_date(row), row["args"][2] // 1000
    match row["expect"]:
        case None:
            assert found is None
        case {"days": int(days)}:
            assert found == now + days * 86_400
        case {"days_gt": int(days)}:
            assert found is not None
            assert found > now + days * 86_400
        case other:
            raise AssertionError(other)


def found_date(row: dict[str, Any]) -> int | None:
    text, options, now = row["args"]
    said = datetime.fromtimestamp(now / 1000, tz=UTC)
    found = future_date(text, said, timedelta(days=options["maxFreezeDays"]))
    return int(found.timestamp()) if found else None


def same(expected: Any, ours: Any) -> Any:
    """Reduce an expected record to the fields that both sides have; not confidence, nor counts."""
    if not isinstance(expected, dict) or not isinstance(ours, dict):
        return expected
    return {key: same(expected.get(key), value) for key, value in ours.items()}
