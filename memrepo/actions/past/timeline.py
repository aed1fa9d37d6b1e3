"""Memories in history: look up a memory by name, even after its removal, and list its commits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from memrepo.actions.recall.lookup import Ambiguous, NoSuchMemory, find
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.memory import Memory
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import regex
from memrepo.core.state import State
from memrepo.store import history
from memrepo.store.history import Landing
from memrepo.store.trace import DIGITS, Version, ids_in_history, trace

_DIGITS = regex(r"(?:mem-)?([0-9a-f]{1,16})")
_RUN = regex(r"\d{8}T\d{6}Z-[0-9a-z-]+", re.ASCII)
_SLUG = regex(rf"(?:.*[:/])?[^:/]*-([0-9a-f]{{{DIGITS}}})(?:\.md)?")


class LeftTheTree(MemrepoError):
    """Raised when a memory existed before but is missing or unreadable at the requested commit."""

    exit_code = Exit.USAGE

    def __init__(self, id_: str, versions: Sequence[Version]) -> None:
        last = versions[0]
        said = f"{last.entry.commit[:10]} ({last.entry.op}) removed it"
        if last.unreadable:
            said = f"{last.unreadable} cannot be read since {last.entry.commit[:10]}"
        there = (v.entry.commit for v in versions if v.memory is not None and not v.unreadable)
        super().__init__(
            f"{id_} is no longer in the tree: {said}",
            fix=f"`--at {next(there, '')[:10]}` shows it as it was before; "
            f"`memrepo why {id_} --show history` lists its commits",
        )


class NotThereYet(MemrepoError):
    """Raised when a memory exists now but did not exist at the requested commit."""

    exit_code = Exit.USAGE

    def __init__(self, memory: Memory, commit: str) -> None:
        super().__init__(
            f"{memory.id} did not exist at commit {commit[:10]}",
            fix=f"`memrepo why {memory.id} --show history` shows when it was added",
        )


class NoSuchRun(MemrepoError):
    """Raised when no run with the given id landed on the branch."""

    exit_code = Exit.USAGE

    def __init__(self, run: str) -> None:
        super().__init__(f"no run is called {run!r}", fix="`memrepo log` lists them")


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit as actions report it."""

    commit: str
    when: datetime
    op: str
    run: str
    subject: str
    author: str
    actor: str
    """The recorded actor of the decision, or an empty string."""
    reason: str
    memories: tuple[str, ...]
    reverts: tuple[str, ...]


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """A decision recorded in a commit: actor, time, commit, run and reason."""

    commit: str
    op: str
    run: str
    by: str
    when: datetime
    reason: str
    accepted: str
    """The merge commit that landed the run. Without a run it is the commit itself."""


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's id and its versions in a commit's history, children before parents."""

    id: str
    versions: tuple[Version, ...]


def find_past(work: Work, state: State, word: str) -> Past:
    """Return the versions of the memory that a word identifies, even if it was removed.

    Raises NoSuchMemory or Ambiguous.
    """
    try:
        memory = find(state, word)
    except NoSuchMemory:
        gone = _once(work, word)
        if gone is None:
            raise
        return gone
    return past_of(work, memory.id, memory.path)


def find_present(work: Work, state: State, word: str, now: Work) -> Memory:
    """Return the memory that a word identifies at the requested commit.

    Raises LeftTheTree if the memory was removed before, and NotThereYet if it was added later.
    """
    try:
        return find(state, word)
    except NoSuchMemory as error:
        if work.call.scope:
            raise  # history would reveal other scopes
        gone = _once(work, word)
        if gone is None:
            raise _better(work, word, now, error) from None
    raise LeftTheTree(gone.id, gone.versions)


def past_of(work: Work, id_: str, path: str) -> Past:
    """Return the versions of a memory with a known id and path."""
    layout, repo = work.tree.layout, work.store.repo
    return Past(id=id_, versions=trace(repo, work.tree.commit, layout, id_, path))


def _better(work: Work, word: str, now: Work, error: NoSuchMemory) -> MemrepoError:
    if now.tree.commit == work.tree.commit:
        return error
    try:
        return NotThereYet(find(now.tree.state(), word), work.tree.commit)
    except MemrepoError:
        return error


def _once(work: Work, word: str) -> Past | None:
    """Return the history of a memory that was removed, or None. Raises Ambiguous."""
    layout, repo, head = work.tree.layout, work.store.repo, work.tree.commit
    slug = _SLUG.fullmatch(word)
    digits = _DIGITS.fullmatch(word)
    known: dict[str, str] = {}
    if digits:
        # The trailer finds an id even if a person renamed the file.
        grep = f"--grep=^{PREFIX}Memory: mem-{digits[1]}"
        named = (e.trailers.get("Memory", ()) for e in history.entries(repo, grep, head))
        known = {i: "" for ids in named for i in ids if i.startswith(f"mem-{digits[1]}")}
    short = (digits or slug or [""] * 2)[1]
    if len(short) >= DIGITS:
        found = ids_in_history(repo, head, layout, short)
        known.update(
            {
                id_: path
                for id_, path in found.items()
                if digits or path.rpartition("/")[2].removesuffix(".md") in word
            }
        )
    known = {id_: path for id_, path in known.items() if ID_PATTERN.fullmatch(id_)}
    if len(known) > 1:
        raise Ambiguous(word, sorted(known))
    past = next((past_of(work, id_, path) for id_, path in known.items()), None)
    # A trailer does not prove that the memory existed: anybody can write one.
    return past if past is not None and any(v.memory for v in past.versions) else None


def merges_of(work: Work, runs: Iterable[str]) -> dict[str, history.Entry]:
    """Return the merge commit of each run in the current commit's history, by run id."""
    wanted = sorted({run for run in runs if _RUN.fullmatch(run)})
    if not wanted:
        return {}
    greps = [f"--grep=^{PREFIX}Run: {run}$" for run in wanted]
    found = history.entries(work.store.repo, "--merges", *greps, work.tree.commit)
    return {e.run: e for e in found if e.is_run and e.run in wanted}


