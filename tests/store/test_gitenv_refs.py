"""Refs are read as git reads them, from its files or, where these do not tell, by git itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import git

from memrepo.store.local import opened

KINDS: dict[str, Callable[[Path], object]] = {
    "loose": lambda repo: None,
    "packed": lambda repo: git(repo, "pack-refs", "--all"),
    "packed, then moved": lambda repo: (
        git(repo, "pack-refs", "--all"),
        git(repo, "commit", "-q", "--no-verify", "--allow-empty", "-m", "more"),
    ),
    "packed, then deleted": lambda repo: (
        git(repo, "pack-refs", "--all"),
        git(repo, "update-ref", "-d", "refs/heads/run/a"),
    ),
    "detached": lambda repo: git(repo, "switch", "-q", "--detach"),
    "unborn": lambda repo: git(repo, "switch", "-q", "--orphan", "fresh"),
    "a ref to a ref": lambda repo: git(
        repo, "symbolic-ref", "refs/heads/run/alias", "refs/heads/run/a"
    ),
    "a link for HEAD": lambda repo: (
        (repo / ".git/HEAD").unlink(),
        (repo / ".git/HEAD").symlink_to("refs/heads/main"),
    ),
    "a ref that is no id": lambda repo: (repo / ".git/refs/heads/run/a").write_text("nonsense"),
    "a lock beside them": lambda repo: (repo / ".git/refs/heads/run/a.lock").write_text(""),
}


@pytest.fixture
def several(repo: Path) -> Path:
    for name in ("refs/heads/run/a", "refs/heads/run/b/c", "refs/heads/runs"):
        git(repo, "update-ref", name, "HEAD")
    return repo


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_tell_what_git_tells(several: Path, kind: str) -> None:
    KINDS[kind](several)
    with opened(several) as repo:
        refs = repo.refs
        assert refs.head == git(several, "rev-parse", "-q", "--verify", "HEAD", check=False).strip()
        assert refs.branch == git(several, "symbolic-ref", "-q", "HEAD", check=False).strip()
        for name in ("refs/heads/main", "refs/heads/run/a", "refs/heads/run", "refs/tags/none"):
            asked = git(several, "rev-parse", "-q", "--verify", name, check=False)
            assert refs.id(name) == asked.strip(), name
        for folder in ("refs/heads/run/", "refs/heads/", "refs/none/"):
            asked = git(several, "for-each-ref", "--format=%(refname)", folder)
            assert refs.below(folder) == asked.split(), folder
