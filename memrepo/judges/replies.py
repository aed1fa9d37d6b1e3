"""Parse the text replies of models into typed answers.

The schemas sent to models and this parser both derive from the records of `core.judge`. Nothing
here raises on a model's text. A malformed element becomes an answer with a `fault`, which the
checks of both passes refuse.

Lineage: memory-purifier's parse ladder (direct, fence, brace scan). Truncated and repeated objects,
which memory-purifier rejected, are parsed too.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from memrepo.core.fields import defaults_of
from memrepo.core.judge import (
    NEWER,
    Assessment,
    CanonicalClaim,
    Finding,
    Summary,
    Verdict,
)
from memrepo.core.memory import CLAIM_TYPES, HOMES, Gist
from memrepo.core.patterns import regex
from memrepo.judges.passes import JUDGED_STANDINGS, in_unit_range

VERDICTS_KEY, CLAIMS_KEY, FINDINGS_KEY = "verdicts", "claims", "findings"
CHECKS_KEY, GIST_KEY, SUMMARY_KEY = "assessments", "gist", "summary"
T = TypeVar("T")

_ID_LIMIT = 120
_FLOAT_BITS = 1023
_TRIES = 400  # limits the cost of a hostile reply with a million braces
_STARTS = 20
_FENCE = regex(r"```[a-zA-Z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_BETWEEN = regex(r"[\s,]*")
# Fields determined by code. They are neither requested from a model nor read.
_OURS = frozenset(
    (
        *("fault", "freshness_posture", "confidence_posture", "strength", "canonical_clarity"),
        *("provenance_strength", "contradiction_pressure", "freshness", "route_fitness"),
        *("lead", "home", "route_rationale", "asked_again", "refused", "model"),
    )
)
_NOT_ASKED: Mapping[type, frozenset[str]] = {CanonicalClaim: frozenset(("rationale",))}
_READ_IF_GIVEN: Mapping[type, tuple[str, ...]] = {
    Verdict: ("strength",),
    CanonicalClaim: ("home",),
}
"""Fields that are not requested but are checked if a model gives them."""
# Names of fields in a reply, by the names of memory-purifier in the records.
_WIRE: Mapping[str, str] = {
    "future_judgment_value": "judgment",
    "action_value": "action",
    "identity_relationship_weight": "identity",
    "cross_time_persistence": "recurrence",
    "noise_risk": "noise",
    "semantic_cluster_confidence": "one_thing",
    "supersession_confidence": "replaces",
    "link_strength": "strength",
    "is_contradiction": "isContradiction",
    "newer": "whichIsNewer",
    "still": "stillHolds",
    "check_id": "id",
}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "type": CLAIM_TYPES,
    "standing": JUDGED_STANDINGS,
    "home": HOMES,
}


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why a text has no answer, with the failure of each attempt to parse it."""

    reason: str
    tried: tuple[str, ...] = ()


@cache
def verdicts_schema() -> dict[str, object]:
    """Return the JSON Schema of a Pass 1 reply."""
    return _reply_schema(VERDICTS_KEY, Verdict)


@cache
def claims_schema() -> dict[str, object]:
    """Return the JSON Schema of a Pass 2 reply."""
    return _reply_schema(CLAIMS_KEY, CanonicalClaim)


def read_verdicts(text: str) -> tuple[Verdict, ...] | Unreadable:
    """Parse a Pass 1 reply. A missing strength is computed from the scores."""
    return _read(text, VERDICTS_KEY, Verdict)


def read_claims(text: str) -> tuple[CanonicalClaim, ...] | Unreadable:
    """Parse a Pass 2 reply."""
    return _read(text, CLAIMS_KEY, CanonicalClaim)


@cache
def findings_schema() -> dict[str, object]:
    """Return the JSON Schema of a reply about contradicting pairs."""
    row = {
        "pair": {"type": "string"},
        "isContradiction": {"type": "boolean"},
        "confidence": {"type": "number"},
        "reasoning": {"type": "string"},
        "whichIsNewer": {"type": "string", "enum": list(NEWER)},
        "stillHolds": {"type": "string"},
    }
    return _object({FINDINGS_KEY: {"type": "array", "items": _object(row)}})


def read_findings(text: str) -> tuple[Finding, ...] | Unreadable:
    """Parse a reply about contradicting pairs. Missing values are not guessed."""
    return _read(text, FINDINGS_KEY, Finding)


@cache
def checks_schema() -> dict[str, object]:
    """Return the JSON Schema of a reply that assesses wordings."""
    text: dict[str, object] = {"type": "string"}
    row: dict[str, object] = {"id": text, "stated": {"type": "boolean"}, "reason": text}
    return _object({CHECKS_KEY: {"type": "array", "items": _object(row)}})


