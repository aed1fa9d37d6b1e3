"""Processes order sets differently: all ask the same questions and land the same commits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

from driving import NOW, done, git
from serving import good
from workspaces import write

SEEDS = ("0", "1", "2")
PARTS = "mast sail keel rope anchor lamp bell buoy oar rudder plank tar".split()
"""Names that lines share in many ways, each way with the same number of common names."""


def begin(base: Path) -> Path:
    """Make a repository of logs in which many lines share as much with an earlier one."""
    rows = [f"- Brandt checks the {', '.join(some)}.\n" for some in combinations(PARTS, 5)]
    files = {
        f"memory/2026-02-0{n}.md": f"# Day {n}\n\n{''.join(rows[n::90])}".encode()
        for n in range(1, 9)
    }
    done(base, "init", base / "repo", "--from", write(base / "ws", files))
    return base / "repo"


def call(repo: Path, seed: str, *argv: str) -> dict[str, Any]:
    """Run one command in a process with a hash seed of its own."""
    command = [sys.executable, "-m", "memrepo", "-C", str(repo), "--now", NOW, "--json", *argv]
    root = str(Path(__file__).parents[2])
    around = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
    found: dict[str, Any] = json.loads(
        subprocess.run(command, env=around, capture_output=True, check=True).stdout
    )
    return found


def test_each_process_asks_the_same_questions(tmp_path: Path) -> None:
    repo = begin(tmp_path)
    for kind in ("read", "verify"):
        asked = [call(repo, seed, "judge", "next")["question"] for seed in SEEDS]
        assert {one["kind"] for one in asked} == {kind}
        assert len({one["id"] for one in asked}) == 1
        (tmp_path / "answer.json").write_text(good(asked[0]["data"]))
        call(repo, SEEDS[1], "judge", "answer", asked[0]["id"], str(tmp_path / "answer.json"))


def test_each_process_lands_the_same_commit(tmp_path: Path) -> None:
    repo = begin(tmp_path)
    trees = set()
    for seed in SEEDS:
        own = Path(shutil.copytree(repo, tmp_path / seed, symlinks=True))
        call(own, seed, "run")
        trees.add(git(own, "rev-parse", "HEAD"))
    assert len(trees) == 1
