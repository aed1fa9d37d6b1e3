"""The files that tell of runs: the shared event log, and records of the last run.

The log is appended to by other programs too: one line is one `write` under an exclusive lock on a
descriptor in append mode. Every function raises OSError, which its callers turn into a warning.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from memrepo.store.lock import scratch

_WAIT_S = 2.0
_PAUSE_S = 0.02


def append(folder: Path, day: date, record: Mapping[str, object], *, within: Path | None) -> Path:
    """Append one event to a day's log, `memory-log-YYYY-MM-DD.jsonl`, and return its path.

    `within` is the work tree when the folder lies in it: no link on the way is followed then.
    """
    path = folder / f"memory-log-{day.isoformat()}.jsonl"
    _refuse_links(path, within)
    folder.mkdir(parents=True, exist_ok=True)
    line = json.dumps(record, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags | (os.O_NOFOLLOW if within else 0), 0o644)
    try:
        _lock(descriptor, path)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line  # another writer was cut short: its line must not swallow ours
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
    return path


def _lock(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise OSError(errno.EAGAIN, "another program holds its lock", str(path)) from error
            time.sleep(_PAUSE_S)
        else:
            return


def put(path: Path, text: str, *, within: Path | None) -> None:
    """Write a file whole: whoever reads it sees the old text or the new one."""
    _refuse_links(path, within)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = scratch(path.parent, f".{path.name}.", text.encode("utf-8", "replace"))
    try:
        new.chmod(0o644)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def load(path: Path, *, within: Path | None) -> dict[str, object]:
    """Read a JSON object; a missing, damaged or linked file is an empty one."""
    try:
        _refuse_links(path, within)
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _refuse_links(path: Path, within: Path | None) -> None:
    """Follow no link of a work tree: a clone may carry one that leads out of it."""
    if within is None:
        return
    for part in (path, *path.parents):
        if part == within:
            return
        if part.is_symlink():
            raise OSError(errno.ELOOP, "a symlink is not followed", str(part))
    raise OSError(errno.EXDEV, f"it does not lie in {within}", str(path))


def dumped(record: Mapping[str, object]) -> str:
    """Spell a record as a JSON file's text, keys in order."""
    return json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n"
