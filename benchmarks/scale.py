"""What the steps of a day cost as a store grows: `python -m benchmarks.scale [--large]`.

CPU (user and system, of git's processes too) in starts of `python -c pass`, which a busy machine
does not change much; of each step the least of some turns. What git's processes took is told apart,
and git is measured alone beside it. An exponent of 1 is a cost that grows with the store, of 0 one
that does not.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import msgspec

from benchmarks.hoards import START, hoard, line
from benchmarks.measure import Machine, medians_s
from benchmarks.recalling import bare_query, words_index
from memrepo.store.database import NAME
from memrepo.store.index import Filter
from memrepo.store.repo import open_repository

SIZES = (1_000, 10_000)
LARGE = 100_000
RESULTS = Path(__file__).with_name("scale.json")
NOW = START + timedelta(days=30)
"""From when on days are played: at every size the same falls due in them."""
_QUESTIONS = (
    "which team orders the coppermill?",
    "who repairs the violinford behind the harbor",
    "what does the walnutgate guild paint?",
    "garden mirrorwell near 371",
)
_NEW = 10
_TURNS = 3
_MAIN = """
import os, resource, sys
from memrepo.faces.cli import main
code = main()
own = resource.getrusage(resource.RUSAGE_SELF)
with open(os.environ["TOLD"], "w") as told:
    print(own.ru_utime + own.ru_stime, own.ru_maxrss, file=told)
sys.exit(code)
"""
FIRST, TEN, IDLE = "init and run from a workspace", "run, 10 new lines", "run, nothing new"
STATUS, HOOK, REVERT = "status", "check of one staged file", "revert of that run"
SYNC, AGAIN = "first sync to a hub", "sync of a revert"
DOCTOR = "doctor"
BUILD, SEARCH, WARM = "index build", "search, a process", "search, warm / bare FTS5"
GIT_STATUS, GIT_COMMIT, GIT_PUSH = "git status", "git add, git commit", "git push to a hub"
BOUNDS: Mapping[str, float] = {
    **dict.fromkeys((STATUS, HOOK, SEARCH, TEN, REVERT, AGAIN), 0.5),
    **dict.fromkeys((FIRST, SYNC, DOCTOR, BUILD), 1.05),
}
"""What the exponent of each step from 10,000 to 100,000 should not exceed."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a step took: starts in all, of which git's processes, and the most memory in MiB."""

    starts: float
    git: float = 0.0
    memory: int = 0

    def rounded(self) -> Cost:
        """Return it with as many digits as mean something."""
        return Cost(starts=_short(self.starts), git=_short(self.git), memory=self.memory)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A step at every size that was measured."""

    name: str
    costs: Mapping[int, Cost]
    bound: float | None = None

    @property
    def exponent(self) -> float | None:
        """Return how the cost grows between the two largest sizes, git's processes left out."""
        if len(self.costs) < 2 or self.name == WARM:
            return None
        (small, one), (large, other) = sorted(self.costs.items())[-2:]
        ours = other.starts - other.git, one.starts - one.git
        if min(ours) <= 0:
            ours = other.starts, one.starts
        return math.log(ours[0] / ours[1]) / math.log(large / small)


