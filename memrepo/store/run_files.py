"""Files outside of history that runs write: logged events, results, answers of interrupted runs.

Each answer of a judge is on disk before the next question is sent, so a killed process loses only
the current question. A run that completes removes the answers that it used.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from memrepo.core.judge import Usage
from memrepo.store.lock import lock_file, scratch

_LOCK_WAIT_S = 2.0


def append_event(
    folder: Path, day: date, record: Mapping[str, object], *, within: Path | None
) -> Path:
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
        if not lock_file(descriptor, _LOCK_WAIT_S):
            raise OSError(errno.EAGAIN, "another program holds its lock", str(path))
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line  # ends the incomplete line of another writer
        remaining = memoryview(line)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]
    finally:
        os.close(descriptor)
    return path


def write_file(path: Path, text: str, *, within: Path | None, draft_in: Path | None = None) -> None:
    """Write a file atomically, so that readers see either the old or the new text.

    The draft is next to the file, or in `draft_in`, where a crash leaves it.
    """
    _refuse_links(path, within)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = scratch(draft_in or path.parent, f".{path.name}.", text.encode("utf-8", "replace"))
    try:
        new.chmod(0o644)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def load_json(path: Path, *, within: Path | None) -> dict[str, object]:
    """Return the JSON object in a file, or {} if the file is missing, damaged or a symlink."""
    try:
        _refuse_links(path, within)
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _refuse_links(path: Path, within: Path | None) -> None:
    if within is None:
        return
    for part in (path, *path.parents):
        if part == within:
            return
        if part.is_symlink():
            raise OSError(errno.ELOOP, "a symlink is not followed", str(part))
    raise OSError(errno.EXDEV, f"it is not in {within}", str(path))


def to_json(record: Mapping[str, object]) -> str:
    """Format a record as the text of a JSON file, with sorted keys."""
    return json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n"


LIMIT_S = 60.0
_MAX_OUTPUT = 500


def run_command(
    command: str, last: Path | str, folder: Path, *, data: bytes = b"", limit_s: float = LIMIT_S
) -> str:
    """Run a command with an additional last argument. Return why it failed, or "" on success.

    `data` is its standard input. No shell is used. After `limit_s` seconds the command and its
    child processes are killed.
    """
    import tempfile

    # A pipe would wait for child processes that are still running.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as stdin:
        stdin.write(data)
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
        output = " ".join(out.read(4 * _MAX_OUTPUT).decode("utf-8", "replace").split())[
            :_MAX_OUTPUT
        ]
    if code == 0:
        return ""
    return f"exit code {code}{': ' + output if output else ''}"


# -- answers of interrupted runs -------------------------------------------------------------

ANSWERS = "answers.jsonl"
"""File with the paid answers that no run has used to the end."""
MAX_ANSWERS = 1000
"""Maximum number of answers to store. The newest are kept."""


class SavedAnswers:
    """Paid answers by key, each saved to disk at once. Implements `judge.ask.AnswerStore`."""

    def __init__(self, store: Path) -> None:
        self.path = store / ANSWERS
        self._answers: dict[str, Mapping[str, object]] = {}
        self._new: set[str] = set()
        self._used: set[str] = set()
        self._unbilled = Usage()
        for line in read_lines(self.path):
            self._answers |= line.get("answers", {})
            self._unbilled += usage_of(line.get("usage"))

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def unbilled(self) -> Usage:
        """Return the usage of all answers that are not yet recorded in a manifest."""
        return self._unbilled

    @property
    def used(self) -> int:
        """Return how many answers this process reused from an earlier one."""
        return len(self._used - self._new)

    def find(self, key: str) -> Mapping[str, object] | None:
        """Return the stored answer to a question, or None if there is none."""
        found = self._answers.get(key)
        self._used |= {key} if found is not None else set()
        return found

    def keep(self, answers: Mapping[str, Mapping[str, object]], usage: Usage) -> None:
        """Save the answers to one question, and their usage, to disk."""
        if not answers and not usage.calls:
            return
        self._answers |= answers
        self._new |= answers.keys()
        self._unbilled += usage
        line = json.dumps({"answers": answers, "usage": asdict(usage)}, ensure_ascii=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as handle:
            handle.write(f"{line}\n")
            handle.flush()
            os.fsync(handle.fileno())

    def billed(self) -> None:
        """Reset the unbilled usage once a manifest contains it. Keep the answers."""
        self._unbilled = Usage()
        kept = dict([*self._answers.items()][-MAX_ANSWERS:])
        self.path.unlink(missing_ok=True)
        if kept:
            line = json.dumps({"answers": kept}, ensure_ascii=False)
            write_file(self.path, f"{line}\n", within=None)

    def remove_used(self) -> None:
        """Delete the answers that this process used, because all their results have landed."""
        done = self._used | self._new
        self._answers = {k: v for k, v in self._answers.items() if k not in done}
        self.billed()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the JSON values of a file's lines, up to the first incomplete line."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    found = []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            break
        if not isinstance(record, dict):
            break
        found.append(record)
    return found


def usage_of(record: Any) -> Usage:
    """Convert a stored usage record to a Usage."""
    values = record if isinstance(record, dict) else {}
    return Usage(**{key: value for key, value in values.items() if key in Usage.__struct_fields__})
