"""Judge by sending prompts to a text backend and parsing its replies into typed answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
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
from memrepo.judges.asking import CHECKS
from memrepo.judges.passes import measured
from memrepo.judges.prompting import (
    PassName,
    Prompt,
    Unreadable,
    canonical_prompt,
    comparison_prompt,
    gist_prompt,
    instructions,
    promotion_prompt,
    prompt_hash,
    read_checks,
    read_claims,
    read_findings,
    read_gist,
    read_summary,
    read_verdicts,
    summary_prompt,
    verification_prompt,
)
from memrepo.policies.claims import recast, route

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

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._usage = Usage()
        self._answered: dict[str, Reply] = {}

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return self._backend.name

    @property
    def batch(self) -> tuple[int, int]:
        """Return the maximum numbers of candidates and clusters per question."""
        return BATCH

    @property
    def usage(self) -> Usage:
        """Return the total cost of all answers so far."""
        return self._usage

    @property
    def prompt_hash(self) -> str:
        """Return the hash of the instructions and schemas of all prompts."""
        return prompt_hash()

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1 with the verdicts parsed from the backend's reply."""
        return self._read(promotion_prompt(request), read_verdicts)

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2 with the claims parsed from the reply, adding homes and scores."""
        clusters = {c.cluster_id: c for c in request.clusters}
        return [
            measured(_housed(claim, request), clusters[claim.cluster_id], request.now)
            if claim.cluster_id in clusters
            else claim
            for claim in self._read(canonical_prompt(request), read_claims)
        ]

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Return for each wording whether its evidence supports it. The reply may omit wordings."""
        return self._read(verification_prompt(request), read_checks)

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Return for each pair whether both statements can be true. The reply may omit pairs."""
        return self._read(comparison_prompt(request), read_findings)

    def gist(self, request: GistRequest) -> Gist:
        """Return the title, tags and summary of a note, parsed from the reply."""
        return self._read(gist_prompt(request), read_gist)

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return the summary of some memories, parsed from the reply."""
        return self._read(summary_prompt(request), read_summary)

    def _read(self, prompt: Prompt, read: Callable[[str], T | Unreadable]) -> T:
        """Send a prompt and parse the reply. Raises BadReply if parsing fails."""
        reply = self._ask(prompt)
        found = read(reply.text)
        if not isinstance(found, Unreadable):
            return found
        why = (
            f"{found.reason}; the answer was cut off because it was too long"
            if reply.cut
            else found.reason
        )
        fix = "raise judge.max_tokens" if reply.cut else ""
        raise BadReply(why, fix=fix, raw=reply.raw or reply.text, tried=found.tried)

    def _ask(self, prompt: Prompt) -> Reply:
        reply = self._answered.get(prompt.key)
        if reply is None:
            try:
                reply = self._backend.ask(prompt)
            except JudgeFailed as failed:
                self._usage += failed.usage
                raise
            self._usage += reply.usage
        if reply.refusal:
            raise BadReply(reply.refusal, raw=reply.raw or reply.text)
        self._answered[prompt.key] = reply
        return reply


def _housed(claim: CanonicalClaim, request: CanonicalRequest) -> CanonicalClaim:
    """Return a claim with its home set, by default to the home for the claim's type."""
    kind = recast(claim.type, request.profile)
    return replace(claim, type=kind, home=claim.home or route(kind, request.profile))


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
