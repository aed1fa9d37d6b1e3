"""Record the answers of a model, and replay them later without the model."""

from __future__ import annotations

import json
from pathlib import Path

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.judge import JudgeFailed, Usage
from memrepo.judges.model import Backend, Reply
from memrepo.judges.prompting import Prompt

SCHEMA_VERSION = 1


class CannotRecord(MemrepoError):
    """Raised when the folder for recordings cannot be written."""

    exit_code = Exit.USAGE

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(f"{folder}: cannot record answers there: {error.strerror}")


class Recording:
    """A backend that records another backend's answers. It implements `judges.model.Backend`.

    The file name is the hash of the question, which covers instructions, schema and evidence.
    """

    def __init__(self, inner: Backend, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotRecord(folder, error) from error

    @property
    def name(self) -> str:
        """Return the name of the wrapped backend."""
        return self._inner.name

    def ask(self, prompt: Prompt) -> Reply:
        """Send a prompt to the wrapped backend, and record the question and the answer."""
        reply = self._inner.ask(prompt)
        record = {
            "schema_version": SCHEMA_VERSION,
            "pass": prompt.name,
            "judge": self.name,
            "question": "\n\n".join(filter(None, (prompt.context, prompt.data))),
            "answer": reply.text,
            "cut": reply.cut,
            "refusal": reply.refusal,
            "tokens": reply.usage.tokens(),
            "cost_usd": reply.usage.cost_usd,
        }
        path = self._folder / f"{prompt.key}.json"
        try:
            path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")
        except OSError as error:
            raise CannotRecord(self._folder, error) from error
        return reply


class Unanswered(MemrepoError):
    """Raised when the agent's session must first answer a question, so the run cannot land yet."""

    exit_code = Exit.MODEL

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(
            "a question waits for its answer",
            fix="`memrepo judge next` shows it, `memrepo judge answer` takes the answer",
        )
        self.prompt = prompt


class Session:
    """A backend whose answers come from the agent's own session, one question at a time.

    Implements `judges.model.Backend`. Its cost is unknown to memrepo and counts as zero.
    """

    name = "session/1"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ask(self, prompt: Prompt) -> Reply:
        """Return the session's answer to a prompt. Raises Unanswered if there is none yet."""
        path = self._folder / f"{prompt.key}.txt"
        if not path.is_file():
            raise Unanswered(prompt)
        return Reply(text=path.read_text(encoding="utf-8"), usage=Usage())


class Replay:
    """A backend that returns recorded answers, at no cost. It implements `judges.model.Backend`."""

    name = "replay/1"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ask(self, prompt: Prompt) -> Reply:
        """Return the recorded answer to a prompt. Raises JudgeFailed if there is none."""
        path = self._folder / f"{prompt.key}.json"
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            return Reply(
                text=str(record["answer"]),
                usage=Usage(),
                cut=bool(record.get("cut")),
                refusal=str(record.get("refusal", "")),
            )
        except FileNotFoundError as error:
            raise JudgeFailed(
                f"{self._folder}: no recorded answer {path.name} for this question",
                fix="record it with a live judge: `memrepo run --judge anthropic --record DIR`",
            ) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise JudgeFailed(f"{path}: not a recorded answer: {error}") from error
