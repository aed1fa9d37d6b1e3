"""Judge by sending prompts to a text backend and parsing its replies into typed answers."""

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
