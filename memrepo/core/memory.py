"""The records of one memory file. Machine facts live in `fields`, keyed by the schema.

Which memories a memory's fields name.

Many memories at once: all of a state by their ids, and one property of each at a time. A rule of a
run looks at all of them, but at little of each. What a store knows of them it hands out by the
column (store/outlines); a memory of it is made when somebody asks for that one.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
    Set,
)
from datetime import datetime
from functools import cached_property, partial
from itertools import compress
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast, overload

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

    What has sources was read off their lines by a run: it stands in its type's own view, in the
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
    _said: ClassVar[dict[str, Any]]
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
        said, own = dict(self.fields), self.__dict__
        if said.get("sources"):
            said = implied(said) | said
            said["sources"] = _stated(said, self.body)
        own["_said"] = said
        own["id"] = said.get("id", "")
        own["type"] = type_ = said.get("type", "")
        own["status"] = said.get("status", "active")
        own["standing"] = said.get("standing", "resolved")
        own["is_note"] = type_ == "note"
        force_setattr(self, "fields", MappingProxyType(said))

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
        if "memories" in parts[:-1]:
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
        return self._said.keys()

    def has(self, key: str) -> bool:
        """Tell whether it has a field."""
        return key in self._said

    def text(self, key: str) -> str:
        """Return a text field, or an empty string."""
        found: str = self._said.get(key, "")
        return found

    @property
    def said(self) -> str:
        """Return the body without the words that context added."""
        return without_lead(self.body, self.text("lead"))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list field, or an empty tuple."""
        found: tuple[str, ...] = self._said.get(key, ())
        return found

    def time(self, key: str) -> datetime | None:
        """Return a time field, or None."""
        found: datetime | None = self._said.get(key)
        return found

    def flag(self, key: str) -> bool:
        """Return a flag field."""
        return bool(self._said.get(key, False))

    def once(self, rule: str, work_out: Callable[[], T]) -> T:
        """Return what follows from fields and body alone, worked out when it is first asked for.

        `rule` names how, and whatever that depends on beside them and the program. The value is of
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
        said: Mapping[str, object] = self._said
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


K = TypeVar("K")
Cell: TypeAlias = Any
"""A property of a memory: what the name of its column says it is."""
Cells: TypeAlias = list[Cell]
"""A property of many memories, in their order."""
_ATTRIBUTES = frozenset(
    ("path", "id", "type", "status", "standing", "keys", "captured", "files", "first", "said")
)
ONCE = "once "
"""Before the name of a rule: the column of what `Memory.once` worked out by it."""


class Columns(Protocol):
    """What is known of many memories, in the order of their paths."""

    ids: list[str]
    paths: list[str]

    def memory(self, at: int) -> Memory:
        """Return one memory, the same each time."""
        ...

    def column(self, name: str) -> Cells | None:
        """Return a property of all of them, None where none is known; a cell may be None too."""
        ...


class Memories(MutableMapping[str, Memory]):
    """The memories of a state by id, most of them known by columns alone."""

    def __init__(self, columns: Columns, at: dict[str, int], others: Sequence[Memory]) -> None:
        """Take by id the number of a row, or below zero that of another memory (-1 the first)."""
        self.columns, self._at, self._others = columns, at, [*others]

    @classmethod
    def of(cls, columns: Columns, others: Sequence[Memory]) -> Memories | None:
        """Return the memories of columns and others; None where two have one id, or one none."""
        at = dict(zip(columns.ids, range(len(columns.ids)), strict=True))
        at |= {memory.id: -number for number, memory in enumerate(others, start=1)}
        if "" in at or len(at) < len(columns.ids) + len(others):
            return None
        return cls(columns, at, others).by_path()

    def __getitem__(self, id_: str) -> Memory:
        return self.numbered(self._at[id_])

    def __setitem__(self, id_: str, memory: Memory) -> None:
        self._others.append(memory)
        self._at[id_] = -len(self._others)

    def __delitem__(self, id_: str) -> None:
        del self._at[id_]

    def __contains__(self, id_: object) -> bool:
        return id_ in self._at

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def copy(self) -> Memories:
        """Return the same memories, to be changed."""
        return Memories(self.columns, dict(self._at), self._others)

    def subset(self, at: Iterable[int]) -> Memories:
        """Return the memories of some numbers."""
        at = [*at]
        ids = map(self._cells("id").__getitem__, at)
        return Memories(self.columns, dict(zip(ids, at, strict=True)), self._others)

    def every(self) -> Listed:
        """Return all memories in order."""
        return Listed(self, [*self._at.values()])

    def active(self) -> Listed:
        """Return the active memories, in the order of their paths."""
        status = self._cells("status")
        found = [at for at in self._at.values() if status[at] == "active"]
        return Listed(self, sorted(found, key=self._cells("path").__getitem__))

    def changed(self, gone: Collection[str], new: Iterable[Memory]) -> Memories | None:
        """Return them without the files at some paths and with others; None as `of` does."""
        found, paths = self.copy(), self._cells("path")
        for id_ in [i for i, at in self._at.items() if paths[at] in gone]:
            del found[id_]
        for memory in new:
            if not memory.id or memory.id in found:
                return None
            found[memory.id] = memory
        return found.by_path()

    def differing(self, other: Memories) -> set[str]:
        """Return the ids of memories that are not the same one in both, or not there in both."""
        there, same = other._at.get, self.columns is other.columns
        may = [i for i, at in self._at.items() if at < 0 or not same or there(i) != at]
        found = {i for i in may if i not in other or self[i] is not other[i]}
        return found | (other._at.keys() - self._at.keys())

    def by_path(self) -> Memories:
        """Return itself, in the order of paths."""
        paths, ids = self._cells("path"), self._cells("id")
        order = sorted(self._at.values(), key=paths.__getitem__)
        self._at = dict(zip(map(ids.__getitem__, order), order, strict=True))
        return self

    def _cells(self, name: str) -> Cells:
        """Return a property that is known of all, to be asked by the numbers of memories."""
        of = attrgetter(name)
        return [*(self.columns.column(name) or ()), *map(of, reversed(self._others))]

    @property
    def others(self) -> int:
        """Return how many memories there may be that are in no row."""
        return len(self._others)

    def numbered(self, at: int) -> Memory:
        """Return a memory by the number of its row, or below zero of another."""
        return self.columns.memory(at) if at >= 0 else self._others[-1 - at]


def editable(memories: Mapping[str, Memory]) -> MutableMapping[str, Memory]:
    """Return memories by id to be changed; those that were given stay as they are."""
    return memories.copy() if isinstance(memories, Memories) else dict(memories)


def fixed(memories: MutableMapping[str, Memory]) -> Mapping[str, Memory]:
    """Return memories by id that nobody changes any more."""
    return memories if isinstance(memories, Memories) else MappingProxyType(memories)


def listed(memories: Mapping[str, Memory]) -> Sequence[Memory]:
    """Return all memories of a mapping, in its order."""
    return memories.every() if isinstance(memories, Memories) else tuple(memories.values())


def differing(one: Mapping[str, Memory], other: Mapping[str, Memory]) -> set[str]:
    """Return the ids of memories that are not the same one in both, or not there in both."""
    if isinstance(one, Memories) and isinstance(other, Memories):
        return one.differing(other)
    return {i for i in {*one, *other} if one.get(i) is not other.get(i)}


def replaced(
    memories: Mapping[str, Memory], gone: Collection[str], new: Iterable[Memory]
) -> Mapping[str, Memory] | None:
    """Return memories in the order of their paths, without the files at some paths, with others.

    None where two have one id then, or one has none.
    """
    if isinstance(memories, Memories):
        return memories.changed(gone, new)
    found = {id_: m for id_, m in memories.items() if m.path not in gone}
    for memory in new:
        if not memory.id or memory.id in found:
            return None
        found[memory.id] = memory
    return MappingProxyType(dict(sorted(found.items(), key=lambda item: item[1].path)))


class Listed(Sequence[Memory]):
    """Some of the memories of a state, in an order."""

    def __init__(self, of: Memories, at: Sequence[int]) -> None:
        self._of, self._at = of, at
        self._told: dict[str, Cells] = {}

    def __len__(self) -> int:
        return len(self._at)

    def __iter__(self) -> Iterator[Memory]:
        return map(self._of.numbered, self._at)

    @overload
    def __getitem__(self, at: int) -> Memory: ...
    @overload
    def __getitem__(self, at: slice) -> Listed: ...
    def __getitem__(self, at: int | slice) -> Memory | Listed:
        if isinstance(at, slice):
            return Listed(self._of, self._at[at])
        return self._of.numbered(self._at[at])

    def only(self, wanted: Iterable[object]) -> Listed:
        """Return those for which a value of another sequence is true."""
        return Listed(self._of, [*compress(self._at, wanted)])

    def picked(self, places: Iterable[int]) -> Listed:
        """Return those at some places, in that order."""
        return Listed(self._of, [*map(self._at.__getitem__, places)])

    def by_id(self) -> Memories:
        """Return them by their ids."""
        return self._of.subset(self._at)

    def each(self, name: str, of: Callable[[Memory], T]) -> list[T]:
        """Return a column of them, which nobody changes; `of` tells it where it is not known."""
        if (known := self._told.get(name)) is not None:
            return known
        memory = self._of.numbered
        cells = self._of.columns.column(name)
        if cells is None:
            return [of(memory(at)) for at in self._at]
        found = self._told[name] = self._taken(cells)
        for place, at in self._others:
            found[place] = of(memory(at))
        if None in found:
            for place, cell in enumerate(found):
                if cell is None:
                    found[place] = of(memory(self._at[place]))
        return found

    @cached_property
    def _taken(self) -> Callable[[Cells], Cells]:
        """Return what takes from a column the cells of these: of those in no row any."""
        if self._of.others <= len(self._of.columns.ids):  # then each has a cell, from the end
            return taking(self._at)
        return taking([max(0, at) for at in self._at])

    @cached_property
    def _others(self) -> Sequence[tuple[int, int]]:
        """Return place and number of those that are in no row."""
        if not self._of.others:
            return ()
        return [(place, at) for place, at in enumerate(self._at) if at < 0]


def taking(places: Sequence[int]) -> Callable[[Cells], Cells]:
    """Return what takes the cells at some places; a column of no cells has none."""
    if len(places) < 2:
        return lambda cells: [cells[at] for at in places if cells]
    take = itemgetter(*places)
    return lambda cells: [*take(cells)] if cells else []


def each(memories: Iterable[Memory], name: str) -> Cells:
    """Return a property of each memory: an attribute, or a text field."""
    return _each(memories, name, _getter(name))


def each_once(memories: Iterable[Memory], rule: str, work_out: Callable[[Memory], T]) -> list[T]:
    """Return what follows from each memory alone, as `Memory.once` does of one."""
    return _each(memories, ONCE + rule, lambda m: m.once(rule, partial(work_out, m)))


def _getter(name: str) -> Callable[[Memory], Cell]:
    return attrgetter(name) if name in _ATTRIBUTES else lambda memory: memory.text(name)


def _each(memories: Iterable[Memory], name: str, of: Callable[[Memory], T]) -> list[T]:
    return memories.each(name, of) if isinstance(memories, Listed) else [of(m) for m in memories]


def only(memories: Iterable[Memory], wanted: Iterable[object]) -> Sequence[Memory]:
    """Return the memories for which a value of another sequence is true."""
    if isinstance(memories, Listed):
        return memories.only(wanted)
    return [*compress(memories, wanted)]


def by_id(memories: Iterable[Memory]) -> Mapping[str, Memory]:
    """Return memories by their ids, in their order."""
    return memories.by_id() if isinstance(memories, Listed) else {m.id: m for m in memories}


def of_types(memories: Sequence[Memory], types: Collection[str]) -> Sequence[Memory]:
    """Return the memories of some types."""
    return only(memories, [type_ in types for type_ in each(memories, "type")])


def grouped(memories: Sequence[Memory], keys: Iterable[K]) -> dict[K, Sequence[Memory]]:
    """Return the memories of each key, in their order."""
    places: dict[K, list[int]] = {}
    for at, key in enumerate(keys):
        places.setdefault(key, []).append(at)
    return {key: picked(memories, found) for key, found in places.items()}


def picked(memories: Sequence[Memory], places: Iterable[int]) -> Sequence[Memory]:
    """Return the memories at some places, in that order."""
    if isinstance(memories, Listed):
        return memories.picked(places)
    return [memories[at] for at in places]


def having(memories: Sequence[Memory], keys: Iterable[str]) -> Sequence[Memory]:
    """Return the memories that have one of some fields."""
    wanted = frozenset(keys)
    return only(memories, [not wanted.isdisjoint(mine) for mine in each(memories, "keys")])


def without_chunks(memories: Sequence[Memory]) -> Sequence[Memory]:
    """Return the memories that are no chunks: the words of a chunk are those of its parent."""
    types = each(memories, "type")
    return only(memories, [t != "chunk" for t in types]) if "chunk" in types else memories
