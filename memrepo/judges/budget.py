"""Budgets: what one run and one month may spend, checked before every call.

The estimate is conservative: a third of the question's bytes and every token the answer may have.
Pass 1 also leaves room for Pass 2, one call for each call made: judged and never worded would be
paid for again in every run.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from operator import add

import msgspec

from memrepo.core.judge import BudgetReached, Usage
from memrepo.core.times import format_time
from memrepo.judges.model import Backend, Reply
from memrepo.judges.prompting import Prompt
from memrepo.purify.manifest import Recorded

MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """What a model costs, in US dollars a million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float

    def cost(self, *, fresh: int, output: int, cache_write: int = 0, cache_read: int = 0) -> float:
        """Return US dollars; `fresh` are input tokens that no cache was asked for or given."""
        return (
            fresh * self.input
            + output * self.output
            + cache_write * self.cache_write
            + cache_read * self.cache_read
        ) / MILLION

    def bound(self, prompt: int, completion: int) -> float:
        """Return the most that so many tokens may cost, wherever they come from."""
        return (prompt * max(self.input, self.cache_write) + completion * self.output) / MILLION


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """The most a run, or a month, may spend; None is no limit. `spent` is what is gone already."""

    what: str
    usd: float | None = None
    tokens: int | None = None
    spent: Usage = msgspec.field(default_factory=Usage)

    def refuse(self, used: Usage, usd: float, tokens: int) -> str:
        """Return why the next call must not be made, or an empty string."""
        gone = self.spent + used
        if self.tokens is not None and gone.total + tokens > self.tokens:
            return (
                f"{self.what} may use {self.tokens} tokens: {gone.total} are used and the next "
                f"call may need {tokens}"
            )
        cost = gone.cost_usd or 0.0
        if self.usd is not None and cost + usd > self.usd:
            return (
                f"{self.what} may cost {self.usd:.2f} USD: {cost:.4f} are spent and the next "
                f"call may need {usd:.4f}"
            )
        return ""


def spent_in_month(now: datetime, recorded: Iterable[Recorded]) -> Usage:
    """Add up what the manifests of one calendar month (UTC) say was spent."""
    month = format_time(now)[:7]
    return reduce(add, (m.usage for m in recorded if m.now[:7] == month), Usage())


class Budgeted:
    """A backend that stops before it overspends; implements `judges.model.Backend`.

    `max_output` bounds the tokens of one answer, `price` is None where none is known.
    """

    def __init__(
        self, inner: Backend, limits: tuple[Limit, ...], *, max_output: int, price: Price | None
    ) -> None:
        self._inner = inner
        self._limits = limits
        self._max_output = max_output
        self._price = price
        self._used = Usage()
        self._promotion = Usage()

    @property
    def name(self) -> str:
        """Return the inner backend's name."""
        return self._inner.name

    def ask(self, prompt: Prompt) -> Reply:
        """Ask if every limit allows it; raises BudgetReached."""
        tokens = prompt.token_bound + self._max_output
        usd = self._price.bound(prompt.token_bound, self._max_output) if self._price else 0.0
        if prompt.name == "promotion":
            usd, tokens = self._with_reserve(usd, tokens)
        for limit in self._limits:
            if why := limit.refuse(self._used, usd, tokens):
                raise BudgetReached(
                    why, fix="raise the limit; what is finished lands, the rest waits"
                )
        reply = self._inner.ask(prompt)
        self._used += reply.usage
        if prompt.name == "promotion":
            self._promotion += reply.usage
        return reply

    def _with_reserve(self, usd: float, tokens: int) -> tuple[float, int]:
        """Add a Pass 2 call for each Pass 1 call, this one included, at what such calls cost."""
        calls = self._promotion.calls
        if not calls:
            return usd * 2, tokens * 2
        each_usd = (self._promotion.cost_usd or 0.0) / calls
        each_tokens = self._promotion.total // calls
        return usd + usd + calls * each_usd, tokens + tokens + calls * each_tokens
