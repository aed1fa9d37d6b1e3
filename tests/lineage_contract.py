"""What memory-purifier's own validation asks of its files: exports are held against it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, HOMES
from memrepo.formats import plan
from memrepo.policies.claims import PERSONAL_HOMES

FIELDS = tomllib.loads((Path(__file__).parent / "golden" / "lineage.toml").read_text("utf-8"))
CLAIM_FIELDS = tuple(FIELDS["claim"])
Record = Mapping[str, Any]


def check_artifacts(
    files: Mapping[str, bytes], profile: str, views: Mapping[str, bytes] | None = None
) -> list[str]:
    """Return every error in the files of one export, by name; in the `views` too, where given."""
    missing = [f"{name} is missing" for name in plan.ARTIFACTS if name not in files]
    if missing:
        return missing
    lines = _lines(files[plan.CLAIMS])
    claims: dict[str, Record] = {one["id"]: one for one in lines}
    found = [] if len(claims) == len(lines) else ["two claims have one id"]
    found += [f"{id_}: {wrong}" for id_, one in claims.items() for wrong in _claim(one, profile)]
    found += [
        f"{id_}: {wrong}" for id_, one in claims.items() for wrong in _chain(id_, one, claims)
    ]
    for line in _lines(files[plan.CONTRADICTIONS]):
        found += _contradiction(line, claims)
    absent = {*FIELDS["manifest"]} - json.loads(files[plan.MANIFEST]).keys()
    found += [f"the manifest lacks {key}" for key in sorted(absent)]
    for subject, entry in json.loads(files[plan.ENTITIES]).items():
        if not isinstance(entry["aliases"], list) or not claims.keys() >= set(entry["claimIds"]):
            found.append(f"the entity {subject} names no claim, or has no list of aliases")
    for home, ids in json.loads(files[plan.ROUTES]).items():
        found += [f"{id_} is not at {home}" for id_ in ids if id_ not in _at(claims, home)]
    return found if views is None else [*found, *_views(views, claims, profile)]


def _lines(data: bytes) -> list[Record]:
    return [json.loads(line) for line in data.splitlines()]


def _at(claims: Mapping[str, Record], home: str) -> set[str]:
    """Return the ids of a home's active claims."""
    here = [(id_, one) for id_, one in claims.items() if one["primaryHome"] == home]
    return {id_ for id_, one in here if one["status"] not in plan.INACTIVE}


def _claim(claim: Record, profile: str) -> Iterator[str]:
    absent = [key for key in CLAIM_FIELDS if key not in claim]
    if absent:
        yield f"lacks {', '.join(absent)}"
        return
    if claim["type"] not in CLAIM_TYPES or claim["status"] not in plan.CLAIM_STATUSES:
        yield f"has the type {claim['type']} and the status {claim['status']}"
    elif claim["primaryHome"] not in HOMES:
        yield f"has the home {claim['primaryHome']}"
    elif HOME_OF_TYPE[claim["type"]] != claim["primaryHome"]:
        yield f"is a {claim['type']} in {claim['primaryHome']}"
    if claim["primaryHome"] in PERSONAL_HOMES and profile != "personal":
        yield f"is in {claim['primaryHome']} on the profile {profile}"
    if not claim["text"].strip() or not claim["provenance"]:
        yield "has no text, or no provenance"


def _chain(id_: str, claim: Record, claims: Mapping[str, Record]) -> Iterator[str]:
    for other in claim["supersedes"]:
        if other in claims and id_ not in claims[other]["supersededBy"]:
            yield f"supersedes {other}, whose supersededBy lacks it"
        if other in claims and claims[other]["status"] != "superseded":
            yield f"supersedes {other}, which is {claims[other]['status']}"
    if id_ in claim["supersededBy"]:
        yield "supersedes itself"


def _contradiction(record: Record, claims: Mapping[str, Record]) -> Iterator[str]:
    absent = [key for key in FIELDS["contradiction"] if key not in record]
    if absent:
        yield f"a contradiction lacks {', '.join(absent)}"
    elif record["claimId"] not in claims or record["relation"] not in (
        "contested",
        "stale",
        "superseded",
    ):
        yield f"the contradiction of {record['claimId']} has no claim, or no known relation"
    elif claims[record["claimId"]]["contradictionClusterId"] != record["contradictionClusterId"]:
        yield f"the contradiction of {record['claimId']} is of another cluster"


def _views(views: Mapping[str, bytes], claims: Mapping[str, Record], profile: str) -> Iterator[str]:
    for name in HOMES:
        if name in PERSONAL_HOMES and profile != "personal":
            if name in views:
                yield f"{name} is a personal view on the profile {profile}"
        elif name not in views:
            yield f"{name} is not rendered"
        elif _at(claims, name) and not (b"###" in views[name] or b"\n- " in views[name]):
            yield f"{name} lists none of its claims"
