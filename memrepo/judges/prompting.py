"""Compose prompts from the instructions in prompts/ and the evidence, fenced as data.

Evidence is JSON in which no text can contain an angle bracket or start a new line. The marks around
it contain its hash. Evidence can therefore neither close its fence nor imitate instructions.
Secrets are removed from all evidence.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from memrepo.assets import asset
from memrepo.core.fields import defaults_of
from memrepo.core.judge import (
    NEWER,
    Assessment,
    Candidate,
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
    ComparisonRequest,
    Finding,
    GistRequest,
    PriorClaim,
    PromotionRequest,
    Summary,
    SummaryRequest,
    Suspicion,
    Verdict,
    VerificationRequest,
    WordingCheck,
)
from memrepo.core.memory import CLAIM_TYPES, HOMES, Gist, Source
from memrepo.core.patterns import regex
from memrepo.core.secrets import concealed
from memrepo.judges.passes import JUDGED_STANDINGS, in_unit_range

PassName = Literal["promotion", "purifier", "verification", "contradiction", "gist", "summary"]

FILES: Mapping[PassName, str] = {
    "promotion": "promotion-pass.md",
    "purifier": "purifier-pass.md",
    "verification": "verification.md",
    "contradiction": "contradiction.md",
    "gist": "gist.md",
    "summary": "summary.md",
}

JUDGED_LENGTH = 700
"""Maximum characters of a text in pass 1. The beginning shows whether it is worth wording."""

# Escape characters that could look like the end of a fence or tag, as JSON allows.
_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&`\x7f\x85\u2028\u2029"})


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a model: fixed instructions, context for all batches, and one batch.

    `items` is the number of items to answer. `room` is the maximum tokens of the answer, and 0
    leaves the limit to the backend. Services that enforce the schema do not receive it as text.
    """

    name: PassName
    system: str
    context: str
    data: str
    items: int
    room: int = 0

    @property
    def text(self) -> str:
        """Return the whole prompt as one text, for programs that accept only text."""
        return "\n\n".join(filter(None, (self.system, self.spelled, self.context, self.data)))

    @property
    def spelled(self) -> str:
        """Return the JSON Schema of the reply as text."""
        return _spelled_schema(self.name)

    @property
    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of the reply as a mapping."""
        return SCHEMAS[self.name]()

    @property
    def key_of_answers(self) -> str:
        """Return the name of the reply's only top-level key."""
        return next(iter(msgspec.convert(self.schema["required"], list[str])))

    @property
    def key(self) -> str:
        """Return the hash under which this question is recorded."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def token_bound(self) -> int:
        """Return an upper limit for the prompt's tokens: a third of its size in UTF-8 bytes."""
        return -(-len(self.text.encode()) // 3)


def promotion_prompt(request: PromotionRequest) -> Prompt:
    """Compose the question of Pass 1, which asks for verdicts on candidates."""
    body = {
        "today": request.now.date().isoformat(),
        "profile": request.profile,
        **_faults(request.faults),
    }
    items = [_candidate(c) for c in request.candidates]
    return Prompt(
        name="promotion",
        system=instructions("promotion"),
        context="",
        data=fence("candidates", concealed(items), body),
        items=len(items),
    )


def canonical_prompt(request: CanonicalRequest) -> Prompt:
    """Compose the question of Pass 2, which asks for the claims of clusters.

    Prior claims are in the shared context, because every batch repeats them.
    """
    body = {
        "today": request.now.date().isoformat(),
        "profile": request.profile,
        **_faults(request.faults),
    }
    items = [_cluster(c) for c in request.clusters]
    priors = [_prior(p) for p in request.priors]
    return Prompt(
        name="purifier",
        system=instructions("purifier"),
        context=fence("prior_claims", concealed(priors), {}) if priors else "",
        data=fence("clusters", concealed(items), body),
        items=len(items),
    )


def verification_prompt(request: VerificationRequest) -> Prompt:
    """Compose the question that asks whether the evidence supports each wording."""
    items: list[object] = [_check(one) for one in request.checks]
    return Prompt(
        name="verification",
        system=instructions("verification"),
        context="",
        data=fence("items", concealed(items), _faults(request.faults)),
        items=len(items),
    )


def comparison_prompt(request: ComparisonRequest) -> Prompt:
    """Compose the question that asks which pairs of statements contradict each other."""
    body = {"today": request.now.date().isoformat(), **_faults(request.faults)}
    items: list[object] = [_pair(one) for one in request.pairs]
    return Prompt(
        name="contradiction",
        system=instructions("contradiction"),
        context="",
        data=fence("pairs", concealed(items), body),
        items=len(items),
    )


def _check(one: WordingCheck) -> dict[str, object]:
    return _lean(
        {
            "id": one.check_id,
            "evidence": list(one.evidence),
            "under": list(one.context),
            "known": list(one.known),
            "stated_on": one.stated_on,
            "wording": [f"{name}: {text}" for name, text in one.wording],
        }
    )


def _pair(one: Suspicion) -> dict[str, object]:
    return _lean(
        {
            "pair": one.pair,
            "why": "" if one.why == "similar" else one.why,
            "reason": one.reason,
            "first": _statement(one.first),
            "second": _statement(one.second),
        }
    )


def _statement(p: PriorClaim) -> dict[str, object]:
    """Return a statement as JSON fields, with its author, place and date."""
    return _lean(
        {
            "text": p.text,
            "under": p.under,
            "subject": "" if p.subject in p.text else p.subject,
            "by": p.by,
            **_when(p.sources),
            "place": next((f"{s.resource}:{s.lines[0]}" for s in p.sources), ""),
        }
    )


def _when(sources: Sequence[Source]) -> dict[str, object]:
    """Return the date of a statement as a JSON field, taken from the heading or the file.

    Commit dates are ignored. Dates inside the statement are ignored too, because they may be those
    of a birth or a deadline.
    """
    dated = (s.captured[:10] for s in sources if s.captured_from not in ("", "commit", "unit"))
    return _lean({"stated_on": max(dated, default="")})


def gist_prompt(request: GistRequest) -> Prompt:
    """Compose the question that asks for a note's gist. The prompt depends only on the note."""
    note = request.note
    row = _lean({"title": note.text("title"), "tags": list(note.texts("tags")), "text": note.body})
    return Prompt(
        name="gist",
        system=instructions("gist"),
        context="",
        data=fence("notes", concealed([row]), {"fault": request.fault} if request.fault else {}),
        items=1,
    )


def summary_prompt(request: SummaryRequest) -> Prompt:
    """Compose the question that asks for a summary. The prompt depends only on the memories."""
    rows = [
        _lean(
            {
                "title": m.text("title"),
                "subject": m.text("subject"),
                "text": m.body,
                "captured": m.captured,
            }
        )
        for m in request.memories
    ]
    head = _lean({"topic": request.topic, "fault": request.fault})
    return Prompt(
        name="summary",
        system=instructions("summary"),
        context="",
        data=fence("memories", concealed(rows), concealed(head)),
        items=1,
    )


@cache
def instructions(name: PassName) -> str:
    """Return the instructions for a pass, read from its file in prompts/."""
    return asset("prompts", FILES[name]).read_text(encoding="utf-8").strip()


@cache
def _spelled_schema(name: PassName) -> str:
    return json.dumps(SCHEMAS[name](), separators=(",", ":"))


@cache
def prompt_hash() -> str:
    """Return the hash of all instructions and schemas, as recorded in a run's manifest."""
    fixed = "\0".join(f"{instructions(name)}\n{_spelled_schema(name)}" for name in SCHEMAS)
    return f"sha256:{hashlib.sha256(fixed.encode()).hexdigest()}"


def fence(key: str, rows: list[object], head: Mapping[str, object]) -> str:
    """Encode rows as JSON, one per line, and enclose them in marks that contain their hash."""
    lead = "".join(f"{_spelled(k)}: {_spelled(v)},\n" for k, v in head.items())
    body = f"{{{lead}{_spelled(key)}: [\n" + ",\n".join(map(_spelled, rows)) + "\n]}"
    mark = hashlib.sha256(body.encode()).hexdigest()[:16]
    return f"<<<data {mark}\n{body}\n{mark} data>>>"


def _spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPES)


