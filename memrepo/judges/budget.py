"""Check before every call that the budgets of the run and the month permit the call.

The prompt is estimated at a third of its bytes in tokens. The answer is estimated from earlier
answers, or from OUTPUT. The limit for the answer is the remaining budget, so no call can exceed it.

Pass 1 also reserves tokens for Pass 2, because promoted candidates should be worded in the same
run. If a service reports no usage, the estimate is charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import BudgetReached, JudgeFailed, Usage
from memrepo.judges.asking import CHECKS
from memrepo.judges.model import BATCH, Backend, Reply
from memrepo.judges.prompting import PassName, Prompt, instructions

MILLION = 1_000_000
OUTPUT: Mapping[PassName, int] = {
    "promotion": 140,
    "purifier": 320,
    "verification": 45,
    "contradiction": 110,
    "gist": 200,
    "summary": 400,
}
"""Maximum tokens of the answer to one item, without thinking, until answers were observed."""
_FRAME = 60
_MARGIN = 1.25


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a model in US dollars per million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float

    def cost(self, *, fresh: int, output: int, cache_write: int = 0, cache_read: int = 0) -> float:
        """Return the cost of a call in US dollars.

        `fresh` counts input tokens not read from or written to a cache.
        """
        return (
            fresh * self.input
            + output * self.output
            + cache_write * self.cache_write
            + cache_read * self.cache_read
        ) / MILLION

    def bound(self, prompt: int, completion: int) -> float:
        """Return the maximum cost of a call with these token counts, whatever a cache saves."""
        return (prompt * max(self.input, self.cache_write) + completion * self.output) / MILLION


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """A limit on dollars and tokens for a run or a month. None means no limit.

    `spent` is the usage so far.
    """

    what: str
    usd: float | None = None
    tokens: int | None = None
    spent: Usage = msgspec.field(default_factory=Usage)

    def room(self, used: Usage, prompt: int, price: Price | None) -> int:
        """Return the maximum length of an answer in tokens, given the tokens of the prompt."""
        gone = self.spent + used
        rooms = [10**9]
        if self.tokens is not None:
            rooms.append(self.tokens - gone.total - prompt)
        if self.usd is not None and price is not None and price.output:
            left = self.usd - (gone.cost_usd or 0.0) - price.bound(prompt, 0)
            rooms.append(int(left * MILLION / price.output))
        return max(min(rooms), 0)

    def over(self, usd: float, tokens: int) -> str:
        """Return why a run with the given cost and tokens exceeds the limit, or an empty string."""
        gone = self.spent
        if self.tokens is not None and gone.total + tokens > self.tokens:
            return f"{self.what} may use {self.tokens} tokens, {gone.total} are used"
        if self.usd is not None and (gone.cost_usd or 0.0) + usd > self.usd:
            return f"{self.what} may cost {self.usd:.2f} USD, {gone.cost_usd or 0.0:.4f} are spent"
        return ""

    def refuse(self, used: Usage, usd: float, tokens: int) -> str:
        """Return why the next call would exceed the limit, or an empty string."""
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


class Budgeted:
    """A backend that refuses calls over a limit. It implements `judges.model.Backend`.

    `max_output` is the maximum tokens of one answer. `price` is None if unknown.
    """

    def __init__(
        self, inner: Backend, limits: tuple[Limit, ...], *, max_output: int, price: Price | None
    ) -> None:
        self._inner = inner
        self._limits = limits
        self._max_output = max_output
        self._price = price
        self._used = Usage()
        self._seen: dict[PassName, tuple[int, int]] = {}
        self._reserved = Usage()

    @property
    def name(self) -> str:
        """Return the name of the wrapped backend."""
        return self._inner.name

    def ask(self, prompt: Prompt) -> Reply:
        """Send a prompt if all limits permit it. Raises BudgetReached otherwise."""
        said, asked = self._expected(prompt.name, prompt.items), prompt.token_bound
        need, later = self._needs(prompt, asked, said)
        if why := self._refused(need + later):
            fix = "raise the limit; finished work lands, the rest waits for the next run"
            raise BudgetReached(why, fix=fix, too_large=True)
        room = self._max_output
        for limit in self._limits:
            room = min(room, limit.room(self._used, asked, self._price))
        try:
            reply = self._inner.ask(replace(prompt, room=max(room, said)))
        except JudgeFailed as failed:
            self._used += failed.usage
            raise
        if reply.usage.calls and not reply.usage.total:
            words = -(-len(reply.text.encode()) // 3)
            reply = replace(reply, usage=self._priced(prompt.token_bound, max(said, words)))
        self._used += reply.usage
        items, tokens = self._seen.get(prompt.name, (0, 0))
        self._seen[prompt.name] = items + prompt.items, tokens + reply.usage.completion
        if prompt.name == "promotion":
            self._reserved = later
        return reply

    def _needs(self, prompt: Prompt, asked: int, said: int) -> tuple[Usage, Usage]:
        """Return the estimated usage of a question, and the usage reserved for later passes."""
        later = Usage()
        if prompt.name == "promotion":
            worded = self._expected("purifier", prompt.items)
            later = self._priced(asked, worded) + self._reserved
        return self._priced(asked, said), later

    def _refused(self, need: Usage) -> str:
        """Return why a limit forbids a question with this usage, or an empty string."""
        refusals = (
            limit.refuse(self._used, need.cost_usd or 0.0, need.total) for limit in self._limits
        )
        return next(filter(None, refusals), "")

    def _expected(self, name: PassName, items: int) -> int:
        """Estimate the tokens in an answer about the given number of items."""
        seen, tokens = self._seen.get(name, (0, 0))
        each = _MARGIN * tokens / seen if tokens else OUTPUT[name]
        return min(self._max_output, ceil(each * items) + _FRAME)

    def _priced(self, prompt: int, completion: int) -> Usage:
        """Return a call's estimated usage, priced at the maximum rate."""
        cost = self._price.bound(prompt, completion) if self._price else None
        return Usage(
            prompt=prompt, completion=completion, source="approximate", cost_usd=cost, calls=1
        )


