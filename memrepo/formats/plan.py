"""Turn the records of a reader, or memory-purifier's claims, into memories.

Repeating an import changes nothing: a record that is already a memory is not created again. It is
recognised by its id in the other program, its memory id or its text. If a record with an id states
something else by now, its memory gets that text, or a problem is reported if somebody edited or
confirmed the memory here. Rejected statements are left out. So are memories that an earlier import
created and that were removed since.

The lineage is memory-purifier 1.7, artifact schema 1. A claim in `runtime/purified-claims.jsonl`
refers to lines of a source in the workspace. The next run recognises a claim whose text is a unit
of the source. The same is true if the lines contain a single unit with enough of the claim's words,
and the source is unchanged since the purifier read it. Docs: docs/migrating.md.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, time, tzinfo
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core.codec import normal_body
from memrepo.core.errors import Problem
from memrepo.core.ids import as_tag, claim_id, normalise, note_id, strip_deceptive, text_hash
from memrepo.core.judge import Profile
from memrepo.core.layout import Layout
from memrepo.core.memory import (
    BY_NAME,
    CLAIM_TYPES,
    MAX_ITEMS,
    TYPES,
    Link,
    Memory,
    Node,
    Retired,
    Source,
    Stamp,
    ValueMismatch,
    node_of,
)
from memrepo.core.patterns import regex
from memrepo.core.secrets import find_secrets, without_secrets
from memrepo.core.state import Change, Create, State, Update, apply
from memrepo.core.times import format_time, local_day, parse_time
from memrepo.formats.readers import (
    Files,
    Found,
    ImportRecord,
    JsonLine,
    left_out,
    mappings,
    read_json_lines,
    read_object,
    refused,
    texts,
)
from memrepo.merge.states import close, findings
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.claims import (
    SHORT,
    free_path,
    merge_sources,
    redact_memory,
    storage_fault,
    type_in_profile,
)
from memrepo.policies.standing import RETIRED
from memrepo.read.marks import without_private
from memrepo.read.thoughts import Unit, scan
from memrepo.text.words import content_words

CLAIMS = "purified-claims.jsonl"
CONTRADICTIONS = "purified-contradictions.jsonl"
ENTITIES = "purified-entities.json"
ROUTES = "purified-routes.json"
MANIFEST = "purified-manifest.json"
SUMMARY = "purifier-last-run-summary.json"
DEFERRED = "deferred-candidates.jsonl"
REJECTED = "rejected-candidates.jsonl"
ARTIFACTS = (CLAIMS, CONTRADICTIONS, ENTITIES, ROUTES, MANIFEST)

PACKAGE_VERSION = "1.7.0"
LOGIC_VERSION = "1.6.0"
MANIFEST_SCHEMA = "1"
ARTIFACT_SCHEMA = "1"

CLAIM_STATUSES = (
    "resolved",
    "contested",
    "unresolved",
    "superseded",
    "stale",
    "retire_candidate",
    "probable_duplicate",
)
INACTIVE = ("superseded", "stale", "retire_candidate")


def status_of(memory: Memory) -> str:
    """Return the memory-purifier status that matches a memory's `status` and `standing`.

    Return "superseded" for a superseded memory. Return "stale" for an archived memory, unless it
    waits for retirement. Return the standing otherwise.
    """
    if memory.status == "superseded":
        return "superseded"
    if memory.status == "archived" and memory.standing != "retire_candidate":
        return "stale"
    return memory.standing


def contradiction_id(claim_ids: Iterable[str]) -> str:
    """Return the id `contra-<12 hex>` for contradicting claims, independent of their order.

    This differs from memory-purifier, whose random ids create duplicate records.
    """
    return f"contra-{_sha('|'.join(sorted(claim_ids)))[:12]}"


def candidate_id(*, source: str, line: int, text: str) -> str:
    """Return the candidate id `cand-<16 hex>`, computed from source, first line and text.

    The text is lower-cased, and its whitespace is folded.
    """
    folded = " ".join(text.split()).lower()
    return f"cand-{_sha(f'{source}:{line}:{folded}')[:16]}"


def cursor_of(inventory: Mapping[str, str]) -> str:
    """Return the cursor `cursor-v1:<16 hex>`, computed from content hashes by path.

    A content hash has the form `sha256:...`.
    """
    lines = sorted(f"{path}:{hash_}" for path, hash_ in inventory.items())
    return f"cursor-v1:{_sha(chr(10).join(lines))[:16]}"


def content_hash(data: bytes) -> str:
    """Return `sha256:<64 hex>` for the bytes of a source."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def state_version() -> str:
    """Return the 12 hex digits that identify the three versions of memory-purifier's files."""
    triple = f"{LOGIC_VERSION}|{MANIFEST_SCHEMA}|{ARTIFACT_SCHEMA}"
    return hashlib.sha1(triple.encode(), usedforsecurity=False).hexdigest()[:12]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