def _faults(faults: Mapping[str, str]) -> dict[str, object]:
    return {"faults": dict(sorted(faults.items()))} if faults else {}


def _candidate(c: Candidate) -> dict[str, object]:
    return _lean(
        {
            "candidate_id": c.candidate_id,
            **_evidence(c),
            "text": c.text if len(c.text) <= JUDGED_LENGTH else f"{c.text[:JUDGED_LENGTH]} [...]",
            "place": next((f"{s.resource}:{s.lines[0]}" for s in c.sources), ""),
            "days": c.days if c.days > 1 else "",
            "resources": c.resources if c.resources > 1 else "",
            "retrieved": c.retrieved,
        }
    )


def _evidence(c: Candidate) -> dict[str, object]:
    row = {"text": c.text, "context": list(c.context), "about": c.about, "task": c.task}
    return _lean({**row, **_when(c.sources)})


def _cluster(c: Cluster) -> dict[str, object]:
    return _lean(
        {
            "cluster_id": c.cluster_id,
            "type_hint": c.type_hint,
            "candidates": [_evidence(member) for member in sorted(c.candidates, key=_stands_at)],
        }
    )


def _stands_at(c: Candidate) -> tuple[str, int, str]:
    """Return a candidate's sort key: the source and line of its first place, then its id.

    Steps must be read in their order.
    """
    first = min(((s.resource, s.lines[0]) for s in c.sources), default=("", 0))
    return (*first, c.candidate_id)


def _prior(p: PriorClaim) -> dict[str, object]:
    return _lean(
        {
            "memory_id": p.memory_id,
            "type": p.type,
            "standing": "" if p.standing == "resolved" else p.standing,
            "subject": p.subject,
            "predicate": p.predicate,
            "object": p.object,
            "text": p.text,
            **_when(p.sources),
        }
    )


def _lean(record: dict[str, object]) -> dict[str, object]:
    """Return a record without empty values, to save tokens."""
    return {key: value for key, value in record.items() if value not in ("", [], ())}


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
    objects = sum(isinstance(o, dict) for o in _braced(text))
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
    return _parsed([text]), _parsed(_FENCE.findall(text)), _braced(text)


def _parsed(texts: list[str]) -> Iterator[object]:
    for text in texts:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def _braced(text: str) -> Iterator[object]:
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


SCHEMAS: Mapping[PassName, Callable[[], dict[str, object]]] = {
    "promotion": verdicts_schema,
    "purifier": claims_schema,
    "verification": checks_schema,
    "contradiction": findings_schema,
    "gist": gist_schema,
    "summary": summary_schema,
}
