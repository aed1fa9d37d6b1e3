"""Compose prompts from prompts/ and the evidence, and parse the replies into typed answers.

Evidence is JSON in which no text can contain an angle bracket or start a new line. The marks around
it contain its hash. Evidence can therefore neither close its fence nor imitate instructions.
Secrets are removed from all evidence.

The schemas of replies are in prompts/reply-schemas.json. Nothing here raises on a model's text. A
malformed element becomes an answer with a `fault`, which the checks of both passes refuse.

Lineage: memory-purifier's parse ladder (direct, fence, brace scan). Truncated and repeated objects,
which memory-purifier rejected, are parsed too.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from memrepo.assets import asset
from memrepo.core.fields import defaults_of
from memrepo.core.judge import (
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
    Scores,
    SummaryRequest,
    Verdict,
    VerificationRequest,
    Wording,
)
from memrepo.core.memory import Source
from memrepo.core.patterns import regex
from memrepo.core.secrets import concealed
from memrepo.judges.passes import in_unit_range

T = TypeVar("T")
PassName = Literal["promotion", "purifier", "verification", "contradiction", "gist", "summary"]
# The file with the instructions, and the key of the reply.
_PASSES: Mapping[PassName, tuple[str, str]] = {
    "promotion": ("promotion-pass.md", "verdicts"),
    "purifier": ("purifier-pass.md", "claims"),
    "verification": ("verification.md", "assessments"),
    "contradiction": ("contradiction.md", "findings"),
    "gist": ("gist.md", "gist"),
    "summary": ("summary.md", "summary"),
}
_SINGLE = ("gist", "summary")
"""Passes whose reply is one answer. The reply of the others is a list."""
REPLY_KEYS = frozenset(key for _, key in _PASSES.values())
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
    def question(self) -> str:
        """Return the part that depends on the evidence, as one text."""
        return "\n\n".join(filter(None, (self.context, self.data)))

    @property
    def text(self) -> str:
        """Return the whole prompt as one text, for programs that accept only text."""
        return "\n\n".join((self.system, self.spelled, self.question))

    @property
    def spelled(self) -> str:
        """Return the JSON Schema of the reply as text."""
        return _spelled_schema(self.name)

    @property
    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of the reply as a mapping."""
        return schemas()[self.name]

    @property
    def key(self) -> str:
        """Return the hash under which this question is recorded."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def token_bound(self) -> int:
        """Return an upper limit for the prompt's tokens: a third of its size in UTF-8 bytes."""
        return -(-len(self.text.encode()) // 3)


@cache
def schemas() -> dict[PassName, dict[str, object]]:
    """Return the JSON Schemas of the replies, by pass."""
    found: dict[PassName, dict[str, object]] = json.loads(
        asset("prompts", "reply-schemas.json").read_text(encoding="utf-8")
    )
    return found


@cache
def instructions(name: PassName) -> str:
    """Return the instructions for a pass, read from its file in prompts/."""
    return asset("prompts", _PASSES[name][0]).read_text(encoding="utf-8").strip()


@cache
def _spelled_schema(name: PassName) -> str:
    return json.dumps(schemas()[name], separators=(",", ":"))


@cache
def prompt_hash() -> str:
    """Return the hash of all instructions and schemas, as recorded in a run's manifest."""
    fixed = "\0".join(f"{instructions(name)}\n{_spelled_schema(name)}" for name in _PASSES)
    return f"sha256:{hashlib.sha256(fixed.encode()).hexdigest()}"


# -- questions -------------------------------------------------------------------------------------


def _prompt(
    name: PassName,
    key: str,
    rows: Sequence[dict[str, object]],
    head: dict[str, object],
    context: str = "",
) -> Prompt:
    return Prompt(
        name=name,
        system=instructions(name),
        context=context,
        data=fence(key, concealed([_lean(row) for row in rows]), _lean(head)),
        items=len(rows),
    )


def _head(request: PromotionRequest | CanonicalRequest | ComparisonRequest) -> dict[str, object]:
    head: dict[str, object] = {"today": request.now.date().isoformat()}
    if not isinstance(request, ComparisonRequest):
        head["profile"] = request.profile
    return {**head, **_faults(request.faults)}


def _faults(faults: Mapping[str, str]) -> dict[str, object]:
    return {"faults": dict(sorted(faults.items()))} if faults else {}


def promotion_prompt(request: PromotionRequest) -> Prompt:
    """Compose the question of Pass 1, which asks for verdicts on candidates."""
    rows = [_candidate(c) for c in request.candidates]
    return _prompt("promotion", "candidates", rows, _head(request))


def canonical_prompt(request: CanonicalRequest) -> Prompt:
    """Compose the question of Pass 2, which asks for the claims of clusters.

    Prior claims are in the shared context, because every batch repeats them.
    """
    priors = [_lean(_prior(p)) for p in request.priors]
    context = fence("prior_claims", concealed(priors), {}) if priors else ""
    rows = [_cluster(c) for c in request.clusters]
    return _prompt("purifier", "clusters", rows, _head(request), context)


def verification_prompt(request: VerificationRequest) -> Prompt:
    """Compose the question that asks whether the evidence supports each wording."""
    rows: list[dict[str, object]] = [
        {
            "id": one.check_id,
            "evidence": list(one.evidence),
            "under": list(one.context),
            "known": list(one.known),
            "stated_on": one.stated_on,
            "wording": [f"{name}: {text}" for name, text in one.wording],
        }
        for one in request.checks
    ]
    return _prompt("verification", "items", rows, _faults(request.faults))


def comparison_prompt(request: ComparisonRequest) -> Prompt:
    """Compose the question that asks which pairs of statements contradict each other."""
    rows: list[dict[str, object]] = [
        {
            "pair": one.pair,
            "why": "" if one.why == "similar" else one.why,
            "reason": one.reason,
            "first": _statement(one.first),
            "second": _statement(one.second),
        }
        for one in request.pairs
    ]
    return _prompt("contradiction", "pairs", rows, _head(request))


def gist_prompt(request: GistRequest) -> Prompt:
    """Compose the question that asks for a note's gist. The prompt depends only on the note."""
    note = request.note
    row: dict[str, object] = {
        "title": note.text("title"),
        "tags": list(note.texts("tags")),
        "text": note.body,
    }
    return _prompt("gist", "notes", [row], {"fault": request.fault})


def summary_prompt(request: SummaryRequest) -> Prompt:
    """Compose the question that asks for a summary. The prompt depends only on the memories."""
    rows: list[dict[str, object]] = [
        {
            "title": m.text("title"),
            "subject": m.text("subject"),
            "text": m.body,
            "captured": m.captured,
        }
        for m in request.memories
    ]
    prompt = _prompt(
        "summary", "memories", rows, concealed({"topic": request.topic, "fault": request.fault})
    )
    return replace(prompt, items=1)


def _candidate(c: Candidate) -> dict[str, object]:
    return {
        "candidate_id": c.candidate_id,
        **_evidence(c),
        "text": c.text if len(c.text) <= JUDGED_LENGTH else f"{c.text[:JUDGED_LENGTH]} [...]",
        "place": _place(c.sources),
        "days": c.days if c.days > 1 else "",
        "resources": c.resources if c.resources > 1 else "",
        "retrieved": c.retrieved,
    }


def _evidence(c: Candidate) -> dict[str, object]:
    row = {"text": c.text, "context": list(c.context), "about": c.about, "task": c.task}
    return _lean({**row, "stated_on": _stated_on(c.sources)})


def _cluster(c: Cluster) -> dict[str, object]:
    # Steps must be read in their order.
    members = sorted(
        c.candidates,
        key=lambda one: (
            min(((s.resource, s.lines[0]) for s in one.sources), default=("", 0)),
            one.candidate_id,
        ),
    )
    return {
        "cluster_id": c.cluster_id,
        "type_hint": c.type_hint,
        "candidates": [_evidence(member) for member in members],
    }


def _prior(p: PriorClaim) -> dict[str, object]:
    return {
        "memory_id": p.memory_id,
        "type": p.type,
        "standing": "" if p.standing == "resolved" else p.standing,
        "subject": p.subject,
        "predicate": p.predicate,
        "object": p.object,
        "text": p.text,
        "stated_on": _stated_on(p.sources),
    }


def _statement(p: PriorClaim) -> dict[str, object]:
    """Return a statement as JSON fields, with its author, place and date."""
    return _lean(
        {
            "text": p.text,
            "under": p.under,
            "subject": "" if p.subject in p.text else p.subject,
            "by": p.by,
            "stated_on": _stated_on(p.sources),
            "place": _place(p.sources),
        }
    )


def _stated_on(sources: Sequence[Source]) -> str:
    """Return the date of a statement, taken from the heading or the file.

    Commit dates are ignored. Dates inside the statement are ignored too, because they may be those
    of a birth or a deadline.
    """
    dated = (s.captured[:10] for s in sources if s.captured_from not in ("", "commit", "unit"))
    return max(dated, default="")


def _place(sources: Sequence[Source]) -> str:
    return next((f"{s.resource}:{s.lines[0]}" for s in sources), "")


def _lean(record: dict[str, object]) -> dict[str, object]:
    """Return a record without empty values, to save tokens."""
    return {key: value for key, value in record.items() if value not in ("", [], ())}


def fence(key: str, rows: list[object], head: Mapping[str, object]) -> str:
    """Encode rows as JSON, one per line, and enclose them in marks that contain their hash."""
    lead = "".join(f"{_spelled(k)}: {_spelled(v)},\n" for k, v in head.items())
    body = f"{{{lead}{_spelled(key)}: [\n" + ",\n".join(map(_spelled, rows)) + "\n]}"
    mark = hashlib.sha256(body.encode()).hexdigest()[:16]
    return f"<<<data {mark}\n{body}\n{mark} data>>>"


def _spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPES)