RUNTIME = "runtime/"
_CLAIM_ID = regex(r"cl-[0-9a-f]{16}")
_EVIDENCE_KINDS = ("direct", "inferred", "merged")
_SHARED_WORDS = 0.5
"""The share of the shorter text's words that must be in the other text."""


def read(files: Files) -> Iterator[Found]:
    """Read the claims, and add the links recorded in the file of contradictions."""
    against: dict[str, list[str]] = {}
    for line in read_json_lines(CONTRADICTIONS, _named(files, CONTRADICTIONS)):
        if isinstance(line, Problem):
            yield line
            continue
        one, other = line.record.get("claimId"), line.record.get("competingClaimId")
        against.setdefault(str(one), []).append(str(other))
    for line in read_json_lines(CLAIMS, _named(files, CLAIMS)):
        if isinstance(line, Problem):
            yield line
            continue
        text, type_ = line.record.get("text"), line.record.get("type")
        if not isinstance(text, str) or not text.strip():
            yield refused(CLAIMS, "found no text", line=line.number, key="text")
        elif type_ not in CLAIM_TYPES:
            yield refused(CLAIMS, f"found the type {type_!r}", line=line.number, key="type")
        else:
            yield from _claim(line, against)


def _named(files: Files, name: str) -> bytes:
    return files.get(f"{RUNTIME}{name}", files.get(name, b""))


def _claim(line: JsonLine, against: Mapping[str, list[str]]) -> Iterator[Found]:
    """Yield the record of a claim, and the problems with its id, status and provenance."""
    claim = line.record
    id_, word = str(claim.get("id") or ""), claim.get("status")
    if not _CLAIM_ID.fullmatch(id_):
        message = f"found the id {id_[:40]!r}, expected cl-<16 hex>"
        yield left_out(CLAIMS, "id", message, line=line.number)
    if word not in CLAIM_STATUSES:
        message = f"found the status {word!r}, treated as unresolved"
        yield left_out(CLAIMS, "status", message, line=line.number)
        word = "unresolved"
    places, wrong = _places(claim)
    for message in wrong:
        yield left_out(CLAIMS, "provenance", message, line=line.number)
    is_superseded = word == "superseded"
    written = claim.get("updatedAt_utc") or claim.get("updatedAt")
    contradicted = [str(c.get("competingClaimId")) for c in mappings(claim.get("contradictions"))]
    links = [("contradicts", other) for other in (*contradicted, *against.get(id_, ()))]
    if claim.get("duplicateDisposition") == "probable_duplicate":
        links.append(("duplicate_of", str(claim.get("duplicateTargetClaimId"))))
    yield ImportRecord(
        path=CLAIMS,
        text=claim["text"],
        type=claim["type"],
        key=id_,
        lines=(line.number, line.number),
        written=written,
        fields={
            **{name: claim.get(name) for name in ("subject", "predicate", "object")},
            "tags": claim.get("secondaryTags"),
            "claim_id": id_ if _CLAIM_ID.fullmatch(id_) else None,
            "status": "superseded" if is_superseded else "active",
            "standing": "resolved" if is_superseded else word,
            "superseded_at": written if is_superseded else None,
            "retired": [*_retired(claim)],
        },
        links=tuple(dict.fromkeys(links)),
        replaces=tuple(texts(claim.get("supersedes"))),
        places=tuple(dict.fromkeys(places)),
    )


