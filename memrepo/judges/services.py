"""Judge with a model behind an API: Claude, or any endpoint that speaks the OpenAI API.

Each uses its official SDK, which is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.judge import JudgeFailed, Usage
from memrepo.judges.model import Price, Reply
from memrepo.judges.prompting import Prompt, holds_answer

_UNUSABLE = (ValueError, TypeError, AttributeError, KeyError, AssertionError, RuntimeError)
"""Exceptions the SDK raises when a server sends anything but the events of a message."""

_CACHED: object = {"type": "ephemeral"}

_CONNECT_S = 15.0

_CUT = ("max_tokens", "model_context_window_exceeded")

_DONE = ("end_turn", "stop_sequence")

_FIXES = {
    401: "check ANTHROPIC_API_KEY",
    403: "check the permissions of the key",
    404: "check judge.model and the base URL",
    413: "the batch is too large for this endpoint",
    429: "wait, or raise judge.max_retries",
}


class NoCredentials(MemrepoError):
    """Raised when the SDK finds no API key, token or profile."""

    exit_code = Exit.USAGE

    def __init__(
        self,
        what: str = "the anthropic judge has no credentials",
        fix: str = "set ANTHROPIC_API_KEY, or use --judge offline",
    ) -> None:
        super().__init__(what, fix=fix)


class NoClient(NoCredentials):
    """Raised when the SDK, an optional dependency, is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "the anthropic judge needs the package anthropic",
            fix="`pip install '.[claude]'` in memrepo's checkout, or use --judge offline",
        )


def claude_sdk() -> Any:
    """Import and return the SDK. Raises NoClient if the SDK is not installed."""
    try:
        import anthropic
    except ModuleNotFoundError as error:
        if error.name != "anthropic":
            raise
        raise NoClient from error
    return anthropic


class _Broken(JudgeFailed):
    """Raised when an answer is interrupted or does not arrive in time."""


