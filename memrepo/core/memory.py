"""Data types of a memory file. Machine-readable values are in `fields`, keyed by the schema.

If a text occurs in many places, only some are listed: a footer can be in thousands of files.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
    Set,
)
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

import msgspec
from msgspec.structs import force_setattr, replace

from memrepo import __version__
from memrepo.core.ids import text_hash
from memrepo.core.patterns import regex

T = TypeVar("T")


CLAIM_TYPES = (
    "fact",
    "lesson",
    "decision",
    "commitment",
    "constraint",
    "preference",
    "identity",
    "relationship",
    "method",
    "procedure",
    "episode",
    "aspiration",
    "milestone",
    "open_question",
)
TYPES = ("note", *CLAIM_TYPES, "summary", "chunk")
STATUSES = ("active", "archived", "superseded", "forgotten")
STANDINGS = (
    "resolved",
    "contested",
    "unresolved",
    "stale",
    "retire_candidate",
    "probable_duplicate",
)
HOMES = ("LTMEMORY.md", "PLAYBOOKS.md", "EPISODES.md", "HISTORY.md", "WISHES.md")
LAYERS = ("identity", "user", "preferences", "knowledge", "decisions", "skills", "context", "notes")

LAYER_OF_TYPE: Mapping[str, str] = MappingProxyType(
    {
        "identity": "identity",
        "relationship": "user",
        "preference": "preferences",
        "fact": "knowledge",
        "lesson": "knowledge",
        "constraint": "knowledge",
        "open_question": "knowledge",
        "decision": "decisions",
        "commitment": "decisions",
        "method": "skills",
        "procedure": "skills",
        "episode": "context",
        "milestone": "context",
        "aspiration": "context",
        "summary": "context",
        "chunk": "context",
        "note": "notes",
    }
)
HOME_OF_TYPE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(CLAIM_TYPES, "LTMEMORY.md"),
        "method": "PLAYBOOKS.md",
        "procedure": "PLAYBOOKS.md",
        "episode": "EPISODES.md",
        "milestone": "HISTORY.md",
        "aspiration": "WISHES.md",
    }
)


class Source(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A place where the text of a memory occurs: path and blob of a source, and line numbers.

    The lines are one-based and inclusive. `captured` is the ISO date of the evidence, and
    `captured_from` is where the date was found (unit, heading, file or commit). Both are empty if
    the evidence has no date.

    A memory's fields contain only values that are not implied. `Memory.sources` adds the others.
    `blob` is also omitted: it is the blob of the source version that contains the text.
    """

    resource: str
    blob: str = ""
    lines: tuple[int, int] = (0, 0)
    text_hash: str = ""
    kind: str = "direct"
    captured: str = ""
    captured_from: str = ""


