"""Runs that wait for review, and other conditions and figures that need a person's attention.

A pending run is a branch `run/<run-id>` that can be fast-forwarded.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

import msgspec

from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.errors import Exit, GitFailed, MemrepoError, Problem, StoreError, problem
from memrepo.core.manifest import read_manifest, spent_in_day, spent_in_month
from memrepo.core.memory import Memory
from memrepo.core.messages import PREFIX as TRAILER
from memrepo.core.messages import counted
from memrepo.core.state import State, Write, traits_between
from memrepo.merge.tombstones import brought_back, path_of, tombstone_bytes, tombstone_of_changes
from memrepo.policies.standing import is_retired
from memrepo.policies.upkeep import Timetable
from memrepo.store import history
from memrepo.store.settings import person
from memrepo.store.tree import is_text

REQUEST = "request-in-text"
"""The rule of warnings about instructions in source texts."""
RECENT = 10
"""Number of newest manifests that are searched for instructions found in source texts."""
PREFIX = "run/"
DECIDED = "refs/memrepo/decided/"
KEPT = 50
"""Number of accepted, discarded or replaced runs whose commits are retained."""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A pending run, with its branch, its merge commit and the tip of the branch.

    The tip differs from the merge commit if a person committed on the branch. Each such commit is a
    decision too.
    """

    branch: str
    ref: str
    """The branch's full name. Of another clone's run, it is that of a remote-tracking branch."""
    entry: history.LogEntry
    tip: str

    @property
    def run(self) -> str:
        """Return the run's id."""
        return self.branch.removeprefix(PREFIX)

    @property
    def base(self) -> str:
        """Return the commit from which the run was computed."""
        return self.entry.parents[0]

    def chain(self, work: Work) -> list[history.LogEntry]:
        """Return the decisions in order: first those of the run, then those of a person."""
        repo = work.store.repo
        later = history.entries(repo, "--reverse", f"{self.entry.commit}..{self.tip}")
        return [*history.chain_of(repo, self.entry.commit), *later]

    def traits(self, work: Work, only: Collection[str] = ()) -> frozenset[str]:
        """Return what the run decides (`core.changes.traits`), or what it decides about some."""
        sides = (work.store.snapshot(commit).state() for commit in (self.base, self.tip))
        before, after = (
            {i: m for i, m in s.memories.items() if not only or i in only} for s in sides
        )
        return traits_between(before, after)


class NothingWaits(MemrepoError):
    """Raised when no run is pending, or no pending run has the given name."""

    exit_code = Exit.USAGE

    def __init__(self, run: str, names: list[str], discarded: str = "", marked: int = 0) -> None:
        what = f"no run {run!r} is pending" if run else "no run is pending review"
        other = removals_in_words(marked) if marked else "`memrepo log` lists what landed"
        super().__init__(
            what + discarded, fix=f"pending runs: {', '.join(names)}" if names else other
        )


def all_waiting(work: Work) -> list[Waiting]:
    """Return the pending runs, oldest first."""
    return [w for w in _branches(work) if not _is_decided(work, w)]


def put_decided_away(work: Work) -> None:
    """Delete branches of already decided runs that a crash left behind."""
    for waiting in [w for w in _branches(work) if _is_decided(work, w)]:
        put_away(work, waiting)


def _is_decided(work: Work, waiting: Waiting) -> bool:
    """Return whether HEAD contains the run's manifest, which accepting and discarding commit."""
    if work.store.branch_or_none == f"refs/heads/{waiting.branch}":
        return False
    return bool(work.tree.files.id_of(work.tree.layout.manifest(waiting.run)))


def broken_branches(work: Work) -> tuple[Problem, ...]:
    """Return a problem for each `run/...` branch that is unreadable because commits are missing."""
    return tuple(
        Problem(
            path=name,
            rule="branch-unreadable",
            message=f"{name} refers to commits that are not in this repository",
            fix=f"`git fetch --refetch` brings them where the hub has them; else `git update-ref -d"
            f" {ref}` drops the branch, and the next run proposes again",
        )
        for name, ref in _run_branches(work).items()
        if _walk(work, ref) is None
    )


def _run_branches(work: Work) -> dict[str, str]:
    """Return the full name of each branch of a run, by its short one. This clone's come first."""
    between = f"/{PREFIX}"
    found = work.store.repo.refs_below("refs/remotes/", f"refs/heads/{PREFIX}")
    found.sort(key=lambda ref: ref.startswith("refs/heads/"))
    return {PREFIX + ref.partition(between)[2]: ref for ref in found if between in ref}


