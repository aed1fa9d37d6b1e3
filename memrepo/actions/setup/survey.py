"""The survey of all memories at a commit, as `status` reports it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from memrepo.actions.work import Work
from memrepo.core.corrections import corrections_of
from memrepo.core.ids import digest
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import conflicts, counted_as


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of memories, and the problems found in them."""

    memories: Mapping[str, int]
    """The number of memories by status."""
    types: Mapping[str, int]
    """The number of active memories except notes, by type."""
    tiers: Mapping[str, int]
    """The number of active notes, by tier."""
    hot: int
    """The number of memories in the hot cache."""
    contradictions: int
    """The number of open contradictions."""
    undecided: int
    """The number of open contradictions except those marked as needing more context."""
    problems: tuple[Problem, ...]
    """Problems of memory files."""
    stones: tuple[Problem, ...]
    """Problems of tombstones."""
    cases: tuple[Problem, ...]
    """Problems of corrections."""
    broken: tuple[Problem, ...]
    """Problems of references between memories."""


def survey(work: Work) -> Survey:
    """Return the survey of the current commit. It is cached by commit and scope."""
    surveys = work.store.trees.catalogue.surveys
    key = digest([work.tree.commit, work.call.scope])
    if key not in surveys:
        surveys[key] = msgspec.to_builtins(survey_of(work.tree.state()))
    return msgspec.convert(surveys[key], Survey)


def survey_of(state: State) -> Survey:
    """Count the memories of a state, and check the references between them."""
    cases = corrections_of(state)
    found = conflicts(state, cases)
    return Survey(
        memories=_sorted(Counter(map(counted_as, state.memories.values()))),
        types=_sorted(Counter(m.type for m in state.active if not m.is_note)),
        tiers=_sorted(Counter(m.text("tier") or "hot" for m in state.active if m.is_note)),
        hot=sum(hot_of(m) is not None for m in state.active),
        contradictions=sum(c.status == "open" for c in found),
        undecided=sum(c.needs_a_person for c in found),
        problems=state.problems,
        stones=tombstones_in(state).problems,
        cases=cases.problems,
        broken=tuple(p for p in closure.closure(state) if p.rule != "memory-same-id"),
    )


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
