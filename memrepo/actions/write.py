"""The verbs that write a memory by hand: add, edit, confirm, forget, pin, archive, and others.

An equal text of `add` returns the existing memory. Each other verb computes the fields to set, or
why nothing is to be done, and `write` makes the commit. `directives` carries out such changes as a
text asks for them in `[[...]]`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, TypeAlias, cast

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.health import Health, figures
from memrepo.actions.landing import (
    Unchanged,
    Written,
    clean_text,
    hot_rules,
    refuse_secret,
    unchanged,
    write,
    write_steps,
)
from memrepo.actions.recall.lookup import Ambiguous, NoSuchMemory, count_retrieval, find
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.checks.rules import Wants, expected_tag, is_known_tag
from memrepo.core.codec import normal_body
from memrepo.core.errors import Exit, MemrepoError, UsageError, problem
from memrepo.core.ids import as_tag, manual_id, normalise, strip_deceptive, text_hash, visible
from memrepo.core.layout import hot_path
from memrepo.core.memory import (
    BY_NAME,
    CLAIM_TYPES,
    FIELDS,
    LAYERS,
    TYPES,
    Hot,
    Memory,
    Source,
    Stamp,
    ValueMismatch,
    defaults_of,
)
from memrepo.core.messages import counted, cut, subject_of
from memrepo.core.secrets import without_secrets
from memrepo.core.state import Create, Op, State, Step, Update, apply
from memrepo.core.times import local_day
from memrepo.policies.claims import akin, free_path
from memrepo.policies.hotcache import CRITICAL, REQUEST, hot_of
from memrepo.policies.links import Directive, find_directives
from memrepo.policies.standing import is_retired
from memrepo.policies.upkeep import archive as archived
from memrepo.policies.upkeep import directive_steps, forgotten
from memrepo.read.thoughts import field_of

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


class AddRequest(EntryFields, frozen=True, kw_only=True):
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


def add(work: Work, request: AddRequest) -> Added | Unchanged:
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


SETTABLE = tuple(f.name for f in FIELDS if f.is_by_person and f.name != "type")
_LISTS = ("tags", "entities", "aliases")
MAX_GONE, GONE_LENGTH = 3, 60
"""Maximum lines shown of a text that was replaced, and their length in characters."""
Fields: TypeAlias = dict[str, object]


class EditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `edit`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    text: Annotated[
        str | None, option("the new wording, or - for standard input", "--text", piped=True)
    ] = None
    fields: Annotated[
        tuple[str, ...],
        option(
            "a field; an empty value removes it, lists are separated by commas",
            "--set",
            metavar="KEY=VALUE",
        ),
    ] = ()
    dry_run: DryRun = False
    reason: Reason = ""


def edit(work: Work, request: EditRequest) -> Written | Unchanged:
    """Set the given text and fields."""
    fields = dict(_field(pair) for pair in request.fields)
    refuse_tags(work, cast("tuple[str, ...]", fields.get("tags") or ()))
    text = None if request.text is None else clean_text(request.text, "--text")
    if text is None and not fields:
        path = visible(find(work.tree.state(), request.id).path)
        fix = f"use --text TEXT, --text - or --set KEY=VALUE, or edit {path} and commit it"
        raise UsageError("no change was given", fix=fix)
    gone: list[str] = []

    def decide(_: State, memory: Memory) -> Step | str:
        changes = {} if text is None else rewording(memory, text)
        changes |= {k: v for k, v in fields.items() if memory.fields.get(k) != v}
        reworded = text is not None and normal_body(text) != memory.body
        if not changes and not reworded:
            return "is like this already"
        changes["generated"] = Stamp(by=work.actor, at=work.call.now)
        op: Op = "reword" if reworded else "edit"
        if text is not None:
            gone[:] = [one for one in memory.body.splitlines() if one.strip() and one not in text]
        return _update(memory, op, "edited by hand", changes, text if reworded else None)

    done = _change(work, request, decide)
    if len(gone) < 2 or isinstance(done, Unchanged) or request.dry_run:
        return done
    lost = [cut(visible(without_secrets(line.strip())), GONE_LENGTH) for line in gone[:MAX_GONE]]
    lost += ["..."] if len(gone) > MAX_GONE else []
    shown = problem("text-replaced", done.path, count=len(gone), lost=" / ".join(lost))
    return done.after((shown,))


def _field(pair: str) -> tuple[str, object]:
    key, sign, value = pair.partition("=")
    key = key.strip()
    if key == "type":
        fix = "`memrepo forget ID`, then `memrepo add --type TYPE TEXT`"
        raise UsageError("type cannot change after a memory is created", fix=fix)
    if key not in SETTABLE:
        why = "is written by memrepo only" if key in BY_NAME else "is not a field"
        raise UsageError(f"{key} {why}", fix=f"you may set {', '.join(SETTABLE)}")
    if not sign:
        raise UsageError(
            f"memrepo edit: --set {key}: expected KEY=VALUE", fix=f"`--set {key}=` removes it"
        )
    if not value.strip():
        return key, None
    if key in _LISTS:
        return key, checked(key, [part.strip() for part in value.split(",") if part.strip()])
    return key, checked(key, value.strip())


def rewording(memory: Memory, text: str) -> dict[str, object]:
    """Return the fields that a new text changes: the triple, and the old text as an alias."""
    if text_hash(text) == text_hash(memory.body):
        return {}
    former = (*memory.former, text_hash(memory.body))
    return {**triple_after(memory, text), "former": tuple(dict.fromkeys(former))}


def triple_after(memory: Memory, text: str) -> dict[str, object]:
    """Return the fields of the triple that a new text changes. A value of None removes a field.

    If the new text has the form of a field with a value, both are stored. Otherwise a value that
    the text no longer contains is removed with its predicate. A value that the old text did not
    contain was set by a person or a model, and remains. No triple is created for a memory without
    one.
    """
    if memory.type not in CLAIM_TYPES:
        return {}
    stored = {key: getattr(memory, key) for key in ("predicate", "object")}
    value = normalise(stored["object"])
    if not value or value not in normalise(memory.body):
        return {}
    key, new = field_of(text.strip())
    if key:
        from memrepo.judge.offline import OBJECT_LENGTH

        found = {"predicate": key, "object": new[:OBJECT_LENGTH]}
    else:
        found = {"predicate": "", "object": ""} if value not in normalise(text) else {}
    return {name: now or None for name, now in found.items() if now != stored[name]}


# -- changes to one memory ---------------------------------------------------------------------


class ConfirmRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `confirm`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


class ForgetRequest(ConfirmRequest, frozen=True, kw_only=True):
    """Arguments of `forget`."""


class ArchiveRequest(ConfirmRequest, frozen=True, kw_only=True):
    """Arguments of `archive`."""


class PinRequest(ConfirmRequest, frozen=True, kw_only=True):
    """Arguments of `pin`."""

    off: Annotated[bool, option("end that protection", "--off")] = False


class PromoteRequest(ConfirmRequest, frozen=True, kw_only=True):
    """Arguments of `promote`."""

    critical: Annotated[
        bool,
        option(
            "needed in every session: exempt from eviction and pruning", "--critical", group="way"
        ),
    ] = False
    off: Annotated[
        bool,
        option("take it off the first page; the memory stays as it is", "--off", group="way"),
    ] = False


Decide: TypeAlias = Callable[[State, Memory], Step | str]
"""Returns the step that a verb makes of a memory, or why there is nothing to do."""
OneRequest: TypeAlias = "EditRequest | ConfirmRequest | LinkRequest | SupersedeRequest"


def _change(work: Work, request: OneRequest, decide: Decide) -> Written | Unchanged:
    """Commit what `decide` makes of the memory that a request names."""

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        found = decide(state, memory)
        return unchanged(memory, found) if isinstance(found, str) else found

    return write(work, request, draft)


def _update(memory: Memory, op: Op, reason: str, fields: Fields, body: str | None = None) -> Step:
    """Return a step that sets fields of a memory, and its text if one is given."""
    change = Update(id=memory.id, fields=fields, body=body and strip_deceptive(body))
    return Step(op=op, reason=reason, changes=(change,))


def _without_mark(memory: Memory) -> Fields:
    """Return the fields that take away the mark for removal, if a memory has it."""
    return {"standing": None} if is_retired(memory) else {}


def confirm(work: Work, request: ConfirmRequest) -> Written | Unchanged:
    """Add the actor and the time to `verified`, without changing the text."""
    stamp = Stamp(by=work.actor, at=work.call.now)

    def decide(_: State, memory: Memory) -> Step | str:
        verified = memory.verified
        if stamp in verified:
            return "is confirmed already"
        fields = {"verified": (*verified, stamp), **_without_mark(memory)}
        return _update(memory, "confirm", "confirmed by hand", fields)

    return _change(work, request, decide)


def forget(work: Work, request: ForgetRequest) -> Written | Unchanged:
    """Set the status to forgotten. Recall ignores the memory, but its file and history remain."""

    def decide(_: State, memory: Memory) -> Step | str:
        if memory.status == "forgotten":
            return "is forgotten already"
        return _update(memory, "forget", "forgotten by hand", {"status": "forgotten"})

    return _change(work, request, decide)


def archive(work: Work, request: ArchiveRequest) -> Written | Unchanged:
    """Set the status to archived, which stops the decay clock."""

    def decide(_: State, memory: Memory) -> Step | str:
        if memory.status != "active":
            return f"is {memory.status} already"
        return archived(memory, work.call.now, "archived by hand")

    return _change(work, request, decide)


def pin(work: Work, request: PinRequest) -> Written | Unchanged:
    """Set or remove `pinned`, which protects a memory from ageing, eviction and pruning."""

    def decide(_: State, memory: Memory) -> Step | str:
        if memory.pinned != request.off:
            return "is not pinned" if request.off else "is pinned already"
        if request.off:
            return _update(memory, "pin", "unpinned by hand", {"pinned": None})
        return _update(memory, "pin", "pinned by hand", {"pinned": True, **_without_mark(memory)})

    return _change(work, request, decide)


def promote(work: Work, request: PromoteRequest) -> Written | Unchanged:
    """Set `hot`, and `critical` if requested. With --off, record when the memory left the cache."""

    def decide(state: State, memory: Memory) -> Step | str:
        if request.off:  # `critical` is removed too, because it would bring the memory back
            steps = forgotten(memory, work.call.now, "demoted by hand")
            path = hot_path(state.files, state.layout, hot_rules(work).path)
            is_log = memory.is_note and f"←{memory.id}".encode() in state.files.get(path, b"")
            stays = "is there as a new log: `memrepo forget` takes it off the first page"
            return next(iter(steps), stays if is_log else "is not on the first page")
        if memory.status != "active" or memory.type in ("note", "chunk"):
            what = f"a {memory.type}" if memory.status == "active" else memory.status
            raise UsageError(
                f"{memory.id} is {what}: expected an active memory that is not a note",
                fix="`memrepo health` lists the notes nominated for promotion",
            )
        is_new = request.critical and not memory.critical
        hot = hot_of(memory)
        if hot is not None and hot.reason in (REQUEST, CRITICAL) and not is_new:
            return "is on the first page already"
        reason = CRITICAL if request.critical else REQUEST
        fields: Fields = {"hot": Hot(since=work.call.now, reason=reason)}
        fields |= {"critical": True} if request.critical else {}
        return _update(memory, "promote", reason, fields)

    return _change(work, request, decide)


# -- changes to two memories -------------------------------------------------------------------

LINK_TYPES = ("follows", "references", "contradicts", "supports", "related")


class LinkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `link`."""

    id: Annotated[str, option("the memory the link starts from", metavar="A")]
    type: Annotated[str, option(", ".join(LINK_TYPES), metavar="TYPE", choices=LINK_TYPES)]
    target: Annotated[str, option("the memory it points at", metavar="B")]
    strength: Annotated[str, option("0 to 1 (1)", "--strength", metavar="S")] = "1.0"
    dry_run: DryRun = False
    reason: Reason = ""


