"""Files outside of history that runs write: logged events, results, answers of interrupted runs.

Each answer of a judge is on disk before the next question is sent, so a killed process loses only
the current question. A run that completes removes the answers that it used.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from datetime import date
from functools import reduce
from operator import add
from pathlib import Path

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import Usage
from memrepo.store.git import keep_newest, lock_file, scratch

_LOCK_WAIT_S = 2.0


def append_event(
    folder: Path, day: date, record: Mapping[str, object], *, within: Path | None
) -> None:
    """Append an event to its day's log, `memory-log-YYYY-MM-DD.jsonl`.

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


# -- answers of interrupted runs -------------------------------------------------------------

ANSWERS = "answers"
"""Folder with the paid answers that no run has used to the end, one file each."""
MAX_ANSWERS = 1000
"""Maximum number of answers to store. The newest are kept."""


class SavedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The text of an answer, None if it was unusable, and its cost.

    `billed` is whether a manifest has recorded the cost.
    """

    text: str | None = None
    usage: Usage = msgspec.field(default_factory=Usage)
    billed: bool = False


class SavedAnswers:
    """Paid answers by key, each saved to disk at once. Implements `judge.ask.AnswerStore`."""

    def __init__(self, store: Path) -> None:
        self._folder = store / ANSWERS
        self._used: set[str] = set()
        self._new: set[str] = set()
        self._there: dict[str, SavedAnswer] = {}
        for path in sorted(self._folder.glob("*.json")):
            try:
                self._there[path.stem] = msgspec.json.decode(path.read_bytes(), type=SavedAnswer)
            except (OSError, msgspec.MsgspecError):
                continue  # the question is asked again

    def __len__(self) -> int:
        return sum(answer.text is not None for answer in self._there.values())

    @property
    def unbilled(self) -> Usage:
        """Return the usage of all answers that are not yet recorded in a manifest."""
        usages = (answer.usage for answer in self._there.values() if not answer.billed)
        return reduce(add, usages, Usage())

    @property
    def used(self) -> int:
        """Return how many answers this process reused from an earlier one."""
        return len(self._used - self._new)

    def find(self, key: str) -> str | None:
        """Return the stored answer to a question, or None if there is none."""
        answer = self._there.get(key)
        if answer is None or answer.text is None:
            return None
        self._used.add(key)
        return answer.text

    def keep(self, key: str, text: str | None, usage: Usage) -> None:
        """Save an answer and its usage to disk. An unusable answer costs too, but has no text."""
        if text is None and not usage.calls:
            return
        before = self._there.get(key)
        if before is not None and not before.billed:
            usage += before.usage
        self._new.add(key)
        self._write(key, SavedAnswer(text=text, usage=usage))

    def _write(self, key: str, answer: SavedAnswer) -> None:
        self._there[key] = answer
        self._folder.mkdir(parents=True, exist_ok=True)
        new = scratch(self._folder, f".{key}.", msgspec.json.encode(answer))
        new.replace(self._folder / f"{key}.json")

    def billed(self) -> None:
        """Mark all usage as recorded, once a manifest contains it. Keep the answers."""
        for key, answer in list(self._there.items()):
            if answer.text is None:
                self._remove(key)
            elif not answer.billed:
                self._write(key, replace(answer, billed=True))
        keep_newest(self._folder, "*.json", MAX_ANSWERS)

    def remove_used(self) -> None:
        """Delete the answers that this process used, because all their results have landed."""
        for key in (self._used | self._new) & self._there.keys():
            self._remove(key)
        self.billed()

    def _remove(self, key: str) -> None:
        del self._there[key]
        (self._folder / f"{key}.json").unlink(missing_ok=True)
