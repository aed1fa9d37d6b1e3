"""Judge with a program that reads the question from stdin and writes the answer to stdout.

Claude Code and OpenClaw are such programs, each with its own login.

The question is passed as an argument only if the command contains `{prompt}`. Linux limits an
argument to 128 KiB, which memory-purifier's default backend exceeded, and other users of the
machine can read arguments. No shell is involved. The program starts in an empty folder, so agents
find no project instructions there.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.judge import BadReply, JudgeFailed, Usage
from memrepo.judge.ask import Reply
from memrepo.judge.documents import tokens_of
from memrepo.judge.interface import ANSWERS, Question

PROMPT, SYSTEM = "{prompt}", "{system}"
"""Arguments replaced by the question (stdin is then empty) and by its fixed instructions."""
# A judge needs no tools, hooks, servers, title or transcript, so they are disabled.
_CLAUDE = (
    *("claude", "-p", "--output-format", "json", "--tools", "", "--setting-sources", ""),
    *("--strict-mcp-config", "--no-session-persistence", "--name", "memrepo"),
    *("--system-prompt", SYSTEM),
)
READY: dict[str, tuple[str, ...]] = {
    "claude": _CLAUDE,
    # openclaw does not read stdin (openclaw issue 139208, open in November 2026).
    "openclaw": ("openclaw", "infer", "model", "run", "--json", "--prompt", PROMPT),
}
"""Commands of known programs, by the name of their judge."""
_LOGIN = {
    "claude": "run `claude` once and log in",
    "openclaw": "run `openclaw configure` and choose a model",
}
ARGUMENT_LIMIT = 128 * 1024 - 1
"""Maximum bytes of one argument on Linux (MAX_ARG_STRLEN without the final NUL)."""
ENVELOPE = ("response", "message", "content", "text", "output", "outputs", "result")
"""Keys under which programs wrap their answer (memory-purifier; `openclaw infer --json`)."""
_REPLY_KEYS = frozenset(key for key, _ in ANSWERS.values())
_TAIL = 600
_DEPTH = 5


class CommandNotFound(MemrepoError):
    """Raised when the judge's program is not found on the PATH."""

    exit_code = Exit.USAGE

    def __init__(self, program: str) -> None:
        super().__init__(
            f"the judge's command is not on the PATH: {program}",
            fix='install it, or set judge = "offline" below [run] in memrepo.toml',
        )


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A program that answers questions. The class implements `judge.ask.Backend`.

    Unless the program reports its usage, tokens are estimated by the text. `kind` names a
    known program, to which `model` is passed.
    """

    arguments: tuple[str, ...]
    timeout_s: float
    kind: str = ""
    model: str = ""
    price: None = None

    def refuse_without_key(self) -> None:
        """Do nothing, because a program has a login of its own."""

    def __post_init__(self) -> None:
        if shutil.which(self.arguments[0]) is None:
            raise CommandNotFound(self.arguments[0])

    @property
    def name(self) -> str:
        """Return the program's name, followed by the model if memrepo knows the program."""
        if self.kind:
            return f"{self.kind}/{self.model or 'default'}"
        return f"command/{Path(self.arguments[0]).name}"

    def ask(self, question: Question) -> Reply:
        """Run the program once. Raises JudgeFailed on a timeout or a nonzero exit code.

        Raises BadReply if the question is too long for an argument, so only its batch fails.
        """
        arguments = (*self.arguments, *(("--model", self.model) if self.model else ()))
        sent = question.text.encode()
        if SYSTEM in arguments:
            fixed = f"{question.system}\n\n{question.spelled}"
            arguments = tuple(fixed if a == SYSTEM else a for a in arguments)
            sent = question.data.encode()
        if PROMPT in arguments:
            if len(sent) > ARGUMENT_LIMIT:
                raise BadReply(
                    f"{self.name}: the question has {len(sent)} bytes, but an argument has"
                    f" at most {ARGUMENT_LIMIT}",
                    fix="use a judge that reads standard input",
                )
            arguments = tuple(question.text if a == PROMPT else a for a in arguments)
            sent = b""
        out, err, code = self._run(arguments, sent)
        envelope = _envelope(out)
        if code != 0 or envelope.get("is_error") is True:
            reported = str(envelope.get("result") or "") if envelope.get("is_error") else ""
            why = reported[-_TAIL:] or err.strip()[-_TAIL:] or "nothing on stderr"
            fix = _LOGIN.get(self.kind, "")
            raise JudgeFailed(f"{self.name}: exit code {code}: {why}", fix=fix, raw=out)
        return Reply(
            text=_utf8(unwrapped(out)),
            raw=out,
            usage=_reported(envelope)
            or Usage(
                prompt=tokens_of(question.text),
                completion=tokens_of(out),
                source="approximate",
                cost_usd=None,
                calls=1,
            ),
            cut=envelope.get("stop_reason") == "max_tokens",
        )

    def _run(self, arguments: tuple[str, ...], sent: bytes) -> tuple[str, str, int]:
        with tempfile.TemporaryDirectory(prefix="memrepo-judge-") as folder:
            try:
                process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    start_new_session=True,  # to kill its children too
                )
            except OSError as error:
                raise JudgeFailed(f"{self.name}: {error}") from error
            try:
                out, err = process.communicate(sent, timeout=self.timeout_s)
            except subprocess.TimeoutExpired as error:
                raise JudgeFailed(
                    f"{self.name}: no answer within {self.timeout_s:g} s",
                    fix="raise judge.timeout_s",
                ) from error
            finally:
                _end(process)
        # Failed output is stored byte for byte, so bytes that are not UTF-8 become surrogates.
        text = out.decode("utf-8", "surrogateescape")
        return text, err.decode("utf-8", "replace"), process.returncode


def _utf8(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _envelope(out: str) -> dict[str, object]:
    """Return the JSON object in a program's output, or an empty mapping if there is none."""
    try:
        found = json.loads(out)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _reported(envelope: Mapping[str, object]) -> Usage | None:
    """Return the usage that Claude Code reports, or None if the output contains none.

    Its price depends on a plan, so is unknown.
    """
    used = envelope.get("usage")
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens")
    counts = (
        [used.get(n, 0) for n in (*names, "cache_read_input_tokens")]
        if isinstance(used, dict)
        else []
    )
    if not counts or not all(isinstance(n, int) and n >= 0 for n in counts) or not any(counts):
        return None
    fresh, output, written, read = counts
    return Usage(
        prompt=fresh + written + read,
        completion=output,
        cache_write=written,
        cache_read=read,
        source="exact",
        cost_usd=None,
        calls=1,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and its children, and close its pipes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None and not pipe.closed:
            try:
                pipe.close()
            except BrokenPipeError:
                continue


def unwrapped(text: str) -> str:
    """Return the answer inside a JSON envelope, or the text itself if there is no envelope."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _inner(found, _DEPTH) or text


def _inner(value: object, depth: int) -> str:
    match value:
        case str():
            return value
        case list() if depth:
            return "".join(_inner(part, depth - 1) for part in value)
        case dict() if depth and not (value.keys() & _REPLY_KEYS):
            found = (_inner(value.get(key), depth - 1) for key in ENVELOPE)
            return next(filter(None, found), "")
        case dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return ""
