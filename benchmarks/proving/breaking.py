"""Runs killed at chance moments, and writers at once: what is lost, what is left behind."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Machine
from memrepo.assets import asset

_MEMREPO = (sys.executable, "-m", "memrepo")
NOW, LATER = "2026-03-02T04:00:00Z", "2026-03-02T05:00:00Z"


def killed(times: int) -> Counter[str]:
    """Kill a run with SIGKILL at so many moments, evenly spread, and look at what is there."""
    count: Counter[str] = Counter()
    with _place() as (machine, folder):
        base = folder / "base"
        shutil.copytree(asset("templates", "demo", "workspace"), folder / "agent")
        _memrepo(machine, folder, "--now", NOW, "init", "base", "--from", "agent")
        whole = shutil.copytree(base, folder / "whole")
        begin = time.perf_counter()
        _memrepo(machine, whole, "--now", NOW, "run")
        lasts = time.perf_counter() - begin
        before, after = _trees(machine, base), _trees(machine, whole)
        for turn in range(times):
            copy = shutil.copytree(base, folder / "copy")
            child = subprocess.Popen(
                [*_MEMREPO, "--now", NOW, "run"],
                cwd=copy,
                env=machine.environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(lasts * (turn + 1) / times)
            alive = child.poll() is None
            child.kill()
            child.wait()
            tree = _trees(machine, copy)
            count["killed while it ran"] += alive
            count["new state"] += tree == after
            count["old state"] += tree == before
            count["between"] += tree not in (before, after)
            count["broken objects"] += _git(machine, copy, "fsck", "--full").returncode != 0
            again = _memrepo(machine, copy, "--now", LATER, "run")
            count["next run refused"] += again.returncode not in (0, 3)
            same = _trees(machine, copy)[0] == after[0] or _memories(copy) == _memories(whole)
            count["next run not whole"] += not same
            shutil.rmtree(copy)
    return count


def raced(writers: int, each: int) -> Counter[str]:
    """Let writers add at once, and hold what they were told against what landed."""
    count: Counter[str] = Counter()
    with _place() as (machine, folder):
        _memrepo(machine, folder, "--now", NOW, "init", "base")
        base = folder / "base"
        told = []
        for turn in range(each):
            children = [
                subprocess.Popen(
                    [*_MEMREPO, "--now", NOW, "--json", "add", f"Writer {n} noted number {turn}."],
                    cwd=base,
                    env=machine.environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
                for n in range(writers)
            ]
            told += [(child.communicate()[0], child.returncode) for child in children]
        ids = {json.loads(said).get("id") for said, code in told if code == 0}
        there = {path.read_text(encoding="utf-8").split("\n")[1] for path in _files(base)}
        landed = {line.removeprefix("id: ") for line in there}
        count["writes"] = len(told)
        count["told done"] = sum(code == 0 for _, code in told)
        count["told to try again"] = sum(code != 0 for _, code in told)
        count["lost"] = len(ids - landed)
        count["unsaid"] = len(landed - ids)
        count["broken objects"] = int(_git(machine, base, "fsck", "--full").returncode != 0)
        count["left dirty"] = int(bool(_git(machine, base, "status", "--porcelain").stdout.strip()))
    return count


@contextmanager
def _place() -> Iterator[tuple[Machine, Path]]:
    with tempfile.TemporaryDirectory(prefix="memrepo-breaking-") as name:
        yield Machine(Path(name)), Path(name)


def _memrepo(machine: Machine, where: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_MEMREPO, *argv],
        cwd=where,
        env=machine.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _git(machine: Machine, where: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *argv],
        cwd=where,
        env=machine.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _trees(machine: Machine, repo: Path) -> tuple[str, str]:
    """Return the tree of HEAD, and what of the work tree differs from it."""
    tree = _git(machine, repo, "rev-parse", "HEAD^{tree}").stdout.strip()
    return tree, _git(machine, repo, "status", "--porcelain").stdout


def _files(repo: Path) -> list[Path]:
    return sorted((repo / "memories").rglob("*.md"))


def _memories(repo: Path) -> list[str]:
    """Return the texts of all memories: ids and times of a later run differ."""
    return sorted(path.read_text(encoding="utf-8").rsplit("---\n", 1)[-1] for path in _files(repo))
