"""`memrepo add`: write a memory by hand, in one commit.

An equal text returns the existing memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.guard import refuse_secret
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, clean_text, without_empty, write
from memrepo.checks.memories import expected_tag, is_known_tag
from memrepo.checks.rules import Wants
from memrepo.core.changes import Create, Step
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.fields import ValueMismatch
from memrepo.core.ids import as_tag, manual_id, normalise, text_hash
from memrepo.core.memory import BY_NAME, LAYERS, TYPES, Memory, Source, Stamp
from memrepo.core.state import State
from memrepo.core.times import local_day
from memrepo.policies.ageing import class_of
from memrepo.policies.claims import free_path, route
from memrepo.policies.matching import akin

BY_HAND = TYPES[:-1]
"""The types that may be added by hand. Only runs create chunks."""


class BadValue(MemrepoError):
    """Raised when a field value given by hand has the wrong kind."""

    exit_code = Exit.USAGE

    def __init__(self, key: str, mismatch: ValueMismatch) -> None:
        super().__init__(f"{key}: {mismatch}", fix="docs/files.md lists every field")


class EntryFields(msgspec.Struct, frozen=True, kw_only=True):
    """The text and the fields that a person or a program gives. Dates are in ISO format."""

    text: Annotated[str, option("the memory, or - for standard input", metavar="TEXT", piped=True)]
    type: Annotated[str | None, option("kind of memory (fact)", "--type", choices=BY_HAND)] = None
    title: Annotated[str, option("display name", "--title")] = ""
    subject: Annotated[str, option("person or thing that the memory is about", "--subject")] = ""
    predicate: Annotated[
        str, option("property of the subject, such as email or task", "--predicate")
    ] = ""
    object: Annotated[str, option("value of that property", "--object")] = ""
    layer: Annotated[
        str | None, option("layer (default: from the type)", "--layer", choices=LAYERS)
    ] = None
    tags: Annotated[tuple[str, ...], option("a tag; may be repeated", "--tag")] = ()
    entities: Annotated[
        tuple[str, ...], option("an entity that the memory mentions", "--entity")
    ] = ()
    scope: Annotated[str, option("user:..., project:... or agent:...", "--scope")] = ""
    valid_from: Annotated[str, option("valid from", "--valid-from", metavar="DATE")] = ""
    valid_until: Annotated[str, option("valid until", "--valid-until", metavar="DATE")] = ""
    pinned: Annotated[bool, option("exempt from ageing, eviction and pruning", "--pin")] = False
    critical: Annotated[bool, option("needed in every session", "--critical")] = False
    cls: Annotated[str, option("decay class", "--class", metavar="CLASS")] = ""


class Entry(EntryFields, frozen=True, kw_only=True):
    """A memory to add, with its source if it is known."""

    source: Source | None = None


class Drafts:
    """Create memories from entries, one after the other, for a given state.

    An entry equal to an active memory, or to an earlier entry, creates none. Entries are equal if
    they have the same text and scope and, if the entry has a subject, the same subject.
    """

    def __init__(self, work: Work, state: State) -> None:
        self._work, self._state = work, state
        self.made: list[Memory] = []
        self._ids = set(state.memories)
        self._paths: set[str] = set()
        self._known: dict[str, list[Memory]] = defaultdict(list)
        for memory in state.active:
            self._remember(memory)

    def take(self, entry: Entry) -> tuple[Memory, bool]:
        """Return the memory for an entry, and whether that memory is new.

        Raises UsageError, BadValue or SecretInText.
        """
        entry = self._within(entry)
        for memory in self._known.get(text_hash(entry.text), ()):
            if _same(memory, entry):
                return memory, False
        return self.make(entry), True

    def make(self, entry: Entry) -> Memory:
        """Return a new memory for an entry, even if an equal one exists. Raises as `take` does."""
        memory = self._memory(self._within(entry))
        memory = replace(memory, path=free_path(self._state, self._paths, memory))
        self._ids.add(memory.id)
        self._remember(memory)
        self.made.append(memory)
        return memory

    def _within(self, entry: Entry) -> Entry:
        """Return the entry with a type, and with the caller's own scope as the default."""
        scope = entry.scope or self._work.call.scope
        return replace(entry, type=entry.type or "fact", scope=scope)

    def _remember(self, memory: Memory) -> None:
        self._known[memory.own_hash].append(memory)
        if memory.former or memory.aliases:
            for wording in {*memory.former_hashes} - {memory.own_hash}:
                self._known[wording].append(memory)

    def _memory(self, entry: Entry) -> Memory:
        work, now, type_ = self._work, self._work.call.now, entry.type or ""
        id_ = manual_id(
            created=now, text=entry.text, scope=entry.scope, type_=type_, taken=self._ids
        )
        if type_ not in BY_HAND:
            raise _not_one_of("type", type_, BY_HAND)
        if entry.layer and entry.layer not in LAYERS:
            raise _not_one_of("layer", entry.layer, LAYERS)
        refuse_tags(work, entry.tags)
        home = "" if type_ in ("note", "summary") else route(type_, work.config.profile)
        fields: dict[str, object] = {
            "id": id_,
            "type": type_,
            **dict(_given(entry)),
            "home": home,
            "created": now,
            "pinned": entry.pinned,
            "critical": entry.critical,
            **_decay(work, entry.cls),
            "origin": "manual",
            "generated": Stamp(by=work.actor, at=now),
            "sources": self._sources(entry.source),
        }
        captured = entry.source.captured if entry.source else ""
        path = work.tree.layout.memory(
            id_=id_,
            type_=type_,
            text=entry.title or entry.text,
            layer=entry.layer or "",
            captured=captured or local_day(now, work.config.zone),
        )
        return Memory.of(path, without_empty(fields), body=entry.text)

    def _sources(self, source: Source | None) -> tuple[Source, ...]:
        """Return the evidence as the value of a memory field."""
        if source is None:
            return ()
        refuse_secret(source.resource, "the source")
        read: tuple[Source, ...] = checked("sources", BY_NAME["sources"].write((source,)))
        return read


