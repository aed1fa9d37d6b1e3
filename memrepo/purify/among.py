"""Contradictions among memories that stand already, whoever wrote them: each pair once.

Lineage: engram, contradiction detection at consolidation. A pair that a person decided, that is
flagged, or of which a model said that both hold is not asked about again until a text changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import islice

import msgspec

from memrepo.core.changes import Step
from memrepo.core.judging import Finding, Judge, Suspicion, Why
from memrepo.core.memory import Memory
from memrepo.core.state import State
from memrepo.policies.conflicts import contradicts
from memrepo.purify.asking import Asked
from memrepo.purify.decisions import decided_pair
from memrepo.purify.holding import fingerprints
from memrepo.purify.known import Former, Known, prior_of
from memrepo.purify.verifying import Pair, Pool, ask, harmless_of, pair_print

MOST = 50
"""Pairs that one run asks a model about; the rest wait for the next."""


class Among(msgspec.Struct, frozen=True, kw_only=True):
    """The decisions, how the asking went, and the prints of pairs that a model let stand."""

    steps: tuple[Step, ...]
    asked: Asked[Finding]
    harmless: frozenset[str] = frozenset()
    whole: bool = True
    """Whether every suspected pair was decided: none is left for the next run."""


def among(
    state: State,
    judge: Judge,
    now: datetime,
    never: Collection[str],
    compared: Collection[str],
    changed: Collection[str] | None = None,
) -> Among:
    """Decide every suspected pair of active memories, at most MOST with a model.

    `never` holds the fingerprints of decisions that a person took back, `compared` the prints of
    pairs that a model let stand before. Of a pair one side is among the ids `changed`, if given.
    """
    asked: Asked[Finding] = Asked(name="contradiction")
    pairs = _suspected(state, now, never, compared, changed)
    chosen = dict(islice(pairs, MOST) if judge.prompt_hash else pairs)
    findings = ask(chosen, judge, asked)
    held = {pair: found for pair, found in findings.items() if found.is_contradiction}
    steps: list[Step] = []
    if held:
        known = Known(state=state, former=Former(), now=now)
        decided = (decided_pair(known, *pair, found) for pair, found in held.items())
        steps = [step for step in decided if step is not None]
    harmless = harmless_of(chosen, findings, judge)
    whole = len(findings) == len(chosen) and next(pairs, None) is None
    return Among(steps=tuple(steps), asked=asked, harmless=harmless, whole=whole)


def _suspected(
    state: State,
    now: datetime,
    never: Collection[str],
    compared: Collection[str],
    changed: Collection[str] | None,
) -> Iterator[tuple[Pair, Suspicion]]:
    """Yield the pairs worth a question, the newer memory first in each."""
    pool = Pool(state)
    new = pool.memories.keys() if changed is None else changed
    seen: set[frozenset[str]] = set()
    for id_ in sorted(pool.memories) if changed is None else pool.around(changed):
        rows: list[tuple[str, Why]] = [(other, "changed") for other in pool.changed(id_)]
        rows += [(other, "same_key") for other in pool.other_values(id_)]
        rows += [(other, "similar") for other in pool.alike(id_)]
        for other, why in rows:
            pair = frozenset((id_, other))
            if pair in seen or not (id_ in new or other in new):
                continue
            seen.add(pair)
            if not pool.open_to_doubt(id_, other, named=False):
                continue
            sides = (pool.memories[id_], pool.memories[other])
            second, first = sorted(sides, key=_age)
            if _spared(first, second, never, compared):
                continue
            yield (
                (first.id, second.id),
                Suspicion(now=now, first=prior_of(first), second=prior_of(second), why=why),
            )


def _age(memory: Memory) -> tuple[str, str, str]:
    dated = (s.captured for s in memory.sources if s.captured_from not in ("", "commit"))
    created = memory.time("created")
    return max(dated, default=""), created.isoformat() if created else "", memory.id


def _spared(one: Memory, other: Memory, never: Collection[str], compared: Collection[str]) -> bool:
    """Tell whether a person, a flag or a model has spoken about these two already."""
    if contradicts(one, other) or contradicts(other, one):
        return True
    taken_back = (fingerprints(op, (one.id, other.id)) for op in ("supersede", "flag"))
    if any(not found.isdisjoint(never) for found in taken_back):
        return True
    return pair_print(one.id, one.body, other.id, other.body) in compared
