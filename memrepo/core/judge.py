"""What a judge is asked and what it answers, in both passes (memory-purifier).

A judge scores and words; code does everything else: it validates, re-derives the arithmetic and
rejects provenance that the candidates do not hold (`judges.passes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest
from memrepo.core.memory import Gist, Memory, Source, without_lead

VerdictWord = Literal["reject", "defer", "compress", "merge", "promote"]
VERDICTS: tuple[VerdictWord, ...] = ("reject", "defer", "compress", "merge", "promote")
Profile = Literal["personal", "business"]
TokenSource = Literal["exact", "approximate", "unavailable"]
TOKEN_SOURCES: tuple[TokenSource, ...] = ("exact", "approximate", "unavailable")
"""From the strongest to the weakest; a sum is as strong as its weakest part."""


class JudgeFailed(MemrepoError):
    """The judge gives no answer now: what was judged before lands, the rest waits.

    `raw` is what the judge said, for the file that a person may look at, and `tried` why each way
    of reading it failed; `usage` is what is paid for and of no use: an answer that broke off.
    """

    exit_code = Exit.MODEL

    def __init__(
        self,
        message: str,
        *,
        fix: str = "",
        raw: str = "",
        tried: tuple[str, ...] = (),
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, fix=fix)
        self.raw, self.tried = raw, tried
        self.usage = usage if usage is not None else Usage()


class BadReply(JudgeFailed):
    """One answer as a whole is of no use, or was refused; the next question may fare better."""


class BudgetReached(MemrepoError):
    """The next call could cost more than is left: it is not made.

    `too_large` tells that a smaller question may still fit.
    """

    exit_code = Exit.MODEL

    def __init__(self, message: str, *, fix: str = "", too_large: bool = False) -> None:
        super().__init__(message, fix=fix)
        self.too_large = too_large


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What judging has cost so far: tokens, US dollars (None: no price is known) and calls.

    `prompt` counts every input token, those written to and read from a cache included.
    """

    prompt: int = 0
    completion: int = 0
    cache_write: int = 0
    cache_read: int = 0
    source: TokenSource = "unavailable"
    cost_usd: float | None = 0.0
    calls: int = 0

    @property
    def total(self) -> int:
        """Return all tokens, in and out."""
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        if not self.calls or not other.calls:
            return self if self.calls else other
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
            cache_write=self.cache_write + other.cache_write,
            cache_read=self.cache_read + other.cache_read,
            source=max(self.source, other.source, key=TOKEN_SOURCES.index),
            cost_usd=None if None in costs else round(sum(c or 0.0 for c in costs), 8),
            calls=self.calls + other.calls,
        )

    def since(self, earlier: Usage) -> Usage:
        """Return what was used after an earlier reading of the same meter."""
        if self.calls == earlier.calls:
            return Usage()
        known = self.cost_usd is not None and earlier.cost_usd is not None
        return Usage(
            prompt=self.prompt - earlier.prompt,
            completion=self.completion - earlier.completion,
            cache_write=self.cache_write - earlier.cache_write,
            cache_read=self.cache_read - earlier.cache_read,
            source=self.source,
            cost_usd=round((self.cost_usd or 0.0) - (earlier.cost_usd or 0.0), 8)
            if known
            else None,
            calls=self.calls - earlier.calls,
        )

    def tokens(self) -> dict[str, object]:
        """Return the token block of manifests and of the JSON answer."""
        block: dict[str, object] = {
            "prompt": self.prompt,
            "completion": self.completion,
            "total": self.total,
            "source": self.source,
        }
        if self.cache_write or self.cache_read:
            block |= {"cache_write": self.cache_write, "cache_read": self.cache_read}
        return block


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One distinct text that runs may promote, with every place it stands.

    `text` has neither list marker nor checkbox. `context` is the heading path, outermost first,
    then the line that introduces it. `rank`, `fits` and `signs` are what the shelf makes of it
    (`read.shelf`); `chosen` tells whether it is on the shelf, `same_as` names the candidate that
    says nearly the same. `key` and `value` are the halves of a bold lead
    `**Key:** value`, else empty. `task` is open, done or empty. `days` counts distinct capture
    dates and `resources` distinct source files, over earlier evidence too. `retrieved` tells how
    often recall passed the note that it is; empty for what is no nominated note. `changes`
    names memories that it changes by its words. `about` names whom or what its file is about,
    where that is known.
    """

    candidate_id: str
    text: str
    context: tuple[str, ...] = ()
    type_hint: str = "fact"
    key: str = ""
    value: str = ""
    task: str = ""
    sources: tuple[Source, ...] = ()
    days: int = 1
    resources: int = 1
    retrieved: str = ""
    changes: tuple[str, ...] = ()
    about: str = ""
    rank: float = 0.0
    fits: str = ""
    signs: tuple[str, ...] = ()
    chosen: bool = True
    same_as: str = ""

    @property
    def captured(self) -> str:
        """Return the newest ISO date of its evidence, or an empty string."""
        return max((s.captured for s in self.sources), default="")


class PromotionScores(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The six Pass 1 dimensions, each 0 to 1."""

    durability: float
    future_judgment_value: float
    action_value: float
    identity_relationship_weight: float
    cross_time_persistence: float
    noise_risk: float

    @property
    def strength(self) -> float:
        """Derive the strength: the first five minus noise risk, -1 to 5."""
        values: list[float] = [getattr(self, name) for name in self.__struct_fields__]
        return round(sum(values[:5]) - values[5], 4)


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Pass 1's answer for one candidate; `merge_with` and `compress_into` name candidate ids.

    `closes` names candidates that ask for or plan what this later one reports as done or settled.

    `strength` is derived from the scores; one that a model gave is checked. `fault` says what was
    wrong with the shape of an answer that was read from text; such an answer is never accepted.
    """

    candidate_id: str
    scores: PromotionScores
    verdict: VerdictWord
    strength: float = 0.0
    rationale: str = ""
    merge_with: tuple[str, ...] = ()
    compress_into: str = ""
    closes: tuple[str, ...] = ()
    fault: str = ""


class Cluster(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Candidates that survive together; `strength` is its strongest member's.

    `tags` are homes of what else tells of it (`purify.clusters`). `part` counts from 1 the claims
    of a cluster that states several facts; 0 is the whole.
    """

    cluster_id: str
    candidates: tuple[Candidate, ...]
    strength: float
    type_hint: str
    home_hint: str
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    part: int = 0


class PriorClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An active memory shown to Pass 2 as context."""

    memory_id: str
    type: str
    standing: str
    subject: str
    predicate: str
    object: str
    text: str
    home: str
    sources: tuple[Source, ...] = ()
    by: str = ""
    """Who answers for it where that is a person: `worded by a person`, `confirmed by a person`."""
    under: str = ""
    """Words of the headings that it is under."""


def named(priors: Sequence[PriorClaim], id_: str) -> PriorClaim | None:
    """Return the prior of an id, None where it is none of some."""
    return next((prior for prior in priors if prior.memory_id == id_), None) if id_ else None


class Contradiction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A prior claim that a new claim disagrees with."""

    memory_id: str
    relation: Literal["contested", "stale", "superseded"]
    reason: str = ""


LinkWord = Literal["follows", "references", "supports", "related"]
SUGGESTED: tuple[LinkWord, ...] = ("follows", "references", "supports", "related")


class SuggestedLink(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A prior claim that a new claim follows, refers to, supports or is related to."""

    memory_id: str
    type: LinkWord
    link_strength: float


class Wording(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The canonical form of a claim; subject, predicate and object may be empty.

    `lead` is the beginning of `text` that its evidence does not say itself: words of the headings
    and list items it is under.
    """

    text: str
    subject: str = ""
    predicate: str = ""
    object: str = ""
    title: str = ""
    lead: str = ""

    @property
    def said(self) -> str:
        """Return the text without the words that context added."""
        return without_lead(self.text, self.lead)


def _posture(score: float, words: Sequence[str]) -> str:
    """Return the word of a score by the cuts 0.8, 0.5 and 0.3, each inclusive."""
    cuts = zip(words, (0.8, 0.5, 0.3), strict=False)
    return next((word for word, cut in cuts if score >= cut), words[-1])


class Scores(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The eight Pass 2 dimensions, 0 to 1 (memory-purifier, Pass 2)."""

    semantic_cluster_confidence: float = 0.0
    canonical_clarity: float = 0.0
    provenance_strength: float = 0.0
    contradiction_pressure: float = 0.0
    freshness: float = 0.0
    confidence: float = 0.0
    route_fitness: float = 0.0
    supersession_confidence: float = 0.0

    @property
    def freshness_posture(self) -> str:
        """Return the word for the freshness."""
        return _posture(self.freshness, ("fresh", "recent", "aging", "stale"))

    @property
    def confidence_posture(self) -> str:
        """Return the word for the confidence."""
        return _posture(self.confidence, ("high", "medium", "low", "tentative"))

    def told(self) -> dict[str, float]:
        """Return those above zero, as a record holds them."""
        found = {name: round(getattr(self, name), 4) for name in self.__struct_fields__}
        return {name: value for name, value in found.items() if value}


class CanonicalClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Pass 2's answer for one cluster, or for one of several facts that it states.

    `quote` holds the words of the evidence that one of several rests on. `restates` names a prior
    claim that says the same: the evidence joins it. `drop` says why nothing is to be remembered.
    `asked_again` tells that a first wording was not what the evidence states. `refused` says why
    the second was refused too: the text is the evidence's own. `fault` as in a verdict.
    """

    cluster_id: str
    type: str
    standing: str
    wording: Wording
    scores: Scores
    home: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    supersedes: tuple[str, ...] = ()
    links: tuple[SuggestedLink, ...] = ()
    freshness_posture: str = ""
    confidence_posture: str = ""
    rationale: str = ""
    route_rationale: str = ""
    quote: str = ""
    restates: str = ""
    drop: str = ""
    asked_again: bool = False
    refused: str = ""
    fault: str = ""


class PromotionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Pass 1's question: candidates of one batch, sorted by id.

    `faults` is empty at first; a second question holds only what was refused of the first answer,
    and says by candidate id why.
    """

    profile: Profile
    now: datetime
    candidates: tuple[Candidate, ...]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)


class CanonicalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Pass 2's question: clusters of one batch and the prior claims they may touch.

    `faults` as in Pass 1, by cluster id.
    """

    profile: Profile
    now: datetime
    clusters: tuple[Cluster, ...]
    priors: Sequence[PriorClaim] = ()
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)


Newer = Literal["first", "second", "unknown"]
Why = Literal["replaced", "claimed", "changed", "similar"]
NEWER: tuple[Newer, ...] = ("first", "second", "unknown")


class Suspicion(msgspec.Struct, frozen=True, kw_only=True):
    """The question whether two statements contradict each other.

    `why`: the judge itself said that the first replaces the second, or named the second one when
    it worded the first (then `reason` is what it said), rules noticed that one changes the other,
    or both may be about the same thing.
    """

    first: PriorClaim
    second: PriorClaim
    why: Why
    reason: str = ""

    @property
    def pair(self) -> str:
        """Return the id by which a question and its answer name the two."""
        return f"pair-{digest([self.first.memory_id, self.second.memory_id])[:12]}"


class ComparisonRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The question which pairs of statements contradict each other; `faults` as in Pass 1."""

    now: datetime
    pairs: tuple[Suspicion, ...]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: whether both cannot hold, how sure that is (0 to 1), why, and which is newer.

    `still` is what of the older one holds on where the newer one replaces a part of it, in its own
    words. `model` tells that no rule found it. `fault` as in a verdict.
    """

    is_contradiction: bool
    confidence: float
    reasoning: str = ""
    newer: Newer = "unknown"
    still: str = ""
    pair: str = ""
    model: bool = False
    fault: str = ""


class WordingCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One item of the second question: a wording, and everything that it may rest on.

    `context` is what the evidence is under, `known` other lines that the wording drew on. The
    wording is its named fields, in order.
    """

    evidence: tuple[str, ...]
    wording: tuple[tuple[str, str], ...]
    context: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    stated_on: str = ""

    @property
    def check_id(self) -> str:
        """Return the id by which the question and its answer name the item."""
        return f"w-{digest([self.evidence, self.wording, self.context, self.known])[:10]}"


class VerificationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The question whether evidence states exactly what wordings say; `faults` as in Pass 1."""

    now: datetime
    checks: tuple[WordingCheck, ...]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """The answer for one wording: whether its evidence states it, and else what differs."""

    check_id: str
    stated: bool
    reason: str = ""
    fault: str = ""


class GistRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The question for the gist of a note.

    `fault` is empty at first; a second question says what was wrong with the first answer.
    """

    note: Memory
    fault: str = ""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What stands for several memories: title, a few sentences, single facts, and names."""

    title: str
    text: str
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


class SummaryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The question for the summary of memories about one topic (or none), oldest first.

    `fault` as in the question for a gist.
    """

    topic: str
    memories: tuple[Memory, ...]
    fault: str = ""


class Judge(Protocol):
    """What scores and words; the offline rules, a model, a command or a recording."""

    @property
    def name(self) -> str:
        """Return the name and version of the judge, as manifests record it."""

    @property
    def batch(self) -> tuple[int, int]:
        """Return how many candidates and how many clusters one request may hold."""

    @property
    def usage(self) -> Usage:
        """Return what its answers have cost since it was made."""

    @property
    def prompt_hash(self) -> str:
        """Return the hash of its prompts and schemas; empty where it has none."""

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1: one verdict a candidate; raises JudgeFailed, BadReply, BudgetReached."""

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2: claims for each cluster, one a fact; raises as Pass 1 does."""

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Describe each wording whether its evidence states it; raises as Pass 1 does."""

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Describe each pair whether both can hold; raises as Pass 1 does."""

    def gist(self, request: GistRequest) -> Gist:
        """Return title, tags and summary of a note; raises as Pass 1 does."""

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return what may stand for some memories; raises as Pass 1 does."""