def read_checks(text: str) -> tuple[Assessment, ...] | Unreadable:
    """Parse a reply that assesses wordings. Any value other than yes or no is a fault."""
    return _read(text, CHECKS_KEY, Assessment)


@cache
def gist_schema() -> dict[str, object]:
    """Return the JSON Schema of a reply with the gist of a note."""
    return _object({GIST_KEY: _schema(Gist, "")})


def read_gist(text: str) -> Gist | Unreadable:
    """Parse a reply with the gist of a note.

    `actions.run.wording` checks whether the note supports the gist.
    """
    return _read_one(text, GIST_KEY, Gist)


@cache
def summary_schema() -> dict[str, object]:
    """Return the JSON Schema of a reply with the summary of some memories."""
    return _object({SUMMARY_KEY: _schema(Summary, "")})


def read_summary(text: str) -> Summary | Unreadable:
    """Parse a reply with the summary of some memories.

    `actions.run.wording` checks whether the memories support the summary.
    """
    return _read_one(text, SUMMARY_KEY, Summary)


def _read_one(text: str, key: str, cls: type[T]) -> T | Unreadable:
    objects = [o for found in _ladder(text) for o in found if isinstance(o, dict)]
    answers = [o for o in objects if key in o]
    if not answers:
        return _unreadable(text, key)
    try:
        return msgspec.convert(_shaped(cls, answers[-1][key]), cls)
    except msgspec.ValidationError as error:
        return Unreadable(reason=_fault(error, key))


def _read(text: str, key: str, cls: type[T]) -> tuple[T, ...] | Unreadable:
    found = elements(text, key)
    if isinstance(found, Unreadable):
        return found
    return tuple(_build(cls, element) for element in found)


# -- the ladder ----------------------------------------------------------------------------------


def elements(text: str, key: str) -> tuple[object, ...] | Unreadable:
    """Return the list that the last suitable JSON object in a text contains under a key.

    Tries the whole text, then each fenced block, then every object from a brace. The last attempt
    reads the complete elements of a truncated or malformed list.
    """
    text = text.strip().removeprefix("\ufeff")
    if not text:
        return Unreadable(reason="the answer is empty")
    for objects in _ladder(text):
        holding = [o for o in objects if isinstance(o, dict) and isinstance(o.get(key), list)]
        if holding:
            return tuple(holding[-1][key])
    return tuple(_cut_off(text, key)) or _unreadable(text, key)