class Bench:
    """One repository of a size, and what its steps take."""

    def __init__(self, machine: Machine, where: Path) -> None:
        self.machine, self.where, self.repo = machine, where, where / "repo"
        # A repository that is kept goes on: what was said and taken back is not said again.
        done = int(self.out("rev-list", "--count", "HEAD"))
        self.now, self.lines = NOW + timedelta(days=done), 10**9 + 1000 * done
        self._file = where / "ws" / "memory" / "topic-0001.md"
        self._file_before = self._file.read_bytes()
        self._told = where / "told"
        self.start = min(self._cpu([sys.executable, "-c", "pass"]) for _ in range(9))

    def memrepo(self, *argv: str, where: Path | None = None, fine: Sequence[int] = (0,)) -> Cost:
        """Return what a command line takes, in a process of its own."""
        self.now += timedelta(minutes=7)
        words = ["--now", f"{self.now:%FT%TZ}", *argv]
        whole = self._cpu([sys.executable, "-c", _MAIN, *words], where=where, fine=fine)
        own, memory = self._told.read_text(encoding="utf-8").split()
        return Cost(
            starts=whole / self.start,
            git=max(0.0, whole - float(own)) / self.start,
            memory=int(memory) // 1024,
        )

    def git(self, *argv: str) -> float:
        """Return how many starts git takes."""
        return self._cpu(["git", "-c", "core.hooksPath=/dev/null", *argv]) / self.start

    def _cpu(
        self, words: Sequence[str], where: Path | None = None, fine: Sequence[int] = (0,)
    ) -> float:
        environment = {**self.machine.environment, "TOLD": str(self._told)}
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(
                words, cwd=where or self.repo, env=environment, stdout=out, stderr=out
            )
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in fine:
                out.seek(0)
                said = out.read().decode("utf-8", "replace")[-2000:]
                raise SystemExit(f"{' '.join(words[-6:])} ended with {child.returncode}: {said}")
        return used.ru_utime + used.ru_stime

    def out(self, *words: str) -> str:
        """Return what git prints."""
        return subprocess.run(
            ["git", *words],
            cwd=self.repo,
            env=self.machine.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    # -- steps -------------------------------------------------------------------------------

    def write_lines(self) -> None:
        """Let the agent write ten lines more into a file of its workspace."""
        self.lines += _NEW
        with self._file.open("a", encoding="utf-8") as file:
            file.writelines(f"- {line(self.lines + n)}\n" for n in range(_NEW))

    def take_back(self) -> Cost:
        """Return what the revert of the newest run takes; its lines leave the workspace too."""
        newest = max(path.stem for path in (self.repo / "runs").rglob("*.json"))
        cost = self.memrepo("revert", newest)
        self._file.write_bytes(self._file_before)
        return cost

    def a_day(self) -> Iterator[tuple[str, Cost]]:
        """Yield what each step of a day takes: a run, looks at it, a commit by hand, a revert."""
        self.write_lines()
        yield TEN, self.memrepo("run")
        yield STATUS, self.memrepo("status")
        yield SEARCH, self.memrepo("search", "coppermill", "engine", fine=(0, 1))
        self._edit()
        added = self.git("add", "-A")
        yield HOOK, self.memrepo("check", "--staged")
        yield GIT_COMMIT, Cost(starts=added + self.git("commit", "-q", "-m", "an edit by hand"))
        self.git("reset", "-q", "--hard", "HEAD^")
        yield REVERT, self.take_back()
        yield GIT_STATUS, Cost(starts=self.git("status"))
        self.memrepo("run")
        yield IDLE, self.memrepo("run")

    def _edit(self) -> None:
        path = next((self.repo / "memories").rglob("*.md"))
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(" the ", " its "), encoding="utf-8")

    def hub(self) -> Iterator[tuple[str, Cost]]:
        """Yield what it takes to give all to a hub, and then a little."""
        for name in ("hub.git", "bare.git"):
            shutil.rmtree(self.where / name, ignore_errors=True)
            self.git("init", "-q", "--bare", str(self.where / name))
        yield GIT_PUSH, Cost(starts=self.git("push", "-q", str(self.where / "bare.git"), "HEAD"))
        self.git("remote", "add", "origin", str(self.where / "hub.git"))
        yield SYNC, self.memrepo("sync")
        self.write_lines()
        self.memrepo("run")
        self.take_back()
        yield AGAIN, self.memrepo("sync")
        self.git("remote", "remove", "origin")

    def looks(self) -> Iterator[tuple[str, Cost]]:
        """Yield what the checks and the plays take that look at everything."""
        yield DOCTOR, self.memrepo("doctor", fine=(0, 1))
        (self.repo / ".git" / "memrepo" / NAME).unlink()
        built = self.memrepo("search", "coppermill", "engine", fine=(0, 1))
        yield BUILD, built
        yield WARM, Cost(starts=_warm(self.repo))


def measured(
    machine: Machine, where: Path, count: int, only: Sequence[str], turns: int
) -> dict[str, Cost]:
    """Return what each step takes in a repository of so many memories; made if it is not there."""
    if not (where / "repo").exists():
        where.mkdir(parents=True, exist_ok=True)
        hoard(machine, where, count)
        machine.memrepo("--now", f"{NOW:%FT%TZ}", "run", where=where / "repo")
    bench = Bench(machine, where)
    for words in (["status"], ["search", "coppermill", "engine"]):
        bench.memrepo(*words, fine=(0, 1))  # what is kept beside the store is there, as on a day
    parts: Mapping[str, tuple[Callable[[], Iterator[tuple[str, Cost]]], int]] = {
        "day": (bench.a_day, turns),
        "hub": (bench.hub, 1),
        "looks": (bench.looks, 1),
    }
    found: dict[str, Cost] = {}
    for part, (steps, times) in parts.items():
        for _ in range(times if not only or part in only else 0):
            for name, cost in steps():
                least = found.get(name)
                found[name] = cost if least is None or cost.starts < least.starts else least
                print(f"{count:>7} {name}: {_told(cost)}", file=sys.stderr, flush=True)
    if not only or "first" in only:
        found[FIRST] = _first_run(machine, where)
    return found


