"""A purifier workspace's files as changes: claims become memories, linked as they were.

The memories of an import under construction: new ones, known ones, and how they are linked.

What cannot be read is a Problem that names its line, and never stops the rest. Docs:
docs/interchange.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Change, Create, Delete, Update, Write
from memrepo.core.ids import text_hash
from memrepo.core.jsonl import Line, mappings, read_lines, read_object, texts
from memrepo.core.judge import Candidate, Profile, PromotionScores, Verdict
from memrepo.core.layout import Layout
from memrepo.core.memory import Link, Memory, Source
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import parse_time
from memrepo.purify import lineage
from memrepo.purify.candidate_files import set_aside
from memrepo.purify.gather import SHORT
from memrepo.purify.holds import screened
from memrepo.purify.imported_claims import Draft, Evidence, Reading, RecordReader, read_claim
from memrepo.purify.known import free_path, storable, unite

_SCORES = (
    "durability",
    "future_judgment_value",
    "action_value",
    "identity_relationship_weight",
    "cross_time_persistence",
    "noise_risk",
)
Aside = tuple[datetime, Candidate, Verdict]


def import_candidates(
    state: State,
    logs: Mapping[str, Iterable[Line]],
    promoted: frozenset[str],
    resource: Callable[[str], str],
    now: datetime,
) -> tuple[tuple[Write | Delete, ...], dict[str, int], list[Problem]]:
    """Return candidate files, counts and findings; `logs` is by file name, `promoted` text hashes.

    The logs are append-only: of a text that stands in them more than once the newest judgement
    counts, and one that was promoted since is set aside no more.
    """
    newest: dict[str, Aside] = {}
    counts = {"deferred": 0, "rejected": 0, "promoted_since": 0}
    problems: list[Problem] = []
    for path, lines in logs.items():
        for line in lines:
            reader = RecordReader(path, line.number, line.record)
            found = _read(reader, resource, now)
            problems += reader.problems
            if found is not None:
                _keep_newest(newest, found)
    changes: list[Write | Delete] = []
    for hash_, (at, candidate, verdict) in sorted(newest.items()):
        if hash_ in promoted:
            counts["promoted_since"] += 1
            continue
        made = set_aside(state, [candidate], [verdict], at)
        changes += made
        counts["deferred" if verdict.verdict == "defer" else "rejected"] += bool(made)
    return tuple(changes), counts, problems


def _keep_newest(newest: dict[str, Aside], found: Aside) -> None:
    hash_ = text_hash(found[1].text)
    if hash_ not in newest or newest[hash_][0] <= found[0]:
        newest[hash_] = found


def _read(reader: RecordReader, resource: Callable[[str], str], now: datetime) -> Aside | None:
    text = reader.text("text").strip()
    verdict = reader.record.get("verdict")
    if not text:
        reader.refuse("text", "found no text")
        return None
    if verdict not in ("defer", "reject"):
        reader.refuse("verdict", f"found the verdict {verdict!r}, expected defer or reject")
        return None
    scores = _scores(reader)
    id_ = str(reader.record.get("candidate_id") or text_hash(text))
    candidate = Candidate(
        candidate_id=id_,
        text=text,
        sources=_sources(reader, resource),
        type_hint=reader.text("type_hint") or "fact",
    )
    judged = Verdict(
        candidate_id=id_,
        scores=scores,
        strength=scores.strength,
        verdict=verdict,
        rationale=reader.text("rationale"),
    )
    return reader.time("timestamp_utc", "timestamp") or now, candidate, judged


def _scores(reader: RecordReader) -> PromotionScores:
    given = reader.record.get("scores")
    scores: Mapping[str, object] = given if isinstance(given, dict) else {}
    values: dict[str, float] = {}
    for key in _SCORES:
        part = scores.get(key)
        good = type(part) in (int, float) and 0 <= float(part) <= 1  # type: ignore[arg-type]
        if not good:
            reader.note("scores", f"found no number from 0 to 1 at {key}, taken for 0")
        values[key] = float(part) if good else 0.0  # type: ignore[arg-type]
    return PromotionScores(**values)


def _sources(reader: RecordReader, resource: Callable[[str], str]) -> tuple[Source, ...]:
    found = []
    for entry in mappings(reader.record.get("source_refs")):
        name, span = entry.get("source"), entry.get("line_span")
        if not isinstance(name, str) or not name or "\n" in name:
            reader.note("source_refs", f"found the source {str(name)[:40]!r}, expected a path")
            continue
        good = isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span)
        lines = (span[0], span[1]) if good and span and 0 <= span[0] <= span[1] else (0, 0)
        found.append(
            Source(resource=resource(name), lines=lines, captured=_day(entry.get("captured_at")))
        )
    return tuple(found)


def _day(value: object) -> str:
    try:
        parse_time(str(value))
    except ValueError:
        return ""
    return str(value).strip()[:10]  # the day there, whatever the offset


class Work(msgspec.Struct):
    """Memories under construction, and which claim of theirs is which memory of ours."""

    state: State
    fresh: dict[str, Memory] = msgspec.field(default_factory=dict)
    drafts: list[Draft] = msgspec.field(default_factory=list)
    ids: dict[str, str] = msgspec.field(default_factory=dict)
    edits: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    judgements: dict[str, list[dict[str, Any]]] = msgspec.field(default_factory=dict)
    paths: set[str] = msgspec.field(default_factory=set)
    by_claim: dict[str, str] = msgspec.field(default_factory=dict)
    by_text: dict[str, str] = msgspec.field(default_factory=dict)
    known: int = 0
    barred: int = 0

    def __post_init__(self) -> None:
        for memory in sorted(self.state.memories.values(), key=lambda m: m.path):
            if memory.text("claim_id"):
                self.by_claim[memory.text("claim_id")] = memory.id
            if not memory.is_note and len(memory.body) >= SHORT:
                for hash_ in (text_hash(memory.body), *memory.texts("aliases")):
                    self.by_text.setdefault(hash_, memory.id)

    def take(self, draft: Draft, problems: list[Problem]) -> None:
        """Make a memory of a claim, unless one says the same already."""
        if draft.key in self.ids:
            problems.append(_same(draft, f"the claim {draft.key} stands here twice"))
            return
        id_ = self._held(draft)
        if id_:
            self.known += 1
            self.ids[draft.key] = id_
            self.drafts.append(replace(draft, id=id_))
            own = draft.fields.get("claim_id")
            if own and not self.state.memories[id_].text("claim_id") and own not in self.by_claim:
                self.edits.setdefault(id_, {})["claim_id"] = own
                self.by_claim[own] = id_
            return
        if draft.id in self.fresh:
            self._unite(draft, problems)
            return
        whole = self._memory(draft)
        memory, problem = screened(self.state, whole, draft.key, lineage.CLAIMS, draft.line)
        problems += filter(None, (problem,))
        if memory is None:
            self.barred += 1
            return
        if why := storable(memory):
            problems.append(
                Problem(
                    path=lineage.CLAIMS,
                    line=draft.line,
                    column=1,
                    rule="import-record",
                    message=f"{why}: the record is not taken in",
                    fix="mend it and import again",
                )
            )
            return
        self.fresh[draft.id] = memory
        self.paths.add(memory.path)
        self.ids[draft.key] = draft.id
        self.drafts.append(draft)
        self.judgements[draft.id] = [dict(draft.judgement)]

    def _held(self, draft: Draft) -> str:
        """Return the memory of the state that a claim is, by claim id, id or text."""
        for id_ in (
            self.by_claim.get(draft.key),
            draft.id,
            self.by_text.get(text_hash(draft.text)),
        ):
            if id_ and id_ in self.state.memories:
                return id_
        return ""

    def _unite(self, draft: Draft, problems: list[Problem]) -> None:
        """Unite two claims that say the same under two homes: one memory, all evidence."""
        old = self.fresh[draft.id]
        sources = unite(old.sources, draft.fields.get("sources", ()))
        self.fresh[draft.id] = old.with_fields({"sources": sources})
        self.ids[draft.key] = draft.id
        self.drafts.append(draft)
        said = f"the claim {draft.key} says what {old.text('claim_id')} says: they are one memory"
        problems.append(_same(draft, said))

    def _memory(self, draft: Draft) -> Memory:
        fields = {key: value for key, value in draft.fields.items() if value is not None}
        dated = [s.captured[:10] for s in fields.get("sources", ()) if s.captured]
        path = self.state.layout.memory(
            id_=draft.id, type_=fields["type"], text=draft.text, captured=max(dated, default="")
        )
        memory = Memory(path=path, fields=fields, body=draft.text)
        return replace(memory, path=free_path(self.state, self.paths, memory))

    def link(self, records: Iterable[Line], problems: list[Problem]) -> None:
        """Link supersessions, contradictions and duplicates both ways."""
        for draft in self.drafts:
            self._supersede(draft, problems)
            self._contradict(draft, problems)
            twin = draft.record.get("duplicateTargetClaimId")
            if draft.judgement.get("disposition") == "probable_duplicate" and twin is not None:
                self._duplicate(draft, twin, problems)
        for line in records:
            pair = [self._id(line.record.get(key)) for key in ("claimId", "competingClaimId")]
            if all(pair):
                self._against(pair[0], pair[1])

    def _id(self, key: object) -> str:
        """Return the memory that a claim id names: of this import, or of an earlier one."""
        if not isinstance(key, str):
            return ""
        return self.ids.get(key) or self.by_claim.get(key, "")

    def _value(self, id_: str, key: str, default: Any) -> Any:
        if id_ in self.fresh:
            return self.fresh[id_].fields.get(key, default)
        held = self.state.memories[id_].fields.get(key, default)
        return self.edits.get(id_, {}).get(key, held)

    def _add(self, id_: str, key: str, value: object) -> None:
        old = self._value(id_, key, ())
        if value in old:
            return
        if id_ in self.fresh:
            self.fresh[id_] = self.fresh[id_].with_fields({key: (*old, value)})
        else:
            self.edits.setdefault(id_, {})[key] = (*old, value)

    def _supersede(self, draft: Draft, problems: list[Problem]) -> None:
        for key, ours, theirs in (
            ("supersedes", "supersedes", "superseded_by"),
            ("supersededBy", "superseded_by", "supersedes"),
        ):
            for other in texts(draft.record.get(key)):
                id_ = self._id(other)
                if not id_ or id_ == draft.id:
                    problems.append(_reference(draft, key, f"{other} is not among the claims"))
                    continue
                old = id_ if key == "supersedes" else draft.id
                if self._value(old, "status", "active") != "superseded":
                    said = f"{other} and this claim are linked, but nothing is superseded"
                    problems.append(_reference(draft, key, said))
                    continue
                self._add(draft.id, ours, id_)
                self._add(id_, theirs, draft.id)

    def _contradict(self, draft: Draft, problems: list[Problem]) -> None:
        for entry in mappings(draft.record.get("contradictions")):
            other = self._id(entry.get("competingClaimId")) or self._by_text(entry)
            relation = str(entry.get("relation"))
            if other and other != draft.id:
                self._against(draft.id, other)
                self._note(draft.id, "relations", {other: relation})
                continue
            said = str(entry.get("competingText"))[:200]
            self._note(draft.id, "competing", {said: relation})
            why = f"the competing claim {entry.get('competingClaimId')} is not among the claims"
            problems.append(_reference(draft, "contradictions", why))

    def _by_text(self, entry: Mapping[str, object]) -> str:
        hash_ = text_hash(str(entry.get("competingText") or ""))
        found = (d.id for d in self.drafts if text_hash(d.text) == hash_)
        return next(found, "")

    def _note(self, id_: str, key: str, more: Mapping[str, str]) -> None:
        """Keep with the judgement what has no field in a memory."""
        if id_ in self.judgements:
            entry = self.judgements[id_][0]
            entry[key] = {**entry.get(key, {}), **more}

    def _against(self, one: str, other: str) -> None:
        for id_, target in ((one, other), (other, one)):
            old = self._value(id_, "links", ())
            if id_ != target and not any(
                k.target == target and k.type == "contradicts" for k in old
            ):
                self._add(id_, "links", Link(target=target, type="contradicts"))

    def _duplicate(self, draft: Draft, twin: object, problems: list[Problem]) -> None:
        id_ = self._id(twin)
        if not id_ or id_ == draft.id:
            said = f"{twin} is not among the claims"
            problems.append(_reference(draft, "duplicateTargetClaimId", said))
        elif draft.id in self.fresh:
            self.fresh[draft.id] = self.fresh[draft.id].with_fields({"duplicate_of": id_})

    def promoted(self) -> frozenset[str]:
        """Return the text hashes of everything that is a memory now."""
        known = [*self.state.memories.values(), *self.fresh.values()]
        told = {text_hash(memory.body) for memory in known}
        return frozenset(told | {s.text_hash for m in known for s in m.sources if s.text_hash})

    def changes(self) -> tuple[Change, ...]:
        """Return the memories to create, and links that known ones get."""
        creates = [Create(memory=memory) for _, memory in sorted(self.fresh.items())]
        updates = [Update(id=id_, fields=fields) for id_, fields in sorted(self.edits.items())]
        return (*creates, *updates)


def _same(draft: Draft, said: str) -> Problem:
    return Problem(
        path=lineage.CLAIMS,
        line=draft.line,
        column=1,
        rule="import-same",
        key="id",
        message=said,
        fix="nothing needs to be done",
        severity="warning",
    )


def _reference(draft: Draft, key: str, said: str) -> Problem:
    return Problem(
        path=lineage.CLAIMS,
        line=draft.line,
        column=1,
        rule="import-reference",
        key=key,
        message=f"{said}: the link is left out",
        severity="warning",
        fix="link the memories by hand (`memrepo link`), if it matters",
    )


READ = (
    lineage.CLAIMS,
    lineage.CONTRADICTIONS,
    lineage.MANIFEST,
    lineage.DEFERRED,
    lineage.REJECTED,
)
"""The files that an import reads; entities, routes and summary follow from them."""
_PRODUCER = "memory-purifier"


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What an import is given: files by name, sources as they are now with their blob ids."""

    files: Mapping[str, bytes]
    sources: Mapping[str, bytes]
    blobs: Mapping[str, str]
    profile: Profile
    now: datetime


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """Changes for one commit, judgements by memory id, counts, and every finding."""

    changes: tuple[Change, ...] = ()
    files: tuple[Write | Delete, ...] = ()
    judgements: Mapping[str, Any] = msgspec.field(default_factory=dict)
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def import_artifacts(state: State, offer: Offer) -> Imported:
    """Return what an import would change; importing the same files again changes nothing."""
    problems: list[Problem] = []
    lines = {
        name: _lines(offer.files, name, problems)
        for name in (lineage.CLAIMS, lineage.CONTRADICTIONS, lineage.DEFERRED, lineage.REJECTED)
    }
    page = _manifest(offer.files, problems)
    how = _reading(state.layout, offer, page)
    work = Work(state=state)
    for line in lines[lineage.CLAIMS]:
        draft, found = read_claim(line, how)
        problems += found
        if draft is not None:
            work.take(draft, problems)
    work.link(lines[lineage.CONTRADICTIONS], problems)
    logs = {name: lines[name] for name in (lineage.DEFERRED, lineage.REJECTED)}
    files, counts, found = import_candidates(state, logs, work.promoted(), how.resource, offer.now)
    return Imported(
        changes=work.changes(),
        files=files,
        judgements=work.judgements,
        counts={
            "memories_new": len(work.fresh),
            "memories_known": work.known,
            **({"barred": work.barred} if work.barred else {}),
            "unreadable": sum(p.severity == "error" for p in (*problems, *found)),
            **counts,
        },
        problems=(*problems, *found),
    )


