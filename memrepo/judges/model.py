"""A judge that asks a program which answers in text: prompt, backend, reply, typed answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import (
    Assessment,
    BadReply,
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
from memrepo.judges.prompting import (
    Prompt,
    canonical_prompt,
    comparison_prompt,
    gist_prompt,
    promotion_prompt,
    prompt_hash,
    summary_prompt,
    verification_prompt,
)
from memrepo.judges.replies import (
    Answered,
    Unreadable,
    read_checks,
    read_claims,
    read_findings,
    read_gist,
    read_summary,
    read_verdicts,
)
from memrepo.judges.scores import measured
from memrepo.purify.routes import recast, route

T = TypeVar("T")
BATCH = (50, 25)
"""Candidates and clusters a question (memory-purifier, batching)."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back: the text, what it cost, and why there is no answer, if there is none.

    `cut` says that the model ran out of room; what is complete of the text still counts.
    """

    text: str
    usage: Usage
    cut: bool = False
    refusal: str = ""
    raw: str = ""
    """What a program printed where that is more than the text; other bytes are surrogates."""


class Backend(Protocol):
    """What takes a prompt and gives text; raises JudgeFailed or BudgetReached."""

    @property
    def name(self) -> str:
        """Return the name that manifests record."""

    def ask(self, prompt: Prompt) -> Reply:
        """Ask once."""


class OfModel:
    """What any judge that puts a model's questions says of itself."""

    _usage: Usage

    @property
    def batch(self) -> tuple[int, int]:
        """Return how many candidates and how many clusters one question holds."""
        return BATCH

    @property
    def usage(self) -> Usage:
        """Return what all answers so far have cost."""
        return self._usage

    @property
    def prompt_hash(self) -> str:
        """Return the hash of the instructions and schemas."""
        return prompt_hash()


class ModelJudge(OfModel):
    """Judge by asking a backend; implements `core.judge.Judge`.

    A question that was answered in this run is not asked again: a run that is computed again,
    because a person committed meanwhile, pays once.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._usage = Usage()
        self._answered: dict[str, Reply] = {}

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return self._backend.name

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1 with whatever verdicts the reply holds."""
        reply = self._ask(promotion_prompt(request))
        return _answers(read_verdicts(reply.text), reply)

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2 with whatever claims the reply holds."""
        reply = self._ask(canonical_prompt(request))
        return measured_claims(_answers(read_claims(reply.text), reply), request)

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Describe each wording whether its evidence states it, as far as the reply does."""
        reply = self._ask(verification_prompt(request))
        return _answers(read_checks(reply.text), reply)

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Describe each pair whether both can hold, with whatever findings the reply holds."""
        reply = self._ask(comparison_prompt(request))
        return _answers(read_findings(reply.text), reply)

    def gist(self, request: GistRequest) -> Gist:
        """Return title, tags and summary of a note, as the reply has them."""
        return self._one(gist_prompt(request), read_gist)

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return the summary of some memories, as the reply has it."""
        return self._one(summary_prompt(request), read_summary)

    def _one(self, prompt: Prompt, read: Callable[[str], T | Unreadable]) -> T:
        """Ask what has one answer, and read it."""
        reply = self._ask(prompt)
        found = read(reply.text)
        if isinstance(found, Unreadable):
            raise _bad(found, reply)
        return found

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


def measured_claims(
    claims: Sequence[CanonicalClaim], request: CanonicalRequest
) -> Sequence[CanonicalClaim]:
    """Return claims with the home and the scores that code finds."""
    clusters = {c.cluster_id: c for c in request.clusters}
    return [
        measured(_housed(claim, request), clusters[claim.cluster_id], request.now)
        if claim.cluster_id in clusters
        else claim
        for claim in claims
    ]


def _housed(claim: CanonicalClaim, request: CanonicalRequest) -> CanonicalClaim:
    """Return a claim with the home of its type, or the one that the model gave unasked."""
    kind = recast(claim.type, request.profile)
    return replace(claim, type=kind, home=claim.home or route(kind, request.profile))


def _answers(found: Answered[T] | Unreadable, reply: Reply) -> Sequence[T]:
    match found:
        case Answered(answers=answers):
            return answers
        case Unreadable():
            raise _bad(found, reply)


def _bad(found: Unreadable, reply: Reply) -> BadReply:
    why = f"{found.reason}; it was cut off for want of room" if reply.cut else found.reason
    fix = "raise judge.max_tokens" if reply.cut else ""
    return BadReply(why, fix=fix, raw=reply.raw or reply.text, tried=found.tried)
