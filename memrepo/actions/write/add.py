"""`memrepo add`: write a memory by hand, in one commit.

An equal text returns the existing memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.landing import refuse_secret
from memrepo.actions.work import DryRun, Reason, Work, option
from memrepo.actions.write.commit import Unchanged, Written, clean_text, unchanged, write
from memrepo.checks.memories import expected_tag, is_known_tag
from memrepo.checks.rules import Wants
from memrepo.core.errors import UsageError
from memrepo.core.ids import as_tag, manual_id, normalise, strip_deceptive, text_hash
from memrepo.core.memory import (
    BY_NAME,
    LAYERS,
    TYPES,
    Memory,
    Source,
    Stamp,
    ValueMismatch,
    defaults_of,
)
from memrepo.core.state import Create, State, Step
from memrepo.core.times import local_day
from memrepo.policies.claims import akin, free_path

BY_HAND = TYPES[:-1]
"""The types that may be added by hand. Only runs create chunks."""


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

        Raises UsageError or SecretInText.
        """
        entry = self._within(entry)
        for what, found, known in (("type", entry.type, BY_HAND), ("layer", entry.layer, LAYERS)):
            if found and found not in known:
                raise UsageError(f"{what}: found {found!r}", fix=f"name one of {', '.join(known)}")
        for memory in self._known.get(text_hash(entry.text), ()):
            if _same(memory, entry):
                return memory, False
        return self.make(entry), True

    def make(self, entry: Entry) -> Memory:
        """Return a new memory for an entry, even if an equal one exists.

        Raises UsageError or SecretInText.
        """
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
        if memory.former:
            for wording in {*memory.former} - {memory.own_hash}:
                self._known[wording].append(memory)

    def _memory(self, entry: Entry) -> Memory:
        work, now, type_ = self._work, self._work.call.now, entry.type or ""
        id_ = manual_id(
            created=now, text=entry.text, scope=entry.scope, type_=type_, taken=self._ids
        )
        refuse_tags(work, entry.tags)
        fields: dict[str, object] = {
            "id": id_,
            "type": type_,
            **{key: _value(key, getattr(entry, key)) for key in _STORED},
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
        given = {key: value for key, value in fields.items() if value not in (None, "", (), False)}
        return Memory.of(path, given, body=strip_deceptive(entry.text))

    def _sources(self, source: Source | None) -> tuple[Source, ...]:
        """Return the evidence as the value of a memory field."""
        if source is None:
            return ()
        refuse_secret(source.resource, "the source")
        read: tuple[Source, ...] = checked("sources", BY_NAME["sources"].write((source,)))
        return read


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


def _value(key: str, value: object) -> object:
    """Return a given value as the kind of its field, or None. Raises UsageError."""
    return checked(key, list(value) if isinstance(value, tuple) else value) if value else None


def refuse_tags(work: Work, tags: Iterable[str]) -> None:
    """Raise UsageError if the configuration does not allow a tag."""
    wants = Wants(tags=work.config.tags.vocabulary, tag_pattern=work.config.tag_pattern)
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
    """Return a value parsed as the kind of its field. Raises UsageError."""
    try:
        return BY_NAME[key].read(value)
    except ValueMismatch as mismatch:
        raise UsageError(f"{key}: {mismatch}", fix="docs/files.md lists every field") from mismatch


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
    """The commit of the new memory, its type, and similar memories as suggestions for links."""

    type: str
    suggested: tuple[Suggestion, ...]


def do(work: Work, request: Request) -> Added | Unchanged:
    """Write the memory, unless an equal memory exists."""
    given = {name: getattr(request, name) for name in EntryFields.__struct_fields__}
    has_options = given != {**defaults_of(EntryFields), "text": request.text}
    entry = Entry(**{**given, "text": clean_text(request.text, "the text")})
    similar: list[tuple[Memory, float]] = []

    def draft(state: State) -> Step | Unchanged:
        nonlocal entry
        memory, is_new = Drafts(work, state).take(entry)
        if not is_new:
            why = "says this already"
            if has_options:
                why += "; its fields were left as they are (`memrepo edit` and `pin` change them)"
            return unchanged(memory, why)
        entry = replace(entry, type=memory.type)
        similar[:] = akin(memory, state.active)
        return Step(op="create", reason="added by hand", changes=(Create(memory=memory),))

    done = write(work, request, draft)
    if isinstance(done, Unchanged):
        return done
    suggested = tuple(
        Suggestion(target=other.id, type="related", strength=score, text=other.body)
        for other, score in similar
    )
    return Added(**asdict(done), type=entry.type or "", suggested=suggested)
