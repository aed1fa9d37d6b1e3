"""The checks of `doctor` that read history: trailers, manifests, chains, links, signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeAlias

import msgspec

from memrepo.actions.hand_merges import back_by_hand, validated
from memrepo.actions.run.preconditions import emptied
from memrepo.actions.work import Work
from memrepo.checks.integrity import CommitFacts, history_problems
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.store import history, stream, trace


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check.

    `fixed` is set if --fix fixed the problem, `problems` has every case.
    """

    name: str
    ok: bool
    message: str
    fixed: bool = False
    problems: tuple[Problem, ...] = ()


Check: TypeAlias = Callable[[Work, bool], Finding]
"""A check of an open repository. If the second argument is true, the check fixes what it can."""


SIGNATURES = 200
"""The number of newest runs whose signatures are verified. Each verification starts a program."""


def _history(work: Work, fix: bool) -> Finding:
    facts = [
        CommitFacts(
            commit=a.commit,
            tree=a.tree,
            parents=a.parents,
            subject=a.subject,
            trailers=a.trailers,
            added=a.added,
            changed=a.changed,
        )
        for a in trace.audited(work.store.repo, work.tree.commit, work.tree.layout)
    ]
    problems = history_problems(facts)
    ours = sum(bool(f.op) for f in facts)
    said = counted(len(facts), "commit is what it says", "commits are what they say")
    message = f"{said}, {ours} of them memrepo's"
    errors = [p for p in problems if p.severity == "error"]
    if errors:
        first = errors[0]
        message = (
            f"{counted(len(errors), 'finding', 'findings')}; the first bad commit is"
            f" {first.path[:10]}: {first.rule} {first.message}"
        )
    elif problems:
        changed = counted(len({p.path for p in problems}), "commit was", "commits were")
        message = f"{changed} amended or rebased with git, first {problems[0].path[:10]}"
    return Finding(name="history", ok=not errors, message=message, problems=problems)


def _runs(work: Work, fix: bool) -> Finding:
    runs = work.landed()
    here = sum(run.in_effect for run in runs)
    said = [f"{counted(here, 'run', 'runs')} in effect"]
    said += [
        f"{run.run} was rewritten by git as {run.entry.commit[:10]}" for run in runs if run.changed
    ]
    gone = len(runs) - here
    said += [f"{gone} reverted"] if gone else []
    hand = emptied(work)
    if hand is not None:
        said.insert(0, f"{hand.id[:10]} removed every memory from the tree, by hand")
    return Finding(name="runs", ok=hand is None, message="; ".join(said))


def _references(work: Work, fix: bool) -> Finding:
    return _since(work, "references", closure.closure, "every reference and supersession holds")


def _tombstones(work: Work, fix: bool) -> Finding:
    return _since(work, "tombstones", tombstone_problems, "every tombstone can be read")


def tombstone_problems(state: State) -> tuple[Problem, ...]:
    """Return the problems with tombstones. An unreadable tombstone blocks no memory."""
    return tombstones_in(state).problems


def _rejected(work: Work, fix: bool) -> Finding:
    found = back_by_hand(work, validated(work))
    what = counted(len(found), "file says", "files say") + " what a person rejected"
    return Finding(
        name="rejected",
        ok=not found,
        problems=found,
        message=f"{what}, first {found[0]}" if found else "nothing rejected came back",
    )


def _since(
    work: Work, name: str, problems_of: Callable[[State], tuple[Problem, ...]], well: str
) -> Finding:
    """Report the problems at HEAD, and the commit that introduced the first of them."""
    problems = problems_of(work.tree.state())
    if not problems:
        return Finding(name=name, ok=True, message=well)
    first = problems[0]

    def is_bad(state: State) -> bool:
        return any(_same(first, other) for other in problems_of(state))

    commit = first_bad(work, is_bad)
    return Finding(
        name=name,
        ok=False,
        problems=problems,
        message=f"{counted(len(problems), 'finding', 'findings')}, first {first};"
        f" since commit {commit[:10]}",
    )


def _same(one: Problem, other: Problem) -> bool:
    return (one.rule, one.key, one.message) == (other.rule, other.key, other.message)


def first_bad(work: Work, is_bad: Callable[[State], bool]) -> str:
    """Return the commit that introduced a problem found at HEAD, by binary search.

    Search along first parents, then within the chain of the run that the commit merged.
    """
    store = work.store
    born = history.birth(store.repo, work.tree.commit, store.layout.config)
    line = [*filter(None, [born]), *trace.first_parents(store.repo, born, work.tree.commit)]
    commit = _halved(work, line, is_bad)
    parents = store.parents(commit)
    if len(parents) == 2:
        inside = trace.first_parents(store.repo, parents[0], parents[1])
        if inside and is_bad(store.snapshot(inside[-1]).state()):
            return _halved(work, inside, is_bad)
    return commit


def _halved(work: Work, line: Sequence[str], is_bad: Callable[[State], bool]) -> str:
    low, high = 0, len(line) - 1  # the last commit is bad
    while low < high:
        middle = (low + high) // 2
        if is_bad(work.store.snapshot(line[middle]).state()):
            high = middle
        else:
            low = middle + 1
    return line[high]


def _signatures(work: Work, fix: bool) -> Finding:
    repo = work.store.repo
    newest = [e.commit for e in islice(history.runs(repo, work.tree.commit), SIGNATURES)]
    found = stream.verdicts(repo, newest)
    bad = [commit for commit, letter in found.items() if letter in stream.BAD]
    open_ = sum(letter in stream.UNCHECKED for letter in found.values())
    verified = counted(len(found) - open_ - len(bad), "merge of a run", "merges of runs")
    message = f"{verified} verified" if found else "none"
    if open_:
        message += f", {open_} cannot be checked here (no key, or no program)"
    if bad:
        message = f"{len(bad)} do not fit their commits, the first bad commit is {bad[-1][:10]}"
    return Finding(name="signatures", ok=not bad, message=message)


CHECKS: tuple[Check, ...] = (
    _history,
    _runs,
    _references,
    _tombstones,
    _rejected,
    _signatures,
)
