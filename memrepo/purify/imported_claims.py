"""One record of a purifier workspace as a memory of ours: fields, judgement, evidence, oddities.

Where an imported claim stands in the sources as they are now: unit by unit, never guessed.

A claim that rests on a unit's very text is met again by the next run and grows no twin; a wrong
match would hide an edit. So a reworded claim is matched by its lines only in a file that is byte
for byte the one the purifier read last, and only where its lines hold one unit with its words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from memrepo.core.codec import normal_body
from memrepo.core.ids import as_tag, claim_id, text_hash
from memrepo.core.jsonl import Line, mappings
from memrepo.core.judge import Profile, Scores
from memrepo.core.memory import CLAIM_TYPES, HOMES, Retired, Source, Stamp
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.schema import BY_NAME
from memrepo.core.secrets import redact
from memrepo.core.times import parse_time
from memrepo.policies.matching import tokens
from memrepo.purify import lineage
from memrepo.purify.lineage import content_hash
from memrepo.purify.routes import affinity, permitted, recast, route
from memrepo.read.thoughts import Unit, scan

Locate = Callable[[str, tuple[int, int], str, bool], "Place"]
"""From source name, lines, claim text and whether it is in force to where that stands now."""
CLAIM_ID = regex(r"cl-[0-9a-f]{16}")
_KINDS = ("direct", "inferred", "merged")
_NAME_LIMIT = 200


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a claim's text stands now: lines, and blob id and text hash where it was found."""

    lines: tuple[int, int]
    blob: str = ""
    text_hash: str = ""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A claim read from a record: where it stood, its id there, and what it becomes here."""

    line: int
    key: str
    id: str
    text: str
    fields: Mapping[str, Any]
    judgement: Mapping[str, Any]
    record: Mapping[str, Any]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What every record is read with."""

    path: str
    now: datetime
    profile: Profile
    producer: str
    resource: Callable[[str], str]
    locate: Locate


class RecordReader(msgspec.Struct):
    """Reads values of one record; what cannot be used is a finding and never stops the rest."""

    path: str
    line: int
    record: Mapping[str, Any]
    problems: list[Problem] = msgspec.field(default_factory=list)

    def note(self, key: str, said: str, rule: str = "import-field") -> None:
        """Note a finding about one field: the record is taken in without it."""
        self.problems.append(
            Problem(
                path=self.path,
                line=self.line,
                column=1,
                rule=rule,
                key=key,
                message=said,
                fix="set it on the memory by hand, if it matters",
                severity="warning",
            )
        )

    def refuse(self, key: str, said: str) -> None:
        """Note why the record as a whole is not taken in."""
        self.problems.append(
            Problem(
                path=self.path,
                line=self.line,
                column=1,
                rule="import-record",
                key=key,
                message=f"{said}: the record is not taken in",
                fix="mend the record and import again",
            )
        )

    def text(self, key: str) -> str:
        """Return a text without secrets; null is an empty one."""
        value = self.record.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.note(key, f"found a {type(value).__name__}, expected a text")
            return ""
        clean, secrets = redact(value)
        if secrets:
            kinds = ", ".join(sorted({s.kind for s in secrets}))
            self.note(
                key, f"found a secret ({kinds}): a placeholder stands for it", "import-secret"
            )
        return clean

    def time(self, *keys: str) -> datetime | None:
        """Return the first of several fields that is a time."""
        for key in keys:
            value = self.record.get(key)
            if isinstance(value, str):
                try:
                    return parse_time(value)
                except ValueError:
                    self.note(key, f"found {value[:40]!r}, expected a time")
        return None