def _first_run(machine: Machine, where: Path) -> Cost:
    """Return what it takes to make a repository of the same workspace, judged line by line."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        bench = Bench(machine, where)
        repo = Path(folder) / "repo"
        shutil.copytree(where / "ws", Path(folder) / "ws")
        made = bench.memrepo("init", str(repo), "--from", f"{folder}/ws", where=Path(folder))
        run = bench.memrepo("run", where=repo)
        starts, git = made.starts + run.starts, made.git + run.git
        return Cost(starts=starts, git=git, memory=run.memory)


def _warm(repo: Path) -> float:
    """Return how many times the CPU of bare FTS5 queries of their words questions take."""
    with open_repository(repo) as store, closing(sqlite3.connect(store.folder / NAME)) as base:
        index = words_index(store)
        taken = medians_s(
            9,
            recall=lambda: _spent(lambda: [index.search([q], Filter()) for q in _QUESTIONS]),
            fts5=lambda: _spent(lambda: [bare_query(base, q) for q in _QUESTIONS]),
        )
    return taken["recall"] / taken["fts5"]


def _spent(do: Callable[[], object]) -> float:
    """Return the seconds of CPU that a call takes: a busy machine changes these least."""
    start = time.process_time()
    do()
    return time.process_time() - start


def table(rows: Sequence[Row]) -> str:
    """Render the rows for a person: starts, in brackets git's of them, and how they grow.

    What is last is the memory that the largest size takes.
    """
    sizes = sorted({size for row in rows for size in row.costs})
    wide = max(len(row.name) for row in rows)
    head = "".join(f"{size:>18,}" for size in sizes)
    said = [f"{'':{wide}}{head}  exponent  bound     MiB"]
    for row in rows:
        cells = "".join(f"{_told(row.costs[s]) if s in row.costs else '':>18}" for s in sizes)
        grows = "" if row.exponent is None else f"{row.exponent:.2f}"
        bound = "" if row.bound is None else f"{row.bound:.2f}"
        most = row.costs[max(row.costs)].memory or ""
        said.append(f"{row.name:{wide}}{cells}  {grows:>8}  {bound:>5}  {most:>6}")
    return "\n".join(said)


def _told(cost: Cost) -> str:
    short = cost.rounded()
    return f"{short.starts:g}" + (f" ({short.git:g})" if short.git else "")


def _short(value: float) -> float:
    return float(f"{value:.3g}")


ORDER = (
    *(FIRST, TEN, IDLE, STATUS, HOOK, REVERT, SYNC, AGAIN, DOCTOR),
    *(BUILD, SEARCH, WARM, GIT_STATUS, GIT_COMMIT, GIT_PUSH),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the sizes that are asked for and print the table; results are written when whole."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, metavar="SIZE", default=list(SIZES))
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} memories too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the repositories there")
    parser.add_argument("--turns", type=int, default=_TURNS, help=f"of a day ({_TURNS})")
    parser.add_argument("--only", default="", metavar="PART,...", help="day, hub, looks, first")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results here")
    options = parser.parse_args(argv)
    sizes = sorted({*options.sizes, *((LARGE,) if options.large else ())})
    only = [part for part in options.only.split(",") if part]
    costs: dict[str, dict[int, Cost]] = {}
    with tempfile.TemporaryDirectory(prefix="memrepo-scale-") as folder:
        where = options.keep or Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        machine = Machine(where)
        for size in sizes:
            for name, cost in measured(
                machine, where / str(size), size, only, options.turns
            ).items():
                costs.setdefault(name, {})[size] = cost.rounded()
    rows = [Row(name=n, costs=costs[n], bound=BOUNDS.get(n)) for n in ORDER if n in costs]
    print(table(rows))
    whole = not only and len(sizes) > len(SIZES)
    if out := options.out or (RESULTS if whole else None):
        out.write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
