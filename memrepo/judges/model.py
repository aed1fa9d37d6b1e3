"""Judge by sending prompts to a text backend: budgets, recorded answers, and parsed replies.

A budget is checked before every call. The prompt is estimated at a third of its bytes in tokens.
The answer is estimated from earlier answers, or from OUTPUT. The limit for the answer is the
remaining budget, so no call can exceed it. Pass 1 also reserves tokens for Pass 2, because promoted
candidates should be worded in the same run. If a service reports no usage, the estimate is charged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.judge import (
    Assessment,
    BadReply,
    BudgetReached,
    CanonicalClaim,
    CanonicalRequest,
    ComparisonRequest,
    Finding,
    GistRequest,
    JudgeFailed,
    PromotionRequest,
    Summary,
    SummaryRequest,
    Usage,
    Verdict,
    VerificationRequest,
)
from memrepo.core.memory import Gist
from memrepo.judges import prompting
from memrepo.judges.asking import CHECKS
from memrepo.judges.passes import add_scores
from memrepo.judges.prompting import PassName, Prompt, UnreadableReply, instructions, read_answers
from memrepo.policies.claims import route, type_in_profile

T = TypeVar("T")
BATCH = (50, 25)
"""Maximum candidates, and maximum clusters, in one question (memory-purifier, batching)."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A backend's reply: the text, the cost, and the reason if there is no answer.

    `cut` is whether the model reached its output limit. The complete part of the text still counts.
    """

    text: str
    usage: Usage
    cut: bool = False
    refusal: str = ""
    raw: str = ""
    """The program's whole output, if longer than `text`. Bytes not in UTF-8 are surrogates."""


class Backend(Protocol):
    """A service that answers a prompt with text. Its `ask` raises JudgeFailed or BudgetReached."""

    @property
    def name(self) -> str:
        """Return the backend's name, as recorded in the run's manifest."""

    def ask(self, prompt: Prompt) -> Reply:
        """Send one prompt and return the reply."""


class ModelJudge:
    """A judge that sends its questions to a backend. It implements `core.judge.Judge`.

    A question that was answered in this run is not sent again. If a person commits during a run,
    the run is computed again but paid only once.
    """

    batch = BATCH

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._answered: dict[str, Reply] = {}
        self.name = backend.name
        self.usage = Usage()
        self.prompt_hash = prompting.prompt_hash()

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1 with the verdicts parsed from the backend's reply."""
        return self._read(prompting.promotion_prompt(request), Verdict)

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2 with the claims parsed from the reply, adding homes and scores."""
        clusters = {c.cluster_id: c for c in request.clusters}
        claims = []
        for claim in self._read(prompting.canonical_prompt(request), CanonicalClaim):
            if cluster := clusters.get(claim.cluster_id):
                kind = type_in_profile(claim.type, request.profile)
                home = claim.home or route(kind, request.profile)
                claim = add_scores(replace(claim, type=kind, home=home), cluster, request.now)
            claims.append(claim)
        return claims

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Return for each wording whether its evidence supports it. The reply may omit wordings."""
        return self._read(prompting.verification_prompt(request), Assessment)

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Return for each pair whether both statements can be true. The reply may omit pairs."""
        return self._read(prompting.comparison_prompt(request), Finding)

    def gist(self, request: GistRequest) -> Gist:
        """Return the title, tags and summary of a note, parsed from the reply."""
        return self._read(prompting.gist_prompt(request), Gist)[0]

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return the summary of some memories, parsed from the reply."""
        return self._read(prompting.summary_prompt(request), Summary)[0]

    def _read(self, prompt: Prompt, record: type[T]) -> tuple[T, ...]:
        """Send a prompt and parse the reply. Raises BadReply if parsing fails."""
        reply = self._ask(prompt)
        found = read_answers(reply.text, prompt.name, record)
        if not isinstance(found, UnreadableReply):
            return found
        cut = "; the answer was cut off because it was too long" if reply.cut else ""
        raise BadReply(
            found.reason + cut,
            fix="raise judge.max_tokens" if reply.cut else "",
            raw=reply.raw or reply.text,
            tried=found.tried,
        )

    def _ask(self, prompt: Prompt) -> Reply:
        reply = self._answered.get(prompt.key)
        if reply is None:
            try:
                reply = self._backend.ask(prompt)
            except JudgeFailed as failed:
                self.usage += failed.usage
                raise
            self.usage += reply.usage
        if reply.refusal:
            raise BadReply(reply.refusal, raw=reply.raw or reply.text)
        self._answered[prompt.key] = reply
        return reply


# -- budgets ---------------------------------------------------------------------------------------

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
    """A limit on dollars and tokens for a run, a day or a month. None means no limit.

    `spent` is the usage so far.
    """

    what: str
    usd: float | None = None
    tokens: int | None = None
    spent: Usage = msgspec.field(default_factory=Usage)

    def room(self, used: Usage, prompt: int, price: Price | None) -> int:
        """Return the maximum length of an answer in tokens, given the tokens of the prompt."""
        spent = self.spent + used
        rooms = [10**9]
        if self.tokens is not None:
            rooms.append(self.tokens - spent.total - prompt)
        if self.usd is not None and price is not None and price.output:
            left = self.usd - (spent.cost_usd or 0.0) - price.bound(prompt, 0)
            rooms.append(int(left * MILLION / price.output))
        return max(min(rooms), 0)

    def over(self, usd: float, tokens: int, used: Usage | None = None) -> str:
        """Return why some cost and tokens would exceed the limit, or an empty string.

        They are those of the next call if `used`, the usage of this run, is given.
        """
        spent = self.spent + used if used is not None else self.spent
        cost = spent.cost_usd or 0.0
        if self.tokens is not None and spent.total + tokens > self.tokens:
            most, so_far, more = f"use {self.tokens} tokens", f"{spent.total} are used", f"{tokens}"
        elif self.usd is not None and cost + usd > self.usd:
            most, so_far, more = f"cost {self.usd:.2f} USD", f"{cost:.4f} are spent", f"{usd:.4f}"
        else:
            return ""
        if used is None:
            return f"{self.what} may {most}, {so_far}"
        return f"{self.what} may {most}: {so_far} and the next call may need {more}"