def _places(claim: Mapping[str, Any]) -> tuple[list[Source], list[str]]:
    """Return the sources of a claim, and what is wrong with its provenance."""
    places, wrong = [], []
    for entry in mappings(claim.get("provenance")):
        name, span, kind = entry.get("source"), entry.get("lineSpan"), entry.get("type")
        if not isinstance(name, str) or not 0 < len(name) <= 1000 or "\n" in name:
            wrong.append(f"found the source {str(name)[:40]!r}, expected a path")
            continue
        lines = (0, 0)
        if isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span):
            lines = (span[0], span[1]) if 0 < span[0] <= span[1] < 10**9 else (0, 0)
        if span is not None and lines == (0, 0):
            wrong.append(f"found the lines {str(span)[:40]}, expected [first, last]")
        places.append(
            Source(
                resource=name,
                lines=lines,
                kind=str(kind) if kind in _EVIDENCE_KINDS else "inferred",
                captured=_day(entry.get("capturedAt")),
            )
        )
    return places, wrong


def _day(value: object) -> str:
    """Return the date of a capture without the time of day, which is only that of a file."""
    try:
        parse_time(str(value))
    except ValueError:
        return ""
    return str(value).strip()[:10]  # the local day, whatever the offset


def _retired(claim: Mapping[str, Any]) -> Iterator[Retired]:
    """Yield one entry for each removed source of a claim.

    The purifier lists all removed sources in one entry.
    """
    for entry in mappings(claim.get("retirementReasons")):
        run, word = (str(entry.get(key) or "unknown")[:200] for key in ("runId", "reason"))
        word = "source_removed" if word == "all_sources_removed" else word
        names = texts(entry.get("removed_sources"))
        for reason in [f"{word}: sources/{name}" for name in names] or [word]:
            yield Retired(run=run, reason=reason)


class Workspace(msgspec.Struct):
    """The current sources of a workspace, and the purifier's hashes of them."""

    sources: Mapping[str, bytes]
    read_hashes: Mapping[str, str]
    _units: dict[str, tuple[Unit, ...]] = msgspec.field(default_factory=dict)

    def located(self, place: Source, text: str, *, in_force: bool) -> Source:
        """Return a place, with the text hash of the claim's unit if it is certain."""
        name, lines, hash_ = place.resource, place.lines, text_hash(text)
        units = self._read(name)
        within = [u for u in units if u.lines[0] <= lines[1] and lines[0] <= u.lines[1]]
        for unit in (*within, *units):
            if unit.text_hash == hash_:
                at = lines if unit in within else unit.lines
                return replace(place, lines=at, text_hash=hash_)
        if in_force and len(within) == 1 and self._is_unchanged(name):
            left, right = content_words(within[0].text), content_words(text)
            if len(left & right) >= _SHARED_WORDS * min(len(left), len(right)) > 0:
                hash_ = within[0].text_hash
                return replace(place, text_hash=hash_)
        return place

    def _read(self, name: str) -> tuple[Unit, ...]:
        if name not in self._units:
            self._units[name] = scan(name, self.sources[name]).units if name in self.sources else ()
        return self._units[name]

    def _is_unchanged(self, name: str) -> bool:
        data = self.sources.get(name)
        return data is not None and self.read_hashes.get(name) == content_hash(data)


