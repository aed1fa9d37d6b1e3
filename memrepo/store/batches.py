"""Questions that went out as Message Batches, in the common git directory: one line an event.

What is about to be sent is on disk before it is, so that no crash lets it go out twice. Answers are
kept by what their item showed the judge; each is billed by the run that takes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict

from memrepo.core.judge import Usage
from memrepo.store.answers import BATCHES, read_lines, usage_of

Record = Mapping[str, object]


class Sent(msgspec.Struct, kw_only=True):
    """One batch: its own name, the service's (empty: it is not known whether it arrived).

    `questions` holds by custom id the key of each item by the item's id.
    """

    name: str
    questions: dict[str, dict[str, str]]
    batch: str = ""
    done: bool = False

    @property
    def said(self) -> str:
        """Say how far it is."""
        count = len(self.questions)
        what = f"{count} question{'s' * (count != 1)}"
        if not self.batch:
            return f"batch {self.name} of {what}: not known yet whether it arrived"
        return f"batch {self.batch}: {what} being answered"


class BatchJournal:
    """What went out and what came back; implements `judges.message_batches.Journal`."""

    def __init__(self, store: Path) -> None:
        self._path = store / BATCHES
        self._sent: dict[str, Sent] = {}
        self._answers: dict[str, list[Record]] = {}
        self._question: dict[str, str] = {}
        self._usage: dict[str, Usage] = {}
        self._failed: set[str] = set()
        for line in read_lines(self._path):
            self._take(line)

    @property
    def pending(self) -> list[Sent]:
        """Return the batches that are not done, oldest first."""
        return [one for one in self._sent.values() if not one.done]

    @property
    def known(self) -> frozenset[str]:
        """Return the service's names of all batches that are ours."""
        return frozenset(one.batch for one in self._sent.values() if one.batch)

    def begin(self, name: str, questions: Mapping[str, Mapping[str, str]]) -> None:
        """Note what is about to be sent."""
        self._write({"begin": name, "questions": questions})

    def sent(self, name: str, batch: str) -> None:
        """Note how the service calls a batch."""
        self._write({"sent": name, "batch": batch})

    def void(self, name: str) -> None:
        """Note that a batch never arrived."""
        self._write({"void": name})

    def answered(
        self,
        name: str,
        answers: Mapping[str, Sequence[Record]],
        usage: Mapping[str, Usage],
        failed: Sequence[str],
    ) -> None:
        """Note what came of a batch: answers by key, usage by custom id, keys that have none."""
        used = {id_: asdict(one) for id_, one in usage.items()}
        self._write({"done": name, "answers": answers, "usage": used, "failed": list(failed)})

    def has(self, key: str) -> bool:
        """Tell whether an item was answered, or cannot be by a batch."""
        return key in self._answers or key in self._failed

    def find(self, key: str) -> Sequence[Record] | None:
        """Return the answers to an item, or None."""
        return self._answers.get(key)

    def bill(self, keys: Sequence[str]) -> Usage:
        """Return what the questions of these items cost, the first time; it is noted then."""
        ids = dict.fromkeys(self._question[key] for key in keys if key in self._question)
        owed = [id_ for id_ in ids if id_ in self._usage]
        if not owed:
            return Usage()
        total = sum((self._usage[id_] for id_ in owed), start=Usage())
        self._write({"billed": owed})
        return total

    def forget(self) -> None:
        """Remove the file where nothing is on its way: all of it has landed."""
        if not self.pending:
            self._path.unlink(missing_ok=True)

    def _write(self, line: Mapping[str, object]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(line, ensure_ascii=False) + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        self._take(json.loads(json.dumps(line)))

    def _take(self, line: Mapping[str, Any]) -> None:
        match line:
            case {"begin": str(name), "questions": dict(questions)}:
                self._sent[name] = Sent(name=name, questions=questions)
                for id_, items in questions.items():
                    self._question |= dict.fromkeys(items.values(), id_)
            case {"sent": str(name), "batch": str(batch)} if name in self._sent:
                self._sent[name].batch = batch
            case {"void": str(name)}:
                self._sent.pop(name, None)
            case {"done": str(name), "answers": dict(answers)} if name in self._sent:
                self._sent[name].done = True
                self._answers |= answers
                self._failed |= set(line.get("failed", ()))
                self._usage |= {id_: usage_of(u) for id_, u in line.get("usage", {}).items()}
            case {"billed": list(owed)}:
                for id_ in owed:
                    self._usage.pop(id_, None)
            case _:
                return


def under_way(store: Path) -> tuple[str, ...]:
    """Say of each batch that is on its way how far it is."""
    if not (store / BATCHES).exists():
        return ()
    return tuple(one.said for one in BatchJournal(store).pending)
