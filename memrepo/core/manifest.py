"""The manifest of a run: what it consumed, what it counted, and why each memory was judged so.

Manifests are the cursor: what is consumed at a commit is the fold of the manifests in its tree.
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
"""Raised when equal input may be judged or assembled otherwise: then all is judged once more."""
CARRIED: tuple[Op, ...] = ("retire", "supersede")
"""Operations that wait on record, from run to run."""
_RUN = regex(r"(\d{8}T\d{6}Z)-[0-9a-f]{8}(?:-import)?", re.ASCII)
_BLOB = regex(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")


class Consumed(msgspec.Struct, frozen=True, kw_only=True):
    """One source that a run took in: from the blob seen before (or empty) to this one.

    `except_` holds the unit hashes that were not taken in: held for review, or not judged.
    `also` holds those that earlier runs had left open and this one took in.
    """

    resource: str
    to: str
    from_: str = ""
    except_: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "resource": self.resource,
            "from": self.from_,
            "to": self.to,
            "except": list(self.except_),
            "also": list(self.also),
        }


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that waits: what it does to which memories, its reason, and why it waits.

    Of a supersession the replaced memory comes first.
    """

    op: Op
    memories: tuple[str, ...]
    reason: str = ""
    why: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the manifest's form."""
        return {
            "op": self.op,
            "memories": list(self.memories),
            "reason": self.reason,
            "why": self.why,
        }


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What judging cost, by which prompts (a hash), and why it is not whole, if it is not.

    `compared` holds the prints of pairs of memories that a model compared and let stand. `comparer`
    is the print of who compared the memories, where no pair was left.
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
        """Return the receipt in one line for a commit; empty when nothing was spent."""
        used = self.usage
        if not used.calls:
            return ""
        cost = "price unknown" if used.cost_usd is None else f"{used.cost_usd:.4f} USD"
        calls = f"{used.calls} call{'s' if used.calls > 1 else ''}"
        return f"{cost}, {used.total} tokens ({used.source}), {calls}"

    def as_json(self) -> dict[str, object]:
        """Return the manifest's keys."""
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
    """What Pass 1 said of one candidate."""

    candidate: str
    verdict: str
    strength: float
    rationale: str


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement of a memory that has no place in its header: one a cluster."""

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
    """What one run left behind, without durations: equal runs write equal bytes."""

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
    """What the run took away but for a person's word: it waits."""
    decided: tuple[Removal, ...] = ()
    """What had waited before and is decided by what this manifest stands for."""

    def to_bytes(self) -> bytes:
        """Format as JSON with sorted keys and a final newline."""
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
    """What later runs need of a manifest in the tree."""

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
    """The commit that it was computed on; empty where it names none."""
    comparer: str = ""
    held: tuple[Removal, ...] = ()
    decided: tuple[Removal, ...] = ()
    offered: frozenset[str] = frozenset()
    """Fingerprints of what a person left out of the run: it waits when it is proposed again."""


def spent_in_month(now: datetime, recorded: Iterable[Recorded], zone: tzinfo) -> Usage:
    """Add up what the manifests of one calendar month in a zone say was spent."""
    return _spent(local_day(now, zone)[:7], recorded, zone)


def spent_in_day(now: datetime, recorded: Iterable[Recorded], zone: tzinfo) -> Usage:
    """Add up what the manifests of one calendar day in a zone say was spent."""
    return _spent(local_day(now, zone), recorded, zone)


def _spent(since: str, recorded: Iterable[Recorded], zone: tzinfo) -> Usage:
    return reduce(add, (m.usage for m in recorded if _day(m, zone).startswith(since)), Usage())


def _day(run: Recorded, zone: tzinfo) -> str:
    try:
        return local_day(parse_time(run.now), zone)
    except ValueError:  # a damaged manifest says no time
        return ""


def read_manifest(path: str, data: bytes) -> Recorded | Problem:
    """Read the cursor part of a manifest; of a damaged one the input is seen again."""
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
            fix="restore it from history (`git log -- <path>`): until then its input counts as new",
        )


def read_removal(found: Mapping[str, Any]) -> Removal:
    """Return a removal as a manifest holds it; raises ValueError where it is none."""
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
    """Return a run's id; raises ValueError, or OverflowError where no second comes after it."""
    found = _RUN.fullmatch(str(value))
    if found is None:
        raise ValueError(f"{value!r} is not the id of a run")
    # The next run's id is built on this time, which therefore has to be one.
    datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) + timedelta(seconds=1)
    return found[0]


def _blob(value: object) -> str:
    """Return a blob id, or an empty string for no version; raises ValueError."""
    if not isinstance(value, str) or not _BLOB.fullmatch(value):
        raise ValueError(f"{value!r} is not the id of a blob")
    return value


def _usage(record: Mapping[str, Any]) -> Usage:
    """Read what a run spent; budgets of a month add these up."""
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
    """Read every manifest of a tree, oldest run first."""
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
    """Return the removals that wait after some runs, oldest first; the last word on one counts."""
    found: dict[tuple[str, ...], Removal] = {}
    for manifest in manifests:
        for removal in manifest.held:
            found[removal.op, *removal.memories] = removal
        for decided in manifest.decided:
            found.pop((decided.op, *decided.memories), None)
    return tuple(found.values())
