"""Locks: one run at a time, short waits for writers, and the kernel cleans up after the dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import driving
import pytest
import standing

from memrepo.core.errors import Exit
from memrepo.store.repo import open_repository

HOLDER = """
import sys
from pathlib import Path
from memrepo.store.git import lock
with lock(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held(folder: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold a lock until its standard input closes or it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_run_gives_up_at_once(repo: Path) -> None:
    before = standing.prints(repo)
    with held(repo / ".git" / "memrepo", "run"):
        answer = driving.memrepo(repo, "run", now=driving.LATER)
    assert answer.exit == 6
    assert "run lock" in answer.error["message"]
    assert standing.prints(repo) == before


def test_a_write_waits_for_another_to_end(repo: Path) -> None:
    with held(repo / ".git" / "memrepo", "write") as holder:
        assert holder.stdin is not None
        timer = threading.Timer(0.3, holder.stdin.close)
        timer.start()
        assert driving.done(repo, "ingest", now=driving.LATER)["commit"]
        timer.join()


@pytest.mark.parametrize("argv", [("ingest",), ("run",)])
def test_a_command_that_waited_long_enough_for_the_write_lock_gives_up(
    repo: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]
) -> None:
    monkeypatch.setattr("memrepo.store.repo.WRITE_WAIT_S", 0.2)
    before = standing.prints(repo)
    with held(repo / ".git" / "memrepo", "write"):
        answer = driving.memrepo(repo, *argv, now=driving.LATER)
    assert answer.exit == Exit.LOCKED
    assert "write lock after 0.2 s" in answer.error["message"]
    assert standing.prints(repo) == before
    driving.done(repo, *argv, now=driving.LATER)


@pytest.mark.parametrize(("argv", "name"), [(("run",), "run"), (("ingest",), "write")])
def test_work_trees_of_one_repository_share_the_locks(
    repo: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], name: str
) -> None:
    monkeypatch.setattr("memrepo.store.repo.WRITE_WAIT_S", 0.1)
    side = repo.parent / "side"
    driving.git(repo, "worktree", "add", "-q", "-b", "side", str(side))
    with open_repository(repo) as here, open_repository(side) as there:
        assert there.folder.resolve() == here.folder.resolve()
        with held(here.folder, name):
            answer = driving.memrepo(side, *argv, now=driving.LATER)
    assert answer.exit == Exit.LOCKED
    assert f"{name} lock" in answer.error["message"]


def test_a_run_goes_on_where_another_was_killed(repo: Path) -> None:
    folder, head = repo / ".git" / "memrepo", driving.git(repo, "rev-parse", "HEAD")
    with held(folder, "run") as runs, held(folder, "write") as writes:
        for holder in (runs, writes):
            os.kill(holder.pid, signal.SIGKILL)
            holder.wait()
        driving.done(repo, "run", now=driving.LATER)
    assert driving.git(repo, "rev-parse", "HEAD") != head
