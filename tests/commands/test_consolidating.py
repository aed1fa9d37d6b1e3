"""The consolidation stage of a run: what memories that stand have to do with each other."""

from __future__ import annotations

from pathlib import Path

from driving import NEXT_DAY, done, git, operations

LOVES, HATES = "Theme of editors: the dark one", "Theme of editors: the light one"
THIRD_DAY = "2026-03-03T09:00:00Z"


def two(repo: Path) -> set[str]:
    """Add two memories that contradict each other, by hand; return their ids."""
    return {done(repo, "add", text)["id"] for text in (LOVES, HATES)}


def flags(repo: Path) -> int:
    return operations(repo).count("flag")


def test_what_was_taken_back_is_not_flagged_again(small_repo: Path) -> None:
    two(small_repo)
    done(small_repo, "run", now=NEXT_DAY)
    (flag,) = git(small_repo, "log", "--grep=^Memrepo-Op: flag", "--format=%H").split()
    done(small_repo, "revert", flag, now=NEXT_DAY)
    done(small_repo, "run", now=THIRD_DAY)
    assert flags(small_repo) == 1
    assert done(small_repo, "resolve")["contradictions"] == []
