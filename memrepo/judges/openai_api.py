"""Judge with any endpoint that implements the OpenAI API, through the official SDK.

Ollama, LM Studio, llama.cpp, vLLM and OpenRouter do so. The SDK streams and retries. Servers accept
different forms of reply: bound to the schema, any JSON object, or plain text. The forms are tried
in this order. If the text has no answer, the question is sent once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import JudgeFailed, Usage
from memrepo.judges.budget import Price
from memrepo.judges.claude import NoCredentials
from memrepo.judges.model import Reply
from memrepo.judges.prompting import Prompt
from memrepo.judges.replies import holds_answer

REPAIR = (
    "That is not the JSON object that was asked for. Answer again, with the JSON object only:"
    " no other text before or after it."
)
_CONNECT_S = 15.0
_NO_KEY = "none"
"""The API key sent to a private server that requires none."""
_PUBLIC = "api.openai.com"
_LISTED = 8
_FORMS = ("json_schema", "json_object", "text")
Untyped = Any
"""The type of SDK objects. The SDK is imported lazily, so its own types are not available."""


def sdk() -> Untyped:
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
        openai = sdk()
        how = {
            "base_url": self.base_url or None,
            "max_retries": self.max_retries,
            "timeout": openai.Timeout(self.timeout_s, connect=min(_CONNECT_S, self.timeout_s)),
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
        openai = sdk()
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
                        f"{self.name}: no connection to {client.base_url}: {_told(error)}",
                        fix="start the server, or set judge.openai_base_url",
                    ) from error
                except openai.NotFoundError as error:
                    raise self._unknown(client, error) from error
                except openai.APIStatusError as error:
                    if error.status_code not in (400, 422) or not self._yield(asking, error):
                        fix = "check OPENAI_API_KEY" if error.status_code in (401, 403) else ""
                        what = f"HTTP {error.status_code}: {_told(error)}"
                        raise JudgeFailed(f"{self.name}: {what}", fix=fix) from error
                except (openai.OpenAIError, ValueError, OSError) as error:
                    raise JudgeFailed(
                        f"{self.name}: the answer broke off: {_told(error)}"
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
        said = _told(error).casefold()
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
        asked, said = _count(told, "prompt_tokens"), _count(told, "completion_tokens")
        cached = min(asked, _count(getattr(told, "prompt_tokens_details", None), "cached_tokens"))
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
        openai = sdk()
        try:
            names = [str(model.id) for model in client.models.list().data][:_LISTED]
        except (openai.OpenAIError, AttributeError, TypeError):
            names = []
        has = (
            f"the server has {', '.join(names)}" if names else "check judge.model and the base URL"
        )
        return JudgeFailed(
            f"{self.name}: HTTP 404: {_told(error)}",
            fix=f"{has}: `memrepo config set judge.model NAME`" if names else has,
        )


def _is_answer(text: str, prompt: Prompt) -> bool:
    key = prompt.key_of_answers
    return holds_answer(text, key, several=prompt.name not in ("gist", "summary"))


def _text(delta: Untyped, name: str) -> str:
    found = getattr(delta, name, None)
    return found if isinstance(found, str) else ""


def _count(usage: Untyped, name: str) -> int:
    found = getattr(usage, name, None)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


def _told(error: Untyped) -> str:
    return " ".join(str(getattr(error, "message", "") or error or type(error).__name__).split())[
        :300
    ]
