"""What a run would ask is estimated before it asks, within a quarter of what it then is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from driving import done, git, memrepo
from serving import Act, Service, good
from workspaces import growing

from memrepo.actions.run import estimate
from memrepo.actions.run.judge_choice import Choice
from memrepo.actions.work import Call, Work
from memrepo.core.times import parse_time

JUDGE = ("--judge", "anthropic")


def in_other_words(question: str) -> str:
    """Answer as one should, with each line in other words."""
    found = json.loads(good(question))
    for claim in found.get("claims", ()):
        claim["wording"]["text"] = f"In short: {claim['wording']['text']}"
    return json.dumps(found)


COUNTED = Act(used=None, answer=in_other_words)
"""Answers with four bytes a token."""


def files_of(repo: Path) -> dict[str, bytes]:
    """Return all that lies in a repository, git's own files included."""
    found = {p.relative_to(repo).as_posix(): p for p in sorted(repo.rglob("*")) if p.is_file()}
    # Any command notes there which commit it found valid.
    return {name: p.read_bytes() for name, p in found.items() if name != ".git/memrepo/validated"}


@pytest.fixture
def counted(service: Service, repo: Path) -> Service:
    service.default = COUNTED
    config = repo / "memrepo.toml"
    config.write_text(config.read_text().replace("max_tokens = 1000", "max_tokens = 16000"))
    git(repo, "commit", "-qam", "configure", "--no-verify")
    return service


def close(told: dict[str, Any], real: dict[str, Any], asked: int) -> bool:
    ratios = [
        told["tokens"]["total"] / real["tokens"]["total"],
        told["cost_usd"] / real["cost_usd"],
        sum(told["questions"].values()) / asked,
    ]
    return all(0.8 <= ratio <= 1.25 for ratio in ratios)


@pytest.mark.parametrize("lines", [0, 10, 120])
def test_an_estimate_is_near_what_the_run_then_counts(
    counted: Service, repo: Path, lines: int
) -> None:
    text = "".join(f"- Vera planted tree number {n} in the north orchard.\n" for n in range(lines))
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + text)
    before = files_of(repo)
    told: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate")
    assert files_of(repo) == before
    assert counted.asked == []
    assert told["status"] == "estimate"
    assert told["tokens"]["source"] == "approximate"
    real: dict[str, Any] = done(repo, "run", *JUDGE)
    assert close(told, real, len(counted.asked))


def test_a_later_run_is_foreseen_with_the_memories_it_is_shown(
    counted: Service, repo: Path
) -> None:
    done(repo, "run", *JUDGE)
    growing(repo.parent / "workspace", 3)
    later = "2026-03-02T09:00:00Z"
    told: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate", now=later)
    counted.asked.clear()
    assert close(told, done(repo, "run", *JUDGE, now=later), len(counted.asked))
    nothing: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate", now="2026-03-02T10:00:00Z")
    assert (nothing["questions"], nothing["cost_usd"]) == ({}, 0.0)


def test_answers_that_were_paid_for_are_not_foreseen_again(counted: Service, repo: Path) -> None:
    done(repo, "ingest")
    whole: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate")
    done(repo, "run", *JUDGE, "--dry-run")
    rest: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate")
    assert whole["questions"]["promotion"] == 1
    assert "promotion" not in rest["questions"]


def test_doctor_computes_no_large_run_and_is_within_twice_of_what_it_would_ask(
    counted: Service, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "ash birch cedar fir holly larch maple oak pine rowan spruce willow yew".split()
    kinds = [f"{a} from {b}" for a in words for b in words]
    text = "".join(f"- Bed {n} holds {kind} since {1800 + n}.\n" for n, kind in enumerate(kinds))
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + text)
    monkeypatch.setattr(estimate, "FEW", 100)
    told = roughly(repo)
    assert f"reads {len(kinds) + 10} new lines" in told
    whole: dict[str, Any] = done(repo, "run", *JUDGE, "--estimate")
    tokens = int(re.findall(r"(\d+) tokens", told)[0])
    assert 0.5 <= tokens / whole["tokens"]["total"] <= 2
    monkeypatch.setattr(estimate, "propose", None)  # what computes a run
    assert roughly(repo) == told
    assert counted.asked == []


def roughly(repo: Path) -> str:
    """Return what doctor says of the judge."""
    with Work(Call(where=repo, now=parse_time("2026-03-01T09:00:00Z"))) as work:
        return estimate.roughly(work, Choice(judge="anthropic", now=work.call.now))


def test_a_limit_that_would_end_the_run_is_named(counted: Service, repo: Path) -> None:
    told = memrepo(repo, "run", *JUDGE, "--estimate", "--max-tokens", "100", as_json=False).out
    assert "a run may use 100 tokens, 0 are used: the rest would wait" in told
    assert "nothing was asked or written" in told


def test_a_judge_that_costs_nothing_is_asked_for_nothing(repo: Path) -> None:
    told: dict[str, Any] = done(repo, "run", "--estimate")
    assert (told["status"], told["cost_usd"], told["questions"]) == ("estimate", 0.0, {})
