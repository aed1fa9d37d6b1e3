"""What a configuration may change about runs, ageing and recall: the rules that policies go by.

They stand by themselves, without the policies, so that reading a configuration loads no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from types import MappingProxyType
from typing import Literal

import msgspec

SIGNALS = ("critical", "high", "hedging", "personal", "specifics", "about")
LISTS = ("trivial", *SIGNALS, "stop")
"""The lists of words by which importance is weighed; `importance.words` may add to each."""
ImportanceRule = Literal["sum", "levels", "off"]
"""How importance is scored: points add up, the strongest reason decides, or not at all."""
Size = Literal["small", "normal", "large", "all"]
SHELF_SIZES: Mapping[Size, float] = MappingProxyType(
    {"small": 0.5, "normal": 1.0, "large": 2.0, "all": float("inf")}
)
"""How many claims a repository holds, against the normal number (`read.shelf`)."""
GAP = timedelta(minutes=30)
"""A longer time between two notes begins a new thread."""
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
"""Classes of what is meant to last: time marks them stale and takes none of them out of recall."""


RunMode = Literal["incremental", "reconciliation"]


CRONS: Mapping[RunMode, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "incremental": {
            "personal": ("15 5 * * 1,2,4,5,6", "15 17 * * *"),
            "business": ("15 13 * * 1,2,4,5,6",),
        },
        "reconciliation": {"personal": ("15 5 * * 3,0",), "business": ("15 13 * * 3,0",)},
    }
)
"""When runs are due, as cron expressions by mode and profile (memory-purifier's profiles)."""


class TierRules(msgspec.Struct, frozen=True, kw_only=True):
    """Ages since the last touch at which a note moves, and how long it stays forgotten.

    `clean_after` is None where a forgotten note stays in the tree. `last` puts what is forgotten
    after all other hits; else its age and its gist alone tell against it.
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
    """Time to live by class (None: for ever), and the classes that a retrieval refreshes.

    What is past its time leaves recall, but for the classes that are `lasting`, which turn stale.
    With `evidence` a class that was only guessed from the words takes nothing out whose evidence
    stands (`decay.stands`), and what has a stated end leaves when that has come.
    """

    ttl: Mapping[str, timedelta | None] = msgspec.field(default_factory=lambda: TTLS)
    refreshed: tuple[str, ...] = REFRESHED
    lasting: tuple[str, ...] = LASTING
    evidence: bool = True
    timezone: str = "UTC"

    @property
    def zone(self) -> tzinfo:
        """Return where a day ends that a memory is true until."""
        from zoneinfo import ZoneInfo  # most commands meet no such day

        return ZoneInfo(self.timezone)


class HotRules(msgspec.Struct, frozen=True, kw_only=True):
    """How many bullets there are, and after how many sessions a memory comes or goes.

    With `composed` each run chooses the page from what holds, and use decides among equals.
    """

    budget: int = 30
    composed: bool = True
    sessions: int = 3
    idle: int = 3
    path: str = "MEMORY.md"
    max_lines: int = 200
    max_bytes: int = 24 * 1024


class ArchiveRules(msgspec.Struct, frozen=True, kw_only=True):
    """How long a memory idles before it rests, and how long until a person is asked about it.

    None is never.
    """

    after: timedelta | None = None
    demoted_after: timedelta | None = None
    review_after: timedelta = timedelta(days=180)


class ContradictionRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which pairs a run compares, and when it decides one without a person.

    A model is asked about a pair above `similarity`; a pair above `confidence` is decided where
    `auto_resolve` says so, and without dated evidence where `undated` does.
    """

    enabled: bool = True
    similarity: float = 0.0
    confidence: float = 0.9
    auto_resolve: bool = True
    undated: bool = False


class PageRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which pages there are: those of a personal profile, and how many topics (0: no such page)."""

    personal: bool = True
    topics: int = 50


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of ageing; `pace_pct` bounds what one run prunes and archives."""

    tiers: TierRules = msgspec.field(default_factory=TierRules)
    decay: DecayRules = msgspec.field(default_factory=DecayRules)
    hot: HotRules = msgspec.field(default_factory=HotRules)
    archive: ArchiveRules = msgspec.field(default_factory=ArchiveRules)
    pace_pct: float = 5.0


class Merits(msgspec.Struct, frozen=True, kw_only=True):
    """How much each merit of a memory weighs next to what answers the question."""

    recency: float = 0.2
    """Share of the score; the rest is left to what answers the question."""
    half_life: timedelta = timedelta(days=7)
    access: float = 0.1
    """What retrievals add at most."""
    importance: float = 0.15
    note: float = 0.35
    """Share of its score that a note or an episode loses to what was distilled."""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """How much it weighs that a text answers, or asks."""

    reply: float = 0.6
    """What a text that asks lends to what another says next."""
    fits: float = 0.3
    """Share that a text gains which holds a kind of answer that the question asks for."""
    question: float = 0.5
    """What an assistant's answer lends to the turn that it answers."""
    asks: float = 0.2
    """Share that a text loses which asks; half of it where it says something of who asks."""
    assistant: float = 0.4
    """Share that an assistant's answer loses, unless it is asked for: the user knows of himself."""


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """What each signal of `ranking` may add; scores of the words are divided by their maximum."""

    k1: float = 1.0
    b: float = 0.2
    """Of short texts, whose length hardly counts."""
    b_long: float = 0.75
    """Of long ones."""
    coverage: float = 0.3
    """Share that a text gains which holds all the words, each counted by how rare it is."""
    other_words: float = 0.8
    """What another word for an asked one counts."""
    alike: float = 0.7
    """What a word counts that is spelled nearly like one that no memory holds, by likeness."""
    feedback: float = 0.15
    neighbour: float = 0.25
    context: float = 0.5
    """What a word counts that a turn of a talk lacks, and another holds that stands near it."""
    subject: float = 0.3
    answers: Answers = msgspec.field(default_factory=Answers)
    date: float = 0.2
    """Of the month that is named, and as much again of the very day."""
    span: float = 1.0
    """Of a day within a span that is named, such as last week: as much as all the words."""
    other_subject: float = 0.95
    """The subject's own best must reach this share of the best, or the question misnames it."""
    meaning: float = 0.6
    """Of vectors, where there is a model."""
    merits: Merits = msgspec.field(default_factory=Merits)
