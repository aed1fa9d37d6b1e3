"""What a model would be asked, counted without asking it: rules answer in its place.

A question is spelled as it would go out and counted by its bytes; an answer is as long as such
answers are. What is refused, thinking and what a cache saves are not foreseen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import (
    Assessment,
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
    ComparisonRequest,
    Finding,
    GistRequest,
    PromotionRequest,
    Summary,
    SummaryRequest,
    Usage,
    Verdict,
    VerificationRequest,
    WordingCheck,
)
from memrepo.core.memory import Gist
from memrepo.judges.budget import Price
from memrepo.judges.model import BATCH, OfModel
from memrepo.judges.offline import OfflineJudge
from memrepo.judges.prompting import (
    PassName,
    Prompt,
    canonical_prompt,
    comparison_prompt,
    gist_prompt,
    instructions,
    promotion_prompt,
    summary_prompt,
    verification_prompt,
)
from memrepo.purify.batches import CHECKS
from memrepo.purify.grounding import grounds_of

USUAL: Mapping[PassName, int] = {
    "promotion": 60,
    "purifier": 150,
    "verification": 18,
    "contradiction": 50,
}
"""Tokens that the answer to one item usually has."""
USUALLY_WORDED = 0.45
"""The share of candidates that a model usually promotes; rules are stricter with loose notes."""
BYTES = 3.5
"""Bytes of a token, of JSON with plain text in it."""


class Estimating(OfModel):
    """Answer by rules and count what a model of this name would be asked; `core.judge.Judge`.

    It batches as a model does, and answers kept for the model are found under its name.
    """

    def __init__(self, name: str, price: Price | None) -> None:
        self._rules = OfflineJudge()
        self._name, self._price = name, price
        self._usage = Usage()
        self._worded: list[WordingCheck] = []
        self.questions: dict[str, int] = {}
        """How many questions of each kind would be asked."""

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._name

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1, and count it."""
        answers = _as_many(self._rules.promote(request))
        self._count(promotion_prompt(request), answers, again=bool(request.faults))
        return answers

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2, and count it."""
        answers = self._rules.canonicalise(request)
        self._count(canonical_prompt(request), answers, again=bool(request.faults))
        if not request.faults:
            clusters = {c.cluster_id: c for c in request.clusters}
            self._worded += (
                _check(claim, clusters[claim.cluster_id])
                for claim in answers
                if not claim.restates and not claim.drop
            )
        texts = {c.cluster_id: c.candidates[0].text for c in request.clusters}
        return [replace(claim, quote=texts[claim.cluster_id]) for claim in answers]

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Answer about wordings; they are counted as a model would have worded (`finish`)."""
        return self._rules.verify(request)

    def finish(self, now: datetime) -> None:
        """Count the second question about all that was worded."""
        count = -(-len(self._worded) // CHECKS)
        for n in range(count):
            checks = self._worded[n * len(self._worded) // count :][: len(self._worded) // count]
            request = VerificationRequest(now=now, checks=tuple(checks))
            self._count(verification_prompt(request), (), again=False)
        self._worded = []

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Answer about pairs, and count it."""
        answers = self._rules.compare(request)
        self._count(comparison_prompt(request), answers, again=bool(request.faults))
        return answers

    def gist(self, request: GistRequest) -> Gist:
        """Return a gist, and count the question."""
        answer = self._rules.gist(request)
        self._count(gist_prompt(request), answer, again=bool(request.fault))
        return answer

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return a summary, and count the question."""
        answer = self._rules.summarise(request)
        self._count(summary_prompt(request), answer, again=bool(request.fault))
        return answer

    def _count(self, prompt: Prompt, answer: object, *, again: bool) -> None:
        """Count a question and its answer; a second one is for what a model would not have said."""
        if again:
            return
        asked = _tokens(prompt.text.encode())
        usual = USUAL.get(prompt.name, 0) * prompt.items
        said = usual or _tokens(msgspec.json.encode(answer))
        cost = self._price.cost(fresh=asked, output=said) if self._price else None
        self._usage += Usage(
            prompt=asked, completion=said, source="approximate", cost_usd=cost, calls=1
        )
        self.questions[prompt.name] = self.questions.get(prompt.name, 0) + 1


def _as_many(verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """Return verdicts of which as many promote as a model's would: the strongest deferred too."""
    deferred = [v for v in verdicts if v.verdict == "defer"]
    missing = round(USUALLY_WORDED * len(verdicts)) - sum(
        v.verdict in ("promote", "merge") for v in verdicts
    )
    best = sorted(deferred, key=lambda v: (-v.strength, v.candidate_id))[: max(missing, 0)]
    raised = {v.candidate_id for v in best}
    return [replace(v, verdict="promote") if v.candidate_id in raised else v for v in verdicts]


def _check(claim: CanonicalClaim, cluster: Cluster) -> WordingCheck:
    grounds = grounds_of(cluster)
    return WordingCheck(
        evidence=grounds.evidence,
        context=grounds.context,
        stated_on=max(grounds.days, default=""),
        wording=(("text", claim.wording.text), ("subject", claim.wording.subject or "it")),
    )


_SHOWN = 220
"""Bytes that a line has about it in a question: ids, headings, days."""


def by_lines(lines: Sequence[str], price: Price | None) -> Usage:
    """Return what so many new lines would cost, if each were a candidate and worded.

    Pairs are not foreseen, nor what pass 1 rejects: the two are about as many.
    """
    shown = sum(len(line.encode()) + _SHOWN for line in lines) / BYTES
    asked = said = calls = 0
    for name, size in _PASSES.items():
        batches = -(-len(lines) // size)
        calls += batches
        asked += int(shown) + batches * _tokens(instructions(name).encode())
        said += USUAL[name] * len(lines)
    cost = price.cost(fresh=asked, output=said) if price else None
    return Usage(prompt=asked, completion=said, source="approximate", cost_usd=cost, calls=calls)


_PASSES: Mapping[PassName, int] = {
    "promotion": BATCH[0],
    "purifier": BATCH[1],
    "verification": CHECKS,
}
"""Questions about each line, and how many items one holds."""


def _tokens(data: bytes) -> int:
    return -int(-len(data) // BYTES)
