"""Requests to a judge and the judge's answers, for both passes of the memory-purifier protocol.

A judge only scores and words. Code validates the answers, recomputes the arithmetic, and rejects
sources that the candidates do not contain (`judges.passes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest
from memrepo.core.memory import Gist, Memory, Source

VerdictWord = Literal["reject", "defer", "compress", "merge", "promote"]
VERDICTS: tuple[VerdictWord, ...] = ("reject", "defer", "compress", "merge", "promote")
Profile = Literal["personal", "business"]
TokenSource = Literal["exact", "approximate", "unavailable"]
TOKEN_SOURCES: tuple[TokenSource, ...] = ("exact", "approximate", "unavailable")
"""Ordered from the strongest to the weakest. A sum has the weakest source of its parts."""


class JudgeFailed(MemrepoError):
    """Raised when the judge is unavailable.

    Earlier answers are used, and the remaining work is deferred. `raw` is the unusable answer,
    saved to a file for inspection. `tried` lists why each way of parsing it failed. `usage` is the
    cost of an answer that could not be used, such as a truncated one.
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
    """Raised when a request was refused or its answer is unusable.

    The next request may succeed.
    """


class BudgetReached(MemrepoError):
    """Raised instead of making a call that could cost more than the remaining budget.

    `too_large` is true if a smaller request may still fit.
    """

    exit_code = Exit.MODEL

    def __init__(self, message: str, *, fix: str = "", too_large: bool = False) -> None:
        super().__init__(message, fix=fix)
        self.too_large = too_large


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of judging so far: tokens, US dollars (None if the price is unknown) and calls.

    `prompt` counts all input tokens, including those written to and read from a cache.
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
        """Return the number of input and output tokens."""
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
        """Return the usage since `earlier`, a previous value of the same counter."""
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
        """Return the token counts as a mapping for manifests and JSON output."""
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
    """A distinct text that a run may promote, with all sources that contain the text.

    `text` has no list marker or checkbox. `context` is the path of headings, outermost first, and
    the line that introduces the text. `key` and `value` are the parts of a bold lead `**Key:**
    value`, else empty. `task` is open, done or empty.

    `rank`, `fits` and `signs` are computed by the shelf (`read.shelf`), and `chosen` is whether the
    candidate is on it. `same_as` is the id of a candidate with nearly the same text. `days` counts
    distinct capture dates and `resources` distinct source files, including earlier evidence.

    `retrieved` describes how often recall returned a nominated note. It is empty for other
    candidates. `changes` lists the ids of memories that the text changes. `about` is the subject of
    the file, if known.
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
        """Return the newest ISO date among the candidate's sources, or an empty string."""
        return max((s.captured for s in self.sources), default="")


