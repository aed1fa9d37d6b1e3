"""What memory-purifier's own validation asks of its files: exports are held against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from memrepo.core.jsonl import Line, mappings, read_lines, read_object, texts
from memrepo.core.memory import CLAIM_TYPES, HOMES
from memrepo.core.problems import Problem
from memrepo.formats import purifier
from memrepo.policies.claims import PERSONAL_HOMES, affinity, route

CLAIM_FIELDS = (
    "id",
    "sourceClusterId",
    "type",
    "status",
    "text",
    "subject",
    "predicate",
    "object",
    "primaryHome",
    "secondaryTags",
    "profileScope",
    "scores",
    "provenance",
    "crossSurfaceSupport",
    "contradictions",
    "contradictionClusterId",
    "supersedes",
    "supersededBy",
    "freshnessPosture",
    "confidencePosture",
    "rationale",
    "routeRationale",
    "duplicateDisposition",
    "duplicateTargetClaimId",
    "duplicateReason",
    "normalizationSignature",
    "routeValidationState",
    "routeAffinityScore",
    "routeSuggestedHome",
    "updatedInRunId",
    "updatedAt",
    "updatedAt_utc",
    "timezone",
)
OPTIONAL_CLAIM_FIELDS = ("retirementReasons",)
RUN_STATUSES = (
    "ok",
    "skipped",
    "skipped_superseded",
    "partial_failure",
    "failed",
    "upgrade_required",
)
DIGEST_LIMIT = 500


class _Claim(msgspec.Struct, frozen=True):
    """One record under test, with the others by id."""

    line: Line
    others: Mapping[str, Mapping[str, Any]]
    profile: str

    @property
    def record(self) -> Mapping[str, object]:
        return self.line.record

    def problem(self, rule: str, key: str, said: str, fix: str, *, soft: bool = False) -> Problem:
        return Problem(
            path=purifier.CLAIMS,
            line=self.line.number,
            column=1,
            rule=rule,
            key=key,
            message=said,
            fix=fix,
            severity="warning" if soft else "error",
        )


def check_claims(lines: Sequence[Line], profile: str) -> list[Problem]:
    """Return every finding in claim records, in file order."""
    others: dict[str, Mapping[str, object]] = {}
    problems: list[Problem] = []
    for line in lines:
        id_ = line.record.get("id")
        if isinstance(id_, str) and id_:
            others.setdefault(id_, line.record)
    for line in lines:
        claim = _Claim(line, others, profile)
        problems += _id(claim)
        problems += (p for rule in _RULES for p in rule(claim))
    return problems


def _id(claim: _Claim) -> Iterator[Problem]:
    id_ = claim.record.get("id")
    if not isinstance(id_, str) or not id_:
        yield claim.problem("claim-id", "id", "found no id: recall ignores this memory", "add it")
    elif claim.others[id_] is not claim.record:
        yield claim.problem("claim-same-id", "id", f"found {id_} twice", "remove one of the two")


def _shape(claim: _Claim) -> Iterator[Problem]:
    absent = [key for key in CLAIM_FIELDS if key not in claim.record]
    if absent:
        said = f"found no {', '.join(absent)}, expected 33 fields"
        yield claim.problem("claim-fields", absent[0], said, "add them, null where unknown")
    known = {*CLAIM_FIELDS, *OPTIONAL_CLAIM_FIELDS}
    foreign = [key for key in claim.record if key not in known]
    if foreign:
        said = f"found the field {foreign[0]!r}, which the format does not have"
        yield claim.problem("claim-foreign-field", foreign[0], said, "remove it", soft=True)


def _words(claim: _Claim) -> Iterator[Problem]:
    for key, rule, words in (
        ("type", "claim-type", CLAIM_TYPES),
        ("status", "claim-status", purifier.CLAIM_STATUSES),
        ("primaryHome", "claim-home", HOMES),
    ):
        value = claim.record.get(key)
        if value not in words:
            said = f"found {key} {value!r}, expected one of {', '.join(words)}"
            yield claim.problem(rule, key, said, "use a known word")
    scope = claim.record.get("profileScope")
    if scope is not None and scope not in purifier.PROFILES:
        said = f"found profileScope {scope!r}, expected one of {', '.join(purifier.PROFILES)}"
        yield claim.problem("claim-profile", "profileScope", said, "use a known word", soft=True)


def _home(claim: _Claim) -> Iterator[Problem]:
    type_, home = claim.record.get("type"), claim.record.get("primaryHome")
    if home not in HOMES or not isinstance(home, str):
        return
    if home in PERSONAL_HOMES and claim.profile != "personal":
        said = f"found {home} on the profile {claim.profile}, expected it on personal only"
        yield claim.problem("claim-personal-home", "primaryHome", said, "leave the claim out")
        return
    if type_ not in CLAIM_TYPES or not isinstance(type_, str):
        return
    state = affinity(type_, home)
    said = f"found a {type_} in {home}, which is {state}"
    fix = f"its own home is {route(type_, 'personal')}"
    if state == "impossible":
        yield claim.problem("claim-route", "primaryHome", said, fix)
    elif state != "strong":
        yield claim.problem("claim-odd-route", "primaryHome", said, fix, soft=True)


def _text(claim: _Claim) -> Iterator[Problem]:
    text = claim.record.get("text")
    if not isinstance(text, str) or not text.strip():
        yield claim.problem("claim-text", "text", "found no text, expected one", "add it")
    elif claim.record.get("type") == "episode" and len(text) > DIGEST_LIMIT:
        said = f"found an episode of {len(text)} characters, expected at most 500"
        yield claim.problem("claim-long-episode", "text", said, "shorten it", soft=True)
    if claim.record.get("primaryHome") in texts(claim.record.get("secondaryTags")):
        said = "found the claim's own home among its tags"
        yield claim.problem("claim-home-tag", "secondaryTags", said, "remove it", soft=True)


def _provenance(claim: _Claim) -> Iterator[Problem]:
    found = mappings(claim.record.get("provenance"))
    if not found:
        said = "found no provenance, expected one entry at least"
        yield claim.problem("claim-provenance", "provenance", said, "name the source")
        return
    source = found[0].get("source")
    if claim.record.get("type") == "episode" and not str(source).startswith("episodes/"):
        said = f"found an episode from {source!r}, expected a file below episodes/"
        yield claim.problem("claim-episode-source", "provenance", said, "check it", soft=True)


def _supersession(claim: _Claim) -> Iterator[Problem]:
    id_ = claim.record.get("id")
    for other in texts(claim.record.get("supersedes")):
        target = claim.others.get(other)
        if target is None:
            said = f"found {other}, which is not among the claims"
            yield claim.problem("claim-supersedes", "supersedes", said, "remove it", soft=True)
            continue
        if id_ not in texts(target.get("supersededBy")):
            said = f"found {other}, whose supersededBy lacks {id_}"
            yield claim.problem("claim-chain", "supersedes", said, "link both ways")
        if target.get("status") != "superseded":
            said = f"found {other}, which is {target.get('status')!r} and not superseded"
            yield claim.problem("claim-chain-status", "supersedes", said, "set its status")
    for other in texts(claim.record.get("supersededBy")):
        if other == id_:
            said = "found the claim's own id"
            yield claim.problem("claim-self", "supersededBy", said, "remove it")
        if other not in claim.others:
            said = f"found {other}, which is not among the claims"
            yield claim.problem("claim-superseded-by", "supersededBy", said, "remove it", soft=True)


_RULES = (_shape, _words, _home, _text, _provenance, _supersession)


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
            if claim.get("primaryHome") == home and claim.get("status") not in purifier.INACTIVE
        ]


def check_artifacts(
    files: Mapping[str, bytes], profile: str, views: Mapping[str, bytes] | None = None
) -> list[Problem]:
    """Return every finding in the files of one export, by name; `views` by name where known."""
    problems = [
        _problem(name, "artifact-missing", "is missing", "export it again")
        for name in purifier.ARTIFACTS
        if name not in files
    ]
    lines = _read(files, purifier.CLAIMS, problems)
    problems += check_claims(lines, profile)
    claimed = Claimed(by_id=_by_id(lines))
    problems += _contradictions(_read(files, purifier.CONTRADICTIONS, problems), claimed)
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
    page = _object(files, purifier.MANIFEST, problems)
    if page is None:
        return problems
    problems += [
        _problem(
            purifier.MANIFEST, "published-key", f"found no {key}, expected it", "add it", key=key
        )
        for key in MANIFEST_KEYS
        if key not in page
    ]
    for key, words, rule in (
        ("status", RUN_STATUSES, "published-status"),
        ("profileScope", purifier.PROFILES, "published-profile"),
    ):
        value = page.get(key)
        if value is not None and value not in words:
            said = f"found {key} {value!r}, expected one of {', '.join(words)}"
            problems.append(_warning(purifier.MANIFEST, rule, said, "use a known word", key=key))
    return problems


def _contradictions(lines: Iterable[Line], claimed: Claimed) -> Iterator[Problem]:
    for line in lines:
        record, at = line.record, {"line": line.number, "column": 1}
        absent = [key for key in CONTRADICTION_KEYS if key not in record]
        if absent:
            said = f"found no {', '.join(absent)}, expected nine keys"
            yield _problem(purifier.CONTRADICTIONS, "contradiction-keys", said, "add them", **at)
        claim = claimed.by_id.get(str(record.get("claimId")))
        if claim is None:
            said = f"found the claim {record.get('claimId')!r}, which is not among the claims"
            yield _problem(purifier.CONTRADICTIONS, "contradiction-claim", said, "remove it", **at)
        elif claim.get("contradictionClusterId") != record.get("contradictionClusterId"):
            said = f"found a cluster id that {record.get('claimId')} does not have"
            yield _problem(
                purifier.CONTRADICTIONS, "contradiction-cluster", said, "use the claim's", **at
            )
        if record.get("relation") not in purifier.RELATIONS:
            said = f"found the relation {record.get('relation')!r}"
            yield _problem(
                purifier.CONTRADICTIONS,
                "contradiction-relation",
                said,
                f"use one of {', '.join(purifier.RELATIONS)}",
                **at,
            )


def _entities(files: Mapping[str, bytes], claimed: Claimed) -> list[Problem]:
    problems: list[Problem] = []
    page = _object(files, purifier.ENTITIES, problems) or {}
    for subject, entry in page.items():
        ids = entry.get("claimIds") if isinstance(entry, dict) else None
        if not isinstance(ids, list) or not isinstance(entry.get("aliases"), list):
            said = f"found {subject!r} without a list of aliases and one of claimIds"
            problems.append(
                _problem(purifier.ENTITIES, "entity-shape", said, "add them", key=subject)
            )
            continue
        unknown = [i for i in ids if not isinstance(i, str) or i not in claimed.by_id]
        if unknown:
            said = f"found {unknown[0]!r} under {subject!r}, which is not among the claims"
            problems.append(
                _problem(purifier.ENTITIES, "entity-claim", said, "remove it", key=subject)
            )
    return problems


def _routes(files: Mapping[str, bytes], claimed: Claimed) -> list[Problem]:
    problems: list[Problem] = []
    page = _object(files, purifier.ROUTES, problems)
    if page is None:
        return problems
    problems += [
        _warning(purifier.ROUTES, "route-key", f"found no key {home}", "add it", key=home)
        for home in HOMES
        if home not in page
    ]
    for home, ids in page.items():
        if not isinstance(ids, list):
            said = f"found a {type(ids).__name__} at {home}, expected a list"
            problems.append(_problem(purifier.ROUTES, "route-list", said, "write a list", key=home))
            continue
        problems += (p for id_ in ids for p in _routed(home, id_, claimed))
    return problems


def _routed(home: str, id_: object, claimed: Claimed) -> Iterator[Problem]:
    claim = claimed.by_id.get(id_) if isinstance(id_, str) else None
    if claim is None:
        said = f"found {id_!r} at {home}, which is not among the claims"
        yield _problem(purifier.ROUTES, "route-claim", said, "remove it", key=home)
        return
    if claim.get("primaryHome") != home:
        said = f"found {id_} at {home}, whose primaryHome is {claim.get('primaryHome')!r}"
        yield _problem(purifier.ROUTES, "route-home", said, "move it to its home", key=home)
    if claim.get("status") in purifier.INACTIVE:
        said = f"found {id_} at {home}, which is {claim.get('status')}"
        yield _problem(purifier.ROUTES, "route-inactive", said, "remove it", key=home)


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
