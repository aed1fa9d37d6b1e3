"""memory-purifier's files: names and formulas, and the reader of its claims.

The lineage is memory-purifier 1.7, artifact schema 1. A claim in `runtime/purified-claims.jsonl`
refers to lines of a source in the workspace. The next run recognises a claim whose text is a unit
of the source. The same is true if the lines contain a single unit with enough of the claim's words,
and the source is unchanged since the purifier read it. Docs: docs/migrating.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import Problem
from memrepo.core.ids import text_hash
from memrepo.core.memory import CLAIM_TYPES, Memory, Retired, Source
from memrepo.core.patterns import regex
from memrepo.core.times import parse_time
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
