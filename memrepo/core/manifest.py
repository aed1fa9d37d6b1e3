"""The manifest of a run: the sources read, the counts, and the judgement of each memory.

Manifests also record progress: the input read so far is the union of all manifests in a tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import reduce
from operator import add
from typing import Any

import msgspec
from msgspec.structs import asdict

from memrepo.core.changes import Op
from memrepo.core.judge import TOKEN_SOURCES, Usage
from memrepo.core.layout import Layout
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.times import local_day, parse_time

SCHEMA_VERSION = 1
LOGIC_VERSION = 1
"""Incremented if equal input may be judged or assembled differently. All input is then judged
again."""
CARRIED: tuple[Op, ...] = ("retire", "supersede")
"""Operations that stay pending in manifests from run to run."""
_RUN = regex(r"(\d{8}T\d{6}Z)-[0-9a-f]{8}(?:-import)?", re.ASCII)
_BLOB = regex(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")


class Consumed(msgspec.Struct, frozen=True, kw_only=True):
    """A source read by a run, with its blobs from the previous run (or empty) and from this run.

    `except_` contains hashes of units that were not processed: waiting for review, or not judged.
    `also` contains hashes of units left open by earlier runs and processed by this one.
    """

    resource: str
    to: str
    from_: str = ""
    except_: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the record as a JSON mapping."""
        return {
            "resource": self.resource,
            "from": self.from_,
            "to": self.to,
            "except": list(self.except_),
            "also": list(self.also),
        }


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """A decision pending review: the operation, its memories, its reason, and why it is pending.

    For a supersession, the replaced memory comes first.
    """

    op: Op
    memories: tuple[str, ...]
    reason: str = ""
    why: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the removal as a JSON mapping for a manifest."""
        return {
            "op": self.op,
            "memories": list(self.memories),
            "reason": self.reason,
            "why": self.why,
        }


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of judging, the hash of the prompts, and the reason if judging is incomplete.

    `compared` contains fingerprints of pairs that a model compared without finding a contradiction.
    `comparer` is the fingerprint of the comparing judge if no pair was left.
    """

    usage: Usage = msgspec.field(default_factory=Usage)
    prompt_hash: str = ""
    batches_done: int = 0
    batches_left: int = 0
    partial: str = ""
    compared: frozenset[str] = frozenset()
    comparer: str = ""

    @property
    def trailer(self) -> str:
        """Return the cost as one line for a commit message, or an empty string if it is zero."""
        used = self.usage
        if not used.calls:
            return ""
        cost = "price unknown" if used.cost_usd is None else f"{used.cost_usd:.4f} USD"
        calls = f"{used.calls} call{'s' if used.calls > 1 else ''}"
        return f"{cost}, {used.total} tokens ({used.source}), {calls}"

    def as_json(self) -> dict[str, object]:
        """Return the receipt as manifest keys and their values."""
        return {
            "tokens": self.usage.tokens(),
            "cost_usd": self.usage.cost_usd,
            "calls": self.usage.calls,
            "prompt_hash": self.prompt_hash,
            "batches": {"done": self.batches_done, "left": self.batches_left},
            "partial": self.partial,
            **({"compared": sorted(self.compared)} if self.compared else {}),
            **({"comparer": self.comparer} if self.comparer else {}),
        }


class JudgedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of Pass 1 about one candidate."""

    candidate: str
    verdict: str
    strength: float
    rationale: str


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement of one cluster, stored here because memory headers have no field for it."""

    cluster: str
    disposition: str
    reason: str
    rationale: str
    route: str
    freshness: str
    confidence: str
    scores: Mapping[str, float]
    verdicts: tuple[JudgedCandidate, ...]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one run. It contains no durations, so identical runs write identical bytes."""

    run: str
    mode: str
    judge: str
    profile: str
    base: str
    now: str
    package: str
    consumed: tuple[Consumed, ...] = ()
    refused: tuple[str, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    judgements: Mapping[str, Any] = msgspec.field(default_factory=dict)
    warnings: tuple[Mapping[str, Any], ...] = ()
    quarantined: tuple[Mapping[str, str], ...] = ()
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    held: tuple[Removal, ...] = ()
    """Removals that wait for a person's decision."""
    decided: tuple[Removal, ...] = ()
    """Formerly pending removals that this run, or the command that wrote the manifest, decided."""

    def to_bytes(self) -> bytes:
        """Format the manifest as JSON with sorted keys and a trailing newline."""
        record = {
            "schema_version": SCHEMA_VERSION,
            "logic_version": LOGIC_VERSION,
            "package_version": self.package,
            "run": self.run,
            "mode": self.mode,
            "judge": self.judge,
            "profile": self.profile,
            "base": self.base,
            "now": self.now,
            "consumed": [c.as_json() for c in self.consumed],
            "refused": list(self.refused),
            "counts": dict(self.counts),
            "judgements": dict(self.judgements),
            "warnings": list(self.warnings),
            "quarantined": list(self.quarantined),
            **({"held": [r.as_json() for r in self.held]} if self.held else {}),
            **({"decided": [r.as_json() for r in self.decided]} if self.decided else {}),
            **self.receipt.as_json(),
        }
        text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True, default=asdict)
        return f"{text}\n".encode()


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a committed manifest used by later runs."""

    run: str
    consumed: tuple[Consumed, ...]
    refused: frozenset[str]
    logic: int = 0
    schema: int = 0
    now: str = ""
    usage: Usage = msgspec.field(default_factory=Usage)
    partial: str = ""
    compared: frozenset[str] = frozenset()
    base: str = ""
    """The commit that the run was computed on, or an empty string."""
    comparer: str = ""
    held: tuple[Removal, ...] = ()
    decided: tuple[Removal, ...] = ()
    offered: frozenset[str] = frozenset()
    """Fingerprints of changes that a person left out of the run. They wait for review if proposed
    again."""


def spent_in_month(now: datetime, recorded: Iterable[Recorded], zone: tzinfo) -> Usage:
    """Return the total usage in one calendar month of a time zone."""
    return _spent(local_day(now, zone)[:7], recorded, zone)


def spent_in_day(now: datetime, recorded: Iterable[Recorded], zone: tzinfo) -> Usage:
    """Return the total usage on one calendar day of a time zone."""
    return _spent(local_day(now, zone), recorded, zone)


def _spent(since: str, recorded: Iterable[Recorded], zone: tzinfo) -> Usage:
    return reduce(add, (m.usage for m in recorded if _day(m, zone).startswith(since)), Usage())


def _day(run: Recorded, zone: tzinfo) -> str:
    try:
        return local_day(parse_time(run.now), zone)
    except ValueError:  # a damaged manifest has no time
        return ""


def read_manifest(path: str, data: bytes) -> Recorded | Problem:
    """Decode the part of a manifest used by later runs.

    Return a Problem if the manifest is damaged. The input of that run will be read again.
    """
    try:
        record = json.loads(data)
        consumed = tuple(
            Consumed(
                resource=str(entry["resource"]),
                to=_blob(entry["to"]),
                from_=_blob(entry.get("from", "")),
                except_=tuple(map(str, entry.get("except", ()))),
                also=tuple(map(str, entry.get("also", ()))),
            )
            for entry in record["consumed"]
        )
        return Recorded(
            run=_run(record["run"]),
            consumed=consumed,
            refused=frozenset(record.get("refused", ())),
            logic=int(record.get("logic_version", 0)),
            schema=int(record.get("schema_version", 0)),
            now=str(record.get("now", "")),
            usage=_usage(record),
            partial=str(record.get("partial", "")),
            compared=frozenset(map(str, record.get("compared", ()))),
            base=base if _BLOB.fullmatch(base := str(record.get("base", ""))) else "",
            comparer=str(record.get("comparer", "")),
            held=tuple(map(read_removal, record.get("held", ()))),
            decided=tuple(map(read_removal, record.get("decided", ()))),
            offered=frozenset(map(str, record.get("offered", ()))),
        )
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        return Problem(
            path=path,
            rule="manifest-unreadable",
            message=f"found {type(error).__name__}: {error}, expected a run manifest",
            fix="restore it from history (`git log -- <path>`); until then, runs read its input"
            " again",
        )


def read_removal(found: Mapping[str, Any]) -> Removal:
    """Decode a removal from a manifest. Raise ValueError if its structure is invalid."""
    op, memories = found["op"], tuple(map(str, found["memories"]))
    if op not in CARRIED or len(memories) != (2 if op == "supersede" else 1):
        raise ValueError(f"{op!r} of {len(memories)} memories is no removal")
    return Removal(
        op=op,
        memories=memories,
        reason=str(found.get("reason", "")),
        why=str(found.get("why", "")),
    )


def _run(value: object) -> str:
    """Validate a run id and return it.

    Raise ValueError if the id is malformed, or OverflowError if no later second exists.
    """
    found = _RUN.fullmatch(str(value))
    if found is None:
        raise ValueError(f"{value!r} is not the id of a run")
    # The id of the next run is based on this time, so it must be valid.
    datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) + timedelta(seconds=1)
    return found[0]


def _blob(value: object) -> str:
    """Validate a blob id and return it. Raise ValueError if it is neither a hash nor empty."""
    if not isinstance(value, str) or not _BLOB.fullmatch(value):
        raise ValueError(f"{value!r} is not the id of a blob")
    return value


def _usage(record: Mapping[str, Any]) -> Usage:
    """Decode the usage of a run. Monthly budgets are computed from the sum of these values."""
    tokens = record.get("tokens", {})
    cost = record.get("cost_usd", 0.0)
    source = tokens.get("source", "unavailable")
    return Usage(
        prompt=int(tokens.get("prompt", 0)),
        completion=int(tokens.get("completion", 0)),
        source=source if source in TOKEN_SOURCES else "unavailable",
        cost_usd=None if cost is None else float(cost),
        calls=int(record.get("calls", 1 if tokens.get("total") else 0)),
    )


def read_manifests(
    files: Mapping[str, bytes], layout: Layout
) -> tuple[tuple[Recorded, ...], tuple[Problem, ...]]:
    """Decode all manifests of a tree. Return them, oldest run first, and the problems found."""
    area = layout.area("runs")
    found, problems = [], []
    for path in sorted(p for p in files if p.startswith(area) and p.endswith(".json")):
        match read_manifest(path, files[path]):
            case Recorded() as manifest:
                found.append(manifest)
            case Problem() as problem:
                problems.append(problem)
    return tuple(sorted(found, key=lambda m: m.run)), tuple(problems)


def open_removals(manifests: Iterable[Recorded]) -> tuple[Removal, ...]:
    """Return the removals that are still pending after the given runs, oldest first.

    The last manifest that mentions a removal decides.
    """
    found: dict[tuple[str, ...], Removal] = {}
    for manifest in manifests:
        for removal in manifest.held:
            found[removal.op, *removal.memories] = removal
        for decided in manifest.decided:
            found.pop((decided.op, *decided.memories), None)
    return tuple(found.values())
