"""A memory: the record of its header, with the kind, meaning and merge rule of each field.

Fields are written in the order of `Memory`. Their names follow Open Knowledge Format 0.2 if it
defines one (type, title, description, tags, sources, generated, verified, status).

A node is what the header parser yields: a string, a list of nodes, or a mapping of nodes. YAML
types are never guessed: the type of a field decides. `read_value` converts the node of a value and
raises `ValueMismatch` with the expected value. `node_of` returns the canonical node of a value.

A record is written on one line if it has `parse` and `spell`, because programs such as Obsidian
edit a text, but no mapping. A mapping is read too.

If a text occurs in many places, only some are listed: a footer can be in thousands of files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from operator import attrgetter
from types import MappingProxyType, NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.core.ids import ID_PATTERN, TEXT_HASH_PATTERN, text_hash
from memrepo.core.patterns import regex
from memrepo.core.times import format_time, parse_time

Node: TypeAlias = "str | Raw | list[Node] | dict[str, Node]"
Path: TypeAlias = tuple[str | int, ...]


class Raw(str):
    """A scalar that is always written without quotes: a number, a time, or a flag."""

    __slots__ = ()


def bare(node: Node) -> Node:
    """Return a copy of a node with all scalars converted to plain `str`, as in JSON."""
    if isinstance(node, list):
        return [bare(part) for part in node]
    if isinstance(node, dict):
        return {key: bare(part) for key, part in node.items()}
    return str(node)


class ValueMismatch(Exception):
    """Raised when a node is not a valid value of its field. The codec reports it with its location.

    `path` has the keys and indexes that lead from the field's node to the invalid one.
    """

    def __init__(self, found: object, expected: str, path: Path = ()) -> None:
        super().__init__(f"found {shown(found)}, expected {expected}")
        self.found = found
        self.expected = expected
        self.path = path

    @property
    def fix(self) -> str:
        """Return what to write instead, such as the most similar word of a closed list."""
        if not self.expected.startswith("one of "):
            return f"write {self.expected}"
        from difflib import get_close_matches

        words = self.expected.removeprefix("one of ").split(", ")
        near = get_close_matches(str(self.found).lower(), words, n=1)
        return f"did you mean {near[0]}?" if near else "write one of these words"


def shown(node: object) -> str:
    """Describe a node on one line for a message, truncated and with escaped control characters."""
    if isinstance(node, list):
        return f"a list of {len(node)}"
    if isinstance(node, dict):
        return "a mapping"
    text = str(node).encode("unicode_escape").decode("ascii")
    return f"'{text[:40]}...'" if len(text) > 43 else f"'{text}'"


@cache
def defaults_of(record: type[msgspec.Struct]) -> Mapping[str, object]:
    """Return the fields of a struct in order, mapped to their defaults or `msgspec.NODEFAULT`."""
    names, known = record.__struct_fields__, record.__struct_defaults__
    without = dict.fromkeys(names[: len(names) - len(known)], msgspec.NODEFAULT)
    return without | dict(zip(names[len(without) :], known, strict=True))


def node_of(value: Any, *, whole: bool = False) -> Node:
    """Return the canonical node of a value.

    Members of records with their default are omitted. With `whole`, records are mappings: else
    those that their line states completely are a line.
    """
    if isinstance(value, msgspec.Struct):
        if not whole and (line := _line_of(value)):
            return line
        defaults = defaults_of(type(value))
        parts = ((key, getattr(value, key)) for key in defaults)
        return {key: node_of(part) for key, part in parts if part != defaults[key]}
    if isinstance(value, tuple | list):
        return [node_of(part, whole=whole) for part in value]
    if isinstance(value, bool):
        return Raw("true" if value else "false")
    if isinstance(value, float):
        text = f"{value:.4f}".rstrip("0")
        return Raw(text + "0" if text.endswith(".") else text)
    if isinstance(value, datetime):
        return Raw(format_time(value))
    return Raw(value) if isinstance(value, int) else str(value)


def _line_of(record: Any) -> str:
    """Return the line of a record, or "" if it has none, or none that reads as the same record."""
    if not hasattr(record, "spell"):
        return ""
    line: str = record.spell()
    try:
        return line if read_value(type(record), line) == record else ""
    except ValueMismatch:
        return ""


# -- types -----------------------------------------------------------------------------------


class Form(NamedTuple):
    """A further check of a leaf: a function that raises ValueError, and what it expects."""

    check: Callable[[Any], object]
    expected: str


def text(pattern: str = "", *, limit: int = 2000, what: str = "text") -> msgspec.Meta:
    """Return the constraint of a text with at most `limit` characters that matches a pattern."""
    expected = what if limit >= 2000 else f"{what} of at most {limit} characters"
    whole = rf"\A(?:{pattern})\Z" if pattern else None
    return msgspec.Meta(max_length=limit, pattern=whole, description=expected)


def one_of(*words: str) -> msgspec.Meta:
    """Return the constraint of a text that is one of several words. An empty word is not named."""
    named = ", ".join(filter(None, words))
    return msgspec.Meta(pattern=rf"\A({'|'.join(words)})\Z", description=f"one of {named}")


Text = Annotated[str, text()]
Name = Annotated[str, text(limit=200, what="a short text")]
MemoryRef = Annotated[
    str, text(ID_PATTERN.pattern, what="a memory id such as mem-0123456789abcdef")
]
Day = Annotated[str, Form(parse_time, "a date such as 2026-01-31 or an RFC 3339 time")]
"""A date or a time, stored exactly as written."""
Share = Annotated[float, msgspec.Meta(ge=0, le=1, description="a number from 0 to 1")]
"""A number from 0 to 1, written with at most four decimals."""
Whole = Annotated[int, msgspec.Meta(ge=0, le=999_999_999, description="a whole number")]
"""A whole number that is not negative."""
_EXPECTED = {bool: "true or false", datetime: "an RFC 3339 time such as 2026-01-31T09:00:00Z"}


MAX_ITEMS = 1000
"""The maximum number of items in a list, unless its type has another."""


class _Type(NamedTuple):
    """A type taken apart: what it is, its form, and the types of its items or members by key."""

    leaf: Any
    expected: str
    form: Form | None = None
    item: Any = None
    limit: int = MAX_ITEMS
    members: Mapping[str, Any] = MappingProxyType({})


@cache
def _taken_apart(type_: Any) -> _Type:
    inner, metas = type_, []
    while NoneType in get_args(inner) or get_origin(inner) is Annotated:
        inner, *more = (part for part in get_args(inner) if part is not NoneType)
        metas += more
    known = [meta for meta in metas if isinstance(meta, msgspec.Meta)]
    form = next((meta for meta in metas if isinstance(meta, Form)), None)
    expected = form.expected if form else next((m.description for m in known if m.description), "")
    if get_origin(inner) is Literal:
        expected = f"one of {', '.join(get_args(inner))}"
    leaf = Annotated[inner, *known] if known else inner
    if get_args(inner)[1:] == (Ellipsis,):
        item = get_args(inner)[0]
        limit = next((meta.max_length for meta in known if meta.max_length), MAX_ITEMS)
        return _Type(leaf, f"a list, each item {expected_of(item)}", item=item, limit=limit)
    if not (isinstance(inner, type) and issubclass(inner, msgspec.Struct)):
        return _Type(leaf, expected or _EXPECTED.get(inner, "text"), form)
    hints = get_type_hints(inner, include_extras=True)
    members = {key: hints[key] for key in inner.__struct_fields__}
    what = getattr(inner, "expected", f"a mapping {{{', '.join(members)}}}")
    return _Type(inner, expected or what, members=members)


def expected_of(type_: Any) -> str:
    """Describe the values of a type in words."""
    return _taken_apart(type_).expected


def read_value(type_: Any, node: Any) -> Any:
    """Convert a node to a value of a type. Raise ValueMismatch if it is not one."""
    known = _taken_apart(type_)
    if known.item is not None:
        return _read_list(known, node)
    if known.members:
        return _read_record(known, node)
    try:
        if known.leaf is datetime:
            return parse_time(node)
        if known.form is not None:
            known.form.check(node)
        return msgspec.convert(node, known.leaf, strict=False)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueMismatch(node, known.expected) from error


def _read_list(known: _Type, node: Any) -> tuple[Any, ...]:
    """Read a list without duplicates. A single record need not be in a list."""
    if not isinstance(node, list):
        if not (node and _taken_apart(known.item).members):
            raise ValueMismatch(node, known.expected)
        node = [node]
    if len(node) > known.limit:
        raise ValueMismatch(node, f"a list of at most {known.limit}")
    return tuple(dict.fromkeys(_below(n, known.item, part) for n, part in enumerate(node)))


def _read_record(known: _Type, node: Any) -> Any:
    """Read a record from a mapping, or from its line."""
    if isinstance(node, str) and hasattr(known.leaf, "parse"):
        try:
            return _read_record(known, known.leaf.parse(node))
        except (ValueError, ValueMismatch) as error:
            raise ValueMismatch(node, known.expected) from error
    if not isinstance(node, dict):
        raise ValueMismatch(node, known.expected)
    if unknown := [key for key in node if key not in known.members]:
        raise ValueMismatch(node[unknown[0]], known.expected, (unknown[0],))
    found = {key: _below(key, known.members[key], part) for key, part in node.items()}
    try:
        return known.leaf(**found)
    except TypeError as error:  # a member is missing
        lacking = next(key for key in known.members if key not in found)
        raise ValueMismatch(node, expected_of(known.members[lacking]), (lacking,)) from error


def _below(step: str | int, type_: Any, node: Any) -> Any:
    try:
        return read_value(type_, node)
    except ValueMismatch as bad:
        raise ValueMismatch(bad.found, bad.expected, (step, *bad.path)) from bad


# -- fields ----------------------------------------------------------------------------------

MergeRule = Literal["newest", "union", "min", "furthest"]


class Field(msgspec.Struct, frozen=True):
    """A field of the header: its meaning, how two clones merge it, and who sets it.

    `is_by_person` is whether a person may set the field by hand. A mapping that has only the key
    `inner` is read as its value. `name`, `type` and `default` come from the attribute of the record
    that the field annotates.
    """

    doc: str
    merge: MergeRule = "newest"
    is_by_person: bool = False
    inner: str = ""
    name: str = ""
    type: Any = None
    default: Any = None

    def read(self, node: Node) -> Any:
        """Convert a node to a value of the field. Raise ValueMismatch if it is not one."""
        if isinstance(node, dict) and [*node] == [self.inner]:
            node = node[self.inner]
        return read_value(self.type, node)

    def write(self, value: Any) -> Node:
        """Convert a value of the field to its canonical node."""
        return Raw(value) if _taken_apart(self.type).form else node_of(value)


def fields_of(record: type[msgspec.Struct]) -> tuple[Field, ...]:
    """Return the fields of a record whose attributes are annotated with a Field, in order."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(
        replace(part, name=name, type=hints[name], default=default)
        for name, default in defaults_of(record).items()
        for part in getattr(hints[name], "__metadata__", ())
        if isinstance(part, Field)
    )