def _lines(files: Mapping[str, bytes], name: str, problems: list[Problem]) -> list[Line]:
    found, bad = read_lines(name, files.get(name, b""), "import-line")
    problems += bad
    return found


def _manifest(files: Mapping[str, bytes], problems: list[Problem]) -> Mapping[str, object]:
    if lineage.MANIFEST not in files:
        return {}
    page = read_object(files[lineage.MANIFEST])
    if isinstance(page, str):
        problems.append(
            Problem(
                path=lineage.MANIFEST,
                rule="import-manifest",
                severity="warning",
                message=f"found {page}, expected one JSON object: claims are taken in without it",
            )
        )
        return {}
    return page


def _reading(layout: Layout, offer: Offer, page: Mapping[str, object]) -> Reading:
    inventory = {
        str(entry.get("path")): str(entry.get("content_hash"))
        for entry in mappings(page.get("sourceInventory"))
    }
    evidence = Evidence(sources=offer.sources, blobs=offer.blobs, inventory=inventory)
    return Reading(
        path=lineage.CLAIMS,
        now=offer.now,
        profile=offer.profile,
        producer=_producer(page),
        resource=lambda name: _resource(layout, name),
        locate=evidence.locate,
    )


def _resource(layout: Layout, name: str) -> str:
    """Return a source's path here; a URL or a memory's own file stays what it is."""
    foreign = "://" in name or name.startswith(("memories/", layout.area("memories")))
    return name if foreign else layout.source(name)


def _producer(page: Mapping[str, object]) -> str:
    """Return who made the claims, as an actor; our own exports name themselves."""
    version = str(page.get("packageVersion") or page.get("version") or "unknown")
    ours = version.partition("+memrepo.")[2]
    name, version = ("memrepo", ours) if ours else (_PRODUCER, version)
    plain = "".join(ch for ch in version if not ch.isspace() and ch not in "/:")[:100]
    return f"{name}/{plain or 'unknown'}"
