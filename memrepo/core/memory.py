"""A memory: the record of its header, with the kind, meaning and merge rule of each field.

Fields are written in the order of `Memory`. Their names follow Open Knowledge Format 0.2 if it
defines one (type, title, description, tags, sources, generated, verified, status).

If a text occurs in many places, only some are listed: a footer can be in thousands of files.
"""

from __future__ import annotations

import re
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, cast, get_args

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.core.fields import (
    Day,
    Field,
    Form,
    MemoryRef,
    Name,
    Node,
    Share,
    Text,
    Whole,
    defaults_of,
    fields_of,
    node_of,
    one_of,
    text,
)
from memrepo.core.ids import TEXT_HASH_PATTERN, text_hash
from memrepo.core.patterns import regex

T = TypeVar("T")
_ACTOR = r"(human:|process:).{1,200}|[^\s/:]{1,100}/[^\s/]{1,100}"
Actor = Annotated[
    str, text(_ACTOR, what="an actor: human:<id>, process:<id> or <producer>/<version>")
]
"""Who did something."""


ClaimType = Literal[
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
]
CLAIM_TYPES: tuple[ClaimType, ...] = get_args(ClaimType)
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


_SOURCES = "sources/"
_PLACE = regex(r"(/?)(.*?[^\s:])(?::(\d{1,9})(?:-(\d{1,9}))?(?:, (.+))?)?")
_BASES = ("unit", "heading", "file", "commit")
_KINDS = ("inferred", "merged")


def _check_lines(node: Sequence[str]) -> None:
    first, last = map(int, node)
    if not 0 <= first <= last:
        raise ValueError(node)


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A place where the text of a memory occurs: path, line numbers and text hash.

    The lines are one-based and inclusive. `captured` is the ISO date of the evidence, and
    `captured_from` is where the date was found (unit, heading, file or commit). Both are empty if
    the evidence has no date. The version of the file that has the text is found in git.
    """

    expected: ClassVar[str] = "a place such as MEMORY.md:35 or memory/2026-05-06.md:52-54"

    resource: str
    lines: Annotated[tuple[int, int], Form(_check_lines, "two line numbers")] = (0, 0)
    captured: Day = ""
    captured_from: Annotated[str, one_of("", *_BASES)] = ""
    kind: Annotated[str, one_of("direct", *_KINDS)] = "direct"
    text_hash: Annotated[str, text(f"({TEXT_HASH_PATTERN.pattern})?", what="a text hash")] = ""

    @staticmethod
    def parse(line: str) -> dict[str, Any]:
        """Return the mapping that a line such as `notes/a.md:52-54, 2026-05-06` stands for.

        A path is relative to `sources/`, or to the repository if it starts with a slash. The lines
        are followed by a date, its origin (unless a heading), a text hash and a kind. Raise
        ValueError for any other text.
        """
        found = _PLACE.fullmatch(line)
        if found is None:
            raise ValueError(line)
        root, path, first, last, words = found.groups()
        record: dict[str, Any] = {"resource": path if root or "://" in path else _SOURCES + path}
        if first is not None:
            record["lines"] = [first, last or first]
        for word in (words or "").split():
            key = "captured_from" if word in _BASES else "kind" if word in _KINDS else "captured"
            key = "text_hash" if word.startswith("th-") else key
            if key in record:
                raise ValueError(line)
            record[key] = word
        if "captured" in record:
            record.setdefault("captured_from", "heading")
        return record

    def spell(self) -> str:
        """Return the line of the source."""
        line = self.resource.removeprefix(_SOURCES)
        if line == self.resource and "://" not in line:
            line = f"/{line}"
        basis = self.captured_from if self.captured_from != "heading" else ""
        words = (self.captured, basis, self.text_hash, self.kind)
        details = " ".join(word for word in words if word and word != "direct")
        if self.lines != (0, 0) or details:
            first, last = self.lines
            line += f":{first}" + (f"-{last}" if last > first else "")
        return f"{line}, {details}" if details else line


_TIME = r"\d{4}-\d\d-\d\dT\S+"


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A record that is written on one line: its values in order, as `form` reads them."""

    form: ClassVar[re.Pattern[str]]
    expected: ClassVar[str]

    @classmethod
    def parse(cls, line: str) -> dict[str, Node]:
        """Return the mapping that a line stands for. Raise ValueError for any other text."""
        found = cls.form.fullmatch(line)
        if found is None:
            raise ValueError(line)
        return {key: part for key, part in found.groupdict().items() if part}

    def spell(self) -> str:
        """Return the line of the record, without values that are their default."""
        usual = defaults_of(type(self))
        values = ((key, getattr(self, key)) for key in self.__struct_fields__)
        return " ".join(str(node_of(value)) for key, value in values if value != usual[key])


