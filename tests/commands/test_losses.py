"""What is derived and gets lost comes back by itself or by `doctor --fix`, and is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from driving import NEXT_DAY, done, files, memories, memrepo, standing


def claim(repo: Path) -> str:
    return min(i for i, m in memories(repo).items() if not m.is_note)


def checked(repo: Path, name: str, *options: str) -> dict[str, object]:
    """Return one check of `doctor`."""
    found = memrepo(repo, "doctor", *options, now=NEXT_DAY).data["checks"]
    return next(c for c in found if c["name"] == name)


@pytest.fixture
def repo(small_repo: Path) -> Path:
    """Return a repository with a hot memory, views, and a ledger that a run decided from."""
    done(small_repo, "promote", claim(small_repo))
    done(small_repo, "show", claim(small_repo))
    done(small_repo, "add", "The hall is wet.")
    done(small_repo, "run", now=NEXT_DAY)
    return small_repo


def test_the_folder_in_the_git_directory_may_go(repo: Path) -> None:
    asked = [
        ("show", claim(repo), "--no-touch"),
        ("search", "hall", "--no-touch"),
        ("health",),
        ("session", "start", "--dry-run", "--id", "s"),
    ]
    before = [done(repo, *argv, now=NEXT_DAY) for argv in asked]
    shutil.rmtree(repo / ".git" / "memrepo")
    assert [done(repo, *argv, now=NEXT_DAY) for argv in asked] == before
    stood = standing(repo)
    assert done(repo, "run", now=NEXT_DAY)["status"] == "skipped"
    assert files(repo) == stood[-1]


def test_a_page_that_somebody_deleted_is_told_and_put_back(repo: Path) -> None:
    before = files(repo)
    (repo / "MEMORY.md").unlink()
    shutil.rmtree(repo / "views")
    found = checked(repo, "pages")
    assert not found["ok"]
    assert "missing from the work tree, first MEMORY.md" in str(found["message"])
    assert checked(repo, "pages", "--fix")["fixed"]
    assert files(repo) == before
    assert checked(repo, "pages")["ok"]
