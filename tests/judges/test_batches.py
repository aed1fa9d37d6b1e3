"""Message Batches over HTTP, with the real SDK: half the price, and nothing is ever sent twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, git, memories, memrepo
from serving import USED, Service, evidence, question_of
from workspaces import growing

LATER, THIRD = "2026-03-02T11:00:00Z", "2026-03-03T11:00:00Z"
JUDGE = ("run", "--judge", "anthropic")
CALL = (100 * 2.0 + 50 * 10.0 + 20 * 2.5 + 10 * 0.1) / 1e6
"""What one question costs when it is asked at once, in US dollars."""


@pytest.fixture
def batched(service: Service, repo: Path) -> Service:
    """Let first runs and reconciliations ask by batches, and wait for none."""
    configure(repo, 'batches = "wide"', "batch_wait_s = 0.001", "max_retries = 0")
    return service


def configure(repo: Path, *lines: str) -> None:
    path = repo / "memrepo.toml"
    text = path.read_text().split("\n[judge]")[0]
    path.write_text("\n".join([text, "[judge]", *lines, ""]))
    git(repo, "commit", "-qam", "configure", "--no-verify")


def planted(repo: Path, count: int) -> None:
    text = "".join(f"- Vera planted tree number {n} in the north orchard.\n" for n in range(count))
    (repo.parent / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n{text}")


def trees(repo: Path) -> int:
    return sum("planted tree" in m.body for m in memories(repo).values())


def run(repo: Path, now: str = "2026-03-01T09:00:00Z", *more: str) -> Any:
    return memrepo(repo, *JUDGE, *more, now=now)


def items(service: Service) -> list[str]:
    """Return the ids of all items that went out in batches; there are some."""
    found = []
    for rows in service.batches.values():
        for row in rows:
            held = evidence(question_of(row["params"])) if row["params"] else {}
            found += [one["candidate_id"] for one in held.get("candidates", ())]
            found += [one["cluster_id"] for one in held.get("clusters", ())]
    assert found
    return found


def cost(repo: Path) -> float:
    """Return what all runs on record have cost."""
    return sum(json.loads(p.read_text())["cost_usd"] for p in (repo / "runs").rglob("*.json"))


def test_a_first_run_asks_by_batches_at_half_the_price(batched: Service, repo: Path) -> None:
    planted(repo, 60)
    answer = run(repo)
    assert (answer.exit, answer.data["status"]) == (0, "ok")
    assert trees(repo) == 60
    assert batched.asked == []
    questions = sum(map(len, batched.batches.values()))
    assert answer.data["cost_usd"] == pytest.approx(CALL * questions / 2)
    assert cost(repo) == answer.data["cost_usd"]
    params = batched.batches["msgbatch_0"][0]["params"]
    assert params["output_config"]["format"]["schema"]["required"] == ["verdicts"]
    assert not list((repo / ".git" / "memrepo").glob("batches*"))
    assert_sound(repo)


def test_a_later_small_run_asks_at_once(batched: Service, repo: Path) -> None:
    assert run(repo).exit == 0
    sent = len(batched.batches)
    growing(repo.parent / "workspace", 1)
    assert run(repo, LATER).exit == 0
    assert len(batched.batches) == sent
    assert batched.asked


def test_what_is_not_answered_yet_is_taken_by_the_next_run_whatever_came_beside_it(
    batched: Service, repo: Path
) -> None:
    planted(repo, 60)
    batched.looks = 3
    answer = run(repo)
    assert answer.exit == 4
    assert "msgbatch_0: 2 questions being answered" in answer.data["partial"]
    assert trees(repo) == 0
    assert memrepo(repo, "status").data["batches"] == [
        "batch msgbatch_0: 2 questions being answered"
    ]
    again = run(repo, LATER)
    assert (again.exit, len(batched.batches)) == (4, 1)
    planted(repo, 62)  # two lines more make other questions of the same items
    batched.looks = 0
    done = run(repo, THIRD)
    assert (done.exit, trees(repo)) == (0, 62)
    sent = items(batched)
    assert len(sent) == len(set(sent))
    assert memrepo(repo, "status").data["batches"] == []
    assert_sound(repo)


@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_batch_whose_arrival_nobody_knows_is_looked_for_and_not_sent_twice(
    batched: Service, repo: Path, dies: str
) -> None:
    batched.batches["msgbatch_of_others"] = [{"custom_id": "x", "params": {}}]
    batched.dies = dies
    answer = run(repo)
    for now in (LATER, THIRD):
        if answer.exit:
            answer = run(repo, now)
    assert answer.exit == 0
    sent = items(batched)
    assert len(sent) == len(set(sent))
    assert cost(repo) == pytest.approx(CALL * (sum(map(len, batched.batches.values())) - 1) / 2)
    assert_sound(repo)


def test_a_run_that_is_killed_between_sending_and_noting_sends_nothing_twice(
    batched: Service, repo: Path
) -> None:
    code = """
import os, sys
from memrepo.store.batches import BatchJournal
BatchJournal.sent = lambda *_: os._exit(9)
from memrepo.faces.cli import main
sys.exit(main(sys.argv[1:]))
"""
    at = ("-C", str(repo), "--now", "2026-03-01T09:00:00Z")
    killed = subprocess.run(
        [sys.executable, "-c", code, *at, *JUDGE], env=os.environ, capture_output=True, check=False
    )
    assert killed.returncode == 9
    assert len(batched.batches) == 1
    answer = run(repo, LATER)
    assert answer.exit == 0
    sent = items(batched)
    assert len(sent) == len(set(sent))
    assert_sound(repo)


@pytest.mark.parametrize(("fate", "live"), [("errored", True), ("expired", False)])
def test_what_a_batch_did_not_answer_is_asked_again_and_nothing_is_lost(
    batched: Service, repo: Path, fate: str, live: bool
) -> None:
    planted(repo, 60)
    batched.fates = [fate]
    answer = run(repo)
    if answer.exit:
        answer = run(repo, LATER)
    assert (answer.exit, trees(repo)) == (0, 60)
    assert bool(batched.asked) is live
    assert_sound(repo)


@pytest.mark.parametrize("status", [400, 401, 429, 529])
def test_a_batch_that_is_refused_is_sent_by_a_later_run(
    batched: Service, repo: Path, status: int
) -> None:
    batched.refuses = status
    answer = run(repo)
    assert answer.exit == 4
    assert f"HTTP {status}" in answer.data["partial"]
    assert memrepo(repo, "status").data["batches"] == []
    assert run(repo, LATER).exit == 0
    assert_sound(repo)


def test_a_limit_holds_for_a_batch_as_a_whole(batched: Service, repo: Path) -> None:
    planted(repo, 200)
    answer = run(repo, "2026-03-01T09:00:00Z", "--max-usd", "0.01")
    assert answer.exit == 4
    assert "a run may cost 0.01 USD" in answer.data["partial"]
    assert batched.batches == {}


def test_answers_of_a_batch_are_paid_for_once_though_the_run_that_took_them_died(
    batched: Service, repo: Path
) -> None:
    planted(repo, 60)
    batched.looks = 2
    assert run(repo).exit == 4
    batched.looks = 0
    assert run(repo, LATER).exit == 0
    assert cost(repo) == pytest.approx(CALL * sum(map(len, batched.batches.values())) / 2)
    assert USED["output_tokens"] == 50
