"""A purifier workspace's files as changes: claims become memories, linked as they were.

What cannot be read is a Problem that names its line, and never stops the rest. Docs:
docs/interchange.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from memrepo.core.changes import Change, Delete, Write
from memrepo.core.judging import Profile
from memrepo.core.layout import Layout
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.purify import lineage
from memrepo.purify.imported_candidates import import_candidates
from memrepo.purify.imported_claims import Reading, read_claim
from memrepo.purify.imported_evidence import Evidence
from memrepo.purify.imported_memories import Work
from memrepo.purify.records import Line, mappings, read_lines, read_object

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


def _manifest(files: Mapping[str, bytes], problems: list[Problem]) -> Mapping[str, Any]:
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


def _reading(layout: Layout, offer: Offer, page: Mapping[str, Any]) -> Reading:
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


def _producer(page: Mapping[str, Any]) -> str:
    """Return who made the claims, as an actor; our own exports name themselves."""
    version = str(page.get("packageVersion") or page.get("version") or "unknown")
    ours = version.partition("+memrepo.")[2]
    name, version = ("memrepo", ours) if ours else (_PRODUCER, version)
    plain = "".join(ch for ch in version if not ch.isspace() and ch not in "/:")[:100]
    return f"{name}/{plain or 'unknown'}"
