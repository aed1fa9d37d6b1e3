"""Group candidates into clusters, and split clusters that state more than one fact.

Each cluster becomes one claim. A compressed candidate joins the cluster of its target, so its text
remains as evidence. memory-purifier (clustering, union-find over merge links) differs in this.

Four pairs of sources may state the same (memory-purifier, routing rules, collision zones):

| zone | sources | rule |
|---|---|---|
| A | MEMORY, RTMEMORY | one fact; the reflection supports it (`inferred`) |
| B | CHRONICLES, episodes | a milestone and a digest are two memories |
| C | DREAMS | a wish needs persistence 0.6 and a second entry, or CHRONICLES; else it is deferred |
| D | PROCEDURES, narratives | one method in PLAYBOOKS; the narratives support it (`inferred`) |

memory-purifier describes the zones in prose only. Here they are fixed rules without a judge.

A judge may give several answers about one cluster, each with a quote of its evidence. Each answer
then gets its own cluster, with the lines of the quote and the members that state it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from memrepo.core.ids import digest
from memrepo.core.judge import Candidate, CanonicalClaim, Cluster, Verdict
from memrepo.core.memory import HOME_OF_TYPE
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.policies.claims import WORDED_BY, have_two_roles
from memrepo.read.sources import default_type
from memrepo.text.languages import small_words
from memrepo.text.words import content_words

WISH_PERSISTENCE = 0.6


def hint_of(hints: Iterable[str]) -> str:
    """Return the type for a group of candidates, chosen from the candidates' types.

    The zones above decide, or else the most frequent type.
    """
    count = Counter(hints)  # on ties, most_common retains the order of first appearance
    ranked = [hint for hint, _ in count.most_common()]
    for hint in ranked:
        if not any(other in count for other in WORDED_BY.get(hint, ())):
            return hint
    return ranked[0]


def defer_dreams(
    groups: Sequence[Cluster], verdicts: Sequence[Verdict]
) -> tuple[tuple[Cluster, ...], tuple[Verdict, ...]]:
    """Defer wishes that are based on a single dream or show no persistence.

    Return the remaining clusters and all verdicts.
    """
    by_id = {v.candidate_id: v for v in verdicts}
    kept: list[Cluster] = []
    why: dict[str, str] = {}
    for group in groups:
        if reason := _not_yet_a_wish(group, by_id):
            why |= {c.candidate_id: reason for c in group.candidates}
        else:
            kept.append(group)
    return tuple(kept), tuple(
        _deferred(v, why[v.candidate_id]) if v.candidate_id in why else v for v in verdicts
    )


def _not_yet_a_wish(group: Cluster, verdicts: Mapping[str, Verdict]) -> str:
    places = [s for c in group.candidates for s in c.sources]
    if not places or {default_type(s.resource) for s in places} != {"aspiration"}:
        return ""
    lasting = max(verdicts[c.candidate_id].scores.cross_time_persistence for c in group.candidates)
    if len({(s.resource, s.lines) for s in places}) < 2:
        return "one_dream"
    return "" if lasting >= WISH_PERSISTENCE else "passing_dream"


def _deferred(verdict: Verdict, why: str) -> Verdict:
    rationale = ",".join(filter(None, (verdict.rationale, why)))
    return replace(verdict, verdict="defer", merge_with=(), compress_into="", rationale=rationale)


ENOUGH = 0.5
"""Share of a quote's words from which a member states the same."""


def spans_of(quote: str) -> list[str]:
    """Split a quote at ` ... ` into spans. Spans without words are omitted."""
    return [span for part in quote.split("...") for span in part.split("…") if _WORD.search(span)]


def find_span(text: str, span: str) -> tuple[int, int] | None:
    """Return where a span starts and ends in a text, or None if it does not occur.

    Blanks, punctuation and case are ignored.
    """
    words = map(re.escape, _WORD.findall(span))
    match = re.search(r"[\W_]+".join(words), text, re.IGNORECASE)
    return match.span() if match else None