def read_hashes(files: Files) -> dict[str, str]:
    """Return the content hashes of sources, by name, as last recorded by memory-purifier."""
    page = read_object(_named(files, MANIFEST) or b"{}")
    entries = mappings(page.get("sourceInventory")) if isinstance(page, dict) else []
    return {str(entry.get("path")): str(entry.get("content_hash")) for entry in entries}


_TEXT_FIELDS = ("title", "subject", "predicate", "object", "description", "tags", "entities")
_BACK = {"status": None, "archived_at": None, "standing": None}
"""The fields of a memory whose record was gone, and is back."""
_AREA = "memories/"
_ODD = regex(r"(?:^|/)(?:\.{0,2}|\.git)(?:/|$)|\.md/|[\x00-\x1f\x7f]|[^/]{250}")


class ImportTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of an import.

    `folder` names the folder whose files the records are from, if an import follows it. `scope` is
    that of the new memories. `left` are ids of memories that an earlier import created and that are
    no longer in the tree.
    """

    format: str
    folder: str = ""
    scope: str = ""
    profile: Profile
    now: datetime
    zone: tzinfo = UTC
    """The time zone that determines the day of a record's time."""
    left: Collection[str] = ()
    workspace: Workspace | None = None
    """The workspace with the sources that records refer to, if any."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an import: the changes to commit, the counts and the problems."""

    changes: tuple[Change, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    seen: frozenset[str] = frozenset()
    """The memories that a record states."""


def take(state: State, found: Iterable[Found], terms: ImportTerms) -> Imported:
    """Return the changes that import what a reader found."""
    work = _Import(state=state, terms=terms)
    for one in found:
        if isinstance(one, ImportRecord):
            work.take(one)
        elif isinstance(one, Problem):
            work.problems.append(one)
        elif one.number:
            work.counts[one.name] += one.number
    work.link()
    changes = work.changes()
    counts = {"memories_new": len(work.fresh), **work.counts}
    if work.updated:
        counts["memories_changed"] = len(work.updated)
    counts["unreadable"] = sum(p.severity == "error" for p in work.problems)
    return Imported(
        changes=changes,
        counts=counts,
        problems=tuple(work.problems),
        seen=frozenset(work.seen),
    )


class _Import(msgspec.Struct):
    """An import under construction, with its new and updated memories."""

    state: State
    terms: ImportTerms
    problems: list[Problem] = msgspec.field(default_factory=list)
    fresh: dict[str, Memory] = msgspec.field(default_factory=dict)
    updated: dict[str, Update] = msgspec.field(default_factory=dict)
    records: dict[str, ImportRecord] = msgspec.field(default_factory=dict)
    """The record of each new memory."""
    names: dict[str, str] = msgspec.field(default_factory=dict)
    """The id of the memory that links of records name."""
    seen: set[str] = msgspec.field(default_factory=set)
    paths: set[str] = msgspec.field(default_factory=set)
    counts: Counter[str] = msgspec.field(default_factory=lambda: Counter(memories_known=0))
    _ids: dict[object, str] = msgspec.field(default_factory=dict)
    """The id of a memory by everything that identifies it (`_keys_of`)."""
    _notes: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)

    def __post_init__(self) -> None:
        for memory in sorted(self.state.memories.values(), key=lambda m: m.path):
            self._index(memory)

    def _index(self, memory: Memory) -> None:
        for key in _keys_of(memory):
            self._ids.setdefault(key, memory.id)

    def take(self, record: ImportRecord) -> None:
        """Create a memory for a record, unless the memory already exists."""
        memory = self._own(record) if record.is_own else self._memory(record)
        if memory is None:
            return
        if why := storage_fault(memory):
            self._refuse(record, why)
            return
        memory = self._clean(memory, record)
        if not memory.body and not record.is_own:
            self.counts["private_left_out"] += 1
            return
        keys: list[object] = [("id", memory.id)] if record.is_own else [*_keys_of(memory)]
        if self.terms.scope:  # what is known without a scope is known in each
            keys += _keys_of(memory.with_fields({"scope": None}))
        existing = next((self._ids[key] for key in keys if key in self._ids), "")
        if existing:
            self.counts["memories_known"] += 1
            self._compare(existing, memory, record)
        elif not self._add(memory, record):
            return
        self.seen.add(existing or memory.id)
        for name in filter(None, (record.key, *record.names)):
            self.names.setdefault(name, existing or memory.id)

    def _add(self, memory: Memory, record: ImportRecord) -> bool:
        """Add a memory to the import. Return False if the memory must be left out."""
        if memory.id in self.terms.left:
            self.counts["left_before"] += 1
            return False
        screened = memory if memory.status == "forgotten" else self._screened(memory, record)
        if screened is None:
            return False
        memory = replace(screened, path=free_path(self.state, self.paths, screened))
        self.fresh[memory.id] = memory
        self.records[memory.id] = record
        self.paths.add(memory.path)
        self._index(memory)
        return True

    def _compare(self, id_: str, memory: Memory, record: ImportRecord) -> None:
        """Add the evidence of a repeated record, and follow or report one that changed."""
        existing = self.state.memories.get(id_)
        if existing is None:
            if record.places:  # one statement with several homes is one memory with all evidence
                sources = merge_sources(self.fresh[id_].sources, memory.sources)
                self.fresh[id_] = self.fresh[id_].with_fields({"sources": sources})
            return
        rejections = tombstones_in(self.state)
        update = rejections.shortening(memory)
        bodies = [memory.body, *([update.body] if update and update.body else [])]
        known = (text_hash(existing.body), *existing.former)
        is_stated = any(text_hash(body) in known for body in bodies)
        was_gone = existing.standing == RETIRED != memory.standing
        was_gone &= existing.status in ("active", "archived")
        if is_stated and rejections.find_barring(existing):
            self._screened(memory, record)  # it is named
        elif is_stated and was_gone:
            sources = merge_sources(existing.sources, memory.sources)
            self.updated[id_] = Update(id=id_, fields={**_BACK, "sources": sources})
        if is_stated or not (was_gone or existing.status == "active"):
            return
        if self._is_unedited(existing) and not record.is_own:
            self._follow(existing, self._screened(memory, record))
        else:
            self._warn(
                record,
                "import-changed",
                f"differs from {id_}, which was imported from it: the memory is unchanged",
                fix=f"`memrepo edit {id_}`, if the other program is right",
            )

    def _is_unedited(self, existing: Memory) -> bool:
        """Return whether an imported memory was neither edited nor confirmed since."""
        made = existing.generated
        by = f"{self.terms.format}/unknown"
        is_imported = existing.origin == "import" and made is not None and made.by == by
        return is_imported and not existing.verified

    def _follow(self, existing: Memory, memory: Memory | None) -> None:
        """Give a memory the other program's present text, without what was rejected of it."""
        if memory is None or text_hash(memory.body) == text_hash(existing.body):
            return
        names = ("generated", "sources", *_TEXT_FIELDS)
        fields = {
            k: memory.fields.get(k) for k in names if memory.fields.get(k) != existing.fields.get(k)
        }
        fields |= _BACK if existing.standing == RETIRED else {}
        former = (*existing.former, text_hash(existing.body))
        fields["former"] = tuple(dict.fromkeys(former))
        self.updated[existing.id] = Update(id=existing.id, fields=fields, body=memory.body)

    def _screened(self, memory: Memory, record: ImportRecord) -> Memory | None:
        """Remove rejected statements from a memory. Return None if nothing remains.

        A memory similar to a rejection is left out too, because there is nobody to ask.
        """
        rejections = tombstones_in(self.state)
        rejection = rejections.find_barring(memory)
        is_whole = any(rejections.barring_whole(memory))
        update = None if is_whole else rejections.shortening(memory)
        rest = memory.with_fields(update.fields, update.body) if update and update.body else None
        rule, what, left = "rejected-left-out", "says", "it is left out"
        if rejection is None:
            rejection = rejections.near(memory) if rejections else None
            rule, what = "rejected-similar", "is close to"
        elif rest is not None:
            left = "that part is skipped, the rest is imported"
        if rejection is None:
            return memory
        self.counts["barred"] += rest is None
        fix = f"`memrepo reject {rejection.key} --undo` and import again"
        self._warn(
            record,
            rule,
            f"a record {what} what was rejected as {rejection.key}: {left}",
            fix=fix if what == "says" else f"{fix}, or add it by hand",
        )
        return rest

    def _clean(self, memory: Memory, record: ImportRecord) -> Memory:
        """Replace the secrets in a memory by placeholders.

        Private parts and invisible characters are left out, except in a memory of this format,
        which comes back as it was written. Comments are left out of markdown only.
        """
        if not record.is_own:
            given = {k: v for k, v in memory.fields.items() if k in _TEXT_FIELDS}
            shown = {k: _shown(v) for k, v in {**given, "": memory.body}.items()}
            public = {k: _public(v, comments=record.path.endswith(".md")) for k, v in shown.items()}
            if public != shown:
                message = "private parts were left out (`<private>`, `%% %%`, comments, requests)"
                self._warn(record, "import-private", message, fix="`memrepo add`, if it is not")
            body = public.pop("")
            memory = memory.with_fields(public, body)
        clean, kinds = redact_memory(memory)
        if kinds:
            message = f"found a secret ({', '.join(sorted(kinds))}): replaced by a placeholder"
            where = replace(record, key="", lines=(_line_of_secret(record),) * 2)
            self._warn(where, "import-secret", message, fix="remove the secret there too")
        return clean

    def _refuse(self, record: ImportRecord, why: str) -> None:
        self.problems.append(refused(record.path, why, line=record.lines[0], key=record.key))

    def _warn(self, record: ImportRecord, rule: str, message: str, *, fix: str) -> None:
        problem = refused(record.path, message, line=record.lines[0], key=record.key)
        self.problems.append(
            replace(problem, rule=rule, message=message, fix=fix, severity="warning", column=0)
        )

    def _fields(self, record: ImportRecord) -> dict[str, Any]:
        """Return a record's fields in memrepo's types. Values that do not fit are left out.

        Empty values count as absent. Tags of other programs are converted to memrepo's spelling.
        """
        fields: dict[str, Any] = {}
        for name, value in record.fields.items():
            if value in (None, "", [], ()):
                continue
            line = record.at.get(name, record.lines[0])
            try:
                field = BY_NAME[name]
                if name == "created" or name.endswith("_at"):
                    value = self._moment(record, name, value)
                read = field.read(_node(value))
            except KeyError:
                message = "found a key that no memory has"
                self.problems.append(left_out(record.path, name, message, line=line))
            except ValueMismatch as mismatch:
                self.problems.append(left_out(record.path, name, str(mismatch), line=line))
            else:
                if name == "tags" and not record.is_own:
                    read = tuple(filter(None, dict.fromkeys(map(as_tag, read))))
                if read != field.default:
                    fields[name] = read
        if self.terms.scope:
            fields["scope"] = self.terms.scope
        return fields

    def _moment(self, record: ImportRecord, key: str, value: object) -> datetime | None:
        """Parse a time: text, or seconds or milliseconds since 1970. Report one that is invalid."""
        if value in (None, "", []):
            return None
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(int(value / 1000 if value > 10**11 else value), UTC)
            return parse_time(value if isinstance(value, str) else "")
        except (OverflowError, OSError, ValueError):
            message = f"found {str(value)[:40]!r}, expected a time"
            self.problems.append(
                left_out(record.path, key, message, line=record.at.get(key, record.lines[0]))
            )
            return None

    def _own(self, record: ImportRecord) -> Memory | None:
        """Return a memory of another repository, with a path that is valid here."""
        fields = self._fields(record)
        for key in ("id", "type"):
            if key not in fields:
                self._refuse(replace(record, key=key), f"found no {key}")
                return None
        memory = Memory.of(record.own_path, fields, body=normal_body(record.text))
        return replace(memory, path=_path_here(self.state.layout, memory))

    def _memory(self, record: ImportRecord) -> Memory | None:
        """Return the memory of another program's record."""
        text = normal_body(record.text)
        if not text:
            self._refuse(record, "found no text")
            return None
        fields = self._fields(record)
        written = self._moment(record, "written", record.written)
        captured, captured_from = record.captured, record.captured_from
        if not captured and written is not None:
            captured, captured_from = format_time(written), "unit"
            captured = captured[:10] if written.time() == time() else captured
        if "T" in captured:
            captured = local_day(parse_time(captured), self.terms.zone)
        file = f"{self.terms.format}://{self.terms.folder}{record.path}"
        type_ = record.type if record.type in TYPES else "fact"
        if type_ in CLAIM_TYPES:
            type_ = type_in_profile(type_, self.terms.profile)
        evidence = Source(
            resource=without_secrets(f"{file}#{record.key}" if record.key else file),
            lines=record.lines,
            captured=captured,
            captured_from=captured_from if captured else "",
        )
        sources: tuple[Source, ...] = (evidence,)
        if record.places:
            sources = tuple(dict.fromkeys(self._places(record, text)))
            captured = max((s.captured[:10] for s in sources), default="")
        fields |= {
            "id": self._id(type_, fields, text, file),
            "type": type_,
            "created": fields.get("created", self.terms.now),
            "sources": sources,
            "origin": "import",
            "generated": Stamp(by=f"{self.terms.format}/unknown", at=written or self.terms.now),
        }
        path = self.state.layout.memory(
            id_=fields["id"],
            type_=type_,
            text=fields.get("title") or text,
            captured=captured,
            layer=record.layer,
        )
        return Memory.of(path, fields, body=text)

    def _places(self, record: ImportRecord, text: str) -> Iterator[Source]:
        """Yield sources in the workspace as the corresponding sources in this repository.

        A URL or a memory's own file is not changed.
        """
        layout, workspace = self.state.layout, self.terms.workspace
        in_force = record.fields.get("status") != "superseded"
        for place in record.places:
            name = place.resource
            if "://" in name or name.startswith((_AREA, layout.area("memories"))):
                yield place
                continue
            found = workspace.located(place, text, in_force=in_force) if workspace else place
            yield replace(found, resource=layout.source(name))

    def _id(self, type_: str, fields: dict[str, Any], text: str, resource: str) -> str:
        if type_ == "note":
            same = (resource, normalise(text))
            self._notes[same] += 1
            return note_id(resource=resource, text=text, occurrence=self._notes[same] - 1)
        key = {name: fields.get(name, "") for name in ("scope", "subject", "predicate")}
        return claim_id(**key, object_=fields.get("object", ""), text=text)

    def link(self) -> None:
        """Link new memories to those imported memories that their records name."""
        for id_, record in self.records.items():
            links = list(self.fresh[id_].links)
            for type_, name in record.links:
                target = self.names.get(name)
                if target and target != id_ and type_ == "duplicate_of":
                    self.fresh[id_] = self.fresh[id_].with_fields({type_: target})
                elif target and target != id_ and all(k.target != target for k in links):
                    links.append(Link(target=target, type=type_))
            if links:
                self.fresh[id_] = self.fresh[id_].with_fields({"links": tuple(links[:MAX_ITEMS])})
            for name in record.replaces:
                self._supersede(id_, self.names.get(name, ""))

    def _supersede(self, id_: str, old: str) -> None:
        """Mark one new memory as superseded by another.

        Only a person may end existing memories.
        """
        if not {id_, old} <= self.fresh.keys() or old == id_:
            return
        if self.fresh[old].superseded_by:
            return
        when = self.fresh[old].superseded_at or self.fresh[id_].fields["generated"].at
        self.fresh[id_] = self.fresh[id_].with_fields(
            {"supersedes": (*self.fresh[id_].supersedes, old)}
        )
        self.fresh[old] = self.fresh[old].with_fields(
            {"status": "superseded", "superseded_by": (id_,), "superseded_at": when}
        )

    def changes(self) -> tuple[Change, ...]:
        """Return the import's creations and updates, with the updates that fix references."""
        creates = [Create(memory=memory) for memory in self.fresh.values()]
        before = {finding.name for finding in findings(self.state)}
        updates, fixed = close(apply(self.state, [*creates, *self.updated.values()]), before)
        self.problems += [
            replace(
                finding.problem,
                rule="import-reference",
                severity="warning",
                message=f"{finding.problem.message}: fixed",
                fix="nothing needs to be done",
            )
            for finding in fixed
        ]
        for update in updates:
            if update.id in self.fresh:
                self.fresh[update.id] = self.fresh[update.id].with_fields(update.fields)
            else:
                one = self.updated.get(update.id, update)
                fields = {**one.fields, **update.fields}
                self.updated[update.id] = replace(one, fields=fields)
        return (
            *(Create(memory=memory) for _, memory in sorted(self.fresh.items())),
            *(update for _, update in sorted(self.updated.items())),
        )