class PromotionScores(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The six scores of Pass 1, each from 0 to 1."""

    durability: float
    future_judgment_value: float
    action_value: float
    identity_relationship_weight: float
    cross_time_persistence: float
    noise_risk: float

    @property
    def strength(self) -> float:
        """Return the sum of the first five scores minus the noise risk (-1 to 5)."""
        values: list[float] = [getattr(self, name) for name in self.__struct_fields__]
        return round(sum(values[:5]) - values[5], 4)


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer of Pass 1 about one candidate.

    `merge_with` and `compress_into` contain candidate ids. `closes` lists candidates that ask for
    or plan something that this later candidate reports as done or settled.

    `strength` is computed from the scores, and a value supplied by a model is checked. `fault`
    describes a malformed answer. Such an answer is never accepted.
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
    """Candidates that are promoted together. `strength` is the strength of the strongest candidate.

    `tags` are the primary pages of related statements (`judges.clusters`). `part` numbers the
    claims from 1 if the cluster states several facts. It is 0 for the whole cluster.
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
    """An active memory included in Pass 2 as context."""

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
    """`worded by a person`, `confirmed by a person`, or empty if no person did either."""
    under: str = ""
    """Words of the headings above the statement."""


def named(priors: Sequence[PriorClaim], id_: str) -> PriorClaim | None:
    """Return the prior claim with the given id, or None if there is none."""
    return next((prior for prior in priors if prior.memory_id == id_), None) if id_ else None


class Contradiction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A prior claim that contradicts the new claim."""

    memory_id: str
    relation: Literal["contested", "stale", "superseded"]
    reason: str = ""


LinkWord = Literal["follows", "references", "supports", "related"]
SUGGESTED: tuple[LinkWord, ...] = ("follows", "references", "supports", "related")


class SuggestedLink(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A link from a new claim to a prior claim that it follows, references or supports."""

    memory_id: str
    type: LinkWord
    link_strength: float


class Wording(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The canonical form of a claim. Subject, predicate and object may be empty.

    `lead` is the beginning of `text` that is not in the evidence: words of its headings and parent
    list items.
    """

    text: str
    subject: str = ""
    predicate: str = ""
    object: str = ""
    title: str = ""
    lead: str = ""

    @property
    def own_text(self) -> str:
        """Return the text without the lead, which was added from the text's context."""
        if not (self.lead and self.text.startswith(self.lead)):
            return self.text
        return self.text[len(self.lead) :].lstrip(" :–") or self.text


def _posture(score: float, words: Sequence[str]) -> str:
    """Return the word for a score. The thresholds 0.8, 0.5 and 0.3 belong to the higher word."""
    cuts = zip(words, (0.8, 0.5, 0.3), strict=False)
    return next((word for word, cut in cuts if score >= cut), words[-1])


class Scores(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The eight scores of Pass 2, each from 0 to 1 (memory-purifier, Pass 2)."""

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
        """Return the word for the freshness score."""
        return _posture(self.freshness, ("fresh", "recent", "aging", "stale"))

    @property
    def confidence_posture(self) -> str:
        """Return the word for the confidence score."""
        return _posture(self.confidence, ("high", "medium", "low", "tentative"))

    def nonzero(self) -> dict[str, float]:
        """Return the scores above zero by name, rounded to four decimals."""
        found = {name: round(getattr(self, name), 4) for name in self.__struct_fields__}
        return {name: value for name, value in found.items() if value}


class CanonicalClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer of Pass 2 about one cluster, or about one of several facts in a cluster.

    `quote` contains the words of the evidence that support one of several facts. `restates` is the
    id of a prior claim with the same meaning, to which the evidence is added. `drop` is the reason
    to remember nothing.

    `asked_again` is true if the first wording was not stated by the evidence. `refused` is the
    reason why the second wording was also rejected. In that case the text is quoted from the
    evidence. `fault` describes a malformed answer.
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
    """A request of Pass 1 with the candidates of one batch, sorted by id.

    `faults` is empty in the first request. A second request contains only the candidates whose
    first answer was rejected, with the reasons by candidate id.
    """

    profile: Profile
    now: datetime
    candidates: tuple[Candidate, ...]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)


class CanonicalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request of Pass 2 with the clusters of one batch, and the prior claims they may affect.

    `faults` has the reasons for a second request by cluster id, as in Pass 1.
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
    """Two statements that may contradict each other.

    `why` is the origin of the suspicion. `replaced`: the judge stated that the first replaces the
    second. `claimed`: the judge named the second when it worded the first. `changed`: rules
    detected that one changes the other. `similar`: both may be about the same thing. `reason` is
    the judge's explanation.
    """

    first: PriorClaim
    second: PriorClaim
    why: Why
    reason: str = ""

    @property
    def pair(self) -> str:
        """Return the id of this pair, used in the request and in the answer."""
        return f"pair-{digest([self.first.memory_id, self.second.memory_id])[:12]}"


class ComparisonRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to compare pairs of statements for contradictions.

    `faults` is used as in Pass 1.
    """

    now: datetime
    pairs: tuple[Suspicion, ...]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one pair: whether it is a contradiction, the confidence (0 to 1), and why.

    `newer` is the newer statement. `still` quotes the part of the older statement that remains true
    if the newer one replaces only part of it. `model` is true if no rule found the contradiction.
    `fault` describes a malformed answer.
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
    """One item of a verification request: a wording and all texts that the wording may be based on.

    `context` has the headings and parent items of the evidence. `known` has other lines used by the
    wording. `wording` is a list of named fields.
    """

    evidence: tuple[str, ...]
    wording: tuple[tuple[str, str], ...]
    context: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    stated_on: str = ""

    @property
    def check_id(self) -> str:
        """Return the id of this item, used in the request and in the answer."""
        return f"w-{digest([self.evidence, self.wording, self.context, self.known])[:10]}"


class VerificationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to check whether the evidence supports exactly what the wordings state.

    `faults` is used as in Pass 1.
    """

    now: datetime
    checks: tuple[WordingCheck, ...]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """The answer about one wording: whether the evidence supports it, or else the difference."""

    check_id: str
    stated: bool
    reason: str = ""
    fault: str = ""


class GistRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the gist of a note.

    `fault` is empty in the first request. In a second request it describes the error in the first
    answer.
    """

    note: Memory
    fault: str = ""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary that replaces several memories: title, text, individual facts, and names."""

    title: str
    text: str
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


class SummaryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to summarize memories, oldest first. They share a topic, unless `topic` is empty.

    `fault` is used as in GistRequest.
    """

    topic: str
    memories: tuple[Memory, ...]
    fault: str = ""


class Judge(Protocol):
    """Protocol of a judge: offline rules, a model, a command or a recording."""

    @property
    def name(self) -> str:
        """Return the name and version of the judge, as recorded in manifests."""

    @property
    def batch(self) -> tuple[int, int]:
        """Return the maximum numbers of candidates and of clusters in one request."""

    @property
    def usage(self) -> Usage:
        """Return the total cost of all answers since the judge was created."""

    @property
    def prompt_hash(self) -> str:
        """Return the hash of the judge's prompts and schemas, or "" if it has no prompts."""

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1 with one verdict per candidate.

        Raise JudgeFailed, BadReply or BudgetReached.
        """

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2 with one claim for each fact in each cluster.

        Raises the same exceptions as Pass 1.
        """

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Assess whether the evidence supports each wording.

        Raises the same exceptions as Pass 1.
        """

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Compare the statements of each pair for a contradiction.

        Raises the same exceptions as Pass 1.
        """

    def gist(self, request: GistRequest) -> Gist:
        """Return the title, tags and summary of a note.

        Raises the same exceptions as Pass 1.
        """

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return a summary that may replace the memories.

        Raises the same exceptions as Pass 1.
        """
