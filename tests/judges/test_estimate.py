"""What a run would ask is estimated before it asks, within a factor of two of what it then is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import done, git, memrepo
from serving import Act, Service
from workspaces import growing

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
