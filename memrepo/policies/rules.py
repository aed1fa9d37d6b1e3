"""The configurable parameters of runs, ageing and recall.

They are separate from the policies, so that reading a configuration does not load those.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from types import MappingProxyType
from typing import Literal

import msgspec

SIGNALS = ("critical", "high", "hedging", "personal", "specifics", "about")
LISTS = ("trivial", *SIGNALS, "stop")
"""The word lists for importance. `importance.words` can extend each of them."""
ImportanceRule = Literal["sum", "levels", "off"]
"""How importance is scored: by a sum of points, by the strongest reason, or not at all."""
Size = Literal["small", "normal", "large", "all"]
SHELF_SIZES: Mapping[Size, float] = MappingProxyType(
    {"small": 0.5, "normal": 1.0, "large": 2.0, "all": float("inf")}
)
"""The number of claims in a repository, as a multiple of the normal number (`read.shelf`)."""
GAP = timedelta(minutes=30)
"""A longer time between two notes starts a new thread."""
_DAY = timedelta(days=1)
TTLS: Mapping[str, timedelta | None] = MappingProxyType(
    {
        "permanent": None,
        "durable": 90 * _DAY,
        "normal": 14 * _DAY,
        "short": 2 * _DAY,
        "ephemeral": timedelta(hours=4),
        "stable": 90 * _DAY,
        "active": 14 * _DAY,
        "session": _DAY,
        "checkpoint": timedelta(hours=4),
    }
)
REFRESHED = ("durable", "normal", "stable", "active")
LASTING = ("durable", "normal", "stable")
"""Classes of lasting memories. Age makes them stale, but does not remove them from recall."""


RunMode = Literal["incremental", "reconciliation"]


class TierRules(msgspec.Struct, frozen=True, kw_only=True):
    """The ages at which a note changes its tier, counted from its last retrieval or creation.

    `clean_after` is how long a forgotten note stays in the work tree. None means for ever. If
    `last` is true, forgotten notes come after all other hits. Otherwise only their age and gist
    lower the score.
    """

    warm_after: timedelta = timedelta(hours=3)
    gist_after: timedelta = timedelta(days=7)
    forgotten_after: timedelta = timedelta(days=14)
    clean_after: timedelta | None = None
    last: bool = False

    def after(self, tier: str) -> timedelta:
        """Return the age at which a note enters a tier."""
        ages = {"warm": self.warm_after, "gist": self.gist_after, "forgotten": self.forgotten_after}
        return ages.get(tier, timedelta(0))


class DecayRules(msgspec.Struct, frozen=True, kw_only=True):
    """The lifetime of each decay class, or None if unlimited, and the classes refreshed by use.

    Expired memories leave recall, except those of `lasting` classes, which become stale. With
    `evidence`, a memory with evidence (`decay.stands`) only expires if its class is explicit. A
    memory with a stated end of validity then leaves recall at that time.
    """

    ttl: Mapping[str, timedelta | None] = msgspec.field(default_factory=lambda: TTLS)
    refreshed: tuple[str, ...] = REFRESHED
    lasting: tuple[str, ...] = LASTING
    evidence: bool = True
    timezone: str = "UTC"

    @property
    def zone(self) -> tzinfo:
        """Return the time zone in which the last day of validity ends."""
        from zoneinfo import ZoneInfo  # rarely needed

        return ZoneInfo(self.timezone)


class HotRules(msgspec.Struct, frozen=True, kw_only=True):
    """The size of the hot cache, and the session counts for adding and removing memories.

    With `composed`, each run composes the page from valid memories, and use decides among equals.
    """

    budget: int = 30
    composed: bool = True
    sessions: int = 3
    idle: int = 3
    path: str = "MEMORY.md"
    max_lines: int = 200
    max_bytes: int = 24 * 1024


class ArchiveRules(msgspec.Struct, frozen=True, kw_only=True):
    """The idle time before archiving, and the time in the archive before a review."""

    after: timedelta | None = None
    demoted_after: timedelta | None = None
    review_after: timedelta = timedelta(days=180)


class ContradictionRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for comparing memories and for resolving contradictions without a person.

    With `auto_resolve`, pairs above `confidence` are resolved.
    """

    enabled: bool = True
    confidence: float = 0.9
    auto_resolve: bool = True


class PageRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for pages: whether to build personal pages, and the number of topics."""

    personal: bool = True
    topics: int = 50


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules for tiers, decay, the hot cache and the archive."""

    tiers: TierRules = msgspec.field(default_factory=TierRules)
    decay: DecayRules = msgspec.field(default_factory=DecayRules)
    hot: HotRules = msgspec.field(default_factory=HotRules)
    archive: ArchiveRules = msgspec.field(default_factory=ArchiveRules)
    pace_pct: float = 5.0


class Merits(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of the bonuses that do not depend on the question."""

    recency: float = 0.2
    """The share of the score that depends on recency."""
    half_life: timedelta = timedelta(days=7)
    access: float = 0.1
    """The maximum bonus for retrievals."""
    importance: float = 0.15
    note: float = 0.2
    """The share of the score that a note or episode loses."""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """The weights for texts that contain answers or questions."""

    reply: float = 0.6
    """The share that a question lends to the next turn of another speaker."""
    fits: float = 0.3
    """The share that a text gains for containing a kind of answer that is asked for."""
    question: float = 0.5
    """The share that an assistant's answer lends to the turn before it."""
    asks: float = 0.2
    """The share that a question loses. It is halved if the text also describes its speaker."""
    assistant: float = 0.4
    """The share that an assistant's answer loses, unless the question asks for it."""


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """The maximum contribution of each ranking signal to a score."""

    k1: float = 1.0
    b: float = 0.2
    """BM25's `b` for short texts, whose length hardly counts."""
    b_long: float = 0.75
    """BM25's `b` for long texts."""
    alike: float = 0.7
    """The weight of a similarly spelled word for one that no memory contains."""
    neighbour: float = 0.25
    context: float = 0.5
    """The weight of a query word in adjacent turns that is missing in the turn itself."""
    subject: float = 0.3
    answers: Answers = msgspec.field(default_factory=Answers)
    date: float = 0.2
    """The score of a day in the month that is named. The exact day has twice this score."""
    span: float = 1.0
    """The score of a day in a named time span, such as last week. It equals that of all words."""
    other_subject: float = 0.95
    """The share of the best score that the named subject must reach. Otherwise its name is ignored.
    """
    meaning: float = 0.6
    """The weight of vectors, if there is a model."""
    merits: Merits = msgspec.field(default_factory=Merits)


class CompressionRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for compression: when a run compresses memories, and which memories are exempt.

    `trigger` is the number of active memories from which compression starts. The newest `keep`
    memories and those scoring at least `below` are exempt.
    """

    enabled: bool = True
    trigger: int = 1000
    keep: int = 300
    below: float = 0.45
    protected: tuple[str, ...] = ("commitment", "preference", "decision")
    entities: bool = True
    """Whether memories with an entity that a person or a model named are exempt."""


class LinkRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for links: whether runs add links, and the maximum number of links per memory."""

    expand: bool = True
    most: int = 5
