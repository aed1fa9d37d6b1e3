"""Values of one key that a newer claim of the same run replaces.

A judge cannot name the memory of another claim of its own answer, since that memory does not exist
yet. It says that a claim is stale; here the newer one is found and the two are linked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from memrepo.core.judging import CanonicalClaim
from memrepo.core.memory import Memory
from memrepo.policies.matching import reuse_key


def overtaken(
    claims: Sequence[CanonicalClaim], became: Mapping[str, str], current: Callable[[str], Memory]
) -> Iterator[tuple[str, str]]:
    """Yield (newer, older) memory ids: each stale claim with the next newer one of its key.

    Only a claim that contradicts nothing known counts; without a dated successor it stays as it
    is, stale and active. Older ones come first, so that a chain grows forward.
    """
    keyed: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    stale: list[tuple[str, str, tuple[str, str, str]]] = []
    for claim in claims:
        said = claim.wording
        key = reuse_key(said.subject, said.predicate, claim.home)
        id_ = became.get(claim.cluster_id, "")
        if key is None or not id_:
            continue
        day = max((s.captured[:10] for s in current(id_).sources), default="")
        keyed.setdefault(key, []).append((day, id_))
        if claim.standing == "stale" and not claim.contradictions:
            stale.append((day, id_, key))
    for day, id_, key in sorted(stale):
        newer = [(d, other) for d, other in keyed[key] if d > day and other != id_]
        if newer:
            yield min(newer)[1], id_
