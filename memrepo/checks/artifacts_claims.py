"""Validation of `purified-claims.jsonl`, claim by claim (memory-purifier, validate_outputs)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from memrepo.core.memory import CLAIM_TYPES, HOMES
from memrepo.core.problems import Problem
from memrepo.purify import lineage
from memrepo.purify.jsonl import Line, mappings, texts
from memrepo.purify.routes import PERSONAL_HOMES, affinity, route


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
            path=lineage.CLAIMS,
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
        yield claim.problem("claim-id", "id", "found no id, expected one", "add it")
    elif claim.others[id_] is not claim.record:
        yield claim.problem("claim-same-id", "id", f"found {id_} twice", "remove one of the two")


def _shape(claim: _Claim) -> Iterator[Problem]:
    absent = [key for key in lineage.CLAIM_FIELDS if key not in claim.record]
    if absent:
        said = f"found no {', '.join(absent)}, expected 33 fields"
        yield claim.problem("claim-fields", absent[0], said, "add them, null where unknown")
    known = {*lineage.CLAIM_FIELDS, *lineage.OPTIONAL_CLAIM_FIELDS}
    foreign = [key for key in claim.record if key not in known]
    if foreign:
        said = f"found the field {foreign[0]!r}, which the format does not have"
        yield claim.problem("claim-foreign-field", foreign[0], said, "remove it", soft=True)


def _words(claim: _Claim) -> Iterator[Problem]:
    for key, rule, words in (
        ("type", "claim-type", CLAIM_TYPES),
        ("status", "claim-status", lineage.CLAIM_STATUSES),
        ("primaryHome", "claim-home", HOMES),
    ):
        value = claim.record.get(key)
        if value not in words:
            said = f"found {key} {value!r}, expected one of {', '.join(words)}"
            yield claim.problem(rule, key, said, "use a known word")
    scope = claim.record.get("profileScope")
    if scope is not None and scope not in lineage.PROFILES:
        said = f"found profileScope {scope!r}, expected one of {', '.join(lineage.PROFILES)}"
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
    elif claim.record.get("type") == "episode" and len(text) > lineage.DIGEST_LIMIT:
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