# -- the record ------------------------------------------------------------------------------

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
_TYPES_OF_LAYER = {
    "identity": ("identity",),
    "user": ("relationship",),
    "preferences": ("preference",),
    "knowledge": ("fact", "lesson", "constraint", "open_question"),
    "decisions": ("decision", "commitment"),
    "skills": ("method", "procedure"),
    "context": ("episode", "milestone", "aspiration", "summary", "chunk"),
    "notes": ("note",),
}
LAYERS = tuple(_TYPES_OF_LAYER)
LAYER_OF_TYPE: Mapping[str, str] = MappingProxyType(
    {type_: layer for layer, types in _TYPES_OF_LAYER.items() for type_ in types}
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


def span(lines: Sequence[int]) -> str:
    """Format a line range as a path suffix: `:3`, `:3-5`, or an empty string for a whole file."""
    first, last = lines
    return f":{first}" + (f"-{last}" if last > first else "") if first else ""


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
    def is_wanted(self) -> bool:
        """Whether it belongs on the first page by choice: stored or pinned."""
        return self.is_stored or (self.pinned and not self.is_note)

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
    def names(self) -> tuple[str, str]:
        """Return the slug, and the slug without the digits of the id that may end it."""
        return self.slug, self.slug.removesuffix(f"-{self.id[4:10]}")

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


def cut_ids(
    memory: Memory, is_gone: Callable[[str], bool]
) -> Iterator[tuple[str, list[str], tuple[object, ...] | None]]:
    """Yield (field, ids that are gone, the rest of the value) for each field with such an id."""
    for key in REFERENCES:
        value: Any = memory.fields.get(key) or ()
        if gone := sorted(filter(is_gone, targets(value))):
            items = () if isinstance(value, str) else value
            yield key, gone, tuple(i for i in items if targets((i,))[0] not in gone) or None


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
