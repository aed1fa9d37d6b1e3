"""The schema of a memory file, from which validation, JSON Schema, docs and merging are derived.

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


class Field(msgspec.Struct, frozen=True, kw_only=True):
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

FIELDS: tuple[Field, ...] = (
    Field(
        name="id",
        kind=memory_ref(),
        merge="const",
        doc="Set when the memory is created, and never changed.",
    ),
    Field(
        name="type", kind=Choice(m.TYPES), merge="lww", writer="person", doc="What kind of memory."
    ),
    Field(name="title", kind=_TEXT, merge="lww", writer="person", doc="Display name; notes."),
    Field(
        name="subject",
        kind=_TEXT,
        merge="lww",
        writer="person",
        doc="The person or thing that it is about.",
    ),
    Field(
        name="predicate",
        kind=_TEXT,
        merge="lww",
        writer="person",
        doc="The property.",
    ),
    Field(name="object", kind=_TEXT, merge="lww", writer="person", doc="The value."),
    Field(
        name="context",
        kind=_TEXT,
        merge="lww",
        doc="The context of the text: who it is about, its file, headings and lead-in.",
    ),
    Field(
        name="lead",
        kind=_TEXT,
        merge="lww",
        aside=True,
        doc="The beginning of the text that context added, in memories of older runs.",
    ),
    Field(name="description", kind=_TEXT, merge="lww", writer="person", doc="One line (OKF)."),
    Field(
        name="status",
        kind=Choice(m.STATUSES),
        merge="status",
        default="active",
        doc="Whether recall sees it.",
    ),
    Field(
        name="status_epoch",
        kind=Whole(),
        merge="status",
        default=0,
        doc="Increased by restore and unreject.",
    ),
    Field(
        name="standing",
        kind=Choice(m.STANDINGS),
        merge="lww",
        default="resolved",
        doc="How sure we are; claims only.",
    ),
    Field(name="home", kind=Choice(m.HOMES), merge="lww", doc="The view it is printed in."),
    Field(
        name="tags",
        kind=ListOf(_NAME),
        merge="set3",
        default=(),
        writer="person",
        doc="Secondary tags: one word each, of letters, digits and `./:+#-_`.",
    ),
    Field(
        name="entities",
        kind=ListOf(_NAME),
        merge="set3",
        default=(),
        writer="person",
        doc="Names, projects, hosts and tools it mentions.",
    ),
    Field(name="created", kind=Time(), merge="min", doc="When memrepo first saw it."),
    Field(
        name="generated",
        kind=_STAMP,
        merge="lww",
        doc="Actor and time of the last meaningful change (OKF).",
    ),
    Field(
        name="verified",
        kind=ListOf(_STAMP, bare=True),
        merge="set3",
        default=(),
        doc="Confirmations (OKF).",
    ),
    Field(
        name="valid_from", kind=Day(), merge="lww", writer="person", doc="True in the world from."
    ),
    Field(
        name="valid_until", kind=Day(), merge="lww", writer="person", doc="True in the world until."
    ),
    Field(
        name="scope",
        kind=_NAME,
        merge="lww",
        default="",
        writer="person",
        doc="user:, project: or agent: scope; empty is the whole repository.",
    ),
    Field(
        name="confidence", kind=Number(), merge="lww", default=1.0, doc="Stored confidence, 0 to 1."
    ),
    Field(
        name="importance",
        kind=Record(
            m.Importance,
            {
                "score": Number(),
                "level": Choice(("trivial", "low", "normal", "high", "critical")),
                "reasons": ListOf(_NAME),
                "keywords": ListOf(_NAME),
            },
            required=("score", "level"),
        ),
        merge="lww",
        doc="How much it matters.",
    ),
    Field(
        name="decay",
        kind=Record(m.Decay, {"class": _NAME}, required=("class",), names={"class": "cls"}),
        merge="lww",
        writer="person",
        doc="Decay class of a memory that is not a note.",
    ),
    Field(
        name="tier",
        kind=Choice(("hot", "warm", "gist", "forgotten")),
        merge="lww",
        default="hot",
        doc="Retention tier of a note.",
    ),
    Field(name="tier_since", kind=Time(), merge="lww", doc="When the change of tier was due."),
    Field(
        name="tier_written", kind=Time(), merge="lww", doc="Time of the run that wrote the tier."
    ),
    Field(
        name="gist",
        kind=Record(
            m.Gist, {"title": _TEXT, "tags": ListOf(_NAME), "summary": _TEXT}, required=("title",)
        ),
        merge="lww",
        doc="What recall shows of a note at gist tier.",
    ),
    Field(
        name="hot",
        kind=Record(m.Hot, {"since": Time(), "reason": _NAME, "until": Time()}),
        merge="lww",
        doc="When and why it entered the hot cache, or when it was demoted.",
    ),
    Field(
        name="pinned",
        kind=Flag(),
        merge="lww",
        default=False,
        writer="person",
        doc="Never aged, evicted, archived or pruned.",
    ),
    Field(
        name="critical",
        kind=Flag(),
        merge="lww",
        default=False,
        writer="person",
        doc="Always in the hot cache.",
    ),
    Field(
        name="user_marked",
        kind=Flag(),
        merge="lww",
        default=False,
        writer="person",
        doc="Requested by the user; never removed.",
    ),
    Field(
        name="promoted",
        kind=Flag(),
        merge="lww",
        default=False,
        doc="A note that became memories, or evidence for them.",
    ),
    Field(
        name="nominated",
        kind=Time(),
        merge="lww",
        doc="When a nominated note was judged and no memory was made; only later retrievals count.",
    ),
    Field(
        name="aliases",
        kind=ListOf(_HASH),
        merge="set3",
        default=(),
        doc="Hashes of former wordings.",
    ),
    Field(
        name="links",
        kind=ListOf(
            Record(
                m.Link,
                {
                    "target": memory_ref(),
                    "type": Choice(("follows", "references", "contradicts", "supports", "related")),
                    "strength": Number(),
                },
                required=("target", "type"),
            )
        ),
        merge="set3",
        default=(),
        folded=True,
        doc="Typed links.",
    ),
    Field(
        name="threads",
        kind=ListOf(_NAME),
        merge="set3",
        default=(),
        doc="Conversation threads it belongs to.",
    ),
    Field(
        name="supersedes",
        kind=ListOf(memory_ref()),
        merge="set3",
        default=(),
        doc="Memories that this one replaced.",
    ),
    Field(
        name="superseded_by",
        kind=ListOf(memory_ref()),
        merge="set3",
        default=(),
        doc="Memories that replaced this one.",
    ),
    Field(name="superseded_at", kind=Time(), merge="lww", doc="When it was replaced."),
    Field(name="archived_at", kind=Time(), merge="lww", doc="When it was archived."),
    Field(
        name="compressed_into",
        kind=memory_ref(),
        merge="lww",
        doc="The summary that speaks for it since it was archived.",
    ),
    Field(name="parent", kind=memory_ref(), merge="lww", doc="The memory a chunk is part of."),
    Field(name="chunk", kind=Whole(), merge="lww", doc="Index of a chunk, from 0."),
    Field(
        name="sources",
        kind=ListOf(_SOURCE, bare=True, limit=10_000),
        merge="set3",
        default=(),
        doc="Provenance, one place per line, such as MEMORY.md:35 (OKF).",
    ),
    Field(
        name="source_count",
        kind=Whole(),
        merge="max",
        doc="Number of places where it was found, if `sources` lists only some of them.",
    ),
    Field(
        name="claim_id",
        kind=Text(pattern=r"cl-[0-9a-f]{16}", what="a claim id cl-<16 hex>"),
        merge="lww",
        doc="Claim id of the purifier lineage, when exported or imported.",
    ),
    Field(
        name="duplicate_of", kind=memory_ref(), merge="lww", doc="The memory it probably repeats."
    ),
    Field(
        name="retired",
        kind=ListOf(Record(m.Retired, {"run": _NAME, "reason": _TEXT}, required=("run", "reason"))),
        merge="set3",
        default=(),
        doc="Why runs retired it.",
    ),
    Field(
        name="origin",
        kind=Choice(("purifier", "manual", "import", "compression", "promotion")),
        merge="lww",
        doc="How it came to be.",
    ),
    Field(
        name="edges",
        kind=Record(m.Edges, {"before": _EDGE, "after": _EDGE, "ends": _ENDS}),
        merge="lww",
        aside=True,
        doc="White space around the text, and its line ends, in a file of the memory tool.",
    ),
)

BY_NAME: Mapping[str, Field] = MappingProxyType({field.name: field for field in FIELDS})
ASIDE = "memrepo"
"""The key of the line with the `aside` fields. A separate line for a field has precedence."""
ASIDES: Mapping[str, Field] = MappingProxyType({f.name: f for f in FIELDS if f.aside})
ORDER: Mapping[str, int] = MappingProxyType({name: n for n, name in enumerate([*BY_NAME, ASIDE])})
"""The schema keys, in file order."""


def json_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of a memory's header. Unknown keys are allowed."""
    own = {f.name: {**f.kind.json_schema(), "description": f.doc} for f in FIELDS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "memrepo memory frontmatter",
        "type": "object",
        "required": ["type"],
        "properties": {
            **own,
            ASIDE: {
                "type": "object",
                "properties": {name: own[name] for name in ASIDES},
                "description": "What only memrepo needs, in one line.",
            },
        },
    }