def read_claim(line: Line, how: Reading) -> tuple[Draft | None, list[Problem]]:
    """Read one claim record; None where it has no text or no known type."""
    reader = RecordReader(how.path, line.number, line.record)
    text = normal_body(reader.text("text"))
    type_ = line.record.get("type")
    if not text:
        reader.refuse("text", "found no text")
    if not isinstance(type_, str) or type_ not in CLAIM_TYPES:
        reader.refuse("type", f"found the type {type_!r}")
    if not text or not isinstance(type_, str) or type_ not in CLAIM_TYPES:
        return None, reader.problems
    spoken = {key: reader.text(key) for key in ("subject", "predicate", "object")}
    id_ = claim_id(
        scope="",
        subject=spoken["subject"],
        predicate=spoken["predicate"],
        object_=spoken["object"],
        text=text,
    )
    type_, home = _route(reader, type_, how.profile)
    fields = {
        "id": id_,
        "type": type_,
        **spoken,
        **_axes(reader),
        "home": home,
        "tags": _tags(reader),
        "created": how.now,
        "generated": _stamp(reader, how),
        "sources": _sources(reader, text, how),
        "claim_id": _own_id(reader),
        "retired": _retired(reader, how),
        "origin": "import",
    }
    key = line.record.get("id")
    draft = Draft(
        line=line.number,
        key=key if isinstance(key, str) else "",
        id=id_,
        text=text,
        fields=_sparse(fields),
        judgement=_judgement(reader),
        record=line.record,
    )
    return draft, reader.problems


def _sparse(fields: Mapping[str, object]) -> dict[str, object]:
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", ()) and value != BY_NAME[name].default
    }


def _axes(reader: RecordReader) -> dict[str, object]:
    word = reader.record.get("status")
    if not isinstance(word, str) or word not in lineage.CLAIM_STATUSES:
        reader.note("status", f"found the status {word!r}, taken for unresolved")
        word = "unresolved"
    status, standing = lineage.axes_of(word)
    axes: dict[str, object] = {"status": status, "standing": standing}
    if status == "superseded":
        axes["superseded_at"] = reader.time("updatedAt_utc", "updatedAt")
    return axes


def _route(reader: RecordReader, type_: str, profile: Profile) -> tuple[str, str]:
    home = reader.record.get("primaryHome")
    known = isinstance(home, str) and home in HOMES and permitted(home, profile)
    if known and affinity(type_, str(home)) != "impossible":
        return type_, str(home)
    other = recast(type_, profile), route(type_, profile)
    reader.note("primaryHome", f"found {home!r} for a {type_}, taken in as {other[0]}, {other[1]}")
    return other


def _tags(reader: RecordReader) -> tuple[str, ...]:
    value = reader.record.get("secondaryTags")
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    good = [tag for tag in items if isinstance(tag, str) and 0 < len(tag) <= _NAME_LIMIT]
    if len(good) < len(items):
        reader.note("secondaryTags", f"found {len(items) - len(good)} tags that are no short text")
    return tuple(filter(None, dict.fromkeys(map(as_tag, good))))


def _stamp(reader: RecordReader, how: Reading) -> Stamp:
    at = reader.time("updatedAt_utc", "updatedAt")
    return Stamp(by=how.producer, at=at or how.now)


def _own_id(reader: RecordReader) -> str:
    value = reader.record.get("id")
    if isinstance(value, str) and CLAIM_ID.fullmatch(value):
        return value
    reader.note("id", f"found the id {str(value)[:40]!r}, expected cl-<16 hex>")
    return ""


def _sources(reader: RecordReader, text: str, how: Reading) -> tuple[Source, ...]:
    entries = mappings(reader.record.get("provenance"))
    if not entries:
        reader.note("provenance", "found no provenance")
    in_force = reader.record.get("status") != "superseded"
    found = (_source(reader, entry, text, in_force, how) for entry in entries)
    return tuple(dict.fromkeys(source for source in found if source is not None))


def _source(
    reader: RecordReader, entry: Mapping[str, object], text: str, in_force: bool, how: Reading
) -> Source | None:
    name = entry.get("source")
    if not isinstance(name, str) or not name or len(name) > 1000 or "\n" in name:
        reader.note("provenance", f"found the source {str(name)[:40]!r}, expected a path")
        return None
    lines = _lines(reader, entry.get("lineSpan"))
    kind = entry.get("type")
    if kind not in _KINDS:
        reader.note("provenance", f"found the kind {kind!r}, taken for inferred")
        kind = "inferred"
    place = how.locate(name, lines, text, in_force)
    return Source(
        resource=how.resource(name),
        blob=place.blob,
        lines=place.lines,
        text_hash=place.text_hash,
        kind=str(kind),
        captured=_day(reader, entry.get("capturedAt")),
    )