def _find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Return the offsets between which a text contains the spans of a quote, or None."""
    found = [at for span in spans_of(quote) if (at := find_span(text, span))]
    return (min(found)[0], max(end for _, end in found)) if found else None


def part_fault(claims: Sequence[CanonicalClaim], cluster: Cluster) -> str:
    """Return why several claims for one cluster are invalid, or an empty string if valid."""
    texts = [c.text for c in cluster.candidates]
    for claim in claims:
        if not (spans := spans_of(claim.quote)):
            times = counted(len(claims), "time", "times")
            return f"answered {times}, and not every answer has a quote"
        if not any(find_span(text, span) for text in texts for span in spans):
            return f"quote: not in the evidence word by word: {spans[0].strip()[:_SHOWN]}"
    texts_of_claims = [" ".join(claim.wording.text.casefold().split()) for claim in claims]
    return (
        "two answers have the same text" if len(set(texts_of_claims)) < len(texts_of_claims) else ""
    )


def divide(
    groups: Sequence[Cluster], claims: Sequence[CanonicalClaim]
) -> tuple[tuple[Cluster, ...], tuple[CanonicalClaim, ...]]:
    """Split clusters that have several claims into one cluster per claim.

    Their ids end in `.1`, `.2`, and so on.
    """
    answers: dict[str, list[CanonicalClaim]] = {}
    for claim in claims:
        answers.setdefault(claim.cluster_id, []).append(claim)
    made: list[Cluster] = []
    divided: list[CanonicalClaim] = []
    for group in groups:
        own = answers.get(group.cluster_id, [])
        if len(own) < 2:
            made.append(group)
            divided += own
            continue
        for number, claim in enumerate(own, start=1):
            id_ = f"{group.cluster_id}.{number}"
            members = _evidence(group, claim, own)
            made.append(replace(group, cluster_id=id_, candidates=members, part=number))
            divided.append(replace(claim, cluster_id=id_))
    return tuple(made), tuple(divided)


def _evidence(
    group: Cluster, claim: CanonicalClaim, own: Sequence[CanonicalClaim]
) -> tuple[Candidate, ...]:
    """Return the members of a cluster that support one of its claims.

    Members that contain the quote come first, reduced to the lines of the quote.
    """
    quoted, others = [], []
    for candidate in group.candidates:
        span = _find_quote(candidate.text, claim.quote)
        if span is not None:
            quoted.append(_narrowed(candidate, span))
        elif _says(candidate, claim) >= ENOUGH or claim is max(
            own,
            key=lambda c, member=candidate: _says(member, c),  # type: ignore[misc]
        ):
            others.append(candidate)
    return (*quoted, *others)


def _says(candidate: Candidate, claim: CanonicalClaim) -> float:
    words = content_words(claim.quote)
    return len(words & content_words(candidate.text)) / len(words) if words else 0.0


def _narrowed(candidate: Candidate, span: tuple[int, int]) -> Candidate:
    """Limit the sources of a candidate to the lines of a part of its text, where possible.

    The lines are known if no line of the source was left out of the text.
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


_WORD = regex(r"[^\W_]+")
_SHOWN = 60
_TOKEN = regex(r"[^\W\d_][\w./-]*")


def clusters(candidates: Sequence[Candidate], verdicts: Sequence[Verdict]) -> tuple[Cluster, ...]:
    """Group the promoted, merged and compressed candidates into clusters.

    Members are sorted by id. Clusters are sorted by the place (resource, line) of their first
    evidence, then by id. Links to candidates that do not survive are ignored. A one-way link is
    sufficient.
    """
    alive = {v.candidate_id: v for v in verdicts if v.verdict not in ("reject", "defer")}
    by_id = {c.candidate_id: c for c in candidates if c.candidate_id in alive}
    parent = {key: key for key in by_id}
    linked: dict[str, list[Candidate]] = {}
    for key, one in by_id.items():
        for other in (*alive[key].merge_with, alive[key].compress_into):
            if other not in parent:
                continue
            if have_two_roles(one.type_hint, by_id[other].type_hint):
                linked.setdefault(key, []).append(by_id[other])
                linked.setdefault(other, []).append(one)
            else:
                first, second = sorted((_root(parent, key), _root(parent, other)))
                parent[second] = first
    groups: dict[str, list[Candidate]] = {}
    for key in sorted(by_id):
        groups.setdefault(_root(parent, key), []).append(by_id[key])
    made = (_cluster(members, alive, linked) for members in groups.values())
    return tuple(sorted(made, key=lambda c: (_place(c), c.cluster_id)))


def _root(parent: dict[str, str], key: str) -> str:
    while parent[key] != key:
        parent[key] = parent[parent[key]]  # halve the path to limit the cost of long chains
        key = parent[key]
    return key


def _cluster(
    members: Sequence[Candidate],
    alive: Mapping[str, Verdict],
    linked: Mapping[str, Sequence[Candidate]],
) -> Cluster:
    """Return a cluster. Its tags are the pages, other than its own, of the linked candidates."""
    hint = hint_of(c.type_hint for c in members)
    home = HOME_OF_TYPE.get(hint, "")
    ids = [c.candidate_id for c in members]
    others = (*members, *(other for key in ids for other in linked.get(key, ())))
    homes = {HOME_OF_TYPE.get(c.type_hint, home) for c in others}
    return Cluster(
        cluster_id=f"clust-{digest(ids)[:16]}",
        candidates=tuple(members),
        strength=max(alive[key].strength for key in ids),
        type_hint=hint,
        home_hint=home,
        entities=shared_entities([c.text for c in members]),
        tags=tuple(sorted(homes - {home})),
    )


@cache
def _small() -> frozenset[str]:
    return frozenset().union(*small_words().values())


def shared_entities(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the capitalised words of three or more characters that all texts contain, sorted."""
    shared: set[str] | None = None
    for text in texts:
        found = {token.rstrip("./-") for token in _TOKEN.findall(text) if token[0].isupper()}
        names = {token for token in found if len(token) >= 3 and token.casefold() not in _small()}
        shared = names if shared is None else shared & names
    return tuple(sorted(shared or ()))


def _place(cluster: Cluster) -> tuple[str, int]:
    places = [(s.resource, s.lines[0]) for c in cluster.candidates for s in c.sources]
    return min(places, default=("", 0))
