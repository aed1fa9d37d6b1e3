"""A judge whose questions of one pass go out together, at half price: Message Batches.

Their answers may take a day. So a run notes what it sends, waits for a while, and else leaves the
rest to the next run, which asks what came of it. Answers are matched by what each item showed, so
that another day or a new line beside it costs nothing. What a batch could not answer, and second
questions, are asked at once. Nothing is ever sent twice: whether a batch arrived that nobody knows
the name of is asked of the service before anything else goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic, sleep
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import digest
from memrepo.core.judge import (
    Assessment,
    BudgetReached,
    CanonicalClaim,
    CanonicalRequest,
    ComparisonRequest,
    Finding,
    GistRequest,
    JudgeFailed,
    PromotionRequest,
    Question,
    Summary,
    SummaryRequest,
    Through,
    Usage,
    Verdict,
    VerificationRequest,
)
from memrepo.core.memory import Gist
from memrepo.judges.budget import Budgeted
from memrepo.judges.model import ModelJudge, Reply, measured_claims
from memrepo.judges.prompting import (
    Prompt,
    items_of,
    prompt_of,
)
from memrepo.purify.replies import Answered, read_checks, read_claims, read_findings, read_verdicts

T = TypeVar("T")
_LONGEST_NAP_S = 30.0
_SENDINGS = 2
"""How often what expired goes out in one run; what is left after that is asked live."""


class Sent(Protocol):
    """One batch that is on its way."""

    name: str
    questions: dict[str, dict[str, str]]
    batch: str

    @property
    def said(self) -> str:
        """Say how far it is."""


class Journal(Protocol):
    """Where it is noted what went out and what came back (`store.batches`)."""

    @property
    def pending(self) -> Sequence[Sent]:
        """Return the batches that are not done."""

    @property
    def known(self) -> frozenset[str]:
        """Return the service's names of all batches that are ours."""

    def begin(self, name: str, questions: Mapping[str, Mapping[str, str]]) -> None:
        """Note what is about to be sent."""

    def sent(self, name: str, batch: str) -> None:
        """Note how the service calls a batch."""

    def void(self, name: str) -> None:
        """Note that a batch never arrived."""

    def answered(
        self,
        name: str,
        answers: Mapping[str, Sequence[Mapping[str, object]]],
        usage: Mapping[str, Usage],
        failed: Sequence[str],
    ) -> None:
        """Note what came of a batch."""

    def has(self, key: str) -> bool:
        """Tell whether an item was answered, or cannot be by a batch."""

    def find(self, key: str) -> Sequence[Mapping[str, object]] | None:
        """Return the answers to an item, or None."""

    def bill(self, keys: Sequence[str]) -> Usage:
        """Return what the questions of these items cost, the first time."""