class Budgeted:
    """A backend that refuses calls over a limit. It implements `judges.model.Backend`.

    `max_output` is the maximum tokens of one answer. `price` is None if unknown.
    """

    def __init__(
        self, inner: Backend, limits: tuple[Limit, ...], *, max_output: int, price: Price | None
    ) -> None:
        self.name = inner.name
        self._inner = inner
        self._limits = limits
        self._max_output = max_output
        self._price = price
        self._used = Usage()
        self._answered: dict[PassName, tuple[int, int]] = {}
        self._reserved = Usage()

    def ask(self, prompt: Prompt) -> Reply:
        """Send a prompt if all limits permit it. Raises BudgetReached otherwise."""
        asked, answer = prompt.token_bound, self._expected(prompt.name, prompt.items)
        need, later = self._priced(asked, answer), Usage()
        if prompt.name == "promotion":
            later = self._priced(asked, self._expected("purifier", prompt.items)) + self._reserved
        need += later
        room = self._max_output
        for limit in self._limits:
            if why := limit.over(need.cost_usd or 0.0, need.total, self._used):
                fix = "raise the limit; finished work lands, the rest waits for the next run"
                raise BudgetReached(why, fix=fix, too_large=True)
            room = min(room, limit.room(self._used, asked, self._price))
        try:
            reply = self._inner.ask(replace(prompt, room=max(room, answer)))
        except JudgeFailed as failed:
            self._used += failed.usage
            raise
        if reply.usage.calls and not reply.usage.total:
            tokens = -(-len(reply.text.encode()) // 3)
            reply = replace(reply, usage=self._priced(asked, max(answer, tokens)))
        self._used += reply.usage
        items, tokens = self._answered.get(prompt.name, (0, 0))
        self._answered[prompt.name] = items + prompt.items, tokens + reply.usage.completion
        if prompt.name == "promotion":
            self._reserved = later
        return reply

    def _expected(self, name: PassName, items: int) -> int:
        """Estimate the tokens in an answer about the given number of items."""
        answered, tokens = self._answered.get(name, (0, 0))
        each = _MARGIN * tokens / answered if tokens else OUTPUT[name]
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
    prompt = completion = 0.0
    questions: dict[str, int] = {}
    worded = ceil(USUALLY_WORDED * len(lines))
    passes: tuple[tuple[PassName, int, int], ...] = (
        ("promotion", len(lines), BATCH[0]),
        ("purifier", worded, BATCH[1]),
        ("verification", worded, CHECKS),
    )
    for name, items, size in passes if lines else ():
        questions[name] = ceil(items / size)
        prompt += shown * items / len(lines)
        prompt += questions[name] * len(instructions(name).encode()) / BYTES_PER_TOKEN
        completion += USUAL[name] * items
    cost = price.cost(fresh=int(prompt), output=int(completion)) if price else None
    usage = Usage(
        prompt=int(prompt),
        completion=int(completion),
        source="approximate",
        cost_usd=cost if questions else 0.0,
        calls=sum(questions.values()),
    )
    return usage, questions


# -- recorded answers ------------------------------------------------------------------------------


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
        self.name = inner.name
        self._inner = inner
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotRecord(folder, error) from error

    def ask(self, prompt: Prompt) -> Reply:
        """Send a prompt to the wrapped backend, and record the question and the answer."""
        reply = self._inner.ask(prompt)
        record = {
            "schema_version": 1,
            "pass": prompt.name,
            "judge": self.name,
            "question": prompt.question,
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


class Replay(msgspec.Struct, frozen=True):
    """A backend that returns recorded answers, at no cost. It implements `judges.model.Backend`."""

    folder: Path
    name: str = "replay/1"

    def ask(self, prompt: Prompt) -> Reply:
        """Return the recorded answer to a prompt. Raises JudgeFailed if there is none."""
        path = self.folder / f"{prompt.key}.json"
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
                f"{self.folder}: no recorded answer {path.name} for this question",
                fix="record it with a live judge: `memrepo run --judge anthropic --record DIR`",
            ) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise JudgeFailed(f"{path}: not a recorded answer: {error}") from error


class Unanswered(MemrepoError):
    """Raised when the agent's session must first answer a question, so the run cannot land yet."""

    exit_code = Exit.MODEL

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(
            "a question waits for its answer",
            fix="`memrepo judge next` shows it, `memrepo judge answer` takes the answer",
        )
        self.prompt = prompt


class Session(msgspec.Struct, frozen=True):
    """A backend whose answers come from the agent's own session, one question at a time.

    It implements `judges.model.Backend`. Its cost is unknown to memrepo and counts as zero.
    """

    folder: Path
    name: str = "session/1"

    def ask(self, prompt: Prompt) -> Reply:
        """Return the session's answer to a prompt. Raises Unanswered if there is none yet."""
        path = self.folder / f"{prompt.key}.txt"
        if not path.is_file():
            raise Unanswered(prompt)
        return Reply(text=path.read_text(encoding="utf-8"), usage=Usage())
