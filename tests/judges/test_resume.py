"""A run that broke off is gone on with: what was answered is not asked, or paid for, again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, assert_sound, done, git, memories, memrepo
from serving import Act, Service, evidence
from test_command import GOOD, program
from workspaces import growing

JUDGE = ("--judge", "anthropic")


COST = 100 * 2.0 + 50 * 10.0 + 20 * 2.5 + 10 * 0.1
"""Of one question, in millionths of a US dollar."""


def trees(repo: Path, count: int) -> None:
    """Write a workspace of so many lines to be judged."""
    text = "".join(f"- Vera planted tree number {n} in the north orchard.\n" for n in range(count))
    (repo.parent / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n{text}")


def planted(repo: Path) -> set[str]:
    return {m.body.strip() for m in memories(repo).values() if "planted tree" in m.body}


def asked(service: Service) -> list[tuple[str, list[str]]]:
    """Return what each request asked about: its pass, and the ids of its items."""
    found = []
    for question in service.questions():
        held = evidence(question)
        if not held.keys() & {"candidates", "clusters"}:
            continue  # whether two statements contradict each other: asked of pairs, anew
        rows, key = (
            (held["candidates"], "candidate_id")
            if "candidates" in held
            else (held["clusters"], "cluster_id")
        )
        found.append((key.partition("_")[0], [row[key] for row in rows]))
    return found


def kept(repo: Path) -> list[Path]:
    return sorted((repo / ".git" / "memrepo" / "kept").glob("*"))


def manifest(repo: Path) -> dict[str, Any]:
    return json.loads(max((repo / "runs").rglob("*.json")).read_text())


def killed(repo: Path, service: Service, after: int) -> list[tuple[str, list[str]]]:
    """Run in a process of its own, kill it while it waits for a further answer; return what was."""
    service.script = [*[Act()] * after, Act(silent=True)]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "memrepo",
            "-C",
            str(repo),
            "--now",
            "2026-03-01T09:00:00Z",
            "run",
            *JUDGE,
        ],
        env=dict(os.environ),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(service.asked) <= after:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = asked(service)[:after]
    service.asked.clear()
    service.script = []
    return before


@pytest.mark.parametrize("after", [1, 2, 4], ids=["pass 1", "pass 1 whole", "pass 2"])
def test_a_killed_run_is_gone_on_with_and_pays_for_no_answer_twice(
    service: Service, repo: Path, after: int
) -> None:
    trees(repo, 70)
    before = killed(repo, service, after)
    assert planted(repo) == set()
    (path,) = kept(repo)
    assert done(repo, "status")["broken_off"] == [path.stem]
    assert path.stem in memrepo(repo, "status", as_json=False).out
    answer = memrepo(repo, "run", "--resume", now=LATER)
    assert (answer.exit, answer.data["status"]) == (0, "ok")
    assert len(planted(repo)) == 70
    items = [(kind, id_) for kind, ids in (*before, *asked(service)) for id_ in ids]
    assert len(items) == len(set(items))
    assert answer.data["reused"] == sum(len(ids) for _, ids in before)
    assert not path.exists()
    spent = manifest(repo)
    calls = after + len(service.asked)
    assert spent["calls"] == calls
    assert spent["cost_usd"] == pytest.approx(calls * COST / 1e6)
    assert_sound(repo)


def test_a_plain_run_uses_what_was_paid_for_too_and_lands_the_same(
    service: Service, repo: Path
) -> None:
    trees(repo, 70)
    before = killed(repo, service, 2)
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + "- Vera sold the old tractor to Holt.\n")
    answer = memrepo(repo, "run", *JUDGE, now=LATER)
    assert answer.exit == 0
    assert len(planted(repo)) == 70
    told = {id_ for kind, ids in before for id_ in ids if kind == "candidate"}
    again = [id_ for kind, ids in asked(service) for id_ in ids if kind == "candidate"]
    assert len(again) == 1
    assert told.isdisjoint(again)


def test_verdicts_whose_claims_never_came_are_not_asked_for_again(
    service: Service, repo: Path
) -> None:
    trees(repo, 30)
    service.script = [Act(), Act(status=401)]
    answer = memrepo(repo, "run", *JUDGE)
    assert answer.exit == 4
    name = answer.data["resume"]
    first = manifest(repo)
    assert first["calls"] == 1
    service.asked.clear()
    service.script = []
    again = memrepo(repo, "run", "--resume", name, now=LATER)
    assert again.exit == 0
    assert {kind for kind, _ in asked(service)} == {"cluster"}
    assert len(planted(repo)) == 30
    total = sum(json.loads(p.read_text())["calls"] for p in (repo / "runs").rglob("*.json"))
    assert total == 1 + len(service.asked)  # no call is on two receipts
    assert kept(repo) == []


def test_a_reconciliation_is_gone_on_with_as_one(service: Service, repo: Path) -> None:
    trees(repo, 50)
    done(repo, "run", *JUDGE)
    service.script = [Act(), Act(status=401)]
    assert memrepo(repo, "run", *JUDGE, "--mode", "reconciliation", now=LATER).exit == 4
    assert memrepo(repo, "run", "--resume", "--mode", "incremental", now=LATER).exit == 2
    assert memrepo(repo, "run", "--resume", "--judge", "offline", now=LATER).exit == 2
    answer = memrepo(repo, "run", "--resume", now=LATER)
    assert answer.data["mode"] == "reconciliation"
    assert answer.data["reused"] > 0


@pytest.mark.parametrize("argv", [["--resume"], ["--resume", "20260101T000000Z-0badc0de"]])
def test_nothing_to_go_on_with_is_an_error_that_says_what_to_do(
    service: Service, repo: Path, argv: list[str]
) -> None:
    answer = memrepo(repo, "run", *argv)
    assert answer.exit == 2
    assert "no interrupted run" in answer.error["message"]
    assert "`memrepo run`" in answer.error["fix"]
    assert service.asked == []


def test_a_torn_line_costs_its_own_question_only(service: Service, repo: Path) -> None:
    trees(repo, 70)
    before = killed(repo, service, 2)
    (path,) = kept(repo)
    path.write_bytes(path.read_bytes()[:-20])
    answer = memrepo(repo, "run", "--resume", now=LATER)
    assert answer.exit == 0
    assert answer.data["reused"] == len(before[0][1])
    assert len(planted(repo)) == 70


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return a repository that has not run, one that ran live, and the recordings."""
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    shutil.copytree(tmp_path / "repo", tmp_path / "live", symlinks=True)
    git(tmp_path / "live", "config", "memrepo.workspace", str(tmp_path / "workspace"))
    git(tmp_path / "live", "config", "memrepo.judge.command", str(program(tmp_path / "j", GOOD)))
    done(tmp_path / "live", "run", "--judge", "command", "--record", tmp_path / "kept")
    return tmp_path / "repo", tmp_path / "live", tmp_path / "kept"


