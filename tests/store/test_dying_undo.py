"""Killed at any moment, what takes back or brings back leaves the old state or the new one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import crashing
import driving
import pytest
import standing
from driving import git
from test_recovery import head, recover, sound

NOW, LATER = "2026-03-04T09:00:00Z", "2026-03-05T09:00:00Z"


def some_memory(repo: Path) -> str:
    return min(i for i, m in driving.memories(repo).items() if not m.is_note)


def revert(repo: Path) -> tuple[str, ...]:
    """Land two runs and a write; the older run is to go, field by field."""
    run = driving.done(repo, "run", now=driving.LATER)["run"]
    driving.done(repo, "add", "Vera keeps the spare key under the third pot.", now=NOW)
    return "revert", run


def accept(repo: Path) -> tuple[str, ...]:
    assert driving.memrepo(repo, "run", "--mode", "reconciliation", now=NOW).exit == 3
    return ("accept",)


def restore(repo: Path) -> tuple[str, ...]:
    id_ = some_memory(repo)
    git(repo, "rm", "-q", driving.memories(repo)[id_].path)
    git(repo, "commit", "-qm", "prune", "--no-verify")
    return "restore", id_


def reject(repo: Path) -> tuple[str, ...]:
    return "reject", some_memory(repo), "--reason", "never"


def unreject(repo: Path) -> tuple[str, ...]:
    driving.done(repo, *reject(repo), now=NOW)
    return "reject", "--undo", some_memory(repo)


def undo(repo: Path) -> tuple[str, ...]:
    driving.done(repo, *reject(repo), now=NOW)
    return ("undo",)


@pytest.mark.parametrize("prepare", [revert, accept, restore, reject, unreject, undo])
def test_dying_at_any_moment_leaves_the_old_state_or_the_new(
    repo: Path, tmp_path: Path, prepare: Callable[[Path], tuple[str, ...]]
) -> None:
    argv = prepare(repo)
    old, before = head(repo), standing.status(repo)
    whole = Path(shutil.copytree(repo.parent, tmp_path / "whole", symlinks=True)) / "repo"
    driving.done(whole, *argv, now=LATER)
    new, seen = head(whole), set()
    for turn, copy in crashing.deaths(repo.parent, tmp_path / "dead", *argv, now=LATER):
        recover(copy)
        assert head(copy) in (old, new), turn
        seen.add(head(copy))
        sound(copy, before)
        if prepare is undo and head(copy) == new:
            continue  # an undo that landed would be undone
        driving.memrepo(copy, *argv, now=LATER)
        assert head(copy) == new, turn
        assert standing.status(copy) == before
        if prepare is accept:
            assert git(copy, "for-each-ref", "refs/heads/run/") == ""
    assert old in seen
