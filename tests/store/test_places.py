"""A repository is found where GitPython finds it, whichever of the two looked."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import git
from git import Repo

from memrepo.store.gitenv import NotARepository, opened

PLACES = ("top", "top/sub", "top/sub/..", "top/.git", "top/.git/hooks", "side", "moved", "inner/x")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Make a work tree with one beside it, one whose files lie elsewhere, and a bare inner one."""
    git(tmp_path, "init", "-q", "top")
    (tmp_path / "top/sub").mkdir()
    git(tmp_path / "top", "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path / "top", "worktree", "add", "-q", "../side")
    git(tmp_path, "init", "-q", "moved")
    git(tmp_path / "moved", "config", "core.worktree", str(tmp_path / "top"))
    git(tmp_path, "init", "-q", "inner/x")
    git(tmp_path, "init", "-q", "--bare", "top/bare.git")
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
def test_the_place_is_gitpythons(base: Path, place: str) -> None:
    with opened(base / place) as found, Repo(base / place, search_parent_directories=True) as other:
        assert found.working_tree_dir == str(other.working_tree_dir)
        assert Path(found.git_dir) == Path(other.git_dir)
        assert Path(found.common_dir) == Path(other.common_dir)


@pytest.mark.parametrize("place", ["top/bare.git", "top/none", "."])
def test_where_no_work_tree_is_none_is_opened(base: Path, place: str) -> None:
    with pytest.raises(NotARepository), opened(base / place):
        pass
