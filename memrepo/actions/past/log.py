"""`memrepo log`: show history in terms of memories, and find memories and runs in history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

import msgspec

from memrepo.actions.pending import all_waiting
from memrepo.actions.recall.lookup import Ambiguous, NoSuchMemory, find
from memrepo.actions.work import VerbResult, Work, option
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.memory import Memory
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import regex
from memrepo.core.state import OPS, State
from memrepo.store import history
from memrepo.store.history import DIGITS, LogEntry, MemoryVersion, ids_in_history, trace


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo log`."""

    run: Annotated[str, option("every decision of one run", "--run", metavar="RUN")] = ""
    op: Annotated[
        str,
        option("only this operation, in the full history", "--op", metavar="OP", choices=OPS),
    ] = ""
    memory: Annotated[
        str,
        option(
            "every operation on one memory, even if it is no longer in the tree",
            "--memory",
            metavar="ID",
        ),
    ] = ""
    runs: Annotated[
        bool, option("only runs: pending runs, and the counts of each landed run", "--runs")
    ] = False
    n: Annotated[int, option("at most N lines (30)", "-n", metavar="N", ge=1)] = 30


class Result(VerbResult, frozen=True, kw_only=True):
    """The listed commits, newest first. The commits of one run are in chain order."""

    entries: tuple[Commit, ...]
    zone: str
    """The time zone in which times are shown."""


class WaitingRun(msgspec.Struct, frozen=True, kw_only=True):
    """A pending run, with its branch and the reason why it is pending."""

    run: str
    branch: str
    why: str


class LandedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in effect, as its manifest describes it, and what it spent."""

    run: str
    now: str
    mode: str
    judge: str
    profile: str
    counts: Mapping[str, int]
    tokens: Mapping[str, int | str]
    cost_usd: float | None


class Runs(VerbResult, frozen=True, kw_only=True):
    """The pending runs, oldest first, and the runs in effect, newest first."""

    waiting: tuple[WaitingRun, ...]
    runs: tuple[LandedRun, ...]


def do(work: Work, request: Request) -> Result | Runs:
    """List commits: runs and ingests by default, or individual decisions on request."""
    if request.runs:
        return _runs(work, request.n)
    wanted = _wanted(work, request)
    found = islice(filter(wanted, _entries(work, request)), request.n)
    return Result(
        entries=tuple(Commit(**fields_of(entry)) for entry in found), zone=work.config.zone.key
    )


def _runs(work: Work, most: int) -> Runs:
    """List runs from their manifests, which every clone contains."""
    manifests, problems = work.tree.manifests
    found = (
        LandedRun(
            **{name: getattr(m, name) for name in ("run", "now", "mode", "judge", "profile")},
            counts=m.counts,
            tokens=m.receipt.usage.tokens(),
            cost_usd=m.receipt.usage.cost_usd,
        )
        for m in manifests[: -most - 1 : -1]
    )
    waiting = (
        WaitingRun(run=w.run, branch=w.branch, why=w.entry.trailer("Reason"))
        for w in all_waiting(work)
    )
    return Runs(waiting=tuple(waiting), runs=tuple(found), notices=problems)


def detailed(request: Request) -> bool:
    """Return whether individual decisions are requested, which are shown with their reasons."""
    return bool(request.run or request.memory or request.op)


def _entries(work: Work, request: Request) -> Iterable[history.LogEntry]:
    """Return the log entries to which the filters are applied."""
    repo, head = work.store.repo, work.tree.commit
    if request.run:
        # In chain order, because newest first would hide the order of decisions.
        return history.chain_of(repo, landing_of(work, request.run).commit)
    if detailed(request):
        return history.entries(repo, head)
    # The id of an import has a third part, and its only commit has no merge.
    others = ("--invert-grep", f"--grep=^{PREFIX}Run: [^-]*-[^-]*$", f"--max-count={request.n}")
    found = [*work.landed(), *history.entries(repo, *others, head)]
    return sorted(found, key=lambda entry: entry.when, reverse=True)


def _wanted(work: Work, request: Request) -> Callable[[history.LogEntry], bool]:
    """Return a predicate that accepts a commit if it passes all given filters."""
    past = find_past(work, work.tree.state(), request.memory) if request.memory else None
    touched = {v.entry.commit for v, _ in changing(past.versions)} if past else set()

    def wanted(entry: history.LogEntry) -> bool:
        concerned = (
            past is None or entry.commit in touched or past.id in entry.trailers.get("Memory", ())
        )
        return concerned and (not request.op or entry.op == request.op)

    return wanted


_DIGITS = regex(r"(?:mem-)?([0-9a-f]{1,16})")
_SLUG = regex(rf"(?:.*[:/])?[^:/]*-([0-9a-f]{{{DIGITS}}})(?:\.md)?")


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


class Decision(Commit, frozen=True, kw_only=True):
    """A decision recorded in a commit, and the commit that put it into effect."""

    accepted: str
    """The merge commit that landed the run. Without a run it is the commit itself."""


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's id and its versions in a commit's history, children before parents."""

    id: str
    versions: tuple[MemoryVersion, ...]


