"""Budgets are checked before a call, from an estimate that no call exceeds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from driving import done, git, memrepo
from hypothesis import given
from hypothesis import strategies as st
from serving import Act, Service
from workspaces import growing

from memrepo.core.judge import BudgetReached, Usage
from memrepo.core.manifest import Recorded, spent_in_day, spent_in_month
from memrepo.judges.model import Budgeted, Limit, Price, Reply
from memrepo.judges.prompting import Prompt

PRICE = Price(input=1.0, output=10.0, cache_write=2.0, cache_read=0.1)


class Meter:
    """A backend that uses a fixed number of tokens a call."""

    name = "meter"

    def __init__(self, prompt: int, completion: int) -> None:
        cost = PRICE.cost(fresh=prompt, output=completion)
        self.each = Usage(
            prompt=prompt, completion=completion, source="exact", cost_usd=cost, calls=1
        )
        self.calls = 0

    def ask(self, prompt: Prompt) -> Reply:
        self.calls += 1
        return Reply(text="", usage=self.each)


def question(length: int = 300, name: str = "purifier") -> Prompt:
    return Prompt(name=name, system="x" * length, context="", data="", items=1)


def calls(limit: Limit, meter: Meter, *, max_output: int = 100, name: str = "purifier") -> int:
    judge = Budgeted(meter, (limit,), max_output=max_output, price=PRICE)
    for _ in range(50):
        try:
            judge.ask(question(name=name))
        except BudgetReached:
            break
    return meter.calls


ONE = question().token_bound + 100
"""What one call may need: the question, its schema, and the longest answer."""


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (Limit(what="a run"), 50),
        (Limit(what="a run", tokens=ONE - 1), 0),
        (Limit(what="a run", tokens=ONE), 1),
        (Limit(what="a run", tokens=ONE + 150), 2),
        (Limit(what="a run", tokens=ONE + 150, spent=Usage(prompt=150, calls=1)), 1),
        (Limit(what="a run", usd=0.0), 0),
        (Limit(what="a run", usd=PRICE.bound(ONE - 100, 100)), 1),
    ],
)
def test_a_call_is_made_only_when_its_estimate_fits(limit: Limit, expected: int) -> None:
    assert calls(limit, Meter(100, 50)) == expected


@given(
    limit=st.integers(0, 5000),
    prompt=st.integers(1, 100),
    completion=st.integers(0, 100),
    name=st.sampled_from(["promotion", "purifier"]),
)
def test_no_run_uses_more_than_its_limit(
    limit: int, prompt: int, completion: int, name: str
) -> None:
    meter = Meter(prompt, completion)
    made = calls(Limit(what="a run", tokens=limit), meter, name=name)
    assert made * (prompt + completion) <= limit


def test_a_month_is_added_up_from_its_manifests() -> None:
    def run(now: str, tokens: int, cost: float | None) -> Recorded:
        usage = Usage(prompt=tokens, source="exact", cost_usd=cost, calls=1)
        return Recorded(run=now, consumed=(), refused=frozenset(), now=now, usage=usage)

    runs = [
        run("2026-02-28T23:59:59Z", 1000, 9.0),
        run("2026-03-01T00:00:00Z", 10, 0.5),
        run("2026-03-31T23:59:59Z", 20, 0.25),
        run("2026-04-01T00:00:00Z", 1000, 9.0),
    ]
    found = spent_in_month(datetime(2026, 3, 15, tzinfo=UTC), runs, UTC)
    assert (found.total, found.cost_usd, found.source) == (30, 0.75, "exact")
    assert spent_in_month(datetime(2026, 5, 1, tzinfo=UTC), runs, UTC) == Usage()
    shanghai = ZoneInfo("Asia/Shanghai")  # there it is eight hours later
    assert spent_in_month(datetime(2026, 3, 15, tzinfo=UTC), runs, shanghai).total == 1010
    assert spent_in_day(datetime(2026, 3, 31, 17, tzinfo=UTC), runs, shanghai).total == 1020


class Silent(Meter):
    """A backend whose service does not say what a call used."""

    def ask(self, prompt: Prompt) -> Reply:
        self.calls += 1
        return Reply(text="y" * 90, usage=Usage(calls=1))


def test_a_service_that_tells_no_usage_is_charged_the_estimate_and_stops_at_the_limit() -> None:
    assert calls(Limit(what="a run", tokens=3 * ONE), Silent(0, 0)) == 3
    judge = Budgeted(Silent(0, 0), (), max_output=100, price=PRICE)
    usage = judge.ask(question()).usage
    assert (usage.source, usage.calls) == ("approximate", 1)
    assert usage.total == ONE
    assert usage.cost_usd == PRICE.bound(ONE - 100, 100)


JUDGE = ("--judge", "anthropic")


@pytest.fixture
def counted(service: Service, repo: Path) -> Service:
    service.default = Act(used=None)
    config = repo / "memrepo.toml"
    config.write_text(config.read_text().replace("max_tokens = 1000", "max_tokens = 16000"))
    git(repo, "commit", "-qam", "configure", "--no-verify")
    return service


def grown(repo: Path, lines: int) -> None:
    text = "".join(f"- Vera planted tree number {n} in the north orchard.\n" for n in range(lines))
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + text)


@pytest.mark.parametrize("lines", [0, 10, 120])
def test_an_estimate_is_near_what_the_run_then_counts(
    counted: Service, repo: Path, lines: int
) -> None:
    grown(repo, lines)
    head = git(repo, "rev-parse", "HEAD")
    told: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate")
    assert git(repo, "rev-parse", "HEAD") == head
    assert counted.asked == []
    assert (told["status"], told["tokens"]["source"]) == ("estimate", "approximate")
    real: dict[str, Any] = done(repo, "run", *JUDGE)
    assert 0.5 <= told["tokens"]["total"] / real["tokens"]["total"] <= 2
    assert 0.5 <= told["cost_usd"] / real["cost_usd"] <= 2


def test_only_lines_that_no_run_has_taken_in_are_counted(counted: Service, repo: Path) -> None:
    done(repo, "run", *JUDGE)
    nothing: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate", now="2026-03-02T09:00:00Z")
    assert (nothing["questions"], nothing["cost_usd"]) == ({}, 0.0)
    growing(repo.parent / "workspace", 3)
    told: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate", now="2026-03-02T09:00:00Z")
    assert told["questions"]["promotion"] == 1


def test_a_limit_that_would_end_the_run_is_named(counted: Service, repo: Path) -> None:
    told = memrepo(repo, "run", *JUDGE, "--estimate", "--max-tokens", "100", as_json=False).out
    assert "a run may use 100 tokens, 0 are used: the rest would remain for later runs" in told
    assert "no judge was called, nothing was written" in told


def test_a_judge_that_costs_nothing_is_asked_for_nothing(repo: Path) -> None:
    told: dict[str, Any] = done(repo, "run", "--estimate")
    assert (told["status"], told["cost_usd"], told["questions"]) == ("estimate", 0.0, {})
