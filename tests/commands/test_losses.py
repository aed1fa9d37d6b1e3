"""What is derived and gets lost comes back by itself or by `doctor --fix`, and is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from driving import NEXT_DAY, done, files, git, memories, memrepo, standing

from memrepo.store.ledger import REF

NEXT_WEEK = "2026-03-09T09:00:00Z"


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
    assert git(small_repo, "for-each-ref", REF)
    return small_repo


def test_the_folder_in_the_git_directory_may_go(repo: Path) -> None:
    asked = [
        ("show", claim(repo), "--no-touch"),
        ("search", "hall", "--no-touch"),
        ("tiers",),
        ("health",),
        ("session", "start", "--dry-run", "--id", "s"),
        ("nominate",),
    ]
    before = [done(repo, *argv, now=NEXT_DAY) for argv in asked]
    done(repo, "session", "end", now=NEXT_DAY)
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


def test_a_view_that_a_hand_changed_is_told_before_it_is_committed(repo: Path) -> None:
    with (repo / "views" / "LTMEMORY.md").open("a", encoding="utf-8") as page:
        page.write("By hand.\n")
    (problem,) = done(repo, "check")["problems"]
    assert (problem["rule"], problem["path"]) == ("page-edited", "views/LTMEMORY.md")


def test_a_ledger_that_lost_its_ref_is_told_and_put_back(repo: Path) -> None:
    count = done(repo, "show", claim(repo), "--no-touch")["derived"]["retrievals"]
    tip = git(repo, "rev-parse", REF).strip()
    git(repo, "update-ref", "-d", REF)
    assert checked(repo, "ledger")["ok"] is False
    ran = done(repo, "run", now=NEXT_WEEK)
    assert [w["rule"] for w in ran["warnings"]] == ["ledger-behind"]
    # Retrievals that were counted meanwhile stay beside those that come back.
    done(repo, "show", claim(repo), now=NEXT_WEEK)
    done(repo, "session", "end", now=NEXT_WEEK)
    assert checked(repo, "ledger", "--fix")["fixed"]
    assert done(repo, "show", claim(repo), "--no-touch")["derived"]["retrievals"] == count + 1
    git(repo, "merge-base", "--is-ancestor", tip, REF)
    assert checked(repo, "ledger")["ok"]
    assert done(repo, "run", now=NEXT_WEEK).get("warnings", []) == []