def link(work: Work, request: LinkRequest) -> Written | Unchanged:
    """Add a link from memory A to another memory."""

    def decide(state: State, memory: Memory) -> Step | str:
        target = find(state, request.target)
        if memory.id == target.id:
            raise UsageError(f"both ends are {memory.id}", fix="name two memories")
        (new,) = checked(
            "links", [{"target": target.id, "type": request.type, "strength": request.strength}]
        )
        old = memory.links
        if new in old:
            return "has this link already"
        rest = tuple(x for x in old if (x.target, x.type) != (new.target, new.type))
        step = _update(memory, "link", "linked by hand", {"links": (*rest, new)})
        return replace(step, memories=(memory.id, target.id))

    return _change(work, request, decide)


class SupersedeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `supersede`."""

    id: Annotated[str, option("the memory to replace", metavar="ID")]
    text: Annotated[
        str, option("the new statement, or - for standard input", metavar="TEXT", piped=True)
    ]
    also: Annotated[
        tuple[str, ...],
        option("also replace this one: two memories become one", "--also", metavar="ID"),
    ] = ()
    dry_run: DryRun = False
    reason: Reason = ""


_INHERITED = ("title", "subject", "predicate", "tags", "entities", "pinned", "critical")
"""Fields that a successor has from the memory that it replaces, besides type, layer and scope."""


def supersede(work: Work, request: SupersedeRequest) -> Written | Unchanged:
    """Write a successor and mark the old memories as superseded, in one commit."""
    text, now = clean_text(request.text, "the text"), work.call.now

    def decide(state: State, old: Memory) -> Step | str:
        every = {m.id: m for m in (old, *(find(state, word) for word in request.also))}
        if any(text_hash(one.body) == text_hash(text) for one in every.values()):
            return "says this already"
        for one in every.values():
            _refuse_inactive(one)
        title, scope = old.title, old.scope
        entry = Entry(text=text, title=title, type=old.type, layer=old.layer or None, scope=scope)
        fields: Fields = {key: old.fields.get(key) for key in _INHERITED}
        new = Drafts(work, state).make(entry).with_fields({**fields, "supersedes": tuple(every)})
        gone: Fields = {"status": "superseded", "superseded_at": now}
        ended = (
            Update(id=i, fields={**gone, "superseded_by": (*m.superseded_by, new.id)})
            for i, m in every.items()
        )
        return Step(op="supersede", reason="replaced by hand", changes=(Create(memory=new), *ended))

    return _change(work, request, decide)


def _refuse_inactive(memory: Memory) -> None:
    if memory.status != "active":
        after = ", ".join(memory.superseded_by)
        raise MemrepoError(
            f"{memory.id} is {memory.status}{f' by {after}' if after else ''}, not active",
            fix=f"supersede {after} instead" if after else "add a memory instead",
            exit_code=Exit.DECIDE,
        )


class DirectivesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `directives`."""

    file: Annotated[str, option("the text; - or nothing is stdin", metavar="FILE")] = "-"
    dry_run: DryRun = False
    reason: Reason = ""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one directive in the text."""

    directive: str
    memories: tuple[str, ...]
    outcome: str = msgspec.field(name="said")


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of directives in the text and of commits made for them."""

    directives: int
    steps: int


