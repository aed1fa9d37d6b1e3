"""Timing two or more things side by side, and what comes of it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from memrepo.faces import cli

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much work each benchmark does, and how often it is measured."""

    commits: int = 1000
    files: int = 2000
    units: int = 200
    starts: int = 21
    events: int = 1_000_000
    memories: int = 10_000
    aged: tuple[int, ...] = (10_000,)
    searched: tuple[int, ...] = (1_000, 10_000)
    questions: int = 21
    turns: int = 5
    hooked: tuple[int, int] = (100, 31_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """What is measured over its baseline; `bound` is what it should not exceed, if anything."""

    name: str
    ratio: float
    bound: float | None
    count: int
    turns: int

    @property
    def met(self) -> bool:
        """Tell whether the bound holds, where there is one."""
        return self.bound is None or self.ratio <= self.bound

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form: no absolute time, no name of a machine."""
        return {**asdict(self), "met": self.met}


def medians_s(turns: int, **work: Callable[[], float]) -> Mapping[str, float]:
    """Measure interleaved, so that a slow moment of the machine meets everything alike.

    Each piece of work returns the seconds that count. One turn before the first is thrown away.
    """
    taken: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(turns + 1):
        for name, do in work.items():
            seconds = do()
            if turn:
                taken[name].append(seconds)
    return {name: median(times) for name, times in taken.items()}


def timed(do: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


class Failed(Exception):
    """The program did not do what a benchmark needs."""


def answer_of(*argv: str, now: str) -> dict[str, Any]:
    """Run memrepo in this process, as a person does, and return its answer; raises Failed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main(["--now", now, "--json", *argv])
    told = out.getvalue()
    if code:
        raise Failed(f"memrepo {' '.join(argv)} ended with {code}: {told}{err.getvalue()}")
    answer: dict[str, Any] = json.loads(told)
    return answer


class Machine:
    """Processes that see this checkout, a home of their own and compiled modules."""

    def __init__(self, folder: Path) -> None:
        config = folder / "gitconfig"
        config.write_text("[user]\n\tname = A\n\temail = a@example.org\n", encoding="utf-8")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "TZ": "Asia/Manila",
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CONFIG_SYSTEM": os.devnull,
        }

    def run(self, *argv: str, where: Path, stdin: Path | None = None) -> None:
        """Run a program to its end; raises CalledProcessError when it fails."""
        with (stdin or Path(os.devnull)).open("rb") as handle:
            subprocess.run(
                argv,
                cwd=where,
                env=self.environment,
                stdin=handle,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

    def python(self, code: str, *argv: str, where: Path) -> None:
        """Run code in a fresh interpreter."""
        self.run(sys.executable, "-c", code, *argv, where=where)

    def out(self, code: str, where: Path) -> str:
        """Run code in a fresh interpreter and return what it prints."""
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=where,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def memrepo(self, *argv: str, where: Path) -> None:
        """Run memrepo as its installed program does."""
        code = "import sys; from memrepo.faces.cli import main; sys.exit(main())"
        self.python(code, *argv, where=where)
