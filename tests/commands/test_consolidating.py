"""The consolidation stage of a run: what memories that stand have to do with each other."""

from __future__ import annotations

from pathlib import Path

from driving import NEXT_DAY, assert_sound, done, git, memrepo, operations, standing

LOVES, HATES = "Theme of editors: the dark one", "Theme of editors: the light one"
THIRD_DAY = "2026-03-03T09:00:00Z"


def two(repo: Path) -> set[str]:
    """Add two memories that contradict each other, by hand; return their ids."""
    return {done(repo, "add", text)["id"] for text in (LOVES, HATES)}


def flags(repo: Path) -> int:
    return operations(repo).count("flag")


def test_what_was_added_by_hand_is_compared_by_the_next_run_and_never_again(
    small_repo: Path,
) -> None:
    ids = two(small_repo)
    before = standing(small_repo)
    assert done(small_repo, "run", "--dry-run", now=NEXT_DAY)["counts"]["contested"] == 1
    assert standing(small_repo) == before
    answer = done(small_repo, "run", now=NEXT_DAY)
    (flag,) = (c for c in answer["commits"] if c["op"] == "flag")
    assert set(flag["memories"]) == ids
    (case,) = done(small_repo, "resolve", "--list")["corrections"]
    assert (case["status"], case["run"]) == ("open", answer["run"])
    assert {m["text"] for m in case["memories"]} == {LOVES, HATES}
    assert done(small_repo, "run", now=NEXT_DAY)["status"] == "skipped"
    done(small_repo, "run", now=THIRD_DAY)
    assert flags(small_repo) == 1
    assert memrepo(small_repo, "check", "--all").exit == 0
    assert_sound(small_repo)


def test_what_was_taken_back_is_not_flagged_again(small_repo: Path) -> None:
    two(small_repo)
    done(small_repo, "run", now=NEXT_DAY)
    (flag,) = git(small_repo, "log", "--grep=^Memrepo-Op: flag", "--format=%H").split()
    done(small_repo, "revert", flag, now=NEXT_DAY)
    done(small_repo, "run", now=THIRD_DAY)
    assert flags(small_repo) == 1
    assert done(small_repo, "resolve", "--list")["corrections"] == []