# -- replies ---------------------------------------------------------------------------------------

_ID_LIMIT = 120
_FLOAT_BITS = 1023
_TRIES = 400  # limits the cost of a hostile reply with a million braces
_STARTS = 20
_FENCE = regex(r"```[a-zA-Z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_BETWEEN = regex(r"[\s,]*")
_KINDS = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
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
# Fields that code determines. They are never read from a reply.
_IGNORED: Mapping[type, str] = {
    Verdict: "fault",
    Scores: "canonical_clarity provenance_strength contradiction_pressure freshness route_fitness",
    CanonicalClaim: "fault freshness_posture confidence_posture rationale route_rationale"
    " asked_again refused",
    Wording: "lead",
    Finding: "fault model",
    Assessment: "fault",
}


class UnreadableReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why a text has no answer, with the failure of each attempt to parse it."""

    reason: str
    tried: tuple[str, ...] = ()


def read_answers(text: str, name: PassName, record: type[T]) -> tuple[T, ...] | UnreadableReply:
    """Parse the reply of a pass. A gist or a summary is returned as the only answer."""
    key = _PASSES[name][1]
    if name not in _SINGLE:
        found = elements(text, key)
        return (
            found if isinstance(found, UnreadableReply) else tuple(_build(record, e) for e in found)
        )
    answers = [o for objects in _ladder(text) for o in objects if key in o]
    if not answers:
        return _unreadable(text, key)
    try:
        return (msgspec.convert(_shaped(record, answers[-1][key]), record),)
    except msgspec.ValidationError as error:
        return UnreadableReply(reason=_fault(error, key))


def holds_answer(text: str, prompt: Prompt) -> bool:
    """Return whether a text has an answer to a question, whether or not its fields are valid."""
    key = _PASSES[prompt.name][1]
    if prompt.name not in _SINGLE:
        return not isinstance(elements(text, key), UnreadableReply)
    return any(key in o for objects in _ladder(text) for o in objects)


def elements(text: str, key: str) -> tuple[object, ...] | UnreadableReply:
    """Return the list that the last suitable JSON object in a text contains under a key.

    Tries the whole text, then each fenced block, then every object from a brace. The last attempt
    reads the complete elements of a truncated or malformed list.
    """
    for objects in _ladder(text):
        if holding := [o for o in objects if isinstance(o.get(key), list)]:
            return tuple(holding[-1][key])
    return tuple(_cut_off(text, key)) or _unreadable(text, key)


def _unreadable(text: str, key: str) -> UnreadableReply:
    """Explain why a text has no answer, with the result of each attempt to parse it."""
    if not (text := _bare(text)):
        return UnreadableReply(reason="the answer is empty")
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason, direct = f"the answer holds no JSON object with the key {key}", str(error)
    else:
        if isinstance(found, dict):
            fault = f"the key {key} holds no list" if key in found else ""
            reason = fault or f"the required key {key} is missing"
        else:
            kind = _KINDS.get(type(found), "number")
            reason = f"the top level is {kind}, expected an object with the key {key}"
        direct = reason
    return UnreadableReply(
        reason=reason,
        tried=(
            f"direct: {direct}",
            f"fence: {len(_FENCE.findall(text))} fenced blocks, none with {key}",
            f"scan: {sum(1 for _ in _braced(text))} objects from a brace on, none with {key}",
            f"cut: no complete element of {key}",
        ),
    )


def _bare(text: str) -> str:
    return text.strip().removeprefix("\ufeff").strip()


def _ladder(text: str) -> Iterator[Iterator[dict[str, Any]]]:
    """Yield the JSON objects from three attempts to parse a text: whole, by fence, and by brace."""
    text = _bare(text)
    yield _parsed([text])
    yield _parsed(_FENCE.findall(text))
    yield _braced(text)


def _parsed(texts: list[str]) -> Iterator[dict[str, Any]]:
    for text in texts:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _braced(text: str) -> Iterator[dict[str, Any]]:
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


def _build(record: Any, element: object) -> Any:
    """Build an answer from JSON. If the JSON is malformed, `fault` contains the first error."""
    shaped = _shaped(record, element)
    # If the id is not a single text, the answer identifies no item. The checks then reject it.
    id_name = "pair" if record is Finding else next(iter(_hints(record)))
    id_ = shaped.get(id_name) if isinstance(shaped, dict) else None
    id_ = id_[:_ID_LIMIT] if isinstance(id_, str) else ""
    try:
        if isinstance(shaped, dict) and id_:
            shaped[id_name] = id_
        made = msgspec.convert(shaped, record)
    except msgspec.ValidationError as error:
        return replace(_blank(record), **{id_name: id_, "fault": _fault(error)})
    if record is Verdict and isinstance(element, dict) and "strength" not in element:
        return replace(made, strength=made.scores.strength)
    if record is Finding and not in_unit_range(made.confidence):
        return replace(made, fault="confidence is not a number from 0 to 1")
    return made


@cache
def _hints(record: Any) -> dict[str, object]:
    """Return the types of those fields of a record that are read from a reply, by name."""
    ignored = _IGNORED.get(record, "").split()
    return {name: h for name, h in get_type_hints(record).items() if name not in ignored}


def _is_record(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _shaped(hint: Any, given: object) -> Any:
    """Convert a JSON value to our field names, removing characters that files cannot contain."""
    if isinstance(given, str):
        # JSON can contain half of a surrogate pair, which a file cannot.
        text = given.encode("utf-8", "replace").decode("utf-8")
        return text if text.isprintable() else "".join(ch for ch in text if _may_enter(ch))
    if _is_record(hint) and isinstance(given, dict):
        values = {name: given.get(_WIRE.get(name, name), given.get(name)) for name in _hints(hint)}
        parts = _hints(hint)
        return {n: _shaped(parts[n], value) for n, value in values.items() if value is not None}
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
    message, _, where = str(error).partition(" - at `$")
    path = ".".join(_WIRE.get(part, part) for part in where.strip("`.").split("."))
    return f"{'.'.join(filter(None, (key, path))) or 'the answer'}: {message}"


def _may_enter(ch: str) -> bool:
    """Return whether answers may contain a character. Invisible characters are not permitted.

    Joiners are permitted, since some scripts need them.
    """
    if ch in "\n\t\u200c\u200d":
        return True
    return unicodedata.category(ch) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
