"""Validation of memory-purifier's files, from its contract; an error would block its publish.

Lineage: memory-purifier, validate_outputs. Deliberate differences: malformed types are findings,
never exceptions; the shape of a record is checked too, key by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from memrepo.checks.artifacts_claims import check_claims
from memrepo.core.memory import HOMES
from memrepo.core.problems import Problem
from memrepo.purify import lineage
from memrepo.purify.jsonl import Line, read_lines, read_object
from memrepo.purify.routes import PERSONAL_HOMES

MANIFEST_KEYS = (
    "version",
    "runId",
    "mode",
    "status",
    "profileScope",
    "startedAt",
    "finishedAt",
    "timezone",
    "sourceInventory",
    "processedSegments",
    "promotionStats",
    "claimStats",
    "warnings",
    "partialFailures",
    "lastSuccessfulCursor",
    "downstreamWikiIngestSuggested",
)
CONTRADICTION_KEYS = (
    "contradictionClusterId",
    "claimId",
    "competingClaimId",
    "competingText",
    "relation",
    "flaggedInRunId",
    "recordedAt",
    "recordedAt_utc",
    "timezone",
)


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """The claims of a file by id, for what other files say of them."""

    by_id: Mapping[str, Mapping[str, Any]]

    def active(self, home: str) -> list[str]:
        """Return the ids of a home's active claims."""
        return [
            id_
            for id_, claim in self.by_id.items()
            if claim.get("primaryHome") == home and claim.get("status") not in lineage.INACTIVE
        ]


def check_artifacts(
    files: Mapping[str, bytes], profile: str, views: Mapping[str, bytes] | None = None
) -> list[Problem]:
    """Return every finding in the files of one export, by name; `views` by name where known."""
    problems = [
        _problem(name, "artifact-missing", "is missing", "export it again")
        for name in lineage.ARTIFACTS
        if name not in files
    ]
    lines = _read(files, lineage.CLAIMS, problems)
    problems += check_claims(lines, profile)
    claimed = Claimed(by_id=_by_id(lines))
    problems += _contradictions(_read(files, lineage.CONTRADICTIONS, problems), claimed)
    problems += _manifest(files)
    problems += _entities(files, claimed)
    problems += _routes(files, claimed)
    problems += _views(views, claimed, profile) if views is not None else ()
    return problems


def has_errors(problems: Iterable[Problem]) -> bool:
    """Tell whether any finding is an error."""
    return any(p.severity == "error" for p in problems)


def _problem(path: str, rule: str, message: str, fix: str, **more: Any) -> Problem:
    return Problem(path=path, rule=rule, message=message, fix=fix, **more)


def _warning(path: str, rule: str, message: str, fix: str, **more: Any) -> Problem:
    return _problem(path, rule, message, fix, severity="warning", **more)


def _read(files: Mapping[str, bytes], name: str, problems: list[Problem]) -> list[Line]:
    lines, bad = read_lines(name, files.get(name, b""), "artifact-line")
    problems += bad
    return lines


def _by_id(lines: Iterable[Line]) -> dict[str, Mapping[str, object]]:
    found: dict[str, Mapping[str, object]] = {}
    for line in lines:
        id_ = line.record.get("id")
        if isinstance(id_, str) and id_:
            found.setdefault(id_, line.record)
    return found


def _object(
    files: Mapping[str, bytes], name: str, problems: list[Problem]
) -> Mapping[str, Any] | None:
    if name not in files:
        return None
    found = read_object(files[name])
    if isinstance(found, str):
        problems.append(
            _problem(name, "artifact-json", f"found {found}, expected one JSON object", "mend it")
        )
        return None
    return found


def _manifest(files: Mapping[str, bytes]) -> list[Problem]:
    problems: list[Problem] = []
    page = _object(files, lineage.MANIFEST, problems)
    if page is None:
        return problems
    problems += [
        _problem(
            lineage.MANIFEST, "published-key", f"found no {key}, expected it", "add it", key=key
        )
        for key in MANIFEST_KEYS
        if key not in page
    ]
    for key, words, rule in (
        ("status", lineage.RUN_STATUSES, "published-status"),
        ("profileScope", lineage.PROFILES, "published-profile"),
    ):
        value = page.get(key)
        if value is not None and value not in words:
            said = f"found {key} {value!r}, expected one of {', '.join(words)}"
            problems.append(_warning(lineage.MANIFEST, rule, said, "use a known word", key=key))
    return problems