def _unreadable(text: str, key: str) -> Unreadable:
    """Explain why a text has no answer, with the result of each attempt to parse it."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason, direct = f"the answer holds no JSON object with the key {key}", str(error)
    else:
        kind = _KINDS.get(type(found), "number")
        reason = f"the top level is {kind}, expected an object with the key {key}"
        if isinstance(found, dict):
            wrong = key in found
            reason = (
                f"the key {key} holds no list" if wrong else f"the required key {key} is missing"
            )
        direct = reason
    objects = sum(isinstance(o, dict) for o in _objects(text))
    return Unreadable(
        reason=reason,
        tried=(
            f"direct: {direct}",
            f"fence: {len(_FENCE.findall(text))} fenced blocks, none with {key}",
            f"scan: {objects} objects from a brace on, none with {key}",
            f"cut: no complete element of {key}",
        ),
    )


_KINDS = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def holds_answer(text: str, key: str, *, several: bool) -> bool:
    """Return whether a text has a JSON object with a key or, if `several`, a list under it."""
    if several:
        return not isinstance(elements(text, key), Unreadable)
    return any(isinstance(o, dict) and key in o for found in _ladder(text) for o in found)


def _ladder(text: str) -> tuple[Iterator[object], ...]:
    """Return the values from three attempts to parse a text: whole, by fence, and by brace."""
    text = text.strip().removeprefix("\ufeff")
    return _parsed([text]), _parsed(_FENCE.findall(text)), _objects(text)


def _parsed(texts: list[str]) -> Iterator[object]:
    for text in texts:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def _objects(text: str) -> Iterator[object]:
    """Yield every JSON object that starts at a brace in a text, from left to right.

    Nested objects are skipped.
    """
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _cut_off(text: str, key: str) -> list[object]:
    """Return the complete elements of the last, possibly truncated list under a key.

    Reading ends at the first element that cannot be parsed. An extra comma is ignored.
    """
    decoder = json.JSONDecoder()
    for match in list(re.finditer(rf'"{key}"\s*:\s*\[', text))[: -_STARTS - 1 : -1]:
        found: list[object] = []
        at = match.end()
        while True:
            blank = _BETWEEN.match(text, at)
            at = blank.end() if blank else at
            if text[at : at + 1] == "]":
                return found
            try:
                element, at = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                break
            found.append(element)
        if found:
            return found
    return []


# -- the schema and the reader of one element ----------------------------------------------------


def _reply_schema(key: str, cls: type) -> dict[str, object]:
    return _object({key: {"type": "array", "items": _schema(cls, "")}})


def _object(
    properties: Mapping[str, object], required: Collection[str] | None = None
) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if required is None or name in required],
        "additionalProperties": False,
    }


def _schema(hint: object, name: str) -> dict[str, object]:
    if _is_record(hint):
        hints = _hints(hint)
        # Fields with a default are optional, since an empty field costs tokens in each answer.
        known = defaults_of(hint)
        required = {
            _WIRE.get(name, name)
            for name, one in hints.items()
            if one is float or known[name] is msgspec.NODEFAULT or name == "quote"
        }
        properties = {_WIRE.get(name, name): _schema(one, name) for name, one in hints.items()}
        return _object(properties, required)
    if hint is float:
        return {"type": "number"}
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema(get_args(hint)[0], "")}
    return {"type": "string", **({"enum": list(_WORDS[name])} if name in _WORDS else {})}


@cache
def _hints(cls: object) -> dict[str, object]:
    ours = _OURS | _NOT_ASKED.get(cast("type", cls), frozenset())
    return {name: h for name, h in get_type_hints(cls).items() if name not in ours}


def _is_record(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _build(cls: Any, element: object) -> Any:
    """Build an answer from JSON. If the JSON is malformed, `fault` contains the first error."""
    shaped = _shaped(cls, element)
    # If the id is not a single text, the answer identifies no item. The checks then reject it.
    id_name = "pair" if cls is Finding else next(iter(_hints(cls)))
    id_ = shaped.get(id_name) if isinstance(shaped, dict) else None
    id_ = id_[:_ID_LIMIT] if isinstance(id_, str) else ""
    try:
        if isinstance(shaped, dict) and id_:
            shaped[id_name] = id_
        made = msgspec.convert(shaped, cls)
    except msgspec.ValidationError as error:
        return replace(_blank(cls), **{id_name: id_, "fault": _fault(error)})
    if cls is Verdict and "strength" not in shaped:
        return replace(made, strength=made.scores.strength)
    if cls is Finding and not in_unit_range(made.confidence):
        return replace(made, fault="confidence is not a number from 0 to 1")
    return made


def _shaped(hint: Any, given: object) -> Any:
    """Convert a JSON value to our field names, removing characters that files cannot contain."""
    if isinstance(given, str):
        # JSON can contain half of a surrogate pair, which a file cannot.
        text = given.encode("utf-8", "replace").decode("utf-8")
        return text if text.isprintable() else "".join(ch for ch in text if _may_enter(ch))
    if _is_record(hint) and isinstance(given, dict):
        more = dict.fromkeys(_READ_IF_GIVEN.get(hint, ()), str)
        values = (
            (name, part, given.get(_WIRE.get(name, name), given.get(name)))
            for name, part in {**_hints(hint), **more}.items()
        )
        return {
            name: _shaped(part, value)
            for name, part, value in values
            if value is not None or (name in more and name in given)
        }
    if get_origin(hint) is tuple and isinstance(given, list):
        return [_shaped(get_args(hint)[0], one) for one in given]
    if isinstance(given, int) and not isinstance(given, bool) and hint is float:
        return math.inf if given.bit_length() > _FLOAT_BITS else float(given)
    return given


def _blank(hint: Any) -> Any:
    """Return an empty value of a type, such as a record with empty fields."""
    if _is_record(hint):
        known = defaults_of(hint)
        hints = get_type_hints(hint).items()
        return hint(**{n: _blank(h) for n, h in hints if known[n] is msgspec.NODEFAULT})
    return math.nan if hint is float else False if hint is bool else ""


def _fault(error: msgspec.ValidationError, key: str = "") -> str:
    """Describe the error in an answer and its place, using the model's field names."""
    said, _, where = str(error).partition(" - at `$")
    path = ".".join(_WIRE.get(part, part) for part in where.strip("`.").split("."))
    return f"{'.'.join(filter(None, (key, path))) or 'the answer'}: {said}"


def _may_enter(ch: str) -> bool:
    """Return whether answers may contain a character. Invisible characters are not permitted.

    Joiners are permitted, since some scripts need them.
    """
    if ch in "\n\t\u200c\u200d":
        return True
    return unicodedata.category(ch) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
