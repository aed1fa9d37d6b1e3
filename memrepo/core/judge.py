"""What every judge shares: the errors it raises, what it costs, and the statements it sees."""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Source

OperationName = Literal["add", "replace", "same", "close"]
VerdictWord = Literal["reject", "defer", "promote"]
Profile = Literal["personal", "business"]
TokenSource = Literal["exact", "approximate", "unavailable"]
TOKEN_SOURCES: tuple[TokenSource, ...] = ("exact", "approximate", "unavailable")
"""Ordered from the strongest to the weakest. A sum has the weakest source of its parts."""


class JudgeFailed(MemrepoError):
    """Raised when the judge is unavailable.

    Earlier answers are used, and the remaining work is deferred. `raw` is the unusable answer,
    saved to a file for inspection. `tried` lists why each way of parsing it failed.
    """

    exit_code = Exit.MODEL

    def __init__(
        self,
        message: str,
        *,
        fix: str = "",
        raw: str = "",
        tried: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, fix=fix)
        self.raw, self.tried = raw, tried


class BadReply(JudgeFailed):
    """Raised when a request was refused or its answer is unusable.

    The next request may succeed.
    """


class BudgetReached(MemrepoError):
    """Raised instead of making a call that could cost more than the remaining budget."""

    exit_code = Exit.MODEL


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of judging so far: tokens, US dollars (None if the price is unknown) and calls.

    `prompt` counts all input tokens, including those written to and read from a cache.
    """

    prompt: int = 0
    completion: int = 0
    cache_write: int = 0
    cache_read: int = 0
    source: TokenSource = "unavailable"
    cost_usd: float | None = 0.0
    calls: int = 0

    @property
    def total(self) -> int:
        """Return the number of input and output tokens."""
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        if not self.calls or not other.calls:
            return self if self.calls else other
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
            cache_write=self.cache_write + other.cache_write,
            cache_read=self.cache_read + other.cache_read,
            source=max(self.source, other.source, key=TOKEN_SOURCES.index),
            cost_usd=None if None in costs else round(sum(c or 0.0 for c in costs), 8),
            calls=self.calls + other.calls,
        )

    def tokens(self) -> dict[str, int | str]:
        """Return the token counts as a mapping for manifests and JSON output."""
        block: dict[str, int | str] = {
            "prompt": self.prompt,
            "completion": self.completion,
            "total": self.total,
            "source": self.source,
        }
        if self.cache_write or self.cache_read:
            block |= {"cache_write": self.cache_write, "cache_read": self.cache_read}
        return block


class Statement(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A checked operation with its evidence, as every judge hands it on.

    `memory` is the memory or the statement that an operation other than `add` concerns. `former`
    has the (resource, text hash) pairs of its lines before they were edited. `is_quoted` is whether
    its text is that of its lines, so that the lines identify it. `rank` and `signs` say why rules
    chose it.
    """

    id: str
    op: OperationName = "add"
    text: str = ""
    type: str = "fact"
    title: str = ""
    subject: str = ""
    predicate: str = ""
    object: str = ""
    standing: str = "resolved"
    tags: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    context: str = ""
    former: frozenset[tuple[str, str]] = frozenset()
    memory: str = ""
    still: str = ""
    until: str = ""
    is_quoted: bool = True
    is_nominated: bool = False
    rank: float = 0.0
    signs: tuple[str, ...] = ()