def test_a_replay_gives_the_memories_of_the_live_run(recorded: tuple[Path, Path, Path]) -> None:
    repo, live, kept = recorded
    data = done(repo, "run", "--replay", kept)
    assert (data["status"], data["tokens"]["source"], data["cost_usd"]) == ("ok", "unavailable", 0)
    for folder in ("memories", "views"):
        of = ("rev-parse", f"HEAD:{folder}")
        assert git(repo, *of) == git(live, *of)
    assert "Memrepo-Cost" not in git(repo, "log", "-1", "--format=%B")
    assert_sound(repo)


def test_every_answer_is_kept_with_its_question(recorded: tuple[Path, Path, Path]) -> None:
    records = [json.loads(path.read_text()) for path in recorded[2].iterdir()]
    assert sorted(r["pass"] for r in records) == ["promotion", "purifier"]
    assert all("<<<data" in r["question"] and r["answer"] for r in records)


def test_a_missing_recording_loses_nothing(recorded: tuple[Path, Path, Path]) -> None:
    repo, _, kept = recorded
    for path in kept.iterdir():
        if json.loads(path.read_text())["pass"] == "purifier":
            path.unlink()
    git(repo, "config", "memrepo.judge.recordings", str(kept))
    answer = memrepo(repo, "run", "--judge", "replay")
    assert (answer.exit, answer.data["status"]) == (4, "partial")
    assert "no recorded answer" in answer.data["partial"]
    assert_sound(repo)


@pytest.mark.parametrize("damage", ["", "[]", "{}", "not json"])
def test_a_damaged_recording_is_a_failed_judge(
    recorded: tuple[Path, Path, Path], damage: str
) -> None:
    repo, _, kept = recorded
    for path in kept.iterdir():
        path.write_text(damage)
    answer = memrepo(repo, "run", "--replay", kept)
    assert answer.exit == 4
    assert "not a recorded answer" in answer.data["partial"]


@pytest.mark.parametrize(
    "options",
    [
        ["--judge", "offline", "--record", "x"],
        ["--judge", "replay"],
        ["--replay", "nowhere"],
        ["--judge", "offline", "--replay", "x"],
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: list[str]) -> None:
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    assert memrepo(tmp_path / "repo", "run", *options).exit == 2
