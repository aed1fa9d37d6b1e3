"""Whole conversations as workspaces, read from a folder that the environment names.

`MEMREPO_LOCOMO=<folder of workspaces>`: the data is not ours to ship. A figure for each workspace
is printed (`pytest -s`).
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from driving import LATER, assert_sound, done, git, memories, standing, subjects, tree

# Read at import: the session's fixture hides every MEMREPO_ variable from the tests.
FOLDER = os.environ.get("MEMREPO_LOCOMO", "")
WORKSPACES = sorted(p for p in Path(FOLDER).iterdir() if p.is_dir()) if FOLDER else []

pytestmark = pytest.mark.skipif(
    not WORKSPACES, reason="MEMREPO_LOCOMO names no folder of conversation workspaces"
)


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda path: path.name)
def test_a_conversation_is_taken_in_once_and_taken_back_whole(
    workspace: Path, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    done(tmp_path, "init", repo, "--from", workspace)
    before = tree(repo)
    started = time.perf_counter()
    answer = done(repo, "run")
    seconds = time.perf_counter() - started
    assert answer["status"] == "ok"
    found = memories(repo)
    assert len(found) == answer["counts"]["memories_new"] + answer["counts"]["notes_new"] > 0
    landed = standing(repo)
    assert done(repo, "run", now=LATER)["status"] == "skipped"
    assert standing(repo) == landed
    ops = [subject.partition(":")[0] for subject in subjects(repo, "--first-parent")]
    assert ops == ["run", "ingest", "init"]
    assert_sound(repo)
    done(repo, "revert", now=LATER)
    assert tree(repo) == before
    assert_sound(repo)
    assert git(repo, "rev-list", "--count", "--first-parent", "HEAD").strip() == "4"
    print(f"\n{workspace.name}: {answer['counts']} in {seconds:.1f} s")
