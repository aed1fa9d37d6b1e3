"""The records of one memory file. Machine facts are in `fields`, keyed by the schema.

Of many places that state one thing only some are listed: a footer may be in thousands of files.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
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


def without_lead(text: str, lead: str) -> str:
    """Return a text without the words at its beginning that context added, as far as it has any."""
    if not (lead and text.startswith(lead)):
        return text
    return text[len(lead) :].lstrip(" :–") or text


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
    """Where a memory's text stands: path and blob of the source, one-based inclusive lines.

    `captured` is the ISO date of the evidence and `captured_from` what it was read from
    (unit, heading, file or commit); both are empty when nothing dates the evidence.

    In a memory's fields only what does not follow by itself is set (`Memory.sources` has the rest),
    and no `blob`: it is that of the version of the file that holds the text.
    """

    resource: str
    blob: str = ""
    lines: tuple[int, int] = (0, 0)
    text_hash: str = ""
    kind: str = "direct"
    captured: str = ""
    captured_from: str = ""


class Stamp(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An actor and a time: `human:<id>`, `process:<id>` or `memrepo/<version>` (OKF 7)."""

    by: str
    at: datetime | None = None


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A typed edge to another memory; strength 0 to 1."""

    target: str
    type: str
    strength: float = 1.0


class Importance(msgspec.Struct, frozen=True, kw_only=True):
    """How much a memory matters: score 0 to 1, level, at most five reason codes, keywords."""

    score: float
    level: str
    reasons: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class Decay(msgspec.Struct, frozen=True, kw_only=True):
    """The decay class of a memory proper; its expiry is derived."""

    cls: str


class Gist(msgspec.Struct, frozen=True, kw_only=True):
    """What recall shows of a note at gist tier; the body stays."""

    title: str
    tags: tuple[str, ...] = ()
    summary: str = ""


class Hot(msgspec.Struct, frozen=True, kw_only=True):
    """On the hot cache since when and why, or demoted when (`until`)."""

    since: datetime | None = None
    reason: str = ""
    until: datetime | None = None


class Retired(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run stopped believing in a memory."""

    run: str
    reason: str


class Edges(msgspec.Struct, frozen=True, kw_only=True):
    r"""What a text had around its body, for whoever reads it back byte for byte.

    `ends` has a letter for each line end where one is not `\n`: `n` for that, `c` for `\r\n`, `r`
    for `\r`; the last letter is of all that follow.
    """

    before: str = ""
    after: str = ""
    ends: str = ""


OWN_ACTOR = f"memrepo/{__version__}"
"""Who words what a run reads off lines."""
IMPLIED = ("home", "generated", "origin")
"""The fields that follow from others in what a run wrote, and then stand in no header."""
_IMPLYING = frozenset({"type", "created"})


