"""Plan an import from a reader's records. Repeating the import changes nothing.

A record that is already a memory is not created again. It is recognised by its id in the other
program, its memory id or its text. If the other program reworded it and nobody edited the memory
here, the memory gets the new text. Rejected statements are left out. So are memories that an
earlier import created and that were removed since.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Change, Create, Update
from memrepo.core.codec import normal_body
from memrepo.core.ids import claim_id, normalise, note_id, text_hash
from memrepo.core.judge import Profile
from memrepo.core.memory import BY_NAME, CLAIM_TYPES, TYPES, Link, Memory, Source, Stamp
from memrepo.core.problems import Problem
from memrepo.core.secrets import redact
from memrepo.core.state import State, apply
from memrepo.core.times import local_day, parse_time
from memrepo.formats.own import path_here
from memrepo.formats.purifier import Workspace
from memrepo.formats.records import ImportRecord, Read, WholeMemory, refused
from memrepo.merge.closure import close, findings
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.claims import (
    SHORT,
    affinity,
    free_path,
    is_permitted,
    merge_sources,
    route,
    storage_fault,
    type_in_profile,
)
from memrepo.policies.links import Targets
from memrepo.policies.matching import jaccard
from memrepo.text.words import content_words

MIN_SIMILARITY = 0.3
"""The minimum similarity at which an item without an id is a rewording of a missing one."""
_TEXT_FIELDS = ("title", "subject", "predicate", "object", "description", "tags", "entities")
_Place = tuple[str, int]


class ImportTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of an import.

    `left` are ids of memories that an earlier import created and that are no longer in the tree.
    """

    format: str
    profile: Profile
    now: datetime
    zone: tzinfo = UTC
    """The time zone that determines the day of a record's time."""
    left: Collection[str] = ()
    workspace: Workspace | None = None
    """The workspace with the sources that records refer to, if any."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an import: the changes to commit, judgements by memory, counts and problems."""

    changes: tuple[Change, ...] = ()
    judgements: Mapping[str, Any] = msgspec.field(default_factory=dict)
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def take(state: State, read: Read, terms: ImportTerms) -> Imported:
    """Return the changes that import a reader's records, and the judgements of new memories."""
    work = _Import(state=state, terms=terms, problems=list(read.problems))
    for record in read.records:
        match record:
            case ImportRecord():
                work.take_record(record)
            case WholeMemory():
                work.take_whole(record)
    work.pair()
    work.link()
    changes = work.changes()
    counts = {
        "memories_new": len(work.fresh),
        "memories_known": work.known,
        **({"memories_changed": len(work.updated)} if work.updated else {}),
        **({"barred": work.barred} if work.barred else {}),
        **({"left_before": work.left} if work.left else {}),
        "unreadable": sum(p.severity == "error" for p in work.problems),
        **read.passed,
    }
    return Imported(
        changes=changes,
        counts=counts,
        problems=tuple(work.problems),
        judgements={
            id_: [dict(known.judgement)]
            if (known := work.records.get(id_)) and known.judgement
            else []
            for id_ in sorted(work.fresh)
        },
    )


