"""A cluster that states several facts becomes several claims, each with evidence of its own.

Where a judge answers a cluster more than once, each answer quotes the words it rests on. From then
on each part is a cluster: its lines are those of the quote, its members those that say it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from memrepo.core.judging import Candidate, CanonicalClaim, Cluster
from memrepo.policies.matching import tokens

ENOUGH = 0.5
"""A member that holds this share of a quote's words says the same without the quote's wording."""


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, or None; blanks and line ends are alike."""
    words = quote.split()
    if not words:
        return None
    match = re.search(r"\s+".join(map(re.escape, words)), text)
    return match.span() if match else None


def part_fault(claims: Sequence[CanonicalClaim], cluster: Cluster) -> str:
    """Return why several claims of one cluster cannot stand side by side, or an empty string."""
    texts = [c.text for c in cluster.candidates]
    for claim in claims:
        if not claim.quote.strip():
            return f"answered {len(claims)} times, and not every answer has a quote"
        if not any(find_quote(text, claim.quote) for text in texts):
            return "a quote does not stand in the cluster's candidates"
    said = [" ".join(claim.wording.text.casefold().split()) for claim in claims]
    return "two answers have the same text" if len(set(said)) < len(said) else ""


def divide(
    groups: Sequence[Cluster], claims: Sequence[CanonicalClaim]
) -> tuple[tuple[Cluster, ...], tuple[CanonicalClaim, ...]]:
    """Make a cluster of each claim that shares one with others; ids get `.1`, `.2`, and so on."""
    answers: dict[str, list[CanonicalClaim]] = {}
    for claim in claims:
        answers.setdefault(claim.cluster_id, []).append(claim)
    made: list[Cluster] = []
    said: list[CanonicalClaim] = []
    for group in groups:
        own = answers.get(group.cluster_id, [])
        if len(own) < 2:
            made.append(group)
            said += own
            continue
        for number, claim in enumerate(own, start=1):
            id_ = f"{group.cluster_id}.{number}"
            members = _evidence(group, claim, own)
            made.append(replace(group, cluster_id=id_, candidates=members, part=number))
            said.append(replace(claim, cluster_id=id_))
    return tuple(made), tuple(said)


def _evidence(
    group: Cluster, claim: CanonicalClaim, own: Sequence[CanonicalClaim]
) -> tuple[Candidate, ...]:
    """Return the members that say a part: those that hold its quote first, with its lines alone."""
    quoted, others = [], []
    for candidate in group.candidates:
        span = find_quote(candidate.text, claim.quote)
        if span is not None:
            quoted.append(_narrowed(candidate, span))
        elif _says(candidate, claim) >= ENOUGH or claim is max(
            own,
            key=lambda c, said=candidate: _says(said, c),  # type: ignore[misc]
        ):
            others.append(candidate)
    return (*quoted, *others)


def _says(candidate: Candidate, claim: CanonicalClaim) -> float:
    words = tokens(claim.quote)
    return len(words & tokens(candidate.text)) / len(words) if words else 0.0


def _narrowed(candidate: Candidate, span: tuple[int, int]) -> Candidate:
    """Return a candidate whose sources name the lines of a part of its text, where they are known.

    A text has the lines of its source unless some were left out of it.
    """
    before, through = (candidate.text.count("\n", 0, at) for at in span)
    rows = candidate.text.count("\n") + 1
    return replace(
        candidate,
        sources=tuple(
            replace(s, lines=(s.lines[0] + before, s.lines[0] + through))
            if s.lines[1] - s.lines[0] + 1 == rows
            else s
            for s in candidate.sources
        ),
    )
