"""A person's `git switch` beside a write: either comes whole, and neither undoes the other."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import standing
from driving import done, git

from memrepo.store.repo import WorkTree


@pytest.fixture
def sided(repo: Path) -> Path:
    """Return a repository with another branch, which holds one memory more."""
    git(repo, "switch", "-qc", "side")
    done(repo, "add", "The spare key hangs in the shed.")
    git(repo, "switch", "-q", "main")
    return repo


def before(
    monkeypatch: pytest.MonkeyPatch, where: type, name: str, act: Callable[[], object]
) -> None:
    """Let something happen once, just before a step of a write."""
    real, todo = getattr(where, name), [act]

    def step(*given: object, **more: object) -> object:
        if todo:
            todo.pop()()
        return real(*given, **more)

    monkeypatch.setattr(where, name, step)


def test_a_switch_while_files_are_written_is_refused_by_git(
    sided: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def switch() -> None:
        words = ["git", "-C", str(sided), "switch", "side"]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        said.append(ran.stderr)

    before(monkeypatch, WorkTree, "move", switch)
    done(sided, "add", "The lathe stands in bay three.")
    assert "index.lock" in said[0]
    assert git(sided, "log", "-1", "--format=%s", "main").startswith("Add fact: The lathe")
    assert standing.status(sided) == ""
    git(sided, "switch", "-q", "side")
    assert standing.status(sided) == ""


def test_a_switch_before_it_lets_the_memory_come_on_the_branch_that_is_there(
    sided: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip = git(sided, "rev-parse", "main")
    before(monkeypatch, WorkTree, "clear_way", lambda: git(sided, "switch", "-q", "side"))
    done(sided, "add", "The lathe stands in bay three.", "--type", "note")
    assert git(sided, "rev-parse", "main") == tip
    assert git(sided, "log", "-1", "--format=%s", "side").startswith("Add note: The lathe")
    assert standing.status(sided) == ""
    assert standing.left_behind(sided) == []
