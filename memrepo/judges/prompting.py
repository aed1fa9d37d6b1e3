"""What a model is sent: instructions from prompts/, then the evidence, fenced as data.

Evidence is JSON in which no text can spell an angle bracket or a line of its own, between marks
that hash it; so it can neither end its fence nor pass for an instruction's place. Secrets are
taken out of all of it before it leaves.
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
"""Characters of a text that pass 1 shows: its beginning says whether it is worth wording."""
# JSON may spell any character by its number: these would look like the end of a fence or a tag.
_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&`\x7f\x85\u2028\u2029"})


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model: fixed instructions, context that batches share, and the batch.

    `items` counts what must be answered; `room` bounds the answer's tokens, 0 leaves that to the
    backend. A service that binds the answer to the schema is not told it a second time.
    """

    name: PassName
    system: str
    context: str
    data: str
    items: int
    room: int = 0

    @property
    def text(self) -> str:
        """Return all of it as one text, for programs that take one."""
        return "\n\n".join(filter(None, (self.system, self.spelled, self.context, self.data)))

    @property
    def spelled(self) -> str:
        """Return the schema of the reply as text."""
        return _spelled_schema(self.name)

    @property
    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of the reply."""
        return SCHEMAS[self.name]()

    @property
    def key_of_answers(self) -> str:
        """Return the one key of the reply."""
        return next(iter(msgspec.convert(self.schema["required"], list[str])))

    @property
    def key(self) -> str:
        """Return the hash that names this question in recordings."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def token_bound(self) -> int:
        """Return more tokens than the question has: a third of its bytes in UTF-8."""
        return -(-len(self.text.encode()) // 3)


def promotion_prompt(request: PromotionRequest) -> Prompt:
    """Format Pass 1's question."""
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
    """Format Pass 2's question; its prior claims stand apart, as every batch repeats them."""
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
    """Format the question whether evidence states what wordings of it say."""
    items: list[object] = [_check(one) for one in request.checks]
    return Prompt(
        name="verification",
        system=instructions("verification"),
        context="",
        data=fence("items", concealed(items), _faults(request.faults)),
        items=len(items),
    )


def comparison_prompt(request: ComparisonRequest) -> Prompt:
    """Format the question which pairs of statements contradict each other."""
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
    """Format a statement with all that says who said it, where and when."""
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
    """Return on which day something was said, as a heading or the file says: no commit does.

    A date inside the statement may be that of a birth or a deadline: the reader sees it there.
    """
    dated = (s.captured[:10] for s in sources if s.captured_from not in ("", "commit", "unit"))
    return _lean({"stated_on": max(dated, default="")})


def gist_prompt(request: GistRequest) -> Prompt:
    """Format the question for the gist of a note; it depends on nothing but the note."""
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
    """Format the question for a summary; it depends on nothing but the memories."""
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
    """Return the instructions of a question: its file in prompts/."""
    return asset("prompts", FILES[name]).read_text(encoding="utf-8").strip()


@cache
def _spelled_schema(name: PassName) -> str:
    return json.dumps(SCHEMAS[name](), separators=(",", ":"))


@cache
def prompt_hash() -> str:
    """Return the hash of everything fixed in all questions, as manifests record it."""
    fixed = "\0".join(f"{instructions(name)}\n{_spelled_schema(name)}" for name in SCHEMAS)
    return f"sha256:{hashlib.sha256(fixed.encode()).hexdigest()}"


def fence(key: str, rows: list[object], head: Mapping[str, object]) -> str:
    """Format rows as a JSON object, one row per line, between marks made of its own hash."""
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
    """Return where a candidate stands: steps are read in their order."""
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
    """Leave out what is empty: tokens cost."""
    return {key: value for key, value in record.items() if value not in ("", [], ())}
