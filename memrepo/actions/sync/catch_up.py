"""What the hooks after a merge, a checkout and a rewrite do: the index catches up, and no more."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.actions import result
from memrepo.actions.recall.recalled import index_of
from memrepo.actions.sync.hand_merges import announced, unsettled
from memrepo.actions.work import Work
from memrepo.core.errors import MemrepoError
from memrepo.core.problems import Problem
from memrepo.store.index import Filter
from memrepo.store.indexing import is_built
from memrepo.store.records import NAME


class CaughtUp(result.Result, frozen=True, kw_only=True):
    """What git left for memrepo to settle, or why the index did not catch up."""

    problems: tuple[Problem, ...] = ()
    failed: str = ""


def catch_up(work: Work, name: str, given: Sequence[str]) -> CaughtUp:
    """Bring an index that is there to HEAD, and say what git left for memrepo to settle.

    Git is done: whatever is wrong here is told and stops nothing.
    """
    if name == "post-checkout" and (given[2:3] == ["0"] or given[:1] == given[1:2]):
        return CaughtUp()  # files, or the same commit
    try:
        if is_built(work.store.folder / NAME):
            index_of(work).count(["memory"], Filter())
        problems = announced(unsettled(work)) if name == "post-merge" else ()
    except MemrepoError as error:
        return CaughtUp(failed=error.message)
    return CaughtUp(problems=problems, notices=problems)