def _not_one_of(what: str, found: str, known: tuple[str, ...]) -> UsageError:
    return UsageError(f"{what}: found {found!r}", fix=f"name one of {', '.join(known)}")


def _same(memory: Memory, entry: Entry) -> bool:
    return (
        memory.scope == entry.scope
        and memory.is_note == (entry.type == "note")
        and (not entry.subject or normalise(memory.subject) == normalise(entry.subject))
    )


_STORED = (
    *("title", "subject", "predicate", "object", "scope"),
    *("valid_from", "valid_until", "tags", "entities"),
)
"""The given values that are fields of the memory as they are."""


def _given(entry: EntryFields) -> Iterator[tuple[str, Any]]:
    for key in _STORED:
        if value := getattr(entry, key):
            yield key, checked(key, list(value) if isinstance(value, tuple) else value)


def refuse_tags(work: Work, tags: Iterable[str]) -> None:
    """Raise UsageError if the configuration does not allow a tag."""
    vocabulary = work.config.tags.vocabulary
    pattern = work.config.tags.pattern if "tags.pattern" in work.config.given else ""
    wants = Wants(tags=vocabulary, tag_pattern=pattern)
    for tag in tags:
        refuse_secret(tag, "tags")
        if not is_known_tag(tag, wants):
            fix = "name a tag of `tags.vocabulary`" if wants.tags else f"write {as_tag(tag)!r}"
            raise UsageError(f"--tag: found {tag!r}, {expected_tag(tag, wants)}", fix=fix)


def _decay(work: Work, name: str) -> dict[str, object]:
    """Return the decay field for a configured class. Raises UsageError."""
    known = work.config.rules.decay.ttl
    if name and name not in known:
        raise UsageError(
            f"--class {name}: expected one of {', '.join(known)}",
            fix="`decay.ttl` in memrepo.toml names more classes",
        )
    return {"decay": name} if name else {}


def checked(key: str, value: Any) -> Any:
    """Return a value parsed as the kind of its field. Raises BadValue."""
    try:
        return BY_NAME[key].read(value)
    except ValueMismatch as mismatch:
        raise BadValue(key, mismatch) from mismatch


class Request(EntryFields, frozen=True, kw_only=True):
    """Arguments of `add`."""

    dry_run: DryRun = False
    reason: Reason = ""


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """A suggested link to a similar memory, which is not created automatically."""

    target: str
    type: str
    strength: float
    text: str


class Added(Written, frozen=True, kw_only=True):
    """The commit of the new memory, and similar memories as suggestions for links."""

    suggested: tuple[Suggestion, ...]


class Repeated(Unchanged, frozen=True, kw_only=True):
    """The existing memory, and the given options that differ from it, which were not applied."""

    unused: tuple[str, ...]


def do(work: Work, request: Request) -> Added | Repeated | Unchanged:
    """Write the memory, unless an equal memory exists."""
    text = clean_text(request.text, "the text")
    given = {name: getattr(request, name) for name in EntryFields.__struct_fields__}
    entry = Entry(**{**given, "text": text})
    similar: list[tuple[Memory, float]] = []

    def draft(state: State) -> Step | Repeated:
        memory, is_new = Drafts(work, state).take(entry)
        if not is_new:
            return Repeated(
                id=memory.id,
                path=memory.path,
                unchanged="says this already",
                unused=tuple(_unused(memory, entry)),
            )
        similar[:] = akin(memory, state.active)
        return Step(op="create", reason="added by hand", changes=(Create(memory=memory),))

    done = write(work, request, draft)
    if isinstance(done, Unchanged):
        return done
    suggested = tuple(
        Suggestion(target=other.id, type="related", strength=score, text=other.body)
        for other, score in similar
    )
    return Added(**asdict(done), suggested=suggested)


_OPTIONS = {"tags": "--tag", "entities": "--entity"}


def _unused(memory: Memory, entry: Entry) -> Iterator[str]:
    """Yield the options with values that the existing memory lacks."""
    if entry.type not in (None, memory.type):
        yield "--type"
    if entry.layer not in (None, memory.layer):
        yield "--layer"
    for key, value in _given(entry):
        has = memory.fields.get(key)
        if not (set(value) <= set(has or ()) if isinstance(value, tuple) else value == has):
            yield _OPTIONS.get(key, f"--{key.replace('_', '-')}")
    if entry.pinned and not memory.pinned:
        yield "--pin"
    if entry.critical and not memory.critical:
        yield "--critical"
    if entry.cls not in ("", class_of(memory)):
        yield "--class"
