"""Locks that the kernel frees when their process dies: `run` and `write` (docs/git-model.md)."""

from __future__ import annotations

import fcntl
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memrepo.core.errors import Exit, MemrepoError

_PAUSE_S = 0.05


class Locked(MemrepoError):
    """Another memrepo process holds the lock."""

    exit_code = Exit.LOCKED

    def __init__(self, name: str, waited_s: float) -> None:
        after = f" after {waited_s:g} s" if waited_s else ""
        super().__init__(
            f"another memrepo process holds the {name} lock{after}",
            fix="wait until it ends; a lock of a process that died is freed by itself",
        )


@contextmanager
def lock(folder: Path, name: str, *, wait_s: float = 0.0) -> Iterator[int]:
    """Hold the lock `name` in a folder; raises Locked when it is not free within `wait_s`.

    Yields its descriptor: a process that inherits it holds the lock too, until both are gone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + wait_s
    with (folder / f"{name}.lock").open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise Locked(name, wait_s) from None
                time.sleep(_PAUSE_S)
        yield handle.fileno()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM, here and in the git process, while files are written."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
