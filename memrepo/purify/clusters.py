"""Join surviving candidates into clusters, each of which becomes one claim.

Lineage: memory-purifier, clustering (union-find over merge links). Deliberate difference: a
compressed candidate is folded into its target's cluster, so that its text is kept as evidence;
what has a role of its own (`zones`) is never joined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from memrepo.core.ids import digest
from memrepo.core.judging import Candidate, Cluster, Verdict
from memrepo.core.memory import HOME_OF_TYPE
from memrepo.core.patterns import regex
from memrepo.purify import zones

_TOKEN = regex(r"[^\W\d_][\w./-]*")
_NO_ENTITY = frozenset(
    {
        "The",
        "This",
        "That",
        "These",
        "Those",
        "And",
        "But",
        "For",
        "From",
        "With",
        "When",
        "Where",
        "While",
        "After",
        "Before",
        "Not",
        "You",
        "She",
        "They",
        "Her",
        "His",
        "Its",
        "Our",
        "Your",
        "Use",
        "Run",
        "Der",
        "Die",
        "Das",
        "Und",
        "Aber",
        "Ein",
        "Eine",
        "Mit",
        "Von",
        "Ist",
    }
)


def clusters(candidates: Sequence[Candidate], verdicts: Sequence[Verdict]) -> tuple[Cluster, ...]:
    """Return the clusters of promoted, merged and compressed candidates.

    Members are sorted by id; clusters by the place (resource, line) of their first evidence, then
    by id. Links to candidates that do not survive are ignored; a one-way link suffices.
    """
    alive = {v.candidate_id: v for v in verdicts if v.verdict not in ("reject", "defer")}
    by_id = {c.candidate_id: c for c in candidates if c.candidate_id in alive}
    parent = {key: key for key in by_id}
    beside: dict[str, list[Candidate]] = {}
    for key, one in by_id.items():
        for other in (*alive[key].merge_with, alive[key].compress_into):
            if other not in parent:
                continue
            if zones.apart(one, by_id[other]):
                beside.setdefault(key, []).append(by_id[other])
                beside.setdefault(other, []).append(one)
            else:
                _union(parent, key, other)
    groups: dict[str, list[Candidate]] = {}
    for key in sorted(by_id):
        groups.setdefault(_root(parent, key), []).append(by_id[key])
    made = (_cluster(members, alive, beside) for members in groups.values())
    return tuple(sorted(made, key=lambda c: (_place(c), c.cluster_id)))


def _root(parent: dict[str, str], key: str) -> str:
    while parent[key] != key:
        parent[key] = parent[parent[key]]  # halve the path, so that long chains stay cheap
        key = parent[key]
    return key


def _union(parent: dict[str, str], one: str, other: str) -> None:
    first, second = sorted((_root(parent, one), _root(parent, other)))
    parent[second] = first


def _cluster(
    members: Sequence[Candidate],
    alive: Mapping[str, Verdict],
    beside: Mapping[str, Sequence[Candidate]],
) -> Cluster:
    hint = zones.hint_of(c.type_hint for c in members)
    ids = [c.candidate_id for c in members]
    made = Cluster(
        cluster_id=f"clust-{digest(ids)[:16]}",
        candidates=tuple(members),
        strength=max(alive[key].strength for key in ids),
        type_hint=hint,
        home_hint=HOME_OF_TYPE.get(hint, ""),
        entities=shared_entities([c.text for c in members]),
    )
    linked = [other for key in ids for other in beside.get(key, ())]
    return replace(made, tags=zones.homes_beside(made, linked))


def shared_entities(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the capitalised tokens (three characters up) that every text holds, sorted."""
    shared: set[str] | None = None
    for text in texts:
        found = {token.rstrip("./-") for token in _TOKEN.findall(text) if token[0].isupper()}
        names = {token for token in found if len(token) >= 3 and token not in _NO_ENTITY}
        shared = names if shared is None else shared & names
    return tuple(sorted(shared or ()))


def _place(cluster: Cluster) -> tuple[str, int]:
    places = [(s.resource, s.lines[0]) for c in cluster.candidates for s in c.sources]
    return min(places, default=("", 0))
