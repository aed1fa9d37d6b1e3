"""Log events of runs to one file per day, and pass the results of runs to other programs."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from memrepo.store.lock import scratch

_WAIT_S = 2.0
_PAUSE_S = 0.02


def append(folder: Path, day: date, record: Mapping[str, object], *, within: Path | None) -> Path:
    """Append an event to its day's log, `memory-log-YYYY-MM-DD.jsonl`, and return the log's path.

    `within` is the work tree if the folder is inside it. In that case no symlink is followed.
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
            line = b"\n" + line  # ends the incomplete line of another writer
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
    """Write a file atomically, so that readers see either the old or the new text."""
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
    """Return the JSON object in a file, or {} if the file is missing, damaged or a symlink."""
    try:
        _refuse_links(path, within)
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _refuse_links(path: Path, within: Path | None) -> None:
    """Raise OSError for a symlink in a work tree, because it may lead outside the work tree."""
    if within is None:
        return
    for part in (path, *path.parents):
        if part == within:
            return
        if part.is_symlink():
            raise OSError(errno.ELOOP, "a symlink is not followed", str(part))
    raise OSError(errno.EXDEV, f"it is not in {within}", str(path))


def dumped(record: Mapping[str, object]) -> str:
    """Format a record as the text of a JSON file, with sorted keys."""
    return json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n"


LIMIT_S = 60.0
_SAID = 500


def hand_off(
    command: str, last: Path | str, folder: Path, *, told: bytes = b"", limit_s: float = LIMIT_S
) -> str:
    """Run a command with an additional last argument. Return why it failed, or "" on success.

    `told` is its standard input. No shell is used. After `limit_s` seconds the command and its
    child processes are killed.
    """
    import tempfile

    # A pipe would wait for child processes that are still running.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as stdin:
        stdin.write(told)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                [*shlex.split(command), str(last)],
                cwd=folder,
                stdin=stdin,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"cannot be started: {error}"
        try:
            code = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"took longer than {limit_s:g} s and was ended"
        out.seek(0)
        said = " ".join(out.read(4 * _SAID).decode("utf-8", "replace").split())[:_SAID]
    if code == 0:
        return ""
    return f"exit code {code}{': ' + said if said else ''}"