class Stamp(_Line, frozen=True, kw_only=True):
    """An actor and a time, such as `human:ada 2026-01-31T09:00:00Z`.

    Actors are `human:<id>`, `process:<id>` or `memrepo/<version>` (OKF 7).
    """

    form = regex(rf"(?P<by>.+?)(?: (?P<at>{_TIME}))?")
    expected = (
        "an actor and a time: human:<id>, process:<id> or <producer>/<version>, then the time"
    )

    by: Actor
    at: datetime | None = None


class Link(_Line, frozen=True, kw_only=True):
    """A typed link to another memory, such as `related mem-0123456789abcdef 0.5`.

    The strength is from 0 to 1.
    """

    form = regex(r"(?P<type>\S+) (?P<target>\S+)(?: (?P<strength>[\d.]+))?")
    expected = "a link such as related mem-0123456789abcdef"

    type: Annotated[str, one_of("follows", "references", "contradicts", "supports", "related")]
    target: MemoryRef
    strength: Share = 1.0


class Importance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The importance of a memory: a score (0 to 1), a level, up to five reasons, and keywords."""

    score: Share
    level: Annotated[str, one_of("trivial", "low", "normal", "high", "critical")]
    reasons: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class Gist(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The text that recall shows instead of the unchanged body, for a note at gist tier."""

    title: str
    tags: tuple[str, ...] = ()
    summary: str = ""


class Hot(_Line, frozen=True, kw_only=True):
    """When and why a memory was added to the hot cache, or the time until which it is demoted.

    Its line is a time and a reason, or `until` and a time.
    """

    form = regex(rf"(?:until (?P<until>{_TIME})|(?P<since>{_TIME}))(?: (?P<reason>.+))?")
    expected = "a time and a reason, or `until` and a time"

    since: datetime | None = None
    until: datetime | None = None
    reason: str = ""

    def spell(self) -> str:
        """Return the line."""
        return f"{'until ' if self.until else ''}{super().spell()}"


class Retired(_Line, frozen=True, kw_only=True):
    """The run that retired a memory, with the reason."""

    form = regex(r"(?P<run>\S+) (?P<reason>.+)")
    expected = "a run and a reason"

    run: str
    reason: str


OWN_ACTOR = f"memrepo/{__version__}"
"""The author of text that a run copied from source lines."""
_HASH = text(TEXT_HASH_PATTERN.pattern, what="a text hash th-<16 hex>")
_OWN: dict[str, Any] = {"is_by_person": True}
_Names: TypeAlias = tuple[Name, ...]
_Refs: TypeAlias = tuple[MemoryRef, ...]


