"""Files outside of history that runs write: logged events, results, answers of interrupted runs.

Each answer of a judge is on disk before the next question is sent, so a killed process loses only
the current question. A run that completes removes the file of its answers.
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

import msgspec
from msgspec.structs import asdict

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.judge import Usage
from memrepo.store.lock import keep_newest, lock_file, scratch

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


def write_file(path: Path, text: str, *, within: Path | None) -> None:
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

FOLDER = "kept"
MAX_INTERRUPTED = 50
"""Maximum number of interrupted runs to keep. The newest runs are kept."""
SCHEMA_VERSION = 1


class NoInterruptedRun(MemrepoError):
    """Raised when there is no interrupted run, or none matches the given name."""

    exit_code = Exit.USAGE

    def __init__(self, wanted: str, names: list[str]) -> None:
        known = f"; interrupted runs: {', '.join(names)}" if names else ""
        super().__init__(
            f"no interrupted run {wanted}{known}"
            if wanted
            else "no interrupted run has answers to use again",
            fix="`memrepo run --resume` takes the newest"
            if names
            else "`memrepo run` reads new input and what earlier runs left open",
        )


class InterruptedRun(msgspec.Struct, frozen=True, kw_only=True):
    """An interrupted run: its name, mode, kind of judge, and number of stored answers."""

    run: str
    mode: str
    kind: str
    answers: int = 0


class SavedAnswers:
    """The answers of one run, each saved to disk at once. Implements `judges.asking.Kept`."""

    def __init__(self, store: Path, of: InterruptedRun) -> None:
        self.of = of
        self.path = store / FOLDER / f"{of.run}.jsonl"
        self._answers: dict[str, Mapping[str, object]] = {}
        self._mine: set[str] = set()
        self._used: set[str] = set()
        self._unbilled = Usage()
        for line in read_lines(self.path)[1:]:
            self._answers |= line.get("answers", {})
            self._unbilled += usage_of(line.get("usage"))

    @property
    def unbilled(self) -> Usage:
        """Return the usage of all answers that are not yet recorded in a manifest."""
        return self._unbilled

    @property
    def used(self) -> int:
        """Return how many answers this process reused from an earlier one."""
        return len(self._used)

    def find(self, key: str) -> Mapping[str, object] | None:
        """Return the stored answer to a question, or None if there is none."""
        found = self._answers.get(key)
        if found is not None and key not in self._mine:
            self._used.add(key)
        return found

    def keep(self, answers: Mapping[str, Mapping[str, object]], usage: Usage) -> None:
        """Save the answers to one question, and their usage, to disk."""
        if not answers and not usage.calls:
            return
        self._answers |= answers
        self._mine |= answers.keys()
        self._unbilled += usage
        self._append({"answers": answers, "usage": asdict(usage)})

    def billed(self) -> None:
        """Reset the unbilled usage once a manifest contains it. Keep the answers."""
        self._unbilled = Usage()
        if self.path.exists():
            self.path.unlink()
            self._append({"answers": self._answers})

    def remove(self) -> None:
        """Delete the stored answers, because the results of all of them have landed."""
        self.path.unlink(missing_ok=True)

    def _append(self, line: Mapping[str, object]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = not self.path.exists()
        if new:
            keep_newest(self.path.parent, "*.jsonl", MAX_INTERRUPTED - 1)
        with self.path.open("a", encoding="utf-8") as handle:
            if new:
                head = {k: v for k, v in asdict(self.of).items() if k != "answers"}
                handle.write(json.dumps({"schema_version": SCHEMA_VERSION, **head}) + "\n")
            handle.write(json.dumps(line, ensure_ascii=False) + "\n")
            handle.flush()
            os.fsync(handle.fileno())


def interrupted_runs(store: Path) -> list[InterruptedRun]:
    """Return the interrupted runs that have stored answers, oldest first."""
    found = []
    for path in sorted((store / FOLDER).glob("*.jsonl")):
        head, *remaining = read_lines(path) or [{}]
        if head.get("schema_version") == SCHEMA_VERSION:
            found.append(
                InterruptedRun(
                    run=path.stem,
                    mode=str(head.get("mode", "")),
                    kind=str(head.get("kind", "")),
                    answers=sum(len(line.get("answers", {})) for line in remaining),
                )
            )
    return found


def interrupted_run(store: Path, wanted: str) -> InterruptedRun:
    """Return the interrupted run with a name or unique prefix, or the newest."""
    known = interrupted_runs(store)
    found = [b for b in known if b.run.startswith(wanted)]
    if not found or (wanted and len(found) > 1 and wanted not in (b.run for b in found)):
        raise NoInterruptedRun(wanted, [b.run for b in known])
    return next((b for b in found if b.run == wanted), found[-1])


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