def find_past(work: Work, state: State, word: str) -> Past:
    """Return the versions of a memory, even a removed one. Raises NoSuchMemory or Ambiguous."""
    try:
        memory = find(state, word)
    except NoSuchMemory:
        gone = find_removed(work, word)
        if gone is None:
            raise
        return gone
    return past_of(work, memory.id, memory.path)


def find_present(work: Work, state: State, word: str) -> Memory:
    """Return the memory that a word identifies at the requested commit."""
    try:
        return find(state, word)
    except NoSuchMemory:
        if work.call.scope:
            raise  # history would reveal other scopes
        gone = find_removed(work, word)
        if gone is None:
            raise
    last = gone.versions[0]
    how = f"{last.entry.commit[:10]} ({last.entry.op}) removed it"
    if last.unreadable:
        how = f"{last.unreadable} cannot be read since {last.entry.commit[:10]}"
    there = (v.entry.commit for v in gone.versions if v.memory is not None and not v.unreadable)
    raise UsageError(
        f"{gone.id} is no longer in the tree: {how}",
        fix=f"`--at {next(there, '')[:10]}` shows it as it was before; "
        f"`memrepo why {gone.id} --show history` lists its commits",
    )


def past_of(work: Work, id_: str, path: str) -> Past:
    """Return the versions of a memory with a known id and path."""
    layout, repo = work.tree.layout, work.store.repo
    return Past(id=id_, versions=trace(repo, work.tree.commit, layout, id_, path))


def find_removed(work: Work, word: str) -> Past | None:
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
    past = next((past_of(work, id_, "") for id_ in known), None)
    # A trailer does not prove that the memory existed: anybody can write one.
    return past if past is not None and any(v.memory for v in past.versions) else None


def decisions_of(work: Work, entries: Sequence[history.LogEntry]) -> list[Decision]:
    """Return each commit's decision, and the merge that put the decision into effect."""
    merges = history.merges_of(work.store.repo, work.tree.commit, (e.run for e in entries))
    return [
        Decision(**fields_of(entry), accepted=merges.get(entry.run, entry).commit)
        for entry in entries
    ]


def landing_of(work: Work, run: str, runs: Sequence[LogEntry] | None = None) -> LogEntry:
    """Return the landing of the run with an id or unique id prefix. Raises NoSuchRun.

    `runs` are the landed runs, if the caller already has them.
    """
    runs = work.landed() if runs is None else runs
    found = [one for one in runs if one.run.startswith(run)]
    if len({one.run for one in found}) != 1:
        raise NoSuchRun(run)
    return found[0]


def fields_of(entry: history.LogEntry) -> dict[str, Any]:
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


def changing(versions: Sequence[MemoryVersion]) -> list[tuple[MemoryVersion, list[MemoryVersion]]]:
    """Return the versions that differ from all their parents, as (version, parents) pairs."""
    by_commit = {v.entry.commit: v for v in versions}
    found = []
    for version in versions:
        before = [by_commit[p] for p in version.parents]
        olds = [v.memory for v in before] or [None]
        if version.unreadable or all(old != version.memory for old in olds):
            found.append((version, before))
    return found