def _shown(value: Any) -> Any:
    """Return a text, or texts, without invisible characters and blanks around."""
    if isinstance(value, tuple):
        return tuple(dict.fromkeys(filter(None, map(_shown, value))))
    return strip_deceptive(value).strip()


def _public(value: Any, *, comments: bool) -> Any:
    """Return a text, or texts, without private parts."""
    if isinstance(value, tuple):
        public = (_public(one, comments=comments) for one in value)
        return tuple(dict.fromkeys(filter(None, public)))
    return without_private(value, comments=comments).strip()


def _node(value: Any) -> Node:
    """Convert a value of JSON or of a header to a node, without the members that are null."""
    if isinstance(value, dict):
        return {str(key): _node(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_node(part) for part in value if part is not None]
    return value if isinstance(value, str) else node_of(value)


def _keys_of(memory: Memory) -> Iterator[tuple[object, ...]]:
    """Yield what identifies a memory: its id in the other program, its claim, its id, its texts."""
    if own := next((s.resource for s in memory.sources if "#" in s.resource), ""):
        yield "resource", memory.scope, own
    if claim := memory.claim_id:
        yield "claim", claim
    yield "id", memory.id
    if len(memory.body) >= SHORT:
        for hash_ in (text_hash(memory.body), *memory.former):
            yield "text", memory.is_note, memory.scope, hash_


def _path_here(layout: Layout, memory: Memory) -> str:
    """Return the path that a memory of another repository gets in this one.

    Use the memory's own path below this repository's prefix if that path is valid. Otherwise use
    the path of a new memory.
    """
    name = memory.path.rpartition(_AREA)[2] if _AREA in memory.path else memory.path
    path = layout.area("memories") + name
    if layout.is_memory(path) and not _ODD.search(name) and name.isprintable():
        return path
    return layout.memory(
        id_=memory.id,
        type_=memory.type,
        text=memory.title or memory.body,
        captured=memory.captured,
    )


def _line_of_secret(record: ImportRecord) -> int:
    """Return the line of the first secret in the body or the properties of a record."""
    if found := find_secrets(record.body):
        return record.lines[0] + found[0].line - 1
    rows = (row for row in record.text.split("\n") if ":" in row and find_secrets(row))
    lines = (record.at.get(row.partition(":")[0]) for row in rows)
    return next(filter(None, lines), record.lines[0])