def _contradictions(lines: Iterable[Line], claimed: Claimed) -> Iterator[Problem]:
    for line in lines:
        record, at = line.record, {"line": line.number, "column": 1}
        absent = [key for key in CONTRADICTION_KEYS if key not in record]
        if absent:
            said = f"found no {', '.join(absent)}, expected nine keys"
            yield _problem(lineage.CONTRADICTIONS, "contradiction-keys", said, "add them", **at)
        claim = claimed.by_id.get(str(record.get("claimId")))
        if claim is None:
            said = f"found the claim {record.get('claimId')!r}, which is not among the claims"
            yield _problem(lineage.CONTRADICTIONS, "contradiction-claim", said, "remove it", **at)
        elif claim.get("contradictionClusterId") != record.get("contradictionClusterId"):
            said = f"found a cluster id that {record.get('claimId')} does not have"
            yield _problem(
                lineage.CONTRADICTIONS, "contradiction-cluster", said, "use the claim's", **at
            )
        if record.get("relation") not in lineage.RELATIONS:
            said = f"found the relation {record.get('relation')!r}"
            yield _problem(
                lineage.CONTRADICTIONS,
                "contradiction-relation",
                said,
                f"use one of {', '.join(lineage.RELATIONS)}",
                **at,
            )


def _entities(files: Mapping[str, bytes], claimed: Claimed) -> list[Problem]:
    problems: list[Problem] = []
    page = _object(files, lineage.ENTITIES, problems) or {}
    for subject, entry in page.items():
        ids = entry.get("claimIds") if isinstance(entry, dict) else None
        if not isinstance(ids, list) or not isinstance(entry.get("aliases"), list):
            said = f"found {subject!r} without a list of aliases and one of claimIds"
            problems.append(
                _problem(lineage.ENTITIES, "entity-shape", said, "add them", key=subject)
            )
            continue
        unknown = [i for i in ids if not isinstance(i, str) or i not in claimed.by_id]
        if unknown:
            said = f"found {unknown[0]!r} under {subject!r}, which is not among the claims"
            problems.append(
                _problem(lineage.ENTITIES, "entity-claim", said, "remove it", key=subject)
            )
    return problems


def _routes(files: Mapping[str, bytes], claimed: Claimed) -> list[Problem]:
    problems: list[Problem] = []
    page = _object(files, lineage.ROUTES, problems)
    if page is None:
        return problems
    problems += [
        _warning(lineage.ROUTES, "route-key", f"found no key {home}", "add it", key=home)
        for home in HOMES
        if home not in page
    ]
    for home, ids in page.items():
        if not isinstance(ids, list):
            said = f"found a {type(ids).__name__} at {home}, expected a list"
            problems.append(_problem(lineage.ROUTES, "route-list", said, "write a list", key=home))
            continue
        problems += (p for id_ in ids for p in _routed(home, id_, claimed))
    return problems


def _routed(home: str, id_: object, claimed: Claimed) -> Iterator[Problem]:
    claim = claimed.by_id.get(id_) if isinstance(id_, str) else None
    if claim is None:
        said = f"found {id_!r} at {home}, which is not among the claims"
        yield _problem(lineage.ROUTES, "route-claim", said, "remove it", key=home)
        return
    if claim.get("primaryHome") != home:
        said = f"found {id_} at {home}, whose primaryHome is {claim.get('primaryHome')!r}"
        yield _problem(lineage.ROUTES, "route-home", said, "move it to its home", key=home)
    if claim.get("status") in lineage.INACTIVE:
        said = f"found {id_} at {home}, which is {claim.get('status')}"
        yield _problem(lineage.ROUTES, "route-inactive", said, "remove it", key=home)


def _views(views: Mapping[str, bytes], claimed: Claimed, profile: str) -> Iterator[Problem]:
    for name in HOMES:
        personal = name in PERSONAL_HOMES
        if personal and profile != "personal":
            if name in views:
                yield _warning(
                    name, "view-personal", "found a personal view on another profile", "remove it"
                )
        elif name not in views:
            yield _warning(name, "view-missing", "is missing", "render the views")
        elif claimed.active(name) and not (b"###" in views[name] or b"\n- " in views[name]):
            count = len(claimed.active(name))
            said = f"found no ### heading and no list, expected {count} active claims"
            yield _warning(name, "view-empty", said, "render the views")
