"""Message Batches of the official SDK: send, look, fetch; no question goes out by a retry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import JudgeFailed
from memrepo.judges.budget import Price
from memrepo.judges.claude import Claude, sdk
from memrepo.judges.message_batches import Outcome, Seen, Unsure
from memrepo.judges.prompting import Prompt

SHARE = 0.5
"""What a question of a batch costs of one that is asked at once."""
_LISTED = 100
T = TypeVar("T")
Untyped = Any
"""What the SDK hands over: it is imported where it is needed, and its own types with it."""


def halved(price: Price | None) -> Price | None:
    """Return the prices of a batch."""
    if price is None:
        return None
    parts = {name: getattr(price, name) * SHARE for name in price.__struct_fields__}
    return Price(**parts)


class BatchService(msgspec.Struct, frozen=True, kw_only=True):
    """Batches by the Messages API; implements `judges.message_batches.Service`."""

    claude: Claude

    def submit(self, prompts: Mapping[str, Prompt]) -> str:
        """Send a batch once, and return its name; raises JudgeFailed, or Unsure."""
        anthropic = sdk()

        rows: Untyped = [
            {"custom_id": id_, "params": self.claude.asking(prompt)}
            for id_, prompt in prompts.items()
        ]
        try:
            with replace(self.claude, max_retries=0).client() as client:
                return str(client.messages.batches.create(requests=rows).id)
        except anthropic.APIStatusError as error:
            if error.status_code >= 500 and error.status_code != 529:
                raise Unsure from error
            raise self.claude.refused(error) from error
        except (anthropic.APIConnectionError, anthropic.APIResponseValidationError) as error:
            raise Unsure from error

    def look(self, batch: str) -> Seen:
        """Return how far a batch is."""
        return self._asked(lambda client: _seen(client.messages.batches.retrieve(batch)))

    def recent(self) -> Iterator[Seen]:
        """Yield the newest batches that the service knows."""

        def listed(client: Untyped) -> list[Seen]:
            return [_seen(one) for one in client.messages.batches.list(limit=_LISTED).data]

        yield from self._asked(listed)

    def results(self, batch: str) -> Iterator[Outcome]:
        """Yield what became of each question of a batch that has ended."""

        def fetched(client: Untyped) -> list[dict[str, Untyped]]:
            return [one.model_dump() for one in client.messages.batches.results(batch)]

        judge = replace(self.claude, price=halved(self.claude.price))
        for row in self._asked(fetched):
            result = row.get("result") or {}
            kind, message = str(result.get("type", "")), result.get("message")
            done = kind == "succeeded" and isinstance(message, dict)
            reply = judge.read(message) if done and message else None
            yield Outcome(id=str(row.get("custom_id", "")), kind=kind, reply=reply)

    def _asked(self, ask: Callable[[Untyped], T]) -> T:
        anthropic = sdk()

        try:
            with self.claude.client() as client:
                return ask(client)
        except anthropic.APIStatusError as error:
            raise self.claude.refused(error) from error
        except (anthropic.AnthropicError, ValueError, AttributeError) as error:
            said = " ".join(str(error).split())[:300]
            raise JudgeFailed(
                f"{self.claude.name}: {said}", fix="check the connection; the batch is kept"
            ) from error


def _seen(batch: Untyped) -> Seen:
    counts = batch.request_counts
    names = ("processing", "succeeded", "errored", "canceled", "expired")
    return Seen(
        id=str(batch.id),
        ended=batch.processing_status == "ended",
        questions=sum(getattr(counts, name) for name in names),
    )