def _lines(reader: RecordReader, span: object) -> tuple[int, int]:
    if span is None:
        return (0, 0)
    if isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span):
        first, last = span
        if 0 < first <= last < 10**9:
            return (first, last)
    reader.note("provenance", f"found the lines {str(span)[:40]}, expected [first, last]")
    return (0, 0)


def _day(reader: RecordReader, value: object) -> str:
    """Return the date of a capture; its time of day is that of a file, and means little."""
    if value is None:
        return ""
    try:
        parse_time(str(value))
    except ValueError:
        reader.note("provenance", f"found the capture time {str(value)[:40]!r}")
        return ""
    return str(value).strip()[:10]  # the day there, whatever the offset


def _scores(reader: RecordReader) -> dict[str, float]:
    value = reader.record.get("scores")
    if not isinstance(value, dict) or not value:
        return {}
    good = {
        key: float(part)
        for key, part in value.items()
        if key in Scores.__struct_fields__ and type(part) in (int, float) and 0 <= part <= 1
    }
    if len(good) < len(value):
        odd = ", ".join(sorted(str(key)[:40] for key in value.keys() - good.keys()))
        reader.note("scores", f"found no number from 0 to 1 at {odd}")
    return Scores(**good).told()


def _retired(reader: RecordReader, how: Reading) -> tuple[Retired, ...]:
    """Return one entry a removed source; the lineage lists them under one reason."""
    found: list[Retired] = []
    for entry in mappings(reader.record.get("retirementReasons")):
        run = str(entry.get("runId") or "unknown")[:_NAME_LIMIT]
        word = str(entry.get("reason") or "unknown")[:_NAME_LIMIT]
        word = "source_removed" if word == "all_sources_removed" else word
        removed = entry.get("removed_sources")
        names = [n for n in removed if isinstance(n, str)] if isinstance(removed, list) else []
        reasons = [f"{word}: {how.resource(name)}" for name in names] or [word]
        found += [Retired(run=run, reason=reason) for reason in reasons]
    return tuple(dict.fromkeys(found))


def _judgement(reader: RecordReader) -> dict[str, object]:
    """Return what a manifest holds of a memory: what has no place in its header."""
    return {
        "cluster": reader.text("sourceClusterId"),
        "disposition": reader.text("duplicateDisposition"),
        "reason": reader.text("duplicateReason"),
        "rationale": reader.text("rationale"),
        "route": reader.text("routeRationale"),
        "freshness": reader.text("freshnessPosture"),
        "confidence": reader.text("confidencePosture"),
        "run": reader.text("updatedInRunId"),
        "scores": _scores(reader),
        "verdicts": [],
    }


SHARED_WORDS = 0.5
"""Of the shorter text's words, this share must stand in the other."""


class Evidence(msgspec.Struct):
    """Sources by name with their blob ids, and the content hashes the purifier recorded."""

    sources: Mapping[str, bytes]
    blobs: Mapping[str, str]
    inventory: Mapping[str, str]
    _units: dict[str, tuple[Unit, ...]] = msgspec.field(default_factory=dict)

    def locate(self, name: str, lines: tuple[int, int], text: str, in_force: bool) -> Place:
        """Return the unit that a claim rests on, or only the lines that were recorded."""
        units, hash_ = self._read(name), text_hash(text)
        within = [u for u in units if u.lines[0] <= lines[1] and lines[0] <= u.lines[1]]
        for unit in (*within, *units):
            if unit.text_hash == hash_:
                at = lines if unit in within else unit.lines
                return Place(lines=at, blob=self.blobs.get(name, ""), text_hash=hash_)
        if in_force and len(within) == 1 and self._unchanged(name):
            (unit,) = within
            if _share_words(unit.text, text):
                return Place(lines=lines, blob=self.blobs.get(name, ""), text_hash=unit.text_hash)
        return Place(lines=lines)

    def _read(self, name: str) -> tuple[Unit, ...]:
        if name not in self._units:
            self._units[name] = scan(name, self.sources[name]).units if name in self.sources else ()
        return self._units[name]

    def _unchanged(self, name: str) -> bool:
        return name in self.sources and self.inventory.get(name) == content_hash(self.sources[name])


def _share_words(one: str, other: str) -> bool:
    left, right = tokens(one), tokens(other)
    shorter = min(len(left), len(right))
    return bool(shorter) and len(left & right) >= SHARED_WORDS * shorter
