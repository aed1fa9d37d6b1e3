"""What a hand, a clock or a broken tool does around a run is told, or stops it before it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import done, git, memories, memrepo, operations

from memrepo.actions.run import run as running

LATEST = "2026-03-01T11:10:00Z"
GAMMA = "- The server gamma rings the bells at noon.\n"


def news(repo: Path) -> None:
    """Write one more line into the workspace."""
    with (repo.parent / "workspace" / "MEMORY.md").open("a") as file:
        file.write(GAMMA)


def path_of(repo: Path, word: str) -> Path:
    (found,) = [m.path for m in memories(repo).values() if word in m.body]
    return repo / found


def committed(repo: Path) -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "by hand", "--no-verify")


def check(repo: Path, name: str) -> dict[str, object]:
    """Return one line of `doctor`."""
    (found,) = [c for c in memrepo(repo, "doctor").data["checks"] if c["name"] == name]
    return dict(found)


def test_a_branch_switched_meanwhile_receives_no_run(
    two_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    news(two_runs)
    git(two_runs, "branch", "topic")
    topic, first = git(two_runs, "rev-parse", "topic"), running.propose
    calls: list[int] = []

    def switching(*args: object, **kwargs: object) -> object:
        found = first(*args, **kwargs)  # type: ignore[arg-type]
        if not calls:
            git(two_runs, "switch", "-q", "topic")
        calls.append(1)
        return found

    monkeypatch.setattr(running, "propose", switching)
    answer = memrepo(two_runs, "run", now=LATEST)
    assert answer.exit == 5
    assert "switched from main to topic" in answer.error["message"]
    assert git(two_runs, "rev-parse", "topic") == topic
    assert operations(two_runs, "-1", "main") == ["ingest"]  # the next run reads the copies
    git(two_runs, "switch", "-q", "main")
    assert done(two_runs, "run", now=LATEST)["status"] == "ok"


def test_a_time_before_the_last_run_is_told(two_runs: Path) -> None:
    news(two_runs)
    answer = memrepo(two_runs, "run", now="2026-02-01T00:00:00Z", as_json=False)
    assert answer.exit == 0
    assert "time-before-last-run" in answer.out + answer.err
    assert "2026-02-01T00:00:00Z" in answer.out + answer.err


def test_that_all_memories_were_removed_by_hand_is_told(two_runs: Path) -> None:
    assert check(two_runs, "runs")["ok"]
    git(two_runs, "rm", "-rq", "memories")
    git(two_runs, "commit", "-qm", "away with it", "--no-verify")
    assert "no memory is left" in str(check(two_runs, "runs")["message"])
    assert not check(two_runs, "runs")["ok"]


def test_two_files_swapped_by_hand_are_worded_by_nobody_anew(two_runs: Path) -> None:
    one, other = path_of(two_runs, "alpha"), path_of(two_runs, "beta")
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    committed(two_runs)
    done(two_runs, "run", now=LATEST)
    assert "edit" not in operations(two_runs)
    assert not check(two_runs, "rules")["ok"]
    stamps = {m.stamp.by for m in memories(two_runs).values()}
    assert all(by.startswith("memrepo/") for by in stamps)
