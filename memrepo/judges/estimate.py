"""What a model would be asked, counted without asking it: rules answer in its place.

A question is spelled as it would go out, and the rules' answer as it would come back. Both are
counted by their bytes. Second questions, thinking and what a cache saves are not foreseen.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memrepo.core.judge import (
    Assessment,
    CanonicalClaim,
    CanonicalRequest,
    ComparisonRequest,
    Finding,
    GistRequest,
    PromotionRequest,
    Summary,
    SummaryRequest,
    Usage,
    Verdict,
    VerificationRequest,
)
from memrepo.core.memory import Gist
from memrepo.judges.budget import OUTPUT, Price
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
        self.questions: dict[str, int] = {}
        """How many questions of each kind would be asked."""

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._name

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1, and count it."""
        answers = self._rules.promote(request)
        self._count(promotion_prompt(request), answers, again=bool(request.faults))
        return answers

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2, and count it."""
        answers = self._rules.canonicalise(request)
        self._count(canonical_prompt(request), answers, again=bool(request.faults))
        return answers

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Answer about wordings, and count it."""
        answers = self._rules.verify(request)
        self._count(verification_prompt(request), answers, again=bool(request.faults))
        return answers

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
        said = _tokens(msgspec.json.encode(answer))
        cost = self._price.cost(fresh=asked, output=said) if self._price else None
        self._usage += Usage(
            prompt=asked, completion=said, source="approximate", cost_usd=cost, calls=1
        )
        self.questions[prompt.name] = self.questions.get(prompt.name, 0) + 1


_SHOWN = 220
"""Bytes that a line has about it in a question: ids, headings, days."""


def by_lines(lines: Sequence[str], price: Price | None) -> Usage:
    """Return what both passes over so many new lines would cost, if each were a candidate.

    Pairs are not foreseen, nor what pass 1 rejects: the two are about as many.
    """
    shown = sum(len(line.encode()) + _SHOWN for line in lines) / BYTES
    asked = said = calls = 0
    for name, size in zip(_PASSES, BATCH, strict=True):
        batches = -(-len(lines) // size)
        calls += batches
        asked += int(shown) + batches * _tokens(instructions(name).encode())
        said += OUTPUT[name] * len(lines)
    cost = price.cost(fresh=asked, output=said) if price else None
    return Usage(prompt=asked, completion=said, source="approximate", cost_usd=cost, calls=calls)


_PASSES: tuple[PassName, PassName] = ("promotion", "purifier")


def _tokens(data: bytes) -> int:
    return -int(-len(data) // BYTES)
