"""What the hooks after a merge, a checkout and a rewrite do: the index catches up, and no more."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.actions.hand_merges import announced, unsettled
from memrepo.actions.recall.recall import index_of
from memrepo.actions.work import Work
from memrepo.core.problems import Problem
from memrepo.store.index import Filter
from memrepo.store.records import NAME
from memrepo.store.tables import is_built


def catch_up(work: Work, name: str, given: Sequence[str]) -> tuple[Problem, ...]:
    """Bring an index that is there to HEAD; return what git left for memrepo to settle."""
    if name == "post-checkout" and (given[2:3] == ["0"] or given[:1] == given[1:2]):
        return ()  # files, or the same commit
    if is_built(work.store.folder / NAME):
        index_of(work).count(["memory"], Filter())
    return announced(unsettled(work)) if name == "post-merge" else ()