def _walk(work: Work, ref: str) -> list[history.LogEntry] | None:
    """Return a branch's newest commits, or None if some commits are missing."""
    repo = work.store.repo
    try:
        return list(history.entries(repo, "-50", "--first-parent", ref))
    except GitFailed as error:
        if error.code < 0:  # a signal ended git, so nothing is known about the commits
            raise
        return None


def _branches(work: Work) -> list[Waiting]:
    found = []
    for name, ref in sorted(_run_branches(work).items()):
        if (entries := _walk(work, ref)) is None:
            continue
        merge = next((e for e in entries if e.is_run and PREFIX + e.run == name), None)
        if merge is not None:
            found.append(Waiting(branch=name, ref=ref, entry=merge, tip=entries[0].commit))
    return found


def the_waiting(work: Work, run: str) -> Waiting:
    """Return the pending run that a word identifies, or the only pending run if no word is given.

    Raise if there is not exactly one.
    """
    found = all_waiting(work)
    names = [w.run for w in found]
    fitting = [w for w in found if w.run.startswith(run.removeprefix(PREFIX))] if run else found
    if not fitting:
        marked = len(marked_memories(work.tree.state()))
        raise NothingWaits(run, names, _discarded(work, run.removeprefix(PREFIX)), marked)
    if len(fitting) > 1:
        raise MemrepoError(
            f"{len(names)} runs are pending: {', '.join(names)}",
            fix="name one of them",
            exit_code=Exit.DECIDE,
        )
    return fitting[0]


def _discarded(work: Work, run: str) -> str:
    """Return who discarded a run or, without a name, the last one, if it was another person."""
    wanted = f"--grep=^{TRAILER}{history.DISCARDS}: {run}"
    found = history.entries(work.store.repo, "-1", wanted, work.tree.commit)
    whose = ((entry.trailer(history.DISCARDS), work.other_person(entry)) for entry in found)
    return next((f": {who} discarded {which}" for which, who in whose if who), "")


def refuse_on_waiting(work: Work) -> None:
    """Raise StoreError if HEAD is on the branch of a pending run."""
    here = work.store.branch_or_none.removeprefix("refs/heads/")
    if here.startswith(PREFIX) and here in {w.branch for w in all_waiting(work)}:
        raise StoreError("on-pending-run", branch=here)


def requests_waiting(work: Work) -> list[Problem]:
    """Return the newest runs' warnings about instructions found in source texts."""
    area = work.tree.layout.area("runs")
    found = []
    newest = sorted(work.tree.files.below(area).items(), reverse=True)[:RECENT]
    for (path, _), data in zip(newest, work.tree.files.each(newest), strict=True):
        manifest = read_manifest(path, data)
        if isinstance(manifest, Problem):
            continue  # `status` itself reports it
        wanted = [w for w in manifest.warnings if isinstance(w, dict) and w.get("rule") == REQUEST]
        with suppress(msgspec.ValidationError):
            found += msgspec.convert(wanted, list[Problem])
    return found


def refuse_no_room(work: Work) -> None:
    """Raise StoreError if a branch is named `run`, so that git cannot create `run/<run-id>`."""
    name = PREFIX.rstrip("/")
    if work.store.repo.ref(f"refs/heads/{name}"):
        raise StoreError("branch-named-run", name=name)


def left_behind(
    work: Work, waits: Waiting, refused: Collection[str], reason: str
) -> tuple[Write, ...]:
    """Return the files to keep from a decided run: its manifest, and what was `refused` of it."""
    layout = work.tree.layout
    path, tip = layout.manifest(waits.run), work.store.snapshot(waits.tip)
    files = [Write(path=path, data=tip.files[path])]
    if refused:
        known = {**work.store.snapshot(waits.base).state().memories, **tip.state().memories}
        ids = {one[: len("mem-") + 16] for one in refused}
        stone = tombstone_of_changes(
            f"What was left out of run {waits.run}",
            refused,
            (known[id_] for id_ in sorted(ids) if id_ in known),
            reason=reason,
            by=work.actor,
            at=work.call.now,
        )
        files.append(Write(path=path_of(layout, stone.key), data=tombstone_bytes(stone)))
    return tuple(files)


REMOVALS = "removals"
"""The word by which `accept` and `discard` name all memories that runs marked for removal."""


def marked_memories(state: State) -> tuple[Memory, ...]:
    """Return the active memories that a run marked for removal, because their lines are gone."""
    return tuple(filter(is_retired, state.active))