class Memory(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    r"""One memory: its path in the repository, its body, and the values of its header.

    `body` is the text under the header with `\n` line endings, without leading blank lines and
    trailing white space. The original bytes remain in the file (`core.codec.edit`). `derived` is
    the cache of `once`. It is not part of the memory and is not copied.
    """

    path: str
    body: str = ""
    id: Annotated[MemoryRef, Field("Set when the memory is created, and never changed.")] = ""
    type: Annotated[str, one_of(*TYPES), Field("What kind of memory.", **_OWN)] = ""
    title: Annotated[Text, Field("Display name; notes.", **_OWN)] = ""
    subject: Annotated[Text, Field("The person or thing that it is about.", **_OWN)] = ""
    predicate: Annotated[Text, Field("The property.", **_OWN)] = ""
    object: Annotated[Text, Field("The value.", **_OWN)] = ""
    context: Annotated[
        Text, Field("The context of the text: who it is about, its file and headings.")
    ] = ""
    description: Annotated[Text, Field("One line (OKF).", **_OWN)] = ""
    status: Annotated[str, one_of(*STATUSES), Field("Whether recall sees it.", "furthest")] = (
        "active"
    )
    standing: Annotated[str, one_of(*STANDINGS), Field("How sure we are; claims only.")] = (
        "resolved"
    )
    tags: Annotated[
        _Names,
        Field("Secondary tags: one word each, of letters, digits and `./:+#-_`.", "union", **_OWN),
    ] = ()
    entities: Annotated[
        _Names, Field("Names, projects, hosts and tools it mentions.", "union", **_OWN)
    ] = ()
    created: Annotated[datetime | None, Field("When memrepo first saw it.", "min")] = None
    generated: Annotated[
        Stamp | None,
        Field("Actor and time of the last meaningful change (OKF), unless a run made it."),
    ] = None
    verified: Annotated[tuple[Stamp, ...], Field("Confirmations (OKF).", "union")] = ()
    valid_from: Annotated[Day, Field("True in the world from.", **_OWN)] = ""
    valid_until: Annotated[Day, Field("True in the world until.", **_OWN)] = ""
    scope: Annotated[
        Name, Field("user:, project: or agent: scope; empty is the whole repository.", **_OWN)
    ] = ""
    confidence: Annotated[Share, Field("Stored confidence, 0 to 1.")] = 1.0
    importance: Annotated[Importance | None, Field("How much it matters.")] = None
    decay: Annotated[
        Name, Field("Decay class of a memory that is not a note.", inner="class", **_OWN)
    ] = ""
    tier: Annotated[
        str, one_of("hot", "warm", "gist", "forgotten"), Field("Retention tier of a note.")
    ] = "hot"
    tier_since: Annotated[
        datetime | None, Field("When the change of tier was due, or when it was forgotten.")
    ] = None
    gist: Annotated[Gist | None, Field("What recall shows of a note at gist tier.")] = None
    hot: Annotated[
        Hot | None, Field("When and why it entered the first page, or when it was demoted.")
    ] = None
    pinned: Annotated[bool, Field("Never aged, evicted, archived or pruned.", **_OWN)] = False
    critical: Annotated[bool, Field("Always on the first page.", **_OWN)] = False
    user_marked: Annotated[bool, Field("Requested by the user; never removed.", **_OWN)] = False
    promoted: Annotated[bool, Field("A note that became memories, or evidence for them.")] = False
    nominated: Annotated[
        datetime | None,
        Field(
            "When a nominated note was judged and no memory was made; only later retrievals count."
        ),
    ] = None
    aliases: Annotated[
        _Names, Field("Other names of it, which links may use.", "union", **_OWN)
    ] = ()
    former: Annotated[
        tuple[Annotated[str, _HASH], ...], Field("Hashes of former wordings.", "union")
    ] = ()
    links: Annotated[tuple[Link, ...], Field("Typed links.", "union")] = ()
    threads: Annotated[_Names, Field("Conversation threads it belongs to.", "union")] = ()
    supersedes: Annotated[_Refs, Field("Memories that this one replaced.", "union")] = ()
    superseded_by: Annotated[_Refs, Field("Memories that replaced this one.", "union")] = ()
    superseded_at: Annotated[datetime | None, Field("When it was replaced.")] = None
    archived_at: Annotated[datetime | None, Field("When it was archived.")] = None
    compressed_into: Annotated[
        MemoryRef, Field("The summary that speaks for it since it was archived.")
    ] = ""
    parent: Annotated[MemoryRef, Field("The memory a chunk is part of.")] = ""
    chunk: Annotated[Whole | None, Field("Index of a chunk, from 0.")] = None
    sources: Annotated[
        tuple[Source, ...],
        msgspec.Meta(max_length=10_000),
        Field("Provenance, one place per line, such as MEMORY.md:35 (OKF).", "union"),
    ] = ()
    claim_id: Annotated[
        str,
        text(r"cl-[0-9a-f]{16}", what="a claim id cl-<16 hex>"),
        Field("Claim id of the purifier lineage, when exported or imported."),
    ] = ""
    duplicate_of: Annotated[MemoryRef, Field("The memory it probably repeats.")] = ""
    retired: Annotated[tuple[Retired, ...], Field("Why runs retired it.", "union")] = ()
    origin: Annotated[
        str,
        one_of("purifier", "manual", "import", "compression", "promotion"),
        Field("How it came to be."),
    ] = "purifier"

    @classmethod
    def of(cls, path: str, fields: Mapping[str, Any], body: str = "") -> Memory:
        """Return a memory with the given header values by key. A value of None is absent."""
        given = {key: value for key, value in fields.items() if value is not None}
        return cls(path=path, body=body, **given)

    @classmethod
    def restored(
        cls, path: str, fields: Mapping[str, Any], body: str, derived: dict[str, Any]
    ) -> Memory:
        """Return a memory from its own `fields` and `derived`, which need no check."""
        memory = cls(path=path, body=body, **fields)
        memory.__dict__["derived"] = derived
        return memory

    def __hash__(self) -> int:
        return hash((self.path, self.id, self.body))

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """Return the header values by key, without defaults."""
        found = zip(_NAMES, _VALUES(self), _DEFAULTS, strict=True)
        return MappingProxyType(
            {name: v for name, v, usual in found if v is not usual and v != usual}
        )

    @property
    def is_stored(self) -> bool:
        """Whether it was asked for: stored by hand, or a note that was looked for often."""
        if self.origin == "promotion":
            return self.type not in ("method", "procedure")  # those are for the skills
        return self.origin == "manual" and not self.sources

    @property
    def is_note(self) -> bool:
        """Return whether the memory is a note. Notes have tiers, others have decay classes."""
        return self.type == "note"

    @cached_property
    def derived(self) -> dict[str, Any]:
        """Return the values cached by `once`."""
        return {}

    @property
    def stamp(self) -> Stamp | None:
        """Return who last changed the meaning, and when: by default the run that made it."""
        if self.generated is None and self.sources and self.id and self.created is not None:
            return Stamp(by=OWN_ACTOR, at=self.created)
        return self.generated

    @property
    def home(self) -> str:
        """Return the view that the memory is printed in, or an empty string."""
        return HOME_OF_TYPE.get(self.type, "")

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
        return frozenset((source.text_hash, *self.former))

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

    def with_fields(self, changes: Mapping[str, Any], body: str | None = None) -> Memory:
        """Return a copy with the given values by key. A key whose new value is None is removed."""
        given = {key: BY_NAME[key].default if v is None else v for key, v in changes.items()}
        return replace(self, body=self.body if body is None else body, **given)


FIELDS = fields_of(Memory)
"""The fields of a header, in the order in which they are written."""
_NAMES = tuple(field.name for field in FIELDS)
_VALUES = attrgetter(*_NAMES)
_DEFAULTS = tuple(field.default for field in FIELDS)
ORDER: Mapping[str, int] = MappingProxyType({field.name: n for n, field in enumerate(FIELDS)})
"""The keys of a header, in file order."""
BY_NAME: Mapping[str, Field] = MappingProxyType({field.name: field for field in FIELDS})


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
    if not having((memory,), _FIELDS):  # the common case, and runs call this for all memories
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
    wanted = [(key, BY_NAME[key].default) for key in keys]
    return [
        memory
        for memory in memories
        if any((v := getattr(memory, name)) is not none and v != none for name, none in wanted)
    ]


def without_chunks(memories: Iterable[Memory]) -> list[Memory]:
    """Return all memories except chunks, whose text is part of their parent's text."""
    return [memory for memory in memories if memory.type != "chunk"]


MAX_LISTED = 50
"""The number of sources listed. More are listed only if each has a different wording.

A memory that lists so many may be in other places too.
"""
_LISTED_DAYS = 10


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
