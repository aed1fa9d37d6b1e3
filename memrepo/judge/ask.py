"""Ask a model: look for a stored answer, keep to the budget, send, parse, and store.

A budget is checked before every call. The question is estimated at a third of its bytes in tokens,
the answer by earlier answers. The limit for the answer is what the budget leaves, so no call can
exceed it. If a service reports no usage, the text itself is charged. A usable answer is stored
before it is used, under the hash of the model and of the whole question.

In an answer, every object from a brace on is tried, whether it is the whole text, in a fence or in
prose. If its list begins and no object is whole, the answer was cut off. Nothing here raises on a
model's text: a malformed element becomes a `Fault`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import Any, Protocol, get_args, get_type_hints

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest
from memrepo.core.judge import BadReply, BudgetReached, JudgeFailed, Usage
from memrepo.core.patterns import regex
from memrepo.judge.interface import ANSWERS, Fault, Kind, Question, prompt_hash

MILLION = 1_000_000
_MARGIN = 1.25
MAX_LONGER = 4
"""How many times its usual length an answer is expected to have at most."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A back end's reply: the text, the cost, and the reason if there is no answer.

    `cut` is whether the model reached its output limit.
    """

    text: str
    usage: Usage
    cut: bool = False
    refusal: str = ""
    raw: str = ""
    """The program's whole output, if longer than `text`. Bytes not in UTF-8 are surrogates."""


class Backend(Protocol):
    """A service that answers a question with text."""

    @property
    def name(self) -> str:
        """Return the back end's name, as recorded in the run's manifest."""

    def ask(self, question: Question) -> Reply:
        """Send one question and return the reply. Raises JudgeFailed."""


class AnswerStore(Protocol):
    """A store that keeps a judge's paid answers from one run to the next."""

    def find(self, key: str) -> str | None:
        """Return the stored answer to a question, or None if there is none."""

    def keep(self, key: str, text: str | None, usage: Usage) -> None:
        """Store an answer with its cost. An unusable answer has no text."""


class CutOff(BadReply):
    """Raised when a model reached its output limit. A smaller question may fit."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failed question: its kind, its number, the reason, and the reply.

    `tried` has the reason for each attempt to parse the reply that failed.
    """

    name: str
    batch: int
    reason: str
    raw: str = ""
    tried: tuple[str, ...] = ()


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
        """Return the maximum length of an answer in tokens, given the tokens of the question."""
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


