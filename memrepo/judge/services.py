"""Judge with a model behind an API (Claude, or what speaks the OpenAI API), or with a program.

Each API has its official SDK, which is imported when it is first needed. The SDKs read keys and
base URLs from the environment, retry with back-off and honour retry-after.

A program, such as Claude Code or OpenClaw with its own login, reads the question from stdin. The
question is an argument only if the command contains `{prompt}`: Linux limits an argument to 128
KiB, which memory-purifier's default backend exceeded, and other users of the machine can read
arguments. No shell is involved. The program starts in an empty folder, so agents find no project
instructions there.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.judge import BadReply, JudgeFailed, Usage
from memrepo.judge.ask import Price, Reply
from memrepo.judge.documents import tokens_of
from memrepo.judge.interface import ANSWERS, Question

Untyped = Any
"""The type of SDK objects. The SDKs are imported lazily, so their own types are not available."""
_CONNECT_S = 15.0
MAX_RETRIES = 2
"""How many times an SDK repeats a request that was refused or not answered at all."""
_SHOWN = 300


class NoCredentials(MemrepoError):
    """Raised when the SDK, its key, its token or its profile is missing."""

    exit_code = Exit.USAGE


def _sdk(package: str, extra: str) -> Untyped:
    """Import and return an SDK. Raises NoCredentials if the SDK is not installed."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise NoCredentials(
            f"the {package} judge needs the package {package}",
            fix=f"`pip install '.[{extra}]'` in memrepo's checkout, or use --judge offline",
        ) from error


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that all services share.

    If `base_url` is empty, the SDK chooses it. `heard` is called for each part of an answer.
    """

    model: str
    max_tokens: int
    timeout_s: float
    base_url: str = ""
    price: Price | None = None
    heard: Callable[[], object] = lambda: None

    def client(self) -> Untyped:
        """Create a client for one question. Raises NoCredentials."""
        raise NotImplementedError

    def refuse_without_key(self) -> None:
        """Raise NoCredentials if no key and no private server is configured. Send no request."""
        self.client().close()

    def room(self, question: Question) -> int:
        """Return the maximum tokens of the answer to a question."""
        return min(self.max_tokens, question.room or self.max_tokens)

    def usage(self, *, fresh: int, output: int, cache_write: int = 0, cache_read: int = 0) -> Usage:
        """Return the usage of one call, with its cost if the price of the model is known."""
        price = self.price
        counts = {"cache_write": cache_write, "cache_read": cache_read}
        return Usage(
            prompt=fresh + cache_write + cache_read,
            completion=output,
            **counts,
            source="exact" if fresh or cache_read or output else "unavailable",
            cost_usd=price.cost(fresh=fresh, output=output, **counts) if price else None,
            calls=1,
        )


def _count(usage: object, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else getattr(usage, name, None)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


def _error_text(error: Untyped) -> str:
    text = getattr(error, "api_message", None) or getattr(error, "message", "") or str(error)
    return " ".join(str(text or type(error).__name__).split())[:_SHOWN]


# -- Claude ----------------------------------------------------------------------------------------

_UNUSABLE = (ValueError, TypeError, AttributeError, KeyError, AssertionError, RuntimeError)
"""Exceptions the SDK raises when a server sends anything but a message."""
_CACHED: object = {"type": "ephemeral"}
_CUT = ("max_tokens", "model_context_window_exceeded")
_DONE = ("end_turn", "stop_sequence")
_FIXES = {
    401: "check ANTHROPIC_API_KEY",
    403: "check the permissions of the key",
    404: "check judge.model and the base URL",
    413: "the batch is too large for this endpoint",
    429: "wait; the next run goes on",
}


class Claude(Service, frozen=True, kw_only=True):
    """Claude through the Messages API. The class implements `judge.ask.Backend`.

    Replies must match the schema. Instructions are marked for the prompt cache.
    `timeout_s` also limits how long a server may ask memrepo to wait before a retry.
    """

    @property
    def name(self) -> str:
        """Return the names of the provider and the model."""
        return f"anthropic/{self.model}"

    def ask(self, question: Question) -> Reply:
        """Send a question. Raises NoCredentials or JudgeFailed."""
        anthropic = _sdk("anthropic", "claude")
        import httpx2

        with self.client() as client:
            try:
                message = client.messages.create(**self._parameters(question)).model_dump()
            except anthropic.APITimeoutError as error:
                what, cause = f"no answer within {self.timeout_s:g} s", error
                fix = "raise judge.timeout_s"
            except anthropic.APIStatusError as error:
                what, cause = f"HTTP {error.status_code}: {_error_text(error)}", error
                fix = _FIXES.get(error.status_code, "")
            except (anthropic.AnthropicError, httpx2.HTTPError, *_UNUSABLE) as error:
                what, cause = f"the answer broke off: {_error_text(error)}", error
                fix = "check the connection and the base URL"
            else:
                return self._read(message)
        raise JudgeFailed(f"{self.name}: {what}", fix=fix) from cause

    def _parameters(self, question: Question) -> dict[str, Untyped]:
        """Return the Messages API parameters for one question."""
        content: list[object] = [{"type": "text", "text": question.data}]
        schema: object = {"type": "json_schema", "schema": question.schema}
        return {
            "model": self.model,
            "max_tokens": self.room(question),
            "system": [{"type": "text", "text": question.system, "cache_control": _CACHED}],
            "messages": [{"role": "user", "content": content}],
            "output_config": {"format": schema, "effort": "medium"},
        }

    def client(self) -> Untyped:
        """Create an `anthropic.Anthropic` client, with a short connect timeout."""
        anthropic = _sdk("anthropic", "claude")
        timeout = anthropic.Timeout(self.timeout_s, connect=min(_CONNECT_S, self.timeout_s))
        client = anthropic.Anthropic(
            base_url=self.base_url or None,
            timeout=timeout,
            max_retries=MAX_RETRIES,
            open_telemetry=False,
            http_client=anthropic.DefaultHttpxClient(
                event_hooks={"response": [self._refuse_long_wait]}, timeout=timeout
            ),
        )
        if not (client.api_key or client.auth_token or client.credentials):
            client.close()
            raise NoCredentials(
                "the anthropic judge has no credentials",
                fix="set ANTHROPIC_API_KEY, or use --judge offline",
            )
        return client

    def _refuse_long_wait(self, response: Untyped) -> None:
        """Disable the SDK's retry if the server asks for a wait longer than `timeout_s`.

        The SDK would sleep for any time that a server asks for.
        """
        try:
            wait = float(response.headers.get("retry-after", "0"))
        except ValueError:
            return
        if wait > self.timeout_s:
            response.headers["x-should-retry"] = "false"

    def _read(self, message: Mapping[str, Untyped]) -> Reply:
        """Convert a message to a Reply. All values from the server are validated."""
        blocks = [b for b in message.get("content") or () if isinstance(b, dict)]
        reason = str(message.get("stop_reason") or "end_turn")
        refusal = ""
        if reason == "refusal":
            details = message.get("stop_details")
            category = details.get("category") if isinstance(details, dict) else None
            refusal = f"the model refused to answer ({category})" if category else ""
            refusal = refusal or "the model refused"
        elif reason not in (*_CUT, *_DONE):
            refusal = f"the model stopped before the end of its answer: {reason}"
        texts = [b.get("text") for b in blocks if b.get("type") == "text"]
        return Reply(
            text="".join(text for text in texts if isinstance(text, str)),
            usage=self._usage(message.get("usage")),
            cut=reason in _CUT,
            refusal=refusal,
        )

    def _usage(self, reported: object) -> Usage:
        return self.usage(
            fresh=_count(reported, "input_tokens"),
            output=_count(reported, "output_tokens"),
            cache_write=_count(reported, "cache_creation_input_tokens"),
            cache_read=_count(reported, "cache_read_input_tokens"),
        )


# -- the OpenAI API --------------------------------------------------------------------------------

_NO_KEY = "none"
"""The API key sent to a private server that requires none."""
_PUBLIC = "api.openai.com"
_FORMS = ("json_schema", "json_object", "text")


class OpenAI(Service, frozen=True, kw_only=True):
    """A model behind an OpenAI-compatible API. The class implements `judge.ask.Backend`.

    Ollama, LM Studio, llama.cpp, vLLM and OpenRouter have one. Servers accept different forms of
    reply: bound to the schema, any JSON object, or plain text. They are tried in this order.
    `timeout_s` limits how long a server may send nothing. A local model may need minutes to read a
    question.
    """

    refused: set[str] = msgspec.field(default_factory=set)
    """Reply forms and parameter names that the server rejected."""

    @property
    def name(self) -> str:
        """Return the names of the provider and the model."""
        return f"openai/{self.model}"

    def client(self) -> Untyped:
        """Create an `openai.OpenAI` client."""
        openai = _sdk("openai", "openai")
        settings = {
            "base_url": self.base_url or None,
            "max_retries": MAX_RETRIES,
            "timeout": openai.Timeout(self.timeout_s, connect=min(_CONNECT_S, self.timeout_s)),
        }
        try:
            return openai.OpenAI(**settings)
        except openai.OpenAIError:
            client = openai.OpenAI(api_key=_NO_KEY, **settings)
        if client.base_url.host == _PUBLIC:
            client.close()
            raise NoCredentials(
                "the openai judge has neither a server nor a key",
                fix="`git config memrepo.judge.openai-base-url http://localhost:11434/v1`, or set"
                " OPENAI_API_KEY",
            )
        return client

    def ask(self, question: Question) -> Reply:
        """Send a question. Raises JudgeFailed or NoCredentials."""
        messages = [
            {"role": "system", "content": "\n\n".join((question.system, question.spelled))},
            {"role": "user", "content": question.data},
        ]
        openai = _sdk("openai", "openai")
        with self.client() as client:
            while True:
                parameters = self._parameters(question, messages)
                fix = ""
                try:
                    return self._read(client.chat.completions.create(**parameters))
                except openai.APITimeoutError as error:
                    what, cause = f"no output for {self.timeout_s:g} s", error
                    fix = "raise judge.timeout_s, or take a smaller model"
                except openai.APIConnectionError as error:
                    what, cause = f"no connection to {client.base_url}: {_error_text(error)}", error
                    fix = "start the server, or set judge.openai_base_url"
                except openai.APIStatusError as error:
                    status = error.status_code
                    if status in (400, 422) and self._can_omit(parameters, error):
                        continue
                    what, cause = f"HTTP {status}: {_error_text(error)}", error
                    if status == 404:
                        fix = "check judge.model in memrepo.toml and the base URL"
                    elif status in (401, 403):
                        fix = "check OPENAI_API_KEY"
                except Exception as error:  # noqa: BLE001 a server may send anything
                    what, cause = f"the answer broke off: {_error_text(error)}", error
                raise JudgeFailed(f"{self.name}: {what}", fix=fix) from cause

    def _parameters(self, question: Question, messages: list[dict[str, str]]) -> dict[str, Untyped]:
        """Return the API parameters of a question, using the first reply form not yet rejected."""
        form = next(form for form in _FORMS if form not in self.refused)
        room = "max_completion_tokens" if "max_tokens" in self.refused else "max_tokens"
        more: dict[str, Untyped] = {}
        if form != "text":
            more["response_format"] = {"type": form}
        if form == "json_schema":
            schema = {"name": question.kind, "strict": False, "schema": question.schema}
            more["response_format"] |= {"json_schema": schema}
        if "stream_options" not in self.refused:
            more["stream_options"] = {"include_usage": True}
        return {
            "model": self.model,
            "messages": messages,
            room: self.room(question),
            "stream": True,
            **more,
        }

    def _can_omit(self, parameters: Mapping[str, Untyped], error: Untyped) -> bool:
        """Record which parameter the server rejected. Return False if none can be omitted."""
        message = _error_text(error).casefold()
        for name in ("max_tokens", "stream_options"):
            if name in parameters and name in message:
                self.refused.add(name)
                return True
        if "response_format" in parameters:
            self.refused.add(parameters["response_format"]["type"])
            return True
        return False

    def _read(self, stream: Untyped) -> Reply:
        """Combine the chunks of a streamed answer. All values from the server are validated."""
        texts: dict[str, str] = {"content": "", "refusal": ""}
        reason, reported = "", None
        for chunk in stream:
            self.heard()
            reported = getattr(chunk, "usage", None) or reported
            for choice in getattr(chunk, "choices", None) or ():
                reason = getattr(choice, "finish_reason", None) or reason
                for name in texts:
                    part = getattr(getattr(choice, "delta", None), name, None)
                    texts[name] += part if isinstance(part, str) else ""
        refusal = texts["refusal"]
        if reason == "content_filter":
            refusal = refusal or "the service filtered the answer"
        prompt_tokens = _count(reported, "prompt_tokens")
        details = getattr(reported, "prompt_tokens_details", None)
        cached = min(prompt_tokens, _count(details, "cached_tokens"))
        return Reply(
            text=texts["content"],
            usage=self.usage(
                fresh=prompt_tokens - cached,
                output=_count(reported, "completion_tokens"),
                cache_read=cached,
            ),
            cut=reason == "length",
            refusal=f"the model refused: {refusal[:_SHOWN]}" if refusal else "",
        )


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
            raise UsageError(
                f"the judge's command is not on the PATH: {self.arguments[0]}",
                fix='install it, or set judge = "offline" below [run] in memrepo.toml',
            )

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
