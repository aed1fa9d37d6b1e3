"""What is told of runs: events, report, record; and that none of it fails a run."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from driving import NOW, done, git, memrepo
from mornings import MORNING, waiting
from test_schedule import configure

from memrepo.actions.run.record import Result, chat

WINDOW = "2026-03-03T21:00:00Z"  # Wednesday 05:00 in Manila, a quarter before a reconciliation


def events(folder: Path) -> list[dict[str, Any]]:
    """Return the events of a telemetry folder, oldest day first."""
    logs = sorted(folder.glob("memory-log-*.jsonl"))
    return [json.loads(line) for log in logs for line in log.read_text().splitlines()]


def told(repo: Path) -> list[tuple[str, str]]:
    found = events(repo / ".memrepo" / "telemetry")
    return [(event["event"], event["status"]) for event in found]


def report(repo: Path) -> str:
    return (repo / ".memrepo" / "telemetry" / "memrepo" / "last-run.md").read_text()


def record(repo: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo / ".memrepo" / "last-run.json").read_text())
    return found


def test_a_skip_says_when_the_next_run_is(small_repo: Path) -> None:
    data = done(small_repo, "run")
    assert data["status"] == "skipped"
    assert told(small_repo)[-1] == ("run_skipped", "skipped")
    assert "- next: Sun 2026-03-01 17:15 Asia/Manila, incremental-2" in report(small_repo)


def scheduled(repo: Path) -> None:
    """Say that a schedule was installed in this clone."""
    git(repo, "config", "memrepo.schedule.by", "launcher")


def test_a_failure_is_told_kept_and_shown_until_a_run_succeeds(small_repo: Path) -> None:
    (small_repo.parent / "workspace").rename(small_repo.parent / "gone")
    for _ in range(2):
        assert memrepo(small_repo, "run").exit == 3
    assert told(small_repo)[-2:] == [("run_started", "started"), ("run_failed", "failed")]
    assert "- failed: " in report(small_repo)
    assert "- try: " in report(small_repo)
    failed = done(small_repo, "status")["schedule"]["failed"]
    assert (failed["times"], failed["at"]) == (2, NOW)
    assert "the last 2 runs failed" in memrepo(small_repo, "status", as_json=False).out
    (warning,) = done(small_repo, "session", "start")["warnings"]
    assert "the last 2 runs failed" in warning
    assert memrepo(small_repo, "doctor").exit == 1
    # A run that gives way to a reconciliation has not proved anything.
    scheduled(small_repo)
    assert done(small_repo, "run", now=WINDOW)["status"] == "skipped_superseded"
    assert record(small_repo)["failed"]["times"] == 2
    (small_repo.parent / "gone").rename(small_repo.parent / "workspace")
    done(small_repo, "run")
    assert done(small_repo, "status")["schedule"]["failed"] is None


# -- where it goes ---------------------------------------------------------------------------------


def test_what_a_chat_is_told_of_a_failure_is_one_line_and_what_mends_it() -> None:
    failed = Result(
        mode="incremental", status="failed", why="the model\u200b\nsaid no", fix="ask again"
    )
    assert chat(failed, enabled=True, mode="full").split("\n") == [
        "memrepo: failed: the model said no",
        "ask again",
    ]


def test_a_log_that_cannot_be_written_is_a_warning_and_the_run_lands(fresh_repo: Path) -> None:
    (fresh_repo / ".memrepo").write_text("in the way")
    answer = memrepo(fresh_repo, "run", as_json=False)
    assert answer.exit == 0
    assert answer.err.count("telemetry-unwritable") == 1
    assert len(list((fresh_repo / "runs").rglob("*.json"))) == 1


# -- chat ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "lines"),
    [
        ("", (), range(3, 40)),
        ("mode = 'summary'", (), range(1, 2)),
        ("mode = 'silent'", (), range(1)),
        ("mode = 'silent'", ("--report", "full"), range(3, 40)),
    ],
)
def test_a_run_prints_as_much_as_asked_for_or_configured(
    fresh_repo: Path, text: str, options: tuple[str, ...], lines: range
) -> None:
    configure(fresh_repo, f"[reporting]\n{text}")
    answer = memrepo(fresh_repo, "run", *options, as_json=False)
    assert len(answer.out.splitlines()) in lines


def test_an_interrupted_run_is_told_as_failed(fresh_repo: Path) -> None:
    judge = [sys.executable, "-c", "import os, signal; os.kill(os.getppid(), signal.SIGINT)"]
    git(fresh_repo, "config", "memrepo.judge.command", shlex.join(judge))
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run(
        [sys.executable, "-m", "memrepo", "--now", NOW, "run", "--judge", "command"],
        cwd=fresh_repo,
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        # A job that a shell put in the background inherits an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert ran.returncode == 130, ran.stderr
    assert told(fresh_repo) == [("run_started", "started"), ("run_failed", "failed")]
    assert record(fresh_repo)["failed"]["error"] == "interrupted"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("MEMORY.md", "Decision: we moved the office to Cebu."),
        ("memory/2026-02-01.md", "Walked the dog."),
    ],
)
def test_a_stranger_reads_the_first_run(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / "ws/memory").mkdir(parents=True)
    (tmp_path / "ws" / name).write_text(f"# Memory\n\n- {line}\n", encoding="utf-8")
    done(tmp_path, "init", "repo", "--from", "ws")
    text = memrepo(tmp_path / "repo", "run", as_json=False).out
    assert "of them new" not in text, "all are: another line need not say so"
    if name == "MEMORY.md":
        log = git(tmp_path / "repo", "log", "--format=%s")
        assert "Add decision: we moved the office to Cebu." in log
        assert f"  {line} (decision, MEMORY.md:3)" in text
    else:
        assert "finds all of them" in text
        assert "these lines" not in text


def test_the_exit_code_of_status_says_whether_something_needs_a_person(tmp_path: Path) -> None:
    repo = waiting(tmp_path) / "repo"
    (need,) = done(repo, "status", now=MORNING)["needs"]
    assert "waits for review: a reconciliation is reviewed" in need
    assert memrepo(repo, "status", "--exit-code", now=MORNING).exit == 1
    done(repo, "accept", now=MORNING)
    assert memrepo(repo, "status", "--exit-code", now=MORNING).exit == 0