class _Import(msgspec.Struct):
    """An import under construction, with its new and updated memories."""

    state: State
    terms: ImportTerms
    problems: list[Problem]
    fresh: dict[str, Memory] = msgspec.field(default_factory=dict)
    updated: dict[str, Update] = msgspec.field(default_factory=dict)
    matched: set[str] = msgspec.field(default_factory=set)
    files: dict[str, bytes] = msgspec.field(default_factory=dict)
    records: dict[str, ImportRecord] = msgspec.field(default_factory=dict)
    names: dict[str, str] = msgspec.field(default_factory=dict)
    paths: set[str] = msgspec.field(default_factory=set)
    known: int = 0
    barred: int = 0
    left: int = 0
    _targets: Targets | None = None
    _claims: dict[str, str] = msgspec.field(default_factory=dict)
    _resources: dict[str, str] = msgspec.field(default_factory=dict)
    _items: dict[tuple[str, str], str] = msgspec.field(default_factory=dict)
    _texts: dict[tuple[bool, str, str], str] = msgspec.field(default_factory=dict)
    _notes: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)

    def __post_init__(self) -> None:
        for memory in sorted(self.state.memories.values(), key=lambda m: m.path):
            self._index(memory)

    def _index(self, memory: Memory) -> None:
        if memory.text("claim_id"):
            self._claims.setdefault(memory.text("claim_id"), memory.id)
        for source in memory.sources:
            if "#" in source.resource:
                self._resources.setdefault(source.resource, memory.id)
            elif memory.text("origin") == "import":
                self._items.setdefault((source.resource, text_hash(memory.body)), memory.id)
        if len(memory.body) >= SHORT:
            for hash_ in (text_hash(memory.body), *memory.former_hashes):
                self._texts.setdefault((memory.is_note, memory.text("scope"), hash_), memory.id)

    def take_record(self, record: ImportRecord) -> None:
        """Create a memory for a record, unless the memory already exists."""
        text = normal_body(record.text)
        if not text:
            self.problems.append(
                refused(record.path, "found no text", line=record.lines[0], key=record.key)
            )
            return
        memory = self._clean(self._memory(record, text), (record.path, record.lines[0]))
        existing = self._find_existing(memory, record)
        if existing:
            self._update_known(existing, memory, record)
        elif self._new(memory, (record.path, record.lines[0]), record.key):
            self.records[memory.id] = record
        else:
            return
        for name in filter(None, (record.key, *record.names)):
            self.names.setdefault(name, existing or memory.id)

    def take_whole(self, whole: WholeMemory) -> None:
        """Import a memory in memrepo's own format unchanged, unless it already exists."""
        memory = self._clean(whole.memory, (whole.path, whole.line))
        if memory.id in self.state.memories or memory.id in self.fresh:
            self.known += 1
            self._update_whole(memory)
            return
        memory = replace(memory, path=path_here(self.state.layout, memory))
        is_new = self._new(memory, (whole.path, whole.line), memory.id)
        if is_new and whole.data and self.fresh[memory.id].body == memory.body:
            self.files[memory.id] = whole.data

    def _new(self, memory: Memory, place: _Place, key: str) -> bool:
        """Add a memory to the import. Return False if the memory must be left out."""
        if memory.id in self.terms.left:
            self.left += 1
            return False
        if memory.status != "forgotten":
            screened = self._screened(memory, place, key)
            if screened is None:
                return False
            memory = screened
        memory = replace(memory, path=free_path(self.state, self.paths, memory))
        if why := storage_fault(memory):
            self.problems.append(refused(place[0], why, line=place[1], key=key))
            return False
        self.fresh[memory.id] = memory
        self.paths.add(memory.path)
        self._index(memory)
        return True

    def _find_existing(self, memory: Memory, record: ImportRecord) -> str:
        """Find the existing memory for a record. Return its id, or an empty string.

        Compare the id in the other program, then the memory id, then the text.
        """
        resource = memory.sources[0].resource if record.key else ""
        where = (memory.is_note, memory.text("scope"), text_hash(memory.body))
        long = len(memory.body) >= SHORT
        for id_ in (
            self._resources.get(resource),
            self._claims.get(memory.text("claim_id")),
            memory.id,
            self._items.get((memory.sources[0].resource, where[2])),
            self._texts.get(where) if long else None,
        ):
            if id_ and (id_ in self.state.memories or id_ in self.fresh):
                return id_
        return ""

    def _update_known(self, id_: str, memory: Memory, record: ImportRecord) -> None:
        """Count a known record. If its text differs, update the memory or report a problem."""
        self.known += 1
        self.matched.add(id_)
        existing = self.state.memories.get(id_)
        if existing is None:
            if record.places:  # one statement with several homes is one memory with all evidence
                sources = merge_sources(self.fresh[id_].sources, memory.sources)
                self.fresh[id_] = self.fresh[id_].with_fields({"sources": sources})
            return
        hash_ = text_hash(memory.body)
        if hash_ == text_hash(existing.body):
            return
        if self._is_unedited(existing):
            screened = self._screened(memory, (record.path, record.lines[0]), record.key)
            if screened is not None:
                self._follow(existing, screened)
        elif hash_ not in existing.former_hashes:
            self._warn(
                (record.path, record.lines[0]),
                "import-changed",
                f"differs from {id_}, which was imported from it: the memory is unchanged",
                fix=f"`memrepo edit {id_}`, if the other program is right",
                key=record.key,
            )

    def _is_unedited(self, existing: Memory) -> bool:
        """Return whether an imported memory was never edited, confirmed or retired since."""
        written = existing.fields.get("generated")
        return (
            existing.text("origin") == "import"
            and existing.status == "active"
            and not existing.fields.get("verified")
            and written is not None
            and written.by == f"{self.terms.format}/unknown"
        )

    def _follow(self, existing: Memory, memory: Memory) -> None:
        """Update a memory to the other program's current text, keeping the old text as an alias.

        Rejected statements are already removed from the new text, so the rest may equal the old
        text.
        """
        if text_hash(memory.body) == text_hash(existing.body):
            return
        former = (*existing.former_hashes, text_hash(existing.body))
        names = ("generated", "sources", *_TEXT_FIELDS)
        fields = {
            k: memory.fields.get(k) for k in names if memory.fields.get(k) != existing.fields.get(k)
        }
        fields["former"] = tuple(dict.fromkeys(former))
        self.updated[existing.id] = Update(id=existing.id, fields=fields, body=memory.body)

    def _update_whole(self, memory: Memory) -> None:
        """Update a memory that was reworded elsewhere but not in this repository."""
        existing = self.state.memories.get(memory.id)
        if existing is None or existing.body == memory.body or existing.status != memory.status:
            return
        self._targets = self._targets or Targets(self.state.memories.values())
        if self._targets.same(existing, replace(memory, path=path_here(self.state.layout, memory))):
            return  # an export only adapts the links
        ours, theirs = (m.fields.get("generated") for m in (existing, memory))
        later = ours and theirs and ours.at and theirs.at and theirs.at > ours.at
        if later or (
            ours == theirs and existing.fields.get("verified") == memory.fields.get("verified")
        ):
            self._follow(existing, memory)

    def pair(self) -> None:
        """Pair new records with the existing memories that they reword.

        A new record without an id is a rewording if a similar memory is missing from the same file.
        """
        missing: dict[str, list[Memory]] = defaultdict(list)
        for existing in sorted(
            self.state.memories.values(), key=lambda m: m.sources[0].lines if m.sources else (0, 0)
        ):
            if existing.sources and existing.id not in self.matched and self._is_unedited(existing):
                missing[existing.sources[0].resource].append(existing)
        for id_, memory in list(self.fresh.items()):
            candidates = missing.get(memory.sources[0].resource) if id_ in self.records else None
            similar = [one for one in candidates or () if one.type == memory.type]
            if not similar:
                continue
            words = content_words(memory.body)
            best = max(similar, key=lambda one: jaccard(words, content_words(one.body)))
            if jaccard(words, content_words(best.body)) < MIN_SIMILARITY:
                continue
            missing[memory.sources[0].resource].remove(best)
            del self.fresh[id_], self.records[id_]
            self.paths.discard(memory.path)
            self.names = {name: best.id if to == id_ else to for name, to in self.names.items()}
            self._follow(best, memory)

    def _screened(self, memory: Memory, place: _Place, key: str) -> Memory | None:
        """Remove rejected statements from a memory. Return None if nothing remains.

        A memory similar to a rejection is left out too, because there is nobody to ask.
        """
        rejections = tombstones_in(self.state)
        rejection = rejections.bar(memory)
        update = None if rejections.bar_whole(memory) else rejections.shortening(memory)
        rest = memory.with_fields(update.fields, update.body) if update and update.body else None
        rule, what, left = "rejected-left-out", "says", "it is left out"
        if rejection is None:
            rejection = rejections.near(memory) if rejections else None
            rule, what = "rejected-similar", "is close to"
        elif rest is not None:
            left = "that part is skipped, the rest is imported"
        if rejection is None:
            return memory
        self.barred += rest is None
        fix = f"`memrepo reject {rejection.key} --undo` and import again"
        self._warn(
            place,
            rule,
            f"a record {what} what was rejected as {rejection.key}: {left}",
            fix=fix if what == "says" else f"{fix}, or add it by hand",
            key=key,
        )
        return rest

    def _clean(self, memory: Memory, place: _Place) -> Memory:
        """Replace the secrets in a memory by placeholders, as in a snapshot."""
        kinds: set[str] = set()

        def clean(text: str) -> str:
            shown, secrets = redact(text)
            kinds.update(s.kind for s in secrets)
            return shown

        body = clean(memory.body)
        fields: dict[str, object] = {}
        for name in _TEXT_FIELDS:
            match memory.fields.get(name):
                case str() as text:
                    fields[name] = clean(text)
                case tuple() as texts:
                    fields[name] = tuple(dict.fromkeys(map(clean, texts)))
        if not kinds:
            return memory
        message = f"found a secret ({', '.join(sorted(kinds))}): replaced by a placeholder"
        self._warn(place, "import-secret", message, fix="remove the secret there too")
        return memory.with_fields(fields, body)

    def _warn(self, place: _Place, rule: str, message: str, *, fix: str, key: str = "") -> None:
        self.problems.append(
            Problem(
                path=place[0],
                line=place[1],
                rule=rule,
                key=key,
                message=message,
                fix=fix,
                severity="warning",
            )
        )

    def _memory(self, record: ImportRecord, text: str) -> Memory:
        fields = dict(record.fields)
        captured = record.captured
        if "T" in captured:
            captured = local_day(parse_time(captured), self.terms.zone)
        resource = f"{self.terms.format}://{record.path}" + (f"#{record.key}" * bool(record.key))
        type_ = record.type if record.type in TYPES else "fact"
        if type_ in CLAIM_TYPES:
            home, profile = fields.get("home", ""), self.terms.profile
            if not (home and is_permitted(home, profile) and affinity(type_, home) != "impossible"):
                fields["home"] = route(type_, profile)
                type_ = type_in_profile(type_, profile)
        id_ = self._id(type_, fields, text, f"{self.terms.format}://{record.path}")
        evidence = Source(
            resource=resource,
            lines=record.lines,
            captured=captured,
            captured_from=record.captured_from if captured else "",
        )
        sources = tuple(s for s in (evidence, record.evidence) if s is not None)
        if record.places:
            in_force = fields.get("status") != "superseded"
            sources = tuple(dict.fromkeys(self._places(record.places, text, in_force=in_force)))
            dated = (s.captured[:10] for s in sources)
            captured = max(dated, default="")
        fields |= {
            "id": id_,
            "type": type_,
            "created": record.fields.get("created", self.terms.now),
            "sources": sources,
            "origin": "import",
            "generated": Stamp(
                by=f"{self.terms.format}/unknown", at=record.written or self.terms.now
            ),
        }
        path = self.state.layout.memory(
            id_=id_,
            type_=type_,
            text=fields.get("title") or text,
            captured=captured,
            layer=record.layer,
        )
        return Memory.of(path, fields, body=text)

    def _places(self, places: Sequence[Source], text: str, *, in_force: bool) -> Iterator[Source]:
        """Yield sources in the workspace as the corresponding sources in this repository.

        A URL or a memory's own file is not changed.
        """
        layout, workspace = self.state.layout, self.terms.workspace
        for place in places:
            name = place.resource
            if "://" in name or name.startswith(("memories/", layout.area("memories"))):
                yield place
                continue
            found = workspace.located(place, text, in_force=in_force) if workspace else place
            yield replace(found, resource=layout.source(name))

    def _id(self, type_: str, fields: dict[str, Any], text: str, resource: str) -> str:
        if type_ == "note":
            same = (resource, normalise(text))
            self._notes[same] += 1
            return note_id(resource=resource, text=text, occurrence=self._notes[same] - 1)
        return claim_id(
            scope=fields.get("scope", ""),
            subject=fields.get("subject", ""),
            predicate=fields.get("predicate", ""),
            object_=fields.get("object", ""),
            text=text,
        )

    def link(self) -> None:
        """Link new memories to those imported memories that their records name."""
        for id_, record in self.records.items():
            links = list(self.fresh[id_].fields.get("links", ()))
            for type_, name in record.links:
                target = self.names.get(name)
                if target and target != id_ and type_ == "duplicate_of":
                    self.fresh[id_] = self.fresh[id_].with_fields({type_: target})
                elif target and target != id_ and all(k.target != target for k in links):
                    links.append(Link(target=target, type=type_))
            if links:
                limit: int = getattr(BY_NAME["links"].kind, "limit", len(links))
                self.fresh[id_] = self.fresh[id_].with_fields({"links": tuple(links[:limit])})
            for name in record.replaces:
                self._supersede(id_, self.names.get(name, ""))
            for name in record.replaced_by:
                self._supersede(self.names.get(name, ""), id_)

    def _supersede(self, id_: str, old: str) -> None:
        """Mark one new memory as superseded by another.

        Only a person may end existing memories.
        """
        if not {id_, old} <= self.fresh.keys() or old == id_:
            return
        if self.fresh[old].texts("superseded_by"):
            return
        when = self.fresh[old].time("superseded_at") or self.fresh[id_].fields["generated"].at
        self.fresh[id_] = self.fresh[id_].with_fields(
            {"supersedes": (*self.fresh[id_].texts("supersedes"), old)}
        )
        self.fresh[old] = self.fresh[old].with_fields(
            {"status": "superseded", "superseded_by": (id_,), "superseded_at": when}
        )

    def changes(self) -> tuple[Change, ...]:
        """Return the import's creations and updates, including updates that fix references."""
        creates = [Create(memory=memory) for memory in self.fresh.values()]
        before = {finding.name for finding in findings(self.state)}
        updates, fixed = close(apply(self.state, [*creates, *self.updated.values()]), before)
        self.problems += [
            replace(
                finding.problem,
                rule="import-reference",
                severity="warning",
                message=f"{finding.problem.message}: mended",
                fix="nothing needs to be done",
            )
            for finding in fixed
        ]
        for update in updates:
            if update.id in self.fresh:
                self.fresh[update.id] = self.fresh[update.id].with_fields(update.fields)
            elif update.id in self.updated:
                one = self.updated[update.id]
                self.updated[update.id] = replace(one, fields={**one.fields, **update.fields})
        existing = {*self.fresh, *self.updated}
        known: Iterable[Update] = (u for u in updates if u.id not in existing)
        return (
            *(
                Create(memory=memory, file=self.files.get(id_, b""))
                for id_, memory in sorted(self.fresh.items())
            ),
            *(update for _, update in sorted(self.updated.items())),
            *known,
        )