class Desk:
    """The one place where a model is asked. A question is paid once, however often it is asked.

    `in_time` is called before each call and may raise BudgetReached. `tick` is called after each
    answer. `prompts` are the instructions of the repository by kind of question. `carried` is the
    cost of stored answers that no run has recorded yet. `refusals` lists the operations that were
    not accepted as they were worded, with the reasons.
    """

    def __init__(
        self,
        backend: Backend,
        limits: tuple[Limit, ...] = (),
        *,
        max_output: int = 10**9,
        price: Price | None = None,
        prompts: Mapping[Kind, str] | None = None,
    ) -> None:
        self.name = backend.name
        self.carried = Usage()
        self.usage = Usage()
        self._prompts = prompts or {}
        self.prompt_hash = prompt_hash(self._prompts)
        self.failures: list[Failure] = []
        self.stored: AnswerStore | None = None
        self.in_time: Callable[[], None] = lambda: None
        self.tick: Callable[[str], None] = lambda _: None
        self.asked = 0
        self.refusals: list[str] = []
        self._backend = backend
        self._limits = limits
        self._max_output = max_output
        self._price = price
        self._answered: dict[str, Answer] = {}
        self._observed: dict[Kind, tuple[int, int]] = {}

    def ask(self, question: Question) -> Answer:
        """Return the answer to a question. An unusable one is asked for again.

        Raise BadReply if the second one is unusable too, and JudgeFailed or BudgetReached if no
        further question can be asked.
        """
        question = replace(question, own=self._prompts.get(question.kind, ""))
        try:
            return self._once(question)
        except Unanswered as waiting:
            waiting.refusals = tuple(self.refusals)
            raise
        except CutOff:
            raise
        except BadReply as failed:
            fault = f"Your first answer was not usable: {failed.message}. Answer again."
            again = replace(question, data=f"{question.data}\n\n{fault}")
        return self._once(again)

    def _once(self, question: Question) -> Answer:
        key = key_of(self.name, question.key)
        if key in self._answered:
            return self._answered[key]
        kept = self.stored.find(key) if self.stored is not None else None
        self.asked += kept is None
        try:
            reply = self._send(question) if kept is None else Reply(text=kept, usage=Usage())
            found = self._read(question, reply, key)
        except JudgeFailed as failed:
            self.failures.append(
                Failure(
                    name=question.kind,
                    batch=self.asked,
                    reason=failed.message,
                    raw=failed.raw,
                    tried=failed.tried,
                )
            )
            raise
        self._answered[key] = found
        self.tick(f"{question.kind} questions answered")
        return found

    def _read(self, question: Question, reply: Reply, key: str) -> Answer:
        """Parse a reply and store it. Raise BadReply if it holds no whole answer."""
        raw = reply.raw or reply.text
        found = read_answer(reply.text, question.kind)
        is_cut = reply.cut or (isinstance(found, UnreadableReply) and found.is_cut)
        usable = isinstance(found, Answer) and not (reply.refusal or is_cut)
        if self.stored is not None and reply.usage.calls:
            self.stored.keep(key, reply.text if usable else None, reply.usage)
        if reply.refusal:
            raise BadReply(reply.refusal, raw=raw)
        if is_cut:
            raise CutOff("the answer was cut off because it was too long", raw=raw)
        if isinstance(found, UnreadableReply):
            raise BadReply(found.reason, raw=raw, tried=found.tried)
        return found

    def _send(self, question: Question) -> Reply:
        """Send a question if all limits permit it. Raises BudgetReached otherwise."""
        self.in_time()
        asked, answer = -(-len(question.text.encode()) // 3), self._expected(question)
        need, room = self._priced(asked, answer), self._max_output
        for limit in self._limits:
            if why := limit.over(need.cost_usd or 0.0, need.total, self.usage):
                raise BudgetReached(why, fix=_more_room(limit, need, self.usage))
            room = min(room, limit.room(self.usage, asked, self._price))
        reply = self._backend.ask(replace(question, room=max(room, answer)))
        if reply.usage.calls and not reply.usage.total:
            tokens = -(-len(reply.text.encode()) // 3)
            reply = replace(reply, usage=self._priced(asked, max(answer, tokens)))
        self.usage += reply.usage
        items, tokens = self._observed.get(question.kind, (0, 0))
        self._observed[question.kind] = items + question.items, tokens + reply.usage.completion
        return reply

    def _expected(self, question: Question) -> int:
        """Estimate the tokens of an answer by the answers so far."""
        items, tokens = self._observed.get(question.kind, (0, 0))
        expected = ceil(_MARGIN * tokens / items * question.items) + 60 if tokens else 0
        usual = question.expected
        return min(self._max_output, min(expected, MAX_LONGER * usual) or usual)

    def _priced(self, prompt: int, completion: int) -> Usage:
        """Return a call's estimated usage, priced at the maximum rate."""
        cost = self._price.bound(prompt, completion) if self._price else None
        return Usage(
            prompt=prompt, completion=completion, source="approximate", cost_usd=cost, calls=1
        )


def _more_room(limit: Limit, need: Usage, used: Usage) -> str:
    """Return how to make room for the next question, with the value that is needed."""
    spent = limit.spent + used
    if limit.tokens is not None and spent.total + need.total > limit.tokens:
        value = f"{spent.total + need.total} tokens"
    else:
        value = f"{(spent.cost_usd or 0.0) + (need.cost_usd or 0.0):.4f} USD"
    return (
        f"raise the limit for {limit.what} to {value} or more; finished work lands, and the next"
        " run goes on with the rest"
    )


def why_stopped(error: MemrepoError) -> str:
    """Return why a judge was not asked any further, with what to do, for the record of a run."""
    return "; ".join(filter(None, (error.message, error.fix)))


class Unanswered(MemrepoError):
    """Raised when the agent's session must first answer a question, so the run cannot land yet."""

    exit_code = Exit.MODEL

    def __init__(self, question: Question) -> None:
        super().__init__(
            "a question waits for its answer",
            fix="`memrepo judge next` shows it, `memrepo judge answer` takes the answer",
        )
        self.question = question
        self.refusals: tuple[str, ...] = ()
        """What became of earlier operations that were not taken as they were worded."""


class Session(msgspec.Struct, frozen=True):
    """A back end whose answers come from the agent's own session, one question at a time.

    They are stored before they are used, so this one is only reached by open questions. Their cost
    is unknown to memrepo and counts as zero.
    """

    name: str = "session/1"

    def ask(self, question: Question) -> Reply:
        """Raise Unanswered."""
        raise Unanswered(question)


def key_of(name: str, question: str) -> str:
    """Return the key under which the answer of a judge to a question with a key is stored."""
    return digest([name, question])


# -- the text of an answer -------------------------------------------------------------------------

_TRIES = 400  # limits the cost of a hostile answer with a million braces
_FENCE = regex(r"```[a-zA-Z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_KINDS = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The elements of an answer: records, or faults. `page` is that of a shelf."""

    items: tuple[Any, ...]
    page: tuple[str, ...] = ()


class UnreadableReply(msgspec.Struct, frozen=True):
    """The reason why a text has no answer, with the failure of each attempt to parse it.

    `is_cut` is whether its list begins, so that it may have ended too early.
    """

    reason: str
    tried: tuple[str, ...] = ()
    is_cut: bool = False


def read_answer(text: str, kind: Kind) -> Answer | UnreadableReply:
    """Parse the answer to a question of a kind."""
    key, record = ANSWERS[kind]
    element = get_args(get_type_hints(record)[key])[0]
    holding = [o for o in _braced(_bare(text)) if isinstance(o.get(key), list)]
    if not holding:
        return _unreadable(text, key)
    rows = holding[-1][key]
    page = holding[-1].get("page") if kind == "shelf" else ()
    ids = tuple(id_ for id_ in page if isinstance(id_, str)) if isinstance(page, list) else ()
    return Answer(items=tuple(_build(element, row) for row in rows), page=ids)


def _build(record: Any, element: object) -> Any:
    """Build a record from JSON, or a fault with the place of the error."""
    if not isinstance(element, dict):
        return Fault(f"{str(element)[:60]!r}: expected an object")
    known = {k: _cleaned(v) for k, v in element.items() if k in record.__struct_fields__}
    known = {k: v for k, v in known.items() if v is not None}
    try:
        return msgspec.convert(known, record)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$.")
        return Fault(f"{where.strip('`') or 'the element'}: {message}", known)


def _cleaned(given: object) -> object:
    """Remove characters that files cannot contain from all texts of a value."""
    if isinstance(given, str):
        # JSON can contain half of a surrogate pair, which a file cannot.
        text = given.encode("utf-8", "replace").decode("utf-8")
        return text if text.isprintable() else "".join(ch for ch in text if _may_enter(ch)).strip()
    if isinstance(given, list):
        return [_cleaned(one) for one in given]
    if isinstance(given, dict):
        return {key: _cleaned(value) for key, value in given.items()}
    return given


def _may_enter(ch: str) -> bool:
    """Return whether answers may contain a character. Invisible characters are not permitted.

    Joiners are permitted, since some scripts need them.
    """
    if ch in "\n\t\u200c\u200d":
        return True
    return unicodedata.category(ch) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _unreadable(text: str, key: str) -> UnreadableReply:
    """Explain why a text has no answer, with the result of each attempt to parse it."""
    if not (text := _bare(text)):
        return UnreadableReply("the answer is empty")
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason, direct = f"the answer holds no JSON object with the key {key}", str(error)
    else:
        if isinstance(found, dict):
            fault = f"the key {key} holds no list" if key in found else ""
            reason = fault or f"the required key {key} is missing"
        else:
            kind = _KINDS.get(type(found), "number")
            reason = f"the top level is {kind}, expected an object with the key {key}"
        direct = reason
    is_cut = re.search(rf'"{key}"\s*:\s*\[', text) is not None
    tried = (
        f"direct: {direct}",
        f"fence: {len(_FENCE.findall(text))} fenced blocks, none with {key}",
        f"scan: {sum(1 for _ in _braced(text))} objects from a brace on, none with {key}",
        f"cut: the list {key} {'does not end' if is_cut else 'does not begin'}",
    )
    return UnreadableReply(reason, tried, is_cut)


def _bare(text: str) -> str:
    return text.strip().removeprefix("\ufeff").strip()


def _braced(text: str) -> Iterator[dict[str, Any]]:
    """Yield every JSON object that starts at a brace in a text, from left to right.

    Nested objects are skipped.
    """
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)
