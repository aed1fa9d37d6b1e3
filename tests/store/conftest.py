"""A repository beside a workspace, made once and copied for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import driving
import pytest
import workspaces


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make `repo` and `ws` side by side; one run has landed."""
    base = tmp_path_factory.mktemp("seed")
    repo = driving.begin(base, workspaces.small(base / "ws"))
    # A relative path is read from the work tree, so that copies have a workspace of their own.
    driving.git(repo, "config", "memrepo.workspace", "../ws")
    for hook in (repo / ".git" / "hooks").iterdir():
        hook.unlink()
    driving.git(repo, "config", "core.fsync", "none")  # these tests kill processes, not machines
    driving.git(repo, "gc", "-q")  # one pack is quicker to copy than many loose objects
    return base


@pytest.fixture
def place(seed: Path, tmp_path: Path) -> Path:
    """Copy the seed: a folder with `repo` and `ws`, nothing new to take in."""
    return Path(shutil.copytree(seed, tmp_path / "place", symlinks=True))


@pytest.fixture
def repo(place: Path) -> Path:
    """Return a repository whose workspace holds news that no run has seen."""
    workspaces.growing(place / "ws", 1)
    return place / "repo"
