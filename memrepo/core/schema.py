"""The schema of a memory file, from which validation, docs and merging are derived.

Keys are written in the order of this table, followed by one line with the `aside` fields. Key names
follow Open Knowledge Format 0.2 if it defines one (type, title, description, tags, sources,
generated, verified, status).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from memrepo.core import memory as m
from memrepo.core.fields import (
    Choice,
    Day,
    Flag,
    Kind,
    ListOf,
    Number,
    Pair,
    Place,
    Record,
    Text,
    Time,
    Whole,
    memory_ref,
)
from memrepo.core.ids import TEXT_HASH_PATTERN

MergeRule = Literal["const", "min", "max", "status", "set3", "lww", "text3", "derived"]
Writer = Literal["person", "machine"]


class Field(msgspec.Struct, frozen=True):
    """A field of the header.

    `merge` is the rule that merges values of two clones (docs/merging.md). `default` is never
    written. `writer` states whether a person may set the field by hand. `folded` fields are written
    on one line. `aside` fields are written in the common line of internal fields (`ASIDE`).
    """

    name: str
    kind: Kind
    merge: MergeRule
    doc: str
    default: Any = None
    writer: Writer = "machine"
    folded: bool = False
    aside: bool = False


_TEXT = Text()
_NAME = Text(limit=200, what="a short text")
ACTOR = Text(
    pattern=r"(human:|process:).{1,200}|[^\s/:]{1,100}/[^\s/]{1,100}",
    what="an actor: human:<id>, process:<id> or <producer>/<version>",
)
_HASH = Text(pattern=TEXT_HASH_PATTERN.pattern, what="a text hash th-<16 hex>")
_EDGE = Text(pattern=r"\s*", limit=100_000, what="white space")
_ENDS = Text(pattern=r"[ncr]*", limit=100_000, what="letters n, c and r")
_STAMP = Record(m.Stamp, {"by": ACTOR, "at": Time()}, required=("by",))
_SOURCE = Place(
    m.Source,
    {
        "resource": Text(what="a repository path or URL"),
        "lines": Pair(),
        "captured": Day(),
        "captured_from": Choice(("unit", "heading", "file", "commit")),
        "kind": Choice(("direct", "inferred", "merged")),
        "text_hash": _HASH,
        "blob": Text(pattern=r"[0-9a-f]{40}|[0-9a-f]{64}", what="a git blob id"),
    },
    required=("resource",),
)
_IMPORTANCE = Record(
    m.Importance,
    {
        "score": Number(),
        "level": Choice(("trivial", "low", "normal", "high", "critical")),
        "reasons": ListOf(_NAME),
        "keywords": ListOf(_NAME),
    },
    required=("score", "level"),
)
_GIST = Record(
    m.Gist, {"title": _TEXT, "tags": ListOf(_NAME), "summary": _TEXT}, required=("title",)
)
_LINK = Record(
    m.Link,
    {
        "target": memory_ref(),
        "type": Choice(("follows", "references", "contradicts", "supports", "related")),
        "strength": Number(),
    },
    required=("target", "type"),
)
_EDGES = Record(m.Edges, {"before": _EDGE, "after": _EDGE, "ends": _ENDS})
_HOT = Record(m.Hot, {"since": Time(), "reason": _NAME, "until": Time()})
_RETIRED = Record(m.Retired, {"run": _NAME, "reason": _TEXT}, required=("run", "reason"))
_DECAY = Record(m.Decay, {"class": _NAME}, required=("class",), names={"class": "cls"})


def _items(name: str, item: Kind, doc: str, writer: Writer = "machine", **more: bool) -> Field:
    return Field(name, ListOf(item), "set3", doc, (), writer, **more)


def _flag(name: str, doc: str, writer: Writer = "machine") -> Field:
    return Field(name, Flag(), "lww", doc, False, writer)


FIELDS: tuple[Field, ...] = (
    Field("id", memory_ref(), "const", "Set when the memory is created, and never changed."),
    Field("type", Choice(m.TYPES), "lww", "What kind of memory.", writer="person"),
    Field("title", _TEXT, "lww", "Display name; notes.", writer="person"),
    Field("subject", _TEXT, "lww", "The person or thing that it is about.", writer="person"),
    Field("predicate", _TEXT, "lww", "The property.", writer="person"),
    Field("object", _TEXT, "lww", "The value.", writer="person"),
    Field(
        "context",
        _TEXT,
        "lww",
        "The context of the text: who it is about, its file, headings and lead-in.",
    ),
    Field("description", _TEXT, "lww", "One line (OKF).", writer="person"),
    Field("status", Choice(m.STATUSES), "status", "Whether recall sees it.", "active"),
    Field("status_epoch", Whole(), "status", "Increased by restore and unreject.", 0),
    Field("standing", Choice(m.STANDINGS), "lww", "How sure we are; claims only.", "resolved"),
    Field("home", Choice(m.HOMES), "lww", "The view it is printed in."),
    _items(
        "tags",
        _NAME,
        "Secondary tags: one word each, of letters, digits and `./:+#-_`.",
        writer="person",
    ),
    _items("entities", _NAME, "Names, projects, hosts and tools it mentions.", writer="person"),
    Field("created", Time(), "min", "When memrepo first saw it."),
    Field("generated", _STAMP, "lww", "Actor and time of the last meaningful change (OKF)."),
    Field("verified", ListOf(_STAMP, bare=True), "set3", "Confirmations (OKF).", ()),
    Field("valid_from", Day(), "lww", "True in the world from.", writer="person"),
    Field("valid_until", Day(), "lww", "True in the world until.", writer="person"),
    Field(
        "scope",
        _NAME,
        "lww",
        "user:, project: or agent: scope; empty is the whole repository.",
        "",
        writer="person",
    ),
    Field("confidence", Number(), "lww", "Stored confidence, 0 to 1.", 1.0),
    Field("importance", _IMPORTANCE, "lww", "How much it matters."),
    Field("decay", _DECAY, "lww", "Decay class of a memory that is not a note.", writer="person"),
    Field(
        "tier",
        Choice(("hot", "warm", "gist", "forgotten")),
        "lww",
        "Retention tier of a note.",
        "hot",
    ),
    Field("tier_since", Time(), "lww", "When the change of tier was due."),
    Field("tier_written", Time(), "lww", "Time of the run that wrote the tier."),
    Field("gist", _GIST, "lww", "What recall shows of a note at gist tier."),
    Field("hot", _HOT, "lww", "When and why it entered the first page, or when it was demoted."),
    _flag("pinned", "Never aged, evicted, archived or pruned.", writer="person"),
    _flag("critical", "Always on the first page.", writer="person"),
    _flag("user_marked", "Requested by the user; never removed.", writer="person"),
    _flag("promoted", "A note that became memories, or evidence for them."),
    Field(
        "nominated",
        Time(),
        "lww",
        "When a nominated note was judged and no memory was made; only later retrievals count.",
    ),
    _items("aliases", _HASH, "Hashes of former wordings."),
    _items("links", _LINK, "Typed links.", folded=True),
    _items("threads", _NAME, "Conversation threads it belongs to."),
    _items("supersedes", memory_ref(), "Memories that this one replaced."),
    _items("superseded_by", memory_ref(), "Memories that replaced this one."),
    Field("superseded_at", Time(), "lww", "When it was replaced."),
    Field("archived_at", Time(), "lww", "When it was archived."),
    Field(
        "compressed_into",
        memory_ref(),
        "lww",
        "The summary that speaks for it since it was archived.",
    ),
    Field("parent", memory_ref(), "lww", "The memory a chunk is part of."),
    Field("chunk", Whole(), "lww", "Index of a chunk, from 0."),
    Field(
        "sources",
        ListOf(_SOURCE, bare=True, limit=10_000),
        "set3",
        "Provenance, one place per line, such as MEMORY.md:35 (OKF).",
        (),
    ),
    Field(
        "source_count",
        Whole(),
        "max",
        "Number of places where it was found, if `sources` lists only some of them.",
    ),
    Field(
        "claim_id",
        Text(pattern=r"cl-[0-9a-f]{16}", what="a claim id cl-<16 hex>"),
        "lww",
        "Claim id of the purifier lineage, when exported or imported.",
    ),
    Field("duplicate_of", memory_ref(), "lww", "The memory it probably repeats."),
    _items("retired", _RETIRED, "Why runs retired it."),
    Field(
        "origin",
        Choice(("purifier", "manual", "import", "compression", "promotion")),
        "lww",
        "How it came to be.",
    ),
    Field(
        "edges",
        _EDGES,
        "lww",
        "White space around the text, and its line ends, in a file of the memory tool.",
        aside=True,
    ),
)

BY_NAME: Mapping[str, Field] = MappingProxyType({field.name: field for field in FIELDS})
ASIDE = "memrepo"
"""The key of the line with the `aside` fields. A separate line for a field has precedence."""
ASIDES: Mapping[str, Field] = MappingProxyType({f.name: f for f in FIELDS if f.aside})
ORDER: Mapping[str, int] = MappingProxyType({name: n for n, name in enumerate([*BY_NAME, ASIDE])})
"""The schema keys, in file order."""
