"""Where two sources tell of one thing: who words it, what stays apart, what is only supported.

Four pairs of sources collide (memory-purifier, routing rules, collision zones):

| zone | sources | rule |
|---|---|---|
| A | MEMORY, RTMEMORY | one fact; the reflection supports it (`inferred`) |
| B | CHRONICLES, episodes | a milestone and a digest are two memories |
| C | DREAMS | a wish needs persistence 0.6 and a second entry, or CHRONICLES; else it is deferred |
| D | PROCEDURES, narratives | one method in PLAYBOOKS; what tells of it supports it (`inferred`) |

The lineage had them in prose only. Here no judge decides them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from memrepo.core.judging import Candidate, Cluster, Verdict
from memrepo.core.memory import HOME_OF_TYPE, Source
from memrepo.purify.sources import default_type

WISH_PERSISTENCE = 0.6
_METHODS = ("method", "procedure")
_WORDED_BY = {
    "lesson": ("fact", *_METHODS),
    "fact": _METHODS,
    "milestone": ("aspiration",),
}
_OWN_ROLE = frozenset(
    (frozenset(("milestone", "episode")), *(frozenset((kind, "episode")) for kind in _METHODS))
)


def hint_of(hints: Iterable[str]) -> str:
    """Return the kind of source that says what a group is: by zone, else the most frequent one."""
    count = Counter(hints)  # most_common keeps the order of first appearance on ties
    ranked = [hint for hint, _ in count.most_common()]
    for hint in ranked:
        if not any(other in count for other in _WORDED_BY.get(hint, ())):
            return hint
    return ranked[0]


def apart(one: Candidate, other: Candidate) -> bool:
    """Tell whether two candidates have a memory each, whatever a judge says: each has its role."""
    return two_roles(one.type_hint, other.type_hint)


def two_roles(one: str, other: str) -> bool:
    """Tell whether two types are never one memory, though the same is told."""
    return frozenset((one, other)) in _OWN_ROLE


def only_reflects(source: Source, others: Iterable[Source]) -> bool:
    """Tell whether a source only reflects on what another one states."""
    stated = _WORDED_BY.get(default_type(source.resource), ())
    return any(default_type(other.resource) in stated for other in others)


def homes_beside(cluster: Cluster, linked: Iterable[Candidate]) -> tuple[str, ...]:
    """Return the homes of what tells of a cluster beside its own, sorted: they become tags."""
    hints = {c.type_hint for c in (*cluster.candidates, *linked)}
    homes = {HOME_OF_TYPE[hint] for hint in hints if hint in HOME_OF_TYPE}
    return tuple(sorted(homes - {cluster.home_hint}))


def defer_dreams(
    groups: Sequence[Cluster], verdicts: Sequence[Verdict]
) -> tuple[tuple[Cluster, ...], tuple[Verdict, ...]]:
    """Defer the wishes that rest on one dream, or that will not last; return what is left."""
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
