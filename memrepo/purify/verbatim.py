"""Whether a claim says what its evidence says, and the evidence itself where it twice does not.

A model words claims; nobody reads each. So every claim of a model is compared with its evidence
(`policies.faithful`): with what is wrong it is asked for once more, and then the evidence stands in
its own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from memrepo.core.ids import visible
from memrepo.core.judge import (
    Candidate,
    CanonicalClaim,
    Cluster,
    PriorClaim,
    Wording,
)
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE
from memrepo.policies.faithful import Evidence, unfaithful, unsupported
from memrepo.policies.matching import tokens

LIMIT = 400
"""Characters of evidence that may stand as a claim in its own words."""
_SHOWN = 300
_SHORT = ("title", "subject", "object")


def evidence_of(cluster: Cluster, claim: CanonicalClaim, priors: Sequence[PriorClaim]) -> Evidence:
    """Return what a claim of a cluster may draw on; of priors those that it names itself."""
    named = {*claim.supersedes, *(c.memory_id for c in claim.contradictions)}
    members = cluster.candidates
    return Evidence(
        texts=tuple(f"{c.text} {c.detail}".strip() for c in members),
        beside=tuple(
            dict.fromkeys(
                part
                for c in members
                for part in (*c.context, c.about, c.key, *_files(c.sources))
                if part
            )
        ),
        named=tuple(p.text for p in priors if p.memory_id in named),
        days=tuple(sorted({s.captured[:10] for c in members for s in c.sources if s.captured})),
    )


def _files(sources: Sequence[object]) -> Iterator[str]:
    for source in sources:
        yield str(getattr(source, "resource", "")).rsplit("/", 1)[-1].rsplit(".", 1)[0]


def wording_fault(claim: CanonicalClaim, cluster: Cluster, priors: Sequence[PriorClaim]) -> str:
    """Return what a claim's wording says that its evidence does not, or an empty string."""
    evidence, wording = evidence_of(cluster, claim, priors), claim.wording
    if fault := unfaithful(wording.text, evidence):
        return f"text: {fault} (your text was: {_told(wording.text)})"
    for name in _SHORT:
        value = getattr(wording, name)
        if value and (fault := unsupported(value, wording.text, evidence)):
            return f"{name}: {fault} (you wrote: {_told(value)})"
    predicate = wording.predicate.replace("_", " ")
    fault = unsupported(predicate, wording.text, evidence) if predicate else ""
    if fault and not fault.startswith("not in the evidence"):
        return f"predicate: {fault} (you wrote: {_told(predicate)})"
    return ""


def restating_fault(prior: PriorClaim, cluster: Cluster) -> str:
    """Return why no line of a cluster says what a memory says, or an empty string.

    One may say more than the other: then the one that says less must be said by the other.
    """
    faults = []
    for one in cluster.candidates:
        around = (*one.context, one.about, one.key, prior.subject, prior.under)
        lines = Evidence(texts=(one.text,), beside=around)
        memory = Evidence(texts=(prior.text,), beside=around)
        fault = unfaithful(prior.text, lines)
        if not fault or not unfaithful(one.text, memory):
            return ""
        faults.append(fault)
    return f"restates: the memory says something else: {faults[0]}"


def _joined(cluster: Cluster) -> str:
    """Return the evidence in its own words: all that its lines say, in their order."""
    first, *others = sorted(cluster.candidates, key=_stands_at)
    said, known = [first.text.strip()], tokens(first.text)
    for one in others:
        words = tokens(one.text)
        if len(words & known) < _SAID * len(words):
            said.append(one.text.strip())
            known |= words
    joined = " ".join(said)
    return joined if len(joined) <= LIMIT else said[0]


_SAID = 0.6
"""A line of which so many words were said before adds nothing."""


def _stands_at(candidate: Candidate) -> tuple[str, int]:
    return min(((s.resource, s.lines[0]) for s in candidate.sources), default=("", 0))


def _told(text: str) -> str:
    said = " ".join(visible(text).split())
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"


def verbatim(given: Sequence[CanonicalClaim], cluster: Cluster) -> CanonicalClaim | None:
    """Return a claim in the evidence's own words, placed as the refused ones were; None if long."""
    text = _joined(cluster)
    if not text or len(text) > LIMIT or not given:
        return None
    first = given[0]
    kind = first.type if first.type in CLAIM_TYPES else cluster.type_hint
    if kind not in CLAIM_TYPES:
        return None
    return replace(
        first,
        type=kind,
        home=first.home if first.home == HOME_OF_TYPE[kind] else HOME_OF_TYPE[kind],
        wording=Wording(text=text),
        standing="unresolved" if first.standing == "unresolved" else "resolved",
        contradictions=(),
        supersedes=(),
        entities=(),
        tags=(),
        quote="",
        fault="",
    )