USUAL: Mapping[PassName, int] = {"promotion": 60, "purifier": 150, "verification": 18}
"""Typical tokens of the answer to one item."""
USUALLY_WORDED = 0.45
"""Typical share of candidates that a model promotes."""
BYTES_PER_TOKEN = 3.5
"""The typical value for JSON with plain text."""
BYTES_AROUND_LINE = 220
"""Bytes added to each line in a question: ids, headings, dates."""


def by_lines(lines: Sequence[str], price: Price | None) -> tuple[Usage, dict[str, int]]:
    """Return the estimated usage for judging new lines, and the number of questions per pass.

    The estimate assumes that each line is a candidate. It excludes pairs, repeated questions and
    savings by a cache.
    """
    shown = sum(len(line.encode()) + BYTES_AROUND_LINE for line in lines) / BYTES_PER_TOKEN
    asked = said = 0.0
    questions: dict[str, int] = {}
    worded = ceil(USUALLY_WORDED * len(lines))
    passes: tuple[tuple[PassName, int, int], ...] = (
        ("promotion", len(lines), BATCH[0]),
        ("purifier", worded, BATCH[1]),
        ("verification", worded, CHECKS),
    )
    for name, items, size in passes:
        share = items / len(lines) if lines else 0
        questions |= {name: count} if (count := ceil(items / size)) else {}
        asked += shown * share + count * len(instructions(name).encode()) / BYTES_PER_TOKEN
        said += USUAL[name] * items
    cost = price.cost(fresh=int(asked), output=int(said)) if price else None
    calls = sum(questions.values())
    return (
        Usage(
            prompt=int(asked),
            completion=int(said),
            source="approximate",
            cost_usd=cost if calls else 0.0,
            calls=calls,
        ),
        questions,
    )