def acts_of(work: Work, entries: Sequence[history.Entry]) -> list[Act]:
    """Return each commit's decision, and the merge that put the decision into effect."""
    merges = merges_of(work, (entry.run for entry in entries))
    return [
        Act(
            commit=entry.commit,
            op=entry.op,
            run=entry.run,
            by=who(entry),
            when=entry.when,
            reason=entry.trailer("Reason"),
            accepted=merges[entry.run].commit if entry.run in merges else entry.commit,
        )
        for entry in entries
    ]


def landing_of(work: Work, run: str, runs: Sequence[Landing] | None = None) -> Landing:
    """Return the landing of the run with an id or unique id prefix. Raises NoSuchRun.

    `runs` are the landed runs, if the caller already has them.
    """
    store, tree = work.store, work.tree
    runs = work.landed() if runs is None else runs
    found = [one for one in runs if one.run.startswith(run)]
    found = found or history.gone(store.repo, tree.commit, tree.layout, run)
    if len({one.run for one in found}) != 1:
        raise NoSuchRun(run)
    return found[0]


def run_merge(work: Work, run: str) -> history.Entry:
    """Return the commit that landed the run with an id or unique id prefix."""
    return landing_of(work, run).entry


def commit_of(entry: history.Entry) -> Commit:
    """Return a commit in the form that actions report."""
    return Commit(**fields_of(entry))


def fields_of(entry: history.Entry) -> dict[str, Any]:
    """Return the values for the fields of `Commit`, to fill a record that extends it."""
    return {
        "commit": entry.commit,
        "when": entry.when,
        "op": entry.op,
        "run": entry.run,
        "subject": entry.subject,
        "author": entry.author,
        "actor": entry.trailer("Actor"),
        "reason": entry.trailer("Reason"),
        "memories": entry.trailers.get("Memory", ()),
        "reverts": entry.trailers.get("Reverts", ()),
    }


def who(entry: history.Entry) -> str:
    """Return a commit's recorded actor or, if there is none, its author."""
    return entry.trailer("Actor") or entry.author


def changing(versions: Sequence[Version]) -> list[tuple[Version, list[Version]]]:
    """Return the versions that differ from all their parents, as (version, parents) pairs."""
    by_commit = {v.entry.commit: v for v in versions}
    found = []
    for version in versions:
        before = [by_commit[p] for p in version.parents]
        olds = [v.memory for v in before] or [None]
        if version.unreadable or all(old != version.memory for old in olds):
            found.append((version, before))
    return found
