"""Names and formulas used in memory-purifier's files, and the mapping of its statuses.

memrepo splits the status into `status` and `standing`. The lineage is memory-purifier 1.7, artifact
schema 1. Docs: docs/migrating.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from memrepo.core.memory import Memory

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
PROFILES = ("business", "personal", "shared")
RELATIONS = ("contested", "stale", "superseded")

_AXES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **{status: ("active", status) for status in CLAIM_STATUSES},
        "superseded": ("superseded", "resolved"),
    }
)


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


def axes_of(status: str) -> tuple[str, str]:
    """Return (status, standing) for a memory-purifier status. Raises KeyError if unknown."""
    return _AXES[status]


def lineage_id(*, subject: str, predicate: str, text: str, home: str) -> str:
    """Return the claim id `cl-<16 hex>`: the SHA-256 of the four strings joined by "|"."""
    return f"cl-{_sha(f'{subject}|{predicate}|{text}|{home}')[:16]}"


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
