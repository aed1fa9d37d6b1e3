"""Answers recorded from a live judge give the same run again, with no judge at all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from driving import assert_sound, done, git, memrepo
from test_command import GOOD, program
from workspaces import growing


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return a repository that has not run, one that ran live, and the recordings."""
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    shutil.copytree(tmp_path / "repo", tmp_path / "live", symlinks=True)
    git(tmp_path / "live", "config", "memrepo.workspace", str(tmp_path / "workspace"))
    git(tmp_path / "live", "config", "memrepo.judge.command", str(program(tmp_path / "j", GOOD)))
    done(tmp_path / "live", "run", "--judge", "command", "--record", tmp_path / "kept")
    return tmp_path / "repo", tmp_path / "live", tmp_path / "kept"


def test_a_replay_gives_the_memories_of_the_live_run(recorded: tuple[Path, Path, Path]) -> None:
    repo, live, kept = recorded
    data = done(repo, "run", "--replay", kept)
    assert (data["status"], data["tokens"]["source"], data["cost_usd"]) == ("ok", "unavailable", 0)
    for folder in ("memories", "views"):
        of = ("rev-parse", f"HEAD:{folder}")
        assert git(repo, *of) == git(live, *of)
    assert "Memrepo-Cost" not in git(repo, "log", "-1", "--format=%B")
    assert_sound(repo)


def test_every_answer_is_kept_with_its_question(recorded: tuple[Path, Path, Path]) -> None:
    records = [json.loads(path.read_text()) for path in recorded[2].iterdir()]
    assert sorted(r["pass"] for r in records) == ["promotion", "purifier"]
    assert all("<<<data" in r["question"] and r["answer"] for r in records)


def test_a_missing_recording_loses_nothing(recorded: tuple[Path, Path, Path]) -> None:
    repo, _, kept = recorded
    for path in kept.iterdir():
        if json.loads(path.read_text())["pass"] == "purifier":
            path.unlink()
    git(repo, "config", "memrepo.judge.recordings", str(kept))
    answer = memrepo(repo, "run", "--judge", "replay")
    assert (answer.exit, answer.data["status"]) == (4, "partial")
    assert "no recorded answer" in answer.data["partial"]
    assert_sound(repo)


@pytest.mark.parametrize("damage", ["", "[]", "{}", "not json"])
def test_a_damaged_recording_is_a_failed_judge(
    recorded: tuple[Path, Path, Path], damage: str
) -> None:
    repo, _, kept = recorded
    for path in kept.iterdir():
        path.write_text(damage)
    answer = memrepo(repo, "run", "--replay", kept)
    assert answer.exit == 4
    assert "not a recorded answer" in answer.data["partial"]


@pytest.mark.parametrize(
    "options",
    [
        ["--judge", "offline", "--record", "x"],
        ["--judge", "replay"],
        ["--replay", "nowhere"],
        ["--judge", "offline", "--replay", "x"],
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: list[str]) -> None:
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    assert memrepo(tmp_path / "repo", "run", *options).exit == 2