class DirectivesResult(VerbResult, frozen=True, kw_only=True):
    """The outcome of each directive in order, and the last commit."""

    applied: tuple[Row, ...]
    commit: str
    counts: Counts
    health: Health | None
    """The health figures, if a directive requests them."""


def directives(work: Work, request: DirectivesRequest) -> DirectivesResult:
    """Carry out the directives of a text in order, with one commit each."""
    text = work.call.text_of(request.file)
    if request.file == "-":
        text = clean_text(text, "the text")
    directives = find_directives(text)
    rows: list[Row] = []

    def draft(_: Work, state: State) -> list[Step]:
        """Return the steps of all directives, each computed on the result of the previous ones."""
        rows.clear()  # discard rows of an earlier attempt
        made: list[Step] = []
        for directive in directives:
            named = partial(_find_or_none, state)
            steps = directive_steps(directive, state.active, named, work.call.now)
            rows.append(
                Row(
                    directive=f"{directive.verb}:{directive.target}".rstrip(":"),
                    memories=tuple(id_ for s in steps or () for id_ in s.memory_ids),
                    outcome=_outcome(directive, steps, state),
                )
            )
            state = apply(state, (change for step in steps or () for change in step.changes))
            made += steps or ()
        return made

    wrote = write_steps(work, request, draft)
    used = [s.memory_ids[0] for s in wrote.steps if s.op in ("restore", "pin")]
    if wrote.commit and used:
        count_retrieval(work, used)
    wants_health = any(d.verb == "memory_health" for d in directives)
    refused = {memory.id for error in wrote.refused for memory in error.memories}
    return DirectivesResult(
        exit=wrote.exit,
        applied=tuple(_with_refused(row, refused) for row in rows),
        commit=wrote.commit,
        counts=Counts(directives=len(directives), steps=len(wrote.steps)),
        health=figures(work.refreshed()) if wants_health else None,
        notices=wrote.notices,
    )


def _with_refused(row: Row, refused: set[str]) -> Row:
    """Return the outcome of a directive, corrected if a person must decide about its memories."""
    count = sum(id_ in refused for id_ in row.memories)
    if not count:
        return row
    what = f"{count} of {len(row.memories)} " if len(row.memories) > 1 else ""
    return replace(row, outcome=f"{what}refused: the person whose memory it is decides")


def _outcome(directive: Directive, steps: Sequence[Step] | None, state: State) -> str:
    if steps is None:
        return "names no memory"
    if directive.verb == "memory_health":
        return "is shown below"
    if directive.verb == "forget keyword":
        return f"took {counted(len(steps), 'memory', 'memories')} off the first page"
    after = apply(state, (change for step in steps for change in step.changes))
    return "; ".join(subject_of(step, state, after) for step in steps) or "is so already"


def _find_or_none(state: State, key: str) -> Memory | None:
    with suppress(NoSuchMemory, Ambiguous):
        return find(state, key)
    return None