class Unsure(Exception):
    """Nobody knows whether a batch arrived."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one question: a reply, or `errored`, `expired`, `canceled`."""

    id: str
    kind: str
    reply: Reply | None = None


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A batch as the service lists it."""

    id: str
    ended: bool
    questions: int


class Service(Protocol):
    """What takes batches (`judges.batch_service`)."""

    def submit(self, prompts: Mapping[str, Prompt]) -> str:
        """Send a batch and return its name; raises JudgeFailed, or Unsure."""

    def look(self, batch: str) -> Seen:
        """Return how far a batch is; raises JudgeFailed."""

    def results(self, batch: str) -> Iterator[Outcome]:
        """Yield what became of each question; raises JudgeFailed."""

    def recent(self) -> Iterator[Seen]:
        """Yield the batches that the service knows, newest first; raises JudgeFailed."""


class BatchRunning(BudgetReached):
    """A batch is not answered yet: what depends on it waits for the next run."""

    def __init__(self, said: str) -> None:
        super().__init__(f"{said}; the next run goes on with it", fix="run again later")


class Batched(Through):
    """Judge by batches; implements `core.judge.Judge` and `purify.batches.Ahead`.

    `wait_s` is how long a run waits for a batch, `nap_s` how long at first between two looks.
    """

    def __init__(
        self,
        live: ModelJudge,
        service: Service,
        journal: Journal,
        budget: Budgeted,
        *,
        wait_s: float,
        nap_s: float = 2.0,
        tick: Callable[[str], object] = str,
    ) -> None:
        self.judge, self._service, self._journal, self._budget = live, service, journal, budget
        self._wait_s, self._nap_s, self._tick = wait_s, nap_s, tick
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """Return what all answers so far have cost."""
        return self.judge.usage + self._usage

    def ahead(self, requests: Sequence[Question]) -> None:
        """Send what these requests ask and no batch answered yet; raises BatchRunning."""
        self._settle()
        for _ in range(_SENDINGS):
            prompts: dict[str, tuple[Prompt, dict[str, str]]] = {}
            for request in requests:
                rest = self._unanswered(request)
                if rest is not None:
                    prompts[digest(sorted(rest[1].values()))[:24]] = rest
            if not prompts:
                return
            self._send(prompts)
            self._settle()

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1 from a batch, or live."""
        found = self._found(request, Verdict)
        return self.judge.promote(request) if found is None else found

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2 from a batch, or live."""
        found = self._found(request, CanonicalClaim)
        if found is None:
            return self.judge.canonicalise(request)
        return measured_claims(found, request)

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Answer about wordings from a batch, or live."""
        found = self._found(request, Assessment)
        return self.judge.verify(request) if found is None else found

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Answer about pairs from a batch, or live."""
        found = self._found(request, Finding)
        return self.judge.compare(request) if found is None else found

    def gist(self, request: GistRequest) -> Gist:
        """Return the gist of a note, asked live: each is a question of its own."""
        return self.judge.gist(request)

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return a summary, asked live."""
        return self.judge.summarise(request)

    # -- items -----------------------------------------------------------------------------------

    def _keys(self, request: Question) -> dict[str, str]:
        """Return by id the key of each item: what it shows, who judges, by which instructions."""
        of = (self.name, self.prompt_hash, getattr(request, "profile", ""))
        return {id_: digest([*of, row]) for id_, row in items_of(request).items()}

    def _unanswered(self, request: Question) -> tuple[Prompt, dict[str, str]] | None:
        """Return the question of what no batch answered; None where nothing is left of it."""
        if request.faults:
            return None
        keys = {i: k for i, k in self._keys(request).items() if not self._journal.has(k)}
        if not keys:
            return None
        match request:
            case PromotionRequest(candidates=own):
                part = tuple(c for c in own if c.candidate_id in keys)
                return prompt_of(replace(request, candidates=part)), keys
            case CanonicalRequest(clusters=groups):
                some = tuple(c for c in groups if c.cluster_id in keys)
                return prompt_of(replace(request, clusters=some)), keys
            case VerificationRequest(checks=checks):
                left = tuple(c for c in checks if c.check_id in keys)
                return prompt_of(replace(request, checks=left)), keys
            case ComparisonRequest(pairs=pairs):
                few = tuple(p for p in pairs if p.pair in keys)
                return prompt_of(replace(request, pairs=few)), keys

    def _found(self, request: Question, cls: type[T]) -> list[T] | None:
        """Return what batches answered; None where an item is to be asked live."""
        if request.faults:
            return None
        keys = list(self._keys(request).values())
        rows = [self._journal.find(key) for key in keys]
        if any(row is None for row in rows):
            return None
        self._usage += self._journal.bill(keys)
        return [msgspec.convert(one, cls) for row in rows if row for one in row]

    # -- batches ---------------------------------------------------------------------------------

    def _send(self, prompts: Mapping[str, tuple[Prompt, Mapping[str, str]]]) -> None:
        name = f"m{digest([sorted(prompts), sorted(self._journal.known)])[:16]}"
        questions = {f"{name}-{n}": keys for n, (_, keys) in enumerate(prompts.values())}
        self._budget.admit([prompt for prompt, _ in prompts.values()])
        self._journal.begin(name, questions)
        told = dict(zip(questions, (prompt for prompt, _ in prompts.values()), strict=True))
        try:
            batch = self._service.submit(told)
        except JudgeFailed:
            self._journal.void(name)
            raise
        except Unsure:
            return  # whether it arrived is asked before anything else goes out
        self._journal.sent(name, batch)

    def _settle(self) -> None:
        """Take in what is answered; raises BatchRunning for what is not after the wait."""
        began, nap = monotonic(), self._nap_s
        while True:
            for sent in self._journal.pending:
                self._look(sent)
            left = self._journal.pending
            if not left:
                return
            if monotonic() - began + nap > self._wait_s:
                raise BatchRunning("; ".join(one.said for one in left))
            self._tick("looks at a batch")
            sleep(nap)
            nap = min(2 * nap, _LONGEST_NAP_S)

    def _look(self, sent: Sent) -> None:
        if not sent.batch and not self._recovered(sent):
            return
        if self._service.look(sent.batch).ended:
            self._take(sent)

    def _recovered(self, sent: Sent) -> bool:
        """Tell whether a batch of which no answer came is with the service, and note its name.

        One that is still being answered and has as many questions may be ours: it is waited for.
        """
        for seen in self._service.recent():
            if seen.id in self._journal.known or seen.questions != len(sent.questions):
                continue
            if not seen.ended:
                return False
            if any(one.id in sent.questions for one in self._service.results(seen.id)):
                self._journal.sent(sent.name, seen.id)
                return True
        self._journal.void(sent.name)
        return False

    def _take(self, sent: Sent) -> None:
        """Note the answers of a batch by item; what it could not answer is asked live."""
        answers: dict[str, list[Mapping[str, object]]] = {}
        usage: dict[str, Usage] = {}
        failed: list[str] = []
        for one in self._service.results(sent.batch):
            keys = sent.questions.get(one.id, {})
            if one.reply is None:
                failed += keys.values() if one.kind == "errored" else ()
                continue
            usage[one.id] = one.reply.usage
            self._budget.spend(one.reply.usage)
            answers |= {key: [] for key in keys.values()}
            for id_, record in _records(one.reply):
                if id_ in keys:
                    answers[keys[id_]].append(record)
        self._journal.answered(sent.name, answers, usage, failed)


def _records(reply: Reply) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each answer of a reply with the id of its item; what cannot be read has none."""
    if reply.refusal:
        return
    for read, name in (
        (read_verdicts, "candidate_id"),
        (read_claims, "cluster_id"),
        (read_findings, "pair"),
        (read_checks, "check_id"),
    ):
        found = read(reply.text)
        if isinstance(found, Answered):
            for answer in found.answers:
                yield getattr(answer, name), msgspec.to_builtins(answer)
            return
