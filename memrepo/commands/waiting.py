"""Runs that wait for review: each is a branch `run/<run-id>` that would fast-forward the branch."""

from __future__ import annotations

from dataclasses import dataclass

from memrepo.commands.session import Desk
from memrepo.core.errors import Exit, MemrepoError
from memrepo.store import history

PREFIX = "run/"
REPLACED = "refs/memrepo/replaced/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One waiting run: its branch, the merge commit the run made, and the branch's tip.

    They differ where a person committed on the branch; each such commit is a decision too.
    """

    branch: str
    entry: history.Entry
    tip: str

    @property
    def run(self) -> str:
        """Return the run's id."""
        return self.branch.removeprefix(PREFIX)

    @property
    def base(self) -> str:
        """Return the commit it was computed on."""
        return self.entry.parents[0]

    def chain(self, desk: Desk) -> list[history.Entry]:
        """Return its decisions in order: those of the run, then those of a person."""
        repo = desk.store.repo
        later = history.entries(repo, "--reverse", f"{self.entry.commit}..{self.tip}")
        return [*history.chain_of(repo, self.entry.commit), *later]


class NothingWaits(MemrepoError):
    """No run waits, or none by this name."""

    exit_code = Exit.USAGE

    def __init__(self, run: str, names: list[str]) -> None:
        what = f"no run {run!r} waits" if run else "no run waits for review"
        super().__init__(
            what,
            fix=f"these do: {', '.join(names)}" if names else "`memrepo log` lists what landed",
        )


class SeveralWait(MemrepoError):
    """More than one run waits and none was named."""

    exit_code = Exit.DECIDE

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"{len(names)} runs wait: {', '.join(names)}", fix="name one of them")


def all_waiting(desk: Desk) -> list[Waiting]:
    """Return the runs that wait, oldest first."""
    repo = desk.store.repo
    names = str(repo.git.for_each_ref("--format=%(refname:short)", f"refs/heads/{PREFIX}")).split()
    found = []
    for name in sorted(names):
        walk = history.entries(repo, "-50", "--first-parent", f"refs/heads/{name}")
        entries = list(walk)
        merge = next((e for e in entries if e.is_run and PREFIX + e.run == name), None)
        if merge is not None:
            found.append(Waiting(branch=name, entry=merge, tip=entries[0].commit))
    return found


def the_waiting(desk: Desk, run: str) -> Waiting:
    """Return the waiting run that a word names, or the only one; raises where there is none."""
    found = all_waiting(desk)
    names = [w.run for w in found]
    fitting = [w for w in found if w.run.startswith(run.removeprefix(PREFIX))] if run else found
    if not fitting:
        raise NothingWaits(run, names)
    if len(fitting) > 1:
        raise SeveralWait(names)
    return fitting[0]


def put_away(desk: Desk, waiting: Waiting, where: str = REPLACED) -> None:
    """Take a waiting run's branch away; its commits stay under a ref of our own."""
    repo = desk.store.repo
    repo.git.update_ref(f"{where}{waiting.run}", waiting.tip)
    repo.git.update_ref("-d", f"refs/heads/{waiting.branch}", waiting.tip)