class _Watch:
    """A watchdog that closes a stream if no part of the answer arrives for some seconds.

    The SDK ignores pings, so a server that sends only pings would block a run forever.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.is_late = seconds, False
        self.heard = Event()
        self._ended = False

    @contextmanager
    def over(self, stream: Any) -> Iterator[None]:
        """Watch a stream while the `with` block runs.

        The block must set `heard` for each part received.
        """
        thread = Thread(target=self._watch, args=(stream,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended = True
            self.heard.set()
            thread.join()

    def _watch(self, stream: Any) -> None:
        while not self._ended:
            self.heard.clear()
            if not self.heard.wait(self.seconds) and not self._ended:
                self.is_late = True
                stream.close()
                return


class Claude(msgspec.Struct, frozen=True, kw_only=True):
    """Claude through the Messages API. The class implements `judges.model.Backend`.

    `timeout_s` limits how long a server may ask memrepo to wait before a retry. `idle_s` limits how
    long no part of an answer arrives. If `base_url` is empty, the SDK chooses it. If `effort` or
    `thinking` is empty, the model's default applies.
    """

    model: str
    max_tokens: int
    timeout_s: float
    max_retries: int
    idle_s: float = 90.0
    price: Price | None = None
    verify_model: str = ""
    """The model for verification questions. If empty, `model` is used."""
    verify_price: Price | None = None
    base_url: str = ""
    effort: str = ""
    thinking: str = ""
    heard: Callable[[], object] = lambda: None
    """Called for each part of an answer."""

    @property
    def name(self) -> str:
        """Return the names of the provider and the model."""
        return f"anthropic/{self.model}"

    def refuse_without_key(self) -> None:
        """Raise NoCredentials if the SDK finds no credentials. No request is sent."""
        self.client().close()

    def ask(self, prompt: Prompt) -> Reply:
        """Send a prompt, retrying interrupted answers. Raises JudgeFailed or NoCredentials.

        The usage of interrupted answers is added to that of the complete one.
        """
        lost = Usage()
        for left in range(self.max_retries, -1, -1):
            try:
                reply = self._once(prompt)
            except _Broken as broken:
                lost += broken.usage
                if not left:
                    raise JudgeFailed(broken.message, fix=broken.fix, usage=lost) from broken
            except JudgeFailed as failed:
                failed.usage = lost
                raise
            else:
                return replace(reply, usage=reply.usage + lost) if lost.calls else reply
        raise AssertionError("a range that ends with 0 has an end")

    def _once(self, prompt: Prompt) -> Reply:
        """Send a prompt once. Raises _Broken if the answer is interrupted.

        The SDK retries requests whose answer has not begun.
        """
        anthropic = claude_sdk()
        import httpx2

        stream: Any = None
        watch = _Watch(self._patience_s)
        try:
            with (
                self.client() as client,
                client.messages.stream(**self.asking(prompt)) as stream,
                watch.over(stream),
            ):
                for _ in stream:
                    watch.heard.set()
                    self.heard()
                message = stream.get_final_message().model_dump()
        except anthropic.APIStatusError as error:
            if error.status_code >= 400:
                raise self.refused(error) from error
            raise self._broken(stream, _error_message(error), "") from error
        except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
            late = self._late(stream)
            if stream is None:
                raise JudgeFailed(late.message, fix=late.fix) from error
            raise late from error
        except (
            anthropic.AnthropicError,
            httpx2.HTTPError,
            httpx2.StreamError,
            *_UNUSABLE,
        ) as error:
            if watch.is_late:
                raise self._late(stream) from error
            why = f"the answer broke off: {_error_message(error)}"
            raise self._broken(stream, why, "check the connection and the base URL") from error
        if message.get("stop_reason") is None:
            if watch.is_late:
                raise self._late(stream)
            why = "the answer broke off: the connection ended"
            raise self._broken(stream, why, "check the connection")
        return self.read(message)

    def _late(self, stream: Any) -> _Broken:
        why = f"no answer within {self._patience_s:g} s"
        return self._broken(stream, why, "raise judge.idle_s or judge.timeout_s")

    def asking(self, prompt: Prompt) -> dict[str, Any]:
        """Return the Messages API parameters for one question."""
        content: list[object] = [{"type": "text", "text": prompt.data}]
        if prompt.context:
            content.insert(0, {"type": "text", "text": prompt.context, "cache_control": _CACHED})
        schema: object = {"type": "json_schema", "schema": dict(prompt.schema)}
        return {
            "model": self._model(prompt),
            "max_tokens": min(self.max_tokens, prompt.room or self.max_tokens),
            "system": [{"type": "text", "text": prompt.system, "cache_control": _CACHED}],
            "messages": [{"role": "user", "content": content}],
            "output_config": {"format": schema, **({"effort": self.effort} if self.effort else {})},
            **({"thinking": {"type": self.thinking}} if self.thinking else {}),
        }

    def _model(self, prompt: Prompt) -> str:
        verifying = prompt.name == "verification" and self.verify_model
        return self.verify_model if verifying else self.model

    def refused(self, error: Any) -> JudgeFailed:
        """Return the JudgeFailed exception for an HTTP error status."""
        return JudgeFailed(
            f"{self.name}: HTTP {error.status_code}: {_error_message(error)}",
            fix=_FIXES.get(error.status_code, ""),
        )

    @property
    def _patience_s(self) -> float:
        return min(self.idle_s, self.timeout_s)

    def _broken(self, stream: Any, why: str, fix: str) -> _Broken:
        """Return the _Broken exception for an interrupted answer.

        The estimated usage assumes four letters per token.
        """
        usage = Usage()
        try:
            so_far = stream.current_message_snapshot.model_dump()
            text = "".join(b.get("text") or "" for b in so_far["content"])
            used = so_far["usage"]
            said = max(_count(used, "output_tokens"), len(text) // 4)
            usage = self._usage({**used, "output_tokens": said})
        except (AttributeError, AssertionError, KeyError, TypeError):
            pass  # no part of the answer arrived
        return _Broken(f"{self.name}: {why}", fix=fix, usage=usage)

    def client(self) -> Any:
        """Create an `anthropic.Anthropic` client for one question, with a short connect timeout."""
        anthropic = claude_sdk()
        timeout = anthropic.Timeout(self._patience_s, connect=min(_CONNECT_S, self._patience_s))
        client = anthropic.Anthropic(
            base_url=self.base_url or None,
            timeout=timeout,
            max_retries=self.max_retries,
            open_telemetry=False,
            http_client=anthropic.DefaultHttpxClient(
                event_hooks={"response": [self._patience]}, timeout=timeout
            ),
        )
        if not (client.api_key or client.auth_token or client.credentials):
            client.close()
            raise NoCredentials
        return client

    def _patience(self, response: Any) -> None:
        """Disable the SDK's retry if the server asks for a wait longer than `timeout_s`.

        The SDK would sleep for any time that a server asks for.
        """
        try:
            wait = float(response.headers.get("retry-after", "0"))
        except ValueError:
            return
        if wait > self.timeout_s:
            response.headers["x-should-retry"] = "false"

    def read(self, message: Mapping[str, Any]) -> Reply:
        """Convert a message to a Reply. All values from the server are validated."""
        blocks = message.get("content")
        held = [b for b in blocks or () if isinstance(b, dict) and b.get("type") == "text"]
        reason = str(message.get("stop_reason") or "end_turn")
        return Reply(
            text="".join(text for b in held if isinstance(text := b.get("text"), str)),
            usage=self._usage(message.get("usage"), str(message.get("model", ""))),
            cut=reason in _CUT,
            refusal=_refusal(message, reason),
        )

    def _usage(self, usage: object, model: str = "") -> Usage:
        fresh, output, written, read = (
            _count(usage, name)
            for name in (
                "input_tokens",
                "output_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
            )
        )
        cost, price = None, self.price
        if self.verify_model and model.startswith(self.verify_model):
            price = self.verify_price
        if price is not None:
            cost = price.cost(fresh=fresh, output=output, cache_write=written, cache_read=read)
        return Usage(
            prompt=fresh + written + read,
            completion=output,
            cache_write=written,
            cache_read=read,
            source="exact" if fresh or output else "unavailable",
            cost_usd=cost,
            calls=1,
        )


def _count(usage: object, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


def _refusal(message: Mapping[str, object], reason: str) -> str:
    if reason in _CUT or reason in _DONE:
        return ""
    if reason != "refusal":
        return f"the model stopped before the end of its answer: {reason}"
    details = message.get("stop_details")
    category = details.get("category") if isinstance(details, dict) else None
    return f"the model refused to answer ({category})" if category else "the model refused"


def _error_message(error: Exception) -> str:
    text = getattr(error, "api_message", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:300]


REPAIR = (
    "That is not the JSON object that was asked for. Answer again, with the JSON object only:"
    " no other text before or after it."
)

_CONNECT_S2 = 15.0

_NO_KEY = "none"
"""The API key sent to a private server that requires none."""

_PUBLIC = "api.openai.com"

_LISTED = 8

_FORMS = ("json_schema", "json_object", "text")

Untyped = Any
"""The type of SDK objects. The SDK is imported lazily, so its own types are not available."""


def openai_sdk() -> Untyped:
    """Import and return the SDK. Raises NoCredentials if the SDK is not installed."""
    try:
        import openai
    except ModuleNotFoundError as error:
        if error.name != "openai":
            raise
        raise NoCredentials(
            "the openai judge needs the package openai",
            fix="`pip install '.[openai]'` in memrepo's checkout, or use --judge offline",
        ) from error
    return openai


class OpenAI(msgspec.Struct, frozen=True, kw_only=True):
    """A model behind an OpenAI-compatible API. The class implements `judges.model.Backend`.

    `timeout_s` limits how long a server may send nothing. A local model may need minutes to read a
    question. If `base_url` is empty, the SDK chooses it.
    """

    model: str
    max_tokens: int
    timeout_s: float
    max_retries: int
    base_url: str = ""
    verify_model: str = ""
    price: Price | None = None
    heard: Callable[[], object] = lambda: None
    refused: set[str] = msgspec.field(default_factory=set)
    """Reply forms and parameter names that the server rejected."""

    @property
    def name(self) -> str:
        """Return the names of the provider and the model."""
        return f"openai/{self.model}"

    def refuse_without_key(self) -> None:
        """Raise NoCredentials if neither a key nor a private server is configured."""
        self.client().close()

    def client(self) -> Untyped:
        """Create an `openai.OpenAI` client for one question."""
        openai = openai_sdk()
        how = {
            "base_url": self.base_url or None,
            "max_retries": self.max_retries,
            "timeout": openai.Timeout(self.timeout_s, connect=min(_CONNECT_S2, self.timeout_s)),
        }
        try:
            return openai.OpenAI(**how)
        except openai.OpenAIError:
            client = openai.OpenAI(api_key=_NO_KEY, **how)
        if client.base_url.host == _PUBLIC:
            client.close()
            raise NoCredentials(
                "the openai judge has neither a server nor a key",
                fix="`git config memrepo.judge.openai-base-url http://localhost:11434/v1`, or set"
                " OPENAI_API_KEY",
            )
        return client

    def ask(self, prompt: Prompt) -> Reply:
        """Send a prompt, and repeat it once if the reply contains no answer.

        Raises JudgeFailed or NoCredentials.
        """
        system = "\n\n".join((prompt.system, prompt.spelled))
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": "\n\n".join(filter(None, (prompt.context, prompt.data)))},
        ]
        reply = self._once(prompt, messages)
        if reply.cut or reply.refusal or _is_answer(reply.text, prompt):
            return reply
        messages += [
            {"role": "assistant", "content": reply.text},
            {"role": "user", "content": REPAIR},
        ]
        second = self._once(prompt, messages)
        return replace(second, usage=reply.usage + second.usage)

    def _once(self, prompt: Prompt, messages: list[dict[str, str]]) -> Reply:
        openai = openai_sdk()
        with self.client() as client:
            while True:
                asking = self._asking(prompt, messages)
                try:
                    return self._read(client.chat.completions.create(**asking), prompt)
                except openai.APITimeoutError as error:
                    raise JudgeFailed(
                        f"{self.name}: no output for {self.timeout_s:g} s",
                        fix="raise judge.timeout_s, or take a smaller model",
                    ) from error
                except openai.APIConnectionError as error:
                    raise JudgeFailed(
                        f"{self.name}: no connection to {client.base_url}: {_error_text(error)}",
                        fix="start the server, or set judge.openai_base_url",
                    ) from error
                except openai.NotFoundError as error:
                    raise self._unknown(client, error) from error
                except openai.APIStatusError as error:
                    if error.status_code not in (400, 422) or not self._yield(asking, error):
                        fix = "check OPENAI_API_KEY" if error.status_code in (401, 403) else ""
                        what = f"HTTP {error.status_code}: {_error_text(error)}"
                        raise JudgeFailed(f"{self.name}: {what}", fix=fix) from error
                except (openai.OpenAIError, ValueError, OSError) as error:
                    raise JudgeFailed(
                        f"{self.name}: the answer broke off: {_error_text(error)}"
                    ) from error

    def _asking(self, prompt: Prompt, messages: list[dict[str, str]]) -> dict[str, Untyped]:
        """Return the API parameters of a question, using the first reply form not yet rejected."""
        form = next(form for form in _FORMS if form not in self.refused)
        room = "max_completion_tokens" if "max_tokens" in self.refused else "max_tokens"
        schema = {"name": prompt.name, "strict": False, "schema": dict(prompt.schema)}
        more: dict[str, Untyped] = {}
        if form != "text":
            more["response_format"] = {"type": form}
        if form == "json_schema":
            more["response_format"] |= {"json_schema": schema}
        if "stream_options" not in self.refused:
            more["stream_options"] = {"include_usage": True}
        return {
            "model": self._model(prompt),
            "messages": messages,
            room: min(self.max_tokens, prompt.room or self.max_tokens),
            "stream": True,
            **more,
        }

    def _model(self, prompt: Prompt) -> str:
        return (
            self.verify_model if prompt.name == "verification" and self.verify_model else self.model
        )

    def _yield(self, asking: Mapping[str, Untyped], error: Untyped) -> bool:
        """Record which parameter the server rejected. Return False if none can be omitted."""
        said = _error_text(error).casefold()
        for name in ("max_tokens", "stream_options"):
            if name in asking and name in said:
                self.refused.add(name)
                return True
        if "response_format" in asking:
            self.refused.add(asking["response_format"]["type"])
            return True
        return False

    def _read(self, stream: Untyped, prompt: Prompt) -> Reply:
        """Combine the chunks of a streamed answer. All values from the server are validated."""
        text, refusal, reason, usage = "", "", "", None
        for chunk in stream:
            self.heard()
            usage = getattr(chunk, "usage", None) or usage
            for choice in getattr(chunk, "choices", None) or ():
                reason = getattr(choice, "finish_reason", None) or reason
                delta = getattr(choice, "delta", None)
                text += _text(delta, "content")
                refusal += _text(delta, "refusal")
        if reason == "content_filter":
            refusal = refusal or "the service filtered the answer"
        return Reply(
            text=text,
            usage=self._usage(usage, prompt),
            cut=reason == "length",
            refusal=f"the model refused: {refusal[:300]}" if refusal else "",
        )

    def _usage(self, told: Untyped, prompt: Prompt) -> Usage:
        asked, said = _count_attr(told, "prompt_tokens"), _count_attr(told, "completion_tokens")
        cached = min(
            asked, _count_attr(getattr(told, "prompt_tokens_details", None), "cached_tokens")
        )
        cost = None
        if self.price is not None and self._model(prompt) == self.model:
            cost = self.price.cost(fresh=asked - cached, output=said, cache_read=cached)
        return Usage(
            prompt=asked,
            completion=said,
            cache_read=cached,
            source="exact" if asked or said else "unavailable",
            cost_usd=cost,
            calls=1,
        )

    def _unknown(self, client: Untyped, error: Untyped) -> JudgeFailed:
        """Return the failure for an unknown model, listing the models that the server offers."""
        openai = openai_sdk()
        try:
            names = [str(model.id) for model in client.models.list().data][:_LISTED]
        except (openai.OpenAIError, AttributeError, TypeError):
            names = []
        has = (
            f"the server has {', '.join(names)}" if names else "check judge.model and the base URL"
        )
        return JudgeFailed(
            f"{self.name}: HTTP 404: {_error_text(error)}",
            fix=f"{has}: `memrepo config set judge.model NAME`" if names else has,
        )


def _is_answer(text: str, prompt: Prompt) -> bool:
    key = prompt.key_of_answers
    return holds_answer(text, key, several=prompt.name not in ("gist", "summary"))


def _text(delta: Untyped, name: str) -> str:
    found = getattr(delta, name, None)
    return found if isinstance(found, str) else ""


def _count_attr(usage: Untyped, name: str) -> int:
    found = getattr(usage, name, None)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


def _error_text(error: Untyped) -> str:
    return " ".join(str(getattr(error, "message", "") or error or type(error).__name__).split())[
        :300
    ]
