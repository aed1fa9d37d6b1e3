"""Locks of memrepo and git, and helpers for temporary and cached files."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.store.errors import CannotWork, Locked, StoreError

if TYPE_CHECKING:
    from memrepo.store.git import Repo


def scratch(folder: Path, prefix: str, data: bytes) -> Path:
    """Create a file that only its owner can read, write bytes to it, and return its path."""
    path = folder / f"{prefix}{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return path


_MIDDLE_OF = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
    "sequencer": "a sequence of picks",
}


def branch_of(name: str) -> str:
    """Return a full branch name unchanged. Raises CannotWork if it is empty (detached HEAD)."""
    if not name:
        raise CannotWork("detached")
    return name


def refuse_unfit(repo: Repo, branch: str, *, unmerged: bool) -> None:
    """Raise CannotWork during a merge or similar, in a shallow clone, or on a detached HEAD."""
    git_dir = repo.git_dir
    for name, what in _MIDDLE_OF.items():
        if (git_dir / name).exists():
            raise CannotWork("in-progress", what=what)
    if unmerged:
        raise CannotWork("unmerged")
    if (repo.common_dir / "shallow").exists():
        raise CannotWork("shallow")
    _refuse_second_checkout(repo, branch_of(branch))


def _refuse_second_checkout(repo: Repo, branch: str) -> None:
    """Raise CannotWork if another work tree uses the branch: its index would revert the write."""
    if not (repo.common_dir / "worktrees").exists():
        return
    listed = repo.call("worktree", "list", "--porcelain", "-z").split("\0")
    if listed.count(f"branch {branch}") > 1:
        raise CannotWork("second-checkout", branch=branch)


_PAUSE_S = 0.02
INDEX_WAIT_S = 5.0
"""Maximum wait in seconds for git's index lock, for example while branches are switched."""
_PROCESSES = Path("/proc")
_HARMLESS = (b"cat-file", b"fsmonitor--daemon")


def git_alive(repo: Repo) -> bool:
    """Return whether a git process is running in this repository. Without /proc, return False."""
    places = {repo.top, repo.git_dir, repo.common_dir}
    places = {place.resolve() for place in places}
    for process in _PROCESSES.glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() != "git":
                continue
            if any(word in (process / "cmdline").read_bytes() for word in _HARMLESS):
                continue
            where = (process / "cwd").readlink()
        except OSError:
            continue
        if places & {where, *where.parents}:
            return True
    return False


@contextmanager
def index_lock(git_dir: Path) -> Iterator[None]:
    """Run the block while holding git's index lock, so that no git process writes the index.

    Raises StoreError if the lock is not free in time. A process that dies leaves the lock file
    behind (`repo.drop_locks`).
    """
    path = git_dir / "index.lock"
    deadline = time.monotonic() + INDEX_WAIT_S
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            break
        except FileExistsError:
            if time.monotonic() >= deadline:
                raise StoreError("git-at-work", name=path.name, path=path) from None
            time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def lock(folder: Path, name: str, *, wait_s: float = 0.0) -> Iterator[int]:
    """Run the block while holding lock `name`. Raises Locked if the wait exceeds `wait_s` seconds.

    Yield the lock's descriptor: a child process that inherits the descriptor shares the lock until
    both have ended.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("a") as handle:
        if not lock_file(handle.fileno(), wait_s):
            raise Locked(name=name, after=f" after {wait_s:g} s" if wait_s else "")
        yield handle.fileno()


def lock_file(descriptor: int, wait_s: float) -> bool:
    """Lock an open file exclusively. Return False if the lock is not free in time."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Run the block with SIGINT and SIGTERM blocked, including in child git processes."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def keep_newest(folder: Path, pattern: str, count: int) -> None:
    """Delete the files that match a pattern, except for the `count` newest ones."""
    try:
        found = sorted(folder.glob(pattern), key=lambda path: (path.stat().st_mtime, path.name))
        for path in found[:-count]:
            path.unlink(missing_ok=True)
    except OSError:
        pass  # another process deletes files too: the next call retries
