"""Uncommitted edits of memories: none is missed, staged or not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import driving
import pytest
import workspaces
from driving import git

from memrepo.store.git import opened
from memrepo.store.repo import WorkTree

PUMPS = b"# Memory\n\n- The pump in Oslo is red.\n- The pump in Bergen is blue.\n"
SLOT = "memories/knowledge/2026-01/new.md"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return driving.begin(tmp_path, workspaces.write(tmp_path / "ws", {"MEMORY.md": PUMPS}))


def seen(repo: Path) -> set[str]:
    with opened(repo) as found:
        return set(WorkTree(found).edits("memories/"))


def a_memory(repo: Path) -> Path:
    return min((repo / "memories").rglob("*.md"))


def name(repo: Path, path: Path) -> str:
    return path.relative_to(repo).as_posix()


def edited_in_place(repo: Path) -> Path:
    """Change a file to one of the same size, in the second in which the index was written."""
    path = a_memory(repo)
    when = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().replace(b"pump", b"hose"))
    os.utime(path, ns=(when, when))
    return path


def staged(repo: Path) -> Path:
    path = edited_in_place(repo)
    git(repo, "add", "--", name(repo, path))
    return path


def staged_and_put_back(repo: Path) -> Path:
    path = a_memory(repo)
    data = path.read_bytes()
    git(repo, "add", "--", name(repo, staged(repo)))
    path.write_bytes(data)
    return path


def gone(repo: Path) -> Path:
    path = a_memory(repo)
    path.unlink()
    return path


def new(repo: Path) -> Path:
    path = repo / SLOT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(a_memory(repo).read_bytes())
    return path


CHANGES = (edited_in_place, staged, staged_and_put_back, gone, new)


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_is_seen(repo: Path, change: Callable[[Path], Path]) -> None:
    assert seen(repo) == set()
    path = change(repo)
    assert seen(repo) == {name(repo, path)}


def test_a_commit_by_hand_and_its_undoing_are_seen(repo: Path) -> None:
    assert seen(repo) == set()
    path = name(repo, new(repo))
    assert seen(repo) == {path}
    git(repo, "add", "--", path)
    git(repo, "commit", "-nqm", "by hand")
    assert seen(repo) == set()
    git(repo, "reset", "-q", "--soft", "HEAD~")
    assert seen(repo) == {path}


def test_a_lock_of_git_s_is_nothing_to_wait_for(repo: Path) -> None:
    (repo / ".git" / "index.lock").touch()
    assert seen(repo) == set()
    assert seen(repo) | {name(repo, new(repo))} == seen(repo)
