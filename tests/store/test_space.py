"""No room and no right to write: a clear answer, and the old state."""

from __future__ import annotations

import ctypes
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import standing
from driving import LATER, assert_sound, done

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def no_override() -> None:
    """Make file modes count for root too, as they do for everybody else."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def memrepo(repo: Path, *argv: str, first: Callable[[], None]) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own that `first` takes something from."""
    return subprocess.run(
        [sys.executable, "-m", "memrepo", "-C", str(repo), "--now", LATER, *argv],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=first,
    )


def no_room() -> None:
    """Let no file grow beyond a few bytes: what a full disk does, without filling one."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))


@pytest.mark.parametrize("command", ["run", "ingest"])
def test_a_full_disk_is_told_and_nothing_changes(repo: Path, command: str) -> None:
    before = standing.prints(repo)
    answer = memrepo(repo, command, first=no_room)
    assert answer.returncode == 5, answer.stderr
    assert "a bug" not in answer.stderr
    assert standing.prints(repo) == before
    done(repo, "run", now=LATER)
    assert_sound(repo)
    assert standing.left_behind(repo) == []


def test_a_folder_that_may_not_be_written_is_told_and_nothing_changes(repo: Path) -> None:
    modes = {p: p.stat().st_mode for p in (repo, *repo.rglob("*")) if not p.is_symlink()}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    before = standing.prints(repo)
    answer = memrepo(repo, "run", first=no_override)
    after = standing.prints(repo)
    for path, mode in modes.items():
        path.chmod(mode)
    assert answer.returncode == 5, answer.stderr
    assert "a bug" not in answer.stderr
    assert after == before
    done(repo, "run", now=LATER)
    assert_sound(repo)
