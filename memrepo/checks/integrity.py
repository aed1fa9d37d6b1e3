"""Check the history of commits written by memrepo. The rules are pure functions.

Commits without memrepo's trailers were made by others. They must only leave manifests unchanged. A
person may amend, rebase, squash or reword memrepo's commits. This leads to a warning, not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from memrepo.core.changes import OPS
from memrepo.core.ids import ID_PATTERN
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

RULES: Mapping[str, str] = {
    "history-trailers": "A commit of memrepo's has one known operation and an"
    " actor; it names memories, runs and commits by their ids.",
    "history-target": "A commit reverts or settles only something earlier in history.",
    "run-without-manifest": "The chain of a run adds the manifest of that run.",
    "manifest-without-run": "A manifest is added by its own run.",
    "manifest-changed": "A manifest is never changed.",
    "run-tree": "The tree of a run's merge is that of the last commit of its chain.",
    "run-chain": "The chain of a run begins at the merge's first parent and has only the run's"
    " commits.",
}
"""Every rule of this module, with its requirement in one line."""

_RUN = regex(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}(?:-import)?")
_COMMIT = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRINGS = ("revert", "sync")
"""Operations that restore a manifest or import it from another clone."""


class CommitFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a commit: its ids, subject and memrepo trailers, and the manifests it touched.

    `added` and `changed` have the run ids of the manifests. For merges they are empty.
    """

    commit: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    trailers: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def op(self) -> str:
        """Return the commit's operation, or an empty string if memrepo did not write the commit."""
        return next(iter(self.trailers.get("Op", ())), "")

    @property
    def run(self) -> str:
        """Return the id of the commit's run, or an empty string."""
        return next(iter(self.trailers.get("Run", ())), "")


def history_problems(facts: Sequence[CommitFacts]) -> tuple[Problem, ...]:
    """Return the problems of a history in commit order. Parents must precede their children."""
    by_id = {f.commit: f for f in facts}
    earlier: set[str] = set()
    found: list[Problem] = []
    for commit in facts:
        finders = (_trailers(commit), _targets(commit, earlier), _manifests(commit))
        found += (problem for finder in finders for problem in finder)
        if commit.op == "run" and len(commit.parents) == 2:
            found += _merge(commit, by_id)
        earlier.add(commit.commit)
    return tuple(found)


def _trailers(facts: CommitFacts) -> Iterator[Problem]:
    if not facts.trailers:
        return
    rule = "history-trailers"
    ops = facts.trailers.get("Op", ())
    if len(ops) != 1 or ops[0] not in OPS:
        yield _problem(facts, rule, f"found the operations {list(ops)}, expected one", "Op")
    if not facts.trailers.get("Actor"):
        yield _problem(facts, rule, "found no actor, expected one", "Actor")
    for key, pattern in (("Memory", ID_PATTERN), ("Run", _RUN), ("Reverts", _COMMIT)):
        for value in facts.trailers.get(key, ()):
            if not pattern.fullmatch(value):
                yield _problem(facts, rule, "found a value that is not an id", key)


def _targets(facts: CommitFacts, earlier: set[str]) -> Iterator[Problem]:
    for key in ("Reverts", "Settles"):
        for target in facts.trailers.get(key, ()):
            if _COMMIT.fullmatch(target) and target not in earlier:
                message = f"found {target[:10]}, which is not in the history before it"
                yield _problem(facts, "history-target", message, key)


def _manifests(facts: CommitFacts) -> Iterator[Problem]:
    if facts.op in _BRINGS:
        return
    for run in facts.added:
        if facts.run != run:
            message = f"found the manifest of {run} added by {facts.run or 'a commit of no run'}"
            yield _problem(facts, "manifest-without-run", message)
    for run in facts.changed:
        yield _problem(facts, "manifest-changed", f"found the manifest of {run} changed")


def _merge(facts: CommitFacts, by_id: Mapping[str, CommitFacts]) -> Iterator[Problem]:
    first, tip = facts.parents
    chain: list[CommitFacts] = []
    at = by_id.get(tip)
    if at is not None and at.tree != facts.tree:
        yield _problem(facts, "run-tree", f"the tree differs from that of {tip[:10]}")
    while at is not None and at.commit != first and at.run == facts.run and len(at.parents) == 1:
        chain.append(at)
        at = by_id.get(at.parents[0])
    if at is None or at.commit != first or not chain:
        message = f"found a chain that does not lead from {tip[:10]} to {first[:10]}"
        yield _problem(facts, "run-chain", f"{message} within {facts.run}")
    elif not any(facts.run in one.added for one in chain):
        yield _problem(facts, "run-without-manifest", f"found no manifest of {facts.run}")


_BY_GIT = ("run-tree", "run-chain", "history-target", "manifest-without-run")
"""Rules that are violated if memrepo's commits are amended, rebased or squashed."""


def _problem(facts: CommitFacts, rule: str, message: str, key: str = "") -> Problem:
    return Problem(
        path=facts.commit,
        rule=rule,
        key=key,
        message=message,
        severity="warning" if rule in _BY_GIT else "error",
        fix=f"look at it (`git show {facts.commit[:10]}`) and revert it if it is wrong",
    )
