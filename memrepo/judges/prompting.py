"""Compose prompts from the instructions in prompts/ and the evidence, fenced as data.

Evidence is JSON in which no text can contain an angle bracket or start a new line. The marks around
it contain its hash. Evidence can therefore neither close its fence nor imitate instructions.
Secrets are removed from all evidence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal

import msgspec

from memrepo.assets import asset
from memrepo.core.judge import (
    Candidate,
    CanonicalRequest,
    Cluster,
    ComparisonRequest,
    GistRequest,
    PriorClaim,
    PromotionRequest,
    SummaryRequest,
    Suspicion,
    VerificationRequest,
    WordingCheck,
)
from memrepo.core.memory import Source
from memrepo.core.secrets import concealed
from memrepo.judges.replies import (
    checks_schema,
    claims_schema,
    findings_schema,
    gist_schema,
    summary_schema,
    verdicts_schema,
)

PassName = Literal["promotion", "purifier", "verification", "contradiction", "gist", "summary"]
SCHEMAS: Mapping[PassName, Callable[[], dict[str, object]]] = {
    "promotion": verdicts_schema,
    "purifier": claims_schema,
    "verification": checks_schema,
    "contradiction": findings_schema,
    "gist": gist_schema,
    "summary": summary_schema,
}
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
