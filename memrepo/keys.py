"""Configuration keys for runs and recall, and the rules that are built from their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from memrepo.core.ids import TAG_PATTERN
from memrepo.core.layout import HOT_NAMES
from memrepo.core.times import format_duration, parse_duration
from memrepo.policies.rules import (
    GAP,
    LASTING,
    LISTS,
    REFRESHED,
    TTLS,
    ArchiveRules,
    ContradictionRules,
    DecayRules,
    HotRules,
    Merits,
    Rules,
    TierRules,
    Weights,
)

if TYPE_CHECKING:
    from memrepo.policies.rules import LinkRules
    from memrepo.text.sentences import ChunkRules

KeyKind = Literal[
    "whole",
    "count",
    "percent",
    "money",
    "seconds",
    "text",
    "texts",
    "choice",
    "zone",
    "prices",
    "flag",
    "name",
    "crons",
    "ref",
    "aliases",
    "duration",
    "age",
    "ttls",
    "words",
    "pattern",
    "weight",
]
NEVER = "never"
EXCLUDED = ("superseded", "archived")
"""Statuses that a search leaves out by default. Forgotten memories are always left out."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration key: its dotted name, kind, default and one-line explanation.

    `plan` is the name of the key in the engram plan. A configuration file may use that name
    instead.
    """

    name: str
    kind: KeyKind
    default: Any
    doc: str
    words: tuple[str, ...] = ()
    plan: str = ""


_TTLS = MappingProxyType(
    {name: NEVER if ttl is None else format_duration(ttl) for name, ttl in TTLS.items()}
)
PROFILES = ("evidence", "classic")
LIFECYCLE: tuple[Key, ...] = (
    Key(
        name="lifecycle.profile",
        kind="choice",
        default=PROFILES[0],
        words=PROFILES,
        doc="evidence: memories stay while a source states them, and may turn stale; classic:"
        " memories that nobody retrieves are removed from recall.",
    ),
    Key(
        name="run.pace_pct",
        kind="percent",
        default=5,
        doc="Maximum percentage of memories that one run may prune and archive; 20 memories are"
        " always allowed.",
    ),
    Key(
        name="reuse.object",
        kind="flag",
        default=True,
        doc="Whether statements with the same subject, predicate and home but different objects"
        " are separate claims; if false, the newer replaces the older one (classic: false).",
    ),
    Key(
        name="tiers.warm_after",
        kind="duration",
        default="3h",
        doc="Time since the last retrieval after which a note becomes warm.",
    ),
    Key(
        name="tiers.gist_after",
        kind="duration",
        default="7d",
        doc="Age from which recall gets the gist of a note instead of its text.",
    ),
    Key(
        name="tiers.forgotten_after",
        kind="duration",
        default="14d",
        doc="Time without a retrieval after which a note is forgotten.",
    ),
    Key(
        name="tiers.clean_after",
        kind="age",
        default=NEVER,
        doc="Time after which a forgotten note is removed from the tree (classic: 30d).",
    ),
    Key(
        name="tiers.forgotten_last",
        kind="flag",
        default=False,
        doc="Whether forgotten notes are listed after all other hits (classic: true).",
    ),
    Key(
        name="decay.ttl",
        kind="ttls",
        default=_TTLS,
        doc='Lifetime of memories by decay class, such as `normal = "21d"`; adds new classes too.',
    ),
    Key(
        name="decay.refreshed",
        kind="texts",
        default=REFRESHED,
        doc="Decay classes whose lifetime starts again with each retrieval.",
    ),
    Key(
        name="decay.lasting",
        kind="texts",
        default=LASTING,
        doc="Decay classes whose old memories become stale but remain in recall (classic: none).",
    ),
    Key(
        name="decay.evidence",
        kind="flag",
        default=True,
        doc="Whether current evidence overrides a guessed decay class (classic: false).",
    ),
    Key(
        name="hot.path",
        kind="choice",
        default=HOT_NAMES[0],
        words=HOT_NAMES,
        doc="The file of the hot cache.",
    ),
    Key(
        name="hot.budget",
        kind="whole",
        default=30,
        doc="Maximum number of bullets in the hot cache.",
    ),
    Key(
        name="hot.composed",
        kind="flag",
        default=True,
        doc="Whether each run rebuilds the page from the current memories (classic: false).",
    ),
    Key(
        name="hot.sessions",
        kind="whole",
        default=3,
        doc="Number of sessions that must retrieve a memory before it is promoted.",
    ),
    Key(
        name="hot.idle_sessions",
        kind="whole",
        default=3,
        doc="Number of sessions without a retrieval after which a memory is demoted.",
    ),
    Key(
        name="hot.layers",
        kind="flag",
        default=False,
        doc="Whether runs and sessions write `memory/hygiene.json` and `memory/LAYER.md`, which git"
        " ignores (classic: true).",
    ),
    Key(
        name="hot.max_lines",
        kind="whole",
        default=200,
        doc="Maximum number of lines that the host loads from the page.",
    ),
    Key(
        name="hot.max_bytes",
        kind="whole",
        default=24 * 1024,
        doc="Maximum number of bytes that the host loads from the page.",
    ),
    Key(
        name="archive.after",
        kind="age",
        default=NEVER,
        doc="Time without a retrieval after which a memory is archived (classic: 30d).",
    ),
    Key(
        name="archive.demoted_after",
        kind="age",
        default=NEVER,
        doc="Time after leaving the hot cache at which a memory is archived (classic: 60d).",
    ),
    Key(
        name="archive.review_after",
        kind="duration",
        default="180d",
        doc="Age from which an archived memory is listed for a decision by a person.",
    ),
)

CLASSIC: Mapping[str, object] = MappingProxyType(
    {
        "reuse.object": False,
        "tiers.clean_after": "30d",
        "tiers.forgotten_last": True,
        "decay.lasting": (),
        "decay.evidence": False,
        "hot.composed": False,
        "hot.layers": True,
        "run.reconciliation": "land",
        "archive.after": "30d",
        "archive.demoted_after": "60d",
        "compression.enabled": True,
        "compression.below": 0.3,
        "importance.rule": "levels",
        "contradictions.similarity": 0.7,
        "contradictions.undated": True,
    }
)
"""Defaults of the lifecycle profile `classic` that differ from those of `evidence`."""
FIXED: Mapping[str, tuple[object, str]] = MappingProxyType(
    {
        "chunking.splitOn": ("sentence", "a sentence is never cut"),
        "contradictionDetection.createAuditTrail": (
            True,
            "each decision is a commit and a case under corrections/",
        ),
        "accessTracking.batchUpdates": (True, "retrievals are buffered, and no file is rewritten"),
        "accessTracking.flushDuringConsolidation": (True, "a run decides by the whole ledger"),
        "compression.archiveNotDelete": (True, "nothing is deleted: a source is archived"),
        "topicExtraction.runDuringConsolidation": (True, "a run writes the page of topics"),
    }
)
"""Keys of the engram plan with one allowed value, and the reason. A file may set that value."""

ENRICHMENT: tuple[Key, ...] = (
    Key(
        name="importance.enabled",
        kind="flag",
        default=True,
        plan="importanceScoring.enabled",
        doc="Whether to score importance; false gives all memories 0.5.",
    ),
    Key(
        name="importance.rule",
        kind="choice",
        default="sum",
        words=("sum", "levels"),
        doc="sum: points add up; levels: the strongest reason decides the level (classic: levels).",
    ),
    Key(
        name="importance.words",
        kind="words",
        default=MappingProxyType({}),
        doc="Additional words that raise or lower importance, by list: " + ", ".join(LISTS) + ".",
    ),
    Key(
        name="chunking.enabled",
        kind="flag",
        default=True,
        plan="chunking.enabled",
        doc="Whether to split long texts into chunks for search.",
    ),
    Key(
        name="chunking.materialise",
        kind="flag",
        default=False,
        doc="Whether runs also write the chunks of long memories as files, for other programs.",
    ),
    Key(
        name="chunking.target",
        kind="whole",
        default=200,
        plan="chunking.targetTokens",
        doc="Target size of a chunk in tokens; a chunk ends with a sentence.",
    ),
    Key(
        name="chunking.min",
        kind="count",
        default=150,
        plan="chunking.minTokensToChunk",
        doc="Number of tokens below which a text is not split into chunks.",
    ),
    Key(
        name="chunking.overlap",
        kind="count",
        default=2,
        doc="Number of sentences that a chunk shares with the previous one.",
    ),
    Key(
        name="links.expand",
        kind="flag",
        default=True,
        doc="Whether runs link memories that mention the same entities.",
    ),
    Key(
        name="links.most",
        kind="count",
        default=5,
        doc="Number of links of a memory from which runs add no more.",
    ),
    Key(
        name="contradictions.enabled",
        kind="flag",
        default=True,
        plan="contradictionDetection.enabled",
        doc="Whether runs compare memories that may contradict each other.",
    ),
    Key(
        name="contradictions.similarity",
        kind="weight",
        default=ContradictionRules().similarity,
        plan="contradictionDetection.similarityThreshold",
        doc="Cosine similarity above which a model checks a pair, among the five nearest"
        " (classic: 0.7).",
    ),
    Key(
        name="contradictions.confidence",
        kind="weight",
        default=ContradictionRules().confidence,
        plan="contradictionDetection.minConfidence",
        doc="Confidence above which the newer memory replaces the older one automatically.",
    ),
    Key(
        name="contradictions.ask_model",
        kind="flag",
        default=True,
        plan="contradictionDetection.useLlmVerification",
        doc="Whether the judge of the run checks suspected pairs; if false, rules decide.",
    ),
    Key(
        name="contradictions.auto_resolve",
        kind="flag",
        default=True,
        plan="contradictionDetection.autoResolve",
        doc="Whether clear contradictions are resolved automatically; if false, a person decides"
        " each.",
    ),
    Key(
        name="contradictions.undated",
        kind="flag",
        default=False,
        doc="Whether a model may decide a pair without dated evidence (classic: true).",
    ),
    Key(
        name="access.enabled",
        kind="flag",
        default=True,
        plan="accessTracking.enabled",
        doc="Whether retrievals are counted.",
    ),
    Key(
        name="access.buffer",
        kind="whole",
        default=100,
        plan="accessTracking.bufferMaxSize",
        doc="Number of buffered retrievals after which they are written to the ledger.",
    ),
    Key(
        name="topics.enabled",
        kind="flag",
        default=True,
        plan="topicExtraction.enabled",
        doc="Whether runs write the page of topics.",
    ),
    Key(
        name="topics.most",
        kind="whole",
        default=50,
        plan="topicExtraction.topN",
        doc="Maximum number of words on the page of topics.",
    ),
    Key(
        name="compression.enabled",
        kind="flag",
        default=False,
        plan="compression.enabled",
        doc="Whether runs summarise old memories of low importance (classic: true).",
    ),
    Key(
        name="compression.trigger",
        kind="whole",
        default=1000,
        plan="compression.triggerAt",
        doc="Number of active memories, without notes, from which runs compress.",
    ),
    Key(
        name="compression.keep",
        kind="count",
        default=300,
        plan="compression.recentToKeep",
        doc="Number of newest memories that are never compressed.",
    ),
    Key(
        name="compression.below",
        kind="weight",
        default=0.45,
        plan="compression.importanceThreshold",
        doc="Importance below which memories may be compressed (classic: 0.3).",
    ),
    Key(
        name="compression.protected_tags",
        kind="texts",
        default=("commitment", "preference", "decision"),
        plan="compression.protectedTags",
        doc="Tags and types that are never compressed.",
    ),
    Key(
        name="compression.protect_entities",
        kind="flag",
        default=True,
        plan="compression.protectEntityRefs",
        doc="Whether to never compress memories with an entity named by a person or a model.",
    ),
    Key(
        name="threads.gap",
        kind="duration",
        default=format_duration(GAP),
        doc="Time between two notes after which a new thread begins.",
    ),
)

CHECKS: tuple[Key, ...] = (
    Key(
        name="tags.vocabulary",
        kind="texts",
        default=(),
        doc="The tags that `check` allows, or shell patterns such as `project/*`; none: any word.",
    ),
    Key(
        name="tags.pattern",
        kind="pattern",
        default=TAG_PATTERN,
        doc="Regular expression for tags; with a vocabulary, it applies only if set.",
    ),
)

RECALL: tuple[Key, ...] = (
    Key(
        name="recall.meaning",
        kind="weight",
        default=Weights().meaning,
        doc="Weight of similarity of meaning in a score; needs the extra `dense`.",
    ),
    Key(
        name="recall.recency",
        kind="weight",
        default=Merits().recency,
        plan="retrieval.recencyWeight",
        doc="Weight of age in a score, 0 to 1.",
    ),
    Key(
        name="recall.half_life",
        kind="duration",
        default=format_duration(Merits().half_life),
        doc="Age at which the score for age is halved.",
    ),
    Key(
        name="recall.exclude_statuses",
        kind="texts",
        default=EXCLUDED,
        words=EXCLUDED,
        plan="retrieval.excludeStatuses",
        doc="Statuses that a search excludes by default.",
    ),
    Key(
        name="recall.boost_access",
        kind="flag",
        default=True,
        plan="retrieval.boostAccessCount",
        doc="Whether earlier retrievals raise a score.",
    ),
    Key(
        name="recall.access",
        kind="weight",
        default=Merits().access,
        doc="Maximum that retrievals add to a score, 0 to 1.",
    ),
    Key(
        name="recall.importance",
        kind="weight",
        default=Merits().importance,
        doc="Weight of importance in a score; low importance lowers the score.",
    ),
)


MORE = (*CHECKS, *ENRICHMENT, *LIFECYCLE, *RECALL)
"""The keys of this module in display order."""


def chunks_of(get: Callable[[str], Any]) -> ChunkRules:
    """Return the rules for splitting texts into chunks for search."""
    from memrepo.text.sentences import ChunkRules

    return ChunkRules(
        enabled=get("chunking.enabled"),
        target=get("chunking.target"),
        least=get("chunking.min"),
        overlap=get("chunking.overlap"),
    )


def contradictions_of(get: Callable[[str], Any]) -> ContradictionRules:
    """Return the rules for comparing memories and for resolving contradictions automatically."""
    return ContradictionRules(
        enabled=get("contradictions.enabled"),
        similarity=float(get("contradictions.similarity")),
        confidence=float(get("contradictions.confidence")),
        auto_resolve=get("contradictions.auto_resolve"),
        undated=get("contradictions.undated"),
    )


def links_of(get: Callable[[str], Any]) -> LinkRules:
    """Return the rules for linking memories."""
    from memrepo.policies.rules import LinkRules

    return LinkRules(expand=get("links.expand"), most=get("links.most"))


def weights_of(get: Callable[[str], Any]) -> Weights:
    """Return the weight of each signal in recall."""
    return Weights(
        meaning=float(get("recall.meaning")),
        merits=Merits(
            recency=float(get("recall.recency")),
            access=float(get("recall.access")) if get("recall.boost_access") else 0.0,
            half_life=parse_duration(get("recall.half_life")),
            importance=float(get("recall.importance")),
        ),
    )


def rules_of(get: Callable[[str], Any]) -> Rules:
    """Return the rules for ageing, decay, the hot cache and the archive.

    `get` returns the effective value of a key.
    """

    def span(name: str) -> timedelta:
        return parse_duration(get(name))

    def age(name: str) -> timedelta | None:
        return None if get(name) == NEVER else span(name)

    ttl: Mapping[str, str] = get("decay.ttl")
    return Rules(
        pace_pct=float(get("run.pace_pct")),
        tiers=TierRules(
            warm_after=span("tiers.warm_after"),
            gist_after=span("tiers.gist_after"),
            forgotten_after=span("tiers.forgotten_after"),
            clean_after=age("tiers.clean_after"),
            last=bool(get("tiers.forgotten_last")),
        ),
        decay=DecayRules(
            ttl={c: None if t == NEVER else parse_duration(t) for c, t in ttl.items()},
            refreshed=tuple(get("decay.refreshed")),
            lasting=tuple(get("decay.lasting")),
            evidence=bool(get("decay.evidence")),
            timezone=get("timezone"),
        ),
        hot=HotRules(
            budget=get("hot.budget"),
            composed=bool(get("hot.composed")),
            sessions=get("hot.sessions"),
            idle=get("hot.idle_sessions"),
            path=get("hot.path"),
            max_lines=get("hot.max_lines"),
            max_bytes=get("hot.max_bytes"),
        ),
        archive=ArchiveRules(
            after=age("archive.after"),
            demoted_after=age("archive.demoted_after"),
            review_after=span("archive.review_after"),
        ),
    )