def put_away(work: Work, waiting: Waiting) -> None:
    """Delete a pending run's branch. A ref keeps its commits for a while."""
    branch, repo = waiting.ref, work.store.repo
    older = sorted(ref for ref in repo.refs_below(DECIDED) if ref != f"{DECIDED}{waiting.run}")
    lines = (
        f"update {DECIDED}{waiting.run} {waiting.tip}\n",
        f"delete {branch} {waiting.tip}\n",
        *(f"delete {ref}\n" for ref in older[: max(0, len(older) + 1 - KEPT)]),
    )
    repo.call("update-ref", "--stdin", lines=lines)


def removals_in_words(marked: int) -> str:
    """Return how many memories are marked for removal, and the commands that decide."""
    return (
        f"{counted(marked, 'memory is', 'memories are')} marked for removal: `memrepo accept"
        f" {REMOVALS}` archives, `memrepo discard {REMOVALS}` keeps"
    )


NEARLY = 0.8
"""The share of the monthly budget at which spending is reported."""


def needs(
    waits: Sequence[Waiting],
    times: Timetable,
    undecided: int,
    spent: Budgets,
    marked: int = 0,
) -> tuple[str, ...]:
    """Return the conditions that need a person's attention, most urgent first."""
    found = [times.complaints[0]] if times.failed else []
    found += [f"{one.run} waits for review: {one.entry.trailer('Reason')}" for one in waits]
    if marked:
        found.append(removals_in_words(marked))
    if times.missed:
        found.append(f"{counted(times.missed, 'scheduled run was', 'scheduled runs were')} missed")
    if undecided:
        count = counted(undecided, "contradiction is", "contradictions are")
        found.append(f"{count} undecided (`memrepo resolve`)")
    limits = (spent.usd, spent.max_usd, "US dollars"), (spent.tokens, spent.max_tokens, "tokens")
    for used, limit, unit in limits:
        if used and limit and used >= NEARLY * limit:
            amount = f"{used:,.2f}".removesuffix(".00")
            found.append(f"{amount} of {limit:,g} {unit} are spent this month")
    return tuple(found)


# -- budgets, and problems that status and doctor report -------------------------------------------


def unknown_person(work: Work) -> tuple[Problem, ...]:
    """Return a warning if what the person at this clone writes counts as a program's."""
    email = person(work.store.repo)[1]
    if work.call.actor or not email or work.config.is_person(email):
        return ()
    where = shlex.quote(str(work.store.root))
    return (problem("person-unknown", work.tree.layout.config, email=email, where=where),)


def uncommitted_problems(work: Work, dirty: Iterable[str]) -> Iterator[Problem]:
    """Yield the errors in uncommitted memories, of which search finds the last commit's text.

    An uncommitted file that brings back a rejected statement is a problem too.
    """
    stones, layout = work.tree.stones, work.tree.layout
    for path in layout.memory_files(filter(is_text, dirty)):
        if not (data := work.store.work.read(path)):
            continue
        memory, problems = codec.decode(path, data)
        if memory is None:
            yield from (one for one in problems if one.severity == "error")
        elif memory.status != "forgotten" and stones and (stone := stones.find_barring(memory)):
            yield brought_back(memory, stone)


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """The bullets of the first page and the cost of judges, today and this month, with the limits.

    A cost is None if a price is unknown. A limit is None if it is not set.
    """

    bullets: int
    max_bullets: int
    usd: float | None
    max_usd: float | None
    tokens: int
    max_tokens: int | None
    today_usd: float | None = 0.0
    today_tokens: int = 0

    @property
    def text(self) -> str:
        """Return a summary of today's and this month's cost, with the limits that are set."""
        limits = [] if self.max_usd is None else [f"${self.max_usd:,.2f}"]
        if self.max_tokens is not None:
            limits.append(f"{self.max_tokens:,} tokens")
        of = f", of {' and '.join(limits)}" if limits else ""
        today = _spent_text(self.today_usd, self.today_tokens)
        return f"{today} today, {_spent_text(self.usd, self.tokens)} this month{of}"


def _spent_text(usd: float | None, tokens: int) -> str:
    if not (usd or tokens):
        return "nothing"
    price = "an unknown price" if usd is None else f"${usd:,.2f}"
    return f"{price} ({tokens:,} tokens)"


def budgets(work: Work, bullets: int, now: datetime) -> Budgets:
    """Return the budgets. `bullets` is the number of bullets on the first page."""
    recorded, zone, limits = work.tree.manifests[0], work.config.zone, work.config.run
    spent, today = spent_in_month(now, recorded, zone), spent_in_day(now, recorded, zone)
    return Budgets(
        bullets=bullets,
        max_bullets=work.config.rules.hot.budget,
        usd=spent.cost_usd,
        max_usd=limits.max_usd_month,
        tokens=spent.total,
        max_tokens=limits.max_tokens_month,
        today_usd=today.cost_usd,
        today_tokens=today.total,
    )
