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
from memrepo.store.lock import Locked, lock

HOLDER = """
import sys
from pathlib import Path
from memrepo.store.lock import lock
with lock(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held(folder: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold a lock until its standard input closes or it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).resolve().parents[2],
    ) as process:  # fmt: skip
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
    assert answer.exit == Exit.LOCKED == 6
    assert "run lock" in answer.error["message"]
    assert standing.prints(repo) == before


def test_a_write_waits_for_another_to_end(repo: Path) -> None:
    with held(repo / ".git" / "memrepo", "write") as holder:
        assert holder.stdin is not None
        timer = threading.Timer(0.3, holder.stdin.close)
        timer.start()
        assert driving.done(repo, "ingest", now=driving.LATER)["commit"]
        timer.join()


def test_a_write_that_waited_long_enough_gives_up(tmp_path: Path) -> None:
    said = pytest.raises(Locked, match=r"write lock after 0\.1 s")
    with held(tmp_path, "write"), said, lock(tmp_path, "write", wait_s=0.1):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with held(tmp_path, "run") as holder:
        with pytest.raises(Locked), lock(tmp_path, "run"):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        with lock(tmp_path, "run"):
            pass


def test_a_child_that_inherits_the_lock_holds_it_on(tmp_path: Path) -> None:
    with lock(tmp_path, "write") as descriptor:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(descriptor,))
    with pytest.raises(Locked), lock(tmp_path, "write"):
        pass
    child.communicate()
    with lock(tmp_path, "write"):
        pass


def test_locks_of_different_names_are_different(tmp_path: Path) -> None:
    with lock(tmp_path, "run"), lock(tmp_path, "write"):
        pass


def test_a_lock_is_free_after_an_exception(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock(tmp_path, "run"):
        raise ZeroDivisionError
    with lock(tmp_path, "run"):
        pass
