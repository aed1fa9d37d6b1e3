"""Pages of memrepo that a hand changed: caught, and led back to the memory behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, done, git, memories, memrepo

SAID = "The shed is red."


@pytest.fixture
def hot_repo(tmp_path: Path) -> Path:
    """Return a repository with one memory on its hot cache."""
    repo = tmp_path / "repo"
    done(tmp_path, "init", repo)
    done(repo, "add", SAID, "--critical")
    done(repo, "run", now=LATER)
    assert SAID in (repo / "MEMORY.md").read_text()
    return repo


def edited(repo: Path, old: str, new: str) -> None:
    page = repo / "MEMORY.md"
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new))


def test_the_hook_stops_a_commit_of_an_edited_page_and_not_of_a_foreign_one(hot_repo: Path) -> None:
    edited(hot_repo, SAID, "The shed is blue.")
    git(hot_repo, "add", "MEMORY.md")
    (problem,) = memrepo(hot_repo, "check", "--staged").data["problems"]
    assert problem["rule"] == "hot-edited"
    (hot_repo / "MEMORY.md").write_text("# My own notes\n")
    git(hot_repo, "add", "MEMORY.md")
    assert memrepo(hot_repo, "check", "--staged").data["problems"] == []


def test_a_view_changed_by_hand_is_a_warning_until_it_is_in_the_tree(hot_repo: Path) -> None:
    view = hot_repo / "views" / "LTMEMORY.md"
    before = view.read_text()
    assert done(hot_repo, "check", "views/LTMEMORY.md")["problems"] == []
    view.write_text(before.replace(SAID, "The shed is green."))
    git(hot_repo, "add", "views")
    for argv in (("--staged",), ("views/LTMEMORY.md",)):
        (problem,) = done(hot_repo, "check", *argv)["problems"]
        assert (problem["rule"], problem["severity"]) == ("page-edited", "warning")
        assert SAID in before.splitlines()[problem["line"] - 1]
        assert problem["fix"].startswith("`git restore -SW views/LTMEMORY.md`, then `memrepo edit`")
    git(hot_repo, "commit", "-qm", "mine", "--no-verify")
    committed = memrepo(hot_repo, "check")
    (problem,) = committed.data["problems"]
    assert (committed.exit, problem["severity"], problem["line"]) == (1, "error", 0)
    assert "git restore" not in problem["fix"]
    (id_,) = memories(hot_repo)
    done(hot_repo, "edit", id_, "--text", "The shed is green.", now=LATER)
    done(hot_repo, "run", now="2026-03-01T12:00:00Z")
    assert done(hot_repo, "check")["problems"] == []
    assert "The shed is green." in view.read_text()
