"""Commits that passed the hooks by: the next command that looks says what they broke."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import LATER, done, git, memories, memrepo

TOKEN = "ghp_" + "Fake1234" * 5


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository in which all that was committed was looked at."""
    done(tmp_path, "init", "repo")
    done(tmp_path / "repo", "add", "The shed is red.")
    done(tmp_path / "repo", "run")
    assert memrepo(tmp_path / "repo", "status").data["problems"] == []
    return tmp_path / "repo"


def commit(repo: Path, message: str = "past the hooks") -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", message, "--no-verify")


def the_file(repo: Path) -> Path:
    (memory,) = memories(repo).values()
    return repo / memory.path


def reword(old: str, new: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(path.read_text().replace(old, new)) and None


def told(repo: Path, *argv: str) -> set[tuple[str, str]]:
    """Return path and rule of what a command says in words."""
    said = memrepo(repo, *argv, now=LATER, as_json=False).err.splitlines()
    return {(line.split(":")[0], line.split()[1]) for line in said}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (reword("The shed is red.", f"The token is {TOKEN}."), "secret-found"),
        (reword("type: fact", "type: fact\nconfidence: 0.9"), "field-by-hand"),
        (reword("id: mem-", "id: mem-0"), "frontmatter-value"),
        (reword("type: fact", "type: facct"), "frontmatter-value"),
        (lambda path: path.rename(path.with_name("other-123456.md")) and None, "memory-file-name"),
    ],
)
def test_status_and_run_say_what_no_hook_saw(
    repo: Path, change: Callable[[Path], None], rule: str
) -> None:
    change(the_file(repo))
    commit(repo)
    assert rule in {r for _, r in told(repo, "status")}
    answer = memrepo(repo, "status")
    assert rule in {p["rule"] for p in answer.data["problems"]}
    assert TOKEN not in answer.out
    assert rule in {r for _, r in told(repo, "run")}


def test_what_a_later_commit_mended_is_no_matter_any_more(repo: Path) -> None:
    path = the_file(repo)
    was = path.read_text()
    path.write_text(was.replace("red", TOKEN))
    commit(repo)
    path.write_text(was)
    commit(repo)
    assert told(repo, "status") == set()