class Stamp(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An actor and a time.

    Actors are `human:<id>`, `process:<id>` or `memrepo/<version>` (OKF 7).
    """

    by: str
    at: datetime | None = None


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A typed link to another memory. The strength is from 0 to 1."""

    target: str
    type: str
    strength: float = 1.0


class Importance(msgspec.Struct, frozen=True, kw_only=True):
    """The importance of a memory: a score (0 to 1), a level, up to five reasons, and keywords."""

    score: float
    level: str
    reasons: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class Decay(msgspec.Struct, frozen=True, kw_only=True):
    """The decay class of a memory other than a note. The expiry is derived from the class."""

    cls: str


class Gist(msgspec.Struct, frozen=True, kw_only=True):
    """The text that recall shows instead of the unchanged body, for a note at gist tier."""

    title: str
    tags: tuple[str, ...] = ()
    summary: str = ""


class Hot(msgspec.Struct, frozen=True, kw_only=True):
    """When and why a memory was added to the hot cache, or the time until which it is demoted."""

    since: datetime | None = None
    reason: str = ""
    until: datetime | None = None


class Retired(msgspec.Struct, frozen=True, kw_only=True):
    """The run that retired a memory, with the reason."""

    run: str
    reason: str


class Edges(msgspec.Struct, frozen=True, kw_only=True):
    r"""The white space and line endings around a body, used to restore a file byte for byte.

    `ends` is empty if all line endings are `\n`. Otherwise it has a letter each: `n` for `\n`,
    `c` for `\r\n`, `r` for `\r`. The last letter applies to all remaining line endings.
    """

    before: str = ""
    after: str = ""
    ends: str = ""


OWN_ACTOR = f"memrepo/{__version__}"
"""The author of text that a run copied from source lines."""
IMPLIED = ("home", "generated", "origin")
"""The fields that are implied by others in memories written by a run, and omitted from the header.
"""
_IMPLYING = frozenset({"type", "created"})


def implied(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field values that are implied by the other fields of a memory.

    They apply unless the header has different values. A memory with sources was read from them by a
    run. Its page is that of its type, its wording is the run's, and its time is when it was first
    read.
    """
    if not fields.get("sources") or not fields.get("id"):
        return {}
    home = HOME_OF_TYPE.get(fields.get("type", ""))
    found: dict[str, object] = {"home": home} if home else {}
    found["origin"] = "purifier"
    if (created := fields.get("created")) is not None:
        found["generated"] = Stamp(by=OWN_ACTOR, at=created)
    return found


_READ_OFF = ("purifier", "promotion")
"""The origins of memories that a run read from source lines."""
_DAY = regex(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


def _evident(fields: Mapping[str, Any], resource: str) -> tuple[str, str]:
    """Return the (date, basis) implied for a source without a date.

    The date is the one in the file name, else the day when the memory was first read.
    """
    if fields.get("origin") not in _READ_OFF:
        return "", ""
    if named := _DAY.search(resource, resource.rfind("/") + 1):
        return named[0], "file"
    created: datetime | None = fields.get("created")
    return (created.date().isoformat(), "commit") if created else ("", "")


def _stated(fields: Mapping[str, Any], body: str) -> tuple[Source, ...]:
    """Return the sources of a memory without the values that are implied."""
    found = []
    for source in fields["sources"]:
        hash_, day, basis = source.text_hash, source.captured, source.captured_from
        if hash_ and fields.get("origin") in _READ_OFF and hash_ == text_hash(body):
            hash_ = ""
        if day:
            evident = _evident(fields, source.resource)
            if (day, "file" if basis == "heading" else basis) == evident or (day, basis) == evident:
                day = basis = ""
        if (hash_, day, basis, "") != (
            source.text_hash,
            source.captured,
            source.captured_from,
            source.blob,
        ):
            source = replace(source, blob="", text_hash=hash_, captured=day, captured_from=basis)
        found.append(source)
    return tuple(dict.fromkeys(found))


def _sources(memory: Memory) -> tuple[Source, ...]:
    """Return the sources of a memory with implied values filled in: text hash, date and basis."""
    stated: tuple[Source, ...] = memory.fields.get("sources", ())
    if memory.text("origin") not in _READ_OFF:
        return stated
    found = []
    for source in stated:
        if not source.text_hash:
            source = replace(source, text_hash=memory.own_hash)
        if not source.captured:
            day, basis = _evident(memory.fields, source.resource)
            source = replace(source, captured=day, captured_from=basis)
        found.append(source)
    return tuple(found)


class Memory(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    r"""One memory: its path in the repository, its non-default schema fields, and its body.

    Implied values that the header omits (`implied`) are included in `fields`.

    `body` is the text under the header with `\n` line endings, without leading blank lines and
    trailing white space. The original bytes remain in the file (`core.codec.edit`). `derived` is
    the cache of `once`. It is not part of the memory and is not copied.
    """

    path: str
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    body: str = ""
    # Instance attributes set in `__post_init__`, not struct fields, so that copies do not include
    # them. Properties would be too slow: a run reads them a million times.
    id: ClassVar[str]
    """The id, or an empty string if a user's file does not have one yet."""
    type: ClassVar[str]
    """The type of the memory."""
    status: ClassVar[str]
    """The status, which determines whether recall returns the memory."""
    standing: ClassVar[str]
    """How certain the memory is (claims only)."""
    is_note: ClassVar[bool]
    """Whether the memory is a note. Notes have tiers, and other memories have decay classes."""

    def __post_init__(self) -> None:
        own, fields = self.__dict__, self.fields
        if type(fields) is not MappingProxyType:  # otherwise already normalized
            fields = dict(fields)
            if fields.get("sources"):
                fields = implied(fields) | fields
                fields["sources"] = _stated(fields, self.body)
            fields = MappingProxyType(fields)
            force_setattr(self, "fields", fields)
        own["id"] = fields.get("id", "")
        own["type"] = type_ = fields.get("type", "")
        own["status"] = fields.get("status", "active")
        own["standing"] = fields.get("standing", "resolved")
        own["is_note"] = type_ == "note"

    def __hash__(self) -> int:
        return hash((self.path, self.id, self.body))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        return (self.path, self.body, dict(self.fields)) == (
            other.path,
            other.body,
            dict(other.fields),
        )

    @cached_property
    def derived(self) -> dict[str, Any]:
        """Return the values cached by `once`."""
        return {}

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return the sources of the memory, with the implied values that the header omits."""
        return self.made(_sources)

    @property
    def own_hash(self) -> str:
        """Return the hash of the current text."""
        return self.once("text_hash", lambda: text_hash(self.body))

    def wordings(self, source: Source) -> frozenset[str]:
        """Return the possible hashes of a source line: of the current text and of former texts.

        A person who rewords a memory does not change the source line that it was read from.
        """
        if source.text_hash != self.own_hash:
            return frozenset((source.text_hash,))
        return frozenset((source.text_hash, *self.texts("aliases")))

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files in which the memory has sources, without duplicates."""
        return tuple(dict.fromkeys(source.resource for source in self.sources))

    @property
    def first(self) -> tuple[str, int]:
        """Return the file and line of the first source, or ("", 0) without sources."""
        sources = self.sources
        return (sources[0].resource, sources[0].lines[0]) if sources else ("", 0)

    @property
    def layer(self) -> str:
        """Return the layer in the memory's path. Without one, return the layer of its type."""
        parts = self.path.split("/")
        if "memories" in parts[:-2]:
            return parts[parts.index("memories") + 1]
        return LAYER_OF_TYPE.get(self.type, "knowledge")

    @property
    def slug(self) -> str:
        """Return the memory's file name without `.md`."""
        return self.path.rsplit("/", 1)[-1].removesuffix(".md")

    @property
    def label(self) -> str:
        """Return the file name without `.md`. Shorten a long name, except the id's digits."""
        slug = self.slug
        return slug if len(slug) <= 28 else f"{slug[:20].rstrip('-')}…{slug[-7:]}"

    @property
    def captured(self) -> str:
        """Return the newest date of the evidence, or an empty string if no date is known."""
        return max((s.captured for s in self.sources), default="")

    @property
    def keys(self) -> Set[str]:
        """Return the names of the fields present. For a cached memory, no text is parsed."""
        return self.fields.keys()

    def has(self, key: str) -> bool:
        """Return whether the field is present."""
        return key in self.fields

    def text(self, key: str) -> str:
        """Return the value of a text field, or an empty string if absent."""
        found: str = self.fields.get(key, "")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the value of a list field, or an empty tuple if absent."""
        found: tuple[str, ...] = self.fields.get(key, ())
        return found

    def time(self, key: str) -> datetime | None:
        """Return the value of a time field, or None if absent."""
        found: datetime | None = self.fields.get(key)
        return found

    def flag(self, key: str) -> bool:
        """Return the value of a flag field, or False if absent."""
        return bool(self.fields.get(key, False))

    def once(self, rule: str, work_out: Callable[[], T]) -> T:
        """Return a value computed only from fields and body.

        The value is computed on first use and cached. `rule` identifies the computation and
        everything else it depends on. The value must be JSON data (lists, not tuples) because runs
        cache it by the file's blob.
        """
        if rule not in self.derived:
            self.derived[rule] = work_out()
        found: T = self.derived[rule]
        return found

    def made(self, make: Callable[[Memory], T]) -> T:
        """Return the result of a function of this memory, cached within this process.

        Functions are identified by name. A dictionary of functions would cost one dictionary per
        memory.
        """
        own, key = self.__dict__, make.__qualname__
        if key not in own:
            own[key] = make(self)
        return cast("T", own[key])

    def with_fields(self, changes: Mapping[str, object], body: str | None = None) -> Memory:
        """Return a copy with the given fields set. A field whose new value is None is removed.

        If the type or the creation time changes, the values implied by it change too.
        """
        fields: Mapping[str, object] = self.fields
        if not _IMPLYING.isdisjoint(changes):
            known = implied(fields)
            fields = {k: v for k, v in fields.items() if k not in known or known[k] != v}
        merged = {k: v for k, v in {**fields, **changes}.items() if v is not None}
        return replace(self, fields=merged, body=self.body if body is None else body)


REFERENCES = (
    "links",
    "supersedes",
    "superseded_by",
    "compressed_into",
    "parent",
    "duplicate_of",
)
"""The fields that contain ids of other memories."""
_FIELDS = frozenset(REFERENCES)


def targets(value: Any) -> tuple[str, ...]:
    """Return the ids in the value of a field that refers to memories."""
    if isinstance(value, str):
        return (value,)
    return tuple(item.target if isinstance(item, Link) else item for item in value)


def references(memory: Memory) -> frozenset[str]:
    """Return the ids of all memories that a memory refers to."""
    if _FIELDS.isdisjoint(memory.keys):  # the common case, and runs call this for all memories
        return frozenset()
    values = (memory.fields.get(key) for key in REFERENCES)
    return frozenset(target for value in values if value for target in targets(value))


def differing(one: Mapping[str, Memory], other: Mapping[str, Memory]) -> set[str]:
    """Return the ids of memories found in only one mapping, or with a different object in each."""
    found = {id_ for id_, memory in one.items() if other.get(id_) is not memory}
    return found | (other.keys() - one.keys())


def of_types(memories: Iterable[Memory], types: Collection[str]) -> list[Memory]:
    """Return the memories of the given types."""
    return [memory for memory in memories if memory.type in types]


def having(memories: Iterable[Memory], keys: Iterable[str]) -> list[Memory]:
    """Return the memories that have a value in at least one of the given fields."""
    wanted = frozenset(keys)
    return [memory for memory in memories if not wanted.isdisjoint(memory.keys)]


def without_chunks(memories: Iterable[Memory]) -> list[Memory]:
    """Return all memories except chunks, whose text is part of their parent's text."""
    return [memory for memory in memories if memory.type != "chunk"]


SOURCE_COUNT = "source_count"
"""The field with the total number of sources, if not all are listed."""
MAX_LISTED = 50
"""The number of sources listed. More are listed only if each has a different wording."""
_LISTED_DAYS = 10


def places_of(memory: Memory) -> int:
    """Return the total number of sources of a memory, including those omitted from the header."""
    return max(len(memory.sources), memory.fields.get(SOURCE_COUNT) or 0)


def hashes_of(memory: Memory) -> frozenset[str]:
    """Return the text hashes of a memory's sources. At least one source per text is listed."""
    return frozenset(s.text_hash for s in memory.sources if s.text_hash)


def listed_places(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Select the sources to list, in their order. All are listed if there are at most MAX_LISTED.

    The selection has the first source, the first of each wording and of each kind, and one of each
    of the newest days. The remaining places are filled with the first of the other sources.
    """
    if len(sources) <= MAX_LISTED:
        return tuple(sources)
    days = {s.captured[:10]: s for s in sorted(sources, key=lambda s: s.captured) if s.captured}
    kept = dict.fromkeys(
        [
            sources[0],
            *{source.text_hash: source for source in reversed(sources)}.values(),
            *{source.kind: source for source in reversed(sources)}.values(),
            *[*days.values()][-_LISTED_DAYS:],
        ]
    )
    for source in sources:
        if len(kept) >= MAX_LISTED:
            break
        kept[source] = None
    return tuple(source for source in dict.fromkeys(sources) if source in kept)