def implied(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what follows from a memory's other fields where its header does not say otherwise.

    What has sources was read off their lines by a run: it is in its type's own view, in the
    run's own wording, which is of the time when it was first seen.
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
"""The origins of what a run read off lines of files."""
_DAY = regex(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


def _evident(fields: Mapping[str, Any], resource: str) -> tuple[str, str]:
    """Return day and basis that a place of a memory has where it names none.

    It is the day in the file's name, else that on which the memory was first seen.
    """
    if fields.get("origin") not in _READ_OFF:
        return "", ""
    if named := _DAY.search(resource, resource.rfind("/") + 1):
        return named[0], "file"
    created: datetime | None = fields.get("created")
    return (created.date().isoformat(), "commit") if created else ("", "")


def _stated(fields: Mapping[str, Any], body: str) -> tuple[Source, ...]:
    """Return a memory's sources with nothing but what does not follow by itself."""
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
    """Return a memory's sources with all that follows: text hash, day and its basis."""
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
    r"""One memory: its repository path, schema fields that differ from their default, and body.

    What its header leaves out because it follows (`implied`) is among its fields.

    `body` is the text under the header with `\n` line ends, without leading blank lines and
    trailing white space; the file's own bytes stay with the file (`core.codec.edit`). `derived`
    holds what `once` worked out: it is no part of the memory, and a copy begins without.
    """

    path: str
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    body: str = ""
    # Of the instance, as `derived`: what is no field is left behind by a copy. A run asks for these
    # a million times.
    id: ClassVar[str]
    """The id, or an empty string where a person's file has none yet."""
    type: ClassVar[str]
    """The memory's type."""
    status: ClassVar[str]
    """Whether recall sees it."""
    standing: ClassVar[str]
    """How sure we are (claims only)."""
    is_note: ClassVar[bool]
    """Whether tiers govern it; decay classes govern the rest."""

    def __post_init__(self) -> None:
        own, said = self.__dict__, self.fields
        if type(said) is not MappingProxyType:  # else it is another memory's, or the catalogue's
            said = dict(said)
            if said.get("sources"):
                said = implied(said) | said
                said["sources"] = _stated(said, self.body)
            said = MappingProxyType(said)
            force_setattr(self, "fields", said)
        own["id"] = said.get("id", "")
        own["type"] = type_ = said.get("type", "")
        own["status"] = said.get("status", "active")
        own["standing"] = said.get("standing", "resolved")
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
        """Return what `once` worked out so far."""
        return {}

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return where its text came from, with what its header leaves out as it follows."""
        return self.made(_sources)

    @property
    def own_hash(self) -> str:
        """Return the hash of its own text."""
        return self.once("text_hash", lambda: text_hash(self.body))

    def wordings(self, source: Source) -> frozenset[str]:
        """Return the hashes that the line of a source may have: of today's text or former ones.

        A person who rewrites a memory does not rewrite the line that it was read off.
        """
        if source.text_hash != self.own_hash:
            return frozenset((source.text_hash,))
        return frozenset((source.text_hash, *self.texts("aliases")))

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of its sources, each once."""
        return tuple(dict.fromkeys(source.resource for source in self.sources))

    @property
    def first(self) -> tuple[str, int]:
        """Return the file and the line of its first source, or an empty name."""
        sources = self.sources
        return (sources[0].resource, sources[0].lines[0]) if sources else ("", 0)

    @property
    def layer(self) -> str:
        """Return the layer that its path names, or the type's own where it stands elsewhere."""
        parts = self.path.split("/")
        if "memories" in parts[:-2]:
            return parts[parts.index("memories") + 1]
        return LAYER_OF_TYPE.get(self.type, "knowledge")

    @property
    def slug(self) -> str:
        """Return the file name without `.md`."""
        return self.path.rsplit("/", 1)[-1].removesuffix(".md")

    @property
    def label(self) -> str:
        """Return the slug, shortened where it is long but never without the digits of the id."""
        slug = self.slug
        return slug if len(slug) <= 28 else f"{slug[:20].rstrip('-')}…{slug[-7:]}"

    @property
    def captured(self) -> str:
        """Return the newest evidence date, or an empty string."""
        return max((s.captured for s in self.sources), default="")

    @property
    def keys(self) -> Set[str]:
        """Return the names of its fields; of a kept memory they are known without its text."""
        return self.fields.keys()

    def has(self, key: str) -> bool:
        """Return whether it has a field."""
        return key in self.fields

    def text(self, key: str) -> str:
        """Return a text field, or an empty string."""
        found: str = self.fields.get(key, "")
        return found

    @property
    def said(self) -> str:
        """Return the body without the words that context added."""
        return without_lead(self.body, self.text("lead"))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list field, or an empty tuple."""
        found: tuple[str, ...] = self.fields.get(key, ())
        return found

    def time(self, key: str) -> datetime | None:
        """Return a time field, or None."""
        found: datetime | None = self.fields.get(key)
        return found

    def flag(self, key: str) -> bool:
        """Return a flag field."""
        return bool(self.fields.get(key, False))

    def once(self, rule: str, work_out: Callable[[], T]) -> T:
        """Return what follows from fields and body alone, worked out when it is first asked for.

        `rule` names how, and whatever that depends on next to them and the program. The value is of
        what JSON holds (lists, no tuples), for runs keep it by the file's blob.
        """
        if rule not in self.derived:
            self.derived[rule] = work_out()
        found: T = self.derived[rule]
        return found

    def made(self, make: Callable[[Memory], T]) -> T:
        """Return what a function makes of the memory, made once in this process.

        Functions are told apart by their names: a dictionary beside these would be one a memory.
        """
        own, key = self.__dict__, make.__qualname__
        if key not in own:
            own[key] = make(self)
        return cast("T", own[key])

    def with_fields(self, changes: Mapping[str, object], body: str | None = None) -> Memory:
        """Return a copy with fields set, or removed where the new value is None.

        What followed from a changed type or time follows from the new one.
        """
        said: Mapping[str, object] = self.fields
        if not _IMPLYING.isdisjoint(changes):
            known = implied(said)
            said = {k: v for k, v in said.items() if k not in known or known[k] != v}
        merged = {k: v for k, v in {**said, **changes}.items() if v is not None}
        return replace(self, fields=merged, body=self.body if body is None else body)


REFERENCES = (
    "links",
    "supersedes",
    "superseded_by",
    "compressed_into",
    "parent",
    "duplicate_of",
)
"""The fields that hold ids of other memories."""
_FIELDS = frozenset(REFERENCES)


def targets(value: Any) -> tuple[str, ...]:
    """Return the ids in the value of such a field."""
    if isinstance(value, str):
        return (value,)
    return tuple(item.target if isinstance(item, Link) else item for item in value)


def references(memory: Memory) -> frozenset[str]:
    """Return the ids of all memories that a memory refers to."""
    if _FIELDS.isdisjoint(memory.keys):  # as of most, and runs ask for all
        return frozenset()
    values = (memory.fields.get(key) for key in REFERENCES)
    return frozenset(target for value in values if value for target in targets(value))


def differing(one: Mapping[str, Memory], other: Mapping[str, Memory]) -> set[str]:
    """Return the ids of memories that are not the same object in both mappings, or in one only."""
    found = {id_ for id_, memory in one.items() if other.get(id_) is not memory}
    return found | (other.keys() - one.keys())


def of_types(memories: Iterable[Memory], types: Collection[str]) -> list[Memory]:
    """Return the memories of some types."""
    return [memory for memory in memories if memory.type in types]


def having(memories: Iterable[Memory], keys: Iterable[str]) -> list[Memory]:
    """Return the memories that have one of some fields."""
    wanted = frozenset(keys)
    return [memory for memory in memories if not wanted.isdisjoint(memory.keys)]


def without_chunks(memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories that are no chunks: the text of a chunk is part of its parent's."""
    return [memory for memory in memories if memory.type != "chunk"]


SOURCE_COUNT = "source_count"
"""The field that tells how many places there are, where not all are listed."""
MAX_LISTED = 50
"""So many places are listed, and more only where each says it in words of its own."""
_LISTED_DAYS = 10
_TELLING_FILES = frozenset(
    f"{name}.md"
    for name in (
        *("user", "human", "identity", "persona", "tools"),
        *("memory", "rtmemory", "procedures", "chronicles", "dreams"),
    )
)
"""Files whose name says of whom or what they are."""


def places_of(memory: Memory) -> int:
    """Return in how many places a memory was met, listed or not."""
    return max(len(memory.sources), memory.fields.get(SOURCE_COUNT) or 0)


def hashes_of(memory: Memory) -> frozenset[str]:
    """Return the text hashes of the lines that a memory rests on; of each one place is listed."""
    return frozenset(s.text_hash for s in memory.sources if s.text_hash)


def listed_places(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Return the places that are listed of some, in their order; all where they are few.

    What is asked of evidence is answered by these as by all: the first place, each wording, each
    kind, the newest of each kind of date, the newest days, a file that tells by its name of whom
    it is. The rest are the first ones.
    """
    if len(sources) <= MAX_LISTED:
        return tuple(sources)
    kept = dict.fromkeys(_needed_places(sources))
    for source in sources:
        if len(kept) >= MAX_LISTED:
            break
        kept[source] = None
    return tuple(source for source in dict.fromkeys(sources) if source in kept)


def _needed_places(sources: Sequence[Source]) -> Iterator[Source]:
    yield sources[0]
    seen: set[Hashable] = set()
    for source in sources:
        for mark in (("said", source.text_hash), ("kind", source.kind), _place_kind(source)):
            if mark and mark not in seen:
                seen.add(mark)
                yield source
    dated: dict[str, Source] = {}
    for source in _newest_first(sources):
        if source.captured_from not in dated:
            dated[source.captured_from] = source
            yield source
    days = {s.captured[:10]: s for s in reversed(_newest_first(sources)) if s.captured}
    yield from list(reversed(days.values()))[:_LISTED_DAYS]


def _newest_first(sources: Iterable[Source]) -> list[Source]:
    """Return the newest first; of one day they keep their order."""
    return sorted(sources, key=lambda source: source.captured, reverse=True)


def _place_kind(source: Source) -> Hashable:
    """Return what of a file's path says what it tells of, if anything does."""
    *folders, name = source.resource.split("/")
    if name.casefold() in _TELLING_FILES:
        return "file", name.casefold()
    found = {"memories", "episodes"}.intersection(folders)
    return ("folder", min(found)) if found else ""
