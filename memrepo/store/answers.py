"""Answers that interrupted runs already received, in one file per run in the common git directory.

Each answer is on disk before the next question is sent, so a killed process loses only the current
question. Nothing here is committed. A run that completes removes its file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.judge import Usage
from memrepo.store.lock import keep_newest

FOLDER = "kept"
KEPT = 50
"""Maximum number of interrupted runs to keep. The newest runs are kept."""
SCHEMA_VERSION = 1


class NotKept(MemrepoError):
    """Raised when there is no interrupted run, or none matches the given name."""

    exit_code = Exit.USAGE

    def __init__(self, wanted: str, there: list[str]) -> None:
        known = f"; interrupted runs: {', '.join(there)}" if there else ""
        super().__init__(
            f"no interrupted run {wanted}{known}"
            if wanted
            else "no interrupted run has answers to use again",
            fix="`memrepo run --resume` takes the newest"
            if there
            else "`memrepo run` reads new input and what earlier runs left open",
        )


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """An interrupted run: its name, mode, kind of judge, and number of stored answers."""

    run: str
    mode: str
    kind: str
    answers: int = 0


class KeptAnswers:
    """The answers of one run, each saved to disk at once. Implements `judges.asking.Kept`."""

    def __init__(self, store: Path, of: Broken) -> None:
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
            keep_newest(self.path.parent, "*.jsonl", KEPT - 1)
        with self.path.open("a", encoding="utf-8") as handle:
            if new:
                head = {k: v for k, v in asdict(self.of).items() if k != "answers"}
                handle.write(json.dumps({"schema_version": SCHEMA_VERSION, **head}) + "\n")
            handle.write(json.dumps(line, ensure_ascii=False) + "\n")
            handle.flush()
            os.fsync(handle.fileno())


def broken_runs(store: Path) -> list[Broken]:
    """Return the interrupted runs that have stored answers, oldest first."""
    found = []
    for path in sorted((store / FOLDER).glob("*.jsonl")):
        head, *rest = read_lines(path) or [{}]
        if head.get("schema_version") == SCHEMA_VERSION:
            found.append(
                Broken(
                    run=path.stem,
                    mode=str(head.get("mode", "")),
                    kind=str(head.get("kind", "")),
                    answers=sum(len(line.get("answers", {})) for line in rest),
                )
            )
    return found


def broken_run(store: Path, wanted: str) -> Broken:
    """Return the interrupted run with a name or unique prefix, or the newest. Raises NotKept."""
    there = broken_runs(store)
    found = [b for b in there if b.run.startswith(wanted)]
    if not found or (wanted and len(found) > 1 and wanted not in (b.run for b in found)):
        raise NotKept(wanted, [b.run for b in there])
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
    given = record if isinstance(record, dict) else {}
    return Usage(**{key: value for key, value in given.items() if key in Usage.__struct_fields__})
